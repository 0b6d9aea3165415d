// Shape rules of operations that apply a function of scalars along dimensions: reduce,
// reduce-window, select-and-scatter, map, sort; and of scan and topk.

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_rules.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_util.h"

namespace xla_indexing::internal::shape_rules {
namespace {

using TypeList = absl::InlinedVector<ElementType, 2>;

absl::Status CheckSameSizes(const HloInstruction& i, int64_t count) {
  const Shape& first = i.operand(0)->shape();
  for (int64_t k = 1; k < count; ++k) {
    if (!DimensionsAgree(first, i.operand(k)->shape())) {
      return Error(i, "operands 0 and ", k, " differ in size");
    }
  }
  return absl::OkStatus();
}

// The element types of `count` operands from `first` on.
TypeList OperandTypes(const HloInstruction& i, int64_t first, int64_t count) {
  TypeList types;
  for (int64_t k = 0; k < count; ++k) {
    types.push_back(i.operand(first + k)->shape().element_type());
  }
  return types;
}

// Checks the operands of a (variadic) reduction, arrays of one size and as many scalars, and its
// reducer; gives the types that the reducer yields.
absl::StatusOr<TypeList> CheckReduction(const HloInstruction& i) {
  if (i.operand_count() < 2 || i.operand_count() % 2 != 0) {
    return Error(i, "takes arrays and as many initial values, not ", i.operand_count(),
                 " operands");
  }
  XLA_INDEXING_RETURN_IF_ERROR(CheckArrays(i));
  const int64_t count = i.operand_count() / 2;
  XLA_INDEXING_RETURN_IF_ERROR(CheckSameSizes(i, count));
  for (int64_t k = count; k < i.operand_count(); ++k) {
    if (!i.operand(k)->shape().IsScalar()) {
      return Error(i, "operand ", k, ", an initial value, is not a scalar");
    }
  }
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto* reducer, RequireComputation(i, AttributeKey::kToApply));
  return CheckReducer(i, *reducer, OperandTypes(i, count, count), OperandTypes(i, 0, count));
}

// Checks a computation that takes scalars of these types and says yes or no.
absl::Status CheckPredicate(const HloInstruction& i, const HloComputation& predicate,
                            absl::Span<const ElementType> types) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckScalarParameters(i, predicate, types));
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto results, ScalarResults(i, predicate, 1));
  if (IsPred(results.front())) return absl::OkStatus();
  return Error(i, "computation '", predicate.name(), "' yields ", ElementTypeName(results.front()),
               "[] and should yield pred[]");
}

// `shape` without some of its dimensions.
Shape WithoutDimensions(const Shape& shape, absl::Span<const int64_t> dimensions) {
  absl::InlinedVector<bool, 16> dropped(shape.rank(), false);
  for (const int64_t d : dimensions) dropped[d] = true;
  Shape result = Shape::Scalar(shape.element_type());
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (!dropped[d]) AppendDimension(shape, d, &result);
  }
  return result;
}

// An array of `dimensions` for each type; a tuple where the reducer yields one.
Shape ReductionResult(const HloInstruction& i, const Shape& dimensions, const TypeList& types) {
  std::vector<Shape> shapes;
  shapes.reserve(types.size());
  for (ElementType type : types) shapes.push_back(WithElementType(dimensions, type));
  if (i.to_apply()->root_instruction()->shape().IsTuple()) return Shape::Tuple(std::move(shapes));
  return std::move(shapes.front());
}

// The window of an instruction, which may be left out for an operand of rank 0.
absl::StatusOr<absl::Span<const WindowDimension>> RequireWindow(const HloInstruction& i,
                                                                int64_t rank) {
  absl::Span<const WindowDimension> window;
  if (i.window() != nullptr) window = i.window()->dimensions;
  if (static_cast<int64_t>(window.size()) == rank) return window;
  return Error(i, "the window has ", window.size(), " dimensions and the operand has ", rank);
}

// The shape that the places of a window over operand 0 have.
Result WindowedShape(const HloInstruction& i) {
  const Shape& operand = i.operand(0)->shape();
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto window, RequireWindow(i, operand.rank()));
  Shape result = Shape::Scalar(operand.element_type());
  for (int64_t d = 0; d < operand.rank(); ++d) {
    XLA_INDEXING_ASSIGN_OR_RETURN(const int64_t positions,
                                  WindowPositions(i, d, operand.dimension(d), window[d]));
    result.AddDimension(positions, operand.IsDynamicDimension(d));
  }
  return result;
}

