#include "xla_indexing/gpu/requests/stretch.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

class StretchFinder {
 public:
  StretchFinder(const LaunchAccess& access, int variable, size_t num_divisions)
      : access_(access), variable_(variable), slopes_(num_divisions) {}

  Int128 length() const { return length_; }

  // By how much the form grows with the variable, along the stretch.
  Int128 SlopeOf(const Form& form) const {
    Int128 slope = 0;
    for (const auto& [id, coefficient] : form.terms) {
      if (id == variable_) slope += coefficient;
      if (id >= FormAlgebra::kMaxVariables) {
        slope += coefficient * slopes_[id - FormAlgebra::kMaxVariables];
      }
    }
    return slope;
  }

  // Ends the stretch where the quotient of a division changes; those in its dividend come first.
  void AddDivision(size_t i) {
    const FormDivision& division = access_.algebra.divisions()[i];
    if ((division.variables >> variable_ & 1) == 0) return;
    const ValueRange dividend = access_.algebra.RangeOf(division.dividend);
    const int64_t below = FloorMod(dividend.lower, division.divisor);
    const Int128 above = division.divisor - 1 - below - (Int128{dividend.upper} - dividend.lower);
    const Int128 slope = SlopeOf(division.dividend);
    if (above < 0) return Limit(slope, 0, 0);
    Limit(slope, above, below);
    // Where there is no next value, it may be a slope that no two values have.
    if (division.is_mod && length_ > 1) slopes_[i] = slope;
  }

  enum class Holds { kNever, kAlways, kForSome };
  // Ends the stretch where a constraint begins or ends to hold.
  Holds AddConstraint(const FormConstraint& constraint) {
    const auto [lower, upper] = constraint.interval;
    const auto [low, high] = access_.algebra.RangeOf(constraint.form);
    const Int128 slope = SlopeOf(constraint.form);
    if (low > upper) {
      Limit(slope, kInt64Max, Int128{low} - upper - 1);
      return Holds::kNever;
    }
    if (high < lower) {
      Limit(slope, Int128{lower} - high - 1, kInt64Max);
      return Holds::kNever;
    }
    if (low >= lower && high <= upper) {
      Limit(slope, Int128{upper} - high, Int128{low} - lower);
      return Holds::kAlways;
    }
    Limit(slope, 0, 0);
    return Holds::kForSome;
  }

 private:
  // There is room of this size, above or below, for what has this slope.
  void Limit(Int128 slope, Int128 above, Int128 below) {
    if (slope > 0) length_ = std::min(length_, above / slope + 1);
    if (slope < 0) length_ = std::min(length_, below / -slope + 1);
  }

  const LaunchAccess& access_;
  const int variable_;
  Int128 length_ = kInt64Max;
  llvm::SmallVector<Int128, 8> slopes_;  // of the divisions
};

}  // namespace

Stretch StretchAt(const LaunchAccess& access, int variable, llvm::ArrayRef<bool> used,
                  llvm::ArrayRef<int> open, int64_t modulus) {
  StretchFinder finder(access, variable, used.size());
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) finder.AddDivision(i);
  }
  Stretch stretch;
  for (const int i : open) {
    const auto holds = finder.AddConstraint(access.constraints[i]);
    if (holds == StretchFinder::Holds::kNever) stretch.is_active = false;
    if (holds == StretchFinder::Holds::kForSome) stretch.open.push_back(i);
  }
  stretch.variable = variable;
  stretch.length = static_cast<int64_t>(finder.length());
  if (stretch.length > 1) {
    stretch.slope = static_cast<int64_t>(finder.SlopeOf(access.address) % modulus);
  }
  return stretch;
}

}  // namespace xla_indexing::internal
