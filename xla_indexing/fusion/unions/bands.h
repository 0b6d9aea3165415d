// Bands, which are made of three progressions (base/numbers/progression.h).
//
// Mathematics. A *band* with a factor a is a set of pairs (d, t) of integers,
//
//   { (d, t) : d in D, t in T, t - a*d in C }
//
// where D, T and C are progressions. A line t = a*d + c over some d has C = {c}, a rectangle D x T is a band of
// any factor, with C = T - a*D, and a triangle has an interval for C.
//
// Two bands of one factor are one with the hulls of D, T and C where
//   - the hull of D has at most 16 values, and beside each of them the hull's t are those of the two;
//   - or along one of the three the union is a progression, and each band has all points of the
//     hulls that are in its part of it.
// Both are equalities, so that no point is added or lost. What is not seen to be one is two.
//
// Any number of bands, each with a factor of its own, are one band (D, T, C) with a factor a if, for
// each d in D, the t that they have beside d are one progression P_d, and P_d = { t in T : t - a*d in C }.
// Where there is such a band of the factor a, then D is the set of all d, T the hull of all P_d, and
// C that of all P_d - a*d will do: they are no less than needed, and no more than that band has. For a
// there are few candidates, the slopes of the ends of P_d from one d to the next.
//
// Examples: the bands d = t, for even d in [0, 6] and
// for odd d in [1, 7], are the line over [0, 7]. The lines t = 2*d and t = 2*d + 1 for d in {0, 1} and
// the rectangle {1} x {0, 1} are the band with a = 2, T = [0, 3], C = [-2, 1].
#ifndef XLA_INDEXING_FUSION_UNIONS_BANDS_H_
#define XLA_INDEXING_FUSION_UNIONS_BANDS_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "xla_indexing/base/numbers/progression.h"

namespace xla_indexing::internal {

// What bands of one family differ in: D, T and C.
struct Band {
  Progression dim;
  Progression value;
  Progression offset;

  bool IsEmpty() const { return dim.IsEmpty() || value.IsEmpty() || offset.IsEmpty(); }
  bool Contains(const Band& other) const {
    return dim.Contains(other.dim) && value.Contains(other.value) && offset.Contains(other.offset);
  }
};

// The band with the same points of which each part has what the other two allow.
Band Tightened(const Band& band, int64_t factor);

// The two, of this factor, as one band; none where they are not seen to be one.
std::optional<Band> Union(const Band& a, const Band& b, int64_t factor);

struct BandWithFactor {
  Band band;
  int64_t factor = 1;
};

// All of them as one band, where that is found beside each value of the dimension; none where these,
// together with the bands, are too many to look at.
std::optional<BandWithFactor> UnionOfAll(llvm::ArrayRef<BandWithFactor> bands);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_UNIONS_BANDS_H_