Result InferReduce(const HloInstruction& i) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto types, CheckReduction(i));
  const Shape& operand = i.operand(0)->shape();
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto dimensions,
                                RequireIntegers(i, AttributeKey::kDimensions));
  XLA_INDEXING_RETURN_IF_ERROR(CheckDimensions(i, "dimensions", dimensions, operand.rank()));
  return ReductionResult(i, WithoutDimensions(operand, dimensions), types);
}

Result InferReduceWindow(const HloInstruction& i) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto types, CheckReduction(i));
  XLA_INDEXING_ASSIGN_OR_RETURN(const InferredShape windowed, WindowedShape(i));
  return ReductionResult(i, *windowed, types);
}

Result InferSelectAndScatter(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArrays(i));
  const Shape& operand = i.operand(0)->shape();
  const Shape& source = i.operand(1)->shape();
  const Shape& init = i.operand(2)->shape();
  if (!init.IsScalar()) return Error(i, "operand 2, the initial value, is not a scalar");
  XLA_INDEXING_ASSIGN_OR_RETURN(const InferredShape windowed, WindowedShape(i));
  if (!DimensionsAgree(source, *windowed)) {
    return Error(i, "the source should have the sizes of ", Brief(*windowed),
                 ", the places of the window");
  }
  const ElementType type = operand.element_type();
  if (!SameTypeIgnoringPrecision(source.element_type(), type)) {
    return Error(i, "operand and source differ in element type");
  }
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto* select, RequireComputation(i, AttributeKey::kSelect));
  XLA_INDEXING_RETURN_IF_ERROR(CheckPredicate(i, *select, {type, type}));
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto* scatter, RequireComputation(i, AttributeKey::kScatter));
  XLA_INDEXING_RETURN_IF_ERROR(
      CheckReducer(i, *scatter, {init.element_type()}, {source.element_type()}).status());
  return &operand;
}

Result InferMap(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckSomeArrays(i));
  XLA_INDEXING_RETURN_IF_ERROR(CheckSameSizes(i, i.operand_count()));
  const Shape& operand = i.operand(0)->shape();
  const absl::Span<const int64_t> dimensions = i.dimensions();
  for (size_t d = 0; d < dimensions.size(); ++d) {
    if (dimensions[d] != static_cast<int64_t>(d) ||
        static_cast<int64_t>(dimensions.size()) != operand.rank()) {
      return Error(i, "dimensions=", Braced(dimensions), " are not all dimensions in order");
    }
  }
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto* function,
                                RequireComputation(i, AttributeKey::kToApply));
  XLA_INDEXING_RETURN_IF_ERROR(
      CheckScalarParameters(i, *function, OperandTypes(i, 0, i.operand_count())));
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto results, ScalarResults(i, *function, 1));
  return WithElementType(operand, results.front());
}

Result InferSort(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckSomeArrays(i));
  XLA_INDEXING_RETURN_IF_ERROR(CheckSameSizes(i, i.operand_count()));
  XLA_INDEXING_RETURN_IF_ERROR(RequireDimension(i, i.operand(0)->shape().rank()).status());
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto* comparator,
                                RequireComputation(i, AttributeKey::kToApply));
  TypeList parameters;
  for (ElementType type : OperandTypes(i, 0, i.operand_count())) {
    parameters.insert(parameters.end(), 2, type);
  }
  XLA_INDEXING_RETURN_IF_ERROR(CheckPredicate(i, *comparator, parameters));
  if (i.operand_count() == 1) return &i.operand(0)->shape();
  std::vector<Shape> shapes;
  for (const HloInstruction* operand : i.operands()) {
    shapes.push_back(WithElementType(operand->shape(), operand->shape().element_type()));
  }
  return Shape::Tuple(std::move(shapes));
}

// The shape with one more dimension, before its dimension `dimension`, that is the one of `of`.
Shape WithDimensionOf(const Shape& of, int64_t dimension, const Shape& shape) {
  Shape result = Shape::Scalar(shape.element_type());
  for (int64_t d = 0; d <= shape.rank(); ++d) {
    if (d == dimension) AppendDimension(of, d, &result);
    if (d < shape.rank()) AppendDimension(shape, d, &result);
  }
  return result;
}

