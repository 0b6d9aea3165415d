#include "xla_indexing/tiling/tile_computation.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/internal/instruction_reads.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/hlo/shape.h"
#include "xla_indexing/ops/indexing_entry.h"
#include "xla_indexing/ops/internal/map_builder.h"
#include "xla_indexing/query/utilization.h"
#include "xla_indexing/tiling/internal/tile_conditions.h"

namespace xla_indexing {
namespace {

using internal::CheckedAdd;
using internal::ComputeInstructionReads;
using internal::InstructionReads;
using internal::Int128;
using internal::kInt64Max;
using internal::TileConditions;

// Points that are looked at in one search for good sizes.
constexpr int64_t kMaxStepsOfSearch = int64_t{1} << 22;

// Divisors of n and powers of two up to n, ascending.
std::vector<int64_t> CandidatesOf(int64_t n) {
  std::set<int64_t> candidates;
  for (int64_t power = 1; power <= n; power *= 2) {
    candidates.insert(power);
    if (power > kInt64Max / 2) break;
  }
  // Divisors past this are found as quotients; of larger numbers only those are looked for.
  constexpr int64_t kMostTried = 1 << 16;
  for (int64_t d = 1; d <= kMostTried && d <= n / d; ++d) {
    if (n % d != 0) continue;
    candidates.insert(d);
    candidates.insert(n / d);
  }
  return {candidates.begin(), candidates.end()};
}

// Leaves out every other candidate but the ends of the longest list until there are few
// combinations.
void ThinOut(int64_t max_combinations, std::vector<std::vector<int64_t>>* lists) {
  while (true) {
    Int128 combinations = 1;
    for (const std::vector<int64_t>& list : *lists) {
      combinations = std::min<Int128>(combinations * static_cast<int64_t>(list.size()), kInt64Max);
    }
    const auto longest =
        std::max_element(lists->begin(), lists->end(),
                         [](const auto& a, const auto& b) { return a.size() < b.size(); });
    if (combinations <= max_combinations || longest == lists->end() || longest->size() <= 1) return;
    std::vector<int64_t> fewer;
    for (size_t i = 0; i < longest->size(); i += 2) fewer.push_back((*longest)[i]);
    if (longest->size() > 2 && fewer.back() != longest->back()) fewer.back() = longest->back();
    *longest = std::move(fewer);
  }
}

}  // namespace

absl::Status TiledComputation::CheckSizes(llvm::ArrayRef<int64_t> sizes) const {
  if (sizes.size() == dim_sizes_.size()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(sizes.size(), " tile sizes for roots of ",
                                                 dim_sizes_.size(), " dimensions in all"));
}

absl::StatusOr<Decision> TiledComputation::IsExact(llvm::ArrayRef<int64_t> sizes,
                                                   int64_t max_steps) const {
  absl::Status status = CheckSizes(sizes);
  if (!status.ok()) return status;
  Decision all{Answer::kYes, 0};
  for (const TiledInstruction& tiled : instructions_) {
    const absl::StatusOr<Decision> own =
        tiled.tile.IsExact(SizesOf(tiled.root, sizes), max_steps - all.steps);
    if (!own.ok()) return own.status();
    all.steps += own->steps;
    if (own->IsNo()) return Decision{Answer::kNo, all.steps};
    if (own->IsUndecided()) all.answer = Answer::kUndecided;
  }
  return all;
}

std::vector<std::string> TiledComputation::Conditions() const {
  std::vector<std::string> conditions;
  for (const TiledInstruction& tiled : instructions_) {
    for (std::string& condition : TileConditions(tiled.tile, roots_[tiled.root].first_size)) {
      if (!llvm::is_contained(conditions, condition)) conditions.push_back(std::move(condition));
    }
  }
  return conditions;
}

absl::StatusOr<std::vector<ConcreteTile>> TiledComputation::TilesOf(
    llvm::ArrayRef<int64_t> sizes) const {
  absl::Status status = CheckSizes(sizes);
  if (!status.ok()) return status;
  std::vector<ConcreteTile> tiles;
  for (const TiledInstruction& tiled : instructions_) {
    absl::StatusOr<ConcreteTile> tile = tiled.tile.FullTile(SizesOf(tiled.root, sizes));
    if (!tile.ok()) return tile.status();
    tiles.push_back(*std::move(tile));
  }
  return tiles;
}

absl::StatusOr<int64_t> TiledComputation::BytesOf(llvm::ArrayRef<int64_t> sizes) const {
  absl::Status status = CheckSizes(sizes);
  if (!status.ok()) return status;
  int64_t total = 0;
  for (const TiledInstruction& tiled : instructions_) {
    const bool is_root = tiled.instruction == tiled.instruction->parent()->root_instruction();
    if (!is_root && tiled.instruction->opcode() != HloOpcode::kParameter) continue;
    const absl::StatusOr<ConcreteTile> tile = tiled.tile.FullTile(SizesOf(tiled.root, sizes));
    if (!tile.ok()) return tile.status();
    Int128 elements = 1;
    for (const auto [i, range] : llvm::enumerate(tile->ranges)) {
      // What is larger than the array is clipped wherever it is.
      const int64_t most = tiled.shape().dimension(static_cast<int64_t>(i));
      const bool is_bounded = most != Shape::kUnboundedSize;
      const int64_t size = is_bounded ? std::min(range.size, most) : range.size;
      elements = std::min<Int128>(elements * size, kInt64Max);
    }
    const Interval bytes =
        xla_indexing::BytesOf(Interval::Point(static_cast<int64_t>(elements)), tiled.shape());
    const std::optional<int64_t> sum =
        bytes.IsPoint() ? CheckedAdd(total, bytes.lower()) : std::nullopt;
    if (!sum) return kInt64Max;
    total = *sum;
  }
  return total;
}

std::vector<GoodTileSizes> TiledComputation::FindGoodTileSizes(int64_t max_bytes,
                                                               int64_t max_candidates) const {
  std::vector<GoodTileSizes> good;
  std::vector<std::vector<int64_t>> candidates;
  for (const int64_t size : dim_sizes_) {
    if (size < 1) return good;
    candidates.push_back(CandidatesOf(size));
  }
  ThinOut(max_candidates, &candidates);
  int64_t left = kMaxStepsOfSearch;
  std::vector<size_t> at(candidates.size(), 0);
  std::vector<int64_t> sizes(candidates.size());
  while (true) {
    for (size_t i = 0; i < at.size(); ++i) sizes[i] = candidates[i][at[i]];
    const absl::StatusOr<Decision> exact = IsExact(sizes, std::min(left, kDefaultSteps));
    if (exact.ok()) left -= exact->steps;
    if (exact.ok() && exact->IsYes()) {
      const absl::StatusOr<int64_t> bytes = BytesOf(sizes);
      if (bytes.ok() && *bytes <= max_bytes) good.push_back({sizes, *bytes});
    }
    size_t i = at.size();
    while (i > 0 && at[i - 1] + 1 == candidates[i - 1].size()) at[--i] = 0;
    if (i == 0) break;
    ++at[i - 1];
  }
  std::stable_sort(good.begin(), good.end(), [](const GoodTileSizes& a, const GoodTileSizes& b) {
    return a.bytes > b.bytes;
  });
  return good;
}

absl::StatusOr<TiledComputation> TileComputation(const HloComputation& computation,
                                                 mlir::MLIRContext* context,
                                                 const FusionOptions& options) {
  const QuestionBudget question;
  const HloInstruction* root = computation.root_instruction();
  if (root == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("computation ", computation.name(), " has no root"));
  }
  std::vector<TiledRoot> roots;
  std::vector<int64_t> dim_sizes;
  std::vector<TiledInstruction> instructions;
  // Leaves have equal shares of the steps.
  FusionOptions of_leaf = options;
  of_leaf.max_steps /= std::max<int64_t>(root->shape().LeafCount(), 1);
  for (int64_t leaf = 0; leaf < root->shape().LeafCount(); ++leaf) {
    const Shape& shape = root->shape().Leaf(leaf);
    if (!shape.IsArray()) continue;
    // Unbounded dimensions have tiles of any size.
    llvm::SmallVector<int64_t, 4> sizes;
    for (const int64_t size : shape.dimensions()) {
      sizes.push_back(size == Shape::kUnboundedSize ? kInt64Max : size);
    }
    const auto alike = llvm::find_if(roots, [&](const TiledRoot& other) {
      return root->shape().Leaf(other.leaf).dimensions() == shape.dimensions();
    });
    TiledRoot tiled{leaf, static_cast<int>(dim_sizes.size()), static_cast<int>(shape.rank())};
    if (alike != roots.end()) {
      tiled.first_size = alike->first_size;
    } else {
      dim_sizes.insert(dim_sizes.end(), sizes.begin(), sizes.end());
    }
    roots.push_back(tiled);
    absl::StatusOr<std::vector<InstructionReads>> reads =
        ComputeInstructionReads(computation, leaf, context, of_leaf);
    if (!reads.ok()) return reads.status();
    const auto root_number = static_cast<int>(roots.size()) - 1;
    TilePieces pieces;
    for (const InstructionReads& read : *reads) {
      for (const OperandIndexing& map : read.indexing) {
        if (!map.IsUnknown()) pieces.Add(map.map());
      }
    }
    for (const InstructionReads& read : *reads) {
      for (const OperandIndexing& map : read.indexing) {
        absl::StatusOr<SymbolicTile> tile = SymbolicTile::Of(
            map.IsUnknown()
                ? internal::WholeTensorIndexing(shape, read.instruction->shape().Leaf(read.leaf),
                                                map.label().reason, context)
                : map,
            sizes, pieces);
        if (!tile.ok()) return tile.status();
        instructions.push_back({read.instruction, read.leaf, root_number, *std::move(tile)});
      }
    }
  }
  if (roots.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the root ", root->name(), " of ", computation.name(), " has no array"));
  }
  return TiledComputation(std::move(roots), std::move(dim_sizes), std::move(instructions));
}

}  // namespace xla_indexing
