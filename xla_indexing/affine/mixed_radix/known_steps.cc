#include "xla_indexing/affine/mixed_radix/known_steps.h"

#include <cstdint>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

const KnownPosition::Indices* KnownPosition::FindIndices(llvm::ArrayRef<int64_t> sizes) const {
  const auto found = llvm::find_if(indices, [&](const Indices* known) {
    return llvm::equal(*known, sizes,
                       [](const Number& index, int64_t size) { return SizeOf(index) == size; });
  });
  return found != indices.end() ? *found : nullptr;
}

KnownPosition* KnownSteps::FindPosition(llvm::ArrayRef<Number> indices) const {
  const auto found = by_indices_.find(indices);
  return found != by_indices_.end() ? (*found)->position : nullptr;
}

KnownPosition* KnownSteps::PositionOf(const Number& position) {
  const auto [found, is_new] = positions_.try_emplace(position);
  if (is_new) found->second.position = position;
  return &found->second;
}

void KnownSteps::Add(llvm::ArrayRef<Number> indices, KnownPosition* position) {
  by_indices_.lazy_emplace(indices, [&](const auto& insert) {
    KnownIndices* known =
        storage_.New(KnownPosition::Indices(indices.begin(), indices.end()), position);
    position->indices.push_back(&known->indices);
    insert(known);
  });
}

void KnownSteps::Add(const AffineStep& step, const Number& from, const Number& to) {
  steps_[to].push_back({step, from});
}

std::optional<Number> KnownSteps::Undo(const NumberSources& sources, const Number& number,
                                       const AffineStep& inverse, int64_t size) const {
  const auto found = steps_.find(number);
  if (found == steps_.end()) return std::nullopt;
  // The facts about the values of a step may have been found for another chain.
  const Interval values = sources.RangeOf(number)
                              .Mul(inverse.factor)
                              .Add(inverse.offset)
                              .PreimageOfMul(inverse.divisor)
                              .Intersect(Interval::OfSize(size));
  for (const auto& [step, from] : found->second) {
    if (SizeOf(from) != size || !values.IsSubsetOf(sources.RangeOf(from))) continue;
    // ((x*f + o)/d * factor + offset) / divisor is x, or size - 1 - x.
    const std::optional<int64_t> scale = CheckedMul(step.divisor, inverse.divisor);
    const std::optional<int64_t> slope = CheckedMul(step.factor, inverse.factor);
    const Int128 constant =
        Int128{step.offset} * inverse.factor + Int128{inverse.offset} * step.divisor;
    if (!scale || !slope) continue;
    if (*slope == *scale && constant == 0) return from;
    if (-Int128{*slope} == *scale && constant == Int128{*scale} * (size - 1)) {
      Number reversed = from;
      Reverse(reversed);
      return reversed;
    }
  }
  return std::nullopt;
}

void KnownSteps::Clear() {
  by_indices_.clear();
  positions_.clear();
  steps_.clear();
  storage_.Clear();
}

}  // namespace xla_indexing::internal
