#include "xla_indexing/ops/answers/operand_indexing_set.h"

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing {
namespace {

// Maps whose texts part in the lists of variables, at the end of a result, in a result, and in the
// domain.
constexpr absl::string_view kMaps[] = {
    "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 9]",
    "(d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 9], d1 in [0, 9], s0 in [0, 4]",
    "(d0, d1)[s0, s1] -> (s0, s1), domain: d0 in [0, 9], d1 in [0, 9], s0 in [0, 2], s1 in [0, 3]",
    "(d0, d1) -> (d0 + 2, d1), domain: d0 in [0, 9], d1 in [0, 9]",
    "(d0, d1) -> (d0, d1 * 2), domain: d0 in [0, 9], d1 in [0, 9]",
    "(d0, d1) -> (d0 mod 3, d1), domain: d0 in [0, 9], d1 in [0, 9]",
    "(d0, d1) -> ((d0 + d1) mod 3, d1), domain: d0 in [0, 9], d1 in [0, 9]",
    "(d0, d1) -> (d0, 5), domain: d0 in [2, 4], d1 in [0, 9]",
    "(d0, d1) -> (d0, 5), domain: d0 in [20, 40], d1 in [0, 9]",
    "(i, d1) -> (i, d1 * 3), domain: i in [0, 9], d1 in [0, 9]",
};

void ExpectInOrder(const OperandIndexingSet& set, size_t size) {
  ASSERT_EQ(set.size(), size);
  for (size_t i = 1; i < size; ++i) {
    EXPECT_LT(set.maps()[i - 1].ToString(), set.maps()[i].ToString());
  }
}

TEST(OrderOfMapsTest, SimplifiedMapsAreInTheOrderOfTheirTexts) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::vector<OperandIndexing> maps;
  for (const absl::string_view text : kMaps) {
    const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context);
    ASSERT_TRUE(map.ok()) << map.status();
    maps.emplace_back(kPartsFit, *map);
  }
  OperandIndexingSet all;
  for (const OperandIndexing& a : maps) {
    all.Add(a);
    for (const OperandIndexing& b : maps) {
      if (&a == &b) continue;
      OperandIndexingSet two;
      two.Add(a);
      two.Add(b);
      two.Simplify();
      ExpectInOrder(two, 2);
      for (const OperandIndexing& c : maps) {
        if (&c == &a || &c == &b) continue;
        OperandIndexingSet three;
        for (const OperandIndexing* map : {&a, &b, &c}) three.Add(*map);
        three.Simplify();
        ExpectInOrder(three, 3);
      }
    }
  }
  all.Simplify();
  ExpectInOrder(all, maps.size());
}

}  // namespace
}  // namespace xla_indexing
