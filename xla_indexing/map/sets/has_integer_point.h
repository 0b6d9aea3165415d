// Whether a domain has any point: the question behind KNOWN EMPTY.
//
// Intervals and residue classes of single constraints are settled by the normal form
// (map/expr/constraint_form.h). What is left is constraints that exclude each other only
// together. They are looked at in groups that share variables, each group by the first of these
// that decides:
//
//   1. A rule for one constraint whose values have no gap wider than its interval. It decides
//      nearly every constraint that an HLO operation makes.
//   2. Two constraints whose expressions have a difference that their intervals do not allow.
//   3. Points: some in the middle of all intervals; then all of them where there are at most
//      kMaxPoints, or those of a period of one variable after which all constraints repeat;
//      otherwise as many near the ends of the intervals; and one that is moved from
//      the middle into one constraint after another, until it is in all of them.
//   4. mlir::presburger, which is exact but cannot be interrupted: at most kMaxPresburgerVariables
//      variables (with one for each floordiv and mod), kMaxPresburgerConstraints constraints, and
//      coefficients and divisors below kMaxPresburgerCoefficient.
//
// Decisions go all four ways. The normal form of a map goes the first three, which cost little and
// decide whatever real programs ask: constraints that these leave open stay in the map, where they say
// the same.
//
// Example: d0 in [0, 9999], d0 * 2 - d1 * 4 in [1, 1] has no point; d0 + d1 * 2 in [3, 3] has one.

#ifndef XLA_INDEXING_MAP_SETS_HAS_INTEGER_POINT_H_
#define XLA_INDEXING_MAP_SETS_HAS_INTEGER_POINT_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"

namespace xla_indexing::internal {

inline constexpr int64_t kMaxPoints = 4096;
inline constexpr int kMaxPresburgerVariables = 6;
inline constexpr int kMaxPresburgerConstraints = 12;
inline constexpr int64_t kMaxPresburgerCoefficient = int64_t{1} << 20;

// Whether some integer point of the intervals of the dimensions and symbols satisfies the
// constraints; kUndecided where that was not decided within the bounds. No interval is empty. Constraints
// need not be in normal form, but less is decided then.
Answer HasIntegerPoint(llvm::ArrayRef<Interval> dims, llvm::ArrayRef<Interval> symbols,
                       llvm::ArrayRef<Constraint> constraints);

// The first three ways alone.
Answer HasIntegerPointWithoutPresburger(llvm::ArrayRef<Interval> dims,
                                        llvm::ArrayRef<Interval> symbols,
                                        llvm::ArrayRef<Constraint> constraints);

// The fourth way alone. kUndecided past the bounds above, and where the question has not as many steps
// left as this may take.
Answer HasIntegerPointByPresburger(llvm::ArrayRef<Interval> dims, llvm::ArrayRef<Interval> symbols,
                                   llvm::ArrayRef<Constraint> constraints);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_SETS_HAS_INTEGER_POINT_H_
