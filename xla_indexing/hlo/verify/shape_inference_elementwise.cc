// Shape rules of operations that work on each element by itself.
//
// All operands have the same sizes (a scalar may stand for an array where select and clamp allow
// it). Floating point operands of one operation may differ in precision; the result then has the
// higher one, or another one that the instruction names.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/opcode_set.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_rules.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_util.h"

namespace xla_indexing::internal::shape_rules {
namespace {

// Classes of element types, as a set of bits.
using TypeClasses = unsigned;
constexpr TypeClasses kPreds = 1;
constexpr TypeClasses kIntegers = 2;
constexpr TypeClasses kFloats = 4;
constexpr TypeClasses kComplexes = 8;
constexpr TypeClasses kNumbers = kIntegers | kFloats | kComplexes;
constexpr TypeClasses kAll = kPreds | kNumbers;

TypeClasses ClassOf(ElementType type) {
  if (IsPred(type)) return kPreds;
  if (IsIntegral(type)) return kIntegers;
  return IsFloatingPoint(type) ? kFloats : kComplexes;
}

// The types that operations are defined for; those that are not listed for all.
struct DefinedFor {
  TypeClasses types;
  OpcodeSet opcodes;
};

using Op = HloOpcode;

constexpr DefinedFor kDefinedFor[] = {
    {kPreds | kIntegers, {Op::kAnd, Op::kNot, Op::kOr, Op::kXor}},
    {kIntegers,
     {Op::kCountLeadingZeros, Op::kMulhi, Op::kPopcnt, Op::kShiftLeft, Op::kShiftRightArithmetic,
      Op::kShiftRightLogical}},
    {kNumbers, {Op::kAbs, Op::kNegate, Op::kSign}},
    {kFloats,
     {Op::kCeil, Op::kComplex, Op::kFloor, Op::kIsFinite, Op::kReducePrecision,
      Op::kRoundNearestAfz, Op::kRoundNearestEven}},
    {kFloats | kComplexes, {Op::kAcos,   Op::kAcosh, Op::kAsin,        Op::kAsinh,
                            Op::kAtan2,  Op::kAtanh, Op::kCbrt,        Op::kCosh,
                            Op::kCosine, Op::kErf,   Op::kExponential, Op::kExponentialMinusOne,
                            Op::kImag,   Op::kLog,   Op::kLogPlusOne,  Op::kLogistic,
                            Op::kReal,   Op::kRsqrt, Op::kSine,        Op::kSinh,
                            Op::kSqrt,   Op::kTan,   Op::kTanh}},
};

TypeClasses OperandClasses(HloOpcode opcode) {
  for (const DefinedFor& row : kDefinedFor) {
    if (row.opcodes.Has(opcode)) return row.types;
  }
  return kAll;
}

absl::Status CheckClass(const HloInstruction& i, const Shape& operand) {
  if ((OperandClasses(i.opcode()) & ClassOf(operand.element_type())) != 0) return absl::OkStatus();
  return Error(i, "not defined for ", ElementTypeName(operand.element_type()));
}

// Checks that two operands have equal sizes and, but for precision, equal types.
absl::Status CheckAlike(const HloInstruction& i, const Shape& a, const Shape& b) {
  if (&a == &b) return absl::OkStatus();
  if (!DimensionsAgree(a, b)) return Error(i, "shapes differ");
  if (!SameTypeIgnoringPrecision(a.element_type(), b.element_type())) {
    return Error(i, "element types differ");
  }
  return absl::OkStatus();
}

// The shape of the result of two such operands.
InferredShape Combined(const Shape& a, const Shape& b) {
  if (&a == &b) return &a;
  return CommonShape(a, b, HigherPrecision(a.element_type(), b.element_type()));
}

absl::Status CheckTwoAlike(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArrays(i));
  const Shape& a = i.operand(0)->shape();
  XLA_INDEXING_RETURN_IF_ERROR(CheckAlike(i, a, i.operand(1)->shape()));
  return CheckClass(i, a);
}

Result InferCompare(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckTwoAlike(i));
  const absl::string_view direction = i.comparison_direction();
  bool known = false;
  for (const absl::string_view name : {"EQ", "NE", "GE", "GT", "LE", "LT"}) {
    known = known || direction == name;
  }
  if (!known) {
    return Error(i, "direction '", direction, "' is none of EQ, NE, GE, GT, LE and LT");
  }
  return CommonShape(i.operand(0)->shape(), i.operand(1)->shape(), ElementType::kPred);
}

