#include "xla_indexing/hlo/transforms/moved_box.h"

#include <cstdint>
#include <optional>
#include <vector>

#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing {

std::vector<int64_t> MovedBox::LoopCounts() const {
  std::vector<int64_t> all;
  for (const MovedDim& dim : dims) all.insert(all.end(), dim.counts.begin(), dim.counts.end());
  return all;
}

std::optional<AxisSpan> SpanOf(const MovedAxis& axis, const std::vector<int64_t>& counts) {
  std::optional<int64_t> least = axis.start;
  std::optional<int64_t> greatest = axis.start;
  for (const MovedTerm& term : axis.terms) {
    const std::optional<int64_t> reach = internal::CheckedMul(term.stride, counts[term.loop] - 1);
    if (!reach) return std::nullopt;
    std::optional<int64_t>& end = *reach < 0 ? least : greatest;
    if (end) end = internal::CheckedAdd(*end, *reach);
  }
  if (!least || !greatest) return std::nullopt;
  const std::optional<int64_t> length = internal::CheckedSub(*greatest, *least);
  if (!length || *length == internal::kInt64Max) return std::nullopt;
  return AxisSpan{*least, *length + 1};
}

}  // namespace xla_indexing
