// Operations that mix all elements along some dimensions and go index by index in the others:
//
//   sort   r_j = the operand a_j in the order of the sorted tuples (a_0, a_1, ..) along the
//          dimension that `dimensions` names
//   topk   the k greatest (or least) elements along the last dimension, and their positions
//   fft    the transform along the last dimensions, as many as fft_length has sizes
// Every element of a result reads its whole row of every operand: which element of a sort comes
// where is decided by a comparator that sees elements of all of them.

#include <cstdint>

#include "absl/algorithm/container.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

// All dimensions match but `count` from `first` on, of which the whole is read.
LoopNests NestsAlong(const BuildContext& build, int64_t output_leaf, int64_t operand, int64_t first,
                     int64_t count) {
  const Shape& shape = build.Operand(operand);
  llvm::SmallVector<int64_t, 4> match(shape.rank());
  absl::c_iota(match, 0);
  for (int64_t k = first; k < first + count; ++k) match[k] = kWholeAxis;
  return MatchingNest(build.Output(output_leaf), shape, match);
}

}  // namespace

LoopNests SortNests(const BuildContext& build, int64_t output_leaf, int64_t operand) {
  return NestsAlong(build, output_leaf, operand, build.instruction.dimensions().front(), 1);
}

LoopNests TopkNests(const BuildContext& build, int64_t output_leaf, int64_t operand) {
  return NestsAlong(build, output_leaf, operand, build.Operand(operand).rank() - 1, 1);
}

LoopNests FftNests(const BuildContext& build, int64_t output_leaf, int64_t operand) {
  const auto count =
      static_cast<int64_t>(build.instruction.GetIntegers(AttributeKey::kFftLength).size());
  return NestsAlong(build, output_leaf, operand, build.Operand(operand).rank() - count, count);
}

}  // namespace xla_indexing::internal
