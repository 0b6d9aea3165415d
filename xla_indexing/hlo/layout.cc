#include "xla_indexing/hlo/layout.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "xla_indexing/hlo/shape.h"

namespace xla_indexing {

bool Layout::IsPlain() const {
  return dim_levels.empty() && tiles.empty() && tail_padding_alignment == 1 &&
         index_type == ElementType::kTuple && pointer_type == ElementType::kTuple &&
         element_size_in_bits == 0 && memory_space == 0 && split_configs.empty() &&
         physical_shape == nullptr && dynamic_shape_metadata_prefix_bytes == 0;
}

std::string Layout::ToString() const {
  std::string text = absl::StrCat("{", absl::StrJoin(minor_to_major, ","));
  if (!IsPlain()) absl::StrAppend(&text, ":");
  if (!dim_levels.empty()) absl::StrAppend(&text, "D(", dim_levels, ")");
  if (!tiles.empty()) absl::StrAppend(&text, "T");
  for (const Tile& tile : tiles) {
    absl::StrAppend(&text, "(",
                    absl::StrJoin(tile.dimensions, ",",
                                  [](std::string* out, int64_t size) {
                                    if (size == Tile::kCombineDimension) {
                                      absl::StrAppend(out, "*");
                                    } else {
                                      absl::StrAppend(out, size);
                                    }
                                  }),
                    ")");
  }
  if (tail_padding_alignment != 1) absl::StrAppend(&text, "L(", tail_padding_alignment, ")");
  if (index_type != ElementType::kTuple) {
    absl::StrAppend(&text, "#(", ElementTypeName(index_type), ")");
  }
  if (pointer_type != ElementType::kTuple) {
    absl::StrAppend(&text, "*(", ElementTypeName(pointer_type), ")");
  }
  if (element_size_in_bits != 0) absl::StrAppend(&text, "E(", element_size_in_bits, ")");
  if (memory_space != 0) absl::StrAppend(&text, "S(", memory_space, ")");
  if (!split_configs.empty()) absl::StrAppend(&text, "SC");
  for (const SplitConfig& split : split_configs) {
    absl::StrAppend(&text, "(", split.dimension, ":", absl::StrJoin(split.split_indices, ","), ")");
  }
  if (physical_shape != nullptr) absl::StrAppend(&text, "P(", physical_shape->ToString(), ")");
  if (dynamic_shape_metadata_prefix_bytes != 0) {
    absl::StrAppend(&text, "M(", dynamic_shape_metadata_prefix_bytes, ")");
  }
  return absl::StrCat(text, "}");
}

Layout RowMajorLayout(int64_t rank) {
  Layout layout;
  layout.minor_to_major.reserve(rank);
  for (int64_t dimension = rank - 1; dimension >= 0; --dimension) {
    layout.minor_to_major.push_back(dimension);
  }
  return layout;
}

bool operator==(const Layout& a, const Layout& b) {
  if (a.minor_to_major != b.minor_to_major) return false;
  if (a.IsPlain() && b.IsPlain()) return true;
  if ((a.physical_shape == nullptr) != (b.physical_shape == nullptr)) return false;
  if (a.physical_shape != nullptr && *a.physical_shape != *b.physical_shape) return false;
  return a.dim_levels == b.dim_levels && a.tiles == b.tiles &&
         a.tail_padding_alignment == b.tail_padding_alignment && a.index_type == b.index_type &&
         a.pointer_type == b.pointer_type && a.element_size_in_bits == b.element_size_in_bits &&
         a.memory_space == b.memory_space && a.split_configs == b.split_configs &&
         a.dynamic_shape_metadata_prefix_bytes == b.dynamic_shape_metadata_prefix_bytes;
}

}  // namespace xla_indexing
