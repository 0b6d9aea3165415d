#include "xla_indexing/tiling/program_ids.h"

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
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/interval.h"

namespace xla_indexing {
namespace {

using ::mlir::AffineExpr;

// Rows first_row, .., first_row + num_rows - 1 in groups of `group` rows each, which divides them.
struct Part {
  int64_t first_row = 0;
  int64_t num_rows = 0;
  int64_t group = 1;
};

}  // namespace

absl::StatusOr<ProgramIds> NumberPrograms(absl::Span<const int64_t> num_tiles,
                                          const ProgramOrder& order, mlir::MLIRContext* context) {
  const size_t rank = num_tiles.size();
  std::vector<int> dims = order.dims;
  if (dims.empty()) {
    dims.resize(rank);
    std::iota(dims.begin(), dims.end(), 0);
  }
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
  ProgramIds ids;
  ids.num_programs = 1;
  for (const int64_t count : num_tiles) {
    const std::optional<int64_t> product =
        count < 1 ? std::nullopt : internal::CheckedMul(ids.num_programs, count);
    if (!product) {
      return absl::InvalidArgumentError(
          absl::StrCat("programs for (", absl::StrJoin(num_tiles, ", "), ") tiles"));
    }
    ids.num_programs = *product;
  }
  // Without two dimensions there is one row of one column, or of all.
  const int row = rank >= 2 ? dims[rank - 2] : -1;
  const int column = rank >= 1 ? dims[rank - 1] : -1;
  const int64_t rows = row < 0 ? 1 : num_tiles[row];
  const int64_t columns = column < 0 ? 1 : num_tiles[column];
  const int64_t group = std::min(order.group_rows, rows);
  std::vector<Part> parts = {{0, rows / group * group, group}};
  if (rows % group != 0) parts.push_back({rows / group * group, rows % group, rows % group});

  Variables tile_dims;
  for (const int64_t count : num_tiles) tile_dims.push_back({Interval::OfSize(count), {}});
  const Variables programs = {{Interval::OfSize(ids.num_programs), {}}};
  const AffineExpr p = mlir::getAffineDimExpr(0, context);
  for (const Part& part : parts) {
    // Within one plane of rows and columns, from the part's first program on.
    const int64_t first = part.first_row * columns;
    const AffineExpr in_plane = p % (rows * columns);
    const AffineExpr in_part = in_plane - first;
    const AffineExpr in_group = in_part % (part.group * columns);
    llvm::SmallVector<AffineExpr, 4> tile(rank);
    if (row >= 0) {
      tile[row] = in_part.floorDiv(part.group * columns) * part.group + in_group % part.group +
                  part.first_row;
    }
    if (column >= 0) tile[column] = in_group.floorDiv(part.group);
    int64_t stride = rows * columns;
    for (size_t i = rank; i-- > 2;) {
      const int dim = dims[i - 2];
      tile[dim] = p.floorDiv(stride) % num_tiles[dim];
      stride *= num_tiles[dim];
    }
    const Interval own = Interval::OfSize(part.num_rows * columns).Add(first);
    IndexingMap& to_tile = ids.tile_of_program.emplace_back(
        kPartsFit, mlir::AffineMap::get(1, 0, tile, context), programs, Variables(), Variables());
    to_tile.AddConstraint(kPartsFit, in_plane, own);
    to_tile.Simplify();

    AffineExpr program = mlir::getAffineConstantExpr(first, context);
    if (row >= 0) {
      const AffineExpr r = mlir::getAffineDimExpr(row, context) - part.first_row;
      program = program + r.floorDiv(part.group) * (part.group * columns) + r % part.group;
    }
    if (column >= 0) program = program + mlir::getAffineDimExpr(column, context) * part.group;
    stride = rows * columns;
    for (size_t i = rank; i-- > 2;) {
      program = program + mlir::getAffineDimExpr(dims[i - 2], context) * stride;
      stride *= num_tiles[dims[i - 2]];
    }
    IndexingMap& to_program =
        ids.program_of_tile.emplace_back(kPartsFit, mlir::AffineMap::get(rank, 0, program, context),
                                         tile_dims, Variables(), Variables());
    if (row >= 0) {
      to_program.AddConstraint(kPartsFit, mlir::getAffineDimExpr(row, context),
                               Interval::OfSize(part.num_rows).Add(part.first_row));
    }
    to_program.Simplify();
  }
  return ids;
}

}  // namespace xla_indexing
