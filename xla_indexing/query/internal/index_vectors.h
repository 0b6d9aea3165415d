// The index vectors of a gather or a scatter, as far as the module fixes them, and what holds of them.
//
// Vector b, over the batch indices b (the dimensions of the indices without index_vector_dim), has a
// component for each dimension of the operand that is indexed or batching, in the order of these
// dimensions. Vectors are written case by case as affine expressions over b and unknown values
// (ops/internal/element_value.h).
//
// Example: indices add(iota, broadcast(p)) of s32[4,1]: (d0){rt0} -> (d0 + rt0).
#ifndef XLA_INDEXING_QUERY_INTERNAL_INDEX_VECTORS_H_
#define XLA_INDEXING_QUERY_INTERNAL_INDEX_VECTORS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/map/decision.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/runtime_var_indexing.h"

namespace xla_indexing::internal {

class IndexVectors {
 public:
  IndexVectors(const HloInstruction& instruction, mlir::MLIRContext* context);

  Answer AreSorted(StepBudget* budget) const;
  Answer AreInBounds(StepBudget* budget) const;
  // What the vectors depend on that the module does not fix; empty where that is nothing.
  std::string Unknowns() const;

 private:
  struct Component {
    int64_t operand_dim = 0;
    int64_t last_start = 0;  // with which the window is inside
    bool is_batching = false;
  };
  void AddCases(const HloInstruction& instruction, mlir::MLIRContext* context);
  // Whether vector b of one case is greater than vector b' of another, for some b < b' that differ
  // first in dimension `dim`, in component `component` and in none before it.
  Answer IsAfter(const IndexingMap& first, const IndexingMap& second, int dim, size_t component,
                 StepBudget* budget) const;

  std::vector<Component> components_;
  // One for each case, from b to the components; runtime variables are the unknowns.
  std::vector<IndexingMap> cases_;
  RuntimeVarIndexings unknowns_;
  bool is_known_ = true;  // Whether the cases are all there are.
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_INTERNAL_INDEX_VECTORS_H_
