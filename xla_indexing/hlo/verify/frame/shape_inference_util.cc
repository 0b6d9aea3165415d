#include "xla_indexing/hlo/verify/frame/shape_inference_util.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal::shape_rules {
namespace {

// A message about a tuple of a thousand arrays is still to be read.
constexpr size_t kLongestShapeText = 200;
constexpr int64_t kMostOperandsNamed = 6;

std::string ElementTypesText(absl::Span<const ElementType> types) {
  return absl::StrCat("(",
                      absl::StrJoin(types, ", ",
                                    [](std::string* out, ElementType type) {
                                      absl::StrAppend(out, ElementTypeName(type), "[]");
                                    }),
                      ")");
}

}  // namespace

std::string Brief(const Shape& shape) {
  std::string text = shape.ToStringWithoutLayout();
  if (text.size() > kLongestShapeText) {
    text.resize(kLongestShapeText);
    absl::StrAppend(&text, "...");
  }
  return text;
}

std::string Braced(absl::Span<const int64_t> values) {
  return absl::StrCat("{", absl::StrJoin(values, ","), "}");
}

std::string Describe(const HloInstruction& i) {
  std::string text = absl::StrCat(i.name(), ": ", i.opcode_name());
  const int64_t named = std::min(i.operand_count(), kMostOperandsNamed);
  for (int64_t operand = 0; operand < named; ++operand) {
    const bool last = operand + 1 == i.operand_count();
    absl::StrAppend(&text, operand == 0 ? " of " : (last ? " and " : ", "),
                    Brief(i.operand(operand)->shape()));
  }
  if (named < i.operand_count()) {
    absl::StrAppend(&text, " and ", i.operand_count() - named, " more");
  }
  return text;
}

absl::Status MismatchError(const HloInstruction& i, const Shape& inferred) {
  return absl::InvalidArgumentError(
      absl::StrCat("instruction '", i.name(), "' (", i.opcode_name(), ") has shape ",
                   Brief(i.shape()), " but its operands and attributes give ", Brief(inferred)));
}

bool SizesAgree(int64_t a, int64_t b) {
  return a == b || a == Shape::kUnboundedSize || b == Shape::kUnboundedSize;
}

bool DimensionsAgree(const Shape& a, const Shape& b) {
  return absl::c_equal(a.dimensions(), b.dimensions(), SizesAgree);
}

bool SameTypeIgnoringPrecision(ElementType a, ElementType b) {
  return a == b || (IsFloatingPoint(a) && IsFloatingPoint(b));
}

bool ShapesAgree(const Shape& a, const Shape& b, Agreement agreement) {
  if (&a == &b) return true;
  if (a.IsArray() != b.IsArray()) return false;
  if (!a.IsArray()) {
    return a.element_type() == b.element_type() &&
           absl::c_equal(a.tuple_elements(), b.tuple_elements(),
                         [agreement](const Shape& x, const Shape& y) {
                           return ShapesAgree(x, y, agreement);
                         });
  }
  switch (agreement) {
    case Agreement::kSameValue:
    case Agreement::kExact:
      if (a.element_type() != b.element_type()) return false;
      break;
    case Agreement::kFloatPrecision:
      if (!SameTypeIgnoringPrecision(a.element_type(), b.element_type())) return false;
      break;
    case Agreement::kElementType:
      break;
  }
  return DimensionsAgree(a, b);
}

ElementType HigherPrecision(ElementType a, ElementType b) {
  return BitWidth(b) > BitWidth(a) ? b : a;
}

Shape CommonShape(const Shape& a, const Shape& b, ElementType type) {
  Shape common = Shape::Scalar(type);
  for (int64_t d = 0; d < a.rank(); ++d) {
    const Shape& bounded = a.IsUnboundedDimension(d) ? b : a;
    common.AddDimension(bounded.dimension(d), a.IsDynamicDimension(d) && b.IsDynamicDimension(d));
  }
  return common;
}

Shape WithElementType(const Shape& shape, ElementType type) {
  Shape result = shape;
  result.ClearLayout();
  result.SetElementType(type);
  return result;
}

void AppendDimension(const Shape& from, int64_t dimension, Shape* to) {
  to->AddDimension(from.dimension(dimension), from.IsDynamicDimension(dimension));
}

absl::Status CheckArray(const HloInstruction& i, int64_t operand) {
  if (i.operand(operand)->shape().IsArray()) return absl::OkStatus();
  return Error(i, "operand ", operand, " is not an array");
}

absl::Status CheckIntegralScalar(const HloInstruction& i, int64_t operand) {
  const Shape& shape = i.operand(operand)->shape();
  if (shape.IsScalar() && IsIntegral(shape.element_type())) return absl::OkStatus();
  return Error(i, "operand ", operand, " is not an integer scalar");
}

