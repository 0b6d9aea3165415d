#include "xla_indexing/fusion/chain/position_union.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/mixed_radix/number.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

// Whether restriction `b` follows from `a`, both on one number.
bool ImpliesOfOne(const Restriction& a, const Restriction& b) {
  return a.interval.IsSubsetOf(b.interval) && (b.residues.IsAll() || a.residues == b.residues);
}

// Whether restriction `b` follows from `a`.
bool Implies(const Restriction& a, const Restriction& b) {
  return a.index == b.index && ImpliesOfOne(a, b);
}

// Whether every point of `b` is one of `a`.
bool Contains(const Restrictions& a, const Restrictions& b) {
  return llvm::all_of(a, [&](const Restriction& wanted) {
    return llvm::any_of(b, [&](const Restriction& known) { return Implies(known, wanted); });
  });
}

// The only restriction that `others` do not have; null if there is none or there are several.
const Restriction* OnlyOneNotIn(const Restrictions& others, const Restrictions& restrictions) {
  const Restriction* only = nullptr;
  for (const Restriction& restriction : restrictions) {
    if (llvm::is_contained(others, restriction)) continue;
    if (only != nullptr) return nullptr;
    only = &restriction;
  }
  return only;
}

// The only restriction to a single value; null if there is none or there are several.
const Restriction* OnlyPoint(const Restrictions& restrictions) {
  const Restriction* only = nullptr;
  for (const Restriction& restriction : restrictions) {
    if (!restriction.interval.IsPoint()) continue;
    if (only != nullptr) return nullptr;
    only = &restriction;
  }
  return only;
}

}  // namespace

UnionKind UnionOf(const Restrictions& a, const Restrictions& b, const PositionalAlgebra& algebra,
                  Restrictions* joined) {
  // As nearly always.
  const bool is_one = a.size() == 1 && b.size() == 1;
  if (is_one && a[0].index != b[0].index) return UnionKind::kNone;
  if (is_one ? ImpliesOfOne(a[0], b[0]) : Contains(b, a)) return UnionKind::kSecond;
  if (is_one ? ImpliesOfOne(b[0], a[0]) : Contains(a, b)) return UnionKind::kFirst;
  if (IsOff(Engine::kPositionUnion) || a.size() != b.size()) return UnionKind::kNone;
  const Restriction* of_a = is_one ? a.begin() : OnlyOneNotIn(b, a);
  const Restriction* of_b = is_one ? b.begin() : OnlyOneNotIn(a, b);
  if (of_a == nullptr || of_b == nullptr || (!is_one && of_a->index != of_b->index) ||
      of_a->residues != of_b->residues || !of_a->interval.TouchesOrOverlaps(of_b->interval)) {
    return UnionKind::kNone;
  }
  *joined = a;
  Restriction* both = joined->begin() + (of_a - a.begin());
  both->interval = of_a->interval.Union(of_b->interval);
  if (algebra.RangeOf(both->index).IsSubsetOf(both->interval)) {
    both->interval = Interval::All();
    if (both->residues.IsAll()) joined->erase(both);
  }
  return UnionKind::kJoined;
}

std::optional<Indices> WithPinnedNumber(const Position& position, PositionalAlgebra& algebra) {
  const Restriction* only_point = OnlyPoint(position.restrictions);
  if (only_point == nullptr) return std::nullopt;
  std::optional<Indices> written;
  for (const auto& [i, index] : llvm::enumerate(position.indices)) {
    if (index.empty()) continue;
    const std::optional<int64_t> value = ConstantValue(index);
    if (!value) continue;
    std::optional<Number> moved = algebra.Affine(
        only_point->index, 1, *value - only_point->interval.lower(), 1, SizeOf(index));
    if (!moved) return std::nullopt;
    if (!written) written = position.indices;
    (*written)[i] = *std::move(moved);
  }
  return written;
}

}  // namespace xla_indexing::internal
