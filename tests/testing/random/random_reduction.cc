// Random reductions, of all elements, of windows, and over windows.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tests/testing/random/random_computation.h"
#include "tests/testing/random/random_hlo.h"
#include "tests/testing/random/random_instructions.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/shape.h"

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

}  // namespace

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

RandomValue AddRandomSelectAndScatter(RandomComputation* c) {
  static constexpr ElementType kTypes[] = {ElementType::kF32, ElementType::kF32, ElementType::kS32};
  const RandomValue operand = c->ArrayOperand(kTypes);
  const ElementType type = operand.shape.element_type();
  Window window;
  DimensionVector sizes(operand.shape.rank());
  for (int64_t d = 0; d < operand.shape.rank(); ++d) {
    const int64_t size = operand.shape.dimension(d);
    window.dimensions.push_back(RandomWindowDimension(size, size, c, &sizes[d]));
  }
  const RandomValue source = c->OperandLike(Shape::Array(type, sizes));
  const RandomValue init = c->OperandLike(Shape::Scalar(type));
  RandomComputation select(c->module(), &c->random(), 0, c->depth() + 1);
  const RandomValue first = select.AddParameter(Shape::Scalar(type));
  const RandomValue second = select.AddParameter(Shape::Scalar(type));
  const std::string selector = select.Finish(
      select.Add(Shape::Scalar(ElementType::kPred), "compare", {first, second}, ", direction=GE"),
      /*is_entry=*/false);
  return c->Add(Shape::Array(type, operand.shape.dimensions()), "select-and-scatter",
                {operand, source, init},
                absl::StrCat(sizes.empty() ? "" : absl::StrCat(", window=", window.ToString()),
                             ", select=", selector, ", scatter=", AddReducer({type}, c)));
}

}  // namespace xla_indexing
