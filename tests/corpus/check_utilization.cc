// What does not depend on runtime values is counted exactly.

#include <cstdint>
#include <iostream>
#include <memory>

#include "gtest/gtest.h"
#include "tests/corpus/corpus_check.h"
#include "xla_indexing/fusion/parallel_indexing.h"
#include "xla_indexing/query/utilization/utilization.h"

namespace xla_indexing {
namespace {

// Whether the maps that are counted are exact, where exact ones are asked for.
bool AreLabelsExact(const HloInstruction& instruction, const OperandUtilization& of,
                    HloIndexers& indexers) {
  const auto entries = indexers.exact().Index(instruction, Direction::kOutputToInput);
  if (!entries.ok()) return true;
  for (const IndexingEntry& entry : **entries) {
    if (entry.output_leaf == of.output_leaf && entry.operand == of.operand &&
        entry.operand_leaf == of.operand_leaf) {
      return entry.indexing.label().IsExact();
    }
  }
  return true;
}

class UtilizationCheck : public CorpusCheck {
 public:
  void CheckModule(const CorpusFile& file, const HloModule& module,
                   HloIndexers& indexers) override {
    for (const HloInstruction* instruction : InstructionsOf(module)) {
      const auto report = ComputeUtilization(*instruction, indexers);
      ASSERT_TRUE(report.ok()) << report.status();
      for (const OperandUtilization& of : report->operands) {
        if (of.utilization.IsExact()) {
          ++exact_;
        } else if (of.utilization.has_runtime_values) {
          ++with_runtime_values_;
        } else if (!AreLabelsExact(*instruction, of, indexers)) {
          ++over_approximate_;
        } else {
          ++not_counted_;
          if (file.corpus->id == CorpusId::kXla) {
            ADD_FAILURE() << instruction->name() << " operand " << of.operand << " is not counted";
          }
        }
      }
    }
  }

  void CheckCounts(const Corpus& corpus) override {
    std::cout << "utilization, " << corpus.name << ": exact " << exact_ << ", with runtime values "
              << with_runtime_values_ << ", over-approximate " << over_approximate_
              << ", not counted " << not_counted_ << "\n";
    // The maps of some loops are too many, or too long, to be counted in the time that there is.
    EXPECT_LE(not_counted_ * 1000, exact_);
    if (corpus.id != CorpusId::kXla) return;
    EXPECT_GT(exact_, 300000);
    EXPECT_LT(with_runtime_values_, 2000);
    EXPECT_LT(over_approximate_, 6000);
  }

 private:
  int64_t exact_ = 0;
  int64_t with_runtime_values_ = 0;
  int64_t over_approximate_ = 0;
  int64_t not_counted_ = 0;
};

}  // namespace

std::unique_ptr<CorpusCheck> MakeUtilizationCheck() { return std::make_unique<UtilizationCheck>(); }

}  // namespace xla_indexing
