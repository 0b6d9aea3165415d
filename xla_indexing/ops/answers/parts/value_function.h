// What an operation does to an index value that it reads from a tensor before it uses it.
//
//   clamp [lo, hi]            min(max(v, lo), hi)         starts of slices and gathers
//   as is                     v                           indices of a scatter
//   in [0, n-1], else n-1     v if 0 <= v < n, else n-1   the branch of a conditional
//   iterations                how often it runs           a while; this is not read from a tensor
//   is not 0                  0 if v is 0 for certain,    a factor, in answers about dependence until nobody
//                             else 1                      can know more of it
//
// Example: ValueFunction::Clamp(0, 226).Apply(300) == 226.
// Source: the definitions of dynamic-slice, gather, scatter and conditional in XLA's operation
// semantics.

#ifndef XLA_INDEXING_OPS_ANSWERS_PARTS_VALUE_FUNCTION_H_
#define XLA_INDEXING_OPS_ANSWERS_PARTS_VALUE_FUNCTION_H_

#include <compare>
#include <cstdint>
#include <string>
#include <utility>

#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing {

class ValueFunction {
 public:
  enum class Kind : uint8_t { kAsIs, kClamp, kInRangeElseLast, kIterations, kIsNotZero };

  static ValueFunction AsIs() { return ValueFunction(Kind::kAsIs, 0, 0); }
  // lo <= hi.
  static ValueFunction Clamp(int64_t lo, int64_t hi) { return ValueFunction(Kind::kClamp, lo, hi); }
  // n >= 1.
  static ValueFunction InRangeElseLast(int64_t n) {
    return ValueFunction(Kind::kInRangeElseLast, 0, n - 1);
  }

  static ValueFunction Iterations() { return ValueFunction(Kind::kIterations, 0, 0); }
  static ValueFunction IsNotZero() { return ValueFunction(Kind::kIsNotZero, 0, 1); }

  Kind kind() const { return kind_; }
  // The ends of the interval that a clamp clamps to and that a branch index lies in.
  int64_t lower() const { return lower_; }
  int64_t upper() const { return upper_; }

  int64_t Apply(int64_t value) const;
  // The hull of the values of the function on `values`.
  Interval Apply(const Interval& values) const;

  // The function as the table at the top of this file writes it.
  std::string ToString() const;

  // By kind, then by ends.
  friend auto operator<=>(const ValueFunction& a, const ValueFunction& b) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ValueFunction& f) {
    return H::combine(std::move(h), f.kind_, f.lower_, f.upper_);
  }

 private:
  ValueFunction(Kind kind, int64_t lower, int64_t upper)
      : kind_(kind), lower_(lower), upper_(upper) {}

  Kind kind_;
  int64_t lower_;
  int64_t upper_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_OPS_ANSWERS_PARTS_VALUE_FUNCTION_H_
