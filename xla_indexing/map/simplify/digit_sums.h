// A range variable that expressions have in multiples of one sum alone becomes a variable that counts the
// values of that sum, where they are equally spaced: a row that is read in another order is still the row.
//
// Mathematics. Where each result and constraint has s in multiples of a sum E(s) alone, s in [a, b], only
// the values of E count. Where these are l, l + g, .., l + g*r, E becomes l + g*t, t in [0, r]. E is a sum of
// digits, in any order and possibly some backwards, where a dimension was split, transposed and joined again:
// with 1 = m_0, m_1, .., m_k, each a divisor of the next one, and a and b + 1 multiples of m_k,
//
//   s = sum of m_i*u_i, where u_i = (s floordiv m_i) mod (m_{i+1}/m_i), and u_k = s floordiv m_k
//
// and the u_i take all values in [0, m_{i+1}/m_i - 1], u_k those in [a/m_k, (b + 1)/m_k - 1], independently
// of each other. Every s floordiv m_j is a sum of multiples of u_i with i >= j, so that E is a sum of c_i*u_i
// and a constant. Its values are equally spaced exactly if, in order of their magnitude, each c_i is a multiple
// of the first one, g, and no more than g + the sum of |c_j| * (number of values of u_j - 1) over those
// before it. E may be a function of s mod m_1 in any way: where that has few values they are computed, and so
// where s has few.
//
// This is done where E has divisions, and where it is -s and stands alone: a reversed row.
//
// Example: (d0)[s0] -> (d0, s0 * 4 - (s0 floordiv 6) * 23), domain: d0 in [0, 4], s0 in [0, 23], where
// the sum is 4 * (s0 mod 6) + s0 floordiv 6, becomes (d0)[s0] -> (d0, s0) in the same domain.
#ifndef XLA_INDEXING_MAP_SIMPLIFY_DIGIT_SUMS_H_
#define XLA_INDEXING_MAP_SIMPLIFY_DIGIT_SUMS_H_

#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

// Replaces range variables by what counts the sums of their digits; the relation stays equal. Returns
// whether there were some; expressions that changed are not simplified.
bool CountDigitSums(IndexingMap* map);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_SIMPLIFY_DIGIT_SUMS_H_
