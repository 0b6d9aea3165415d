// Shape rules of linear algebra, Fourier transforms, batch normalization and random numbers.

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_rules.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_util.h"

namespace xla_indexing::internal::shape_rules {
namespace {

// Operand 0 is a matrix of as many rows as columns, or an array of such, of floating point or
// complex numbers.
absl::Status CheckSquare(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArray(i, 0));
  const Shape& a = i.operand(0)->shape();
  const int64_t rank = a.rank();
  if (rank < 2 || !SizesAgree(a.dimension(rank - 1), a.dimension(rank - 2))) {
    return Error(i, "operand 0 does not consist of square matrices");
  }
  if (!IsFloatingPoint(a.element_type()) && !IsComplex(a.element_type())) {
    return Error(i, "not defined for ", ElementTypeName(a.element_type()));
  }
  return absl::OkStatus();
}

// The operands of a batch normalization: arrays of floating point numbers, of which `like_operand`
// has the sizes of operand 0 (if it is not 0) and the others are vectors with an element for each
// feature. Gives the shape of such a vector.
absl::StatusOr<Shape> CheckBatchNorm(const HloInstruction& i, int64_t like_operand) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArrays(i));
  const Shape& operand = i.operand(0)->shape();
  XLA_INDEXING_ASSIGN_OR_RETURN(const int64_t feature,
                                RequireInteger(i, AttributeKey::kFeatureIndex));
  XLA_INDEXING_RETURN_IF_ERROR(CheckDimensions(i, "feature_index", {feature}, operand.rank()));
  Shape vector = Shape::Scalar(operand.element_type());
  AppendDimension(operand, feature, &vector);
  for (int64_t k = 0; k < i.operand_count(); ++k) {
    const Shape& expected = k == 0 || k == like_operand ? operand : vector;
    if (!IsFloatingPoint(i.operand(k)->shape().element_type())) {
      return Error(i, "operand ", k, " is not of a floating point type");
    }
    if (!DimensionsAgree(i.operand(k)->shape(), expected)) {
      return Error(i, "operand ", k, " should have the sizes of ", Brief(expected));
    }
  }
  return vector;
}

Result NormalizedAndTwoVectors(const HloInstruction& i, int64_t like_operand) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const Shape vector, CheckBatchNorm(i, like_operand));
  const Shape& operand = i.operand(0)->shape();
  return Shape::Tuple({WithElementType(operand, operand.element_type()), vector, vector});
}

Result InferCholesky(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckSquare(i));
  return &i.operand(0)->shape();
}

Result InferTriangularSolve(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckSquare(i));
  XLA_INDEXING_RETURN_IF_ERROR(CheckArray(i, 1));
  const Shape& a = i.operand(0)->shape();
  const Shape& b = i.operand(1)->shape();
  const int64_t rank = a.rank();
  if (!SameTypeIgnoringPrecision(a.element_type(), b.element_type())) {
    return Error(i, "element types differ");
  }
  const absl::string_view transpose = i.GetText(AttributeKey::kTransposeA);
  if (!transpose.empty() && transpose != "NO_TRANSPOSE" && transpose != "TRANSPOSE" &&
      transpose != "ADJOINT") {
    return Error(i, "transpose_a '", transpose, "' is none of NO_TRANSPOSE, TRANSPOSE and ADJOINT");
  }
  if (b.rank() != rank) return Error(i, "ranks differ");
  for (int64_t d = 0; d + 2 < rank; ++d) {
    if (!SizesAgree(a.dimension(d), b.dimension(d))) {
      return Error(i, "the operands differ in dimension ", d);
    }
  }
  const int64_t solved = i.GetBool(AttributeKey::kLeftSide) ? rank - 2 : rank - 1;
  if (!SizesAgree(a.dimension(rank - 1), b.dimension(solved))) {
    return Error(i, "dimension ", solved, " of operand 1 is not that of the matrices");
  }
  return &b;
}

