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
//   M[p, q],   q <= p <= i   (q < p where the diagonal is taken to be ones)
//
// and with all these relations reversed where M is upper. M[p, q] is A[q, p] where one of the last
// two holds and not the other.
//
// Source: XLA's operation semantics.

#ifndef XLA_INDEXING_OPS_RULES_ARITHMETIC_TRIANGULAR_H_
#define XLA_INDEXING_OPS_RULES_ARITHMETIC_TRIANGULAR_H_

#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/rules/frame/loop_nest.h"

namespace xla_indexing::internal {

// What the triangle of a Cholesky decomposition reads of a matrix; nothing outside the triangle.
LoopNests CholeskyTriangle(const Shape& result, const Shape& matrix, bool is_lower);

// How a triangular system is solved.
struct TriangularSystem {
  bool matrix_is_on_the_left = true;
  bool is_lower = true;
  bool transposes = false;
  bool has_unit_diagonal = false;
};

// What its solution reads of one operand, the matrix or the right-hand sides.
LoopNest SolutionOf(const TriangularSystem& system, const Shape& result, const Shape& matrix,
                    const Shape& operand, bool is_matrix);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_RULES_ARITHMETIC_TRIANGULAR_H_
