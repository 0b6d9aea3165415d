// A division in the making (affine/internal/floor_division.cc), and what one has come to.
#ifndef XLA_INDEXING_AFFINE_INTERNAL_DIVISION_H_
#define XLA_INDEXING_AFFINE_INTERNAL_DIVISION_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "xla_indexing/affine/internal/digit_sum.h"
#include "xla_indexing/base/interval.h"

namespace xla_indexing::internal {

// A dividend m * quotient + rest; where it is negated, -(m * quotient + rest) - 1.
struct Division {
  DigitSum rest;
  DigitSum quotient = {};
  // Of the rest, once it was asked for.
  std::optional<Interval> range = {};
  // The rest has no split, and has been looked at in every way that may give it one.
  bool is_normal = false;
  bool negated = false;

  // The rest is another sum now.
  void MakeOther() {
    range.reset();
    is_normal = false;
  }
};

// rest = radix * high + low with low in [0, radix - 1] and radix dividing m.
struct DivisionSplit {
  DigitSum high = {};
  DigitSum low = {};
  int64_t radix = 1;
};

// How a sum was divided: by a split, or else to the dividend of an atom.
struct KnownDivision {
  DigitSum digits;
  int64_t divisor = 1;
  bool is_split = false;
  DivisionSplit split;
  Division division;  // but for its quotient

  size_t hash = 0;
  KnownDivision* next = nullptr;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_INTERNAL_DIVISION_H_
