// The comparison notices maps that are wrong.

#include "tests/reference/judge/library_relation.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/judge/dependence.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/answers/parts/value_function.h"

namespace xla_indexing::reference {
namespace {

using ::testing::HasSubstr;

// A dynamic-slice of f32[10] to f32[4] whose start is 8: elements 6, 7, 8, 9.
class LibraryRelationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    auto module = ParseModule(
        "ENTRY e { p = f32[10] parameter(0) i = s32[2] parameter(1) "
        "j = s32[1] slice(i), slice={[1:2]} k = s32[] reshape(j) "
        "ROOT r = f32[4] dynamic-slice(p, k), dynamic_slice_sizes={4} }");
    ASSERT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
    const HloComputation& entry = *module_->entry_computation();
    arguments_ = RandomArguments(entry, 0);
    arguments_[1][0].elements()[0].value = 3;
    arguments_[1][0].elements()[1].value = 8;
    auto execution = Execute(entry, Pointers(arguments_), 0);
    ASSERT_TRUE(execution.ok()) << execution.status();
    execution_ = *std::move(execution);
    auto truth = DependenceOfInstruction(*entry.root_instruction(), execution_);
    ASSERT_TRUE(truth.ok()) << truth.status();
    truth_ = *std::move(truth);
  }

  IndexingMap Map(absl::string_view text) {
    auto map = ParseIndexingMap(text, &context_);
    EXPECT_TRUE(map.ok()) << map.status();
    return *std::move(map);
  }

  // A runtime variable that reads a scalar, or an element of a vector.
  RuntimeVarIndexing Binding(absl::string_view instruction, ValueFunction value,
                             std::vector<int64_t> element = {}) {
    RuntimeVarIndexing binding;
    binding.instruction = module_->entry_computation()->FindInstruction(instruction);
    for (int64_t coordinate : element) {
      binding.element.push_back(mlir::getAffineConstantExpr(coordinate, &context_));
    }
    binding.value = value;
    return binding;
  }

  // Whether a map from the result to the operand is what the reference says.
  absl::Status Check(const OperandIndexingSet& maps) {
    const HloInstruction& slice = *module_->entry_computation()->root_instruction();
    return CheckMaps(maps, truth_.at({0, 0, 0}), {slice.shape(), slice.operand(0)->shape()},
                     execution_);
  }
  absl::Status Check(OperandIndexing indexing) {
    return Check(OperandIndexingSet(std::move(indexing)));
  }
  absl::Status CheckSlice(absl::string_view map, ValueFunction value) {
    return Check(OperandIndexing(kPartsFit, Map(map), {Binding("k", value)}));
  }

  mlir::MLIRContext context_;
  std::unique_ptr<HloModule> module_;
  std::vector<Value> arguments_;
  Execution execution_;
  Dependence truth_;
};

constexpr absl::string_view kSlice = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6]";
constexpr absl::string_view kNotSo = "is said by an exact map and is not so";
constexpr absl::string_view kMissing = "is missing from the maps";

TEST_F(LibraryRelationTest, TheRightMapAgrees) {
  EXPECT_EQ(CheckSlice(kSlice, ValueFunction::Clamp(0, 6)), absl::OkStatus());
}

TEST_F(LibraryRelationTest, ABindingMayNameTheElementOfAVector) {
  EXPECT_EQ(Check(OperandIndexing(kPartsFit, Map(kSlice),
                                  {Binding("i", ValueFunction::Clamp(0, 6), {1})})),
            absl::OkStatus());
  EXPECT_THAT(Check(OperandIndexing(kPartsFit, Map(kSlice),
                                    {Binding("i", ValueFunction::Clamp(0, 6), {0})}))
                  .message(),
              HasSubstr(kNotSo));
  // Element 2 is outside; the map's domain is empty.
  EXPECT_THAT(Check(OperandIndexing(kPartsFit, Map(kSlice),
                                    {Binding("i", ValueFunction::Clamp(0, 6), {2})}))
                  .message(),
              HasSubstr(kMissing));
}

TEST_F(LibraryRelationTest, ValuesPastInt64AreEvaluatedExactly) {
  const HloInstruction* k = module_->entry_computation()->FindInstruction("k");
  // 2^64 - 1 is 6 modulo 9; 2^63 - 1, which a saturated value would be, is 7.
  execution_.values[k][0].elements()[0].value = (Integer(1) << 64) - 1;
  EXPECT_EQ(CheckSlice("(d0){rt0} -> (d0 + rt0 mod 9), domain: d0 in [0, 3], rt0 in [0, inf]",
                       ValueFunction::AsIs()),
            absl::OkStatus());
}

TEST_F(LibraryRelationTest, AnOffsetByOneIsNoticed) {
  EXPECT_THAT(CheckSlice("(d0){rt0} -> (d0 + rt0 - 1), domain: d0 in [0, 3], rt0 in [0, 6]",
                         ValueFunction::Clamp(0, 6))
                  .message(),
              HasSubstr("(0) -> (5) is said by an exact map"));
}

TEST_F(LibraryRelationTest, AWrongClampIsNoticed) {
  EXPECT_THAT(CheckSlice(kSlice, ValueFunction::Clamp(0, 5)).message(), HasSubstr(kNotSo));
}

