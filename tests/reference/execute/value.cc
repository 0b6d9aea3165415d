#include "tests/reference/execute/value.h"

#include <cstddef>
#include <cstdint>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::reference {

void ForEachIndex(absl::Span<const int64_t> sizes, absl::FunctionRef<void(const Index&)> visit) {
  for (int64_t size : sizes) {
    if (size <= 0) return;
  }
  Index index(sizes.size(), 0);
  while (true) {
    visit(index);
    size_t d = sizes.size();
    while (d > 0 && ++index[d - 1] == sizes[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

bool IsInside(absl::Span<const int64_t> sizes, const Index& index) {
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (index[d] < 0 || index[d] >= sizes[d]) return false;
  }
  return true;
}

int64_t PositionOf(absl::Span<const int64_t> sizes, const Index& index) {
  int64_t position = 0;
  for (size_t d = 0; d < sizes.size(); ++d) position = position * sizes[d] + index[d];
  return position;
}

Index IndexAt(absl::Span<const int64_t> sizes, int64_t position) {
  Index index(sizes.size(), 0);
  for (size_t d = sizes.size(); d > 0; --d) {
    index[d - 1] = position % sizes[d - 1];
    position /= sizes[d - 1];
  }
  return index;
}

Array::Array(const Shape& shape) : shape_(shape) {
  int64_t count = 1;
  for (int64_t size : shape.dimensions()) count *= size;
  elements_.resize(count);
}

Value MakeValue(const Shape& shape) {
  Value value;
  for (const Shape* leaf : shape.Leaves()) value.emplace_back(*leaf);
  return value;
}

}  // namespace xla_indexing::reference
