// Random dots and reductions.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tests/testing/random_computation.h"
#include "tests/testing/random_hlo.h"
#include "tests/testing/random_instructions.h"
#include "xla_indexing/hlo/attribute_values.h"
#include "xla_indexing/hlo/element_type.h"
#include "xla_indexing/hlo/shape.h"

namespace xla_indexing {
namespace {

// A computation on twice as many scalars as there are types that combines the halves.
std::string AddReducer(absl::Span<const ElementType> types, RandomComputation* c) {
  RandomComputation reducer(c->module(), &c->random(), 0, c->depth() + 1);
  std::vector<RandomValue> parameters;
  parameters.reserve(2 * types.size());
  for (size_t i = 0; i < 2 * types.size(); ++i) {
    parameters.push_back(reducer.AddParameter(Shape::Scalar(types[i % types.size()])));
  }
  std::vector<RandomValue> results;
  std::vector<Shape> shapes;
  for (size_t i = 0; i < types.size(); ++i) {
    shapes.push_back(Shape::Scalar(types[i]));
    results.push_back(reducer.Add(shapes.back(), IsPred(types[i]) ? "or" : "maximum",
                                  {parameters[i], parameters[i + types.size()]}));
  }
  if (results.size() == 1) return reducer.Finish(results[0], /*is_entry=*/false);
  return reducer.Finish(reducer.Add(Shape::Tuple(shapes), "tuple", results), /*is_entry=*/false);
}

// The operands of a variadic reduction: inputs of the first one's sizes, then the inits.
std::vector<RandomValue> ReductionOperands(const RandomValue& first, RandomComputation* c,
                                           std::vector<ElementType>* types) {
  std::vector<RandomValue> operands = {first};
  types->push_back(first.shape.element_type());
  for (int64_t more = c->random().OneIn(3) ? c->random().Between(1, 2) : 0; more > 0; --more) {
    Shape shape = first.shape;
    shape.SetElementType(c->RandomType());
    operands.push_back(c->OperandLike(shape));
    types->push_back(shape.element_type());
  }
  for (ElementType type : *types) operands.push_back(c->OperandLike(Shape::Scalar(type)));
  return operands;
}

RandomValue AddReduction(absl::string_view opcode, const DimensionVector& sizes,
                         const std::vector<RandomValue>& operands,
                         const std::vector<ElementType>& types, absl::string_view attributes,
                         RandomComputation* c) {
  std::vector<Shape> shapes;
  shapes.reserve(types.size());
  for (ElementType type : types) shapes.push_back(Shape::Array(type, sizes));
  return c->Add(shapes.size() == 1 ? shapes[0] : Shape::Tuple(shapes), opcode, operands,
                absl::StrCat(attributes, ", to_apply=", AddReducer(types, c)));
}

// A dimension of a window over `size` elements whose result has at most `max_size`; `*result_size`
// is the result's.
WindowDimension RandomWindowDimension(int64_t size, int64_t max_size, RandomComputation* c,
                                      int64_t* result_size) {
  while (true) {
    WindowDimension window;
    if (!c->random().OneIn(4)) {
      window.size = c->random().Between(1, 3);
      if (c->random().OneIn(2)) window.stride = c->random().Between(1, 3);
      if (c->random().OneIn(2)) window.padding_low = c->random().Between(-1, 3);
      if (c->random().OneIn(2)) window.padding_high = c->random().Between(-1, 3);
      if (c->random().OneIn(3)) window.base_dilation = c->random().Between(1, 3);
      if (c->random().OneIn(3)) window.window_dilation = c->random().Between(1, 3);
    }
    const int64_t dilated = size == 0 ? 0 : (size - 1) * window.base_dilation + 1;
    const int64_t padded = window.padding_low + dilated + window.padding_high;
    const int64_t reach = (window.size - 1) * window.window_dilation + 1;
    *result_size = padded < reach ? 0 : (padded - reach) / window.stride + 1;
    if (*result_size == 0 && !c->random().OneIn(8)) continue;
    if (padded >= 0 && *result_size <= std::max(size, max_size)) return window;
  }
}

}  // namespace

RandomValue AddRandomDot(RandomComputation* c) {
  static constexpr ElementType kTypes[] = {ElementType::kF32, ElementType::kS32};
  const RandomValue lhs = c->ArrayOperand(kTypes);
  // The roles of the left operand's dimensions.
  std::vector<int64_t> batch;
  std::vector<int64_t> contracted;
  DimensionVector result_sizes;
  DimensionVector free_sizes;
  for (int64_t d = 0; d < lhs.shape.rank(); ++d) {
    switch (c->random().Between(0, 2)) {
      case 0:
        batch.push_back(d);
        break;
      case 1:
        contracted.push_back(d);
        break;
      default:
        free_sizes.push_back(lhs.shape.dimension(d));
    }
  }
  c->random().Shuffle(&batch);
  c->random().Shuffle(&contracted);

  // The right operand: batch, contracted and free dimensions in random order.
  for (int64_t d : batch) result_sizes.push_back(lhs.shape.dimension(d));
  absl::c_copy(free_sizes, std::back_inserter(result_sizes));
  const int64_t shared_rank = static_cast<int64_t>(batch.size() + contracted.size());
  DimensionVector rhs_free = c->RandomSizes(
      c->random().Between(0, 2),
      kMaxRandomElements / std::max<int64_t>(ElementCountOf(lhs.shape.dimensions()), 1));
  absl::c_copy(rhs_free, std::back_inserter(result_sizes));
  const int64_t rhs_rank = shared_rank + static_cast<int64_t>(rhs_free.size());
  std::vector<int64_t> places = c->RandomPermutation(rhs_rank);
  std::sort(places.begin() + shared_rank, places.end());
  DimensionVector rhs_sizes(rhs_rank);
  std::vector<int64_t> rhs_batch;
  std::vector<int64_t> rhs_contracted;
  size_t next = 0;
  for (int64_t d : batch) {
    rhs_sizes[places[next]] = lhs.shape.dimension(d);
    rhs_batch.push_back(places[next++]);
  }
  for (int64_t d : contracted) {
    rhs_sizes[places[next]] = lhs.shape.dimension(d);
    rhs_contracted.push_back(places[next++]);
  }
  for (int64_t size : rhs_free) rhs_sizes[places[next++]] = size;

  const ElementType type = lhs.shape.element_type();
  const RandomValue rhs = c->OperandLike(Shape::Array(type, rhs_sizes));
  std::string attributes;
  if (!batch.empty()) {
    absl::StrAppend(&attributes, ListAttribute("lhs_batch_dims", batch),
                    ListAttribute("rhs_batch_dims", rhs_batch));
  }
  if (!contracted.empty()) {
    absl::StrAppend(&attributes, ListAttribute("lhs_contracting_dims", contracted),
                    ListAttribute("rhs_contracting_dims", rhs_contracted));
  }
  return c->Add(Shape::Array(type, result_sizes), "dot", {lhs, rhs}, attributes);
}

RandomValue AddRandomReduce(RandomComputation* c) {
  const RandomValue first = c->ArrayOperand(0);
  std::vector<ElementType> types;
  const std::vector<RandomValue> operands = ReductionOperands(first, c, &types);
  const std::vector<int64_t> dimensions = c->RandomSubset(first.shape.rank());
  DimensionVector sizes;
  for (int64_t d = 0; d < first.shape.rank(); ++d) {
    if (!absl::c_linear_search(dimensions, d)) sizes.push_back(first.shape.dimension(d));
  }
  return AddReduction("reduce", sizes, operands, types, ListAttribute("dimensions", dimensions), c);
}

RandomValue AddRandomReduceWindow(RandomComputation* c) {
  const RandomValue first = c->ArrayOperand(0);
  std::vector<ElementType> types;
  const std::vector<RandomValue> operands = ReductionOperands(first, c, &types);
  Window window;
  DimensionVector sizes(first.shape.rank());
  int64_t room =
      kMaxRandomElements / std::max<int64_t>(ElementCountOf(first.shape.dimensions()), 1);
  for (int64_t d = 0; d < first.shape.rank(); ++d) {
    const int64_t size = first.shape.dimension(d);
    window.dimensions.push_back(RandomWindowDimension(size, size * room, c, &sizes[d]));
    if (sizes[d] > size) room = size == 0 ? 1 : std::max<int64_t>(room * size / sizes[d], 1);
  }
  const std::string attributes = absl::StrCat(", window=", window.ToString());
  return AddReduction("reduce-window", sizes, operands, types, sizes.empty() ? "" : attributes, c);
}

}  // namespace xla_indexing
