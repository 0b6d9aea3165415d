// What the tests of ops/ share: instructions from HLO text, and indexing maps as text.

#ifndef XLA_INDEXING_TESTS_OPS_INDEXING_TEST_H_
#define XLA_INDEXING_TESTS_OPS_INDEXING_TEST_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/instruction_indexing.h"

namespace xla_indexing {

// Text without white space and commas, in which form the indexing document is compared.
inline std::string Squeeze(absl::string_view text) {
  std::string squeezed;
  for (const char c : text) {
    if (!absl::ascii_isspace(static_cast<unsigned char>(c)) && c != ',') squeezed.push_back(c);
  }
  return squeezed;
}

class IndexingTest : public ::testing::Test {
 protected:
  IndexingTest() : context_(mlir::MLIRContext::Threading::DISABLED) {}

  // The root of the entry computation of a module that verifies. The module lives as long as the
  // test.
  const HloInstruction* Root(absl::string_view text) {
    absl::StatusOr<std::unique_ptr<HloModule>> module = ParseModule(text);
    EXPECT_TRUE(module.ok()) << module.status().message() << text;
    if (!module.ok()) return nullptr;
    const absl::Status status = VerifyModule(**module);
    EXPECT_TRUE(status.ok()) << status.message();
    modules_.push_back(*std::move(module));
    return modules_.back()->entry_computation()->root_instruction();
  }

  // The root of `ENTRY e { <text> }`.
  const HloInstruction* Entry(absl::string_view text) {
    return Root(absl::StrCat("ENTRY e {\n", text, "\n}\n"));
  }

  // The entries as text, one string for each map: `output leaf.operand.operand leaf MAP`.
  static std::vector<std::string> Lines(const absl::StatusOr<InstructionIndexing>& entries) {
    std::vector<std::string> lines;
    EXPECT_TRUE(entries.ok()) << entries.status();
    if (!entries.ok()) return lines;
    for (const IndexingEntry& entry : *entries) {
      for (const OperandIndexing& indexing : entry.indexing) {
        lines.push_back(absl::StrCat(entry.output_leaf, ".", entry.operand, ".", entry.operand_leaf,
                                     " ", indexing.ToString()));
      }
    }
    return lines;
  }

  std::vector<std::string> OutputToInput(const HloInstruction* instruction,
                                         const IndexingOptions& options = {}) {
    return Lines(
        internal::ComputeIndexing(*instruction, Direction::kOutputToInput, &context_, options));
  }
  std::vector<std::string> InputToOutput(const HloInstruction* instruction,
                                         const IndexingOptions& options = {}) {
    return Lines(
        internal::ComputeIndexing(*instruction, Direction::kInputToOutput, &context_, options));
  }

  // The only map between a leaf of the result and an operand.
  OperandIndexing OutputToInputMap(const HloInstruction* instruction, int64_t operand,
                                   const IndexingOptions& options = {}) {
    return OnlyMap(internal::ComputeIndexing(*instruction, Direction::kOutputToInput, &context_,
                                             options, OperandLeaf{0, 0}),
                   operand);
  }
  OperandIndexing InputToOutputMap(const HloInstruction* instruction, int64_t operand,
                                   const IndexingOptions& options = {}) {
    return OnlyMap(internal::ComputeIndexing(*instruction, Direction::kInputToOutput, &context_,
                                             options, OperandLeaf{operand, 0}),
                   operand);
  }

  IndexingMap Map(absl::string_view text) {
    absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context_);
    EXPECT_TRUE(map.ok()) << map.status().message() << ": " << text;
    return map.ok() ? *std::move(map) : IndexingMap(&context_);
  }

  static IndexingOptions Exact() {
    IndexingOptions options;
    options.exact = true;
    return options;
  }
  static IndexingOptions NotFolded() {
    IndexingOptions options;
    options.fold_runtime_variables = false;
    return options;
  }

  mlir::MLIRContext context_;

 private:
  OperandIndexing OnlyMap(const absl::StatusOr<InstructionIndexing>& entries, int64_t operand) {
    std::vector<OperandIndexing> maps;
    EXPECT_TRUE(entries.ok()) << entries.status();
    if (entries.ok()) {
      for (const IndexingEntry& entry : *entries) {
        if (entry.operand != operand) continue;
        for (const OperandIndexing& indexing : entry.indexing) maps.push_back(indexing);
      }
    }
    EXPECT_EQ(maps.size(), 1u);
    return maps.empty() ? OperandIndexing(kPartsFit, IndexingMap(&context_)) : maps.front();
  }

  std::vector<std::unique_ptr<HloModule>> modules_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_OPS_INDEXING_TEST_H_
