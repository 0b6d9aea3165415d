// Groups of devices as affine expressions of a device's flattened id.
//
// The reader p (ops/answers/parts/replica_map.h) is in group G at position P. The maps of operations across
// replicas are made of P, as an expression of p, and of the device G[Q] at another position Q of
// the same group, as an expression of p and Q. The groups of an iota list or a mesh have one
// formula for all devices, and so have lists of the same form (ops/values/cases/fit_sequence.h). Other
// groups fall into pieces: parts of the devices and parts of the positions.
//
// Example, the groups {0,2}, {1,3}: P = p floordiv 2, G[Q] = p mod 2 + 2 * Q.

#ifndef XLA_INDEXING_OPS_RULES_COLLECTIVES_DEVICE_GROUPS_H_
#define XLA_INDEXING_OPS_RULES_COLLECTIVES_DEVICE_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/devices/collective.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/ops/values/cases/fit_sequence.h"

namespace xla_indexing::internal {

// With more pieces, or dimensions of iota lists, than this the device is taken to be any device.
inline constexpr size_t kMaxDevicePieces = 64;
inline constexpr size_t kMaxOrderedDimensions = 32;

// A piece: readers in some part of the devices, and positions in some interval.
struct DeviceGroupPiece {
  Constraints readers;
  mlir::AffineExpr position;  // P, over the reader
  Interval others;            // of Q
  mlir::AffineExpr device;    // G[Q], over the reader and symbol 0, which stands for Q
  int64_t group_size = 1;
};

// What is known of the groups: disjoint pieces that cover all of them, or a reason why there are
// none.
struct DeviceGroups {
  int64_t device_count = 1;
  std::vector<DeviceGroupPiece> pieces;
  // The reason why there are no pieces, so that any device may be in a group with any other; empty
  // where there are pieces.
  std::string unknown;
  // The number of devices of the largest group.
  int64_t max_group_size = 1;
};

DeviceGroups AnalyseGroups(const CollectiveGroups& groups, mlir::AffineExpr reader);

// The devices that a reader receives from (or, `forward`, sends to) in a collective-permute; none
// where they fall into more than kMaxDevicePieces pieces that have a formula.
std::optional<std::vector<FittedPiece>> AnalysePairs(const CollectivePairs& pairs,
                                                     Direction direction, mlir::AffineExpr reader);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_RULES_COLLECTIVES_DEVICE_GROUPS_H_
