// The answers about computations and loops of one module, among those that all modules share
// (fusion/cache/shared_answers.h).
//
// An answer is looked for under the content of its computation. Where there is one that says nothing
// of this computation, as its reasons name instructions of another one, the computation has a number
// of its own from then on.
//
// Example: f and g are the same but for names, and the answer about f is "whole tensor: more than 256
// maps at add.5". g has no add.5: its answer is found once more, and kept under a number of its own.
#ifndef XLA_INDEXING_FUSION_CACHE_MODULE_ANSWERS_H_
#define XLA_INDEXING_FUSION_CACHE_MODULE_ANSWERS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/status/statusor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "xla_indexing/fusion/cache/shared_answers.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/values/passed_values.h"

namespace xla_indexing::internal {

class ModuleAnswers {
 public:
  // Keeps references.
  ModuleAnswers(SharedAnswers* shared, PassedValues* passed_values)
      : shared_(*shared), passed_values_(*passed_values) {}

  // Lets nothing share answers but with itself, where these depend on what callers pass.
  void ShareNothing() { shares_ = false; }

  const SharedAnswers::Content& ContentOf(const HloComputation& computation);

  using MakeEntries = llvm::function_ref<absl::StatusOr<InstructionIndexing>()>;
  // The answer to a question about a computation, the content of which is filled in here. Where it is
  // not known, `make` makes it.
  absl::StatusOr<SharedIndexing> FindOrMake(SharedAnswers::Question question,
                                            const HloComputation& computation, MakeEntries make);

  // The same of a loop.
  absl::StatusOr<SharedIndexing> FindOrMake(SharedAnswers::Question question,
                                            const HloInstruction& loop, MakeEntries make);

  void Forget() {
    contents_.clear();
    loops_.clear();
    own_numbers_.clear();
  }

 private:
  // A loop's content, and the instructions that it is the content of.
  struct LoopContent {
    std::vector<const HloInstruction*> instructions;
    uint64_t number = 0;
  };
  const LoopContent& ContentOf(const HloInstruction& loop);
  const SharedAnswers::Content& KnownContentOf(const HloComputation& called) const {
    return contents_.find(&called)->second;
  }
  absl::StatusOr<SharedIndexing> FindOrMake(SharedAnswers::Question question,
                                            const SharedAnswers::Part& part, MakeEntries make);

  SharedAnswers& shared_;
  PassedValues& passed_values_;
  bool shares_ = true;
  // Contents of computations and loops; numbers of those whose answers are not shared.
  absl::flat_hash_map<const HloComputation*, SharedAnswers::Content> contents_;
  absl::node_hash_map<const HloInstruction*, LoopContent> loops_;
  absl::flat_hash_map<const void*, uint64_t> own_numbers_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_CACHE_MODULE_ANSWERS_H_