TEST_F(LibraryRelationTest, AMissingClampIsNoticed) {
  EXPECT_THAT(CheckSlice(kSlice, ValueFunction::AsIs()).message(), HasSubstr(kMissing));
}

TEST_F(LibraryRelationTest, ADomainThatIsTooSmallIsNoticed) {
  EXPECT_THAT(CheckSlice("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 2], rt0 in [0, 6]",
                         ValueFunction::Clamp(0, 6))
                  .message(),
              HasSubstr("(3) -> (9) is missing"));
  EXPECT_THAT(Check(OperandIndexingSet()).message(), HasSubstr("(0) -> (6) is missing"));
}

TEST_F(LibraryRelationTest, AConstraintThatExcludesAPointIsNoticed) {
  EXPECT_THAT(CheckSlice("(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 3], rt0 in [0, 6], "
                         "d0 mod 2 in [0, 0]",
                         ValueFunction::Clamp(0, 6))
                  .message(),
              HasSubstr("(1) -> (7) is missing"));
}

TEST_F(LibraryRelationTest, ALargerSetMayOnlyBeCalledOverApproximate) {
  const IndexingMap whole = Map("(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 9]");
  EXPECT_THAT(Check(OperandIndexing(kPartsFit, whole)).message(), HasSubstr(kNotSo));
  EXPECT_EQ(Check(OperandIndexing(kPartsFit, whole, {}, ExactnessLabel::OverApproximate("all"))),
            absl::OkStatus());
}

TEST_F(LibraryRelationTest, AnOverApproximationMustContainEverything) {
  const IndexingMap part = Map("(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 8]");
  EXPECT_THAT(Check(OperandIndexing(kPartsFit, part, {}, ExactnessLabel::OverApproximate("most")))
                  .message(),
              HasSubstr("(3) -> (9) is missing"));
}

TEST_F(LibraryRelationTest, AnExactMapBesideAnOverApproximateOneMustBeTrue) {
  OperandIndexingSet maps;
  maps.Add(OperandIndexing(kPartsFit, Map("(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 9]"),
                           {}, ExactnessLabel::OverApproximate("all")));
  maps.Add(OperandIndexing(kPartsFit, Map("(d0) -> (d0), domain: d0 in [0, 3]")));
  EXPECT_THAT(Check(maps).message(), HasSubstr(kNotSo));
}

TEST_F(LibraryRelationTest, UnknownSaysNothingWrong) {
  EXPECT_EQ(Check(OperandIndexing::Unknown(&context_, "not known")), absl::OkStatus());
}

TEST_F(LibraryRelationTest, ResultsOutsideTheTensorAreNoticed) {
  const IndexingMap outside = Map("(d0)[s0] -> (s0), domain: d0 in [0, 3], s0 in [0, 10]");
  EXPECT_THAT(Check(OperandIndexing(kPartsFit, outside, {}, ExactnessLabel::OverApproximate("all")))
                  .message(),
              HasSubstr("at (0) of device 0 it leaves f32[4] or f32[10]"));
}

TEST_F(LibraryRelationTest, AMapOfAnotherRankIsNoticed) {
  EXPECT_THAT(
      Check(OperandIndexing(kPartsFit, Map("(d0, d1) -> (d0), domain: d0 in [0, 3], d1 in [0, 0]")))
          .message(),
      HasSubstr("cannot be"));
}

TEST_F(LibraryRelationTest, EntriesAreComparedInBothDirections) {
  const HloInstruction& slice = *module_->entry_computation()->root_instruction();
  const auto check = [&](Direction direction, absl::string_view operand, absl::string_view start) {
    InstructionIndexing entries(2);
    entries[0].indexing = OperandIndexingSet(
        OperandIndexing(kPartsFit, Map(operand), {Binding("k", ValueFunction::Clamp(0, 6))}));
    entries[1].operand = 1;
    entries[1].indexing = OperandIndexingSet(OperandIndexing(kPartsFit, Map(start)));
    return CheckEntries(entries, direction, truth_, slice.shape(), slice.operands(), execution_);
  };
  constexpr absl::string_view kToStart = "(d0) -> (), domain: d0 in [0, 3]";
  constexpr absl::string_view kFromStart = "()[s0] -> (s0), domain: s0 in [0, 3]";
  constexpr absl::string_view kForward =
      "(d0){rt0} -> (d0 - rt0), domain: d0 in [0, 9], rt0 in [0, 6], d0 - rt0 in [0, 3]";
  EXPECT_EQ(check(Direction::kOutputToInput, kSlice, kToStart), absl::OkStatus());
  EXPECT_EQ(check(Direction::kInputToOutput, kForward, kFromStart), absl::OkStatus());
  EXPECT_THAT(
      check(Direction::kInputToOutput, kForward, "()[s0] -> (s0), domain: s0 in [0, 2]").message(),
      HasSubstr("output 0 operand 1 leaf 0"));
  EXPECT_FALSE(check(Direction::kInputToOutput, kSlice, kFromStart).ok());
  EXPECT_THAT(CheckEntries({}, Direction::kOutputToInput, truth_, slice.shape(), slice.operands(),
                           execution_)
                  .message(),
              HasSubstr("(0) -> (6) (output to operand) is missing with its entry"));
}

}  // namespace
}  // namespace xla_indexing::reference
