#include "xla_indexing/tiling/kernel/program_ids.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing {
namespace {

using ::mlir::AffineExpr;

// Rows first_row, .., first_row + num_rows - 1 in groups of `group` rows each, which divides them.
struct RowGroups {
  int64_t first_row = 0;
  int64_t num_rows = 0;
  int64_t group = 1;
};

// The order in which programs are numbered: rows and columns are the last two dimensions of `dims`.
// Without two dimensions there is one row of one column, or of all.
struct Order {
  Order(absl::Span<const int64_t> tiles, std::vector<int> ordered, int64_t group_rows)
      : num_tiles(tiles),
        dims(std::move(ordered)),
        row(dims.size() >= 2 ? dims[dims.size() - 2] : -1),
        column(dims.empty() ? -1 : dims.back()),
        columns(column < 0 ? 1 : num_tiles[column]),
        rows(row < 0 ? 1 : num_tiles[row]) {
    const int64_t group = std::min(group_rows, rows);
    parts.push_back({0, rows / group * group, group});
    if (rows % group != 0) parts.push_back({rows / group * group, rows % group, rows % group});
  }

  absl::Span<const int64_t> num_tiles;
  std::vector<int> dims;
  int row;
  int column;
  int64_t columns;
  int64_t rows;
  std::vector<RowGroups> parts;
};

absl::Status CheckOrder(size_t rank, const ProgramOrder& order, const std::vector<int>& dims) {
  std::vector<int> sorted = dims;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < std::max(rank, sorted.size()); ++i) {
    if (i < rank && i < sorted.size() && sorted[i] == static_cast<int>(i)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "an order of the dimensions ", absl::StrJoin(dims, ", "), " for ", rank, " dimensions"));
  }
  if (order.group_rows < 1 || (order.group_rows > 1 && rank < 2)) {
    return absl::InvalidArgumentError(
        absl::StrCat("groups of ", order.group_rows, " rows for ", rank, " dimensions"));
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> CountPrograms(absl::Span<const int64_t> num_tiles) {
  std::optional<int64_t> product = 1;
  for (const int64_t count : num_tiles) {
    product = count < 1 ? std::nullopt : internal::CheckedMul(*product, count);
    if (!product) {
      return absl::InvalidArgumentError(
          absl::StrCat("programs for (", absl::StrJoin(num_tiles, ", "), ") tiles"));
    }
  }
  return *product;
}

// The tile of each program of a part.
IndexingMap TileOfProgram(const Order& order, const RowGroups& part, const Interval& programs,
                          mlir::MLIRContext* context) {
  const AffineExpr p = mlir::getAffineDimExpr(0, context);
  // Within one plane of rows and columns, from the part's first program on.
  const int64_t first = part.first_row * order.columns;
  const AffineExpr in_plane = p % (order.rows * order.columns);
  const AffineExpr in_part = in_plane - first;
  const AffineExpr in_group = in_part % (part.group * order.columns);
  llvm::SmallVector<AffineExpr, 4> tile(order.dims.size());
  if (order.row >= 0) {
    tile[order.row] = in_part.floorDiv(part.group * order.columns) * part.group +
                      in_group % part.group + part.first_row;
  }
  if (order.column >= 0) tile[order.column] = in_group.floorDiv(part.group);
  int64_t stride = order.rows * order.columns;
  for (size_t i = order.dims.size(); i-- > 2;) {
    const int dim = order.dims[i - 2];
    tile[dim] = p.floorDiv(stride) % order.num_tiles[dim];
    stride *= order.num_tiles[dim];
  }
  IndexingMap map(kPartsFit, mlir::AffineMap::get(1, 0, tile, context), {{programs, {}}},
                  Variables(), Variables());
  map.AddConstraint(kPartsFit, in_plane,
                    Interval::OfSize(part.num_rows * order.columns).Add(first));
  map.Simplify();
  return map;
}

// The program of each tile of a part.
IndexingMap ProgramOfTile(const Order& order, const RowGroups& part, mlir::MLIRContext* context) {
  AffineExpr program = mlir::getAffineConstantExpr(part.first_row * order.columns, context);
  if (order.row >= 0) {
    const AffineExpr row = mlir::getAffineDimExpr(order.row, context) - part.first_row;
    program = program + row.floorDiv(part.group) * (part.group * order.columns) + row % part.group;
  }
  if (order.column >= 0) {
    program = program + mlir::getAffineDimExpr(order.column, context) * part.group;
  }
  int64_t stride = order.rows * order.columns;
  for (size_t i = order.dims.size(); i-- > 2;) {
    program = program + mlir::getAffineDimExpr(order.dims[i - 2], context) * stride;
    stride *= order.num_tiles[order.dims[i - 2]];
  }
  Variables tiles;
  for (const int64_t count : order.num_tiles) tiles.push_back({Interval::OfSize(count), {}});
  IndexingMap map(kPartsFit, mlir::AffineMap::get(order.dims.size(), 0, program, context),
                  std::move(tiles), Variables(), Variables());
  if (order.row >= 0) {
    map.AddConstraint(kPartsFit, mlir::getAffineDimExpr(order.row, context),
                      Interval::OfSize(part.num_rows).Add(part.first_row));
  }
  map.Simplify();
  return map;
}

}  // namespace

absl::StatusOr<ProgramIds> NumberPrograms(absl::Span<const int64_t> num_tiles,
                                          const ProgramOrder& order, mlir::MLIRContext* context) {
  std::vector<int> dims = order.dims;
  if (dims.empty()) {
    dims.resize(num_tiles.size());
    std::iota(dims.begin(), dims.end(), 0);
  }
  if (absl::Status status = CheckOrder(num_tiles.size(), order, dims); !status.ok()) return status;
  const absl::StatusOr<int64_t> num_programs = CountPrograms(num_tiles);
  if (!num_programs.ok()) return num_programs.status();
  ProgramIds ids;
  ids.num_programs = *num_programs;
  const Order numbered(num_tiles, std::move(dims), order.group_rows);
  for (const RowGroups& part : numbered.parts) {
    ids.tile_of_program.push_back(
        TileOfProgram(numbered, part, Interval::OfSize(ids.num_programs), context));
    ids.program_of_tile.push_back(ProgramOfTile(numbered, part, context));
  }
  return ids;
}

}  // namespace xla_indexing
