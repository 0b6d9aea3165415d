// A report about a module, each advice of which is checked: the module in which it is done takes as much less
// as is said, in a report of its own.
#ifndef XLA_INDEXING_TESTS_TESTING_CHECK_ADVICE_H_
#define XLA_INDEXING_TESTS_TESTING_CHECK_ADVICE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/report/advice/report_module.h"
#include "xla_indexing/report/analysis/report_kernels.h"
#include "xla_indexing/report/kernel_report.h"

namespace xla_indexing {

inline absl::StatusOr<ReportedModule> ReportWithCheckedAdvice(const HloModule& module, bool fuse,
                                                              const ReportOptions& options = {}) {
  struct Checked {
    Advice advice;
    double microseconds;
    int64_t traffic;
    double unsure;
  };
  // How far bounds of bytes are apart.
  const auto unsure_in = [](const ReportTotals& totals) {
    double sum = 0;
    for (const Interval& bytes : {totals.bytes_moved, totals.bytes_read, totals.bytes_written}) {
      sum += bytes.IsFinite() ? static_cast<double>(bytes.upper() - bytes.lower())
                              : std::numeric_limits<double>::infinity();
    }
    return sum;
  };
  std::vector<Checked> all;
  ModuleReportOptions how;
  how.fuse = fuse;
  how.on_advice = [&](const Advice& advice, const HloModule& changed) {
    const auto report = ReportKernels(changed, options);
    ASSERT_TRUE(report.ok()) << report.status();
    all.push_back(
        {advice, report->totals.microseconds, report->totals.traffic, unsure_in(report->totals)});
  };
  absl::StatusOr<ReportedModule> reported = ReportModule(module, how, options);
  if (!reported.ok()) return reported;
  const ReportTotals& before = reported->report.totals;
  EXPECT_EQ(all.size(), reported->report.advice.size());
  const double unsure = unsure_in(before);
  for (const Checked& checked : all) {
    // A module's steps are shared among its kernels: a count that stops at its share has other bounds in
    // another module, of which traffic is the lower one.
    EXPECT_NEAR(static_cast<double>(before.traffic - checked.traffic),
                static_cast<double>(checked.advice.traffic), unsure + checked.unsure)
        << checked.advice.text;
    const double saved = before.microseconds - checked.microseconds;
    EXPECT_NEAR(saved, checked.advice.microseconds, 1e-3 * before.microseconds)
        << checked.advice.text;
    EXPECT_TRUE(checked.advice.microseconds > 0 || checked.advice.memory > 0);
  }
  for (size_t i = 1; i < reported->report.advice.size(); ++i) {
    EXPECT_GE(reported->report.advice[i - 1].microseconds, reported->report.advice[i].microseconds);
  }
  return reported;
}

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_TESTING_CHECK_ADVICE_H_
