#include "xla_indexing/map/text/isl_text.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "llvm/ADT/ArrayRef.h"
#include "tests/map/sets/small_maps.h"
#include "xla_indexing/map/indexing_map.h"

#ifdef XLA_INDEXING_HAS_ISL
#include <isl/ctx.h>
#include <isl/map.h>
#include <isl/point.h>
#include <isl/set.h>
#include <isl/val.h>
#endif

namespace xla_indexing {
namespace {

class IslTextTest : public MapTextFixture {
 protected:
  std::string Text(absl::string_view map) { return ToIslText(Parse(map)); }
};

TEST_F(IslTextTest, WritesResultsIntervalsAndConstraints) {
  EXPECT_EQ(
      Text("(d0, d1) -> (d1, d0 * 2 - 3), domain: d0 in [0, 4], d1 in [-2, inf]"),
      "{ [d0, d1] -> [r0, r1] : r0 = d1 and r1 = ((d0*2) + -3) and 0 <= d0 <= 4 and -2 <= d1 }");
  EXPECT_EQ(Text("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [-inf, 9], d0 mod 2 in [0, 0]"),
            "{ [d0] -> [r0, r1] : r0 = floor(d0/8) and r1 = (d0 mod 8) and d0 <= 9 and "
            "0 <= (d0 mod 2) <= 0 }");
}

TEST_F(IslTextTest, BindsRangeVariablesAndLeavesRuntimeVariablesFree) {
  EXPECT_EQ(Text("(d0)[k]{row} -> (row, d0 + k), domain: d0 in [0, 4], k in [0, 2], row in [0, 9]"),
            "[rt0] -> { [d0] -> [r0, r1] : exists (s0 : r0 = rt0 and r1 = (d0 + s0) and "
            "0 <= d0 <= 4 and 0 <= s0 <= 2 and 0 <= rt0 <= 9) }");
}

TEST_F(IslTextTest, WritesWhatIsEmptyAndWhatHasNothing) {
  EXPECT_EQ(Text("() -> ()"), "{ [] -> [] }");
  EXPECT_EQ(Text("()[s0] -> (), domain: s0 in [-inf, inf]"), "{ [] -> [] : exists (s0 : 0 = 0) }");
  EXPECT_EQ(Text("(d0) -> (), domain: d0 in [1, 0]"), "{ [d0] -> [] : 1 = 0 }");
}

#ifdef XLA_INDEXING_HAS_ISL

// All pairs of a map without runtime variables, of a domain of finite intervals.
std::set<std::vector<int64_t>> PairsOf(const IndexingMap& map) {
  std::set<std::vector<int64_t>> pairs;
  ForAllPoints(map, [&](llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t>,
                        llvm::ArrayRef<int64_t> results) { pairs.insert(Join(dims, results)); });
  return pairs;
}

isl_stat AddPoint(isl_point* point, void* pairs) {
  std::vector<int64_t> coordinates;
  isl_set* const set = isl_set_from_point(isl_point_copy(point));
  const auto size = static_cast<int>(isl_set_dim(set, isl_dim_set));
  isl_set_free(set);
  for (int i = 0; i < size; ++i) {
    isl_val* const value = isl_point_get_coordinate_val(point, isl_dim_set, i);
    coordinates.push_back(isl_val_get_num_si(value));
    isl_val_free(value);
  }
  isl_point_free(point);
  static_cast<std::set<std::vector<int64_t>>*>(pairs)->insert(coordinates);
  return isl_stat_ok;
}

// What isl reads in its text.
std::set<std::vector<int64_t>> PairsAsIslReads(const std::string& text) {
  isl_ctx* const context = isl_ctx_alloc();
  isl_map* const map = isl_map_read_from_str(context, text.c_str());
  EXPECT_NE(map, nullptr) << text;
  std::set<std::vector<int64_t>> pairs;
  isl_set* const set = isl_set_flatten(isl_map_wrap(map));
  isl_set_foreach_point(set, AddPoint, &pairs);
  isl_set_free(set);
  isl_ctx_free(context);
  return pairs;
}

TEST_F(IslTextTest, IsReadByIslAsTheSameRelation) {
  for (const absl::string_view text : {
           "(d0, d1) -> (d1, d0), domain: d0 in [0, 3], d1 in [0, 4]",
           "(d0) -> (d0 floordiv 3, d0 mod 3, d0 * -2 + 7), domain: d0 in [-7, 9]",
           "(d0) -> ((d0 - 5) floordiv 4, (d0 - 5) mod 8), domain: d0 in [-9, 9], d0 mod 2 in [1, "
           "1]",
           "(d0)[s0, s1] -> (d0 * 2 + s0, s1), domain: d0 in [0, 4], s0 in [0, 2], s1 in [1, 2], "
           "d0 + s1 in [2, 5]",
           "(d0, d1) -> (((d0 * 5 + d1) mod 7) floordiv 2, ((d0 - d1) floordiv 3) mod 4), "
           "domain: d0 in [0, 6], d1 in [0, 4]",
           "()[s0] -> (s0), domain: s0 in [0, 3]",
           "(d0) -> (d0), domain: d0 in [3, 2]",
       }) {
    const IndexingMap map = Parse(text);
    EXPECT_EQ(PairsAsIslReads(ToIslText(map)), PairsOf(map)) << text;
  }
}

#endif  // XLA_INDEXING_HAS_ISL

}  // namespace
}  // namespace xla_indexing
