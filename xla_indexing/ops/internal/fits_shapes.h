// Whether maps lead from one array to another.
//
// A map fits arrays `from` and `to` where it has a dimension for each of `from` and a result for
// each of `to`, and no point of its domain has a dimension, or a result, that is no index of its
// axis. What is said by the analyses of ops/ and fusion/ fits the arrays that it is said of; maps
// that a program makes itself, or pairs with shapes itself, may not.
//
// Example: (d0) -> (d0 + 1), domain: d0 in [0, 3] fits f32[4] and f32[5]; not f32[4] and f32[4],
// since d0 = 3 leads to index 4.
//
// Errors. InvalidArgument that names the dimension or result, the interval of its values and the
// array. Where it is not decided within kDefaultSteps (map/decision.h) whether a point leaves an
// axis the map is taken to fit.

#ifndef XLA_INDEXING_OPS_INTERNAL_FITS_SHAPES_H_
#define XLA_INDEXING_OPS_INTERNAL_FITS_SHAPES_H_

#include "absl/status/status.h"
#include "xla_indexing/hlo/shape.h"
#include "xla_indexing/ops/operand_indexing.h"
#include "xla_indexing/ops/operand_indexing_set.h"

namespace xla_indexing::internal {

// Of an unknown map nothing is asked.
absl::Status VerifyFits(const OperandIndexing& indexing, const Shape& from, const Shape& to);

// The same of every map of a set, which are of one MLIRContext.
absl::Status VerifyFits(const OperandIndexingSet& set, const Shape& from, const Shape& to);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_INTERNAL_FITS_SHAPES_H_
