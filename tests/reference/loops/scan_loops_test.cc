// Scans whose carries stay, move, turn, spread, change places or wait for one another, executed step
// by step, and judged by isl's transitive closure of a step (tests/map/isl_judge.h).

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/check_module.h"
#include "tests/reference/judge/root_entries.h"
#include "tests/testing/random.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#ifdef XLA_INDEXING_HAS_ISL
#include <iostream>
#include <optional>

#include "tests/map/isl_judge.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/map/text/text.h"
#endif

namespace xla_indexing::reference {
namespace {

// What one step makes of the slice x, f32[4], and the carries c and d, f32[4], and what it yields.
struct Step {
  std::string body;
  std::string output;
  std::string next_c;
  std::string next_d;
};

std::string ScanText(const Step& step, int64_t steps, int64_t dimension, bool is_reverse) {
  const std::string array =
      dimension == 0 ? absl::StrCat("f32[", steps, ",4]") : absl::StrCat("f32[4,", steps, "]");
  const std::string state = "(f32[4], f32[4], f32[4])";
  return absl::StrCat(
      "HloModule m\nsum {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n",
      " ROOT s = f32[] add(a, b)\n}\nstep {\n x = f32[4] parameter(0)\n c = f32[4] parameter(1)\n",
      " d = f32[4] parameter(2)\n zero = f32[] constant(0)\n", step.body, "\n ROOT t = ", state,
      " tuple(", step.output, ", ", step.next_c, ", ", step.next_d, ")\n}\nENTRY e {\n x = ", array,
      " parameter(0)\n c = f32[4] parameter(1)\n d = f32[4] parameter(2)\n ROOT s = (", array,
      ", f32[4], f32[4]) scan(x, c, d), dimensions={", dimension, "}, num_carries=2",
      is_reverse ? ", is_reverse=true" : "", ", to_apply=step\n}\n");
}

constexpr char kBodies[] =
    " r = f32[4] reverse(c), dimensions={0}\n"
    " a = f32[1] slice(c), slice={[0:1]}\n b = f32[3] slice(c), slice={[1:4]}\n"
    " roll = f32[4] concatenate(b, a), dimensions={0}\n"
    " shift = f32[4] pad(b, zero), padding=0_1\n"
    " stencil = f32[4] reduce-window(c, zero), window={size=3 pad=1_1}, to_apply=sum\n"
    " s = f32[] reduce(c, zero), dimensions={0}, to_apply=sum\n"
    " all = f32[4] broadcast(s), dimensions={}\n"
    " xc = f32[4] add(x, c)\n xd = f32[4] add(x, d)\n cd = f32[4] add(c, d)\n"
    " xr = f32[4] add(x, r)\n xroll = f32[4] add(x, roll)\n xshift = f32[4] add(x, shift)\n";

const std::vector<std::string>& Values() {
  static const auto& values =
      *new std::vector<std::string>{"x",  "c",  "d",  "r",  "roll",  "shift",  "stencil", "all",
                                    "xc", "xd", "cd", "xr", "xroll", "xshift", "zeros"};
  return values;
}

// Checks a scan and adds to the numbers of its entries, and of those that are exact.
void CheckScan(const std::string& text, int* exact, int* all) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::Status status = CheckModule(text, /*seed=*/0, &context);
  ASSERT_TRUE(status.ok()) << status;
  ForEachEntryOfRoot(text, [&](const IndexingEntry& entry) {
    ++*all;
    if (entry.indexing.label().IsExact()) ++*exact;
  });
}

std::string Body() {
  return absl::StrCat(kBodies, " zeros = f32[4] broadcast(zero), dimensions={}\n");
}

// Every value as what a carry becomes, and as what is yielded.
TEST(ScanLoopsTest, OfOneCarryAreExactHoweverManyStepsTheyHave) {
  for (const std::string& next : Values()) {
    for (const int64_t steps : {0, 1, 2, 17, 64}) {
      int exact = 0;
      int all = 0;
      const bool is_reverse = next.size() % 2 == 0;
      CheckScan(ScanText({Body(), "xc", next, "d"}, steps, steps % 3 == 0 ? 0 : 1, is_reverse),
                &exact, &all);
      EXPECT_EQ(exact, all) << next << ", " << steps << " steps";
    }
  }
}

TEST(ScanLoopsTest, OfManyStepsAreExact) {
  for (const std::string next : {"x", "roll"}) {
    int exact = 0;
    int all = 0;
    CheckScan(ScanText({Body(), "c", next, "d"}, /*steps=*/300, /*dimension=*/0, true), &exact,
              &all);
    EXPECT_EQ(exact, all) << next;
  }
}

TEST(ScanLoopsTest, OfTwoCarriesAgreeWithTheReference) {
  Random random(1);
  int exact = 0;
  int all = 0;
  const auto any = [&] {
    return Values()[random.Between(0, static_cast<int64_t>(Values().size()) - 1)];
  };
  for (int k = 0; k < 60; ++k) {
    const int64_t steps = std::vector<int64_t>{0, 1, 2, 3, 5, 17}[random.Between(0, 5)];
    CheckScan(ScanText({Body(), any(), any(), any()}, steps, random.Between(0, 1),
                       random.Between(0, 1) == 0),
              &exact, &all);
  }
  EXPECT_EQ(exact, all);
}

#ifdef XLA_INDEXING_HAS_ISL

// The scan of ScanText() as isl sees it. A place is (leaf, index, element): leaf 0, 1 or 2 is what the
// step at an index of the scanned dimension yields or carries on, and leaf 3, 4 or 5 what the scan is
// given, the carries at the index of the first step. Sets have a place and one that it is computed from.
class ScanByIsl {
 public:
  ScanByIsl(const std::string& text, int64_t steps, int64_t dimension, bool is_reverse)
      : module_(*ParseAndVerifyModule(text)),
        scan_(*module_->entry_computation()->root_instruction()),
        dimension_(static_cast<int>(dimension)),
        all_(absl::StrCat("[0, ", steps - 1, "]")),
        first_(is_reverse ? steps - 1 : 0),
        last_(is_reverse ? 0 : steps - 1),
        previous_(is_reverse ? "d1 + 1" : "d1 - 1") {}

