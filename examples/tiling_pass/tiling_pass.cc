// Tile sizes for a fusion whose tiles have to fit in shared memory.
//
//   tiling_pass FILE BUDGET_BYTES
//
// The ENTRY computation of the module is taken for one fusion, and one block of threads computes
// one tile of its result from tiles of its parameters, all of which are in shared memory at once:
//
//   1  TileComputation finds what a tile of the result reads of every parameter, for all tile sizes
//      together, and the conditions under which that is a box with strides, which a block can copy.
//   2  FindGoodTileSizes gives sizes that meet the conditions and whose tiles fit the budget.
//   3  The pass takes those that move the fewest bytes: tiles times the bytes of each.
//   4  SymbolicTile::TileAt says where each tile is. Here all of them are compared, element by
//      element, with what the points of the maps read; a compiler would emit copies instead.
//
// Exit code: 0; 1 where there are no such sizes, a tile is wrong, or the input cannot be used; 2
// for a wrong command line.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/hlo/parser.h"
#include "xla_indexing/hlo/verifier.h"
#include "xla_indexing/map/domain.h"
#include "xla_indexing/query/utilization.h"
#include "xla_indexing/tiling/symbolic_tile.h"
#include "xla_indexing/tiling/tile_computation.h"

namespace {

using namespace xla_indexing;  // NOLINT: an example.

using Numbers = std::vector<int64_t>;

// What the check looks at, of one map: tiles, and points of the map.
constexpr int64_t kMaxChecked = int64_t{1} << 22;
constexpr size_t kNumShown = 5;
constexpr int64_t kInt64Max = std::numeric_limits<int64_t>::max();

template <typename List>
std::string Text(const List& list) {
  return absl::StrCat("(", absl::StrJoin(list, ", "), ")");
}

// The product and the sum of numbers that are at least 0; past int64, its largest value.
int64_t Times(int64_t a, int64_t b) { return b != 0 && a > kInt64Max / b ? kInt64Max : a * b; }
int64_t Plus(int64_t a, int64_t b) { return a > kInt64Max - b ? kInt64Max : a + b; }

// How many tiles of `size` (at least 1) it takes for `total` elements.
int64_t CeilDiv(int64_t total, int64_t size) { return total / size + (total % size != 0); }

int64_t NumTiles(const TiledComputation& fusion, const Numbers& sizes) {
  int64_t num_tiles = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    num_tiles = Times(num_tiles, CeilDiv(fusion.dim_sizes()[i], sizes[i]));
  }
  return num_tiles;
}

// The next index of a box with these counts, in lexicographic order; false after the last.
bool Advance(const Numbers& counts, Numbers* index) {
  for (size_t i = counts.size(); i-- > 0;) {
    if (++(*index)[i] < counts[i]) return true;
    (*index)[i] = 0;
  }
  return false;
}

// ---- What is in shared memory ----

// Parameters and results; values between them are in registers.
std::vector<const TiledInstruction*> InMemory(const TiledComputation& fusion) {
  std::vector<const TiledInstruction*> arrays;
  for (const TiledInstruction& tiled : fusion.instructions()) {
    const HloInstruction& instruction = *tiled.instruction;
    if (&instruction == instruction.parent()->root_instruction() ||
        instruction.opcode() == HloOpcode::kParameter) {
      arrays.push_back(&tiled);
    }
  }
  return arrays;
}

std::string NameOf(const TiledInstruction& tiled) {
  const bool is_array = tiled.instruction->shape().IsArray();
  return absl::StrCat(tiled.instruction->name(), is_array ? "" : absl::StrCat("#", tiled.leaf));
}

absl::Status PrintFirstTiles(const std::vector<const TiledInstruction*>& arrays,
                             const Numbers& sizes) {
  std::printf("  %-12s %-14s %-12s %-12s %-12s %6s\n", "array", "shape", "offset", "size", "stride",
              "bytes");
  for (const TiledInstruction* tiled : arrays) {
    const absl::StatusOr<ConcreteTile> tile = tiled->tile.TileAt(sizes, Numbers(sizes.size(), 0));
    if (!tile.ok()) return tile.status();
    std::vector<std::string> offsets;
    Numbers counts;
    Numbers strides;
    int64_t elements = tile->is_empty ? 0 : 1;
    for (const TileRange& range : tile->ranges) {
      // An interval where it is known only when the program runs.
      offsets.push_back(range.offset.IsPoint() ? absl::StrCat(range.offset.lower())
                                               : range.offset.ToString());
      counts.push_back(range.size);
      strides.push_back(range.stride);
      elements = Times(elements, range.size);
    }
    const Interval bytes = BytesOf(Interval::Point(elements), tiled->shape());
    std::printf("  %-12s %-14s %-12s %-12s %-12s %6lld  %s\n", NameOf(*tiled).c_str(),
                tiled->shape().ToStringWithoutLayout().c_str(), Text(offsets).c_str(),
                Text(counts).c_str(), Text(strides).c_str(),
                static_cast<long long>(bytes.has_upper() ? bytes.upper() : kInt64Max),
                tile->is_empty   ? "nothing is read"
                : tile->is_exact ? "exact"
                                 : "not exact");
  }
  return absl::OkStatus();
}

