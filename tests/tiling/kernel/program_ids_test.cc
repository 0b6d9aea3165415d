#include "xla_indexing/tiling/kernel/program_ids.h"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "absl/status/status.h"
#include "gtest/gtest.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/MLIRContext.h"

namespace xla_indexing {
namespace {

using Numbers = std::vector<int64_t>;

class ProgramIdsTest : public ::testing::Test {
 protected:
  // The tile of each program, from the maps; the inverse is checked against it.
  std::vector<Numbers> TilesOf(const Numbers& num_tiles, const ProgramOrder& order) {
    const auto ids = NumberPrograms(num_tiles, order, &context_);
    EXPECT_TRUE(ids.ok()) << ids.status();
    if (!ids.ok()) return {};
    std::vector<Numbers> tiles;
    for (int64_t p = 0; p < ids->num_programs; ++p) {
      int found = 0;
      for (const IndexingMap& map : ids->tile_of_program) {
        if (!*map.Contains({p}, {})) continue;
        ++found;
        const auto tile = *map.Evaluate({p}, {});
        tiles.emplace_back(tile.begin(), tile.end());
        int back = 0;
        for (const IndexingMap& inverse : ids->program_of_tile) {
          if (!*inverse.Contains(tile, {})) continue;
          ++back;
          EXPECT_EQ((*inverse.Evaluate(tile, {}))[0], p) << inverse.ToString();
        }
        EXPECT_EQ(back, 1);
      }
      EXPECT_EQ(found, 1) << p;
    }
    return tiles;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

TEST_F(ProgramIdsTest, RowMajorOrderVariesTheLastDimensionFastest) {
  EXPECT_EQ(TilesOf({2, 3}, {}),
            (std::vector<Numbers>{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}}));
  EXPECT_EQ(TilesOf({2, 3}, {{1, 0}, 1}),
            (std::vector<Numbers>{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {0, 2}, {1, 2}}));
  EXPECT_EQ(TilesOf({}, {}), (std::vector<Numbers>{{}}));
  EXPECT_EQ(TilesOf({3}, {}), (std::vector<Numbers>{{0}, {1}, {2}}));
}

TEST_F(ProgramIdsTest, GroupsGoColumnByColumnThroughTheirRows) {
  // The table in the header.
  EXPECT_EQ(TilesOf({5, 2}, {{}, 2}),
            (std::vector<Numbers>{
                {0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {3, 0}, {2, 1}, {3, 1}, {4, 0}, {4, 1}}));
}

// By the definition: groups of rows in order, in each column by column, in each row by row.
TEST_F(ProgramIdsTest, AllSmallGridsOrdersAndGroupsAreNumberedByTheDefinition) {
  for (const int64_t a : {1, 2, 3, 5}) {
    for (const int64_t b : {1, 2, 4}) {
      for (const int64_t c : {1, 3}) {
        const Numbers sizes = {a, b, c};
        std::vector<int> dims = {0, 1, 2};
        do {
          for (const int64_t group : {1, 2, 3, 7}) {
            std::vector<Numbers> expected;
            const int64_t rows = sizes[dims[1]];
            for (int64_t plane = 0; plane < sizes[dims[0]]; ++plane) {
              for (int64_t first = 0; first < rows; first += group) {
                for (int64_t column = 0; column < sizes[dims[2]]; ++column) {
                  for (int64_t row = first; row < std::min(first + group, rows); ++row) {
                    Numbers tile(3);
                    tile[dims[0]] = plane;
                    tile[dims[1]] = row;
                    tile[dims[2]] = column;
                    expected.push_back(tile);
                  }
                }
              }
            }
            EXPECT_EQ(TilesOf(sizes, {dims, group}), expected);
          }
        } while (std::next_permutation(dims.begin(), dims.end()));
      }
    }
  }
}

TEST_F(ProgramIdsTest, GridsThatCannotBeNumberedAreRefused) {
  const auto refused = [&](const Numbers& sizes, const ProgramOrder& order) {
    return NumberPrograms(sizes, order, &context_).status().code() ==
           absl::StatusCode::kInvalidArgument;
  };
  EXPECT_TRUE(refused({2, 3}, {{0}, 1}));
  EXPECT_TRUE(refused({2, 3}, {{0, 0}, 1}));
  EXPECT_TRUE(refused({2, 3}, {{0, 2}, 1}));
  EXPECT_TRUE(refused({2, 3}, {{}, 0}));
  EXPECT_TRUE(refused({2}, {{}, 2}));
  EXPECT_TRUE(refused({2, 0}, {}));
  EXPECT_TRUE(refused({2, -1}, {}));
  EXPECT_TRUE(refused({int64_t{1} << 40, int64_t{1} << 40}, {}));
  EXPECT_FALSE(refused({int64_t{1} << 31, int64_t{1} << 31}, {{}, INT64_MAX}));
}

}  // namespace
}  // namespace xla_indexing
