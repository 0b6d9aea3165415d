// The sums of the report about a module add up: by group, loop, module of the model and source, in the report
// and in what is written of it.

#include <cstdint>
#include <memory>

#include "gtest/gtest.h"
#include "tests/corpus/corpus_check.h"
#include "tests/testing/report_sums.h"
#include "xla_indexing/report/analysis/report_kernels.h"

namespace xla_indexing {
namespace {

class ReportCheck : public CorpusCheck {
 public:
  void CheckModule(const CorpusFile& /*file*/, const HloModule& module,
                   HloIndexers& /*indexers*/) override {
    // Steps decide what is exact, and not what adds up.
    ReportOptions options;
    options.max_steps = 0;
    const absl::StatusOr<ModuleReport> report = ReportKernels(module, options);
    ASSERT_TRUE(report.ok()) << report.status();
    ExpectReportAddsUp(*report);
    kernels_ += report->totals.kernels;
  }

  void CheckCounts(const Corpus& /*corpus*/) override { EXPECT_GT(kernels_, 0); }

 private:
  int64_t kernels_ = 0;
};

}  // namespace

std::unique_ptr<CorpusCheck> MakeReportCheck() { return std::make_unique<ReportCheck>(); }

}  // namespace xla_indexing