  // Compares with the answers in a direction; returns whether isl found an exact closure.
  bool Compare(Direction direction) {
    bool is_exact = false;
    const IslSet closure = OneStep().TransitiveClosure(&is_exact);
    std::optional<IslSet> answers;
    std::optional<IslSet> expected;
    for (int64_t output = 0; output < 3; ++output) {
      for (int64_t operand = 0; operand < 3; ++operand) {
        AddTo(&expected, closure.Intersect(EndsOf(output, operand)));
      }
    }
    const SharedIndexing entries = *indexer_.Index(scan_, direction);
    for (const IndexingEntry& entry : *entries) {
      EXPECT_TRUE(entry.indexing.label().IsExact());
      const bool is_forward = direction == Direction::kInputToOutput;
      const std::vector<int> output = entry.output_leaf == 0 ? Array(0) : std::vector<int>{2};
      const std::vector<int> operand = entry.operand == 0 ? Array(3) : std::vector<int>{5};
      for (const OperandIndexing& map : entry.indexing) {
        const IslSet graph =
            Graph(map.map(), is_forward ? operand : output, is_forward ? output : operand);
        AddTo(&answers, graph.Intersect(EndsOf(entry.output_leaf, entry.operand)));
      }
    }
    if (!answers) return is_exact && expected->IsEmpty() == true;
    EXPECT_NE(answers->IsSubsetOf(*expected), false);
    if (!is_exact) return false;
    const std::optional<bool> is_same = answers->Equals(*expected);
    EXPECT_NE(is_same, false);
    return is_same.has_value();
  }

