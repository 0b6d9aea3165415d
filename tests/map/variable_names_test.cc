#include "xla_indexing/map/variable_names.h"

#include <string>

#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {
namespace {

using ::testing::ElementsAre;

class VariableNamesTest : public ::testing::Test {
 protected:
  // A variable of that name; without one for "".
  Variable Named(absl::string_view name) {
    Variable variable = {Interval::Closed(0, 3), {}};
    if (!name.empty()) {
      variable.name = mlir::StringAttr::get(&context_, llvm::StringRef(name.data(), name.size()));
    }
    return variable;
  }

  VariableNames Names(Variables dims, Variables ranges, Variables runtimes) {
    const auto num_symbols = static_cast<unsigned>(ranges.size() + runtimes.size());
    return NamesOf(IndexingMap(kPartsFit, mlir::AffineMap::get(dims.size(), num_symbols, &context_),
                               dims, ranges, runtimes));
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(VariableNamesTest, DefaultNamesAreByKindAndPosition) {
  const VariableNames names = Names({Named(""), Named("")}, {Named("")}, {Named(""), Named("")});
  EXPECT_THAT(names.dims, ElementsAre("d0", "d1"));
  EXPECT_THAT(names.symbols, ElementsAre("s0", "rt0", "rt1"));
}

TEST_F(VariableNamesTest, CustomNamesStand) {
  const VariableNames names = Names({Named("row"), Named("")}, {Named("k")}, {Named("offset")});
  EXPECT_THAT(names.dims, ElementsAre("row", "d1"));
  EXPECT_THAT(names.symbols, ElementsAre("k", "offset"));
}

TEST_F(VariableNamesTest, EqualNamesGetSuffixes) {
  const VariableNames names =
      Names({Named("k"), Named("k_1")}, {Named("k"), Named("k")}, {Named("k")});
  EXPECT_THAT(names.dims, ElementsAre("k", "k_1"));
  EXPECT_THAT(names.symbols, ElementsAre("k_2", "k_3", "k_4"));
}

TEST_F(VariableNamesTest, DefaultNamesStandBeforeCustomOnes) {
  const VariableNames names = Names({Named("d1"), Named("")}, {Named("rt0")}, {Named("")});
  EXPECT_THAT(names.dims, ElementsAre("d1_1", "d1"));
  EXPECT_THAT(names.symbols, ElementsAre("rt0_1", "rt0"));
}

TEST_F(VariableNamesTest, NamesThatAreNoIdentifiersAreReplaced) {
  const VariableNames names = Names({Named("a b"), Named("mod"), Named("3x")}, {}, {});
  EXPECT_THAT(names.dims, ElementsAre("d0", "d1", "d2"));
}

TEST_F(VariableNamesTest, KnowsIdentifiers) {
  for (const absl::string_view name : {"x", "_", "_1", "th_x", "a.b$c", "Inf", "EMPTY", "d0"}) {
    EXPECT_TRUE(IsVariableName(name)) << name;
  }
  for (const absl::string_view name : {"", "1", "1x", "a-b", "a b", ".a", "$", "in", "inf", "mod",
                                       "floordiv", "ceildiv", "domain", "\xc3\xa9"}) {
    EXPECT_FALSE(IsVariableName(name)) << name;
  }
}

}  // namespace
}  // namespace xla_indexing::internal
