// The conditions of slices, pads and concatenations on the elements that a chain of them leads on.
//
// A restriction says that a positional number (affine/mixed_radix/positional.h) lies in an interval
// and in a residue class. Chains for one function ask for the same elements in other words: of an
// index or of the same index moved, of a number or of its digits, once or in two steps. A list of
// restrictions is kept in a form that does not depend on that:
//
//   moved       k*N + c, divided by m or not, in I and in R: N in (m*I - c)/k and in (m*R - c)/k
//   known       the interval meets the values that the number's digits have, their restrictions
//               regarded, and its ends are of the class; what says nothing then goes, and so does
//               the class of a single value
//   high digits D + b*H in [a, b'] with floor(a/b) = floor(b'/b) = h: H = h and D in [a, b'] - b*h
//   low digits  D + b*H in [a, b'], D in [p, q], where all D ask the same of H: H in that
//   residues    D + b*H = r (mod m): D = r (mod m) where m divides b; where b divides m,
//               D = r mod b and H = (r - r mod b)/b (mod m/b)
//   implied     D + b*H in [a, b'] asks for H in [a/b, b'/b], which is in the list, too
//
// and, as they are written,
//
//   whole       floor(N/p) in [a, b']: N in [p*a, p*b' + p - 1], whose digits begin where their
//               sources do, without low digits that all ask the same of the others
//
// Each is an equivalence. A number has at most one restriction, but for residue classes whose
// intersection has a modulus that does not fit int64.
//
//   Restrictions restrictions;
//   Restrict({index, Interval::Closed(2, 5)}, algebra, restrictions)   // false: no element is left
#ifndef XLA_INDEXING_FUSION_CHAIN_RESTRICTIONS_H_
#define XLA_INDEXING_FUSION_CHAIN_RESTRICTIONS_H_

#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/mixed_radix/positional.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

struct Restriction {
  Number index;
  Interval interval = Interval::All();
  Congruence residues = Congruence::All();

  friend bool operator==(const Restriction& a, const Restriction& b) {
    return a.index == b.index && a.interval == b.interval && a.residues == b.residues;
  }
};
using Restrictions = llvm::SmallVector<Restriction, 0>;

// Adds a restriction. False, with the list in no particular state, where no element meets all.
bool Restrict(Restriction restriction, PositionalAlgebra& algebra, Restrictions& restrictions);

// The restrictions that do not follow from another one, without intervals that exclude nothing.
Restrictions RestrictionsToWrite(Restrictions restrictions, PositionalAlgebra& algebra);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_CHAIN_RESTRICTIONS_H_
