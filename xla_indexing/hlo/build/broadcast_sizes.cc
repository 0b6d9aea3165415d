#include "xla_indexing/hlo/build/broadcast_sizes.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

namespace xla_indexing {

bool MayBeGiven(DimensionSize inferred, DimensionSize given) {
  if (inferred.is_dynamic) return given.is_dynamic;
  if (given.IsUnbounded()) return true;
  return given.is_dynamic ? inferred.size <= given.size : inferred.size == given.size;
}

DimensionSize DimensionSize::Of(const Shape& shape, int64_t i) {
  if (shape.IsUnboundedDimension(i)) return Unbounded();
  return {shape.dimension(i), shape.IsDynamicDimension(i)};
}

std::string DimensionSize::ToString() const {
  return IsUnbounded() ? "?" : absl::StrCat(is_dynamic ? "<=" : "", size);
}

absl::StatusOr<DimensionSize> InferBroadcastDimension(DimensionSize a, DimensionSize b) {
  if (a.IsStaticOne() || b.IsStaticOne()) return a.IsStaticOne() ? b : a;
  if (a.is_dynamic && b.is_dynamic) {
    if (a.IsUnbounded() || b.IsUnbounded()) return DimensionSize::Unbounded();
    if (a.size == 1 || b.size == 1) return a.size == 1 ? b : a;
    return a.size <= b.size ? a : b;
  }
  // A static size, if it is one that the other can be.
  const DimensionSize known = a.is_dynamic ? b : a;
  const DimensionSize other = a.is_dynamic ? a : b;
  if (MayBeGiven(known, other)) return known;
  return absl::InvalidArgumentError(
      absl::StrCat("size ", b.ToString(), " does not go with size ", a.ToString()));
}

std::string BroadcastGuard::ToString() const {
  std::string text;
  for (size_t i = 0; i < operands.size(); ++i) {
    const bool is_last = i + 1 == operands.size();
    absl::StrAppend(&text, i == 0 ? "" : (is_last ? " and " : ", "), "operand ",
                    operands[i].operand, " dimension ", operands[i].dimension, " (",
                    operand_sizes[i].ToString(), ")");
  }
  if (size.IsStatic()) return absl::StrCat(text, ": size 1 or ", size.size);
  return absl::StrCat(text, ": size 1 or one size in common",
                      size.IsUnbounded() ? "" : absl::StrCat(", at most ", size.size));
}

}  // namespace xla_indexing
