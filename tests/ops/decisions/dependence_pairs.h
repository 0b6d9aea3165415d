// What a module's result depends on, as pairs of elements; masks to ask about.
#ifndef XLA_INDEXING_TESTS_OPS_DECISIONS_DEPENDENCE_PAIRS_H_
#define XLA_INDEXING_TESTS_OPS_DECISIONS_DEPENDENCE_PAIRS_H_

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

using Pair = std::pair<std::vector<int64_t>, std::vector<int64_t>>;
using PairSet = std::set<Pair>;

// All pairs of an element of the result and one of parameter 0 that it depends on, exactly, which are the same in
// both directions; a map that is not exact is a failure.
class DependenceTest : public ::testing::Test {
 protected:
  PairSet DependsOn(const std::string& text, Dependence dependence, int64_t parameter = 0) {
    const auto module = ParseAndVerifyModule(text);
    EXPECT_TRUE(module.ok()) << module.status();
    PairSet pairs;
    if (!module.ok()) return pairs;
    pairs = PairsOf(**module, dependence, parameter, Direction::kOutputToInput);
    PairSet converse;
    for (const auto& [from, to] :
         PairsOf(**module, dependence, parameter, Direction::kInputToOutput)) {
      converse.insert({to, from});
    }
    EXPECT_EQ(pairs, converse);
    return pairs;
  }

  std::vector<IndexingEntry> EntriesOf(const HloModule& module, Dependence dependence,
                                       Direction direction = Direction::kOutputToInput) {
    FusionOptions options;
    options.indexing.dependence = dependence;
    HloIndexer indexer(&context_, options);
    const auto entries = indexer.Index(*module.entry_computation(), direction);
    EXPECT_TRUE(entries.ok()) << entries.status();
    return entries.ok() ? **entries : std::vector<IndexingEntry>();
  }

  PairSet PairsOf(const HloModule& module, Dependence dependence, int64_t parameter,
                  Direction direction) {
    PairSet pairs;
    for (const IndexingEntry& entry : EntriesOf(module, dependence, direction)) {
      if (entry.operand != parameter) continue;
      for (const OperandIndexing& indexing : entry.indexing) {
        EXPECT_TRUE(indexing.IsExact()) << indexing.ToString();
        EXPECT_EQ(indexing.map().num_runtimes(), 0) << indexing.ToString();
        AddPairs(indexing.map(), &pairs);
      }
    }
    return pairs;
  }

  // How exact the entry is for the only parameter that the result depends on.
  Exactness ExactnessOf(const std::string& text) {
    const auto module = ParseAndVerifyModule(text);
    EXPECT_TRUE(module.ok()) << module.status();
    if (!module.ok()) return Exactness::kUnknown;
    const auto entries = EntriesOf(**module, Dependence::kFiniteValues);
    EXPECT_EQ(entries.size(), 1);
    return entries.size() == 1 ? entries.front().indexing.label().exactness : Exactness::kUnknown;
  }

  static void AddPairs(const IndexingMap& map, PairSet* pairs) {
    std::vector<int64_t> values(map.num_dims() + map.num_ranges());
    const auto bounds = [&](size_t i) {
      return i < static_cast<size_t>(map.num_dims()) ? map.dims()[i].bounds
                                                     : map.ranges()[i - map.num_dims()].bounds;
    };
    std::function<void(size_t)> visit = [&](size_t i) {
      if (i < values.size()) {
        for (int64_t v = bounds(i).lower(); v <= bounds(i).upper(); ++v) {
          values[i] = v;
          visit(i + 1);
        }
        return;
      }
      const std::vector<int64_t> dims(values.begin(), values.begin() + map.num_dims());
      const std::vector<int64_t> ranges(values.begin() + map.num_dims(), values.end());
      const auto is_inside = map.Contains(dims, ranges);
      ASSERT_TRUE(is_inside.ok());
      if (!*is_inside) return;
      const auto result = map.Evaluate(dims, ranges);
      ASSERT_TRUE(result.ok());
      pairs->insert({dims, {result->begin(), result->end()}});
    };
    visit(0);
  }

  // The pairs of indices in [0, rows) and [0, columns) for which `holds`.
  static PairSet Where(int64_t rows, int64_t columns,
                       const std::function<bool(int64_t, int64_t)>& holds) {
    PairSet pairs;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t k = 0; k < columns; ++k) {
        if (holds(i, k)) pairs.insert({{i, k}, {i, k}});
      }
    }
    return pairs;
  }

  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
};

// f32[4,6] `mask`, 0 or 1, where column <= row + 1.
inline std::string Triangle(const std::string& type) {
  return absl::StrCat(R"(
  i = s32[4,6] iota(), iota_dimension=0
  k = s32[4,6] iota(), iota_dimension=1
  one = s32[] constant(1)
  ones = s32[4,6] broadcast(one), dimensions={}
  next = s32[4,6] add(i, ones)
  chosen = pred[4,6] compare(k, next), direction=LE
  mask = )",
                      type, "[4,6] convert(chosen)\n");
}
inline bool IsInTriangle(int64_t i, int64_t k) { return k <= i + 1; }

inline std::string Entry(const std::string& body) {
  return absl::StrCat("ENTRY e {\n  x = f32[4,6] parameter(0)\n", body, "\n}\n");
}

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_TESTS_OPS_DECISIONS_DEPENDENCE_PAIRS_H_
