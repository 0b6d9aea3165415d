// Values of computations of floating-point numbers, in double precision: of a graph of tiles, from
// what the public headers say of it alone, and of the untiled computation, from the definitions of
// the operations (tests/reference/judge/tile_execution.h).
//
// Elementwise operations, what moves elements, dot, convolution, reduce and reduce-window with one
// array each. Other operations, tuples and offsets that are known when the program runs are
// Unimplemented.

#ifndef XLA_INDEXING_TESTS_REFERENCE_JUDGE_TILE_VALUES_H_
#define XLA_INDEXING_TESTS_REFERENCE_JUDGE_TILE_VALUES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/reference/judge/tile_execution.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/tiling/kernel/tile_graph.h"

namespace xla_indexing::reference {

// The elements of arrays, row by row.
using FloatArray = std::vector<double>;

// The value of the root for these arguments, by number of the parameter.
absl::StatusOr<FloatArray> UntiledValue(const HloComputation& computation,
                                        const NumberedComputation& numbered,
                                        const std::vector<FloatArray>& arguments);

struct TiledValue {
  FloatArray root;
  // Counts the elements that were loaded and stored.
  int64_t bytes = 0;
};

// Errors where something is read that is not there.
absl::StatusOr<TiledValue> ValueOfTiles(const TileGraph& graph,
                                        const std::vector<FloatArray>& arguments);

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_JUDGE_TILE_VALUES_H_
