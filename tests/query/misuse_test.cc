#include "tests/testing/misuse.h"

#include <algorithm>
#include <cstdint>

#include "gtest/gtest.h"
#include "xla_indexing/query/dims/corresponding_dims.h"
#include "xla_indexing/query/equivalence/equivalence.h"
#include "xla_indexing/query/utilization/utilization.h"

namespace xla_indexing::internal {
namespace {

TEST_F(QueryMisuseTest, UtilizationIsOfArraysThatTheMapsFit) {
  const OperandIndexingSet set(Map("(d0) -> (d0), domain: d0 in [0, 3]"));
  EXPECT_EQ(ComputeUtilization(set, Array({4}), Array({4}))->elements_read, Interval::Point(4));
  ExpectRefused(ComputeUtilization(set, Array({4}), Array({2})).status(),
                "result 0 of (d0) -> (d0), domain: d0 in [0, 3] has values in [0, 3], and the "
                "indices of dimension 0 of f32[2] are [0, 1]");
  ExpectRefused(ComputeUtilization(set, Array({2}), Array({4})).status(),
                "and the indices of dimension 0 of f32[2] are [0, 1]");
  ExpectRefused(ComputeUtilization(set, Array({4, 4}), Array({4})).status(),
                "a map of 1 dimensions and 1 results from f32[4,4] to f32[4]");
  ExpectRefused(ComputeUtilization(set, Array({4}), Array({})).status(),
                "a map of 1 dimensions and 1 results from f32[4] to f32[]");
  ExpectRefused(ComputeUtilization(set, Array({4}), Shape::Tuple({Array({4})})).status(),
                "from array to array");
  for (const int64_t steps : {kLeast, int64_t{-1}, int64_t{0}, kGreatest}) {
    EXPECT_TRUE(ComputeUtilization(set, Array({4}), Array({4}), steps).ok());
  }
}

TEST_F(QueryMisuseTest, ReportsAreOfLeavesThatAreThere) {
  const OperandIndexingSet set(Map("(d0, d1) -> (d1, d0), domain: d0 in [0, 7], d1 in [0, 3]"));
  const auto report = [&](const IndexingEntry& entry) {
    return ReportUtilization(
               {entry}, [] { return NoEntries(); }, *transpose_, transpose_->operands())
        .status();
  };
  EXPECT_TRUE(report({0, 0, 0, set}).ok()) << report({0, 0, 0, set});
  ExpectRefused(report({1, 0, 0, set}),
                "an entry of output leaf 1 and leaf 0 of operand 0, and t has 1 leaves and 1 "
                "operands");
  ExpectRefused(report({0, 1, 0, set}), "leaf 0 of operand 1");
  ExpectRefused(report({0, -1, 0, set}), "leaf 0 of operand -1");
  ExpectRefused(report({0, 0, 5, set}), "leaf 5 of operand 0");
  ExpectRefused(report({0, 0, 0, OperandIndexingSet(Map("() -> ()"))}),
                "a map of 0 dimensions and 0 results");
}

TEST_F(QueryMisuseTest, CountsBytesOfAnyNumberOfElements) {
  EXPECT_EQ(BytesOf(Interval::Empty(), Array({4})), Interval::Empty());
  EXPECT_EQ(BytesOf(Interval::AtLeast(3), Array({4})), Interval::AtLeast(12));
  EXPECT_EQ(BytesOf(Interval::All(), Array({4})), Interval::All());
}

TEST_F(QueryMisuseTest, OptionsOfComputationsMayBeAnything) {
  for (const int64_t number : {kLeast, int64_t{-1}, int64_t{0}, int64_t{1}, kGreatest}) {
    FusionOptions options;
    options.max_steps = number;
    options.max_called_instructions = number;
    options.max_maps = static_cast<int>(std::clamp<int64_t>(number, INT32_MIN, INT32_MAX));
    options.max_call_depth = options.max_maps;
    // Answers have to be right or labelled, and nothing more is asked of them.
    (void)ComputeUtilization(*computation_, &context_, options);
    (void)FindCorrespondingDims(*transpose_, &context_, options);
    (void)CompareReads(*computation_, *computation_, &context_, options, number);
  }
}

}  // namespace
}  // namespace xla_indexing::internal
