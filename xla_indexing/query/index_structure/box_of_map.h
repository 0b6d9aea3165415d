// A map as what hlo/transforms/replace_indexed.h needs to write a gather or scatter as operations that
// move elements by their attributes.
//
// Mathematics. A map whose domain is a box of its dimensions and each of whose results is a constant, a
// multiple of one dimension that no other result has, and a runtime variable of one value is a box
// (hlo/transforms/moved_box.h). A map with quotients may be several, one after the other
// (affine_runs.h).
//
// Example: (d0, d1) -> (d1, 7 - 2 * d0), d0 in [0, 3], d1 in [0, 4], of f32[5,8] is a box of [4, 5] with
// the coordinates d1 and 7 - 2 * d0: `strided slice, reverse, transpose`.
#ifndef XLA_INDEXING_QUERY_INDEX_STRUCTURE_BOX_OF_MAP_H_
#define XLA_INDEXING_QUERY_INDEX_STRUCTURE_BOX_OF_MAP_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/transforms/moved_box.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

enum class BoxKind : uint8_t {
  kMovements,
  kDiagonal,  // an index is in two coordinates
  kStencil,   // two indices are in one coordinate
  kNone,
};

struct MapBox {
  BoxKind kind = BoxKind::kNone;
  MovedBox box;         // of movements
  std::string why_not;  // in one line, of others
  bool IsBox() const { return kind == BoxKind::kMovements; }
};

// Whether coordinates that depend on runtime values may be outside of the operand; or it is assumed that
// none are.
enum class Outside : uint8_t { kMayBe, kAssumedNever };

// The box of a map to elements of `operand`; constraints of the map are ignored.
MapBox BoxOfMap(const OperandIndexing& map, const Shape& operand,
                Outside outside = Outside::kMayBe);

// The box of a map to elements of `operand` in each batch element: of dimensions that are coordinates
// of their own and that nothing else depends on but the elements that starts are. Nullopt if there are
// no such starts, or where it is no chain of movements.
std::optional<MovedBox> BoxInEachBatchElement(const OperandIndexing& map, const Shape& operand,
                                              Outside outside = Outside::kMayBe);

// What the maps of an instruction are made of, with boxes that follow one another in steps joined.
struct Boxes {
  std::vector<MovedBox> boxes;
  std::string why_not;  // empty where all maps are boxes
};
Boxes BoxesOf(const std::vector<OperandIndexing>& maps, const Shape& operand,
              Outside outside = Outside::kMayBe);

bool CoversAll(const MovedBox& box, const Shape& array);

// `strided slice, reverse, transpose`.
std::string NameOfBox(const MovedBox& box, const Shape& operand);
// What has that name in each batch element: `batch of dynamic-slices, transpose`.
std::string NameOfBatch(absl::string_view name);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_INDEX_STRUCTURE_BOX_OF_MAP_H_
