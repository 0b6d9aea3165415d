#include "xla_indexing/fusion/position_union.h"

#include <cstddef>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/base/interval.h"

namespace xla_indexing {
namespace {

// Whether what meets `a` meets `b`.
bool Implies(const Restriction& a, const Restriction& b) {
  return a.index == b.index && a.interval.IsSubsetOf(b.interval) &&
         (b.residues.IsAll() || a.residues == b.residues);
}

}  // namespace

bool Contains(const Position& a, const Position& b) {
  return llvm::all_of(a.restrictions, [&](const Restriction& wanted) {
    return llvm::any_of(b.restrictions,
                        [&](const Restriction& known) { return Implies(known, wanted); });
  });
}

std::optional<Position> UnionOf(const Position& a, const Position& b,
                                const PositionalAlgebra& algebra) {
  if (a.restrictions.size() != b.restrictions.size()) return std::nullopt;
  std::optional<size_t> place;  // of the one restriction of `a` that `b` has not
  const Restriction* other = nullptr;
  for (size_t i = 0; i < a.restrictions.size(); ++i) {
    if (llvm::is_contained(b.restrictions, a.restrictions[i])) continue;
    if (place) return std::nullopt;
    place = i;
  }
  for (const Restriction& restriction : b.restrictions) {
    if (llvm::is_contained(a.restrictions, restriction)) continue;
    if (other != nullptr) return std::nullopt;
    other = &restriction;
  }
  if (!place || other == nullptr) return std::nullopt;
  const Restriction& own = a.restrictions[*place];
  if (own.index != other->index || own.residues != other->residues ||
      !own.interval.TouchesOrOverlaps(other->interval)) {
    return std::nullopt;
  }
  Position both = a;
  Restriction& joined = both.restrictions[*place];
  joined.interval = own.interval.Union(other->interval);
  if (algebra.RangeOf(joined.index).IsSubsetOf(joined.interval)) {
    joined.interval = Interval::All();
    if (joined.residues.IsAll()) both.restrictions.erase(both.restrictions.begin() + *place);
  }
  return both;
}

}  // namespace xla_indexing
