// Real HLO: what does not depend on runtime values is counted exactly.

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/corpus.h"
#include "tests/testing/effort.h"
#include "tests/testing/entries.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/query/utilization/utilization.h"

namespace xla_indexing {
namespace {

// The labels of an instruction's maps, exact ones asked for, worked out when they are needed.
class Labels {
 public:
  Labels(const HloInstruction& instruction, mlir::MLIRContext* context)
      : instruction_(instruction), context_(context) {}

  bool AreExact(const OperandUtilization& of) {
    if (!entries_) {
      FusionOptions options;
      options.indexing.exact = true;
      entries_ = Entries(instruction_, Direction::kOutputToInput, context_, options).value();
    }
    for (const IndexingEntry& entry : *entries_) {
      if (entry.output_leaf == of.output_leaf && entry.operand == of.operand &&
          entry.operand_leaf == of.operand_leaf) {
        return entry.indexing.label().IsExact();
      }
    }
    return true;
  }

 private:
  const HloInstruction& instruction_;
  mlir::MLIRContext* context_;
  std::optional<InstructionIndexing> entries_;
};

TEST(UtilizationCorpusTest, CountsThatDoNotDependOnRuntimeValuesAreExact) {
  XLA_INDEXING_SKIP_WITHOUT_CORPUS();
  int64_t exact = 0;
  int64_t with_runtime_values = 0;
  int64_t over_approximate = 0;
  std::string not_found;
  const auto check = [&](const std::string& name, const std::string& text) {
    for (const auto& module : ParseModules({name, text})) {
      if (!module.ok() || !VerifyModule(**module).ok()) continue;
      mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
      for (const HloComputation* computation : (*module)->computations()) {
        for (const HloInstruction* instruction : computation->instructions()) {
          const auto report = ComputeUtilization(*instruction, &context);
          ASSERT_TRUE(report.ok()) << report.status();
          Labels labels(*instruction, &context);
          for (const OperandUtilization& of : report->operands) {
            if (of.utilization.IsExact()) {
              ++exact;
            } else if (of.utilization.has_runtime_values) {
              ++with_runtime_values;
            } else if (!labels.AreExact(of)) {
              ++over_approximate;
            } else {
              absl::StrAppend(&not_found, name, ": ", instruction->name(), " operand ", of.operand,
                              "\n");
            }
          }
        }
      }
    }
  };
  ForEachCorpusFile(check, XLA_INDEXING_CORPUS, kOneCaseOf);
  EXPECT_EQ(not_found, "");
  // Files differ in size.
  EXPECT_GT(exact, kOneCaseOf == 1 ? 300000 : 0);
  EXPECT_LT(with_runtime_values, 2000);
  EXPECT_LT(over_approximate, 6000);
}

}  // namespace
}  // namespace xla_indexing
