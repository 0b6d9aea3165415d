// The index vectors of a gather or a scatter, as far as the module fixes them, and what holds of them.
//
// Vector b, over the batch indices b (the dimensions of the indices without index_vector_dim), has a
// component for each dimension of the operand that is indexed or batching, in the order of these
// dimensions. Vectors are written case by case as affine expressions over b and unknown values
// (ops/values/element_value.h).
//
// Example: indices add(iota, broadcast(p)) of s32[4,1]: (d0){rt0} -> (d0 + rt0).
#ifndef XLA_INDEXING_QUERY_INDEX_STRUCTURE_INDEX_VECTORS_H_
#define XLA_INDEXING_QUERY_INDEX_STRUCTURE_INDEX_VECTORS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"

namespace xla_indexing::internal {

class IndexVectors {
 public:
  // Unknown values are taken to be in `assumed`: what is said then holds where they are.
  IndexVectors(const HloInstruction& instruction, mlir::MLIRContext* context,
               const Interval& assumed = Interval::All());

  Answer AreSorted(StepBudget* budget) const;
  Answer AreInBounds(StepBudget* budget) const;
  // The values of the unknowns, among the assumed ones, for which all windows are inside; none where
  // that is not an interval of its own for each of them.
  std::optional<Interval> ValuesInBounds() const;
  // The values that starts may have along the smallest dimension; none where no dimension is indexed.
  std::optional<Interval> SmallestStarts() const;
  // What the vectors depend on that the module does not fix; empty where that is nothing.
  std::string Unknowns() const;

 private:
  struct Component {
    int64_t operand_dim = 0;
    int64_t last_start = 0;  // with which the window is inside
    bool is_batching = false;
  };
  void AddCases(const HloInstruction& instruction, const Interval& assumed,
                mlir::MLIRContext* context);
  // Whether vector b of one case is greater than vector b' of another, for some b < b' that differ
  // first in dimension `dim`, in component `component` and in none before it.
  Answer IsAfter(const IndexingMap& first, const IndexingMap& second, int dim, size_t component,
                 StepBudget* budget) const;

  std::vector<Component> components_;
  // One for each case, from b to the components; runtime variables are the unknowns.
  std::vector<IndexingMap> cases_;
  RuntimeVarIndexings unknowns_;
  Interval assumed_ = Interval::All();
  bool is_known_ = true;  // Whether the cases are all there are.
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_INDEX_STRUCTURE_INDEX_VECTORS_H_
