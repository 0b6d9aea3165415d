// In which order the programs of a grid compute its tiles.
//
// A launch numbers its programs 0, 1, ..; each finds from its number which tile it computes. With
// n_0, n_1, .. the numbers of tiles of the grid's dimensions, from the slowest varying to the
// fastest, program p computes in row-major order
//
//   k_i = p floordiv (n_{i+1} * n_{i+2} * ..) mod n_i
//
// Programs that run at the same time share what they load through the cache. In row-major order a
// row of tiles of a matmul shares its left operand, and reads all of the right one. *Groups* of g
// rows go column by column through their g rows instead, so that g * c neighbouring programs need g
// tiles of rows and c of columns: with n_r rows and n_c columns, the last two dimensions,
//
//   k_r = g * (p floordiv (g * n_c)) + p mod g,  k_c = p mod (g * n_c) floordiv g
//
// and in the last group, of n_r mod g rows where that is not 0, likewise with its own number of
// rows. Both directions are given as indexing maps, one for each kind of group.
//
// Example, 5 rows of 2 columns in groups of 2 rows:
//
//   column       0  1
//   row 0        0  2
//   row 1        1  3
//   row 2        4  6
//   row 3        5  7
//   row 4        8  9
//
// Errors. InvalidArgument for an order that does not name each dimension once, for sizes below 1
// and groups below 1, for groups without two dimensions, and where the number of programs does not
// fit int64.
//
// Source: the grouped ordering of Triton's matrix multiplication tutorial.
#ifndef XLA_INDEXING_TILING_KERNEL_PROGRAM_IDS_H_
#define XLA_INDEXING_TILING_KERNEL_PROGRAM_IDS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {

struct ProgramOrder {
  // The positions of the dimensions from the slowest to the fastest; empty: as they are.
  std::vector<int> dims;
  // Rows of the last but one of these in a group; 1: row-major order.
  int64_t group_rows = 1;
};

struct ProgramIds {
  int64_t num_programs = 0;
  // (p) -> (k_0, k_1, ..), the dimensions in their own order, for the programs of the full groups
  // and for those of the last one. Each program is in the domain of one of them.
  std::vector<IndexingMap> tile_of_program;
  // (k_0, k_1, ..) -> (p), likewise.
  std::vector<IndexingMap> program_of_tile;
};

absl::StatusOr<ProgramIds> NumberPrograms(absl::Span<const int64_t> num_tiles,
                                          const ProgramOrder& order, mlir::MLIRContext* context);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TILING_KERNEL_PROGRAM_IDS_H_
