#include "xla_indexing/query/in_place/order/permutation_conflict.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing::internal {
namespace {

IndexingMap MapOf(const std::string& text, mlir::MLIRContext* context) {
  auto map = ParseIndexingMap(text, context);
  EXPECT_TRUE(map.ok()) << map.status();
  return *std::move(map);
}

// Element i of an array of n reads element (a * i + b) mod n, for all a that are one-to-one, upwards,
// downwards and in any order.
TEST(PermutationConflict, IsFoundForAllSmallPermutationsButTheIdentity) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const std::vector<LoopOrder> orders = {{{0, false}}, {{0, true}}, {}};
  for (int64_t n = 1; n <= 12; ++n) {
    const std::string domain = absl::StrCat(", domain: d0 in [0, ", n - 1, "]");
    const IndexingMap place = MapOf(absl::StrCat("(d0) -> (d0)", domain), &context);
    for (int64_t a = 0; a < n; ++a) {
      for (int64_t b = 0; b < n; ++b) {
        std::vector<bool> is_read(n, false);
        bool is_identity = true;
        for (int64_t i = 0; i < n; ++i) {
          is_read[(a * i + b) % n] = true;
          is_identity &= (a * i + b) % n == i;
        }
        if (absl::c_linear_search(is_read, false)) continue;
        const std::string text =
            absl::StrCat("(d0) -> ((d0 * ", a, " + ", b, ") mod ", n, ")", domain);
        SCOPED_TRACE(text);
        const IndexingMap reads = MapOf(text, &context);
        for (const LoopOrder& order : orders) {
          StepBudget budget(1000);
          const PermutationConflict found =
              FindPermutationConflict(reads, place, {n}, order, &budget);
          ASSERT_EQ(found.has, is_identity ? Answer::kNo : Answer::kYes);
          if (is_identity) continue;
          const int64_t reader = found.reader[0];
          EXPECT_EQ(found.operand[0], (a * reader + b) % n);
          EXPECT_EQ(found.writer, found.operand);
          EXPECT_NE(found.writer[0], reader);
          if (!order.empty()) {
            EXPECT_EQ(found.writer[0] > reader, order[0].is_descending);
          }
        }
      }
    }
  }
}

TEST(PermutationConflict, IsUndecidedWithoutStepsAndForLargeArraysThatMayStayInPlace) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const IndexingMap identity = MapOf("(d0) -> (d0), domain: d0 in [0, 99999]", &context);
  const IndexingMap reversed = MapOf("(d0) -> (99999 - d0), domain: d0 in [0, 99999]", &context);
  StepBudget budget(10000);
  EXPECT_EQ(FindPermutationConflict(identity, identity, {100000}, {}, &budget).has,
            Answer::kUndecided);
  EXPECT_EQ(FindPermutationConflict(reversed, identity, {100000}, {}, &budget).has, Answer::kYes);
  EXPECT_EQ(FindPermutationConflict(reversed, reversed, {100000}, {}, &budget).has,
            Answer::kUndecided);
  StepBudget nothing(0);
  EXPECT_EQ(FindPermutationConflict(reversed, identity, {100000}, {}, &nothing).has,
            Answer::kUndecided);
}

}  // namespace
}  // namespace xla_indexing::internal
