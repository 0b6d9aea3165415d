#include "xla_indexing/hlo/memory/physical_layout.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/layout.h"

namespace xla_indexing::internal {
namespace {

constexpr size_t kMaxAxes = 64;

// The product; 0 where one of the sizes is 0; nullopt if the others' does not fit.
std::optional<int64_t> ProductOf(absl::Span<const int64_t> sizes) {
  std::optional<int64_t> product = 1;
  for (const int64_t size : sizes) {
    if (product && size != 0) product = CheckedMul(*product, size);
  }
  return product && absl::c_linear_search(sizes, 0) ? 0 : product;
}

absl::Status PositionsDoNotFit() {
  return absl::OutOfRangeError("more than 2^63 - 1 places in memory");
}

// What the sizes of a tile do to axes of these sizes, which become those that it leaves.
absl::Status AddTiling(absl::Span<const int64_t> tile, PhysicalLayout* layout) {
  PhysicalLayout::Tiling tiling;
  tiling.sizes = layout->sizes;
  const auto rank = static_cast<int64_t>(tiling.sizes.size());
  const auto tiled = static_cast<int64_t>(tile.size());
  tiling.first = std::max<int64_t>(rank - tiled, 0);
  int64_t first = tiling.first;
  PhysicalLayout::TiledAxis axis;
  for (int64_t i = 0; i < tiled; ++i) {
    if (rank - tiled + i >= 0) ++axis.combined;
    if (tile[i] == Tile::kCombineDimension) {
      if (i + 1 < tiled) continue;
      return absl::UnimplementedError("a tile that ends in *");
    }
    if (tile[i] <= 0) return absl::UnimplementedError("a tile of size 0");
    const std::optional<int64_t> size =
        ProductOf(absl::MakeConstSpan(tiling.sizes).subspan(first, axis.combined));
    if (!size) return PositionsDoNotFit();
    axis.size = *size;
    axis.tile = tile[i];
    if (!CheckedMul(axis.pieces(), axis.tile)) return PositionsDoNotFit();
    tiling.axes.push_back(axis);
    first += axis.combined;
    axis = PhysicalLayout::TiledAxis();
  }
  layout->sizes.resize(tiling.first);
  for (const PhysicalLayout::TiledAxis& cut : tiling.axes) layout->sizes.push_back(cut.pieces());
  for (const PhysicalLayout::TiledAxis& cut : tiling.axes) layout->sizes.push_back(cut.tile);
  if (layout->sizes.size() > kMaxAxes) {
    return absl::UnimplementedError(absl::StrCat("tiles that make more than ", kMaxAxes, " axes"));
  }
  layout->tilings.push_back(std::move(tiling));
  return absl::OkStatus();
}

bool MovesElements(const Layout& layout) {
  return !layout.dim_levels.empty() || !layout.split_configs.empty() ||
         layout.physical_shape != nullptr || layout.dynamic_shape_metadata_prefix_bytes != 0;
}

// Indices that are numbers.
struct IntegerAlgebra {
  static PhysicalIndices<int64_t> Reshape(absl::Span<const int64_t> indices,
                                          absl::Span<const int64_t> from,
                                          absl::Span<const int64_t> to) {
    int64_t position = 0;
    for (size_t i = 0; i < indices.size(); ++i) position = position * from[i] + indices[i];
    PhysicalIndices<int64_t> result(to.size());
    for (size_t i = to.size(); i-- > 0;) {
      result[i] = i == 0 ? position : position % to[i];
      position /= to[i];
    }
    return result;
  }
  static int64_t Pad(int64_t index, int64_t /*from*/, int64_t /*to*/) { return index; }
};

}  // namespace

int64_t BitsOfElement(const Shape& array) {
  const int64_t given = array.has_layout() ? array.layout()->element_size_in_bits : 0;
  return given > 0 ? given : StorageBitWidth(array.element_type());
}

Int128 PhysicalLayout::BufferBytes() const {
  const Int128 aligned = (Int128{positions} + alignment - 1) / alignment * alignment;
  return (aligned * width + 7) / 8;
}

absl::StatusOr<PhysicalLayout> PhysicalLayoutOf(const Shape& array) {
  if (!array.IsArray()) return absl::UnimplementedError("no elements, since it is no array");
  if (array.HasUnboundedDimension()) {
    return absl::UnimplementedError("sizes that have no bound");
  }
  PhysicalLayout result;
  result.width = BitsOfElement(array);
  const int64_t rank = array.rank();
  for (int64_t i = rank; i-- > 0;) {
    const int64_t dim = array.has_layout() ? array.layout()->minor_to_major[i] : rank - 1 - i;
    result.major_to_minor.push_back(dim);
    result.sizes.push_back(array.dimension(dim));
  }
  if (array.has_layout()) {
    const Layout& layout = *array.layout();
    if (MovesElements(layout)) {
      return absl::UnimplementedError("a layout that is sparse, split or has a prefix");
    }
    result.alignment = std::max<int64_t>(layout.tail_padding_alignment, 1);
    for (const Tile& tile : layout.tiles) {
      if (tile.dimensions.empty()) continue;
      absl::Status status = AddTiling(tile.dimensions, &result);
      if (!status.ok()) return status;
    }
  }
  const std::optional<int64_t> positions = ProductOf(result.sizes);
  if (!positions) return PositionsDoNotFit();
  result.positions = *positions;
  return result;
}

int64_t PositionOf(const PhysicalLayout& layout, absl::Span<const int64_t> indices) {
  IntegerAlgebra algebra;
  const PhysicalIndices<int64_t> axes = ToPhysical(layout, indices, algebra);
  return algebra.Reshape(axes, layout.sizes, {layout.positions})[0];
}

absl::StatusOr<WidthRatio> WidthRatioOf(const PhysicalLayout& from, const PhysicalLayout& to) {
  if (from.width % to.width != 0 && to.width % from.width != 0) {
    return absl::UnimplementedError(
        absl::StrCat("elements of ", from.width, " bits as elements of ", to.width, " bits"));
  }
  const WidthRatio ratio = {std::max<int64_t>(from.width / to.width, 1),
                            std::max<int64_t>(to.width / from.width, 1)};
  if (!CheckedMul(from.positions, ratio.narrow_in_from) ||
      !CheckedMul(to.positions, ratio.narrow_in_to)) {
    return PositionsDoNotFit();
  }
  return ratio;
}

bool HaveSamePlaces(const Shape& a, const Shape& b) {
  if (!SameDimensions(a, b) || BitsOfElement(a) != BitsOfElement(b)) return false;
  const auto memory_of = [](const Shape& array) {
    Layout layout = array.LayoutOrRowMajor();
    layout.element_size_in_bits = 0;  // compared above
    layout.memory_space = 0;
    layout.tail_padding_alignment = 1;
    return layout;
  };
  return memory_of(a) == memory_of(b);
}

}  // namespace xla_indexing::internal