// scan(inputs.., initial carries..), dimensions={k}: the function takes the slices of the inputs at
// one index of dimension k and the carries, and yields a tuple of slices of the outputs and the
// next carries, or the array alone where that is only one.
Result InferScan(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArrays(i));
  XLA_INDEXING_ASSIGN_OR_RETURN(const int64_t carries,
                                RequireInteger(i, AttributeKey::kNumCarries));
  if (carries < 0 || carries >= i.operand_count()) {
    return Error(i, "num_carries=", carries, " leaves no input among ", i.operand_count(),
                 " operands");
  }
  const int64_t inputs = i.operand_count() - carries;
  const Shape& first = i.operand(0)->shape();
  XLA_INDEXING_ASSIGN_OR_RETURN(const int64_t dimension, RequireDimension(i, first.rank()));

  std::vector<Shape> slices;
  std::vector<const Shape*> parameters;
  slices.reserve(inputs);
  for (int64_t k = 0; k < inputs; ++k) {
    const Shape& input = i.operand(k)->shape();
    if (dimension >= input.rank() ||
        !SizesAgree(input.dimension(dimension), first.dimension(dimension))) {
      return Error(i, "operands 0 and ", k, " differ in the size of dimension ", dimension);
    }
    slices.push_back(WithoutDimensions(input, {dimension}));
    parameters.push_back(&slices.back());
  }
  for (int64_t k = inputs; k < i.operand_count(); ++k) {
    parameters.push_back(&i.operand(k)->shape());
  }
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto* function,
                                RequireComputation(i, AttributeKey::kToApply));
  XLA_INDEXING_RETURN_IF_ERROR(CheckParameters(i, *function, parameters));

  const Shape& root = function->root_instruction()->shape();
  const absl::Span<const Shape> yielded =
      root.IsTuple() ? root.tuple_elements() : absl::MakeConstSpan(&root, 1);
  const int64_t outputs = static_cast<int64_t>(yielded.size()) - carries;
  if (outputs < 0) {
    return Error(i, "computation '", function->name(), "' yields ", Brief(root),
                 " and should yield a tuple that ends with ", carries, " carries");
  }
  std::vector<Shape> shapes;
  for (int64_t k = 0; k < outputs; ++k) {
    const Shape& slice = yielded[k];
    if (!slice.IsArray() || slice.rank() < dimension) {
      return Error(i, "element ", k, " of what computation '", function->name(), "' yields is ",
                   Brief(slice), ", to which no dimension ", dimension, " can be added");
    }
    shapes.push_back(WithDimensionOf(first, dimension, slice));
  }
  for (int64_t k = 0; k < carries; ++k) {
    const Shape& carry = i.operand(inputs + k)->shape();
    if (!ShapesAgree(yielded[outputs + k], carry, Agreement::kExact)) {
      return Error(i, "carry ", k, " is ", Brief(carry), " and computation '", function->name(),
                   "' yields ", Brief(yielded[outputs + k]), " for it");
    }
    shapes.push_back(WithElementType(carry, carry.element_type()));
  }
  if (!root.IsTuple()) return std::move(shapes.front());
  return Shape::Tuple(std::move(shapes));
}

Result InferTopk(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArray(i, 0));
  const Shape& operand = i.operand(0)->shape();
  XLA_INDEXING_ASSIGN_OR_RETURN(const int64_t k, RequireInteger(i, AttributeKey::kTopKCount));
  const int64_t last = operand.rank() - 1;
  if (last < 0 || k < 0 || (!operand.IsUnboundedDimension(last) && k > operand.dimension(last))) {
    return Error(i, "k=", k, " is not from 0 to the size of the last dimension");
  }
  Shape values = WithElementType(operand, operand.element_type());
  values.SetDimension(last, k);
  Shape positions = WithElementType(values, ElementType::kS32);
  return Shape::Tuple({std::move(values), std::move(positions)});
}

constexpr OpcodeRule kReductionRules[] = {
    {HloOpcode::kReduce, {.infer = InferReduce}},
    {HloOpcode::kReduceWindow, {.infer = InferReduceWindow}},
    {HloOpcode::kSelectAndScatter, {.infer = InferSelectAndScatter}},
    {HloOpcode::kMap, {.infer = InferMap}},
    {HloOpcode::kSort, {.infer = InferSort}},
    {HloOpcode::kScan, {.infer = InferScan}},
    {HloOpcode::kTopk, {.infer = InferTopk}},
};

}  // namespace

OpcodeRules ReductionRules() { return kReductionRules; }

}  // namespace xla_indexing::internal::shape_rules
