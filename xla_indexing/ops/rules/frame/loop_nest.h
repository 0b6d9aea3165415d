// Operations as loops: a definition of the form "for all loops, result[..] reads operand[..]",
// which gives the maps of both directions.
//
// Mathematics. A nest has loops l, each an integer of an interval, and gives the index of every
// axis of the result and of one operand as a function of loops, the axis kinds below. With guards g
// it is the relation
//
//   { r -> a : some l with r = result(l), a = operand(l), both inside their arrays, and g(l) }.
//
// An axis kind can be evaluated, given its loops, and solved for its loops, given the index. The
// map from one tensor to the other is: solve the axes of the one that the map starts from, make the
// loops that stay free range variables, evaluate the axes of the other. So both directions come of
// one description, and are converse by construction.
//
// Example, a convolution's kernel in one spatial dimension: loops `position` and `window_index`,
//
//   result axis    Along(position)
//   operand axis   Along(window_index)
//   guard          OnWindow(position, window_index, window) is inside the input
//
// gives (d0)[s0] -> (s0) with d0*stride + s0*window_dilation - low inside the input, and back
// (d0)[s0] -> (s0) with the roles exchanged.

#ifndef XLA_INDEXING_OPS_RULES_FRAME_LOOP_NEST_H_
#define XLA_INDEXING_OPS_RULES_FRAME_LOOP_NEST_H_

#include <cstdint>
#include <utility>

#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/exactness.h"
#include "xla_indexing/ops/answers/parts/value_function.h"

namespace xla_indexing::internal {

// A loop of a nest, by its number.
using Loop = int;

// How the index i of an axis follows from loops.
struct NestAxis {
  enum class Kind : uint8_t { kAlong, kReversed, kGrouped, kBlocks, kOnWindow };

  // i = l.
  static NestAxis Along(Loop l) { return {Kind::kAlong, l}; }
  // i = size - 1 - l.
  static NestAxis Reversed(Loop l, int64_t size) { return {Kind::kReversed, l, -1, size}; }
  // i = outer * size + inner, where the loop `inner` has this size.
  static NestAxis Grouped(Loop outer, Loop inner, int64_t size) {
    return {Kind::kGrouped, outer, inner, size};
  }
  // i = l floordiv size: an element for each block. No other axis of the same tensor and no guard
  // speaks of l.
  static NestAxis Blocks(Loop l, int64_t size) { return {Kind::kBlocks, l, -1, size}; }
  // The i with  i * base_dilation = position * stride + window_index * window_dilation - padding_low
  // and 0 <= i < size. Where there is none, that element of the window lies on padding or a hole.
  // Keeps a reference to the window, which is the instruction's.
  static NestAxis OnWindow(Loop position, Loop window_index, const WindowDimension& window,
                           int64_t size) {
    return {Kind::kOnWindow, position, window_index, size, &window};
  }

  Kind kind = Kind::kAlong;
  Loop loop = -1;
  Loop inner = -1;
  int64_t size = 0;
  const WindowDimension* window = nullptr;

  friend bool operator==(const NestAxis& a, const NestAxis& b) = default;
};

// first + distance <= second.
struct LoopOrder {
  Loop first = -1;
  Loop second = -1;
  int64_t distance = 0;
};

// A number that the program reads: an element of an array of integers.
struct LoopRead {
  const HloInstruction* instruction = nullptr;
  llvm::SmallVector<Loop, 2> element;
  ValueFunction value = ValueFunction::AsIs();
};

// loop - (the sum of the first `read_count` of the nest's reads) in interval.
struct RuntimeBound {
  Loop loop = -1;
  int64_t read_count = 0;
  Interval interval;
};

struct LoopNest {
  llvm::SmallVector<Interval, 8> loops;
  llvm::SmallVector<NestAxis, 6> result;
  llvm::SmallVector<NestAxis, 6> operand;
  // Guards.
  llvm::SmallVector<NestAxis, 0> inside;  // Axes of kind kOnWindow that must have a solution.
  llvm::SmallVector<LoopOrder, 0> orders;
  llvm::SmallVector<LoopRead, 0> reads;
  llvm::SmallVector<RuntimeBound, 0> bounds;
  ExactnessLabel label = ExactnessLabel::Exact();

  Loop AddLoop(const Interval& interval);
  // Over the indices of an axis.
  Loop AddLoop(int64_t size);

  // Whether a loop runs over nothing, so that nothing is read.
  bool IsEmpty() const;
};

// The union of the relations of several nests; mostly there is one.
class LoopNests : public llvm::SmallVector<LoopNest, 1> {
 public:
  LoopNests() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): one nest is a union.
  LoopNests(LoopNest nest) { push_back(std::move(nest)); }
};

// Dimension k of the operand is dimension match[k] of the result, and where that is kWholeAxis all
// of it is read. Dimensions of the result that match none are free: every index reads the same.
//
// Example: a reduce of f32[4,6] over dimension 0 has the match {kWholeAxis, 0}, a sort along
// dimension 0 {kWholeAxis, 1}, everything from everything {kWholeAxis, kWholeAxis}.
inline constexpr int64_t kWholeAxis = -1;
LoopNest MatchingNest(const Shape& result, const Shape& operand, absl::Span<const int64_t> match);
// Every element of the result reads the whole operand.
LoopNest WholeNest(const Shape& result, const Shape& operand,
                   ExactnessLabel label = ExactnessLabel::Exact());

// The window of an instruction, a dimension for each; one that is left out has none.
absl::Span<const WindowDimension> WindowOf(const HloInstruction& instruction);

// The map of a nest that is not empty, from the result to the operand and back.
OperandIndexing OutputToInputOfNest(const LoopNest& nest, const Shape& result, const Shape& operand,
                                    mlir::MLIRContext* context,
                                    OneValued one_valued = OneValued::kVariables);
OperandIndexing InputToOutputOfNest(const LoopNest& nest, const Shape& result, const Shape& operand,
                                    mlir::MLIRContext* context,
                                    OneValued one_valued = OneValued::kVariables);
// The map of a nest from the indices of the result followed by the values of these loops, which all
// have an end, to the operand: what one step of the loops reads.
OperandIndexing LoopStepToInputOfNest(const LoopNest& nest, llvm::ArrayRef<Loop> loops,
                                      const Shape& result, const Shape& operand,
                                      mlir::MLIRContext* context);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_RULES_FRAME_LOOP_NEST_H_
