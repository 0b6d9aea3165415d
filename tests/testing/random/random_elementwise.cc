// Random elementwise instructions.

#include <initializer_list>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "tests/testing/random/random_computation.h"
#include "tests/testing/random/random_instructions.h"
#include "xla_indexing/base/check.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {
namespace {

// What the specification of HLO says of each kind of elements: which operations they have. The
// verifier says the same the other way round, kinds by operation
// (xla_indexing/hlo/verify/shape_inference_elementwise.cc); neither is made of the other, so that
// a mistake in one shows.
struct KindOfElements {
  std::initializer_list<ElementType> types;
  // Names as in HLO text, each between spaces.
  absl::string_view operations;
};

// Truth values have logic, and what all elements have.
constexpr absl::string_view kLogic = " and not or xor ";
constexpr absl::string_view kOfAll = " compare convert copy select ";
// Numbers that are words of bits.
constexpr absl::string_view kBits =
    " count-leading-zeros mulhi popcnt shift-left shift-right-arithmetic"
    " shift-right-logical ";
// A ring with division; an order; a sign.
constexpr absl::string_view kArithmetic = " add divide multiply power subtract ";
constexpr absl::string_view kOrdered = " clamp maximum minimum remainder ";
constexpr absl::string_view kWithSign = " abs negate sign ";
// Analysis, real and complex, and what only real numbers have.
constexpr absl::string_view kAnalysis =
    " acos acosh asin asinh atan2 atanh cbrt cosh cosine exponential exponential-minus-one log"
    " log-plus-one logistic rsqrt sine sinh sqrt tan tanh ";
constexpr absl::string_view kReal =
    " ceil erf floor is-finite reduce-precision round-nearest-afz round-nearest-even ";

const KindOfElements kKinds[] = {
    {{ElementType::kPred}, kLogic},
    {{ElementType::kPred, ElementType::kF32, ElementType::kS8, ElementType::kU16,
      ElementType::kC64},
     kOfAll},
    {{ElementType::kS32, ElementType::kS64, ElementType::kU8}, kLogic},
    {{ElementType::kS32, ElementType::kS64, ElementType::kU8}, kBits},
    {{ElementType::kF32, ElementType::kF32, ElementType::kS32, ElementType::kC64}, kArithmetic},
    {{ElementType::kF32, ElementType::kF32, ElementType::kS32, ElementType::kU32}, kOrdered},
    {{ElementType::kF32, ElementType::kS32, ElementType::kS8, ElementType::kC64}, kWithSign},
    {{ElementType::kF32, ElementType::kBF16, ElementType::kF64, ElementType::kC64}, kAnalysis},
    {{ElementType::kF32, ElementType::kBF16, ElementType::kF64}, kReal},
    // The parts of a complex number have one of two precisions.
    {{ElementType::kF32, ElementType::kF64}, " complex "},
    {{ElementType::kC64, ElementType::kC128}, " imag real "},
    // Its random bits are of the width of its operand.
    {{ElementType::kF32}, " stochastic-convert "},
};

// The types of elements that the first operand may have.
std::vector<ElementType> OperandTypes(HloOpcode opcode) {
  const std::string name = absl::StrCat(" ", OpcodeName(opcode), " ");
  std::vector<ElementType> types;
  for (const KindOfElements& kind : kKinds) {
    if (!absl::StrContains(kind.operations, name)) continue;
    types.insert(types.end(), kind.types.begin(), kind.types.end());
  }
  Check(!types.empty(), "an elementwise operation that no kind of elements has");
  return types;
}

// The real type of the parts of a complex one; any other type is its own.
ElementType TypeOfParts(ElementType type) {
  if (type == ElementType::kC64) return ElementType::kF32;
  return type == ElementType::kC128 ? ElementType::kF64 : type;
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
    case HloOpcode::kComplex: {
      const bool is_single = shape.element_type() == ElementType::kF32;
      return c->Add(WithType(shape, is_single ? ElementType::kC64 : ElementType::kC128), name,
                    {a, c->OperandLike(shape)});
    }
    case HloOpcode::kConvert:
      return c->Add(WithType(shape, c->RandomType()), name, {a});
    case HloOpcode::kCopy:
      return c->Add(c->random().OneIn(2) ? c->WithRandomLayout(shape) : shape, name, {a});
    case HloOpcode::kAbs:
    case HloOpcode::kImag:
    case HloOpcode::kReal:
      return c->Add(WithType(shape, TypeOfParts(shape.element_type())), name, {a});
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
