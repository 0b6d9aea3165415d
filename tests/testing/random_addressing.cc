// Random slices and gathers at places that integer operands name.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "tests/testing/random_computation.h"
#include "tests/testing/random_hlo.h"
#include "tests/testing/random_instructions.h"
#include "xla_indexing/hlo/element_type.h"
#include "xla_indexing/hlo/shape.h"

namespace xla_indexing {
namespace {

DimensionVector RandomSliceSizes(const Shape& shape, RandomComputation* c) {
  DimensionVector sizes;
  for (int64_t size : shape.dimensions()) {
    sizes.push_back(c->random().OneIn(4) ? size
                                         : c->random().Between(std::min<int64_t>(size, 1), size));
    if (c->random().OneIn(24)) sizes.back() = 0;
  }
  return sizes;
}

// One start a dimension, all of one type.
void AppendStarts(int64_t rank, RandomComputation* c, std::vector<RandomValue>* operands) {
  const Shape scalar = Shape::Scalar(c->RandomIntegerType());
  for (int64_t d = 0; d < rank; ++d) operands->push_back(c->Integers(scalar));
}

// What becomes of the dimensions of a gather's operand.
struct GatherDimensions {
  std::vector<int64_t> slice_sizes;
  std::vector<int64_t> collapsed;
  std::vector<int64_t> batching;
  std::vector<int64_t> indexed;
  DimensionVector kept_sizes;
};

GatherDimensions RandomGatherDimensions(const Shape& operand, RandomComputation* c) {
  GatherDimensions result;
  const bool has_batching = c->random().OneIn(3);
  for (int64_t d = 0; d < operand.rank(); ++d) {
    const int64_t size = operand.dimension(d);
    if (size >= 1 && has_batching && c->random().OneIn(3)) {
      result.batching.push_back(d);
      result.slice_sizes.push_back(1);
      continue;
    }
    if (c->random().OneIn(2)) result.indexed.push_back(d);
    if (size >= 1 && c->random().OneIn(3)) {
      result.collapsed.push_back(d);
      result.slice_sizes.push_back(1);
      continue;
    }
    int64_t slice_size = c->random().Between(std::min<int64_t>(size, 1), size);
    if (c->random().OneIn(24)) slice_size = 0;
    result.slice_sizes.push_back(slice_size);
    result.kept_sizes.push_back(slice_size);
  }
  c->random().Shuffle(&result.indexed);
  return result;
}

// Puts `values` among `others`, both in their orders; their places in the whole.
std::vector<int64_t> Interleave(const DimensionVector& values, const DimensionVector& others,
                                RandomComputation* c, DimensionVector* whole) {
  const int64_t rank = static_cast<int64_t>(values.size() + others.size());
  std::vector<int64_t> places = c->RandomPermutation(rank);
  places.resize(values.size());
  absl::c_sort(places);
  size_t next_value = 0;
  size_t next_other = 0;
  for (int64_t d = 0; d < rank; ++d) {
    const bool is_value = absl::c_binary_search(places, d);
    whole->push_back(is_value ? values[next_value++] : others[next_other++]);
  }
  return places;
}

}  // namespace

RandomValue AddRandomDynamicSlice(RandomComputation* c) {
  std::vector<RandomValue> operands = {c->ArrayOperand(0)};
  const Shape shape = operands[0].shape;
  const DimensionVector sizes = RandomSliceSizes(shape, c);
  const Shape result = Shape::Array(shape.element_type(), sizes);
  AppendStarts(result.rank(), c, &operands);
  return c->Add(result, "dynamic-slice", operands, ListAttribute("dynamic_slice_sizes", sizes));
}

RandomValue AddRandomDynamicUpdateSlice(RandomComputation* c) {
  std::vector<RandomValue> operands = {c->ArrayOperand(0)};
  Shape result = operands[0].shape;
  result.ClearLayout();
  operands.push_back(
      c->OperandLike(Shape::Array(result.element_type(), RandomSliceSizes(result, c))));
  AppendStarts(result.rank(), c, &operands);
  return c->Add(result, "dynamic-update-slice", operands);
}

RandomValue AddRandomGather(RandomComputation* c) {
  const RandomValue operand = c->ArrayOperand(0);
  const GatherDimensions dimensions = RandomGatherDimensions(operand.shape, c);

  // The batch dimensions, those of the operand's batching dimensions at random places among them.
  const int64_t slice_count = std::max<int64_t>(ElementCountOf(dimensions.kept_sizes), 1);
  DimensionVector batching_sizes;
  for (int64_t d : dimensions.batching) batching_sizes.push_back(operand.shape.dimension(d));
  const int64_t batching_count = ElementCountOf(batching_sizes);
  const int64_t room = std::max<int64_t>(kMaxRandomElements / (slice_count * batching_count), 1);
  const DimensionVector free_sizes =
      c->RandomSizes(c->random().Between(0, 2), std::min<int64_t>(room, 16));
  DimensionVector batch_sizes;
  std::vector<int64_t> batching_places = Interleave(batching_sizes, free_sizes, c, &batch_sizes);

  // The vectors of start indices; without a dimension for them if they have one element.
  const int64_t vector_size = static_cast<int64_t>(dimensions.indexed.size());
  const int64_t batch_rank = static_cast<int64_t>(batch_sizes.size());
  int64_t vector_dimension = c->random().Between(0, batch_rank);
  DimensionVector index_sizes = batch_sizes;
  if (vector_size == 1 && c->random().OneIn(2)) {
    vector_dimension = batch_rank;
  } else {
    index_sizes.insert(index_sizes.begin() + vector_dimension, vector_size);
    for (int64_t& place : batching_places) {
      if (place >= vector_dimension) ++place;
    }
  }
  const RandomValue indices = c->Integers(Shape::Array(c->RandomIntegerType(), index_sizes));

  DimensionVector result_sizes;
  const std::vector<int64_t> offset_dims =
      Interleave(dimensions.kept_sizes, batch_sizes, c, &result_sizes);
  std::string attributes = absl::StrCat(ListAttribute("offset_dims", offset_dims),
                                        ListAttribute("collapsed_slice_dims", dimensions.collapsed),
                                        ListAttribute("start_index_map", dimensions.indexed),
                                        ", index_vector_dim=", vector_dimension,
                                        ListAttribute("slice_sizes", dimensions.slice_sizes));
  if (!dimensions.batching.empty()) {
    absl::StrAppend(&attributes, ListAttribute("operand_batching_dims", dimensions.batching),
                    ListAttribute("start_indices_batching_dims", batching_places));
  }
  return c->Add(Shape::Array(operand.shape.element_type(), result_sizes), "gather",
                {operand, indices}, attributes);
}

}  // namespace xla_indexing
