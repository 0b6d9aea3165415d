#include "xla_indexing/ops/rules/arithmetic/triangular.h"

#include <cstdint>
#include <utility>

#include "absl/strings/string_view.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

// The indices that dimension k has in both shapes, of whose sizes one may have no bound.
Interval SharedIndices(const Shape& a, int64_t k, const Shape& b, int64_t l) {
  return IndicesOfAxis(a.dimension(k)).Intersect(IndicesOfAxis(b.dimension(l)));
}

// A nest with loops for the batch dimensions, which are the leading ones of result and operand.
LoopNest BatchNest(const Shape& result, const Shape& operand) {
  LoopNest nest;
  for (int64_t k = 0; k + 2 < result.rank(); ++k) {
    nest.result.push_back(NestAxis::Along(nest.AddLoop(SharedIndices(result, k, operand, k))));
  }
  nest.operand = nest.result;
  return nest;
}

// Appends the last two axes, [row, column] or, where `swapped`, [column, row].
void AppendMatrix(Loop row, Loop column, bool swapped, llvm::SmallVectorImpl<NestAxis>* axes) {
  if (swapped) std::swap(row, column);
  axes->push_back(NestAxis::Along(row));
  axes->push_back(NestAxis::Along(column));
}

}  // namespace

LoopNests CholeskyTriangle(const Shape& result, const Shape& matrix, bool is_lower) {
  const Interval size = SharedIndices(result, result.rank() - 1, result, result.rank() - 2);
  LoopNest nest = BatchNest(result, matrix);
  const Loop i = nest.AddLoop(size);
  const Loop j = nest.AddLoop(size);
  const Loop q = nest.AddLoop(size);
  AppendMatrix(i, j, !is_lower, &nest.result);

  LoopNest row = nest;
  AppendMatrix(i, q, !is_lower, &row.operand);
  row.orders = {{q, j}, {j, i, 1}};

  LoopNest rows_before = std::move(nest);
  const Loop p = rows_before.AddLoop(size);
  AppendMatrix(p, q, !is_lower, &rows_before.operand);
  rows_before.orders = {{q, p}, {p, j}, {j, i}};
  LoopNests nests(std::move(row));
  nests.push_back(std::move(rows_before));
  return nests;
}

LoopNest SolutionOf(const TriangularSystem& system, const Shape& result, const Shape& matrix,
                    const Shape& operand, bool is_matrix) {
  const bool on_the_left = !system.matrix_is_on_the_left;
  const bool swapped = system.transposes != on_the_left;
  const bool is_lower = system.is_lower != swapped;
  const int64_t solved = result.rank() - (on_the_left ? 1 : 2);
  const Interval size = SharedIndices(matrix, matrix.rank() - 1, matrix, matrix.rank() - 2)
                            .Intersect(IndicesOfAxis(result.dimension(solved)));

  LoopNest nest = BatchNest(result, operand);
  const Loop i = nest.AddLoop(size);
  const Loop j = nest.AddLoop(result.dimension(result.rank() - (on_the_left ? 2 : 1)));
  const Loop p = nest.AddLoop(size);
  // `first` stands before or at `second` in the order in which rows are solved.
  const auto add_order = [&](Loop first, Loop second, int64_t distance) {
    if (!is_lower) std::swap(first, second);
    nest.orders.push_back({first, second, distance});
  };
  AppendMatrix(i, j, on_the_left, &nest.result);
  if (is_matrix) {
    const Loop q = nest.AddLoop(size);
    AppendMatrix(p, q, swapped, &nest.operand);
    add_order(q, p, system.has_unit_diagonal ? 1 : 0);
  } else {
    AppendMatrix(p, j, on_the_left, &nest.operand);
  }
  add_order(p, i, 0);
  return nest;
}

LoopNests CholeskyNests(const BuildContext& build, int64_t /*output_leaf*/, int64_t operand) {
  return CholeskyTriangle(build.Output(), build.Operand(operand),
                          build.instruction.GetBool(AttributeKey::kLower));
}

LoopNests TriangularSolveNests(const BuildContext& build, int64_t /*output_leaf*/,
                               int64_t operand) {
  constexpr int64_t kMatrix = 0;
  const HloInstruction& solve = build.instruction;
  const absl::string_view transpose = solve.GetText(AttributeKey::kTransposeA);
  const TriangularSystem system = {.matrix_is_on_the_left = solve.GetBool(AttributeKey::kLeftSide),
                                   .is_lower = solve.GetBool(AttributeKey::kLower),
                                   .transposes = transpose == "TRANSPOSE" || transpose == "ADJOINT",
                                   .has_unit_diagonal = solve.GetBool(AttributeKey::kUnitDiagonal)};
  return LoopNests(SolutionOf(system, build.Output(), build.Operand(kMatrix),
                              build.Operand(operand), operand == kMatrix));
}

}  // namespace xla_indexing::internal
