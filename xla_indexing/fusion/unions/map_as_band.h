// A map as a band, and a band as a map.
//
// Mathematics. A *band along result i and dimension j*, with a factor a, is a map
//
//   { d -> (r_0(d), .., t, .., r_n(d)) : d_j in D, t in T, t - a*d_j in C, d_k in D_k for k != j }
//
// whose result i is t. D, T and C are progressions: what an interval has of a residue class
// (base/numbers/progression.h). The map with the result a*d_j + c is the band with C = {c}, one with a
// constant result t the band with T = {t}, of any factor. With a range variable,
// (d_j)[s0] -> (a*d_j + m*s0 + c) is the band with C = { m*s0 + c }, and a constraint on
// m*s0 + k*d_j + c bounds t - (a - k)*d_j. Residue classes of d_j are read from constraints
// `d_j mod m`, and of `(d_j + c) floordiv m` where those say the remainder r of d_j + c: the quotient
// is then (d_j + c - r) / m.
//
// The map of a band has one range variable. It counts the values in T or the offsets in C; what
// that leaves unsaid of the other one is a constraint.
//
// Example: (d0)[s0] -> (s0) with s0 - d0 in [1, 3], s0 in [1, 7] and d0 in [0, 6] is the band with
// a = 1, D = [0, 6], T = [1, 7], C = [1, 3].
#ifndef XLA_INDEXING_FUSION_UNIONS_MAP_AS_BAND_H_
#define XLA_INDEXING_FUSION_UNIONS_MAP_AS_BAND_H_

#include <cstdint>
#include <optional>

#include "xla_indexing/fusion/unions/bands.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

// A map as a band along a result, and the dimension and the factor of that. The results that say
// nothing of the dimension and the factor are bands along any dimension (-1), or along any with any
// factor (0) where the dimension is given.
struct BandOfMap {
  int dim = -1;
  int64_t factor = 0;
  Band band;
};

// The map as a band along the result, where `band.dim` has the residue classes alone: its interval is
// that of the map's dimension. None where the map is not seen to be one.
std::optional<BandOfMap> AsBand(const OperandIndexing& indexing, int result);

// What the domain has of the dimension, with the residue classes that constraints say. `others`, if
// given, are the other constraints.
Progression ValuesOfDim(const IndexingMap& map, int dim, Constraints* others = nullptr);

// The map that is in all else what `example` is, where the domain has `values` of the dimension, and
// these constraints. None where numbers do not fit.
std::optional<OperandIndexing> WithValuesOfDim(const IndexingMap& example, int dim,
                                               const Progression& values, Constraints constraints);

// The map to this band along the result, which is in all else what `example` is. None where its
// numbers do not fit.
std::optional<OperandIndexing> MapOfBand(const IndexingMap& example, const BandOfMap& of,
                                         int result);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_UNIONS_MAP_AS_BAND_H_
