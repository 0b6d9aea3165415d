// Builds a module again with HloBuilder, instruction by instruction.
#ifndef XLA_INDEXING_TESTS_TESTING_REBUILDER_H_
#define XLA_INDEXING_TESTS_TESTING_REBUILDER_H_

#include <cstdint>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "xla_indexing/hlo/build/builder.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing {

class Rebuilder {
 public:
  // Where `infers` is set, shapes are left to the builder where that gives the same one.
  Rebuilder(const HloModule& original, bool infers);

  // An error where the copy is not equal to the original, or is not right.
  absl::Status Run();

  int64_t inferred_count() const { return inferred_count_; }

 private:
  template <typename T>
  using Pointers = std::vector<const T*>;

  absl::StatusOr<const HloInstruction*> Build(const HloInstruction& i, HloBuilder* builder);

  const HloModule& original_;
  bool infers_;
  HloModule copy_;
  int64_t inferred_count_ = 0;
  std::map<const HloComputation*, const HloComputation*> computations_;
  std::map<const HloInstruction*, const HloInstruction*> instructions_;
  std::vector<Pointers<HloComputation>> called_;
  std::vector<Pointers<HloInstruction>> preceding_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_TESTING_REBUILDER_H_
