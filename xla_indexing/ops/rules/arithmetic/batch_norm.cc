// Batch normalization: statistics of each feature f over all other dimensions, the feature's slice,
//
//   training   (r, mean, var) of (a, scale, offset):
//                mean[f], var[f] of the slice a[.., f, ..];
//                r[d] = (a[d] - mean[f]) / sqrt(var[f] + epsilon) * scale[f] + offset[f], f = d_f
//   inference  r[d] of (a, scale, offset, mean, var): the same with given mean and var
//   grad       (grad_a, grad_scale, grad_offset) of (a, scale, mean, var, grad_r):
//                grad_a[d] from the slices of a and grad_r, and scale, mean, var at f = d_f;
//                grad_scale[f] from the slices of a and grad_r, and mean, var at f;
//                grad_offset[f] from the slice of grad_r.
//
// Source: XLA's operation semantics.

#include <cstdint>

#include "absl/algorithm/container.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

// The feature of the operand is that of the result; all else of it is read.
LoopNests FeatureNests(const BuildContext& build, int64_t output_leaf, int64_t operand) {
  const int64_t feature = build.instruction.GetInteger(AttributeKey::kFeatureIndex).value_or(0);
  const Shape& result = build.Output(output_leaf);
  const Shape& shape = build.Operand(operand);
  // The only dimension of a vector, and of an array of rank 1, is the feature.
  llvm::SmallVector<int64_t, 4> match(shape.rank(), kWholeAxis);
  match[shape.rank() == 1 ? 0 : feature] = result.rank() == 1 ? 0 : feature;
  return MatchingNest(result, shape, match);
}

}  // namespace

LoopNests BatchNormTrainingNests(const BuildContext& build, int64_t output_leaf, int64_t operand) {
  if (output_leaf > 0 && operand > 0) return {};
  return FeatureNests(build, output_leaf, operand);
}

LoopNests BatchNormInferenceNests(const BuildContext& build, int64_t output_leaf, int64_t operand) {
  if (operand > 0) return FeatureNests(build, output_leaf, operand);
  llvm::SmallVector<int64_t, 4> match(build.Operand(0).rank());
  absl::c_iota(match, 0);
  return MatchingNest(build.Output(), build.Operand(0), match);
}

LoopNests BatchNormGradNests(const BuildContext& build, int64_t output_leaf, int64_t operand) {
  enum Operand : int64_t { kOperand, kScale, kMean, kVariance, kGradResult };
  enum Result : int64_t { kGradOperand, kGradScale, kGradOffset };
  // Sums over slices without elements name nothing.
  if (output_leaf != kGradOperand && absl::c_linear_search(build.Operand(kOperand).dimensions(), 0))
    return {};
  if (output_leaf == kGradScale && operand == kScale) return {};
  if (output_leaf == kGradOffset && operand != kGradResult) return {};
  return FeatureNests(build, output_leaf, operand);
}

}  // namespace xla_indexing::internal
