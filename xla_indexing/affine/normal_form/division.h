// The dividend of a floor or a mod while rules take it apart.
//
// Mathematics. A dividend X is kept as m*Q + R with sums of atoms Q and R, so that
//
//   floor(X / m) = Q + floor(R / m)      and      X mod m = R mod m.
//
// Q starts at 0. Where the dividend is negated, m*Q + R is -X - 1, and
//
//   floor(X / m) = -(Q + floor(R / m)) - 1      and      X mod m = m - 1 - R mod m.
//
// A split of R is R = g*H + L with L in [0, g - 1] where g divides m: the low part never carries,
//
//   floor(R / m) = floor(H / (m/g))      and      R mod m = g*(H mod (m/g)) + L.
//
// Each rule here holds for all integers. A rule whose numbers would not fit int64 is not applied.
#ifndef XLA_INDEXING_AFFINE_NORMAL_FORM_DIVISION_H_
#define XLA_INDEXING_AFFINE_NORMAL_FORM_DIVISION_H_

#include <cstdint>
#include <optional>

#include "xla_indexing/affine/expr/quasi_affine_sum.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

struct DivisionSplit {
  QuasiAffineSum high = {};
  QuasiAffineSum low = {};
  int64_t radix = 1;
};

struct Division {
  Division(const QuasiAffineSum& dividend, int64_t divisor) : m(divisor), rest(dividend) {}

  int64_t m;
  QuasiAffineSum rest;
  QuasiAffineSum quotient = {};
  // The range of `rest`, once it was asked for.
  std::optional<Interval> range = {};
  // Every way of splitting `rest` has been tried, and there is none.
  bool is_normal = false;
  bool negated = false;

  // Forgets what was known of `rest`, which has become another sum.
  void RestHasChanged() {
    range.reset();
    is_normal = false;
  }

  // R = R' + m*amount: a part of the constant moves to Q.
  void MoveConstant(int64_t amount);
  // k*a = 0*a + m*(k/m)*a where m divides k: such terms move to Q, and the constant becomes its
  // residue in [0, m - 1].
  void ExtractMultiples();
  // k*a = r*a + m*q*a: coefficients become their residues in (-m/2, m/2], which makes the range of
  // R smallest. A floor may keep -m/2: unnesting it with its sign finds the division that it was
  // made from. Returns whether any coefficient has changed.
  bool ReduceResidues();
  // Coefficients become their residues in (-m/2, m/2], also those of floors.
  void TakeSymmetricResidues();
  // -X - 1 takes the place of X.
  void Negate();
  // Chooses the sign of the dividend and the residues of its coefficients from the residues alone.
  // Where the symmetric ones can all be positive they are. Otherwise all coefficients become their
  // residues in [0, m - 1], with the sign that makes their sum smaller, or the first of them
  // greater, since strides come greatest first.
  void NormalizeSignAndResidues();

 private:
  template <typename Residue>
  bool MoveToQuotient(Residue residue);
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_NORMAL_FORM_DIVISION_H_
