#include "xla_indexing/map/expr/map_program.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/map/sets/small_maps.h"
#include "tests/testing/effort.h"

namespace xla_indexing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MapProgramTest : public MapTextFixture {
 protected:
  // The results of the first result at all points of the domain, for rows of the only dimension; range
  // variables take all values.
  absl::StatusOr<std::vector<int64_t>> Results(absl::string_view map,
                                               const std::vector<int64_t>& rows,
                                               int64_t max_points = 1000) {
    const IndexingMap parsed = Parse(map);
    std::vector<MapProgram::Source> sources(parsed.num_dims() + parsed.num_symbols());
    sources[0] = {rows.data(), 1};
    std::vector<int64_t> results;
    const absl::Status status = MapProgram(parsed).Run(rows.size(), sources, max_points,
                                                       [&](const MapProgram::Block& block) {
                                                         for (size_t i = 0; i < block.count; ++i) {
                                                           if (block.is_inside[i] != 0)
                                                             results.push_back(block.results[0][i]);
                                                         }
                                                       });
    if (!status.ok()) return status;
    return results;
  }
};

TEST_F(MapProgramTest, RangesTakeAllTheirValuesForEveryRow) {
  const auto results =
      Results("(d0)[s0] -> (d0 * 8 + s0), domain: d0 in [0, 9], s0 in [0, 2]", {3, 5, 10});
  ASSERT_TRUE(results.ok());
  EXPECT_THAT(*results, ElementsAre(24, 25, 26, 40, 41, 42));
}

TEST_F(MapProgramTest, WhatCannotBeRunIsAnError) {
  const auto error = [&](absl::string_view map, int64_t max_points) {
    return std::string(Results(map, {1, 2}, max_points).status().message());
  };
  EXPECT_THAT(error("(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, inf]", 1000),
              HasSubstr("infinite"));
  EXPECT_THAT(error("(d0)[s0] -> (s0), domain: d0 in [0, 9], s0 in [0, 99]", 199),
              HasSubstr("more than 199 points"));
  EXPECT_THAT(error("(d0) -> (d0 * 9223372036854775807), domain: d0 in [0, 9]", 1000),
              HasSubstr("row 1: a number does not fit 64 bits"));
  const MapProgram program(Parse("(d0) -> (d0), domain: d0 in [0, 9]"));
  EXPECT_EQ(program.Run(1, {}, 1, [](const MapProgram::Block&) {}).code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(MapProgramTest, NumbersOutsideOfTheDomainMayBeTooLarge) {
  const auto results =
      Results("(d0) -> (d0 * 9223372036854775807), domain: d0 in [0, 1]", {0, 1, 2});
  ASSERT_TRUE(results.ok());
  EXPECT_THAT(*results, ElementsAre(0, std::numeric_limits<int64_t>::max()));
}

// Every random map at every point, in blocks, is what it is at that point alone.
// The quotient of the first row times the divisor does not fit.
TEST_F(MapProgramTest, QuotientsOfTheRowBeforeDoNotWrapAround) {
  const std::vector<int64_t> rows = {-9223372036854775806, 6, std::numeric_limits<int64_t>::min(),
                                     std::numeric_limits<int64_t>::max()};
  const std::string domain = ", domain: d0 in [-9223372036854775808, 9223372036854775807]";
  const auto quotients = Results("(d0) -> (d0 floordiv 9223372036854775805)" + domain, rows);
  ASSERT_TRUE(quotients.ok()) << quotients.status();
  EXPECT_THAT(*quotients, ElementsAre(-2, 0, -2, 1));
  const auto remainders = Results("(d0) -> (d0 mod 9223372036854775805)" + domain, rows);
  ASSERT_TRUE(remainders.ok()) << remainders.status();
  EXPECT_THAT(*remainders, ElementsAre(9223372036854775804, 6, 9223372036854775802, 2));
}

TEST_F(MapProgramTest, AgreesWithEvaluationPointByPoint) {
  SmallMaps random(7, &context_);
  for (int i = 0; i < Cases(2000); ++i) {
    const IndexingMap map = random.Map({2, 2, 0}, 2);
    std::vector<std::vector<int64_t>> expected;
    ForAllPoints(map, [&](auto dims, auto symbols, auto results) {
      std::vector<int64_t>& point = expected.emplace_back(dims.begin(), dims.end());
      point.insert(point.end(), symbols.begin(), symbols.end());
      point.insert(point.end(), results.begin(), results.end());
    });
    std::vector<std::vector<int64_t>> found;
    const std::vector<MapProgram::Source> sources(map.num_dims() + map.num_symbols());
    ASSERT_TRUE(MapProgram(map)
                    .Run(1, sources, 1 << 20,
                         [&](const MapProgram::Block& block) {
                           for (size_t p = 0; p < block.count; ++p) {
                             if (block.is_inside[p] == 0) continue;
                             std::vector<int64_t>& point = found.emplace_back();
                             for (const auto& columns : {block.variables, block.results}) {
                               for (const int64_t* column : columns) point.push_back(column[p]);
                             }
                           }
                         })
                    .ok())
        << map.ToString();
    ASSERT_EQ(found, expected) << map.ToString();
  }
}

}  // namespace
}  // namespace xla_indexing
