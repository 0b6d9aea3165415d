// Positional numbers: the indices of an array as mixed-radix numbers, which reshapes, transposes,
// reverses, slices, pads and concatenations only move, cut and join.
//
// Mathematics (of digits, numbers and cut points: affine/mixed_radix/number.h). A *source* is an integer
// quantity x >= 0: a variable, a *fused* source, which is a number made of digits, or a *linear*
// source k*N + c of a number N.
//
//   linearize     the row-major position of indices is the list of their digits, one after another
//   delinearize   cuts that list at the products of the sizes
//   cut at r      r is a cut point: the digit there is cut in two. Otherwise, with q the greatest cut
//                 point that divides r and p the least that r divides, Y = the digits from q to p is
//                 a fused source, and its digits are (Y, 1, r/q) and (Y, r/q, p/r)
//   join          digit(x, f, e) + e*digit(x, f*e, e') = digit(x, f, e*e')
//   reverse       flips every digit
//   slice, pad, concatenate   (k*N + c) / m, where m divides it: a linear source
//
// Numbers are kept in a form that hardly depends on how they came about: digits that can be joined
// are; a fused source holds no more digits than its digit depends on; fused and linear sources are
// flipped so that their most significant digit is not. So a reshape and its inverse cancel, and
// chains that differ in the order of steps that commute or in how a reshape is split end in equal
// numbers, but for some that cut one fused source in another (a few in a thousand random chains).
// affine/mixed_radix/number_rules.h says where the rules stand.
//
//   PositionalAlgebra algebra;
//   Number d0 = algebra.AddVariable(12), d1 = algebra.AddVariable(8);
//   // {(X, 6, 16), (X, 1, 6)}, where the fused source X = d0*8 + d1 is cut to what it takes:
//   // d0*4 + d1 floordiv 2, cut at 3.
//   *algebra.Reshape({d0, d1}, {16, 6});
//
// Errors. Where a number does not fit int64, or sources nest too deep, there is no result.
#ifndef XLA_INDEXING_AFFINE_MIXED_RADIX_POSITIONAL_H_
#define XLA_INDEXING_AFFINE_MIXED_RADIX_POSITIONAL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/mixed_radix/number.h"
#include "xla_indexing/affine/mixed_radix/number_sources.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

struct PositionalState;

class PositionalAlgebra {
 public:
  PositionalAlgebra();
  ~PositionalAlgebra();
  PositionalAlgebra(const PositionalAlgebra&) = delete;
  PositionalAlgebra& operator=(const PositionalAlgebra&) = delete;

  // A new variable in [0, size - 1], size >= 1. Its position is the number of variables before it.
  Number AddVariable(int64_t size);
  // The variable at this position.
  Number Variable(int position) const;
  int num_variables() const { return static_cast<int>(variables_.size()); }
  Interval RangeOfVariable(int position) const {
    return Interval::OfSize(variables_[position].extent);
  }

  // The indices in an array of the sizes `to` of the element with these indices, in an array of as
  // many elements. indices[i] is of the size of its axis; the greatest axis stands first.
  std::optional<llvm::SmallVector<Number, 4>> Reshape(llvm::ArrayRef<Number> indices,
                                                      llvm::ArrayRef<int64_t> to);

  // (factor * number + offset) / divisor, of `size` values, where it is known that the division
  // leaves no rest and that the result is in [0, size - 1]; nullopt if that cannot be.
  std::optional<Number> Affine(const Number& number, int64_t factor, int64_t offset,
                               int64_t divisor, int64_t size);

  // What is a number that a slice, a pad or a reverse has made of another:
  // (factor * number + offset) / divisor.
  struct AffineForm {
    Number number;
    int64_t factor = 1;
    int64_t offset = 0;
    int64_t divisor = 1;
  };
  std::optional<AffineForm> AsAffine(const Number& number);

  // What a number is the high digits of: number = floor(whole / divisor). Its least digit begins
  // within a variable, of which `whole` has the digits below, or is the top of a fused source, of
  // which it has all; otherwise it is the number itself, and the divisor 1.
  struct HighDigits {
    Number whole;
    int64_t divisor = 1;
  };
  HighDigits AsHighDigits(const Number& number);

  // The position of the variable that the number is; nullopt if it is none.
  std::optional<int> AsVariable(const Number& number) const;

  // An interval that contains the values of the number.
  Interval RangeOf(const Number& number) const;

  // Takes room from the most significant digit that it never needs.
  void ShrinkToFit(Number& number) const;

  // number mod divisor where that is a constant.
  std::optional<int64_t> ConstantResidue(const Number& number, int64_t divisor);

  using Source = NumberSource;
  const Source& source(uint32_t id) const;
  size_t num_sources() const;
  // What follows from the sources of a number (affine/mixed_radix/number_sources.h).
  bool IsMoved(const Number& number) const;
  size_t NodesOf(const Number& number) const;
  int DepthOf(const Number& number) const;

 private:
  llvm::SmallVector<Digit, 4> variables_;
  std::unique_ptr<PositionalState> state_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_MIXED_RADIX_POSITIONAL_H_
