// Dot: with batch indices b, free indices m and n and contracting indices k,
//
//   r[b.., m.., n..] = sum over k of lhs[b, m, k] * rhs[b, n, k],
//
// where the dimension numbers say which dimension of an operand is which. The dimensions of the
// result are the batch dimensions in the order of the attribute, then the free ones of lhs, then
// those of rhs.
//
// Scaled dot: the same of the operands times their scales, operands 2 and 3. In every dimension a
// scale belongs to a block of ceil(n / s) elements of an operand of n elements with s scales; the
// last block may be smaller. A scale of rank 0 belongs to all elements.

#include <cstddef>
#include <cstdint>

#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/ops/rules/arithmetic/dot_match.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {

LoopNests DotNests(const BuildContext& build, int64_t /*output_leaf*/, int64_t operand) {
  return MatchingNest(build.Output(), build.Operand(operand), DotMatch(build.instruction, operand));
}

LoopNests ScaledDotNests(const BuildContext& build, int64_t output_leaf, int64_t operand) {
  constexpr int64_t kScaledOperands = 2;
  if (operand < kScaledOperands) return DotNests(build, output_leaf, operand);
  const int64_t scaled = operand - kScaledOperands;
  LoopNest nest =
      MatchingNest(build.Output(), build.Operand(scaled), DotMatch(build.instruction, scaled));
  const Shape& values = build.Operand(scaled);
  const Shape& scales = build.Operand(operand);
  const llvm::SmallVector<NestAxis, 6> value_axes = std::move(nest.operand);
  nest.operand.clear();
  for (int64_t k = 0; k < scales.rank(); ++k) {
    if (values.IsUnboundedDimension(k) || scales.IsUnboundedDimension(k)) {
      return WholeNest(
          build.Output(), scales,
          ExactnessLabel::OverApproximate("whole operand: a dimension in blocks has no bound"));
    }
    if (scales.dimension(k) == 0) return {};
    const Interval last = Interval::Point(values.dimension(k)).CeilDiv(scales.dimension(k));
    nest.operand.push_back(NestAxis::Blocks(value_axes[k].loop, last.lower()));
  }
  return nest;
}

}  // namespace xla_indexing::internal
