// Tiles against executions of random modules: what the elements of a tile read.
#include "xla_indexing/tiling/tile/symbolic_tile.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/check_module.h"
#include "tests/reference/judge/dependence.h"
#include "tests/reference/judge/library_relation.h"
#include "tests/testing/effort.h"
#include "tests/testing/entries.h"
#include "tests/testing/random.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/answers/indexing_entry.h"

namespace xla_indexing::reference {
namespace {

using TileIndex = std::vector<int64_t>;
using Elements = std::set<TileIndex>;

TileIndex IndexOf(int64_t position, const Shape& shape) {
  TileIndex index(shape.rank());
  for (int64_t i = shape.rank(); i-- > 0;) {
    index[i] = position % shape.dimension(i);
    position /= shape.dimension(i);
  }
  return index;
}

// The elements that each tile reads, also of tiles that read none.
std::map<TileIndex, Elements> ByTile(const Relation& relation, const Shape& from, const Shape& to,
                                     const TileIndex& sizes) {
  const auto tile_of = [&](int64_t position) {
    TileIndex tile = IndexOf(position, from);
    for (size_t i = 0; i < sizes.size(); ++i) tile[i] /= sizes[i];
    return tile;
  };
  std::map<TileIndex, Elements> tiles;
  for (int64_t position = 0; position < *from.ElementCount(); ++position) tiles[tile_of(position)];
  for (const auto& [reader, element] : relation) {
    tiles[tile_of(reader)].insert(IndexOf(element, to));
  }
  return tiles;
}

Elements ElementsOf(const ConcreteTile& tile) {
  if (tile.is_empty) return {};
  Elements elements = {TileIndex()};
  for (const TileRange& range : tile.ranges) {
    Elements longer;
    for (const TileIndex& element : elements) {
      for (int64_t i = 0; i < range.size; ++i) {
        TileIndex next = element;
        next.push_back(range.offset.lower() + i * range.stride);
        longer.insert(next);
      }
    }
    elements = std::move(longer);
  }
  return elements;
}

// Sizes and strides of the elements as a box; none where they are none.
std::optional<std::vector<std::pair<int64_t, int64_t>>> BoxOf(const Elements& elements,
                                                              size_t rank) {
  std::vector<std::pair<int64_t, int64_t>> box;
  int64_t volume = elements.empty() ? 0 : 1;
  for (size_t i = 0; i < rank; ++i) {
    std::set<int64_t> values;
    for (const TileIndex& element : elements) values.insert(element[i]);
    int64_t stride = 1;
    if (values.size() > 1) {
      stride = *std::next(values.begin()) - *values.begin();
      if (*values.rbegin() - *values.begin() !=
          stride * (static_cast<int64_t>(values.size()) - 1)) {
        return std::nullopt;
      }
      for (auto it = values.begin(); std::next(it) != values.end(); ++it) {
        if (*std::next(it) - *it != stride) return std::nullopt;
      }
    }
    volume *= static_cast<int64_t>(values.size());
    box.emplace_back(values.size(), stride);
  }
  if (volume != static_cast<int64_t>(elements.size())) return std::nullopt;
  return box;
}

struct TileTally {
  int64_t maps = 0;
  int64_t exact = 0;
  int64_t undecided = 0;
  int64_t exact_when_masked = 0;
  int64_t covers_when_masked = 0;
};

absl::Status Wrong(absl::string_view what, const OperandIndexing& map, const TileIndex& sizes,
                   const TileIndex& tile) {
  return absl::InternalError(absl::StrCat(what, ": ", map.ToString(), "\ntile sizes ",
                                          absl::StrJoin(sizes, ","), ", tile ",
                                          absl::StrJoin(tile, ",")));
}

// The elements of a tile's box that lie within the bounds of the results. What has no size as an
// expression is a single value.
Elements MaskedElements(const SymbolicTile& tile, const TileIndex& counted,
                        const TileIndex& index) {
  const auto bounds = tile.Bounds();
  ConcreteTile masked;
  for (int i = 0; i < tile.map().num_results(); ++i) {
    masked.ranges.push_back({Interval::Point(*tile.Offsets()[i].Evaluate(counted, index)),
                             tile.Sizes()[i].Evaluate(counted).value_or(1),
                             tile.Strides()[i].Evaluate(counted).value_or(1)});
  }
  Elements elements = ElementsOf(masked);
  for (auto it = elements.begin(); it != elements.end();) {
    bool is_within = true;
    for (size_t i = 0; i < bounds.size(); ++i) {
      is_within = is_within && bounds[i].Contains((*it)[i]);
    }
    it = is_within ? std::next(it) : elements.erase(it);
  }
  return elements;
}

// What is said of masked tiles, of any sizes, against what is read.
absl::Status CheckMaskedTiles(const OperandIndexing& map, const Relation& relation,
                              const Shape& from, const Shape& to, Random& random,
                              TileTally* tally) {
  if (map.map().num_runtimes() > 0) return absl::OkStatus();
  TileIndex sizes;
  for (const int64_t size : from.dimensions()) sizes.push_back(random.Between(1, size + 3));
  const TileIndex dims(from.dimensions().begin(), from.dimensions().end());
  const absl::StatusOr<SymbolicTile> symbolic = SymbolicTile::Of(map, dims);
  if (!symbolic.ok()) return symbolic.status();
  const absl::StatusOr<Decision> exact = symbolic->IsExactWhenMasked(sizes);
  const absl::StatusOr<Decision> covers = symbolic->CoversWhenMasked(sizes);
  const auto counted = symbolic->CountedSizes(sizes);
  for (const absl::Status& status : {exact.status(), covers.status(), counted.status()}) {
    if (!status.ok()) return status;
  }
  const absl::StatusOr<IndexingMap> domain = symbolic->TilesThatRead(sizes);
  if (!domain.ok()) return domain.status();
  std::set<TileIndex> reading;
  absl::Status status = domain->ForEachPoint(
      1 << 20, [&](llvm::ArrayRef<int64_t> k, llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t>) {
        reading.insert({k.begin(), k.end()});
      });
  if (!status.ok()) return status;
  for (const auto& [index, read] : ByTile(relation, from, to, sizes)) {
    if (reading.contains(index) != !read.empty()) {
      return Wrong("another tile reads something", map, sizes, index);
    }
  }
  tally->exact_when_masked += exact->IsYes() ? 1 : 0;
  tally->covers_when_masked += covers->IsYes() ? 1 : 0;
  if (!covers->IsYes()) {
    return exact->IsYes() ? Wrong("exact and not covered", map, sizes, {}) : absl::OkStatus();
  }
  const TileIndex as_counted(counted->begin(), counted->end());
  for (const auto& [index, read] : ByTile(relation, from, to, sizes)) {
    if (read.empty()) continue;
    const Elements masked = MaskedElements(*symbolic, as_counted, index);
    if (exact->IsYes() ? masked != read
                       : !std::includes(masked.begin(), masked.end(), read.begin(), read.end())) {
      return Wrong(exact->IsYes() ? "not what is read when masked" : "less than is read", map,
                   sizes, index);
    }
  }
  return absl::OkStatus();
}

absl::Status CheckMap(const OperandIndexing& map, const Relation& relation, const Shape& from,
                      const Shape& to, Random& random, TileTally* tally) {
  TileIndex sizes;
  for (const int64_t size : from.dimensions()) sizes.push_back(random.Between(1, size));
  const TileIndex dims(from.dimensions().begin(), from.dimensions().end());
  const absl::StatusOr<SymbolicTile> symbolic = SymbolicTile::Of(map, dims);
  if (!symbolic.ok()) return symbolic.status();
  const absl::StatusOr<Decision> exact = symbolic->IsExact(sizes);
  const absl::StatusOr<ConcreteTile> full = symbolic->FullTile(sizes);
  if (!exact.ok()) return exact.status();
  if (!full.ok()) return full.status();
  ++tally->maps;
  tally->exact += exact->IsYes() ? 1 : 0;
  tally->undecided += exact->IsUndecided() ? 1 : 0;
  if (exact->IsYes() != full->is_exact) return Wrong("two answers", map, sizes, {});
  const bool is_fixed = map.map().num_runtimes() == 0;
  std::optional<std::vector<std::pair<int64_t, int64_t>>> common;
  bool are_alike = true;
  bool has_full = false;
  for (const auto& [index, read] : ByTile(relation, from, to, sizes)) {
    const absl::StatusOr<ConcreteTile> tile = symbolic->TileAt(sizes, index);
    if (!tile.ok()) return tile.status();
    if (is_fixed) {
      const Elements said = ElementsOf(*tile);
      if (tile->is_exact ? said != read
                         : !std::includes(said.begin(), said.end(), read.begin(), read.end())) {
        return Wrong(tile->is_exact ? "not what is read" : "less than is read", map, sizes, index);
      }
      if (tile->excess && map.IsExact() &&
          *tile->excess != static_cast<int64_t>(said.size() - read.size())) {
        return Wrong("another excess", map, sizes, index);
      }
    }
    if (tile->is_clipped) continue;
    const auto box = BoxOf(read, to.rank());
    if (!has_full) common = box;
    has_full = true;
    are_alike = are_alike && box.has_value() && box == common;
    if (exact->IsYes()) {
      if (!box) return Wrong("no box", map, sizes, index);
      for (size_t i = 0; i < box->size(); ++i) {
        const TileRange& range = full->ranges[i];
        if ((*box)[i].first != range.size ||
            (range.size > 1 && (*box)[i].second != std::abs(range.stride))) {
          return Wrong("another box", map, sizes, index);
        }
      }
    }
  }
  // Runtime values may happen to make tiles boxes.
  if (has_full && is_fixed && map.IsExact() && exact->IsNo() && are_alike && !(*common).empty() &&
      (*common)[0].first > 0) {
    return Wrong("refused", map, sizes, {});
  }
  return absl::OkStatus();
}

absl::Status CheckTiles(const Executed& executed, mlir::MLIRContext* context, Random& random,
                        TileTally* tally) {
  if (executed.devices.count() != 1) return absl::OkStatus();
  const absl::StatusOr<InstructionIndexing> entries =
      executed.is_computation
          ? Entries(*executed.result.parent(), Direction::kOutputToInput, context)
          : Entries(executed.result, Direction::kOutputToInput, context);
  if (!entries.ok()) return entries.status();
  for (const IndexingEntry& entry : *entries) {
    const Shape& from = executed.result.shape().Leaf(entry.output_leaf);
    const Shape& to = executed.operands()[entry.operand]->shape().Leaf(entry.operand_leaf);
    if (*from.ElementCount() == 0) continue;
    for (const OperandIndexing& map : entry.indexing) {
      if (map.IsUnknown() || map.replica_map() != nullptr) continue;
      absl::StatusOr<Relation> relation = RelationOf(map, {from, to}, executed.devices);
      if (!relation.ok()) return relation.status();
      // The relation of an entry's only map is what was executed.
      if (entry.indexing.size() == 1 && map.IsExact()) {
        *relation = executed.truth.at({entry.output_leaf, entry.operand, entry.operand_leaf});
      }
      absl::Status status = CheckMap(map, *relation, from, to, random, tally);
      status.Update(CheckMaskedTiles(map, *relation, from, to, random, tally));
      if (!status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

template <typename Make>
void CheckTilesOfModules(int first, int count, Make make) {
  std::unique_ptr<mlir::MLIRContext> context;
  TileTally tally;
  for (int i = first; i < first + count; ++i) {
    if ((i - first) % 64 == 0) {
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    }
    Random random(i);
    const absl::Status status = ForEachExecuted(make(i), i, {}, [&](const Executed& executed) {
      return CheckTiles(executed, context.get(), random, &tally);
    });
    ASSERT_TRUE(status.ok()) << status.message();
  }
  // Large windows may have more points than are looked at.
  EXPECT_LE(tally.undecided, 1 + tally.maps / 10000) << "of " << tally.maps << " maps";
  // About what is exact of them: a test of tiles that are none would show nothing.
  EXPECT_GT(tally.exact, tally.maps / 4) << "of " << tally.maps << " maps";
  EXPECT_GT(tally.exact_when_masked, tally.maps / 4) << "of " << tally.maps << " maps";
  EXPECT_GT(tally.covers_when_masked, tally.maps / 3) << "of " << tally.maps << " maps";
}

class TilesOfOperationsTest : public ::testing::TestWithParam<int> {};
class TilesOfFusionsTest : public ::testing::TestWithParam<int> {};

constexpr int kTileShards = 4;
constexpr int kTileModulesPerShard = 20000 / kTileShards;

TEST_P(TilesOfOperationsTest, AreWhatTheirElementsRead) {
  const std::vector<HloOpcode> opcodes = RandomOpcodes();
  constexpr int kOperations = kTileModulesPerShard / 2;
  CheckTilesOfModules(GetParam() * kOperations, Cases(kOperations),
                      [&](int i) { return RandomOperationModule(opcodes[i % opcodes.size()], i); });
}
INSTANTIATE_TEST_SUITE_P(All, TilesOfOperationsTest, ::testing::Range(0, kTileShards));

TEST_P(TilesOfFusionsTest, AreWhatTheirElementsRead) {
  CheckTilesOfModules(GetParam() * kTileModulesPerShard, Cases(kTileModulesPerShard),
                      [](int i) { return RandomFusionModule(i); });
}
INSTANTIATE_TEST_SUITE_P(All, TilesOfFusionsTest, ::testing::Range(0, kTileShards));

}  // namespace
}  // namespace xla_indexing::reference
