// A map written with few range variables, and with those that results are.
//
//   1  ranges s and t that occur as s + t only,     one range, of every number that s + t, or s - t,
//      or as s - t only                             can be
//   2  a range in no result that every restriction  is as small, or as large, as it can be
//      wants to be small, or large
//   3  s and t that occur as s + t in results, but  s + t is one range, and s as above
//      not in restrictions
//   4  a range s in no result and in a <= c + s     each two of these intervals of s have a number in
//      <= b, or c - s, and one such restriction     common, of its own and these: so have all
//      more
//   5  a result c + s or c - s                      becomes s
//   6  the number of an iteration, c + s or c - s,  becomes s
//      where s is in no result
//   7  a result e + s or e - s in an interval,      becomes s, in that interval
//      where s is in nothing else
//
// The relation of the map stays equal. Example: (d0)[s0, s1] -> (d0 + s0 + s1), s0 in [0, 3] and s1 in
// [1, 2], is (d0)[s0] -> (d0 + s0), s0 in [1, 5].
#ifndef XLA_INDEXING_OPS_UNIONS_FEW_RANGES_H_
#define XLA_INDEXING_OPS_UNIONS_FEW_RANGES_H_

#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

// Rules 1 to 4, as long as one applies.
OperandIndexing WithSumsJoined(OperandIndexing indexing);

// Rule 5, for every result; rule 6, for every number of an iteration; rule 7, for one result.
OperandIndexing WithRangesAsResults(OperandIndexing indexing);
OperandIndexing WithRangesAsIterations(OperandIndexing indexing);
OperandIndexing WithConstrainedResultsAsRanges(OperandIndexing indexing);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_UNIONS_FEW_RANGES_H_
