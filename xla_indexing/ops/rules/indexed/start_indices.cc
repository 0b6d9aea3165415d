#include "xla_indexing/ops/rules/indexed/start_indices.h"

#include <cstdint>
#include <utility>

#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

llvm::SmallVector<AffineExpr, 4> AddStarts(const BuildContext& build, int64_t first_operand,
                                           const Shape& tensor, const Shape& slice,
                                           MapBuilder* builder) {
  llvm::SmallVector<AffineExpr, 4> starts;
  const bool is_vector =
      build.instruction.operand_count() > first_operand && build.Operand(first_operand).rank() == 1;
  for (int64_t k = 0; k < tensor.rank(); ++k) {
    RuntimeVarIndexing binding;
    binding.instruction = build.instruction.operand(is_vector ? first_operand : first_operand + k);
    if (is_vector) binding.element.push_back(builder->Value(k));
    const bool has_bound = !tensor.IsUnboundedDimension(k) && !slice.IsUnboundedDimension(k);
    binding.value =
        ValueFunction::Clamp(0, has_bound ? tensor.dimension(k) - slice.dimension(k) : kInt64Max);
    starts.push_back(builder->AddRuntime(std::move(binding)));
  }
  return starts;
}

void AddStartReads(BuildContext& build, int64_t first_operand) {
  for (int64_t i = first_operand; i < build.instruction.operand_count(); ++i) {
    build.AddWholeRead(i);
  }
}

}  // namespace xla_indexing::internal
