// Mixed-radix numbers: lists of digits.
//
// Mathematics. A *digit* is a constant, or a digit of a quantity x that has a number in a table of
// sources,
//
//   digit(x, f, e) = floor(x / f) mod e     or, flipped,     e - 1 - digit(x, f, e),
//
// in [0, e - 1], with the *lower factor* f and the *extent* e. A *number* is a list of digits D0,
// D1, .., least significant first, of extents e0, e1, .., with the value D0 + D1*e0 + D2*e0*e1 +
// .. . Its *cut points* are the values at which it can be cut in two: 1, e0, e0*e1, .. and, between
// two of these, the multiples of the smaller one that divide the greater one.
//
// Units. Extents and cut points count elements. The product of a number's extents fits int64;
// whoever makes numbers sees to that.
//
// Example: with d0 in [0, 11] and d1 in [0, 7], {(d1, 1, 8), (d0, 1, 12)} is d0*8 + d1, of size 96,
// with the cut points 1, 2, 4, 8, 16, 24, 32, 48 and 96.
#ifndef XLA_INDEXING_AFFINE_MIXED_RADIX_NUMBER_H_
#define XLA_INDEXING_AFFINE_MIXED_RADIX_NUMBER_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "xla_indexing/affine/expr/short_list.h"

namespace xla_indexing::internal {

struct Digit {
  // A constant has its value here.
  int64_t lower_factor = 0;
  int64_t extent = 1;
  // 0 for a constant; sources are numbered from 1 in the order in which they are made.
  uint32_t source = 0;
  bool flipped = false;

  static Digit Constant(int64_t value, int64_t size) { return {value, size, 0, false}; }
  bool IsConstant() const { return source == 0; }
  int64_t value() const { return lower_factor; }  // of a constant
  template <typename H>
  friend H AbslHashValue(H h, const Digit& digit) {
    return H::combine(std::move(h), digit.lower_factor, digit.extent, digit.source, digit.flipped);
  }
  friend bool operator==(const Digit& a, const Digit& b) {
    return a.lower_factor == b.lower_factor && a.extent == b.extent && a.source == b.source &&
           a.flipped == b.flipped;
  }
};

// Least significant digit first. No digit is 0, of size 1; extents are 2 and more.
using Number = ShortList<Digit, 4>;

// The number of values, the product of the digits' extents.
int64_t SizeOf(const Number& number);

// size - 1 - number.
void Reverse(Number& number);

// The value of a number of constant digits; none of others.
std::optional<int64_t> ConstantValue(const Number& number);

// Whether the most significant digit that is not constant is flipped.
bool IsFlipped(const Number& number);

// The greatest cut point of the number that divides r.
int64_t CutPointBelow(const Number& number, int64_t r);

// The least cut point of the number that r divides; r divides its size.
int64_t CutPointAbove(const Number& number, int64_t r);

// Equal ones have equal hashes.
size_t HashOf(const Number& number);
size_t HashOf(llvm::ArrayRef<Number> indices);
struct HashOfNumber {
  size_t operator()(const Number& number) const { return HashOf(number); }
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_MIXED_RADIX_NUMBER_H_
