// Where the elements of an array lie in memory: the one definition of physical addresses.
//
// Mathematics. The dimensions in the order of `minor_to_major`, the most major first, are the
// *axes*: an index (e_n, .., e_1) in sizes (d_n, .., d_1). The tiles of the layout act one after
// the other, each on the axes that the one before it has left. The sizes t_k, .., t_1 of a tile
// stand for the k most minor axes; axes of size 1 are put before them where there are fewer than k.
//
//   combine   t_i = *: axis i joins the next more minor one,
//             e = e_i * d_(i-1) + e_(i-1),  d = d_i * d_(i-1);  the last t is no *
//   pad       d becomes ceil(d / t) * t; the elements keep their indices
//   cut       e becomes floor(e / t) in ceil(d / t), and e mod t in t; the remainders of all axes
//             follow the quotients of all axes
//
// With the axes (e_m, .., e_1) in sizes (p_m, .., p_1) that the last tile leaves,
//
//   position   of an element: the row-major one, (.. (e_m * p_(m-1) + e_(m-1)) .. ) * p_1 + e_1
//   bit        where an element begins: position * width
//   positions  p_m * .. * p_1: the elements, and the padding between and behind them
//   buffer     the positions, and those that `L(n)` adds to make a multiple of n, times the width,
//              in whole bytes
//
// The width of an element is that of the layout (`E(4)`), or else that of its type. A bounded
// dimension has its bound as size. So an index is padded, reshaped and transposed, whatever it is
// made of: numbers, expressions, digits.
//
// Example, f32[3,5]{1,0:T(2,2)}: the axes (i, j) in (3, 5) become (floor(i/2), floor(j/2), i mod 2,
// j mod 2) in (2, 3, 2, 2); element (2, 3) is at position ((1*3 + 1)*2 + 0)*2 + 1 = 17 of 24, and
// the buffer has 96 bytes, of which 60 are elements.
//
// Errors. Unimplemented, with what the array has as the message: a layout that is sparse, split, of
// a physical shape or with a prefix, sizes without a bound, a tile that has a size of 0 or ends in
// *, more than 64 axes. OutOfRange where the positions, or the padded sizes, pass int64.
//
// Source: the facts of https://openxla.org/xla/tiled_layout.

#ifndef XLA_INDEXING_HLO_MEMORY_PHYSICAL_LAYOUT_H_
#define XLA_INDEXING_HLO_MEMORY_PHYSICAL_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

// Bits that an element of the array takes in memory.
int64_t BitsOfElement(const Shape& array);

struct PhysicalLayout {
  // What one size of a tile does: `combined` axes, perhaps none or one, become one of `size`, which
  // is padded and cut into pieces of `tile`.
  struct TiledAxis {
    int64_t combined = 0;
    int64_t size = 1;
    int64_t tile = 1;

    int64_t pieces() const { return CeilDiv(size, tile); }
    int64_t padded() const { return pieces() * tile; }
  };
  struct Tiling {
    DimensionVector sizes;  // of the axes that there are before
    int64_t first = 0;      // axes before this one stay as they are
    absl::InlinedVector<TiledAxis, 4> axes;
  };

  int64_t width = 0;               // of an element, in bits
  DimensionVector major_to_minor;  // the dimension that each axis is at first
  std::vector<Tiling> tilings;     // without those that do nothing
  DimensionVector sizes;           // of the axes that there are after the last
  int64_t positions = 0;           // their product
  int64_t alignment = 1;           // of the number of positions in the buffer

  // Bytes of the buffer: fewer than 2^124.
  Int128 BufferBytes() const;
};

absl::StatusOr<PhysicalLayout> PhysicalLayoutOf(const Shape& array);

// Whether equal indices name equal places in memory in all arrays of these two shapes.
bool HaveSamePlaces(const Shape& a, const Shape& b);

// The position of the element with these indices, which are within their sizes.
int64_t PositionOf(const PhysicalLayout& layout, absl::Span<const int64_t> indices);

// How many elements of the narrower array take the bits of one element of the wider: in the first
// field where the first array is the wider one, in the second where the second is. All else is 1.
struct WidthRatio {
  int64_t narrow_in_from = 1;
  int64_t narrow_in_to = 1;
};
// Unimplemented where neither width is a multiple of the other, OutOfRange where the narrow
// elements in the positions of the other are more than 2^63 - 1.
absl::StatusOr<WidthRatio> WidthRatioOf(const PhysicalLayout& from, const PhysicalLayout& to);

template <typename Index>
using PhysicalIndices = absl::InlinedVector<Index, 6>;