// ---- The check ----

// What the points of one tile read, element by element. Each point adds to `num_points`.
absl::StatusOr<std::set<Numbers>> ElementsRead(const TiledInstruction& tiled, const Numbers& sizes,
                                               const Numbers& index, int64_t* num_points) {
  IndexingMap map = tiled.tile.map();
  for (int i = 0; i < map.num_dims(); ++i) {
    Interval& bounds = map.mutable_dim(i).bounds;
    const int64_t first = index[i] * sizes[i];
    const int64_t last = Plus(first, sizes[i] - 1);
    bounds = bounds.Intersect(Interval::Closed(first, last));
  }
  std::set<Numbers> elements;
  const absl::Status status = map.ForEachPoint(
      kMaxChecked,
      [&](llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t> results) {
        elements.insert(results.vec());
        ++*num_points;
      });
  if (!status.ok()) return status;
  return elements;
}

// The elements of a tile that does not depend on runtime values.
std::set<Numbers> ElementsOf(const ConcreteTile& tile) {
  std::set<Numbers> elements;
  if (tile.is_empty) return elements;
  Numbers counts;
  for (const TileRange& range : tile.ranges) counts.push_back(range.size);
  Numbers step(counts.size(), 0);
  do {
    Numbers element;
    for (size_t i = 0; i < step.size(); ++i) {
      const TileRange& range = tile.ranges[i];
      element.push_back(range.offset.lower() + step[i] * range.stride);
    }
    elements.insert(element);
  } while (Advance(counts, &step));
  return elements;
}

// Whether tile `index` is what is read, and as large as `full`, which the budget was met with.
absl::Status CheckTile(const TiledInstruction& tiled, const Numbers& sizes, const Numbers& index,
                       const ConcreteTile& full, int64_t* num_points) {
  const absl::StatusOr<ConcreteTile> tile = tiled.tile.TileAt(sizes, index);
  if (!tile.ok()) return tile.status();
  int64_t num_elements = 1;
  for (size_t i = 0; i < tile->ranges.size(); ++i) {
    num_elements = Times(num_elements, tile->ranges[i].size);
    // Tiles at the edges may be smaller.
    if (tile->is_clipped ? tile->ranges[i].size > full.ranges[i].size
                         : tile->ranges[i].size != full.ranges[i].size) {
      return absl::InternalError(absl::StrCat("has ", tile->ranges[i].size,
                                              " elements in dimension ", i, ", and full tiles ",
                                              full.ranges[i].size));
    }
  }
  if (num_elements > kMaxChecked) {
    return absl::ResourceExhaustedError(absl::StrCat("has ", num_elements, " elements, more than ",
                                                     kMaxChecked, ", and is not checked"));
  }
  const absl::StatusOr<std::set<Numbers>> read = ElementsRead(tiled, sizes, index, num_points);
  if (!read.ok()) return read.status();
  const std::set<Numbers> said = ElementsOf(*tile);
  for (const Numbers& element : *read) {
    if (!said.contains(element)) {
      return absl::InternalError(absl::StrCat("does not have ", Text(element), ", which is read"));
    }
  }
  // A clipped tile that is no box is the box around it, and says how many elements are not read
  // unless it had too many points to count.
  const auto excess = static_cast<int64_t>(said.size() - read->size());
  const std::optional<int64_t> said_excess = tile->is_exact ? 0 : tile->excess;
  if (said_excess && *said_excess != excess) {
    return absl::InternalError(
        absl::StrCat("has ", excess, " elements that are not read, not ", *said_excess));
  }
  return absl::OkStatus();
}

