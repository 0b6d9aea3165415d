// Work on unions of a loop's maps that is done once for all that are alike.
//
// Mathematics. Two unions are *alike* where renaming what runtime variables are read from, one to one
// between arrays of equal shapes and in their order (CompareSources), makes one of them the other. Work
// that only compares sources with one another makes alike unions of alike unions, so that what it made
// of one, renamed, is what it makes of the other.
//
// The layers of a model are alike in this way: each reads the rows of its own cache but one, which it
// writes at an index of its own.
//
// Example: {(d0){rt0} -> (d0), rt0 in [1, 9], d0 - rt0 in [-9, -1], rt0: i} is alike to that with
// rt0: j, another scalar s32[].
#ifndef XLA_INDEXING_OPS_LOOPS_BODY_ALIKE_UNIONS_H_
#define XLA_INDEXING_OPS_LOOPS_BODY_ALIKE_UNIONS_H_

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"

namespace xla_indexing::internal {

// What one kind of work has made of unions. Holds instructions, which have to outlive it.
class AlikeUnions {
 public:
  using Work = llvm::function_ref<void(OperandIndexingSet*)>;

  // Does work(set), which is the same at every call, or what it did to a union that is alike. Takes no
  // steps of the question's budget then.
  void Do(OperandIndexingSet* set, Work work);

 private:
  // A union with the numbers of its sources, in their order, in place of them, and the shapes of what
  // its bindings read, one after another.
  using Kind = std::pair<OperandIndexingSet, std::vector<Shape>>;
  struct Done {
    RuntimeVarIndexings sources;
    OperandIndexingSet result;
  };

  absl::flat_hash_map<Kind, Done> done_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_BODY_ALIKE_UNIONS_H_