// The index, in the axes in memory, of the element with the indices `logical`, one for each
// dimension. `algebra` is what indices are computed with:
//
//   PhysicalIndices<Index> Reshape(absl::Span<const Index> indices, absl::Span<const int64_t> from,
//                                  absl::Span<const int64_t> to)
//       of the element at the same row-major position, where sizes have equal products
//   Index Pad(const Index& index, int64_t from, int64_t to)      to the greater size
//   Index Unpad(const Index& index, int64_t from, int64_t to)    to the lesser size: asks that the
//                                                                index is in [0, to - 1]
//   Index Any(int64_t size)                                      each index of an axis
template <typename Index, typename Algebra>
PhysicalIndices<Index> ToPhysical(const PhysicalLayout& layout, absl::Span<const Index> logical,
                                  Algebra& algebra) {
  PhysicalIndices<Index> axes;
  for (const int64_t dim : layout.major_to_minor) axes.push_back(logical[dim]);
  for (const PhysicalLayout::Tiling& tiling : layout.tilings) {
    PhysicalIndices<Index> next(axes.begin(), axes.begin() + tiling.first);
    PhysicalIndices<Index> remainders;
    int64_t first = tiling.first;
    for (const PhysicalLayout::TiledAxis& axis : tiling.axes) {
      const auto joined = absl::MakeConstSpan(axes).subspan(first, axis.combined);
      const auto sizes = absl::MakeConstSpan(tiling.sizes).subspan(first, axis.combined);
      Index whole = algebra.Reshape(joined, sizes, {axis.size})[0];
      const int64_t padded = axis.padded();
      if (padded != axis.size) whole = algebra.Pad(whole, axis.size, padded);
      PhysicalIndices<Index> parts = algebra.Reshape({whole}, {padded}, {axis.pieces(), axis.tile});
      next.push_back(std::move(parts[0]));
      remainders.push_back(std::move(parts[1]));
      first += axis.combined;
    }
    for (Index& remainder : remainders) next.push_back(std::move(remainder));
    axes = std::move(next);
  }
  return axes;
}

// The indices of the element with the index `axes` in the axes in memory; asks that there is one,
// and that the place is not padding.
template <typename Index, typename Algebra>
PhysicalIndices<Index> ToLogical(const PhysicalLayout& layout, PhysicalIndices<Index> axes,
                                 Algebra& algebra) {
  for (size_t i = layout.tilings.size(); i-- > 0;) {
    const PhysicalLayout::Tiling& tiling = layout.tilings[i];
    PhysicalIndices<Index> before(axes.begin(), axes.begin() + tiling.first);
    int64_t first = tiling.first;
    int64_t piece = tiling.first;
    for (const PhysicalLayout::TiledAxis& axis : tiling.axes) {
      const int64_t padded = axis.padded();
      Index whole = algebra.Reshape({axes[piece], axes[piece + tiling.axes.size()]},
                                    {axis.pieces(), axis.tile}, {padded})[0];
      if (padded != axis.size) whole = algebra.Unpad(whole, padded, axis.size);
      const auto sizes = absl::MakeConstSpan(tiling.sizes).subspan(first, axis.combined);
      for (Index& index : algebra.Reshape({whole}, {axis.size}, sizes)) {
        before.push_back(std::move(index));
      }
      first += axis.combined;
      ++piece;
    }
    axes = std::move(before);
  }
  PhysicalIndices<Index> logical(axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    logical[layout.major_to_minor[i]] = std::move(axes[i]);
  }
  return logical;
}

// The indices, in an array with the layout `to`, of the elements that share bits with the element
// with the indices `logical` in an array with the layout `from` where both lie at one address; asks
// that there are such elements. Both arrays have elements.
template <typename Index, typename Algebra>
PhysicalIndices<Index> AtSamePlace(const PhysicalLayout& from, const PhysicalLayout& to,
                                   const WidthRatio& ratio, absl::Span<const Index> logical,
                                   Algebra& algebra) {
  PhysicalIndices<Index> axes = ToPhysical(from, logical, algebra);
  // Wide elements are arrays of narrow ones.
  DimensionVector from_sizes = from.sizes;
  DimensionVector to_sizes = to.sizes;
  if (ratio.narrow_in_from != 1) {
    from_sizes.push_back(ratio.narrow_in_from);
    axes.push_back(algebra.Any(ratio.narrow_in_from));
  }
  if (ratio.narrow_in_to != 1) to_sizes.push_back(ratio.narrow_in_to);
  const int64_t from_count = from.positions * ratio.narrow_in_from;
  const int64_t to_count = to.positions * ratio.narrow_in_to;
  if (from_count == to_count) {
    axes = algebra.Reshape(axes, from_sizes, to_sizes);
  } else {
    Index position = algebra.Reshape(axes, from_sizes, {from_count})[0];
    position = from_count < to_count ? algebra.Pad(position, from_count, to_count)
                                     : algebra.Unpad(position, from_count, to_count);
    axes = algebra.Reshape({position}, {to_count}, to_sizes);
  }
  if (ratio.narrow_in_to != 1) axes.pop_back();
  return ToLogical(to, std::move(axes), algebra);
}

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_MEMORY_PHYSICAL_LAYOUT_H_
