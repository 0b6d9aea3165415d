// The text and JSON of entries that no instruction of today gives, beside those that case files
// and program_test.py look at.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/exactness.h"
#include "xla_indexing/tools/answers/report.h"
#include "xla_indexing/tools/input/subject.h"
#include "xla_indexing/tools/modes/json_output.h"
#include "xla_indexing/tools/modes/text_output.h"

namespace xla_indexing::internal {
namespace {

class OutputTest : public ::testing::Test {
 protected:
  OutputTest() : context_(mlir::MLIRContext::Threading::DISABLED) {
    module_ = ParseModule(R"(ENTRY main {
      p = (f32[2], f32[3]) parameter(0)
      ROOT c = f32[4] custom-call(p), custom_call_target="f"
    })")
                  .value();
    subject_ = {module_->entry_computation()->root_instruction()};
  }

  // Nothing is said about leaf 1 of the operand, and a reason is given.
  std::vector<ReportedEntry> UnknownEntries() {
    OperandIndexing unknown = OperandIndexing::Unknown(&context_, "a \"reason\"");
    const std::string line = unknown.MapToString();
    const ExactnessLabel label = unknown.label();
    std::vector<ReportedEntry> entries;
    entries.push_back({0, 0, 1, {{std::move(unknown), line, {}}}, label});
    return entries;
  }

  mlir::MLIRContext context_;
  std::unique_ptr<HloModule> module_;
  Subject subject_;
};

TEST_F(OutputTest, UnknownAsText) {
  std::string text;
  AppendText(subject_, Direction::kOutputToInput, CommandLine(), UnknownEntries(), &text);
  EXPECT_EQ(text, "Output 0 operand 0 leaf 1:\nunknown: a \"reason\"\n");
}

TEST_F(OutputTest, UnknownAsJsonIsOneMapWithoutText) {
  std::string json;
  AppendJson(subject_, Direction::kInputToOutput, UnknownEntries(), &json);
  EXPECT_EQ(json, R"({"computation": "main", "instruction": "c", "opcode": "custom-call", )"
                  R"("scope": "instruction", "direction": "input-to-output", "output_id": 0, )"
                  R"("operand_id": 0, "operand": "p", "operand_leaf": 1, )"
                  R"("exactness": "unknown", "reason": "a \"reason\"", "maps": [)"
                  R"({"map": "", "exactness": "unknown", "reason": "a \"reason\"", )"
                  R"("runtime_variables": [], "replica_map": ""}]})");
}

TEST_F(OutputTest, PartsOfAModuleAreOneLine) {
  EXPECT_EQ(absl::StrCat(ModuleJsonBegin("m"), "{}, {}, {}", ModuleJsonEnd({})),
            "{\"module\": \"m\", \"indexing\": [{}, {}, {}]}\n");
  EXPECT_EQ(absl::StrCat(ModuleJsonBegin("m"), ModuleJsonEnd({})),
            "{\"module\": \"m\", \"indexing\": []}\n");
}

}  // namespace
}  // namespace xla_indexing::internal
