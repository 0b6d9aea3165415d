// The compositions of maps that one question makes, each made once.
//
// Walks from several leaves come to the same instructions by the same maps again and again: the
// parameters of a network have a few shapes, and its layers are alike. What `first` followed by
// `second` is depends on these two alone, so that it is kept while the question lasts. A composition
// that is kept spends as many steps of the question's budget as making it does. Where fewer are
// left it is made anew, so that answers do not depend on what is kept.
#ifndef XLA_INDEXING_FUSION_INTERNAL_COMPOSITIONS_H_
#define XLA_INDEXING_FUSION_INTERNAL_COMPOSITIONS_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "xla_indexing/ops/operand_indexing.h"

namespace xla_indexing::internal {

class Compositions {
 public:
  // ComposeOperandIndexing(first, second), simplified; errors are those of that. `take` is called
  // with the number of steps that simplifying takes, before that is done. A caller that passes
  // `is_simplified`, which is set to true or false, may get one of the first maps of a question
  // as it is composed, if simplifying it takes few steps: one that is composed further need not be
  // simplified before.
  absl::StatusOr<OperandIndexing> Compose(const OperandIndexing& first,
                                          const OperandIndexing& second,
                                          llvm::function_ref<void(int64_t steps)> take,
                                          bool* is_simplified = nullptr);

 private:
  using Pair = std::pair<OperandIndexing, OperandIndexing>;
  struct Composed {
    OperandIndexing map;
    int64_t steps;  // to simplify
    int64_t spent;  // of the question's budget beside these
  };

  // Forgets what other questions than the one that is open have made.
  void BeginQuestion();
  void Keep(const OperandIndexing& first, const OperandIndexing& second, Composed composed);

  int64_t question_ = 0;
  int64_t num_made_ = 0;  // for this question
  size_t size_ = 0;       // of all that is kept
  absl::flat_hash_map<Pair, Composed> kept_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_INTERNAL_COMPOSITIONS_H_
