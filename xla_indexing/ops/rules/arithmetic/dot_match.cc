#include "xla_indexing/ops/rules/arithmetic/dot_match.h"

#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/ops/rules/frame/loop_nest.h"

namespace xla_indexing::internal {

llvm::SmallVector<int64_t, 4> DotMatch(const HloInstruction& dot, int64_t operand, int64_t first) {
  const DotDimensionNumbers numbers = dot.dot_dimension_numbers();
  const bool is_lhs = operand == 0;
  const absl::Span<const int64_t> batch = is_lhs ? numbers.lhs_batch_dims : numbers.rhs_batch_dims;
  const absl::Span<const int64_t> contracting =
      is_lhs ? numbers.lhs_contracting_dims : numbers.rhs_contracting_dims;
  const absl::Span<const int64_t> groups =
      is_lhs ? absl::Span<const int64_t>() : dot.GetIntegers(AttributeKey::kRhsGroupDims);

  llvm::SmallVector<int64_t, 4> match(dot.operand(operand)->shape().rank(), kWholeAxis);
  int64_t result_dim = first;
  for (const int64_t dim : batch) match[dim] = result_dim++;
  if (!is_lhs) {
    // Skips the free dimensions of lhs.
    result_dim +=
        dot.operand(0)->shape().rank() - static_cast<int64_t>(batch.size() + contracting.size());
  }
  for (size_t dim = 0; dim < match.size(); ++dim) {
    const auto k = static_cast<int64_t>(dim);
    if (absl::c_linear_search(batch, k) || absl::c_linear_search(contracting, k) ||
        absl::c_linear_search(groups, k)) {
      continue;
    }
    match[dim] = result_dim++;
  }
  return match;
}

}  // namespace xla_indexing::internal
