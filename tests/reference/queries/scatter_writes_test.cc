// How many elements a scatter changes that is written into the buffer of its operand, against the
// execution of small scatters with all values of their indices.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/execute/value.h"
#include "tests/reference/judge/dependence.h"
#include "tests/reference/judge/in_place_simulation.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/query/in_place/in_place.h"

namespace xla_indexing::reference {
namespace {

// A scatter of `vectors` windows into an array, at indices that are parameters, perhaps clamped; of
// `rank` 1 or 2, with one or both dimensions indexed.
struct RandomScatter {
  std::string text;
  int64_t indices = 0;  // how many there are
  int64_t least = 0;    // values of an index that are tried
  int64_t most = 0;
};

RandomScatter MakeRandomScatter(uint64_t seed) {
  Random random(seed);
  const int64_t rank = random.Between(1, 2);
  std::vector<int64_t> sizes;
  std::vector<int64_t> window;
  for (int64_t i = 0; i < rank; ++i) {
    sizes.push_back(random.Between(1, 4));
    window.push_back(random.Between(1, sizes.back()));
  }
  const int64_t indexed = random.Between(1, rank);
  const int64_t vectors = random.Between(0, indexed == 1 ? 3 : 2);
  const bool is_clamped = random.OneIn(3);
  std::string array = "f32[";
  std::string updates = absl::StrCat("f32[", vectors);
  std::string window_dims;
  std::string map;
  for (int64_t i = 0; i < rank; ++i) {
    absl::StrAppend(&array, i == 0 ? "" : ",", sizes[i]);
    absl::StrAppend(&updates, ",", window[i]);
    absl::StrAppend(&window_dims, i == 0 ? "" : ",", i + 1);
    if (i < indexed) absl::StrAppend(&map, i == 0 ? "" : ",", i);
  }
  array += "]";
  updates += "]";
  const std::string indices = absl::StrCat("s32[", vectors, ",", indexed, "]");
  const std::vector<std::string> combiners = {"add", "assign", "keep"};
  RandomScatter scatter;
  scatter.indices = vectors * indexed;
  scatter.least = is_clamped ? 0 : -1;
  scatter.most = *std::max_element(sizes.begin(), sizes.end());
  // Where every index is clamped to 0 all windows are inside.
  const std::string used = is_clamped
                               ? absl::StrCat("low = s32[] constant(0)\n  lows = ", indices,
                                              " broadcast(low), dimensions={}\n  c = ", indices,
                                              " clamp(lows, i, lows)\n")
                               : "";
  scatter.text =
      absl::StrCat(R"(HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
assign { a = f32[] parameter(0) ROOT b = f32[] parameter(1) }
keep { ROOT a = f32[] parameter(0) b = f32[] parameter(1) }
ENTRY e {
  x = )",
                   array, " parameter(0)\n  i = ", indices, " parameter(1)\n  u = ", updates,
                   " parameter(2)\n  ", used, "ROOT s = ", array, " scatter(x, ",
                   is_clamped ? "c" : "i", ", u), update_window_dims={", window_dims,
                   "}, inserted_window_dims={}, scatter_dims_to_operand_dims={", map,
                   "}, index_vector_dim=1, to_apply=", random.Pick(combiners), "\n}\n");
  return scatter;
}

// The least and the greatest number of elements that change.
Interval ChangesOf(const HloComputation& entry, const RandomScatter& scatter) {
  std::vector<Value> arguments = RandomArguments(entry, 1);
  std::vector<int64_t> values(scatter.indices, scatter.least);
  Interval changes = Interval::Empty();
  while (true) {
    for (size_t k = 0; k < values.size(); ++k) arguments[1][0].elements()[k].value = values[k];
    const auto execution = Execute(entry, Pointers(arguments), 1);
    const auto dependence = DependenceOfComputation(entry, Pointers(arguments), 1);
    EXPECT_TRUE(execution.ok() && dependence.ok());
    const auto truth = InPlaceTruthOf(entry, *execution, *dependence, {});
    EXPECT_TRUE(truth.ok()) << truth.status();
    if (!truth.ok()) return changes;
    const int64_t count = std::count(truth->changes.begin(), truth->changes.end(), true);
    changes = changes.Union(Interval::Point(count));
    size_t k = 0;
    for (; k < values.size() && values[k] == scatter.most; ++k) values[k] = scatter.least;
    if (k == values.size()) return changes;
    ++values[k];
  }
}

TEST(RandomScatterWritesTest, AreBetweenTheLeastAndTheMostOfAllIndices) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const int count = Cases(1000);
  int tight_least = 0;
  int tight_most = 0;
  for (int seed = 0; seed < count; ++seed) {
    const RandomScatter scatter = MakeRandomScatter(seed);
    SCOPED_TRACE(scatter.text);
    const auto module = ParseAndVerifyModule(scatter.text);
    ASSERT_TRUE(module.ok()) << module.status();
    const HloComputation& entry = *(*module)->entry_computation();
    auto analysis = InPlaceAnalysis::OfComputation(entry, &context);
    ASSERT_TRUE(analysis.ok()) << analysis.status();
    const auto written = analysis->Written({});
    ASSERT_TRUE(written.ok()) << written.status();
    const Interval changes = ChangesOf(entry, scatter);
    ASSERT_TRUE(changes.IsSubsetOf(written->count))
        << changes.ToString() << " of " << written->count.ToString();
    tight_least += changes.lower() == written->count.lower() ? 1 : 0;
    tight_most += changes.upper() == written->count.upper() ? 1 : 0;
  }
  std::cout << count << " scatters: the least is attained by " << tight_least << ", the most by "
            << tight_most << "\n";
  EXPECT_GT(tight_least, count * 3 / 4);
  EXPECT_GT(tight_most, count * 9 / 10);
}

}  // namespace
}  // namespace xla_indexing::reference
