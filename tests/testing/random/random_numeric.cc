// Random instructions that mix whole rows (sort, topk, fft, batch normalization), random numbers,
// and matrices that are triangular.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "tests/testing/random/random_computation.h"
#include "tests/testing/random/random_hlo.h"
#include "tests/testing/random/random_instructions.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {
namespace {

// A random array of this type; no layout.
Shape RandomArrayOf(ElementType type, int64_t min_rank, RandomComputation* c) {
  Shape shape = c->RandomArray(min_rank);
  shape.ClearLayout();
  shape.SetElementType(type);
  return shape;
}

// An array of this type of at least this rank.
RandomValue OperandOf(ElementType type, int64_t min_rank, RandomComputation* c) {
  return c->Operand(
      [&](const Shape& shape) { return shape.element_type() == type && shape.rank() >= min_rank; },
      [&] { return RandomArrayOf(type, min_rank, c); });
}

Shape WithoutLayout(Shape shape) {
  shape.ClearLayout();
  return shape;
}

absl::string_view RandomBool(RandomComputation* c) {
  return c->random().OneIn(2) ? "true" : "false";
}

// Sizes of batches of square matrices; the number of rows is the last size.
DimensionVector RandomSquare(RandomComputation* c) {
  const int64_t rows = c->random().OneIn(30) ? 0 : c->random().Between(1, 5);
  DimensionVector sizes = c->RandomSizes(c->random().Between(0, 2),
                                         kMaxRandomElements / std::max<int64_t>(rows * 5, 1));
  sizes.push_back(rows);
  sizes.push_back(rows);
  return sizes;
}

}  // namespace

RandomValue AddRandomSort(RandomComputation* c) {
  static constexpr ElementType kTypes[] = {ElementType::kF32, ElementType::kS32, ElementType::kU8};
  const RandomValue first = OperandOf(c->random().Pick(kTypes), 1, c);
  std::vector<RandomValue> operands = {first};
  std::vector<Shape> results = {WithoutLayout(first.shape)};
  for (int64_t more = c->random().OneIn(2) ? c->random().Between(1, 2) : 0; more > 0; --more) {
    results.push_back(results.front());
    results.back().SetElementType(c->RandomType());
    operands.push_back(c->OperandLike(results.back()));
  }
  RandomComputation comparator(c->module(), &c->random(), 0, c->depth() + 1);
  std::vector<RandomValue> parameters;
  for (const Shape& result : results) {
    for (int i = 0; i < 2; ++i) {
      parameters.push_back(comparator.AddParameter(Shape::Scalar(result.element_type())));
    }
  }
  const std::string less =
      comparator.Finish(comparator.Add(Shape::Scalar(ElementType::kPred), "compare",
                                       {parameters[0], parameters[1]}, ", direction=LT"),
                        /*is_entry=*/false);
  return c->Add(results.size() == 1 ? results[0] : Shape::Tuple(results), "sort", operands,
                absl::StrCat(", dimensions={", c->random().Between(0, first.shape.rank() - 1),
                             "}, is_stable=", RandomBool(c), ", to_apply=", less));
}

RandomValue AddRandomTopk(RandomComputation* c) {
  const RandomValue operand = OperandOf(ElementType::kF32, 1, c);
  Shape values = WithoutLayout(operand.shape);
  const int64_t last = values.rank() - 1;
  values.SetDimension(last, c->random().Between(0, values.dimension(last)));
  Shape positions = values;
  positions.SetElementType(ElementType::kS32);
  return c->Add(Shape::Tuple({values, positions}), "topk", {operand},
                absl::StrCat(", k=", values.dimension(last), ", largest=", RandomBool(c)));
}

