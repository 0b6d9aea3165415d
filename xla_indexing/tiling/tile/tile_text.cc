#include "xla_indexing/tiling/tile/tile_text.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "xla_indexing/map/variable_names.h"
#include "xla_indexing/tiling/tile/tile_condition.h"
#include "xla_indexing/tiling/tile/tile_expr.h"

namespace xla_indexing::internal {
namespace {

std::vector<std::string> Numbered(const char* prefix, int count, int first = 0) {
  std::vector<std::string> names;
  names.reserve(count);
  for (int i = 0; i < count; ++i) names.push_back(absl::StrCat(prefix, first + i));
  return names;
}

TileNames NamesOfTile(const SymbolicTile& tile) {
  const std::vector<std::string> symbols = NamesOf(tile.map()).symbols;
  TileNames names;
  names.runtimes.assign(symbols.begin() + tile.map().num_ranges(), symbols.end());
  return names;
}

std::string List(llvm::ArrayRef<TileExpr> exprs, const TileNames& names) {
  return absl::StrCat("(",
                      absl::StrJoin(exprs, ", ",
                                    [&](std::string* out, const TileExpr& expr) {
                                      out->append(expr.ToString(names));
                                    }),
                      ")");
}

std::string MapOfSizes(int num_sizes, llvm::ArrayRef<TileExpr> exprs) {
  return absl::StrCat("(", absl::StrJoin(Numbered("t", num_sizes), ", "), ") -> ", List(exprs, {}));
}

}  // namespace

std::string OffsetMapText(const SymbolicTile& tile) {
  const TileNames names = NamesOfTile(tile);
  std::string text = absl::StrCat("(", absl::StrJoin(Numbered("k", tile.num_sizes()), ", "), ")[",
                                  absl::StrJoin(Numbered("t", tile.num_sizes()), ", "), "]");
  if (!names.runtimes.empty()) {
    absl::StrAppend(&text, "{", absl::StrJoin(names.runtimes, ", "), "}");
  }
  return absl::StrCat(text, " -> ", List(tile.Offsets(), names));
}

std::string SizeMapText(const SymbolicTile& tile) {
  return MapOfSizes(tile.num_sizes(), tile.Sizes());
}

std::string StrideMapText(const SymbolicTile& tile) {
  return MapOfSizes(tile.num_sizes(), tile.Strides());
}

std::vector<std::string> TileConditions(const SymbolicTile& tile, int first_size) {
  TileNames names;
  names.sizes = Numbered("t", tile.num_sizes(), first_size);
  std::vector<std::string> texts;
  for (const TileCondition& condition : tile.Conditions()) {
    texts.push_back(condition.ToString(names));
  }
  return texts;
}

}  // namespace xla_indexing::internal
