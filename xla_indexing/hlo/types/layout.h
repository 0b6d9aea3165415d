// Layouts of array shapes: the order in which the dimensions of an array lie in memory and
// everything else that HLO text writes between the braces after a shape,
// `f32[8,128]{1,0:T(8,128)S(1)}`.
//
// `minor_to_major` names the dimension that varies fastest in memory first, so `{1,0}` is row-major
// for a matrix. A shape without a layout is read as row-major (descending dimension numbers).

#ifndef XLA_INDEXING_HLO_TYPES_LAYOUT_H_
#define XLA_INDEXING_HLO_TYPES_LAYOUT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "xla_indexing/hlo/types/element_type.h"

namespace xla_indexing {

class Shape;

// One level of tiling: the sizes of a tile of the most minor dimensions, written `T(8,128)`.
struct Tile {
  // A size that stands for "this dimension joins the next more minor one", written `*`.
  static constexpr int64_t kCombineDimension = INT64_MIN;

  absl::InlinedVector<int64_t, 2> dimensions;

  friend bool operator==(const Tile& a, const Tile& b) { return a.dimensions == b.dimensions; }
};

// Where a dimension is split between memories, written `SC(1:200)`: the dimension and the indices
// at which a new part begins.
struct SplitConfig {
  int64_t dimension = 0;
  std::vector<int64_t> split_indices;

  friend bool operator==(const SplitConfig& a, const SplitConfig& b) {
    return a.dimension == b.dimension && a.split_indices == b.split_indices;
  }
};

struct Layout {
  // A permutation of the dimension numbers, the most minor first.
  absl::InlinedVector<int64_t, 6> minor_to_major;

  // The rest is rare. The order here is the order in the text.
  std::string dim_levels;                           // D(..): sparse forms; the text inside.
  std::vector<Tile> tiles;                          // T(..)(..)
  int64_t tail_padding_alignment = 1;               // L(n): elements
  ElementType index_type = ElementType::kTuple;     // #(u32); kTuple stands for none.
  ElementType pointer_type = ElementType::kTuple;   // *(u32); kTuple stands for none.
  int64_t element_size_in_bits = 0;                 // E(n); 0 stands for the type's own width.
  int64_t memory_space = 0;                         // S(n)
  std::vector<SplitConfig> split_configs;           // SC(d:i,j)(..)
  std::shared_ptr<const Shape> physical_shape;      // P(shape)
  int64_t dynamic_shape_metadata_prefix_bytes = 0;  // M(n)

  // Whether only `minor_to_major` carries information.
  bool IsPlain() const;
  // `{1,0:T(8,128)E(4)}`.
  std::string ToString() const;
};

// The row-major layout of an array of `rank` dimensions: {rank-1, .., 1, 0}.
Layout RowMajorLayout(int64_t rank);

bool operator==(const Layout& a, const Layout& b);
inline bool operator!=(const Layout& a, const Layout& b) { return !(a == b); }

template <typename H>
H AbslHashValue(H h, const Layout& layout) {
  // Plain layouts are nearly all of them; the rest may collide.
  return H::combine(std::move(h), layout.minor_to_major, layout.tiles.size(),
                    layout.element_size_in_bits, layout.memory_space);
}

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_TYPES_LAYOUT_H_
