// Whether two computations read their parameters in the same way, and the same elements meet.
//
// Mathematics. For each leaf of the output and each leaf of a parameter, a computation is the
// relation of pairs (element of the output, element of the parameter) that its maps name together,
// for each value of the runtime variables. Two computations *read the same* where all of these
// relations are equal. The same elements *meet* if, in addition, the same pairs of elements of
// parameters are combined, as operands of one instruction or in one step of a contraction, on the
// way to the same elements of the output. A dot that pairs the elements of its operands in another
// order reads the same, and others meet. Runtime variables correspond where they read the same
// element of the same value: of parameters of one number, and of what is computed from those in the
// same way. Calls and fusions count as what they compute.
//
// Neither says that the values are equal: a sum and a product are the same here. Nor need values
// differ where elements meet in another way: sum(a) + sum(b) and sum(a + b) are equal, but only in
// the first does every element of a meet every element of b.
//
// How. For each pair of leaves, the first of these that decides:
//   1. the sets of maps are equal in normal form;
//   2. the maps of each side are covered by those of the other (map/sets/cover.h);
//   3. for every element of the output, one after the other, both sides name the same elements.
// Otherwise the answer is undecided, with the reason. Over-approximate maps name more than is read.
// They prove two computations equal only where the roots are computed in the same way altogether,
// and different only where one side exactly reads what the other does not name.
//
// A difference is shown by a pair that only one side has: the first one, in the order of output
// elements and then of parameter elements, where the third way found it.
//
// Errors. Those of fusion/hlo_indexer.h. Computations that differ in the numbers of outputs or
// parameters, or in their dimensions, are different, which is no error: `difference` says how.
//
// Example: p0[d0] + p0[9 - d0] and reverse(p0) + p0 read the same; p0 + p0 reads p0[0] for element
// 0, and not p0[9].

#ifndef XLA_INDEXING_QUERY_EQUIVALENCE_EQUIVALENCE_H_
#define XLA_INDEXING_QUERY_EQUIVALENCE_EQUIVALENCE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/query/equivalence/leaf_comparison.h"

namespace xla_indexing {

// The steps (map/sets/decision.h) that each pair of leaves may take.
inline constexpr int64_t kEquivalenceSteps = int64_t{1} << 22;

// The most pairs of leaves that are compared; an output leaf that is begun is compared to the end.
inline constexpr int64_t kMaxComparedPairs = int64_t{1} << 18;

struct EquivalenceReport {
  Answer same = Answer::kUndecided;    // both of these
  Answer reads = Answer::kUndecided;   // the same elements are read
  Answer meets = Answer::kUndecided;   // the same elements meet; undecided unless the same are read
  std::string difference;              // of the shapes; then nothing else is compared
  std::vector<LeafComparison> leaves;  // by output leaf, parameter, parameter leaf
  // By output leaf, parameter, its leaf and `other`; without what meets only itself.
  std::vector<LeafComparison> pairs;
  std::string meets_reason;  // why `meets` is not decided for any pair
  // The number of pairs that were not compared: past kMaxComparedPairs whole leaves of the output
  // are skipped. These pairs are undecided, or equal where the roots are computed in the same way.
  int64_t not_compared = 0;
};

absl::StatusOr<EquivalenceReport> CompareReads(const HloComputation& a, const HloComputation& b,
                                               mlir::MLIRContext* context,
                                               const FusionOptions& options = {},
                                               int64_t max_steps = kEquivalenceSteps);
// The same through indexers that are kept, for one pair after another.
absl::StatusOr<EquivalenceReport> CompareReads(const HloComputation& a, const HloComputation& b,
                                               HloIndexers& indexers,
                                               int64_t max_steps = kEquivalenceSteps);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_QUERY_EQUIVALENCE_EQUIVALENCE_H_
