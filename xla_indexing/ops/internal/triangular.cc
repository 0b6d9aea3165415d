// Triangular matrices, in the last two dimensions of the operands; the others are batch dimensions
// and omitted here.
//
// Cholesky, lower: L with L L^H = A,
//
//   L[i, j] = (A[i, j] - sum over k < j of L[i, k] conj(L[j, k])) / L[j, j],   j <= i,
//
// which by induction reads, of the lower triangle of A,
//
//   row i up to column j               A[i, q],   q <= j < i
//   and all rows up to row j           A[p, q],   q <= p <= j <= i.
//
// Where i < j nothing is read: that part is not specified. Upper: everything transposed.
//
// Triangular solve: X with op(A) X = B (left_side) or X op(A) = B, where op transposes or not. Let
// M be op(A), or its transpose for X on the left of it, so that rows i of X (columns, then) solve
//
//   X[i, j] = (B[i, j] - sum over k != i of M[i, k] X[k, j]) / M[i, i].
//
// M is lower where an odd number of these hold: A is lower; op transposes; X is on the left. Then
// X[i, j] reads
//
//   B[p, j],   p <= i
//   M[p, q],   q <= p <= i   (q < p where the diagonal is taken for ones)
//
// and with all these relations reversed where M is upper. M[p, q] is A[q, p] where one of the last
// two holds and not the other.
//
// Source: XLA's operation semantics.

#include <cstdint>
#include <utility>

#include "absl/strings/string_view.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/hlo/attribute.h"
#include "xla_indexing/ops/internal/builders.h"

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

LoopNests CholeskyNests(const BuildContext& build, int64_t /*output_leaf*/, int64_t operand) {
  const bool is_upper = !build.instruction.GetBool(AttributeKey::kLower);
  const Shape& result = build.Output();
  const Interval size = SharedIndices(result, result.rank() - 1, result, result.rank() - 2);
  LoopNest nest = BatchNest(result, build.Operand(operand));
  const Loop i = nest.AddLoop(size);
  const Loop j = nest.AddLoop(size);
  const Loop q = nest.AddLoop(size);
  AppendMatrix(i, j, is_upper, &nest.result);

  LoopNest row = nest;
  AppendMatrix(i, q, is_upper, &row.operand);
  row.orders = {{q, j}, {j, i, 1}};

  LoopNest rows_before = std::move(nest);
  const Loop p = rows_before.AddLoop(size);
  AppendMatrix(p, q, is_upper, &rows_before.operand);
  rows_before.orders = {{q, p}, {p, j}, {j, i}};
  LoopNests nests(std::move(row));
  nests.push_back(std::move(rows_before));
  return nests;
}

LoopNests TriangularSolveNests(const BuildContext& build, int64_t /*output_leaf*/,
                               int64_t operand) {
  constexpr int64_t kMatrix = 0;
  const HloInstruction& solve = build.instruction;
  const bool on_the_left = !solve.GetBool(AttributeKey::kLeftSide);
  const absl::string_view transpose = solve.GetText(AttributeKey::kTransposeA);
  const bool transposes = transpose == "TRANSPOSE" || transpose == "ADJOINT";
  const bool swapped = transposes != on_the_left;
  const bool is_lower = solve.GetBool(AttributeKey::kLower) != swapped;
  const Shape& matrix = build.Operand(kMatrix);
  const Shape& result = build.Output();
  const int64_t solved = result.rank() - (on_the_left ? 1 : 2);
  const Interval size = SharedIndices(matrix, matrix.rank() - 1, matrix, matrix.rank() - 2)
                            .Intersect(IndicesOfAxis(result.dimension(solved)));

  LoopNest nest = BatchNest(result, build.Operand(operand));
  const Loop i = nest.AddLoop(size);
  const Loop j = nest.AddLoop(result.dimension(result.rank() - (on_the_left ? 2 : 1)));
  const Loop p = nest.AddLoop(size);
  // `first` stands before or at `second` in the order in which rows are solved.
  const auto add_order = [&](Loop first, Loop second, int64_t distance) {
    if (!is_lower) std::swap(first, second);
    nest.orders.push_back({first, second, distance});
  };
  AppendMatrix(i, j, on_the_left, &nest.result);
  if (operand == kMatrix) {
    const Loop q = nest.AddLoop(size);
    AppendMatrix(p, q, swapped, &nest.operand);
    add_order(q, p, solve.GetBool(AttributeKey::kUnitDiagonal) ? 1 : 0);
  } else {
    AppendMatrix(p, j, on_the_left, &nest.operand);
  }
  add_order(p, i, 0);
  return nest;
}

}  // namespace xla_indexing::internal
