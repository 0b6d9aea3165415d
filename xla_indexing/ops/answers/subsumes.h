// Maps that others make superfluous.
//
// Definition. A covers B, both from one array to another, if every pair (d, e) of B is one of A.
// The union of the two is then A, and exact where A is.
//
// Rule, sufficient and local. A names neither runtime variables nor devices that B does not name
// in the same way, the domain of A holds whenever that of B does, and each result of A is
//
//   - the same expression of dimensions as that of B, or
//   - c + s or c - s for a range variable s of its own, free over the whole axis.
//
// Example: (d0, d1)[s0] -> (d0, s0) over an array of 4 by 8, s0 in [0, 7], covers
// (d0, d1) -> (d0, d1) and (d0, d1)[s0] -> (d0, s0 * 2), s0 in [0, 3]: x + f(x) reads of x what f
// reads of it if f reads rows.

#ifndef XLA_INDEXING_OPS_ANSWERS_SUBSUMES_H_
#define XLA_INDEXING_OPS_ANSWERS_SUBSUMES_H_

#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

// Whether what the rule asks of `a` alone, simplified and to an array of shape `to`, holds: where it
// does not, `a` covers no map.
bool MaySubsumeOthers(const OperandIndexing& a, const Shape& to);

// Whether the rule says that `a` covers `b`, both simplified and to an array of shape `to`. It does
// not where their numbers of dimensions or results differ, among themselves or from the shape's,
// nor of maps of two contexts.
bool Subsumes(const OperandIndexing& a, const OperandIndexing& b, const Shape& to);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_ANSWERS_SUBSUMES_H_
