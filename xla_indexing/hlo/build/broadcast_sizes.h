// The sizes that dimensions have when operands are broadcast, as far as they are known, and what is
// left to hold when the program runs. The rules stand in hlo/build/broadcast.h.
//
// Example: InferBroadcastDimension(DimensionSize::Static(1), DimensionSize::AtMost(5)) is `<=5`.
#ifndef XLA_INDEXING_HLO_BUILD_BROADCAST_SIZES_H_
#define XLA_INDEXING_HLO_BUILD_BROADCAST_SIZES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {

// The most dimensions that an operand or a result may have.
inline constexpr int64_t kMaxBroadcastRank = 64;

// The size of one dimension, as far as it is known.
struct DimensionSize {
  static DimensionSize Static(int64_t size) { return {size, false}; }
  static DimensionSize AtMost(int64_t bound) { return {bound, true}; }
  static DimensionSize Unbounded() { return {Shape::kUnboundedSize, true}; }
  // The size of dimension `i` of an array.
  static DimensionSize Of(const Shape& shape, int64_t i);

  bool IsStatic() const { return !is_dynamic; }
  bool IsUnbounded() const { return size == Shape::kUnboundedSize; }
  bool IsStaticOne() const { return !is_dynamic && size == 1; }
  // The size as text: `3`, `<=3` or `?`.
  std::string ToString() const;

  friend bool operator==(const DimensionSize& a, const DimensionSize& b) = default;

  int64_t size = 1;  // The bound of a bounded one; Shape::kUnboundedSize without bound.
  bool is_dynamic = false;
};

// The size that results where two sizes meet, by the first table of hlo/build/broadcast.h.
absl::StatusOr<DimensionSize> InferBroadcastDimension(DimensionSize a, DimensionSize b);

// A dimension of an operand.
struct OperandDimension {
  int64_t operand = 0;
  int64_t dimension = 0;

  friend bool operator==(const OperandDimension& a, const OperandDimension& b) = default;
};

// What must hold at run time in one dimension of the result: those of these dynamic sizes that are
// not 1 are all equal, and `size`, the result's, allows that common size.
struct BroadcastGuard {
  int64_t dimension = 0;  // A dimension of the result.
  DimensionSize size;
  std::vector<OperandDimension> operands;
  std::vector<DimensionSize> operand_sizes;  // What is known of each.

  // `operand 0 dimension 0 (?) and operand 2 dimension 1 (<=5): size 1 or 4`, or `..: size 1 or one
  // size in common`, or `..: size 1 or one size in common, at most 3`.
  std::string ToString() const;
};

// An array, or, where it is empty, something of unknown rank.
using MaybeRanked = std::optional<Shape>;

struct BroadcastInference {
  // Without layout, of the element type of the first operand with a rank; empty where none has one.
  MaybeRanked shape;
  // The guards in the order of the result's dimensions, for dimensions where something is left to
  // check at run time.
  std::vector<BroadcastGuard> guards;
};

// Whether a dimension that was inferred to have the size `inferred` may be given the size `given`,
// by the second table of hlo/build/broadcast.h.
bool MayBeGiven(DimensionSize inferred, DimensionSize given);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_BUILD_BROADCAST_SIZES_H_
