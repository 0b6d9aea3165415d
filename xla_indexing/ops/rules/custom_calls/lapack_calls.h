// Calls of LAPACK's routines, as JAX writes them: for CPUs lapack_xNAME_ffi, where x is s, d, c or z
// for the element type, for GPUs cusolver_NAME_ffi and hipsolver_NAME_ffi. The last dimensions are those of matrices and vectors, the others those of a
// batch, whose members have nothing to do with each other.
//
// Within a member, with i, j for an element of a result and p, q for one of the operand A, [m, n],
// rows and columns from 0:
//
//   gesdd, gesvd, geev, gees  everything reads everything
//   syevd, heevd       everything reads the triangle that `uplo` names, with the diagonal
//   trsm               as triangular-solve (ops/rules/arithmetic/triangular.h)
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
//                      solution reads them and its column of the right-hand sides, the status reads
//                      them
//   orgqr, ungqr       The product of k reflections, of m rows and n columns: reflection q, which
//                      is I - tau[q] v v*, v = 1 at row q and A[p, q] in the rows p > q, changes
//                      the columns from q on. So out[i, j] reads tau[q], q <= j, and, if j > 0 and
//                      k > 1, A[p, q], p > q, q <= j; otherwise reflection 0 is all there is to
//                      the column, which reads A[i, 0] and A[j, 0] below the diagonal
//   others, and other results of these
//                      all of a matrix, over-approximate
//
// Reflections of a single row are the identity where numbers are real. The documentation of the
// routines for GPUs does not say so: where it matters, their answers are over-approximate.
//
// Like that of HLO's own operations, this is what the formulas name, for matrices for which the
// routine succeeds.
//
// Source: the LAPACK Users' Guide; the routines' own descriptions.

#ifndef XLA_INDEXING_OPS_RULES_CUSTOM_CALLS_LAPACK_CALLS_H_
#define XLA_INDEXING_OPS_RULES_CUSTOM_CALLS_LAPACK_CALLS_H_

#include "xla_indexing/ops/rules/custom_calls/custom_call_registry.h"

namespace xla_indexing::internal {

void AddLapackRules(CustomCallRegistry* registry);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_RULES_CUSTOM_CALLS_LAPACK_CALLS_H_
