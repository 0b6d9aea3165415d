// The index vectors of a gather or a scatter, as far as the module fixes them, and what holds of them.
//
// Vector b, over the batch indices b (the dimensions of the indices without index_vector_dim), has a
// component for each dimension of the operand that is indexed or batching, in the order of these
// dimensions. Vectors are written case by case as affine expressions over b and unknown values
// (ops/values/element_value.h).
//
// Windows begin at v(b) and are as large for all b, so that two of them, of b and b', share an element
// exactly if no component of v(b) - v(b') is as large as the window there. So updates go to different
// elements if there are no b, b' that differ with windows inside for which that holds. Unknowns are
// elements of tensors: of b and b' they are one value where they are one element, and any two values
// elsewhere.
//
// Example: indices add(iota, broadcast(p)) of s32[4,1]: (d0){rt0} -> (d0 + rt0).
#ifndef XLA_INDEXING_QUERY_INDEX_STRUCTURE_INDEX_VECTORS_H_
#define XLA_INDEXING_QUERY_INDEX_STRUCTURE_INDEX_VECTORS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/parts/indexing_options.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/ops/values/cases/value_cases.h"

namespace xla_indexing::internal {

// That values are in intervals.
struct ValueCondition {
  struct Value {
    RuntimeVarIndexing value;
    Interval interval;
  };
  std::vector<Value> values;

  void Add(const RuntimeVarIndexing& value, const Interval& interval);
  // The interval of an unknown: of all that are of one tensor, at the same constant indices.
  Interval Of(const RuntimeVarIndexing& unknown) const;
  Assumption ToAssumption() const;
  // `i in [0, 30]`, `i[.., 0] in [0, 8], i[.., 1] in [0, 3]`.
  std::string ToString() const;
};

class IndexVectors {
 public:
  // What is said holds where unknowns are as assumed.
  IndexVectors(const HloInstruction& instruction, mlir::MLIRContext* context,
               const Assumption& assumption = {});

  Answer AreSorted(StepBudget* budget) const;
  Answer AreInBounds(StepBudget* budget) const;
  // Whether no two windows share an element of the operand. Where windows are not inside, they are
  // left out, or what of them is outside.
  Answer AreUnique(ScatterBounds bounds, StepBudget* budget) const;
  // Where all windows are inside, and starts are sums that do not wrap, with an interval for each
  // unknown; nullopt if that is not found.
  static std::optional<ValueCondition> WhereInBounds(const HloInstruction& instruction,
                                                     mlir::MLIRContext* context,
                                                     StepBudget* budget);
  // Intervals around those of a condition under which all windows are inside, each as large as it can
  // be: what holds for an interval holds for its parts, so that steps that double and then halve lead
  // to the largest.
  static ValueCondition Widened(const HloInstruction& instruction, const ValueCondition& condition,
                                mlir::MLIRContext* context, StepBudget* budget);
  // What the vectors depend on that the module does not fix; empty where that is nothing.
  std::string Unknowns() const;

 private:
  struct Component {
    int64_t window_size = 1;
    int64_t last_start = 0;  // with which the window is inside
    bool is_batching = false;
  };
  // A question about b < b', which differ first in dimension `dim`: their vectors differ by these
  // intervals, component by component, and are both in those.
  struct PairQuestion {
    int dim = 0;
    std::vector<Interval> differences;
    std::vector<Interval> starts;
  };
  // Whether there is such a pair of b in one case and b' in another.
  Answer HasPair(const IndexingMap& first, const IndexingMap& second, const PairQuestion& question,
                 StepBudget* budget) const;
  // Answers whether there is no pair, in any two cases.
  Answer HaveNoPair(const PairQuestion& question, StepBudget* budget) const;
  static bool AreInBoundsWhere(const HloInstruction& instruction, const ValueCondition& condition,
                               mlir::MLIRContext* context, StepBudget* budget);
  // The values that starts may have along the smallest dimension; nullopt if no dimension is indexed.
  std::optional<Interval> SmallestStarts() const;
  // The values of unknowns for which starts are inside, by what starts are where unknowns are in
  // `assumed`: all that leave sums of one unknown inside, and those assumed of others.
  std::optional<ValueCondition> InsideValues(const Interval& assumed) const;

  std::vector<Component> components_;
  // One for each case, from b to the components; runtime variables are the unknowns.
  std::vector<IndexingMap> cases_;
  RuntimeVarIndexings unknowns_;
  std::vector<Interval> values_of_unknowns_;
  bool is_known_ = true;  // Whether the cases are all there are.
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_INDEX_STRUCTURE_INDEX_VECTORS_H_
