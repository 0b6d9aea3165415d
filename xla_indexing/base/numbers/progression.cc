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
