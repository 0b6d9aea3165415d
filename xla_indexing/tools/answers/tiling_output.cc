#include "xla_indexing/tools/answers/tiling_output.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/tiling/tile/symbolic_tile.h"
#include "xla_indexing/tiling/tile/tile_text.h"
#include "xla_indexing/tools/answers/count_output.h"

namespace xla_indexing {
namespace {

using internal::JsonWriter;
using internal::OffsetMapText;
using internal::SizeMapText;
using internal::StrideMapText;
using internal::TileConditions;

std::vector<int64_t> DimSizes(const Shape& shape) {
  std::vector<int64_t> sizes;
  for (const int64_t size : shape.dimensions()) {
    sizes.push_back(size == Shape::kUnboundedSize ? INT64_MAX : size);
  }
  return sizes;
}

// Sizes by position, as many as the array has dimensions; none for others, and for names.
std::optional<std::vector<int64_t>> SizesByPosition(absl::string_view text, const Shape& shape) {
  std::vector<int64_t> sizes;
  for (const absl::string_view item : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    if (!absl::SimpleAtoi(item, &sizes.emplace_back())) return std::nullopt;
  }
  return static_cast<int64_t>(sizes.size()) == shape.rank() ? std::optional(sizes) : std::nullopt;
}

absl::Status DoesNotFit(absl::string_view sizes, const Shape& shape) {
  return absl::InvalidArgumentError(absl::StrCat("tile sizes ", sizes, " for ", shape.ToString(),
                                                 ", which has ", shape.rank(), " dimensions"));
}

// `sizes`: nullopt if none are given.
ReportedTile ReportOfTile(const OperandIndexing& indexing, const Shape& from,
                          const TilePieces& pieces,
                          const std::optional<absl::StatusOr<std::vector<int64_t>>>& given) {
  ReportedTile report;
  const absl::StatusOr<SymbolicTile> tile = SymbolicTile::Of(indexing, DimSizes(from), pieces);
  if (!tile.ok()) {
    report.error = std::string(tile.status().message());
    return report;
  }
  report.offset_map = OffsetMapText(*tile);
  report.size_map = SizeMapText(*tile);
  report.stride_map = StrideMapText(*tile);
  report.conditions = TileConditions(*tile);
  if (!given) return report;
  if (!given->ok()) {
    report.error = std::string(given->status().message());
    return report;
  }
  const std::vector<int64_t>& sizes = **given;
  const absl::StatusOr<Decision> exact = tile->IsExact(sizes);
  absl::StatusOr<ConcreteTile> first =
      tile->TileAt(sizes, llvm::SmallVector<int64_t, 4>(sizes.size(), 0));
  // The text about the first tile holds for every full one, unless it is clipped.
  if (first.ok() && !first->is_clipped) first = tile->FullTile(sizes);
  if (!exact.ok() || !first.ok()) {
    report.error = std::string((exact.ok() ? first.status() : exact.status()).message());
    return report;
  }
  report.first = *std::move(first);
  report.first->is_exact = report.first->is_exact && exact->IsYes();
  return report;
}

}  // namespace

absl::Status CheckTileSizes(const Subject& subject, const CommandLine& line) {
  if (!line.tile_sizes) return absl::OkStatus();
  absl::Status first = absl::OkStatus();
  bool fits = false;
  const auto check_leaves = [&](const Shape& shape, std::optional<int64_t> only) {
    for (int64_t leaf = 0; leaf < shape.LeafCount(); ++leaf) {
      if (only.value_or(leaf) != leaf || !shape.Leaf(leaf).IsArray()) continue;
      fits = fits || SizesByPosition(*line.tile_sizes, shape.Leaf(leaf));
      if (first.ok()) first = DoesNotFit(*line.tile_sizes, shape.Leaf(leaf));
    }
  };
  if (line.output_to_input) check_leaves(subject.instruction->shape(), line.output_id);
  if (line.input_to_output) {
    for (size_t i = 0; i < subject.operands().size(); ++i) {
      if (line.operand_id.value_or(i) != static_cast<int64_t>(i)) continue;
      check_leaves(subject.operands()[i]->shape(), std::nullopt);
    }
  }
  if (fits || !line.output_to_input) return first.ok() || fits ? absl::OkStatus() : first;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::StatusOr<SubjectTiling> tiling =
      SubjectTiling::Create(subject, &context, LoopsOf(line));
  if (!tiling.ok()) return first.ok() ? absl::OkStatus() : first;
  return tiling->tiled().space().ParseSizes(*line.tile_sizes).status();
}

void AnswerTiling(const Subject& subject, Direction direction, const CommandLine& line,
                  const absl::StatusOr<SubjectTiling>& tiling,
                  std::vector<ReportedEntry>* entries) {
  const bool to_input = direction == Direction::kOutputToInput;
  for (ReportedEntry& entry : *entries) {
    // There may be no leaf of the output where nothing is read.
    if (entry.maps.empty()) continue;
    const Shape& from = to_input
                            ? subject.instruction->shape().Leaf(entry.output_leaf)
                            : subject.operands()[entry.operand]->shape().Leaf(entry.operand_leaf);
    std::optional<absl::StatusOr<std::vector<int64_t>>> sizes;
    if (line.tile_sizes) {
      if (std::optional<std::vector<int64_t>> own = SizesByPosition(*line.tile_sizes, from)) {
        sizes = *std::move(own);
      } else if (to_input && tiling.ok()) {
        sizes = tiling->SizesOfLeaf(*line.tile_sizes, entry.output_leaf);
      } else {
        sizes = DoesNotFit(*line.tile_sizes, from);
      }
    }
    for (ReportedMap& map : entry.maps) {
      map.tile = ReportOfTile(map.indexing, from, entry.pieces, sizes);
    }
  }
}

void AppendTile(const ReportedTile& tile, absl::string_view indent, std::string* out) {
  if (!tile.error.empty()) {
    absl::StrAppend(out, indent, "tile: none: ", tile.error, "\n");
    if (tile.offset_map.empty()) return;
  }
  if (tile.first) {
    const auto list = [&](auto text_of) {
      return absl::StrCat("(",
                          absl::StrJoin(tile.first->ranges, ", ",
                                        [&](std::string* text, const TileRange& range) {
                                          absl::StrAppend(text, text_of(range));
                                        }),
                          ")");
    };
    absl::StrAppend(
        out, indent, "tile: offsets ",
        list([](const TileRange& range) { return CountText(range.offset); }), ", sizes ",
        list([](const TileRange& range) { return absl::StrCat(range.size); }), ", strides ",
        list([](const TileRange& range) { return absl::StrCat(range.stride); }));
    if (tile.first->is_exact) {
      absl::StrAppend(out, "; exact");
    } else {
      absl::StrAppend(out, "; bounding");
      if (tile.first->excess) absl::StrAppend(out, ", ", *tile.first->excess, " not read");
    }
    if (tile.first->is_empty) {
      absl::StrAppend(out, "; nothing read");
    } else if (tile.first->is_clipped) {
      absl::StrAppend(out, "; clipped");
    }
    out->push_back('\n');
  }
  absl::StrAppend(out, indent, "tile offset: ", tile.offset_map, "\n");
  absl::StrAppend(out, indent, "tile size: ", tile.size_map, "\n");
  absl::StrAppend(out, indent, "tile stride: ", tile.stride_map, "\n");
  for (const std::string& condition : tile.conditions) {
    absl::StrAppend(out, indent, "tile condition: ", condition, "\n");
  }
}

void WriteTile(const ReportedTile& tile, JsonWriter* json) {
  json->FieldIfAny("error", tile.error);
  if (tile.first) {
    const auto& ranges = tile.first->ranges;
    json->Values("offsets", ranges, [](const TileRange& range) { return range.offset; });
    json->Values("sizes", ranges, [](const TileRange& range) { return range.size; });
    json->Values("strides", ranges, [](const TileRange& range) { return range.stride; });
    json->Field("exact", tile.first->is_exact);
    json->Field("clipped", tile.first->is_clipped);
    json->Field("empty", tile.first->is_empty);
    json->FieldIfAny("excess", tile.first->excess);
  }
  if (tile.offset_map.empty()) return;
  json->Field("offset_map", tile.offset_map);
  json->Field("size_map", tile.size_map);
  json->Field("stride_map", tile.stride_map);
  json->Field("conditions", tile.conditions);
}

}  // namespace xla_indexing