// The innermost L dimensions are transformed, with fft_length naming their L sizes as real or
// complex numbers. A real transform of n numbers along the last dimension keeps n floordiv 2 + 1
// complex ones.
Result InferFft(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArray(i, 0));
  const Shape& operand = i.operand(0)->shape();
  const absl::string_view type = i.GetText(AttributeKey::kFftType);
  const bool is_real = type == "RFFT";
  const bool is_inverse_real = type == "IRFFT";
  if (!is_real && !is_inverse_real && type != "FFT" && type != "IFFT") {
    return Error(i, "fft_type '", type, "' is none of FFT, IFFT, RFFT and IRFFT");
  }
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto lengths, RequireIntegers(i, AttributeKey::kFftLength));
  const int64_t count = static_cast<int64_t>(lengths.size());
  if (count == 0 || count > operand.rank()) {
    return Error(i, "fft_length=", Braced(lengths), " names ", count,
                 " dimensions of an operand of rank ", operand.rank());
  }
  ElementType result_type = operand.element_type();
  if (is_real) {
    if (result_type != ElementType::kF32 && result_type != ElementType::kF64) {
      return Error(i, "RFFT is not defined for ", ElementTypeName(result_type));
    }
    result_type = result_type == ElementType::kF32 ? ElementType::kC64 : ElementType::kC128;
  } else {
    if (!IsComplex(result_type)) {
      return Error(i, type, " is not defined for ", ElementTypeName(result_type));
    }
    if (is_inverse_real) result_type = ComplexComponentType(result_type);
  }
  Shape result = WithElementType(operand, result_type);
  for (int64_t k = 0; k < count; ++k) {
    const int64_t d = operand.rank() - count + k;
    const int64_t length = lengths[k];
    const int64_t halved = length == 0 ? 0 : length / 2 + 1;
    const bool is_last = k + 1 == count;
    const int64_t expected = is_inverse_real && is_last ? halved : length;
    if (length < 0 || !SizesAgree(operand.dimension(d), expected)) {
      return Error(i, "fft_length=", Braced(lengths), ": dimension ", d,
                   " of the operand should have size ", expected);
    }
    if (is_last && (is_real || is_inverse_real)) {
      result.SetDimension(d, is_real ? halved : length);
    }
  }
  return result;
}

Result InferBatchNormTraining(const HloInstruction& i) {
  return NormalizedAndTwoVectors(i, /*like_operand=*/0);
}

Result InferBatchNormInference(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckBatchNorm(i, /*like_operand=*/0).status());
  return &i.operand(0)->shape();
}

Result InferBatchNormGrad(const HloInstruction& i) {
  return NormalizedAndTwoVectors(i, /*like_operand=*/4);
}

absl::Status CheckRng(const HloInstruction& i) {
  if (i.operand_count() != 2) {
    return Error(i, "takes 2 operands, not ", i.operand_count());
  }
  if (!i.shape().IsArray()) return Error(i, "the result ", Brief(i.shape()), " is not an array");
  for (const HloInstruction* operand : i.operands()) {
    if (!operand->shape().IsScalar() ||
        !SameTypeIgnoringPrecision(operand->shape().element_type(), i.shape().element_type())) {
      return Error(i, "an operand is not a scalar of the type of the result ", Brief(i.shape()));
    }
  }
  return absl::OkStatus();
}

// The result is the next state and the bits, or the bits alone.
absl::Status CheckRngBitGenerator(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArray(i, 0));
  const Shape& state = i.operand(0)->shape();
  if (i.shape().IsArray()) return absl::OkStatus();
  const absl::Span<const Shape> elements = i.shape().tuple_elements();
  if (!i.shape().IsTuple() || elements.size() != 2 || !elements[1].IsArray() ||
      !ShapesAgree(elements[0], state, Agreement::kExact)) {
    return Error(i, "the result ", Brief(i.shape()), " is not a tuple of a state ", Brief(state),
                 " and an array");
  }
  return absl::OkStatus();
}

Result InferRngGetAndUpdateState(const HloInstruction& /*i*/) {
  return Shape::Array(ElementType::kU64, {2});
}

constexpr OpcodeRule kNumericRules[] = {
    {HloOpcode::kCholesky, {.infer = InferCholesky}},
    {HloOpcode::kTriangularSolve, {.infer = InferTriangularSolve}},
    {HloOpcode::kFft, {.infer = InferFft}},
    {HloOpcode::kBatchNormTraining, {.infer = InferBatchNormTraining}},
    {HloOpcode::kBatchNormInference, {.infer = InferBatchNormInference}},
    {HloOpcode::kBatchNormGrad, {.infer = InferBatchNormGrad}},
    {HloOpcode::kRng, {.check = CheckRng}},
    {HloOpcode::kRngBitGenerator, {.check = CheckRngBitGenerator}},
    {HloOpcode::kRngGetAndUpdateState, {.infer = InferRngGetAndUpdateState}},
};

}  // namespace

OpcodeRules NumericRules() { return kNumericRules; }

}  // namespace xla_indexing::internal::shape_rules
