// What tests of calls that a caller got wrong have in common.
#ifndef XLA_INDEXING_TESTS_TESTING_MISUSE_H_
#define XLA_INDEXING_TESTS_TESTING_MISUSE_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing {

inline constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
inline constexpr int64_t kGreatest = std::numeric_limits<int64_t>::max();

class QueryMisuseTest : public ::testing::Test {
 protected:
  QueryMisuseTest() {
    auto module = ParseAndVerifyModule(R"(
      ENTRY e {
        p = f32[4,8] parameter(0)
        t = f32[8,4] transpose(p), dimensions={1,0}
        ROOT r = f32[8,4] add(t, t)
      })");
    EXPECT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
    computation_ = module_->entry_computation();
    transpose_ = computation_->root_instruction()->operand(0);
  }

  static void ExpectRefused(const absl::Status& status, absl::string_view message) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr(std::string(message)));
  }
  OperandIndexing Map(absl::string_view text) {
    return OperandIndexing::Create(ParseIndexingMap(text, &context_).value()).value();
  }
  OperandIndexing Unbounded(absl::string_view range) {
    return Map(absl::StrCat("(d0)[s0] -> (d0 + s0 * 4), domain: d0 in [0, 3], s0 in ", range));
  }
  static Shape Array(absl::Span<const int64_t> sizes) {
    return Shape::Array(ElementType::kF32, sizes);
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::unique_ptr<HloModule> module_;
  const HloComputation* computation_ = nullptr;
  const HloInstruction* transpose_ = nullptr;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_TESTING_MISUSE_H_