 private:
  static void AddTo(std::optional<IslSet>* sum, const IslSet& set) {
    *sum = *sum ? (*sum)->Union(set) : set;
  }
  // Where the two indices of a scanned array lie, in a place that begins there.
  std::vector<int> Array(int begin) const {
    if (dimension_ == 0) return {begin + 1, begin + 2};
    return {begin + 2, begin + 1};
  }
  // The pairs of places of which a map says that these coordinates depend on each other.
  IslSet Graph(const IndexingMap& map, std::vector<int> dims, std::vector<int> results) {
    IslJudge::Places places;
    places.num_dimensions = 6 + map.num_ranges();
    for (int i = 0; i < map.num_ranges(); ++i) places.ranges.push_back(6 + i);
    places.dims = std::move(dims);
    places.results = std::move(results);
    return judge_.Graph(map, places).ProjectOnto({0, 1, 2, 3, 4, 5});
  }
  IslSet Graph(const std::string& text) {
    return Graph(*ParseIndexingMap(text, &context_), {0, 1}, {3, 4});
  }
  // From what the scan yields to what it is given.
  IslSet EndsOf(int64_t output, int64_t operand) {
    const auto point = [](int64_t index) { return absl::StrCat("[", index, ", ", index, "]"); };
    return Graph(absl::StrCat("(d0, d1)[s0] -> (", operand + 3, ", s0), domain: d0 in ",
                              point(output), ", d1 in ", output == 0 ? all_ : point(last_),
                              ", s0 in ", operand == 0 ? all_ : point(first_)));
  }
  // From what a step yields to the slice that it reads, and to what the step before carries on or the
  // scan begins with.
  IslSet OneStep() {
    std::optional<IslSet> all;
    const SharedIndexing body = *indexer_.Index(*scan_.to_apply(), Direction::kOutputToInput);
    for (const IndexingEntry& entry : *body) {
      const std::string from =
          absl::StrCat("d0 in [", entry.output_leaf, ", ", entry.output_leaf, "], d1 in ", all_);
      const std::string here =
          absl::StrCat("(d0, d1) -> (", entry.operand + 3, ", d1), domain: ", from);
      for (const OperandIndexing& map : entry.indexing) {
        const IslSet graph = Graph(map.map(), {2}, {5});
        if (entry.operand == 0) {
          AddTo(&all, graph.Intersect(Graph(here)));
          continue;
        }
        AddTo(&all, graph.Intersect(Graph(absl::StrCat(here, ", d1 - ", first_, " in [0, 0]"))));
        AddTo(&all, graph.Intersect(
                        Graph(absl::StrCat("(d0, d1) -> (", entry.operand, ", ", previous_,
                                           "), domain: ", from, ", ", previous_, " in ", all_))));
      }
    }
    return *all;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  const std::unique_ptr<HloModule> module_;
  const HloInstruction& scan_;
  HloIndexer indexer_{&context_};
  IslJudge judge_;
  const int dimension_;
  const std::string all_;
  const int64_t first_;
  const int64_t last_;
  const std::string previous_;
};

TEST(ScanLoopsTest, AreTheClosuresThatIslFinds) {
  int compared = 0;
  int all = 0;
  for (const std::string& next : Values()) {
    for (const int64_t steps : {1, 2, 17, 300}) {
      const int64_t dimension = all % 2;
      const bool is_reverse = all % 3 == 0;
      const std::string text = ScanText({Body(), "xc", next, "d"}, steps, dimension, is_reverse);
      for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
        SCOPED_TRACE(text);
        ++all;
        compared += ScanByIsl(text, steps, dimension, is_reverse).Compare(direction) ? 1 : 0;
      }
    }
  }
  std::cout << compared << " of " << all << " scans compared with exact closures of isl\n";
  EXPECT_GT(2 * compared, all);
}

#endif

}  // namespace
}  // namespace xla_indexing::reference
