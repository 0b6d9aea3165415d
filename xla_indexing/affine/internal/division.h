// The intermediate state and the cached result of a floor division
// (affine/internal/floor_division.cc).
#ifndef XLA_INDEXING_AFFINE_INTERNAL_DIVISION_H_
#define XLA_INDEXING_AFFINE_INTERNAL_DIVISION_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "xla_indexing/affine/internal/quasi_affine_sum.h"
#include "xla_indexing/base/interval.h"

namespace xla_indexing::internal {

// A dividend m * quotient + rest, or -(m * quotient + rest) - 1 where it is negated.
struct Division {
  QuasiAffineSum rest;
  QuasiAffineSum quotient = {};
  // The range of `rest`, once it was asked for.
  std::optional<Interval> range = {};
  // Every way of splitting `rest` has been tried, and there is none.
  bool is_normal = false;
  bool negated = false;

  // Forgets what was known of `rest`, which has become another sum.
  void MakeOther() {
    range.reset();
    is_normal = false;
  }
};

// rest = radix * high + low with low in [0, radix - 1] and radix dividing m.
struct DivisionSplit {
  QuasiAffineSum high = {};
  QuasiAffineSum low = {};
  int64_t radix = 1;
};

// How a sum was divided: by a split, or otherwise down to the dividend of an atom.
struct KnownDivision {
  QuasiAffineSum digits;
  int64_t divisor = 1;
  bool is_split = false;
  DivisionSplit split;
  Division division;  // but for its quotient

  size_t hash = 0;
  KnownDivision* next = nullptr;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_INTERNAL_DIVISION_H_
