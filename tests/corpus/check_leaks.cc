// Models whose rows, or tokens, do not depend on others: that is proven, and a leak that is planted is found
// with its path.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/corpus/corpora.h"
#include "tests/corpus/corpus_check.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/ops/answers/parts/indexing_options.h"
#include "xla_indexing/query/explain/explain_dependence.h"

namespace xla_indexing {
namespace {

// Row (or token) i of a result depends on row i of an argument, and on no later one.
struct Model {
  absl::string_view file;
  int64_t output_leaf;
  int64_t output_axis;
  absl::string_view argument;  // its first axis, or that of its tokens, are the rows
  int64_t argument_axis;
};

constexpr Model kModels[] = {
    {"gpt_j_6b_predict_1gpu.hlo", 0, 1, "ids.1", 1},
    {"llama3_8b_prefill_1gpu.hlo", 7, 1, "padded_tokens.1", 0},
    {"gemma3_4b_prefill_1gpu.hlo", 7, 1, "padded_tokens.1", 0},
    {"deepseek2_16b_prefill_1gpu.hlo", 6, 1, "padded_tokens.1", 0},
    {"mixtral_8x7b_prefill_1gpu.hlo", 7, 1, "padded_tokens.1", 0},
    {"vit_predict_1gpu.hlo", 0, 0, "img.1", 0},
    {"dit_predict_1gpu.hlo", 0, 0, "x.1", 0},
    {"resnet50_predict_1gpu.hlo", 0, 0, "img.1", 0},
    {"detr_predict_1gpu.hlo", 0, 0, "img.1", 0},
    {"cappa_predict_1gpu.hlo", 0, 0, "img.1", 0},
};

const HloInstruction* FindArgument(const HloModule& module, absl::string_view name) {
  for (const HloInstruction* parameter : module.entry_computation()->parameters()) {
    if (parameter->name() == name) return parameter;
  }
  return nullptr;
}

bool IsOfName(char c) { return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-'; }

// The module with the argument x replaced by x + reverse(x) wherever it is used.
std::string WithLeak(const HloModule& module, const Model& model) {
  std::string text = module.ToString();
  const size_t entry = text.find("\nENTRY");
  const std::string definition = absl::StrCat(model.argument, " = ");
  const size_t begin = text.find(definition, entry) + definition.size();
  const size_t end = text.find('\n', begin);
  const std::string shape = text.substr(begin, text.find(' ', begin) - begin);
  std::string with_leak = absl::StrCat(
      text.substr(0, end), "\n  leak.rev = ", shape, " reverse(", model.argument, "), dimensions={",
      model.argument_axis, "}\n  leak.sum = ", shape, " add(", model.argument, ", leak.rev)");
  for (size_t at = end; at < text.size();) {
    const bool is_use = absl::StartsWith(absl::string_view(text).substr(at), model.argument) &&
                        !IsOfName(text[at - 1]) && !IsOfName(text[at + model.argument.size()]);
    absl::StrAppend(&with_leak, is_use ? "leak.sum" : text.substr(at, 1));
    at += is_use ? model.argument.size() : 1;
  }
  return with_leak;
}

// Row `row` of the output and row `read` of the argument.
DependenceReport Explain(const HloModule& module, const Model& model, int64_t row, int64_t read) {
  const HloInstruction* argument = FindArgument(module, model.argument);
  const Shape& output = module.entry_computation()->root_instruction()->shape();
  DependenceQuestion question;
  question.output_leaf = model.output_leaf;
  question.output_element.resize(output.Leaf(model.output_leaf).rank());
  question.output_element[model.output_axis] = row;
  question.operand = argument->parameter_number();
  question.operand_element.resize(argument->shape().rank());
  question.operand_element[model.argument_axis] = read;
  FusionOptions options;
  options.indexing.dependence = Dependence::kFiniteValues;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  HloIndexers indexers(&context, options);
  auto report = ExplainDependence(*module.entry_computation(), question, indexers);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : DependenceReport();
}

class LeaksCheck : public CorpusCheck {
 public:
  void CheckModule(const CorpusFile& file, const HloModule& module,
                   HloIndexers& /*indexers*/) override {
    for (const Model& model : kModels) {
      if (file.corpus->id == CorpusId::kModels && file.path == model.file) Check(module, model);
    }
  }

 private:
  static void Check(const HloModule& module, const Model& model) {
    const HloInstruction* argument = FindArgument(module, model.argument);
    ASSERT_NE(argument, nullptr) << model.argument;
    constexpr int64_t kRow = 1;
    const int64_t mirrored = argument->shape().dimension(model.argument_axis) - 1 - kRow;
    EXPECT_EQ(Explain(module, model, kRow, kRow).answer, Answer::kYes);
    EXPECT_EQ(Explain(module, model, kRow, mirrored).answer, Answer::kNo);

    const auto leaking = ParseAndVerifyModule(WithLeak(module, model));
    ASSERT_TRUE(leaking.ok()) << leaking.status();
    const DependenceReport report = Explain(**leaking, model, kRow, mirrored);
    EXPECT_EQ(report.answer, Answer::kYes) << report.reason;
    ASSERT_GE(report.steps.size(), 3);
    const DependenceStep* last = &report.steps.back();
    EXPECT_EQ(last[0].instruction, model.argument);
    EXPECT_EQ(last[-1].instruction, "leak.rev");
    EXPECT_EQ(last[-2].instruction, "leak.sum");
    EXPECT_EQ(last[-2].element[model.argument_axis], kRow);
    // Neither a row at or before that one, nor the mirror of one.
    const int64_t other = mirrored - 1 > kRow ? mirrored - 1 : mirrored + 1;
    EXPECT_EQ(Explain(**leaking, model, kRow, other).answer, Answer::kNo);
  }
};

}  // namespace

std::unique_ptr<CorpusCheck> MakeLeaksCheck() { return std::make_unique<LeaksCheck>(); }

}  // namespace xla_indexing
