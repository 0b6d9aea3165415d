// Closures of timed maps against those of isl, which is code of its own (tests/map/isl_judge.h).
//
// A closure contains all powers of a step and nothing else. It therefore lies in any closure that isl
// finds, which may be too large, and is equal to one that isl calls exact. Where isl is missing,
// nothing is compared.
#ifndef XLA_INDEXING_TESTS_OPS_LOOPS_CLOSURE_ISL_CLOSURES_H_
#define XLA_INDEXING_TESTS_OPS_LOOPS_CLOSURE_ISL_CLOSURES_H_

#include <optional>
#include <string>

#include "gtest/gtest.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#ifdef XLA_INDEXING_HAS_ISL
#include "tests/map/isl_judge.h"
#endif

namespace xla_indexing {

class IslClosures {
 public:
  // One question in so many is asked, since isl takes longer than the test.
  explicit IslClosures(int one_in) : one_in_(one_in) {}

  // Checks that `powers` is the closure of `steps`; `text` is shown where it is not.
  void Compare(const OperandIndexingSet& steps, const OperandIndexingSet& powers,
               const std::string& text) {
    if (asked_++ % one_in_ != 0) return;
#ifdef XLA_INDEXING_HAS_ISL
    IslJudge judge;
    const auto relation_of = [&](const OperandIndexingSet& set) {
      std::optional<IslSet> all;
      for (const OperandIndexing& map : set) {
        const IslSet relation = judge.Relation(map.map());
        all = all ? all->Union(relation) : relation;
      }
      return all;
    };
    const std::optional<IslSet> all_steps = relation_of(steps);
    const std::optional<IslSet> all_powers = relation_of(powers);
    if (!all_steps || !all_powers) return;
    bool is_exact = false;
    const IslSet closure = all_steps->TransitiveClosure(&is_exact);
    EXPECT_NE(all_powers->IsSubsetOf(closure), false) << text;
    if (!is_exact) return;
    const std::optional<bool> is_same = all_powers->Equals(closure);
    EXPECT_NE(is_same, false) << text;
    compared_ += is_same.has_value() ? 1 : 0;
#endif
  }

  // How many closures were compared with one that isl calls exact.
  int compared() const { return compared_; }

 private:
  const int one_in_;
  int asked_ = 0;
  int compared_ = 0;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_OPS_LOOPS_CLOSURE_ISL_CLOSURES_H_
