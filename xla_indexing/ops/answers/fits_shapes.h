// Whether maps lead from one array to another.
//
// A map fits the arrays `from` and `to` where it has a dimension for each dimension of `from` and a
// result for each dimension of `to`, and at every point of its domain these are indices of their
// axes. Maps from the analyses of ops/ and fusion/ fit the arrays that they are about; maps that a
// program makes itself, or pairs with shapes itself, may not.
//
// Example: (d0) -> (d0 + 1), domain: d0 in [0, 3] fits f32[4] and f32[5]; not f32[4] and f32[4],
// since d0 = 3 maps to index 4.
//
// Errors. InvalidArgument that names the dimension or result, the interval of its values and the
// array. Where kDefaultSteps (map/sets/decision.h) do not suffice to decide whether a point leaves an
// axis, the map is taken to fit.

#ifndef XLA_INDEXING_OPS_ANSWERS_FITS_SHAPES_H_
#define XLA_INDEXING_OPS_ANSWERS_FITS_SHAPES_H_

#include "absl/status/status.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {

// OK where the map fits, and for every unknown map.
absl::Status VerifyFits(const OperandIndexing& indexing, const Shape& from, const Shape& to);

// OK where every map of the set fits; all are of one MLIRContext.
absl::Status VerifyFits(const OperandIndexingSet& set, const Shape& from, const Shape& to);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_ANSWERS_FITS_SHAPES_H_
