// Where the elements of an array lie in memory, by the formulas of XLA's page on tiled layouts
// (https://openxla.org/xla/tiled_layout), one element at a time:
//
//   linear_index(e, d)       the row-major position
//   with a tile t            linear_index((floor(e / t), e mod t), (ceil(d / t), t)), where (a, b)
//                            is a followed by b and arithmetic is by element; what stands before
//                            the dimensions that t is for stays
//   with further tiles       the next one is for what the one before it has made
//   * in a tile              that dimension is taken out of e, d and t; what stands after it in e
//                            and d becomes one dimension with it
//   t longer than d          as if d had dimensions of size 1 before it

#ifndef XLA_INDEXING_TESTS_REFERENCE_JUDGE_TILED_LAYOUT_H_
#define XLA_INDEXING_TESTS_REFERENCE_JUDGE_TILED_LAYOUT_H_

#include <cstdint>
#include <vector>

#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::reference {

// Bits of one element.
int64_t WidthOf(const Shape& array);

// The position of an element, counted in elements and in places that are padding.
int64_t PositionOf(const Shape& array, const std::vector<int64_t>& index);

// How many positions there are.
int64_t NumPositions(const Shape& array);

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_JUDGE_TILED_LAYOUT_H_