absl::Status CheckArrays(const HloInstruction& i) {
  for (int64_t operand = 0; operand < i.operand_count(); ++operand) {
    XLA_INDEXING_RETURN_IF_ERROR(CheckArray(i, operand));
  }
  return absl::OkStatus();
}

absl::Status CheckSomeArrays(const HloInstruction& i) {
  if (i.operand_count() == 0) return Error(i, "takes at least one operand");
  return CheckArrays(i);
}

std::vector<Shape> OperandShapes(const HloInstruction& i) {
  std::vector<Shape> shapes;
  shapes.reserve(i.operand_count());
  for (const HloInstruction* operand : i.operands()) shapes.push_back(operand->shape());
  return shapes;
}

absl::Status CheckSliceSizes(const HloInstruction& i, absl::string_view what,
                             absl::Span<const int64_t> sizes) {
  const Shape& operand = i.operand(0)->shape();
  for (int64_t d = 0; d < operand.rank(); ++d) {
    if (sizes[d] < 0 || (!operand.IsUnboundedDimension(d) && sizes[d] > operand.dimension(d))) {
      return Error(i, what, "=", Braced(sizes), ": ", sizes[d],
                   " is no size of a slice of dimension ", d);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckDimensions(const HloInstruction& i, absl::string_view what,
                             absl::Span<const int64_t> dimensions, int64_t rank) {
  absl::InlinedVector<bool, 16> seen(rank, false);
  for (int64_t dimension : dimensions) {
    if (dimension < 0 || dimension >= rank) {
      return Error(i, what, "=", Braced(dimensions), ": ", dimension,
                   " is not a dimension of an array of rank ", rank);
    }
    if (seen[dimension]) {
      return Error(i, what, "=", Braced(dimensions), ": dimension ", dimension, " is there twice");
    }
    seen[dimension] = true;
  }
  return absl::OkStatus();
}

absl::Status CheckAscending(const HloInstruction& i, absl::string_view what,
                            absl::Span<const int64_t> values) {
  if (absl::c_is_sorted(values)) return absl::OkStatus();
  return Error(i, what, "=", Braced(values), " is not in ascending order");
}

absl::StatusOr<absl::Span<const int64_t>> RequireIntegers(const HloInstruction& i,
                                                          AttributeKey key) {
  const Attribute* attribute = i.FindAttribute(key);
  if (attribute != nullptr) {
    const auto* values = std::get_if<absl::Span<const int64_t>>(&attribute->value);
    if (values != nullptr) return *values;
  }
  return Error(i, attribute == nullptr ? "there is no " : "no list of integers is given for ",
               AttributeName(key));
}

absl::StatusOr<int64_t> RequireInteger(const HloInstruction& i, AttributeKey key) {
  if (const std::optional<int64_t> value = i.GetInteger(key)) return *value;
  return Error(i, i.HasAttribute(key) ? "no integer is given for " : "there is no ",
               AttributeName(key));
}

absl::StatusOr<int64_t> RequireDimension(const HloInstruction& i, int64_t rank) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto dimensions,
                                RequireIntegers(i, AttributeKey::kDimensions));
  if (dimensions.size() != 1) {
    return Error(i, "dimensions=", Braced(dimensions), " is not one dimension");
  }
  XLA_INDEXING_RETURN_IF_ERROR(CheckDimensions(i, "dimensions", dimensions, rank));
  return dimensions.front();
}

absl::StatusOr<const HloComputation*> RequireComputation(const HloInstruction& i,
                                                         AttributeKey key) {
  const HloComputation* computation = i.GetComputation(key);
  if (computation == nullptr) {
    return Error(i, i.HasAttribute(key) ? "no computation is given for " : "there is no ",
                 AttributeName(key));
  }
  if (computation->root_instruction() == nullptr) {
    return Error(i, "computation '", computation->name(), "' is empty");
  }
  const auto parameters = computation->parameters();
  const auto missing = absl::c_find(parameters, nullptr);
  if (missing != parameters.end()) {
    return Error(i, "computation '", computation->name(), "' has no parameter ",
                 missing - parameters.begin());
  }
  return computation;
}

namespace {

absl::Status CheckParameterCount(const HloInstruction& i, const HloComputation& computation,
                                 size_t expected) {
  const size_t actual = computation.parameters().size();
  if (actual == expected) return absl::OkStatus();
  return Error(i, "computation '", computation.name(), "' should take ", expected,
               expected == 1 ? " parameter" : " parameters", " and takes ", actual);
}

}  // namespace

absl::Status CheckParameters(const HloInstruction& i, const HloComputation& computation,
                             absl::Span<const Shape* const> shapes) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckParameterCount(i, computation, shapes.size()));
  for (size_t p = 0; p < shapes.size(); ++p) {
    const Shape& parameter = computation.parameters()[p]->shape();
    if (!ShapesAgree(parameter, *shapes[p], Agreement::kExact)) {
      return Error(i, "parameter ", p, " of computation '", computation.name(), "' is ",
                   Brief(parameter), " and is given ", Brief(*shapes[p]));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckScalarParameters(const HloInstruction& i, const HloComputation& computation,
                                   absl::Span<const ElementType> types) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckParameterCount(i, computation, types.size()));
  for (size_t p = 0; p < types.size(); ++p) {
    const Shape& parameter = computation.parameters()[p]->shape();
    const bool any_type = types[p] == ElementType::kTuple;
    if (!parameter.IsScalar() ||
        !(any_type || SameTypeIgnoringPrecision(parameter.element_type(), types[p]))) {
      return Error(i, "parameter ", p, " of computation '", computation.name(), "' is ",
                   Brief(parameter), " and should be ",
                   any_type ? "a scalar" : absl::StrCat(ElementTypeName(types[p]), "[]"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<absl::InlinedVector<ElementType, 2>> ScalarResults(const HloInstruction& i,
                                                                  const HloComputation& computation,
                                                                  int64_t count) {
  const Shape& root = computation.root_instruction()->shape();
  const absl::Span<const Shape> results =
      root.IsTuple() ? root.tuple_elements() : absl::MakeConstSpan(&root, 1);
  if (static_cast<int64_t>(results.size()) != count ||
      !absl::c_all_of(results, [](const Shape& result) { return result.IsScalar(); })) {
    return Error(i, "computation '", computation.name(), "' yields ", Brief(root),
                 " and should yield ",
                 count == 1 ? "a scalar" : absl::StrCat("a tuple of ", count, " scalars"));
  }
  absl::InlinedVector<ElementType, 2> types;
  for (const Shape& result : results) types.push_back(result.element_type());
  return types;
}

absl::StatusOr<absl::InlinedVector<ElementType, 2>> CheckReducer(
    const HloInstruction& i, const HloComputation& reducer,
    absl::Span<const ElementType> accumulators, absl::Span<const ElementType> values) {
  std::vector<ElementType> parameters(accumulators.begin(), accumulators.end());
  parameters.insert(parameters.end(), values.begin(), values.end());
  XLA_INDEXING_RETURN_IF_ERROR(CheckScalarParameters(i, reducer, parameters));
  XLA_INDEXING_ASSIGN_OR_RETURN(
      auto results, ScalarResults(i, reducer, static_cast<int64_t>(accumulators.size())));
  if (!absl::c_equal(results, accumulators, SameTypeIgnoringPrecision)) {
    return Error(i, "computation '", reducer.name(), "' yields ", ElementTypesText(results),
                 " and should yield ", ElementTypesText(accumulators));
  }
  return results;
}

absl::StatusOr<int64_t> WindowPositions(const HloInstruction& i, int64_t dimension, int64_t size,
                                        const WindowDimension& window) {
  if (window.size < 1 || window.stride < 1 || window.base_dilation < 1 ||
      window.window_dilation < 1) {
    return Error(i, "window dimension ", dimension, " has size ", window.size, ", stride ",
                 window.stride, ", base dilation ", window.base_dilation, " and window dilation ",
                 window.window_dilation, ", each of which should be at least 1");
  }
  if (size == Shape::kUnboundedSize) return size;
  // Sizes below 2^63 times dilations below 2^63, and two paddings: well inside 128 bits.
  const auto dilate = [](int64_t n, int64_t dilation) {
    return n == 0 ? Int128{0} : (Int128{n} - 1) * dilation + 1;
  };
  const Int128 base = dilate(size, window.base_dilation) + window.padding_low + window.padding_high;
  if (base < 0) {
    return Error(i, "padding ", window.padding_low, "_", window.padding_high,
                 " takes more than all of dimension ", dimension);
  }
  const Int128 extent = dilate(window.size, window.window_dilation);
  if (base < extent) return 0;
  const std::optional<int64_t> positions = NarrowToInt64((base - extent) / window.stride + 1);
  if (!positions.has_value()) {
    return Error(i, "the number of places of window dimension ", dimension,
                 " does not fit 64 bits");
  }
  return *positions;
}

Shape OneOrTuple(std::vector<Shape> shapes) {
  return shapes.size() == 1 ? std::move(shapes.front()) : Shape::Tuple(std::move(shapes));
}

}  // namespace xla_indexing::internal::shape_rules
