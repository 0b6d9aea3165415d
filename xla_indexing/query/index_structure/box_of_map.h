// A map as loops: what hlo/transforms/replace_indexed.h needs to write a gather or scatter as
// operations that move elements by their attributes.
//
// Mathematics. A map whose domain is a box of its dimensions and whose results are sums of runtime
// variables of one value and of digits of single dimensions (map/expr/digit_view.h) is a sum over loops:
// d_i + shift is written in digits, with the ends of digits m_1 | m_2 | .. as their weights, and each digit
// of a result is a sum of these. Where a dimension does not begin or end at a multiple of the last weight,
// loops go on to the next multiples and what they have too much is left out; the coordinates there have
// to be inside the operand, too.
//
// Example: (d0) -> (d0 floordiv 3), d0 in [0, 29] has loops of counts 10 and 3, and the coordinate
// l_0: the array of 10 is broadcast to [10, 3] and reshaped.
#ifndef XLA_INDEXING_QUERY_INDEX_STRUCTURE_BOX_OF_MAP_H_
#define XLA_INDEXING_QUERY_INDEX_STRUCTURE_BOX_OF_MAP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/transforms/replace_indexed.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

// What a box is, beside the movements of each dimension.
enum class BoxKind : uint8_t { kMovements, kDiagonal, kStencil };

struct MapBox {
  MovedBox box;
  std::string why_not;  // in one line, where the map is no box
  bool IsBox() const { return why_not.empty(); }
};

// Coordinates outside the operand: there are none, they are elements of a fill, or it is assumed that
// there are none.
enum class Outside : uint8_t { kNever, kIsFill, kAssumedNever };

// The loops of a map to elements of `operand`; constraints of the map are ignored.
MapBox BoxOfMap(const OperandIndexing& map, const Shape& operand,
                Outside outside = Outside::kNever);

// The box of a map to elements of `operand` in each batch element: of dimensions that are coordinates
// of their own and that nothing else depends on but the elements that starts are. None where there are
// no such starts, or where it is no chain of movements.
std::optional<MovedBox> BoxInEachBatchElement(const OperandIndexing& map, const Shape& operand,
                                              Outside outside = Outside::kNever);

// Whether loops go on to where the dimensions do not.
bool IsRounded(const MovedBox& box);

// The map in pieces that begin and end at multiples of the last divisor of a dimension, where it has
// few.
std::vector<OperandIndexing> AtMultiples(const OperandIndexing& map);

// An array seen with its dimensions in digits.
struct DigitShape {
  std::vector<int64_t> sizes;
  // For each dimension of the array the weights of its digits, the greatest first.
  std::vector<std::vector<int64_t>> weights;
};
// Where floors and remainders in the maps, and in their constraints, are digits of the dimensions of
// the array from which they start: 90 = 10 * 9 for (d0 floordiv 9, d0 mod 9). None where there are
// none.
std::optional<DigitShape> CommonDigits(const std::vector<OperandIndexing>& maps,
                                       const std::vector<int64_t>& sizes);
// The map from the digits. None where it cannot be written.
std::optional<OperandIndexing> FromDigits(const OperandIndexing& map, const DigitShape& digits);

// Makes one box of boxes that follow one another in steps along a dimension, as far as possible.
void JoinBoxes(std::vector<MovedBox>* boxes);

BoxKind KindOfBox(const MovedBox& box);
// `strided slice, reverse, transpose`; `diagonal`; `stencil`.
std::string NameOfBox(const MovedBox& box, const Shape& operand);
// What has that name in each batch element: `batch of dynamic-slices, transpose`.
std::string NameOfBatch(absl::string_view name);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_INDEX_STRUCTURE_BOX_OF_MAP_H_
