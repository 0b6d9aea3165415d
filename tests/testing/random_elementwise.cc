// Random elementwise instructions.

#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tests/testing/random_computation.h"
#include "tests/testing/random_instructions.h"
#include "xla_indexing/hlo/element_type.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/hlo/shape.h"

namespace xla_indexing {
namespace {

constexpr ElementType kNumbers[] = {ElementType::kF32, ElementType::kF32, ElementType::kS32};
constexpr ElementType kFloats[] = {ElementType::kF32, ElementType::kBF16, ElementType::kF64};
constexpr ElementType kIntegers[] = {ElementType::kS32, ElementType::kU8, ElementType::kS64};
constexpr ElementType kIntegersAndPred[] = {ElementType::kS32, ElementType::kU8,
                                            ElementType::kPred};
constexpr ElementType kAny[] = {ElementType::kF32, ElementType::kS32, ElementType::kPred,
                                ElementType::kS8};
constexpr ElementType kComplex[] = {ElementType::kC64};
constexpr ElementType kF32[] = {ElementType::kF32};
constexpr ElementType kSignedNumbers[] = {ElementType::kF32, ElementType::kS32, ElementType::kS8};

// The types of elements that the first operand may have.
absl::Span<const ElementType> OperandTypes(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAnd:
    case HloOpcode::kNot:
    case HloOpcode::kOr:
    case HloOpcode::kXor:
      return kIntegersAndPred;
    case HloOpcode::kCountLeadingZeros:
    case HloOpcode::kMulhi:
    case HloOpcode::kPopcnt:
    case HloOpcode::kShiftLeft:
    case HloOpcode::kShiftRightArithmetic:
    case HloOpcode::kShiftRightLogical:
      return kIntegers;
    case HloOpcode::kAbs:
    case HloOpcode::kNegate:
    case HloOpcode::kSign:
      return kSignedNumbers;
    case HloOpcode::kAdd:
    case HloOpcode::kClamp:
    case HloOpcode::kDivide:
    case HloOpcode::kMaximum:
    case HloOpcode::kMinimum:
    case HloOpcode::kMultiply:
    case HloOpcode::kPower:
    case HloOpcode::kRemainder:
    case HloOpcode::kSubtract:
      return kNumbers;
    case HloOpcode::kCompare:
    case HloOpcode::kConvert:
    case HloOpcode::kCopy:
    case HloOpcode::kSelect:
      return kAny;
    case HloOpcode::kComplex:
    case HloOpcode::kStochasticConvert:
      return kF32;
    case HloOpcode::kImag:
    case HloOpcode::kReal:
      return kComplex;
    default:
      return kFloats;
  }
}

Shape WithType(Shape shape, ElementType type) {
  shape.SetElementType(type);
  shape.ClearLayout();
  return shape;
}

// A bound of clamp or the predicate of select: of the same shape or a scalar.
RandomValue SameOrScalar(const Shape& shape, RandomComputation* c) {
  return c->OperandLike(c->random().OneIn(2) ? shape : Shape::Scalar(shape.element_type()));
}

}  // namespace

RandomValue AddRandomElementwise(HloOpcode opcode, RandomComputation* c) {
  static constexpr absl::string_view kDirections[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};
  const absl::string_view name = OpcodeName(opcode);
  const RandomValue a = c->ArrayOperand(OperandTypes(opcode));
  const Shape shape = WithType(a.shape, a.shape.element_type());
  switch (opcode) {
    case HloOpcode::kClamp: {
      const RandomValue low = SameOrScalar(shape, c);
      const RandomValue high = SameOrScalar(shape, c);
      return c->Add(shape, name, {low, a, high});
    }
    case HloOpcode::kCompare: {
      const RandomValue b = c->OperandLike(shape);
      return c->Add(WithType(shape, ElementType::kPred), name, {a, b},
                    absl::StrCat(", direction=", c->random().Pick(kDirections)));
    }
    case HloOpcode::kComplex:
      return c->Add(WithType(shape, ElementType::kC64), name, {a, c->OperandLike(shape)});
    case HloOpcode::kConvert:
      return c->Add(WithType(shape, c->RandomType()), name, {a});
    case HloOpcode::kCopy:
      return c->Add(c->random().OneIn(2) ? c->WithRandomLayout(shape) : shape, name, {a});
    case HloOpcode::kImag:
    case HloOpcode::kReal:
      return c->Add(WithType(shape, ElementType::kF32), name, {a});
    case HloOpcode::kIsFinite:
      return c->Add(WithType(shape, ElementType::kPred), name, {a});
    case HloOpcode::kReducePrecision:
      return c->Add(shape, name, {a}, ", exponent_bits=5, mantissa_bits=10");
    case HloOpcode::kSelect: {
      const RandomValue predicate = SameOrScalar(WithType(shape, ElementType::kPred), c);
      return c->Add(shape, name, {predicate, a, c->OperandLike(shape)});
    }
    case HloOpcode::kStochasticConvert:
      return c->Add(WithType(shape, ElementType::kBF16), name,
                    {a, c->OperandLike(WithType(shape, ElementType::kU32))});
    default: {
      std::vector<RandomValue> operands = {a};
      if (OpcodeArity(opcode) == 2) operands.push_back(c->OperandLike(shape));
      return c->Add(shape, name, operands);
    }
  }
}

}  // namespace xla_indexing
