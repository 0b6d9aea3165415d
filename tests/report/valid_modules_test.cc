// Questions are answered about valid modules only, whoever made them: the library verifies them, once for
// each change.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/fusion/parallel_indexing.h"
#include "xla_indexing/gpu/fusion_mapping.h"
#include "xla_indexing/hlo/build/builder.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/transforms/set_aside.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/query/dims/corresponding_dims.h"
#include "xla_indexing/query/equivalence/equivalence.h"
#include "xla_indexing/query/in_place/in_place.h"
#include "xla_indexing/query/in_place/in_place_aliases.h"
#include "xla_indexing/query/index_structure/index_structure.h"
#include "xla_indexing/query/utilization/utilization.h"
#include "xla_indexing/report/analysis/report_kernels.h"
#include "xla_indexing/report/write/picture.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"

namespace xla_indexing {
namespace {

using ::testing::HasSubstr;

constexpr absl::string_view kWrong = R"(
  HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
  ENTRY e {
    p = f32[4,8] parameter(0)
    ROOT t = f32[9,4] transpose(p), dimensions={1,0}
  })";
constexpr absl::string_view kWhy =
    "instruction 't' (transpose) has shape f32[9,4] but its operands and attributes give f32[8,4]";

class ValidModulesTest : public ::testing::Test {
 protected:
  // The status of every question about the root of the entry of a module.
  std::vector<absl::Status> Ask(const HloModule& module) {
    const HloComputation& entry = *module.entry_computation();
    const HloInstruction& root = *entry.root_instruction();
    HloIndexer indexer(&context_);
    std::vector<absl::Status> statuses;
    for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
      statuses.push_back(indexer.Index(root, direction).status());
      statuses.push_back(indexer.Index(entry, direction).status());
      statuses.push_back(indexer.Index(root, direction, OperandLeaf{0, 0}).status());
      statuses.push_back(indexer.IndexSimplified(root, direction).status());
      statuses.push_back(indexer.IndexSimplified(entry, direction).status());
    }
    const HloInstruction* instructions[] = {&root};
    mlir::MLIRContext* contexts[] = {&context_};
    const absl::Status asked = ComputeIndexingInParallel(
        instructions, contexts, {}, [&](const IndexedInstruction& indexed) {
          statuses.push_back(indexed.output_to_input.status());
        });
    EXPECT_TRUE(asked.ok()) << asked;
    statuses.push_back(FusionView::OfFusion(root).status());
    statuses.push_back(FusionView::OfComputation(entry).status());
    statuses.push_back(FusionView::OfInstructions(instructions).status());
    statuses.push_back(ComputeUtilization(root, &context_).status());
    statuses.push_back(FindCorrespondingDims(root, &context_).status());
    statuses.push_back(CompareReads(entry, entry, &context_).status());
    statuses.push_back(IndexStructuresOf(entry, &context_).status());
    statuses.push_back(InPlaceAnalysis::OfInstruction(root, &context_).status());
    statuses.push_back(InPlaceAnalysis::OfComputation(entry, &context_).status());
    statuses.push_back(MappingForFusion(entry, &context_).status());
    statuses.push_back(CoalescingOfFusion(entry, &context_).status());
    statuses.push_back(TiledComputation::Create(entry, &context_).status());
    statuses.push_back(ReportKernels(module).status());
    statuses.push_back(PictureOf(root, &context_).status());
    return statuses;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(ValidModulesTest, EveryQuestionToAModuleThatIsNotValidIsAnError) {
  const auto module = ParseModule(kWrong).value();
  EXPECT_EQ(module->verdict(), nullptr);
  int number = 0;
  for (const absl::Status& status : Ask(*module)) {
    SCOPED_TRACE(number++);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(kWhy));
  }
  ASSERT_NE(module->verdict(), nullptr);
  EXPECT_FALSE(module->is_verified());
  for (const CheckedAlias& alias : CheckAliases(*module, &context_)) {
    EXPECT_FALSE(alias.safety.IsSafe()) << alias.ToString();
  }
  // What is right in it can be asked about.
  const auto aside = SetErrorsAside(*module);
  ASSERT_TRUE(aside.ok());
  EXPECT_TRUE(aside->module->is_verified());
  HloIndexer indexer(&context_);
  const auto entries =
      indexer.Index(*aside->module->entry_computation(), Direction::kOutputToInput);
  ASSERT_TRUE(entries.ok());
  EXPECT_TRUE((**entries)[0].indexing.begin()->IsUnknown());
}

TEST_F(ValidModulesTest, AModuleIsVerifiedByTheFirstQuestion) {
  const auto module = ParseModule("ENTRY e { p = f32[4] parameter(0) ROOT n = f32[4] negate(p) }");
  ASSERT_TRUE(module.ok());
  EXPECT_FALSE((*module)->is_verified());
  HloIndexer indexer(&context_);
  EXPECT_TRUE(indexer.Index(*(*module)->entry_computation(), Direction::kOutputToInput).ok());
  EXPECT_TRUE((*module)->is_verified());
}

TEST_F(ValidModulesTest, AChangeIsVerifiedAgain) {
  HloModule module("m");
  HloComputation* main = module.AddComputation("main");
  const Shape shape = Shape::Array(ElementType::kF32, {4});
  const HloInstruction* p = main->AddParameter(0, "p", shape);
  HloInstruction* slice = main->AddInstruction(HloOpcode::kSlice, "s", shape, {p});
  const SliceRange all[] = {{0, 4, 1}};
  slice->SetAttribute(AttributeKey::kSlice, absl::Span<const SliceRange>(all));
  const std::vector<std::function<void()>> changes = {
      [&] { slice->SetShape(Shape::Array(ElementType::kF32, {5})); },
      [&] { slice->SetShape(shape); },
      [&] {
        const SliceRange more[] = {{0, 5, 1}};
        slice->SetAttribute(AttributeKey::kSlice, absl::Span<const SliceRange>(more));
      },
      [&] { slice->SetTextAttribute("slice", "{[0:4]}"); },
      [&] { slice->SetAttribute(AttributeKey::kSlice, absl::Span<const SliceRange>(all)); },
      [&] { main->AddInstruction(HloOpcode::kNegate, "s", shape, {p}); },
      [&] { main->SetRoot(slice); },
      [&] { module.SetAttribute("entry_computation_layout", "{(f32[4])->f32[4]}"); },
      [&] { module.AddComputation("empty"); },
      [&] { module.SetEntry(main); },
  };
  for (const auto& change : changes) {
    VerifyModule(module).IgnoreError();
    ASSERT_NE(module.verdict(), nullptr);
    change();
    EXPECT_EQ(module.verdict(), nullptr);
  }
  // What it is said to be is what it is.
  HloModule built("b");
  HloBuilder builder(built.AddComputation("main"));
  const auto parameter = builder.AddParameter(0, shape, "p");
  ASSERT_TRUE(builder.Add(HloOpcode::kNegate, {*parameter}).ok());
  EXPECT_TRUE(CheckBuiltModule(built).ok());
  EXPECT_TRUE(built.is_verified());
  for (const absl::Status& status : Ask(built)) EXPECT_TRUE(status.ok()) << status;
  ASSERT_TRUE(builder.Add(HloOpcode::kNegate, {*parameter}).ok());
  EXPECT_FALSE(built.is_verified());
}

TEST_F(ValidModulesTest, OpcodesThatAreNotKnownAreWarnedOf) {
  const auto module = ParseAndVerifyModule(
      "ENTRY e {\n  p = f32[4] parameter(0)\n  ROOT r = f32[4] frobnicate(p)\n}", "m.hlo");
  ASSERT_TRUE(module.ok()) << module.status();
  const std::vector<VerificationError> warnings = FindWarnings(**module, 10);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].ToString("warning", warnings[0].message),
            "m.hlo:3:8: warning: instruction 'r' has the opcode 'frobnicate', which is not known; "
            "everything that it yields may be made of all of its operands\n"
            "  ROOT r = f32[4] frobnicate(p)\n       ^");
  EXPECT_TRUE(FindWarnings(**module, 0).empty());
  for (const absl::Status& status : Ask(**module)) EXPECT_TRUE(status.ok()) << status;
  // Every order of its elements is undecided: it may do anything.
  auto in_place = InPlaceAnalysis::OfInstruction(
      *(*module)->entry_computation()->root_instruction(), &context_);
  ASSERT_TRUE(in_place.ok());
  const auto safety = in_place->Safety({0, {0, 0}});
  ASSERT_TRUE(safety.ok());
  EXPECT_FALSE(safety->IsSafe()) << safety->ToString();
}

}  // namespace
}  // namespace xla_indexing