absl::Status CheckAll(const TiledComputation& fusion,
                      const std::vector<const TiledInstruction*>& arrays, const Numbers& sizes) {
  Numbers counts;
  for (size_t i = 0; i < sizes.size(); ++i) {
    counts.push_back(CeilDiv(fusion.dim_sizes()[i], sizes[i]));
  }
  int64_t num_tiles = 0;
  int64_t num_points = 0;
  for (const TiledInstruction* tiled : arrays) {
    const auto error = [&](absl::string_view message) {
      return absl::InternalError(absl::StrCat(NameOf(*tiled), ": ", message));
    };
    if (tiled->tile.map().num_runtimes() > 0) {
      return error("is read where runtime values say, which this check does not know");
    }
    const std::optional<int64_t> points = NumCandidates(tiled->tile.map());
    if (NumTiles(fusion, sizes) > kMaxChecked || !points || *points > kMaxChecked) {
      return error(absl::StrCat("has more than ", kMaxChecked, " tiles or points to check"));
    }
    const absl::StatusOr<ConcreteTile> full = tiled->tile.FullTile(sizes);
    if (!full.ok()) return error(full.status().message());
    Numbers index(sizes.size(), 0);
    do {
      const absl::Status status = CheckTile(*tiled, sizes, index, *full, &num_points);
      if (!status.ok()) {
        return error(absl::StrCat("tile ", Text(index), ": ", status.message()));
      }
      ++num_tiles;
    } while (Advance(counts, &index));
  }
  std::printf("checked: %lld tiles against %lld points read\n", static_cast<long long>(num_tiles),
              static_cast<long long>(num_points));
  return absl::OkStatus();
}

// ---- The pass ----

absl::Status TileEntry(const HloComputation& entry, int64_t budget) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::StatusOr<TiledComputation> fusion = TileComputation(entry, &context);
  if (!fusion.ok()) return fusion.status();
  for (const TiledRoot& root : fusion->roots()) {
    // Otherwise each has tiles of its own, and nothing ties a block of one to a block of another.
    if (root.first_size == 0 && root.rank == static_cast<int>(fusion->dim_sizes().size())) continue;
    return absl::InvalidArgumentError("the results have different dimensions");
  }
  std::printf("%s: tiles of %s\n", std::string(entry.name()).c_str(),
              Text(fusion->dim_sizes()).c_str());
  for (const std::string& condition : fusion->Conditions()) {
    std::printf("  condition: %s\n", condition.c_str());
  }

  std::vector<GoodTileSizes> good = fusion->FindGoodTileSizes(budget);
  if (good.empty()) {
    return absl::NotFoundError(
        absl::StrCat("no tile sizes are exact with tiles of at most ", budget, " bytes"));
  }
  const auto moved = [&](const GoodTileSizes& tile) {
    return Times(tile.bytes, NumTiles(*fusion, tile.sizes));
  };
  // Among sizes that move equally many bytes the larger ones come first: they make fewer blocks.
  std::sort(good.begin(), good.end(), [&](const GoodTileSizes& a, const GoodTileSizes& b) {
    return std::tuple(moved(a), -a.bytes, a.sizes) < std::tuple(moved(b), -b.bytes, b.sizes);
  });
  std::printf("%zu good tile sizes of at most %lld bytes\n", good.size(),
              static_cast<long long>(budget));
  std::printf("  %-12s %10s %8s %12s\n", "sizes", "bytes", "tiles", "bytes moved");
  for (size_t i = 0; i < std::min(good.size(), kNumShown); ++i) {
    std::printf("  %-12s %10lld %8lld %12lld\n", Text(good[i].sizes).c_str(),
                static_cast<long long>(good[i].bytes),
                static_cast<long long>(NumTiles(*fusion, good[i].sizes)),
                static_cast<long long>(moved(good[i])));
  }

  const Numbers& best = good.front().sizes;
  const std::vector<const TiledInstruction*> arrays = InMemory(*fusion);
  std::printf("the first tile of sizes %s\n", Text(best).c_str());
  const absl::Status status = PrintFirstTiles(arrays, best);
  if (!status.ok()) return status;
  return CheckAll(*fusion, arrays, best);
}

absl::StatusOr<std::unique_ptr<HloModule>> Read(const char* file) {
  std::ifstream stream(file);
  std::ostringstream text;
  if (!(text << stream.rdbuf())) {
    return absl::NotFoundError(absl::StrCat(file, ": cannot be read, or is empty"));
  }
  absl::StatusOr<std::unique_ptr<HloModule>> module = ParseModule(text.str(), file);
  if (!module.ok()) return module.status();
  const absl::Status status = VerifyModule(**module);
  if (!status.ok()) return status;
  return module;
}

}  // namespace

int main(int argc, char** argv) {
  int64_t budget = 0;
  if (argc != 3) {
    std::cerr << "usage: tiling_pass FILE BUDGET_BYTES\n";
    return 2;
  }
  if (!absl::SimpleAtoi(argv[2], &budget) || budget < 1) {
    std::cerr << argv[2] << ": the budget is a number of bytes, at least 1\n";
    return 2;
  }
  const absl::StatusOr<std::unique_ptr<HloModule>> module = Read(argv[1]);
  if (!module.ok()) {
    std::cerr << module.status().message() << "\n";
    return 1;
  }
  const HloComputation& entry = *(*module)->entry_computation();
  const absl::Status status = TileEntry(entry, budget);
  if (status.ok()) return 0;
  std::fflush(stdout);
  std::cerr << argv[1] << ": " << entry.name() << ": " << status.message() << "\n";
  return 1;
}
