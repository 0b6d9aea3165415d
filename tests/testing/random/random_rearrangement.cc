// Random instructions that put elements in other places.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testing/random/random_computation.h"
#include "tests/testing/random/random_hlo.h"
#include "tests/testing/random/random_instructions.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {
namespace {

Shape ArrayLike(const Shape& shape, const DimensionVector& sizes) {
  return Shape::Array(shape.element_type(), sizes);
}

}  // namespace

// To the same number of bits, in half of the cases of elements of another width.
RandomValue AddRandomBitcast(RandomComputation* c) {
  static constexpr ElementType kTypes[] = {ElementType::kS4,  ElementType::kU8,  ElementType::kBF16,
                                           ElementType::kS32, ElementType::kF32, ElementType::kF64};
  const RandomValue operand = c->ArrayOperand(0);
  const ElementType type = operand.shape.element_type();
  const int64_t count = ElementCountOf(operand.shape.dimensions());
  ElementType result_type = type;
  int64_t result_count = count;
  if (!IsPred(type) && c->random().OneIn(2)) {
    const ElementType other = c->random().Pick(kTypes);
    const int64_t bits = count * StorageBitWidth(type);
    if (bits % StorageBitWidth(other) == 0 && bits / StorageBitWidth(other) <= kMaxRandomElements) {
      result_type = other;
      result_count = bits / StorageBitWidth(other);
    }
  }
  const Shape shape = Shape::Array(result_type, c->RandomSizesOf(result_count));
  return c->Add(c->random().OneIn(3) ? shape : c->WithRandomLayout(shape), "bitcast", {operand});
}

RandomValue AddRandomBitcastConvert(RandomComputation* c) {
  static constexpr ElementType kTypes[] = {ElementType::kS4, ElementType::kU8, ElementType::kBF16,
                                           ElementType::kF32, ElementType::kS64};
  RandomValue operand = c->ArrayOperand(kTypes);
  const ElementType from = operand.shape.element_type();
  const ElementType to = c->random().Pick(kTypes);
  const int64_t from_bits = StorageBitWidth(from);
  const int64_t to_bits = StorageBitWidth(to);
  DimensionVector sizes(operand.shape.dimensions().begin(), operand.shape.dimensions().end());
  if (from_bits < to_bits) {
    // The result's sizes, and a row for each of its elements.
    const DimensionVector result = sizes;
    sizes.push_back(to_bits / from_bits);
    operand = c->OperandLike(Shape::Array(from, sizes));
    sizes = result;
  } else if (from_bits > to_bits) {
    sizes.push_back(from_bits / to_bits);
  }
  return c->Add(Shape::Array(to, sizes), "bitcast-convert", {operand});
}

RandomValue AddRandomBroadcast(RandomComputation* c) {
  const RandomValue operand = c->ArrayOperand(0);
  const int64_t operand_rank = operand.shape.rank();
  const int64_t rank = operand_rank + c->random().Between(0, operand_rank >= 4 ? 1 : 2);
  std::vector<int64_t> dimensions = c->RandomPermutation(rank);
  dimensions.resize(operand_rank);
  std::sort(dimensions.begin(), dimensions.end());
  const int64_t count = std::max<int64_t>(ElementCountOf(operand.shape.dimensions()), 1);
  DimensionVector new_sizes = c->RandomSizes(rank - operand_rank, kMaxRandomElements / count);
  DimensionVector sizes(rank, -1);
  for (int64_t j = 0; j < operand_rank; ++j) sizes[dimensions[j]] = operand.shape.dimension(j);
  size_t next = 0;
  for (int64_t& size : sizes) {
    if (size == -1) size = new_sizes[next++];
  }
  return c->Add(ArrayLike(operand.shape, sizes), "broadcast", {operand},
                ListAttribute("dimensions", dimensions));
}

RandomValue AddRandomConcatenate(RandomComputation* c) {
  std::vector<RandomValue> operands = {c->ArrayOperand(1)};
  Shape shape = ArrayLike(operands[0].shape, DimensionVector(operands[0].shape.dimensions().begin(),
                                                             operands[0].shape.dimensions().end()));
  const int64_t dimension = c->random().Between(0, shape.rank() - 1);
  for (int64_t i = c->random().Between(0, 3); i > 0; --i) {
    Shape next = shape;
    next.SetDimension(
        dimension, c->random().OneIn(3) ? operands[0].shape.dimension(dimension) : c->RandomSize());
    Shape longer = shape;
    longer.SetDimension(dimension, shape.dimension(dimension) + next.dimension(dimension));
    if (ElementCountOf(longer.dimensions()) > kMaxRandomElements) break;
    operands.push_back(c->OperandLike(next));
    shape = longer;
  }
  return c->Add(shape, "concatenate", operands, ListAttribute("dimensions", {dimension}));
}

