// That the sums of a report, and of what is written of it, add up to the whole.
#ifndef XLA_INDEXING_TESTS_TESTING_REPORT_SUMS_H_
#define XLA_INDEXING_TESTS_TESTING_REPORT_SUMS_H_

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "llvm/Support/JSON.h"
#include "xla_indexing/report/kernel_report.h"
#include "xla_indexing/report/saturated.h"
#include "xla_indexing/report/write/report_json.h"
#include "xla_indexing/report/write/report_text.h"

namespace xla_indexing {

inline ReportTotals SumOf(const std::vector<ReportTotals>& parts) {
  ReportTotals sum;
  for (const ReportTotals& part : parts) {
    sum.kernels += part.kernels;
    sum.bytes_read = sum.bytes_read.Add(part.bytes_read);
    sum.bytes_moved = sum.bytes_moved.Add(part.bytes_moved);
    sum.bytes_wasted = sum.bytes_wasted.Add(part.bytes_wasted);
    sum.traffic = internal::SaturatedSum(sum.traffic, part.traffic);
    sum.microseconds += part.microseconds;
  }
  return sum;
}

inline void ExpectAddsUp(const std::vector<ReportTotals>& parts, const ReportTotals& whole) {
  const ReportTotals sum = SumOf(parts);
  EXPECT_EQ(sum.bytes_read, whole.bytes_read);
  EXPECT_EQ(sum.bytes_moved, whole.bytes_moved);
  EXPECT_EQ(sum.bytes_wasted, whole.bytes_wasted);
  EXPECT_EQ(sum.traffic, whole.traffic);
  EXPECT_NEAR(sum.microseconds, whole.microseconds, 1e-9 * whole.microseconds);
}

inline std::vector<ReportTotals> TotalsOf(const std::vector<NamedTotals>& sums) {
  std::vector<ReportTotals> totals;
  for (const NamedTotals& sum : sums) totals.push_back(sum.totals);
  return totals;
}

// Shares in percent of the table that begins with a line which ends in `title`.
inline double SharesOf(const std::string& text, const std::string& title, int* rows) {
  double sum = 0;
  bool is_inside = false;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<std::string> words = absl::StrSplit(line, ' ', absl::SkipEmpty());
    if (absl::EndsWith(line, title)) {
      is_inside = true;
    } else if (is_inside && words.size() > 3 && words[0] == "and" && words[2] == "more") {
      ++*rows;
      return sum + std::strtod(words[4].c_str(), nullptr);
    } else if (is_inside && words.size() > 2 && absl::StartsWith(line, "  ") &&
               absl::EndsWith(words[2], "%") && !absl::StartsWith(line, "    not exact")) {
      ++*rows;
      sum += std::strtod(words[2].c_str(), nullptr);
    } else if (is_inside && (!absl::StartsWith(line, " ") || absl::EndsWith(line, "inside"))) {
      break;
    }
  }
  return sum;
}

inline void ExpectJsonAddsUp(const ModuleReport& report) {
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(ReportJson(report));
  ASSERT_TRUE(static_cast<bool>(json)) << llvm::toString(json.takeError());
  const llvm::json::Object& all = *json->getAsObject();
  const auto whole = *all.getObject("totals")->getNumber("microseconds");
  const llvm::json::Array& analyses = *all.getArray("analyses");
  double of_groups = 0;
  for (const llvm::json::Value& group : *all.getArray("groups")) {
    const llvm::json::Object& object = *group.getAsObject();
    const auto& analysis = analyses[static_cast<size_t>(*object.getInteger("analysis"))];
    if (analysis.getAsObject()->get("loop") != nullptr) continue;
    of_groups += *object.getObject("totals")->getNumber("microseconds");
  }
  double of_rows = 0;
  for (const llvm::json::Value& row : *all.getArray("kernels")) {
    const llvm::json::Object& object = *row.getAsObject();
    const auto& analysis = analyses[static_cast<size_t>(*object.getInteger("analysis"))];
    if (analysis.getAsObject()->get("loop") != nullptr) continue;
    of_rows += *analysis.getAsObject()->getNumber("microseconds") *
               static_cast<double>(*object.getInteger("counted_runs"));
  }
  EXPECT_NEAR(of_groups, whole, 1e-6 * whole);
  EXPECT_NEAR(of_rows, whole, 1e-6 * whole);
}

inline void ExpectReportAddsUp(const ModuleReport& report) {
  std::vector<ReportTotals> groups;
  std::vector<ReportTotals> rows;
  for (const KernelGroup& group : report.groups) {
    if (!report.analyses[group.analysis].loop) groups.push_back(group.totals);
  }
  for (const KernelRow& row : report.rows) {
    if (report.AnalysisOf(row).loop) continue;
    rows.emplace_back().Add(report.AnalysisOf(row), row.runs, row.counted_runs);
  }
  EXPECT_EQ(SumOf(groups).kernels, report.totals.kernels);
  EXPECT_EQ(static_cast<int64_t>(groups.size()), report.totals.distinct_kernels);
  ExpectAddsUp(rows, report.totals);
  ExpectAddsUp(groups, report.totals);
  ExpectAddsUp(TotalsOf(report.by_module), report.totals);
  ExpectAddsUp(TotalsOf(report.by_source), report.totals);
  if (report.totals.loops > 0) ExpectAddsUp(TotalsOf(report.by_loop), report.totals);
  ExpectJsonAddsUp(report);
  if (report.totals.microseconds == 0) return;
  const std::string text = ReportText(report);
  for (const std::string title : {" kernel", "by module", "by source"}) {
    int shown = 0;
    const double shares = SharesOf(text, title, &shown);
    if (shown == 0) continue;
    EXPECT_NEAR(shares, 100, 0.051 * shown) << title << "\n" << text;
  }
}

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_TESTING_REPORT_SUMS_H_
