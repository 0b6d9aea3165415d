// Range variables of which everything is said digit by digit become their digits:
//
//   s in [m*l, m*k - 1], and each result and constraint       s becomes m*t + u,
//   is a function of s floordiv m or one of s mod m           t in [l, k - 1], u in [0, m - 1]
//
// That it is one, whatever the other variables are, is seen from how s occurs, where D is a sum and a, b
// and c are constants:
//
//   of s mod m       s modulo c         where c divides m
//                    c*s modulo b       where b divides c*m
//                    D mod b            where D is one modulo b
//                    c*(D floordiv a)   where D is one modulo a*b, b being what the product is taken modulo
//   of s floordiv m  (s + D) floordiv a where m divides a and all numbers of D
//
// An array that is read as one row and then as several dimensions has such a variable. Its digits can meet
// other rules, each by itself.
//
// Example: (d0)[s0] -> (s0 floordiv 8, s0 mod 8 + d0), s0 in [0, 31], becomes
// (d0)[s0, s1] -> (s0, s1 + d0), s0 in [0, 3], s1 in [0, 7].
#ifndef XLA_INDEXING_MAP_INTERNAL_RANGE_DIGITS_H_
#define XLA_INDEXING_MAP_INTERNAL_RANGE_DIGITS_H_

#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

// Replaces one range variable by two of its digits; the relation stays equal. Returns whether there was
// one; expressions that changed are not simplified.
bool SplitRangeVariable(IndexingMap* map);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_INTERNAL_RANGE_DIGITS_H_