Result InferComplex(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckTwoAlike(i));
  const Shape& a = i.operand(0)->shape();
  const Shape& b = i.operand(1)->shape();
  switch (HigherPrecision(a.element_type(), b.element_type())) {
    case ElementType::kF32:
      return CommonShape(a, b, ElementType::kC64);
    case ElementType::kF64:
      return CommonShape(a, b, ElementType::kC128);
    default:
      return Error(i, "the parts are neither f32 nor f64");
  }
}

Result InferSelect(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArrays(i));
  const Shape& predicate = i.operand(0)->shape();
  const Shape& on_true = i.operand(1)->shape();
  const Shape& on_false = i.operand(2)->shape();
  if (!IsPred(predicate.element_type())) return Error(i, "operand 0 is not of type pred");
  XLA_INDEXING_RETURN_IF_ERROR(CheckAlike(i, on_true, on_false));
  if (!predicate.IsScalar() && !DimensionsAgree(predicate, on_true)) {
    return Error(i, "the predicate is neither a scalar nor of the sizes of the other operands");
  }
  return Combined(on_true, on_false);
}

Result InferClamp(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArrays(i));
  const Shape& operand = i.operand(1)->shape();
  for (const int64_t bound : {0, 2}) {
    const Shape& shape = i.operand(bound)->shape();
    if (!shape.IsScalar() && !DimensionsAgree(shape, operand)) {
      return Error(i, "operand ", bound, " is neither a scalar nor of the sizes of operand 1");
    }
    if (!SameTypeIgnoringPrecision(shape.element_type(), operand.element_type())) {
      return Error(i, "element types differ");
    }
  }
  return &operand;
}

Result InferCopy(const HloInstruction& i) { return &i.operand(0)->shape(); }

absl::Status CheckConvert(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArrays(i));
  const Shape& operand = i.operand(0)->shape();
  if (ShapesAgree(i.shape(), operand, Agreement::kElementType)) return absl::OkStatus();
  return MismatchError(i, WithElementType(operand, i.shape().IsArray() ? i.shape().element_type()
                                                                       : operand.element_type()));
}

absl::Status CheckStochasticConvert(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckConvert(i));
  const Shape& operand = i.operand(0)->shape();
  const Shape& random = i.operand(1)->shape();
  if (!DimensionsAgree(operand, random)) return Error(i, "shapes differ");
  if (!IsFloatingPoint(operand.element_type())) {
    return Error(i, "not defined for ", ElementTypeName(operand.element_type()));
  }
  if (!IsUnsignedIntegral(random.element_type()) ||
      BitWidth(random.element_type()) != BitWidth(operand.element_type())) {
    return Error(i, "the random bits are not unsigned integers of ",
                 BitWidth(operand.element_type()), " bits");
  }
  return absl::OkStatus();
}

constexpr OpcodeRule kElementwiseRules[] = {
    {HloOpcode::kCompare, {.infer = InferCompare}},
    {HloOpcode::kComplex, {.infer = InferComplex}},
    {HloOpcode::kSelect, {.infer = InferSelect}},
    {HloOpcode::kClamp, {.infer = InferClamp}},
    {HloOpcode::kCopy, {.infer = InferCopy}},
    {HloOpcode::kConvert, {.check = CheckConvert}},
    {HloOpcode::kStochasticConvert, {.check = CheckStochasticConvert}},
};

}  // namespace

Result InferUnary(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArrays(i));
  const Shape& operand = i.operand(0)->shape();
  XLA_INDEXING_RETURN_IF_ERROR(CheckClass(i, operand));
  switch (i.opcode()) {
    case HloOpcode::kIsFinite:
      return WithElementType(operand, ElementType::kPred);
    case HloOpcode::kAbs:
    case HloOpcode::kImag:
    case HloOpcode::kReal:
      return WithElementType(operand, ComplexComponentType(operand.element_type()));
    default:
      return &operand;
  }
}

Result InferBinary(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckTwoAlike(i));
  return Combined(i.operand(0)->shape(), i.operand(1)->shape());
}

OpcodeRules ElementwiseRules() { return kElementwiseRules; }

}  // namespace xla_indexing::internal::shape_rules
