// Range variables of which everything is said digit by digit become their digits:
//
//   s in [m*l, m*k - 1], and each result and constraint       s becomes m*t + u,
//   is a function of s floordiv m or one of s mod m           t in [l, k - 1], u in [0, m - 1]
//   s in [a, b], and each is a function of s floordiv m,      likewise, with a rounded down to a multiple
//   or each one of s mod m and b - a >= m - 1                 of m, and b + 1 up
//
// In the second, values that are added have the digit of another one. That it is one, whatever the other variables are, is seen from how s occurs, where D is a sum and a, b
// and c are constants:
//
//   of s mod m       s modulo c         where c divides m
//                    c*s modulo b       where b divides c*m
//                    D mod b            where D is one modulo b
//                    c*(D floordiv a)   where D is one modulo a*b, b being what the product is taken modulo
//   of s floordiv m  (s + D) floordiv a where m divides a and all numbers of D
//
// A variable of which everything is said modulo the number of its values becomes the remainder that the
// first result with it has:
//
//   n values of s, each result and constraint is a function of    (e + c*s) mod n becomes t in [0, n - 1],
//   s mod n, and e has neither s nor runtime variables            s becomes c'*(t - e), c*c' = 1 (mod n)
//
// since s and t give one another modulo n.
//
// An array that is read as one row and then as several dimensions has such a variable. Its digits can meet
// other rules, each by itself.
//
// Example: (d0)[s0] -> (s0 floordiv 8, s0 mod 8 + d0), s0 in [0, 31], becomes
// (d0)[s0, s1] -> (s0, s1 + d0), s0 in [0, 3], s1 in [0, 7]; and (d0)[s0] -> (s0 mod 8 + d0), s0 in [1, 9],
// becomes (d0)[s0] -> (s0 + d0), s0 in [0, 7]. A rotation that ends at any place,
// (d0)[s0] -> ((d0 + s0) mod 8), s0 in [0, 7], becomes (d0)[s0] -> (s0).
#ifndef XLA_INDEXING_MAP_SIMPLIFY_RANGE_DIGITS_H_
#define XLA_INDEXING_MAP_SIMPLIFY_RANGE_DIGITS_H_

#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

// Replaces one range variable by two of its digits; the relation stays equal. Returns whether there was
// one; expressions that changed are not simplified.
bool SplitRangeVariable(IndexingMap* map);

// Replaces one range variable by a remainder; the same holds.
bool ReplaceByRemainder(IndexingMap* map);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_SIMPLIFY_RANGE_DIGITS_H_
