#include "xla_indexing/gpu/requests/stretch.h"

#include <algorithm>
#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

// By how much each step that is used grows with the variable, along the stretch.
class StretchFinder {
 public:
  StretchFinder(const AccessProgram& program, int variable, llvm::ArrayRef<bool> used)
      : program_(program) {
    program.program().Interpret(
        *this, [&](int step) { return used[step] && program.Has(step, variable); }, &slopes_);
  }

  Int128 length() const { return length_; }
  Int128 SlopeOf(int step) const { return slopes_[step]; }

  static Int128 Constant(int64_t /*value*/) { return 0; }
  static Int128 Variable(int /*position*/) { return 1; }
  static Int128 Add(Int128 a, Int128 b) { return a + b; }
  static Int128 Multiply(Int128 a, int64_t factor) { return a * factor; }
  // Ends the stretch where the quotient of a division changes.
  Int128 Divide(const ExprProgram::Division& division, Int128 slope) {
    const ValueRange& dividend = program_.range(division.dividend);
    const int64_t below = FloorMod(dividend.lower, division.divisor);
    const Int128 above = division.divisor - 1 - below - (Int128{dividend.upper} - dividend.lower);
    if (above < 0) {
      Limit(slope, 0, 0);
      return 0;
    }
    Limit(slope, above, below);
    // Where there is no next value, it may be a slope that no two values have.
    return division.is_mod && length_ > 1 ? slope : 0;
  }

  enum class Holds { kNever, kAlways, kForSome };
  // Ends the stretch where a constraint begins or ends to hold.
  Holds AddConstraint(const StepConstraint& constraint) {
    const auto [lower, upper] = constraint.interval;
    const auto [low, high] = program_.range(constraint.step);
    const Int128 slope = SlopeOf(constraint.step);
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

  const AccessProgram& program_;
  Int128 length_ = kInt64Max;
  llvm::SmallVector<Int128, 32> slopes_;  // of the steps
};

}  // namespace

Stretch StretchAt(const LaunchAccess& access, int variable, llvm::ArrayRef<bool> used,
                  llvm::ArrayRef<int> open, int64_t modulus) {
  StretchFinder finder(access.program, variable, used);
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
