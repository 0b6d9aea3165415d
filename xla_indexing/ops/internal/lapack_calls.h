// Calls of LAPACK's routines, as JAX writes them for CPUs: lapack_xNAME_ffi, where x is s, d, c or z
// for the element type. The last dimensions are those of matrices and vectors, the others those of a
// batch, whose members have nothing to do with each other.
//
// Within a member, with i, j for an element of a result and p, q for one of the operand A, [m, n],
// rows and columns from 0:
//
//   gesdd, geev, gees  everything reads everything
//   syevd, heevd       everything reads the triangle that `uplo` names, with the diagonal
//   trsm               as triangular-solve (ops/internal/triangular.h)
//   potrf              the triangle as cholesky; elements of the other one are those of A; the status
//                      reads the triangle
//   getrf              Row i is at its place after step i, which chooses a pivot in column i of what
//                      the steps before have left, if there is more than one row to choose from. So
//                      out[i, j] reads A[p, j] and A[p, q], q <= i and q <= min(m - 1, n) - 1, for
//                      every p; pivot k reads the columns q <= k; the status reads the first
//                      min(m, n) columns
//   geqrf              Reflection k is made of what the ones before have left of column k, from row
//                      k on; one of a single real row is the identity. So out[i, j] reads A[p, j] and
//                      A[p, q], q <= min(i, j) and q less than the number of reflections, for every
//                      p; factor k reads the columns q <= k
//   gtsv               dl, d and du are the diagonals, dl[0] and du[n - 1] are not looked at. The
//                      solution reads them and its column of the right-hand sides; of the diagonals
//                      that are returned, those of the triangle, element k reads elements up to k + 1,
//                      as elimination with pivots from two rows goes on
//   others             all of a matrix, over-approximate
//
// Like that of HLO's own operations, this is what the formulas name, for matrices for which the
// routine succeeds.
//
// Source: the LAPACK Users' Guide; the routines' own descriptions.

#ifndef XLA_INDEXING_OPS_INTERNAL_LAPACK_CALLS_H_
#define XLA_INDEXING_OPS_INTERNAL_LAPACK_CALLS_H_

#include "xla_indexing/ops/custom_call_registry.h"

namespace xla_indexing::internal {

void AddLapackRules(CustomCallRegistry* registry);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_INTERNAL_LAPACK_CALLS_H_
