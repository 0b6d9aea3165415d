// Groups of devices as affine expressions of a device's flattened id.
//
// With the reader p (ops/replica_map.h) in group G at position P, what the maps of operations
// across replicas are made of are P, as an expression of p, and the device at another position Q of
// the same group, G[Q], as an expression of p and Q. The groups of an iota list or a mesh have one
// formula for all devices, and so have lists that are such (ops/internal/fit_sequence.h); others
// fall into pieces: parts of the devices, parts of the positions.
//
// Example, the groups {0,2}, {1,3}: P = p floordiv 2, G[Q] = p mod 2 + 2 * Q.

#ifndef XLA_INDEXING_OPS_INTERNAL_DEVICE_GROUPS_H_
#define XLA_INDEXING_OPS_INTERNAL_DEVICE_GROUPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/hlo/internal/collective.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/internal/fit_sequence.h"

namespace xla_indexing::internal {

// Past so many pieces, or dimensions of iota lists, the device is any device.
inline constexpr size_t kMaxDevicePieces = 64;
inline constexpr size_t kMaxOrderedDimensions = 32;

// Readers in some part of the devices, positions in some interval.
struct DeviceGroupPiece {
  Constraints readers;
  mlir::AffineExpr position;  // P, over the reader
  Interval others;            // of Q
  mlir::AffineExpr device;    // G[Q], over the reader and symbol 0, which stands for Q
  int64_t group_size = 1;
};

// What is known of the groups: pieces that are disjoint and together all of it, or why not.
struct DeviceGroups {
  int64_t device_count = 1;
  std::vector<DeviceGroupPiece> pieces;
  // Not empty: there are no pieces, any device may be in a group with any other.
  std::string unknown;
  // The number of devices of the largest group.
  int64_t max_group_size = 1;
};

DeviceGroups AnalyseGroups(const CollectiveGroups& groups, mlir::AffineExpr reader);

// The devices that a reader receives from (or, `forward`, sends to) in a collective-permute; none
// where they fall into more than kMaxDevicePieces pieces that have a formula.
std::optional<std::vector<FittedPiece>> AnalysePairs(const CollectivePairs& pairs, bool forward,
                                                     mlir::AffineExpr reader);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_INTERNAL_DEVICE_GROUPS_H_
