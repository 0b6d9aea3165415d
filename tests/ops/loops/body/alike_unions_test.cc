#include "xla_indexing/ops/loops/body/alike_unions.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/ops/unions/few_maps.h"
#include "xla_indexing/ops/unions/joined_values.h"

namespace xla_indexing::internal {
namespace {

class AlikeUnionsTest : public ::testing::Test {
 protected:
  AlikeUnionsTest() : module_("m") {
    HloComputation* entry = module_.AddComputation("e");
    for (int k = 0; k < 4; ++k) {
      scalars_.push_back(
          entry->AddParameter(k, absl::StrCat("p", k), Shape::Scalar(ElementType::kS32)));
    }
    scalars_.push_back(entry->AddParameter(4, "p4", Shape::Scalar(ElementType::kU8)));
  }

  // A map with a runtime variable that is each of these parameters.
  OperandIndexing Map(const std::string& text, const std::vector<int>& sources) {
    const auto map = ParseIndexingMap(text, &context_);
    EXPECT_TRUE(map.ok()) << map.status() << text;
    RuntimeVarIndexings bindings;
    for (const int source : sources) {
      RuntimeVarIndexing binding;
      binding.instruction = scalars_[source];
      bindings.push_back(std::move(binding));
    }
    OperandIndexing indexing(kPartsFit, *map, std::move(bindings));
    indexing.Simplify();
    return indexing;
  }

  // Two maps that are one for any value, and one that is not: what is below a and at or above a, and
  // what is below b.
  OperandIndexingSet Below(int a, int b) {
    OperandIndexingSet set;
    set.Add(
        Map("(d0){rt0} -> (d0), domain: d0 in [0, 9], rt0 in [0, 9], d0 - rt0 in [-9, -1]", {a}));
    set.Add(Map("(d0){rt0} -> (d0), domain: d0 in [0, 9], rt0 in [0, 9], d0 - rt0 in [0, 9]", {a}));
    set.Add(
        Map("(d0){rt0} -> (9), domain: d0 in [0, 9], rt0 in [0, 9], d0 - rt0 in [-9, -1]", {b}));
    set.Simplify();
    return set;
  }

  static void Write(OperandIndexingSet* set) {
    JoinOverValues(set);
    WriteWithFewMaps(set);
  }

  // What is made of a union, which is what would be made of it alone; counts where it is made.
  void Do(const OperandIndexingSet& set) {
    OperandIndexingSet made = set;
    alike_.Do(&made, [&](OperandIndexingSet* each) {
      ++times_made_;
      Write(each);
    });
    OperandIndexingSet alone = set;
    Write(&alone);
    // In any order.
    EXPECT_EQ(made.size(), alone.size());
    for (const OperandIndexing& map : alone) {
      bool is_there = false;
      for (const OperandIndexing& other : made) is_there = is_there || map == other;
      EXPECT_TRUE(is_there) << map.ToString();
    }
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  HloModule module_;
  std::vector<const HloInstruction*> scalars_;
  AlikeUnions alike_;
  int times_made_ = 0;
};

TEST_F(AlikeUnionsTest, WhatIsReadFromOtherArraysIsMadeOnce) {
  Do(Below(0, 1));
  Do(Below(0, 1));
  Do(Below(0, 2));
  Do(Below(1, 3));
  EXPECT_EQ(times_made_, 1);
}

TEST_F(AlikeUnionsTest, SourcesInAnotherOrderAreNotAlike) {
  Do(Below(0, 1));
  Do(Below(1, 0));
  EXPECT_EQ(times_made_, 2);
}

TEST_F(AlikeUnionsTest, OneSourceIsNotTwo) {
  Do(Below(0, 1));
  Do(Below(0, 0));
  Do(Below(2, 2));
  EXPECT_EQ(times_made_, 2);
}

TEST_F(AlikeUnionsTest, ArraysOfOtherShapesAreNotAlike) {
  Do(Below(0, 1));
  Do(Below(0, 4));
  EXPECT_EQ(times_made_, 2);
}

TEST_F(AlikeUnionsTest, UnionsWithoutSourcesAreThemselves) {
  OperandIndexingSet set;
  set.Add(Map("(d0) -> (d0), domain: d0 in [0, 9]", {}));
  Do(set);
  Do(set);
  set.Add(Map("(d0) -> (9 - d0), domain: d0 in [0, 9]", {}));
  Do(set);
  EXPECT_EQ(times_made_, 2);
}

}  // namespace
}  // namespace xla_indexing::internal
