#include "xla_indexing/gpu/internal/lane_classes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {
namespace {

constexpr int64_t kMaxNumber = LaneForms::kMaxNumber;
constexpr int64_t kDoesNotCount = LaneBits::kDoesNotCount;
// The number of residues that take as long as a place.
constexpr int64_t kResiduesOfPlace = 8;

}  // namespace

LaneClasses::LaneClasses(const LaunchAccess& access, llvm::ArrayRef<int> constraints, int variable,
                         int64_t modulus, size_t max_classes)
    : forms_(access, constraints, variable),
      modulus_(modulus),
      max_classes_(max_classes),
      bits_(forms_, modulus),
      states_(forms_.digits.size()),
      pattern_(forms_.digits.size() + forms_.constraints.size()) {}

LaneClasses::State LaneClasses::StateOf(const LaneSum& sum, int64_t v) const {
  State state{sum.constant + sum.slope * v, sum.slope, sum.low, sum.high};
  for (const auto& [digit, coefficient] : sum.digits) {
    const State& of_digit = states_[digit];
    state.value += coefficient * of_digit.value;
    state.slope += coefficient * of_digit.slope;
    state.low += coefficient * (coefficient > 0 ? of_digit.low : of_digit.high);
    state.high += coefficient * (coefficient > 0 ? of_digit.high : of_digit.low);
  }
  return state;
}

LaneClasses::Stretch LaneClasses::LookAt(int64_t v) {
  Stretch stretch{std::numeric_limits<int64_t>::max(), true};
  is_plain_ = true;
  // For how long there is room of this size, above or below, for what has this slope.
  const auto limit = [&](int64_t slope, int64_t above, int64_t below) {
    if (slope > 0) stretch.length = std::min(stretch.length, above / slope + 1);
    if (slope < 0) stretch.length = std::min(stretch.length, below / -slope + 1);
  };
  for (size_t i = 0; i < forms_.digits.size(); ++i) {
    const LaneDigit& digit = forms_.digits[i];
    const State dividend = StateOf(digit.dividend, v);
    const int64_t m = digit.divisor;
    const int64_t quotient = FloorDiv(dividend.value, m);
    const int64_t rest = dividend.value - quotient * m;
    State& state = states_[i];
    if (rest + dividend.low >= 0 && rest + dividend.high < m) {
      pattern_[i] = kDoesNotCount;
      limit(dividend.slope, m - 1 - rest - dividend.high, rest + dividend.low);
      state = digit.is_mod ? State{rest, dividend.slope, dividend.low, dividend.high}
                           : State{quotient, 0, 0, 0};
    } else {
      pattern_[i] = rest;
      is_plain_ = false;
      limit(dividend.slope, 0, 0);
      state = digit.is_mod ? State{rest, 0, -rest, m - 1 - rest}
                           : State{quotient, 0, FloorDiv(rest + dividend.low, m),
                                   FloorDiv(rest + dividend.high, m)};
    }
    // Where there is no next value, it may be a slope that no two values have.
    if (stretch.length == 1) state.slope = 0;
  }
  for (size_t i = 0; i < forms_.constraints.size(); ++i) {
    const auto& [sum, interval] = forms_.constraints[i];
    const State state = StateOf(sum, v);
    const int64_t low = state.value + state.low;
    const int64_t high = state.value + state.high;
    int64_t& key = pattern_[forms_.digits.size() + i];
    key = kDoesNotCount;
    if (low > interval.upper) {
      stretch.is_active = false;
      limit(state.slope, kMaxNumber, low - interval.upper - 1);
    } else if (high < interval.lower) {
      stretch.is_active = false;
      limit(state.slope, interval.lower - high - 1, kMaxNumber);
    } else if (low >= interval.lower && high <= interval.upper) {
      limit(state.slope, interval.upper - high, low - interval.lower);
    } else {
      key = state.value;
      is_plain_ = false;
      limit(state.slope, 0, 0);
    }
  }
  address_state_ = StateOf(forms_.address, v);
  return stretch;
}

int64_t LaneClasses::Add(ValueRange values, int part, int64_t* places) {
  int64_t v = values.lower;
  while (v <= values.upper && *places > 0 && classes_.size() < max_classes_) {
    const Stretch stretch = LookAt(v);
    const int64_t length = std::min(stretch.length, values.upper - v + 1);
    if (stretch.is_active) {
      const int pattern = FindPattern();
      const auto slope = static_cast<uint64_t>(length == 1 ? 0 : address_state_.slope);
      const auto mask = static_cast<uint64_t>(modulus_ - 1);
      // After so many values residues come again.
      const int64_t order = modulus_ / Gcd(modulus_, static_cast<int64_t>(slope & mask));
      const int64_t residues = std::min(length, order);
      auto residue = static_cast<uint64_t>(address_state_.value) & mask;
      for (int64_t i = 0; i < residues; ++i) {
        AddToClass(pattern, static_cast<int64_t>(residue), part, (length - 1 - i) / order + 1,
                   v + i);
        residue = (residue + slope) & mask;
      }
      *places -= residues / kResiduesOfPlace;
    }
    --*places;
    v += length;
  }
  return v;
}

void LaneClasses::Clear() {
  plain_pattern_ = -1;
  next_.clear();
  keys_.clear();
  pattern_of_hash_.clear();
  classes_.clear();
  class_of_.clear();
}

int LaneClasses::FindPattern() {
  const auto make = [&] {
    next_.push_back(-1);
    keys_.insert(keys_.end(), pattern_.begin(), pattern_.end());
    return static_cast<int>(next_.size()) - 1;
  };
  if (is_plain_) {
    if (plain_pattern_ < 0) plain_pattern_ = make();
    return plain_pattern_;
  }
  uint64_t hash = 0;
  for (const int64_t key : pattern_) {
    hash = (hash ^ static_cast<uint64_t>(key)) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  // The largest numbers have a meaning of their own to the table.
  const auto [it, is_new] = pattern_of_hash_.try_emplace(hash >> 1, -1);
  for (int i = it->second; i >= 0; i = next_[i]) {
    if (std::equal(pattern_.begin(), pattern_.end(), keys_.begin() + i * pattern_.size())) return i;
  }
  const int pattern = make();
  next_[pattern] = it->second;
  it->second = pattern;
  return pattern;
}

void LaneClasses::AddToClass(int pattern, int64_t residue, int part, int64_t count, int64_t first) {
  const auto [it, is_new] =
      class_of_.try_emplace({pattern, residue}, static_cast<int>(classes_.size()));
  if (is_new) classes_.push_back({pattern, residue, {0, 0}, first});
  classes_[it->second].counts[part] += count;
}

}  // namespace xla_indexing::internal