RandomValue AddRandomFft(RandomComputation* c) {
  static constexpr absl::string_view kTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  const absl::string_view type = c->random().Pick(kTypes);
  const RandomValue operand =
      OperandOf(type == "RFFT" ? ElementType::kF32 : ElementType::kC64, 1, c);
  Shape result = WithoutLayout(operand.shape);
  const int64_t last = result.rank() - 1;
  const int64_t count = c->random().Between(1, std::min<int64_t>(result.rank(), 3));
  std::vector<int64_t> lengths;
  for (int64_t d = last + 1 - count; d <= last; ++d) lengths.push_back(result.dimension(d));
  if (type == "RFFT") {
    result.SetElementType(ElementType::kC64);
    result.SetDimension(last, lengths.back() == 0 ? 0 : lengths.back() / 2 + 1);
  } else if (type == "IRFFT") {
    result.SetElementType(ElementType::kF32);
    // n floordiv 2 + 1 complex numbers come of n = 2 * count - 2 or one more.
    if (lengths.back() > 0) {
      lengths.back() = 2 * lengths.back() - (lengths.back() == 1 || c->random().OneIn(2) ? 1 : 2);
    }
    result.SetDimension(last, lengths.back());
  }
  return c->Add(result, "fft", {operand},
                absl::StrCat(", fft_type=", type, ListAttribute("fft_length", lengths)));
}

RandomValue AddRandomBatchNorm(HloOpcode opcode, RandomComputation* c) {
  const RandomValue operand = OperandOf(ElementType::kF32, 1, c);
  const Shape array = WithoutLayout(operand.shape);
  const int64_t feature = c->random().Between(0, array.rank() - 1);
  const Shape vector = Shape::Array(ElementType::kF32, {array.dimension(feature)});
  std::vector<RandomValue> operands = {operand};
  const int64_t vector_count = opcode == HloOpcode::kBatchNormTraining    ? 2
                               : opcode == HloOpcode::kBatchNormInference ? 4
                                                                          : 3;
  for (int64_t i = 0; i < vector_count; ++i) operands.push_back(c->OperandLike(vector));
  if (opcode == HloOpcode::kBatchNormGrad) operands.push_back(c->OperandLike(array));
  const Shape result =
      opcode == HloOpcode::kBatchNormInference ? array : Shape::Tuple({array, vector, vector});
  return c->Add(result, OpcodeName(opcode), operands,
                absl::StrCat(", epsilon=0.001, feature_index=", feature));
}

RandomValue AddRandomRng(RandomComputation* c) {
  const Shape result = RandomArrayOf(ElementType::kF32, 0, c);
  const RandomValue low = c->OperandLike(Shape::Scalar(ElementType::kF32));
  const RandomValue high = c->OperandLike(Shape::Scalar(ElementType::kF32));
  return c->Add(result, "rng", {low, high},
                c->random().OneIn(2) ? ", distribution=rng_uniform" : ", distribution=rng_normal");
}

RandomValue AddRandomRngBitGenerator(RandomComputation* c) {
  const Shape state = Shape::Array(ElementType::kU64, {c->random().Between(1, 3)});
  const RandomValue operand = c->OperandLike(state);
  const Shape bits = RandomArrayOf(ElementType::kU32, 0, c);
  return c->Add(c->random().OneIn(4) ? bits : Shape::Tuple({state, bits}), "rng-bit-generator",
                {operand}, ", algorithm=rng_default");
}

RandomValue AddRandomCholesky(RandomComputation* c) {
  const Shape shape = Shape::Array(ElementType::kF32, RandomSquare(c));
  return c->Add(shape, "cholesky", {c->OperandLike(shape)},
                absl::StrCat(", lower=", RandomBool(c)));
}

RandomValue AddRandomTriangularSolve(RandomComputation* c) {
  static constexpr absl::string_view kTransposes[] = {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
  const Shape matrix = Shape::Array(ElementType::kF32, RandomSquare(c));
  const bool left = c->random().OneIn(2);
  Shape sides = matrix;
  sides.SetDimension(matrix.rank() - (left ? 1 : 2),
                     c->random().OneIn(30) ? 0 : c->random().Between(1, 4));
  const RandomValue a = c->OperandLike(matrix);
  return c->Add(sides, "triangular-solve", {a, c->OperandLike(sides)},
                absl::StrCat(", left_side=", left ? "true" : "false", ", lower=", RandomBool(c),
                             ", unit_diagonal=", RandomBool(c),
                             ", transpose_a=", c->random().Pick(kTransposes)));
}

}  // namespace xla_indexing
