#include "xla_indexing/hlo/transforms/moved_box.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "absl/algorithm/container.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing {

bool MovedBox::HasRuntimeStart() const {
  return absl::c_any_of(axes, [](const MovedAxis& axis) { return axis.runtime.has_value(); });
}

std::optional<AxisSpan> SpanOf(const MovedAxis& axis, const MovedBox& box) {
  const auto reach = internal::CheckedMul(axis.stride, box.CountOf(axis) - 1);
  const auto end = reach ? internal::CheckedAdd(axis.start, *reach) : std::nullopt;
  if (!end) return std::nullopt;
  const int64_t least = std::min(axis.start, *end);
  const auto length = internal::CheckedSub(std::max(axis.start, *end), least);
  if (!length || *length == internal::kInt64Max) return std::nullopt;
  return AxisSpan{least, *length + 1};
}

}  // namespace xla_indexing
