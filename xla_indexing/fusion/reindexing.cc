#include "xla_indexing/fusion/reindexing.h"

#include <cstdint>
#include <utility>

#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "xla_indexing/hlo/element_type.h"
#include "xla_indexing/hlo/layout.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/hlo/shape.h"

namespace xla_indexing {
namespace {

using Sizes = llvm::SmallVector<int64_t, 4>;

Sizes SizesOf(const Shape& shape) {
  return Sizes(shape.dimensions().begin(), shape.dimensions().end());
}

bool HasElements(const Shape& shape) {
  if (!shape.IsArray()) return false;
  const auto count = shape.ElementCount();
  return count.ok() && *count > 0;
}

bool Reshape(const Shape& from, const Shape& to, IndexAlgebra& algebra, Indices& indices) {
  if (*from.ElementCount() != *to.ElementCount()) return false;
  indices = algebra.Delinearize(algebra.Linearize(indices, SizesOf(from)), SizesOf(to));
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

bool Bitcast(const Shape& from, const Shape& to, IndexAlgebra& algebra, Indices& indices) {
  Sizes from_order, to_order;
  int64_t from_bits, to_bits;
  if (!PhysicalOrder(from, &from_order, &from_bits) || !PhysicalOrder(to, &to_order, &to_bits) ||
      from_bits != to_bits || *from.ElementCount() != *to.ElementCount()) {
    return false;
  }
  Indices physical;
  Sizes from_sizes, to_sizes;
  for (int64_t dim : from_order) {
    physical.push_back(indices[dim]);
    from_sizes.push_back(from.dimension(dim));
  }
  for (int64_t dim : to_order) to_sizes.push_back(to.dimension(dim));
  physical = algebra.Delinearize(algebra.Linearize(physical, from_sizes), to_sizes);
  indices.assign(to.rank(), LinearSum());
  for (size_t i = 0; i < to_order.size(); ++i) indices[to_order[i]] = std::move(physical[i]);
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

}  // namespace

bool IsReindexing(const HloInstruction& instruction) {
  const HloOpcode opcode = instruction.opcode();
  return (opcode == HloOpcode::kReshape || opcode == HloOpcode::kBitcast ||
          opcode == HloOpcode::kTranspose || opcode == HloOpcode::kReverse) &&
         HasElements(instruction.shape()) && HasElements(instruction.operand(0)->shape());
}

bool ApplyReindexing(const HloInstruction& instruction, Direction direction, IndexAlgebra& algebra,
                     Indices& indices) {
  if (!IsReindexing(instruction)) return false;
  const HloOpcode opcode = instruction.opcode();
  const Shape& output = instruction.shape();
  const Shape& input = instruction.operand(0)->shape();
  const bool backward = direction == Direction::kOutputToInput;
  const Shape& from = backward ? output : input;
  const Shape& to = backward ? input : output;
  switch (opcode) {
    case HloOpcode::kReshape:
      return Reshape(from, to, algebra, indices);
    case HloOpcode::kBitcast:
      return Bitcast(from, to, algebra, indices);
    case HloOpcode::kTranspose:
      Transpose(instruction.dimensions(), direction, indices);
      return true;
    default:
      for (const int64_t dim : instruction.dimensions()) {
        indices[dim].Scale(-1);
        indices[dim].AddConstant(output.dimension(dim) - 1);
      }
      return true;
  }
}

}  // namespace xla_indexing
