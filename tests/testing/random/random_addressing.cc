// Random slices and gathers at places that integer operands name.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "tests/testing/random/random_computation.h"
#include "tests/testing/random/random_hlo.h"
#include "tests/testing/random/random_instructions.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/shape.h"

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

// What becomes of the dimensions of the operand of a gather or scatter, in the words of a gather.
struct AddressedDimensions {
  std::vector<int64_t> slice_sizes;
  std::vector<int64_t> collapsed;
  std::vector<int64_t> batching;
  std::vector<int64_t> indexed;
  DimensionVector kept_sizes;
};

AddressedDimensions RandomAddressedDimensions(const Shape& operand, RandomComputation* c) {
  AddressedDimensions result;
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

// Vectors of indices for batches of windows.
struct RandomIndices {
  RandomValue value;
  DimensionVector batch_sizes;
  std::vector<int64_t> batching_places;  // The dimensions that go with the operand's batching ones.
  int64_t vector_dimension;
};

RandomIndices AddRandomIndices(const Shape& operand, const AddressedDimensions& dimensions,
                               RandomComputation* c) {
  RandomIndices indices;
  // The batch dimensions, those of the operand's batching dimensions at random places among them.
  const int64_t slice_count = std::max<int64_t>(ElementCountOf(dimensions.kept_sizes), 1);
  DimensionVector batching_sizes;
  for (int64_t d : dimensions.batching) batching_sizes.push_back(operand.dimension(d));
  const int64_t batching_count = ElementCountOf(batching_sizes);
  const int64_t room = std::max<int64_t>(kMaxRandomElements / (slice_count * batching_count), 1);
  const DimensionVector free_sizes =
      c->RandomSizes(c->random().Between(0, 2), std::min<int64_t>(room, 16));
  indices.batching_places = Interleave(batching_sizes, free_sizes, c, &indices.batch_sizes);

  // The vectors of indices; without a dimension for them if they have one element.
  const int64_t vector_size = static_cast<int64_t>(dimensions.indexed.size());
  const int64_t batch_rank = static_cast<int64_t>(indices.batch_sizes.size());
  indices.vector_dimension = c->random().Between(0, batch_rank);
  DimensionVector sizes = indices.batch_sizes;
  if (vector_size == 1 && c->random().OneIn(2)) {
    indices.vector_dimension = batch_rank;
  } else {
    sizes.insert(sizes.begin() + indices.vector_dimension, vector_size);
    for (int64_t& place : indices.batching_places) {
      if (place >= indices.vector_dimension) ++place;
    }
  }
  indices.value = c->Integers(Shape::Array(c->RandomIntegerType(), sizes));
  return indices;
}

// One value of a combiner: most often the update combined with the value that is there or put in
// its place, now and then any of the parameters of its type.
RandomValue AddCombinedValue(const std::vector<RandomValue>& parameters, size_t i,
                             RandomComputation* combiner) {
  const size_t count = parameters.size() / 2;
  RandomValue a = parameters[i];
  RandomValue b = parameters[i + count];
  if (combiner->random().OneIn(3)) return b;
  if (combiner->random().OneIn(3)) {
    std::vector<RandomValue> fitting;
    for (const RandomValue& parameter : parameters) {
      if (parameter.shape == a.shape) fitting.push_back(parameter);
    }
    a = combiner->random().Pick(fitting);
    b = combiner->random().Pick(fitting);
    if (combiner->random().OneIn(2)) return a;
  }
  return combiner->Add(a.shape, IsPred(a.shape.element_type()) ? "or" : "maximum", {a, b});
}

std::string AddCombiner(absl::Span<const ElementType> types, RandomComputation* c) {
  RandomComputation combiner(c->module(), &c->random(), 0, c->depth() + 1);
  std::vector<RandomValue> parameters;
  for (size_t i = 0; i < 2 * types.size(); ++i) {
    parameters.push_back(combiner.AddParameter(Shape::Scalar(types[i % types.size()])));
  }
  std::vector<RandomValue> results;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < types.size(); ++i) {
    shapes.push_back(Shape::Scalar(types[i]));
    results.push_back(AddCombinedValue(parameters, i, &combiner));
  }
  if (results.size() == 1) return combiner.Finish(results[0], /*is_entry=*/false);
  return combiner.Finish(combiner.Add(Shape::Tuple(shapes), "tuple", results), /*is_entry=*/false);
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
  const AddressedDimensions dimensions = RandomAddressedDimensions(operand.shape, c);
  const RandomIndices indices = AddRandomIndices(operand.shape, dimensions, c);
  DimensionVector result_sizes;
  const std::vector<int64_t> offset_dims =
      Interleave(dimensions.kept_sizes, indices.batch_sizes, c, &result_sizes);
  std::string attributes = absl::StrCat(ListAttribute("offset_dims", offset_dims),
                                        ListAttribute("collapsed_slice_dims", dimensions.collapsed),
                                        ListAttribute("start_index_map", dimensions.indexed),
                                        ", index_vector_dim=", indices.vector_dimension,
                                        ListAttribute("slice_sizes", dimensions.slice_sizes));
  if (!dimensions.batching.empty()) {
    absl::StrAppend(&attributes, ListAttribute("operand_batching_dims", dimensions.batching),
                    ListAttribute("start_indices_batching_dims", indices.batching_places));
  }
  return c->Add(Shape::Array(operand.shape.element_type(), result_sizes), "gather",
                {operand, indices.value}, attributes);
}

RandomValue AddRandomScatter(RandomComputation* c) {
  std::vector<RandomValue> operands = {c->ArrayOperand(0)};
  const Shape shape = operands[0].shape;
  const AddressedDimensions dimensions = RandomAddressedDimensions(shape, c);
  std::vector<ElementType> types = {shape.element_type()};
  for (int64_t more = c->random().OneIn(3) ? c->random().Between(1, 2) : 0; more > 0; --more) {
    types.push_back(c->random().OneIn(2) ? types[0] : c->RandomType());
    operands.push_back(c->OperandLike(Shape::Array(types.back(), shape.dimensions())));
  }
  const RandomIndices indices = AddRandomIndices(shape, dimensions, c);
  operands.push_back(indices.value);
  DimensionVector update_sizes;
  const std::vector<int64_t> window_dims =
      Interleave(dimensions.kept_sizes, indices.batch_sizes, c, &update_sizes);
  std::vector<Shape> results;
  for (ElementType type : types) {
    operands.push_back(c->OperandLike(Shape::Array(type, update_sizes)));
    results.push_back(Shape::Array(type, shape.dimensions()));
  }
  std::string attributes = absl::StrCat(
      ListAttribute("update_window_dims", window_dims),
      ListAttribute("inserted_window_dims", dimensions.collapsed),
      ListAttribute("scatter_dims_to_operand_dims", dimensions.indexed),
      ", index_vector_dim=", indices.vector_dimension, ", to_apply=", AddCombiner(types, c));
  if (!dimensions.batching.empty()) {
    absl::StrAppend(&attributes, ListAttribute("input_batching_dims", dimensions.batching),
                    ListAttribute("scatter_indices_batching_dims", indices.batching_places));
  }
  return c->Add(results.size() == 1 ? results[0] : Shape::Tuple(results), "scatter", operands,
                attributes);
}

}  // namespace xla_indexing