RandomValue AddRandomPad(RandomComputation* c) {
  const RandomValue operand = c->ArrayOperand(0);
  const int64_t rank = operand.shape.rank();
  DimensionVector sizes(rank);
  std::string padding;
  int64_t count = 1;
  for (int64_t d = 0; d < rank; ++d) {
    const int64_t size = operand.shape.dimension(d);
    int64_t low = 0;
    int64_t high = 0;
    int64_t interior = 0;
    if (!c->random().OneIn(4)) {
      low = c->random().Between(-2, 2);
      high = c->random().Between(-2, 2);
      if (c->random().OneIn(3)) interior = c->random().Between(1, 2);
    }
    const int64_t dilated = size + std::max<int64_t>(size - 1, 0) * interior;
    // Room for the dimensions that follow as they are.
    int64_t rest = 1;
    for (int64_t e = d + 1; e < rank; ++e) rest *= std::max<int64_t>(operand.shape.dimension(e), 1);
    sizes[d] = low + dilated + high;
    if (sizes[d] < 0 || count * sizes[d] * rest > kMaxRandomElements) {
      low = high = interior = 0;
      sizes[d] = size;
    }
    count *= std::max<int64_t>(sizes[d], 1);
    absl::StrAppend(&padding, d == 0 ? "" : "x", low, "_", high);
    if (interior != 0) absl::StrAppend(&padding, "_", interior);
  }
  if (rank > 0) padding = absl::StrCat(", padding=", padding);
  const Shape scalar = Shape::Scalar(operand.shape.element_type());
  return c->Add(ArrayLike(operand.shape, sizes), "pad", {operand, c->OperandLike(scalar)}, padding);
}

RandomValue AddRandomReshape(RandomComputation* c) {
  const RandomValue operand = c->ArrayOperand(0);
  const DimensionVector sizes = c->RandomSizesOf(ElementCountOf(operand.shape.dimensions()));
  return c->Add(ArrayLike(operand.shape, sizes), "reshape", {operand});
}

RandomValue AddRandomReverse(RandomComputation* c) {
  const RandomValue operand = c->ArrayOperand(0);
  Shape shape = operand.shape;
  shape.ClearLayout();
  return c->Add(shape, "reverse", {operand},
                ListAttribute("dimensions", c->RandomSubset(shape.rank())));
}

RandomValue AddRandomSlice(RandomComputation* c) {
  const RandomValue operand = c->ArrayOperand(0);
  DimensionVector sizes(operand.shape.rank());
  std::string ranges;
  for (int64_t d = 0; d < operand.shape.rank(); ++d) {
    const int64_t size = operand.shape.dimension(d);
    int64_t start = 0;
    int64_t limit = size;
    int64_t stride = 1;
    if (!c->random().OneIn(4)) {
      start = c->random().Between(0, size - (size > 0 && !c->random().OneIn(16) ? 1 : 0));
      limit = c->random().Between(start + (start < size && !c->random().OneIn(16) ? 1 : 0), size);
      stride = c->random().OneIn(3) ? c->random().Between(2, 3) : 1;
    }
    sizes[d] = (limit - start + stride - 1) / stride;
    absl::StrAppend(&ranges, d == 0 ? "" : ", ", "[", start, ":", limit);
    if (stride != 1) absl::StrAppend(&ranges, ":", stride);
    absl::StrAppend(&ranges, "]");
  }
  return c->Add(ArrayLike(operand.shape, sizes), "slice", {operand},
                absl::StrCat(", slice={", ranges, "}"));
}

RandomValue AddRandomTranspose(RandomComputation* c) {
  const RandomValue operand = c->ArrayOperand(0);
  const std::vector<int64_t> permutation = c->RandomPermutation(operand.shape.rank());
  DimensionVector sizes;
  for (int64_t d : permutation) sizes.push_back(operand.shape.dimension(d));
  return c->Add(ArrayLike(operand.shape, sizes), "transpose", {operand},
                ListAttribute("dimensions", permutation));
}

}  // namespace xla_indexing
