// The sums of the report about a module add up: by group, loop, module of the model and source, in the report
// and in what is written of it. What is advised saves what is said.

#include <cstdint>
#include <memory>

#include "gtest/gtest.h"
#include "tests/corpus/corpus_check.h"
#include "tests/testing/check_advice.h"
#include "tests/testing/report_sums.h"
#include "xla_indexing/gpu/fusing/fuse_like_xla.h"
#include "xla_indexing/report/advice/report_module.h"

namespace xla_indexing {
namespace {

class ReportCheck : public CorpusCheck {
 public:
  void CheckModule(const CorpusFile& /*file*/, const HloModule& module,
                   HloIndexers& /*indexers*/) override {
    // Steps decide what is exact, and not what adds up.
    ReportOptions options;
    options.max_steps = 0;
    const absl::StatusOr<ReportedModule> reported =
        ReportWithCheckedAdvice(module, /*fuse=*/!HasFusions(module), options);
    ASSERT_TRUE(reported.ok()) << reported.status();
    ExpectReportAddsUp(reported->report);
    kernels_ += reported->report.totals.kernels;
  }

  void CheckCounts(const Corpus& /*corpus*/) override { EXPECT_GT(kernels_, 0); }

 private:
  int64_t kernels_ = 0;
};

}  // namespace

std::unique_ptr<CorpusCheck> MakeReportCheck() { return std::make_unique<ReportCheck>(); }

}  // namespace xla_indexing
