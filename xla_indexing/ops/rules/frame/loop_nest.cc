#include "xla_indexing/ops/rules/frame/loop_nest.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/ops/answers/map_builder.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using Axes = llvm::ArrayRef<NestAxis>;

// Builds the map from the tensor with the axes `from` to the one with the axes `to`.
class NestSolver {
 public:
  NestSolver(const LoopNest& nest, Axes from, const Shape& from_shape, Axes to,
             const Shape& to_shape, mlir::MLIRContext* context,
             OneValued one_valued = OneValued::kVariables)
      : nest_(nest),
        from_(from),
        to_(to),
        builder_(from_shape, to_shape, context, one_valued),
        solutions_(nest.loops.size()) {}

  OperandIndexing Solve() {
    for (size_t k = 0; k < from_.size(); ++k) {
      SolveAxis(from_[k], static_cast<int64_t>(k));
    }
    llvm::SmallVector<AffineExpr, 4> indices;
    for (const NestAxis& axis : to_) indices.push_back(IndexOf(axis));
    // The windows that the map starts from restrict the domain whether or not their positions are
    // asked for.
    for (const NestAxis& axis : from_) {
      if (axis.kind == NestAxis::Kind::kOnWindow) ValueOf(axis.loop);
    }
    for (const NestAxis& axis : nest_.inside) IndexOf(axis);
    for (const LoopOrder& order : nest_.orders) {
      const AffineExpr first = ValueOf(order.first);
      builder_.Constrain(Sub(ValueOf(order.second), first), Interval::AtLeast(order.distance));
    }
    ApplyRuntimeBounds();
    return builder_.Build(indices, nest_.label);
  }

 private:
  // What is known of a loop. A null value is one that does not fit, which Build() answers for.
  struct Solution {
    bool is_known = false;
    AffineExpr value;
    // The dimension that the value is, of which the expression is made when the loop is asked for.
    std::optional<int64_t> dim;
    // Where the value is numerator / divisor without remainder.
    AffineExpr numerator;
    int64_t divisor = 0;
    // The axis to solve when the loop is asked for.
    const NestAxis* axis = nullptr;
    AffineExpr index;
  };

  // Solves an axis, whose index is dimension `k`, for its loops, or notes how it can be.
  void SolveAxis(const NestAxis& axis, int64_t k) {
    if (axis.kind == NestAxis::Kind::kAlong) {
      builder_.ConstrainDim(k, nest_.loops[axis.loop]);
      solutions_[axis.loop].dim = k;
      solutions_[axis.loop].is_known = true;
      return;
    }
    const AffineExpr index = builder_.Dim(k);
    switch (axis.kind) {
      case NestAxis::Kind::kAlong:
        break;
      case NestAxis::Kind::kReversed:
        SetValue(axis.loop, LinearCombination({{index, -1}}, axis.size - 1));
        break;
      case NestAxis::Kind::kGrouped:
        SetValue(axis.loop, FloorDiv(index, axis.size));
        SetValue(axis.inner, Mod(index, axis.size));
        break;
      case NestAxis::Kind::kBlocks:
        builder_.Constrain(index, nest_.loops[axis.loop].FloorDiv(axis.size));
        solutions_[axis.loop].axis = &axis;
        solutions_[axis.loop].index = index;
        break;
      case NestAxis::Kind::kOnWindow:
        solutions_[axis.loop].axis = &axis;
        solutions_[axis.loop].index = index;
        break;
    }
  }

  void SetValue(Loop loop, AffineExpr value) {
    solutions_[loop].value = value;
    solutions_[loop].dim = std::nullopt;
    solutions_[loop].is_known = true;
  }

  AffineExpr ValueOf(Loop loop) {
    const Solution& solution = solutions_[loop];
    if (solution.dim) SetValue(loop, builder_.Dim(*solution.dim));
    if (!solution.is_known) {
      if (solution.axis == nullptr) {
        SetValue(loop, builder_.AddRange(nest_.loops[loop]));
      } else if (solution.axis->kind == NestAxis::Kind::kBlocks) {
        SolveBlock(loop);
      } else {
        SolveWindow(loop);
      }
    }
    return solution.value;
  }

  // The elements of the block are from index * size on.
  void SolveBlock(Loop loop) {
    const Solution& solution = solutions_[loop];
    const Interval& interval = nest_.loops[loop];
    const int64_t size = solution.axis->size;
    if (interval.FloorDiv(size).IsPoint()) {
      SetValue(loop, builder_.AddRange(interval));
      return;
    }
    SetValue(loop,
             LinearCombination({{solution.index, size}, {builder_.AddRange(IndicesOfAxis(size))}}));
    builder_.Constrain(solution.value, interval);
  }

  // position = (index * base_dilation + padding_low - window_index * window_dilation) / stride.
  void SolveWindow(Loop position) {
    Solution& solution = solutions_[position];
    const WindowDimension& window = *solution.axis->window;
    solution.numerator =
        LinearCombination({{solution.index, window.base_dilation},
                           {ValueOf(solution.axis->inner), -window.window_dilation}},
                          window.padding_low);
    solution.divisor = window.stride;
    SetValue(position,
             builder_.ExactQuotient(solution.numerator, window.stride, nest_.loops[position]));
  }

  // The value of a loop times a factor.
  Summand Multiple(Loop loop, int64_t factor) {
    const AffineExpr value = ValueOf(loop);
    const Solution& solution = solutions_[loop];
    return solution.divisor == factor ? Summand{solution.numerator} : Summand{value, factor};
  }

