#include "xla_indexing/base/numbers/progression.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

// Whether the parts have every element of `hull`, their hull, where those are few enough to be marked.
bool HaveAllOf(const Progression& hull, const std::vector<Progression>& parts) {
  constexpr int64_t kFewElements = 1 << 12;
  const std::optional<Int128> count = hull.Count();
  if (!count || *count > kFewElements) return false;
  std::vector<bool> marked(static_cast<size_t>(*count));
  for (const Progression& part : parts) {
    const int64_t stride = std::max<int64_t>(part.stride(), 1);
    for (Int128 at = part.first(); at <= part.last(); at += stride) {
      marked[static_cast<size_t>((at - hull.first()) / hull.stride())] = true;
    }
  }
  return !absl::c_linear_search(marked, false);
}

}  // namespace

std::optional<Progression> Progression::FromSteps(Int128 first, Int128 count, Int128 stride) {
  if (count == 1) stride = 1;
  const std::optional<int64_t> narrow_first = NarrowToInt64(first);
  const std::optional<int64_t> narrow_stride = NarrowToInt64(stride);
  if (!narrow_first || !narrow_stride || count > (Int128{1} << 64)) return std::nullopt;
  // The product is below 2^127 - 2^64.
  const std::optional<int64_t> last = NarrowToInt64(first + (count - 1) * stride);
  if (!last) return std::nullopt;
  return Progression::Of(Interval::Closed(*narrow_first, *last),
                         Congruence::Of(*narrow_first, *narrow_stride));
}

std::optional<Progression> ExactMul(const Progression& values, int64_t factor) {
  const Int128 first = Int128{factor > 0 ? values.first() : values.last()} * factor;
  const Int128 stride = Int128{values.step()} * factor;
  return Progression::FromSteps(first, *values.Count(), stride < 0 ? -stride : stride);
}

std::optional<EquallySpaced> SumOf(std::vector<EquallySpaced> parts) {
  std::erase_if(parts, [](const EquallySpaced& part) { return part.count == 1; });
  if (parts.empty()) return EquallySpaced{};
  absl::c_sort(parts, [](const EquallySpaced& a, const EquallySpaced& b) {
    return std::pair(a.stride, a.count) < std::pair(b.stride, b.count);
  });
  EquallySpaced sum{1, parts.front().stride};
  for (const EquallySpaced& part : parts) {
    const int64_t ratio = part.stride / sum.stride;
    if (part.stride % sum.stride != 0 || ratio > sum.count) return std::nullopt;
    sum.count += ratio * (part.count - 1);
    if (sum.count > (Int128{1} << 64)) return std::nullopt;
  }
  return sum;
}

std::optional<Progression> ExactSum(int64_t constant, const std::vector<Progression>& terms) {
  Int128 first = constant;
  std::vector<EquallySpaced> parts;
  for (const Progression& term : terms) {
    first += term.first();
    parts.push_back({*term.Count(), term.step()});
  }
  const std::optional<EquallySpaced> sum = SumOf(std::move(parts));
  if (!sum) return std::nullopt;
  return Progression::FromSteps(first, sum->count, sum->stride);
}

Progression HullOfAll(const std::vector<Progression>& parts) {
  Progression hull = Progression::Empty();
  for (const Progression& part : parts) hull = hull.Hull(part);
  return hull;
}

std::optional<Progression> Union(const Progression& a, const Progression& b) {
  const Progression hull = a.Hull(b);
  const std::optional<Int128> all = hull.Count();
  const std::optional<Int128> of_a = a.Count();
  const std::optional<Int128> of_b = b.Count();
  const std::optional<Int128> of_both = a.Intersect(b).Count();
  if (!all || !of_a || !of_b || !of_both || *all != *of_a + *of_b - *of_both) return std::nullopt;
  return hull;
}

std::vector<Progression> Unite(std::vector<Progression> parts) {
  // Each with those before it, the nearest first, and again where some have become one.
  constexpr size_t kLooksBack = 32;
  constexpr int kRounds = 4;
  std::erase_if(parts, [](const Progression& part) { return part.IsEmpty(); });
  if (!absl::c_all_of(parts, [](const Progression& part) { return part.interval.IsFinite(); })) {
    return parts;
  }
  size_t before = parts.size() + 1;
  for (int round = 0; round < kRounds && parts.size() < before; ++round) {
    before = parts.size();
    absl::c_stable_sort(
        parts, [](const Progression& a, const Progression& b) { return a.first() < b.first(); });
    std::vector<Progression> united;
    for (const Progression& part : parts) {
      std::optional<Progression> both;
      for (size_t i = united.size(); i > 0 && i + kLooksBack > united.size() && !both;) {
        --i;
        both = Union(united[i], part);
        if (both) united[i] = *both;
      }
      if (!both) united.push_back(part);
    }
    parts = std::move(united);
  }
  if (parts.size() > 2) {
    const Progression hull = HullOfAll(parts);
    if (HaveAllOf(hull, parts)) parts = {hull};
  }
  return parts;
}

}  // namespace xla_indexing::internal
