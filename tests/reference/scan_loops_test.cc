// Scans whose carries stay, move, turn, spread, change places or wait for one another, executed step
// by step.

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/check_module.h"
#include "tests/reference/root_entries.h"
#include "tests/testing/random.h"
#include "xla_indexing/ops/direction.h"
#include "xla_indexing/ops/indexing_entry.h"

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

}  // namespace
}  // namespace xla_indexing::reference
