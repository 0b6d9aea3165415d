#include "xla_indexing/hlo/types/attribute_values.h"

#include <cstdint>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing {
namespace {

// Appends ` name=AxBxC` with what `format` writes for each dimension, unless every dimension has
// its default.
template <typename IsDefault, typename Format>
void AppendField(const Window& window, absl::string_view name, IsDefault is_default, Format format,
                 std::string* text) {
  if (absl::c_all_of(window.dimensions, is_default)) return;
  if (text->size() > 1) absl::StrAppend(text, " ");
  absl::StrAppend(text, name, "=", absl::StrJoin(window.dimensions, "x", format));
}

void PlaceLabel(int64_t position, char label, std::string* labels) {
  if (position >= 0) (*labels)[position] = label;
}

template <typename Spatial>
std::string Labels(int64_t rank, int64_t first, char first_label, int64_t second, char second_label,
                   const Spatial& spatial) {
  std::string labels(rank, '?');
  PlaceLabel(first, first_label, &labels);
  PlaceLabel(second, second_label, &labels);
  for (size_t i = 0; i < spatial.size(); ++i) {
    PlaceLabel(spatial[i], static_cast<char>('0' + i), &labels);
  }
  return labels;
}

}  // namespace

bool GatherDimensionNumbers::IsBatchingAndIndexed(int64_t dim) const {
  return absl::c_linear_search(operand_batching_dims, dim) &&
         absl::c_linear_search(start_index_map, dim);
}

bool GatherDimensionNumbers::HasBatchingAndIndexed() const {
  return absl::c_any_of(operand_batching_dims,
                        [&](int64_t dim) { return IsBatchingAndIndexed(dim); });
}

int64_t PaddingDimension::Step() const {
  return internal::CheckedAdd(interior, 1).value_or(internal::kInt64Max);
}

std::string Window::ToString() const {
  std::string text = "{";
  using D = WindowDimension;
  // The size is printed wherever there are dimensions: it says how many.
  AppendField(
      *this, "size", [](const D&) { return false; },
      [](std::string* out, const D& d) { absl::StrAppend(out, d.size); }, &text);
  AppendField(
      *this, "stride", [](const D& d) { return d.stride == 1; },
      [](std::string* out, const D& d) { absl::StrAppend(out, d.stride); }, &text);
  AppendField(
      *this, "pad", [](const D& d) { return d.padding_low == 0 && d.padding_high == 0; },
      [](std::string* out, const D& d) {
        absl::StrAppend(out, d.padding_low, "_", d.padding_high);
      },
      &text);
  AppendField(
      *this, "lhs_dilate", [](const D& d) { return d.base_dilation == 1; },
      [](std::string* out, const D& d) { absl::StrAppend(out, d.base_dilation); }, &text);
  AppendField(
      *this, "rhs_dilate", [](const D& d) { return d.window_dilation == 1; },
      [](std::string* out, const D& d) { absl::StrAppend(out, d.window_dilation); }, &text);
  AppendField(
      *this, "rhs_reversal", [](const D& d) { return !d.window_reversal; },
      [](std::string* out, const D& d) { absl::StrAppend(out, d.window_reversal ? 1 : 0); }, &text);
  return absl::StrCat(text, "}");
}

std::string ConvolutionDimensionNumbers::ToString() const {
  return absl::StrCat(
      Labels(input_rank, input_batch, 'b', input_feature, 'f', input_spatial), "_",
      Labels(kernel_rank, kernel_input_feature, 'i', kernel_output_feature, 'o', kernel_spatial),
      "->", Labels(output_rank, output_batch, 'b', output_feature, 'f', output_spatial));
}

}  // namespace xla_indexing
