// A module in which something is done that a report advises computes what it did: on random
// modules, every element of the result has the value that it has in the module as it was, and
// depends on no other elements of the parameters; on fewer where indices are known.
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "tests/reference/execute/can_execute.h"
#include "tests/reference/judge/dependence.h"
#include "tests/reference/judge/module_results.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/gpu/fusing/fuse_like_xla.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/report/advice/report_module.h"

namespace xla_indexing::reference {
namespace {

// Counts the advice by kind.
void CheckAdvice(const HloModule& module, uint64_t seed, std::map<std::string, int>* checked) {
  if (module.replica_count() * module.num_partitions() > 1 || !CanExecute(module).ok()) return;
  const std::vector<Value> arguments = RandomArguments(*module.entry_computation(), seed);
  const auto before = DependenceOfComputation(*module.entry_computation(), Pointers(arguments), 0,
                                              kWithValuesOfSources);
  if (!before.ok()) return;
  ModuleReportOptions how;
  how.fuse = false;
  how.on_advice = [&](const Advice& advice, const HloModule& changed) {
    const auto after = DependenceOfComputation(*changed.entry_computation(), Pointers(arguments), 0,
                                               kWithValuesOfSources);
    ASSERT_TRUE(after.ok()) << after.status() << "\n" << changed.ToString();
    SCOPED_TRACE(absl::StrCat(advice.text, "\n", module.ToString(), changed.ToString()));
    for (const auto& [leaves, relation] : *after) {
      EXPECT_TRUE(absl::c_includes(before->at(leaves), relation));
    }
    ++(*checked)[advice.kind];
    // A scatter that is written with another operation has other arbitrary values.
    if (advice.kind == "index by a slice") return;
    const auto was = ResultOfModule(module, arguments);
    const auto is = ResultOfModule(changed, arguments);
    ASSERT_TRUE(was.ok() && is.ok());
    EXPECT_TRUE(HaveSameValues(*was, *is));
  };
  const auto reported = ReportModule(module, how);
  ASSERT_TRUE(reported.ok()) << reported.status();
}

// Kernels that read the parameters and one another, several of them the same array.
std::string RandomKernels(uint64_t seed) {
  Random random(seed);
  constexpr const char* kUnary[] = {"negate(p)", "transpose(p), dimensions={1,0}",
                                    "reverse(p), dimensions={0}"};
  constexpr const char* kBinary[] = {"add(p, q)", "subtract(q, p)"};
  const int kernels = random.Between(2, 6);
  std::string bodies;
  std::string entry = "ENTRY e {\n  v0 = s32[4,4] parameter(0)\n  v1 = s32[4,4] parameter(1)\n";
  std::vector<std::string> results;
  for (int i = 0; i < kernels; ++i) {
    const auto of = [&] { return absl::StrCat("v", random.Between(0, i + 1)); };
    const bool is_unary = random.OneIn(2);
    absl::StrAppend(&bodies, "f", i, " { p = s32[4,4] parameter(0)  ",
                    is_unary ? "" : "q = s32[4,4] parameter(1)  ", "ROOT r = s32[4,4] ",
                    is_unary ? random.Pick(kUnary) : random.Pick(kBinary), " }\n");
    absl::StrAppend(&entry, "  v", i + 2, " = s32[4,4] fusion(", of(),
                    is_unary ? "" : absl::StrCat(", ", of()), "), kind=kLoop, calls=f", i, "\n");
    // Others are read by kernels alone.
    if (i + 1 == kernels || random.OneIn(2)) results.push_back(absl::StrCat("v", i + 2));
  }
  const std::vector<std::string> shapes(results.size(), "s32[4,4]");
  return absl::StrCat("HloModule m", random.OneIn(2) ? ", is_scheduled=true" : "", "\n", bodies,
                      entry, "  ROOT t = (", absl::StrJoin(shapes, ", "), ") tuple(",
                      absl::StrJoin(results, ", "), ")\n}\n");
}

TEST(AdviceReferenceTest, ModulesComputeWhatTheyDid) {
  const int64_t count = Cases(2000);
  std::map<std::string, int> checked;
  const auto check = [&](const std::string& text, uint64_t seed, bool fuses) {
    const auto module = ParseAndVerifyModule(text);
    ASSERT_TRUE(module.ok()) << module.status() << "\n" << text;
    CheckAdvice(**module, seed, &checked);
    if (!fuses) return;
    const auto fused = FuseLikeXla(**module);
    ASSERT_TRUE(fused.ok()) << fused.status();
    CheckAdvice(**fused, seed, &checked);
  };
  for (int64_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(seed);
    check(RandomFusionModule(seed), seed, /*fuses=*/true);
    check(RandomKernels(seed), seed, /*fuses=*/false);
    if (HasFailure()) return;
  }
  for (const auto& [kind, times] : checked) std::printf("%s: %d times\n", kind.c_str(), times);
  EXPECT_GT(checked["one kernel"] * 10, count);
}

}  // namespace
}  // namespace xla_indexing::reference
