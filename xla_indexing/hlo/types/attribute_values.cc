#include "xla_indexing/hlo/types/attribute_values.h"

#include <cstdint>
#include <string>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing {
namespace {

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
  using D = WindowDimension;
  std::string text = "{";
  // ` name=AxBxC`, unless every dimension has the usual value.
  const auto append = [&](absl::string_view name, absl::string_view usual, auto value) {
    if (absl::c_all_of(dimensions, [&](const D& d) { return value(d) == usual; })) return;
    const auto format = [&](std::string* out, const D& d) { out->append(value(d)); };
    absl::StrAppend(&text, text.size() > 1 ? " " : "", name, "=",
                    absl::StrJoin(dimensions, "x", format));
  };
  // The size is printed wherever there are dimensions: it says how many.
  append("size", "", [](const D& d) { return absl::StrCat(d.size); });
  append("stride", "1", [](const D& d) { return absl::StrCat(d.stride); });
  append("pad", "0_0", [](const D& d) { return absl::StrCat(d.padding_low, "_", d.padding_high); });
  append("lhs_dilate", "1", [](const D& d) { return absl::StrCat(d.base_dilation); });
  append("rhs_dilate", "1", [](const D& d) { return absl::StrCat(d.window_dilation); });
  append("rhs_reversal", "0", [](const D& d) { return d.window_reversal ? "1" : "0"; });
  return absl::StrCat(text, "}");
}

std::string ConvolutionDimensionNumbers::ToString() const {
  return absl::StrCat(
      Labels(input_rank, input_batch, 'b', input_feature, 'f', input_spatial), "_",
      Labels(kernel_rank, kernel_input_feature, 'i', kernel_output_feature, 'o', kernel_spatial),
      "->", Labels(output_rank, output_batch, 'b', output_feature, 'f', output_spatial));
}

}  // namespace xla_indexing
