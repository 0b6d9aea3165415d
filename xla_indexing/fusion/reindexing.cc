#include "xla_indexing/fusion/reindexing.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/base/checked.h"
#include "xla_indexing/base/congruence.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/hlo/element_type.h"
#include "xla_indexing/hlo/layout.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/hlo/shape.h"

namespace xla_indexing {
namespace {

using Sizes = llvm::SmallVector<int64_t, 4>;
bool HasElements(const Shape& shape) {
  if (!shape.IsArray()) return false;
  const auto count = shape.ElementCount();
  return count.ok() && *count > 0;
}

bool Reshape(const Shape& from, const Shape& to, PositionalAlgebra& algebra, Indices& indices) {
  if (*from.ElementCount() != *to.ElementCount()) return false;
  const auto sizes = to.dimensions();
  std::optional<Indices> reshaped =
      algebra.Reshape(indices, llvm::ArrayRef(sizes.data(), sizes.size()));
  if (!reshaped) return false;
  indices = *std::move(reshaped);
  return true;
}

// The dimensions from the most major to the most minor; none where the layout does more than order
// them.
bool PhysicalOrder(const Shape& shape, Sizes* order, int64_t* bits) {
  const Layout layout = shape.LayoutOrRowMajor();
  if (!layout.tiles.empty() || !layout.dim_levels.empty() || layout.physical_shape != nullptr ||
      !layout.split_configs.empty()) {
    return false;
  }
  order->assign(layout.minor_to_major.rbegin(), layout.minor_to_major.rend());
  *bits = layout.element_size_in_bits > 0 ? layout.element_size_in_bits
                                          : StorageBitWidth(shape.element_type());
  return order->size() == static_cast<size_t>(shape.rank());
}

bool Bitcast(const Shape& from, const Shape& to, PositionalAlgebra& algebra, Indices& indices) {
  Sizes from_order, to_order, to_sizes;
  int64_t from_bits, to_bits;
  if (!PhysicalOrder(from, &from_order, &from_bits) || !PhysicalOrder(to, &to_order, &to_bits) ||
      from_bits != to_bits || *from.ElementCount() != *to.ElementCount()) {
    return false;
  }
  Indices physical;
  for (const int64_t dim : from_order) physical.push_back(indices[dim]);
  for (const int64_t dim : to_order) to_sizes.push_back(to.dimension(dim));
  std::optional<Indices> reshaped = algebra.Reshape(physical, to_sizes);
  if (!reshaped) return false;
  indices.assign(to.rank(), Number());
  for (size_t i = 0; i < to_order.size(); ++i) indices[to_order[i]] = std::move((*reshaped)[i]);
  return true;
}

// dimensions[i] is the dimension of the operand that dimension i of the result is.
void Transpose(absl::Span<const int64_t> dimensions, Direction direction, Indices& indices) {
  Indices permuted(indices.size());
  for (size_t i = 0; i < indices.size(); ++i) {
    if (direction == Direction::kOutputToInput) {
      permuted[dimensions[i]] = std::move(indices[i]);
    } else {
      permuted[i] = std::move(indices[dimensions[i]]);
    }
  }
  indices = std::move(permuted);
}

// dimensions[i] is the dimension of the result that dimension i of the operand is.
void Broadcast(absl::Span<const int64_t> dimensions, const Shape& to, Direction direction,
               PositionalAlgebra& algebra, Indices& indices) {
  Indices result;
  if (direction == Direction::kOutputToInput) {
    for (const int64_t dim : dimensions) result.push_back(std::move(indices[dim]));
  } else {
    result.resize(to.rank());
    for (int64_t dim = 0; dim < to.rank(); ++dim) {
      const auto found = absl::c_find(dimensions, dim);
      result[dim] = found != dimensions.end() ? std::move(indices[found - dimensions.begin()])
                                              : algebra.AddVariable(to.dimension(dim));
    }
  }
  indices = std::move(result);
}

// An axis of which every `step`-th index from `start` on is an index of another: the result's axis
// in the operand of a slice, the operand's in the result of a pad or a concatenation.
struct Embedding {
  int64_t start = 0;
  int64_t step = 1;
  int64_t inner_size = 1;
  int64_t outer_size = 1;
};

// From an index of the inner axis to the outer one, or back. Only the elements that are on both
// sides are led on.
Reindexed Embed(const Embedding& axis, bool outward, PositionalAlgebra& algebra, Position& position,
                int64_t dim) {
  Number& index = position.indices[dim];
  // inner = (outer - start) / step.
  const std::optional<int64_t> end = CheckedMul(axis.inner_size - 1, axis.step);
  const std::optional<int64_t> last = end ? CheckedAdd(*end, axis.start) : std::nullopt;
  if (!last || axis.start == kInt64Min) return Reindexed::kRefused;
  const Interval inner = Interval::OfSize(axis.inner_size);
  const Interval outer = Interval::OfSize(axis.outer_size);
  Restriction restriction{index};
  if (outward) {
    restriction.interval = inner.Intersect(outer.Sub(axis.start).PreimageOfMul(axis.step));
  } else {
    restriction.interval = outer.Intersect(Interval::Closed(axis.start, *last));
    restriction.residues = Congruence::Of(axis.start, axis.step);
  }
  if (restriction.interval.Intersect(algebra.RangeOf(index)).IsEmpty()) return Reindexed::kNowhere;
  std::optional<Number> result =
      outward ? algebra.Affine(index, axis.step, axis.start, 1, axis.outer_size)
              : algebra.Affine(index, 1, -axis.start, axis.step, axis.inner_size);
  if (!result) return Reindexed::kRefused;
  if (!Restrict(std::move(restriction), algebra, position.restrictions)) return Reindexed::kNowhere;
  index = *std::move(result);
  return Reindexed::kMoved;
}

// How the axes of an operand lie in those of the result, or those of the result in the operand's.
llvm::SmallVector<Embedding, 4> EmbeddingsOf(const HloInstruction& instruction, int64_t operand) {
  const Shape& output = instruction.shape();
  const Shape& input = instruction.operand(operand)->shape();
  llvm::SmallVector<Embedding, 4> axes;
  for (int64_t dim = 0; dim < output.rank(); ++dim) {
    axes.push_back({0, 1, input.dimension(dim), output.dimension(dim)});
  }
  switch (instruction.opcode()) {
    case HloOpcode::kSlice:
      for (int64_t dim = 0; dim < output.rank(); ++dim) {
        const SliceRange& range = instruction.slice()[dim];
        axes[dim] = {range.start, range.stride, output.dimension(dim), input.dimension(dim)};
      }
      break;
    case HloOpcode::kPad:
      for (int64_t dim = 0; dim < output.rank(); ++dim) {
        const PaddingDimension& padding = instruction.padding()[dim];
        axes[dim].start = padding.low;
        axes[dim].step = padding.interior + 1;
      }
      break;
    default: {
      Embedding& axis = axes[instruction.dimensions()[0]];
      for (int64_t i = 0; i < operand; ++i) {
        axis.start += instruction.operand(i)->shape().dimension(instruction.dimensions()[0]);
      }
    }
  }
  return axes;
}

Reindexed ApplyEmbedding(const HloInstruction& instruction, int64_t operand, Direction direction,
                         PositionalAlgebra& algebra, Position& position) {
  const bool operand_is_inner = instruction.opcode() != HloOpcode::kSlice;
  const bool outward = operand_is_inner == (direction == Direction::kInputToOutput);
  int64_t dim = 0;
  for (const Embedding& axis : EmbeddingsOf(instruction, operand)) {
    const bool is_same = axis.start == 0 && axis.step == 1 && axis.inner_size == axis.outer_size;
    if (!is_same) {
      const Reindexed reindexed = Embed(axis, outward, algebra, position, dim);
      if (reindexed != Reindexed::kMoved) return reindexed;
    }
    ++dim;
  }
  return Reindexed::kMoved;
}

Reindexed MovedIf(bool moved) { return moved ? Reindexed::kMoved : Reindexed::kRefused; }

}  // namespace

bool IsReindexing(const HloInstruction& instruction, int64_t operand) {
  const Shape& output = instruction.shape();
  const Shape& input = instruction.operand(operand)->shape();
  switch (instruction.opcode()) {
    case HloOpcode::kReshape:
    case HloOpcode::kBitcast:
    case HloOpcode::kTranspose:
    case HloOpcode::kReverse:
    case HloOpcode::kBroadcast:
    case HloOpcode::kSlice:
    case HloOpcode::kConcatenate:
      break;
    case HloOpcode::kPad:
      if (operand != 0) return false;
      break;
    default:
      return IsElementwise(instruction.opcode()) && output.IsArray() && input.IsArray() &&
             output.dimensions() == input.dimensions();
  }
  return HasElements(output) && HasElements(input);
}

Reindexed ApplyReindexing(const HloInstruction& instruction, int64_t operand, Direction direction,
                          PositionalAlgebra& algebra, Position& position) {
  const Shape& output = instruction.shape();
  const Shape& input = instruction.operand(operand)->shape();
  const bool backward = direction == Direction::kOutputToInput;
  const Shape& from = backward ? output : input;
  const Shape& to = backward ? input : output;
  switch (instruction.opcode()) {
    case HloOpcode::kReshape:
      return MovedIf(Reshape(from, to, algebra, position.indices));
    case HloOpcode::kBitcast:
      return MovedIf(Bitcast(from, to, algebra, position.indices));
    case HloOpcode::kTranspose:
      Transpose(instruction.dimensions(), direction, position.indices);
      return Reindexed::kMoved;
    case HloOpcode::kReverse:
      for (const int64_t dim : instruction.dimensions()) {
        Reverse(position.indices[dim]);
      }
      return Reindexed::kMoved;
    case HloOpcode::kBroadcast:
      Broadcast(instruction.dimensions(), to, direction, algebra, position.indices);
      return Reindexed::kMoved;
    case HloOpcode::kSlice:
    case HloOpcode::kPad:
    case HloOpcode::kConcatenate:
      return ApplyEmbedding(instruction, operand, direction, algebra, position);
    default:
      return Reindexed::kMoved;
  }
}

}  // namespace xla_indexing