  AffineExpr IndexOf(const NestAxis& axis) {
    switch (axis.kind) {
      case NestAxis::Kind::kAlong:
        return ValueOf(axis.loop);
      case NestAxis::Kind::kReversed:
        return LinearCombination({{ValueOf(axis.loop), -1}}, axis.size - 1);
      case NestAxis::Kind::kGrouped: {
        const auto* same = absl::c_find(from_, axis);
        if (same != from_.end()) return builder_.Dim(same - from_.begin());
        const AffineExpr outer = ValueOf(axis.loop);
        return LinearCombination({{outer, axis.size}, {ValueOf(axis.inner)}});
      }
      case NestAxis::Kind::kBlocks: {
        const Interval blocks = nest_.loops[axis.loop].FloorDiv(axis.size);
        const bool is_free = !solutions_[axis.loop].is_known && !solutions_[axis.loop].axis;
        if (is_free || blocks.IsPoint()) return builder_.AddRange(blocks);
        return FloorDiv(ValueOf(axis.loop), axis.size);
      }
      case NestAxis::Kind::kOnWindow: {
        const WindowDimension& window = *axis.window;
        const Summand position = Multiple(axis.loop, window.stride);
        const AffineExpr met =
            LinearCombination({position, {ValueOf(axis.inner), window.window_dilation}},
                              CheckedNeg(window.padding_low));
        return builder_.ExactQuotient(met, window.base_dilation, IndicesOfAxis(axis.size));
      }
    }
    return AffineExpr();
  }

  // Range variables come before runtime variables, so whatever a bound needs is asked for first.
  void ApplyRuntimeBounds() {
    llvm::SmallVector<RuntimeVarIndexing, 4> bindings;
    int64_t read_count = 0;
    for (const RuntimeBound& bound : nest_.bounds) {
      ValueOf(bound.loop);
      read_count = std::max(read_count, bound.read_count);
    }
    for (const LoopRead& read : llvm::ArrayRef(nest_.reads).take_front(read_count)) {
      RuntimeVarIndexing& binding = bindings.emplace_back();
      binding.instruction = read.instruction;
      for (const Loop loop : read.element) binding.element.push_back(ValueOf(loop));
      binding.value = read.value;
    }
    llvm::SmallVector<AffineExpr, 4> sums = {builder_.Value(0)};
    for (RuntimeVarIndexing& binding : bindings) {
      sums.push_back(Add(sums.back(), builder_.AddRuntime(std::move(binding))));
    }
    for (const RuntimeBound& bound : nest_.bounds) {
      builder_.Constrain(Sub(ValueOf(bound.loop), sums[bound.read_count]), bound.interval);
    }
  }

  const LoopNest& nest_;
  Axes from_;
  Axes to_;
  MapBuilder builder_;
  llvm::SmallVector<Solution, 8> solutions_;
};

}  // namespace

Loop LoopNest::AddLoop(const Interval& interval) {
  loops.push_back(interval);
  return static_cast<Loop>(loops.size()) - 1;
}

Loop LoopNest::AddLoop(int64_t size) { return AddLoop(IndicesOfAxis(size)); }

bool LoopNest::IsEmpty() const { return absl::c_linear_search(loops, Interval::Empty()); }

LoopNest MatchingNest(const Shape& result, const Shape& operand, absl::Span<const int64_t> match) {
  LoopNest nest;
  for (const int64_t size : result.dimensions()) {
    nest.result.push_back(NestAxis::Along(nest.AddLoop(size)));
  }
  for (size_t k = 0; k < match.size(); ++k) {
    const Interval indices = IndicesOfAxis(operand.dimension(static_cast<int64_t>(k)));
    if (match[k] == kWholeAxis) {
      nest.operand.push_back(NestAxis::Along(nest.AddLoop(indices)));
      continue;
    }
    nest.operand.push_back(nest.result[match[k]]);
    // Two sizes can agree although one of them has no bound.
    Interval& loop = nest.loops[nest.operand.back().loop];
    loop = loop.Intersect(indices);
  }
  return nest;
}

LoopNest WholeNest(const Shape& result, const Shape& operand, ExactnessLabel label) {
  LoopNest nest =
      MatchingNest(result, operand, llvm::SmallVector<int64_t, 4>(operand.rank(), kWholeAxis));
  nest.label = std::move(label);
  return nest;
}

absl::Span<const WindowDimension> WindowOf(const HloInstruction& instruction) {
  const Window* window = instruction.window();
  return window == nullptr ? absl::Span<const WindowDimension>()
                           : absl::MakeConstSpan(window->dimensions);
}

OperandIndexing OutputToInputOfNest(const LoopNest& nest, const Shape& result, const Shape& operand,
                                    mlir::MLIRContext* context, OneValued one_valued) {
  return NestSolver(nest, nest.result, result, nest.operand, operand, context, one_valued).Solve();
}

OperandIndexing InputToOutputOfNest(const LoopNest& nest, const Shape& result, const Shape& operand,
                                    mlir::MLIRContext* context, OneValued one_valued) {
  return NestSolver(nest, nest.operand, operand, nest.result, result, context, one_valued).Solve();
}

OperandIndexing LoopStepToInputOfNest(const LoopNest& nest, llvm::ArrayRef<Loop> loops,
                                      const Shape& result, const Shape& operand,
                                      mlir::MLIRContext* context) {
  llvm::SmallVector<NestAxis, 6> from(nest.result);
  llvm::SmallVector<int64_t, 6> sizes(result.dimensions().begin(), result.dimensions().end());
  for (const Loop loop : loops) {
    from.push_back(NestAxis::Along(loop));
    sizes.push_back(nest.loops[loop].upper() + 1);
  }
  const Shape steps = Shape::Array(result.element_type(), sizes);
  return NestSolver(nest, from, steps, nest.operand, operand, context).Solve();
}

}  // namespace xla_indexing::internal
