#include "xla_indexing/query/lane_classes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/checked.h"
#include "xla_indexing/query/request_lanes.h"

namespace xla_indexing {
namespace {

constexpr int kMaxVariables = FormAlgebra::kMaxVariables;
// Sums of a few of them, and the differences of two, fit int64.
constexpr int64_t kMaxNumber = int64_t{1} << 60;
// In a pattern: no carry, or a constraint that holds everywhere.
constexpr int64_t kDoesNotCount = std::numeric_limits<int64_t>::min();
// That take as long as a place does.
constexpr int64_t kResiduesOfPlace = 8;

}  // namespace

LaneClasses::LaneClasses(const LaunchAccess& access, llvm::ArrayRef<int> constraints, int variable,
                         int64_t modulus, size_t max_classes)
    : access_(access),
      constraint_ids_(constraints.begin(), constraints.end()),
      variable_(variable),
      modulus_(modulus),
      max_classes_(max_classes),
      width_(access.width) {
  const FormAlgebra& forms = access.algebra;
  const auto num_divisions = static_cast<int>(forms.divisions().size());
  // Those that have several values and are part of a form that counts.
  llvm::SmallVector<bool, 8> is_used(num_divisions, false);
  const auto use = [&](const Form& form) {
    const ValueRange range = forms.RangeOf(form);
    fits_ &= range.lower >= -kMaxNumber && range.upper <= kMaxNumber;
    for (const FormTerm& term : form.terms) {
      if (term.id >= kMaxVariables && !forms.range(term.id).IsPoint()) {
        is_used[term.id - kMaxVariables] = true;
      }
    }
  };
  use(access.address);
  for (const int i : constraints) use(access.constraints[i].form);
  for (int i = num_divisions; i-- > 0;) {
    if (is_used[i]) use(forms.divisions()[i].dividend);
  }
  if (!fits_) return;

  // Divisions with v are digits; the others are values of the points.
  llvm::SmallVector<int, 8> digit_of(num_divisions, -1);
  llvm::SmallVector<int, 4> of_points;
  llvm::SmallVector<const Form*, 8> sources;
  for (int i = 0; i < num_divisions; ++i) {
    if (!is_used[i]) continue;
    const FormDivision& division = forms.divisions()[i];
    if ((division.variables >> variable & 1) == 0) {
      of_points.push_back(i);
      continue;
    }
    digit_of[i] = static_cast<int>(digits_.size());
    digits_.push_back({{}, division.divisor, division.is_mod});
    sources.push_back(&division.dividend);
  }
  for (const int i : constraints) sources.push_back(&access.constraints[i].form);
  sources.push_back(&access.address);
  constraints_.resize(constraints.size());
  llvm::SmallVector<Sum*, 8> sums;
  for (Digit& digit : digits_) sums.push_back(&digit.dividend);
  for (Sum& constraint : constraints_) sums.push_back(&constraint);
  sums.push_back(&address_);
  AddPoints(sources, sums, digit_of, of_points);
  states_.resize(digits_.size());
  digit_differences_.resize(digits_.size());
  pattern_.resize(digits_.size() + constraints_.size());
}

// What does not depend on v, at every point.
void LaneClasses::AddPoints(llvm::ArrayRef<const Form*> sources, llvm::ArrayRef<Sum*> sums,
                            llvm::ArrayRef<int> digit_of, llvm::ArrayRef<int> of_points) {
  const FormAlgebra& forms = access_.algebra;
  llvm::SmallVector<int64_t, 80> values(kMaxVariables + digit_of.size());
  VariableSet not_only_added = 0;
  for (const Form* source : sources.drop_back()) not_only_added |= forms.VariablesOf(*source);
  for (const int i : of_points) not_only_added |= forms.divisions()[i].variables;
  llvm::SmallVector<int, 4> inner;
  for (int v = 0; v < forms.num_variables(); ++v) {
    values[v] = forms.range(v).lower;
    if ((access_.inner >> v & 1) == 0 || forms.range(v).IsPoint()) continue;
    const int64_t size = forms.range(v).Size();
    const auto* term =
        llvm::find_if(access_.address.terms, [&](const FormTerm& t) { return t.id == v; });
    if ((not_only_added >> v & 1) == 0 && term != access_.address.terms.end() &&
        term->coefficient == width_) {
      // Elements side by side, everywhere: one wide element.
      width_ *= size;
      continue;
    }
    inner.push_back(v);
    num_points_ *= size;
  }
  for (size_t i = 0; i < digit_of.size(); ++i) {
    values[kMaxVariables + i] = forms.range(kMaxVariables + static_cast<int>(i)).lower;
  }
  struct Term {
    int id;
    int64_t coefficient;
  };
  llvm::SmallVector<llvm::SmallVector<Term, 2>, 8> terms(sums.size());  // that differ by point
  for (size_t i = 0; i < sums.size(); ++i) {
    Sum& sum = *sums[i];
    sum.constant = sources[i]->constant;
    sum.added.reserve(num_points_);
    for (const FormTerm& term : sources[i]->terms) {
      const int digit = term.id < kMaxVariables ? -1 : digit_of[term.id - kMaxVariables];
      if (term.id == variable_) {
        sum.slope = term.coefficient;
      } else if (digit >= 0) {
        sum.digits.push_back({digit, term.coefficient});
      } else {
        terms[i].push_back({term.id, term.coefficient});
      }
    }
  }
  for (size_t point = 0; point < num_points_; ++point) {
    for (const int i : of_points) {
      const FormDivision& division = forms.divisions()[i];
      int64_t dividend = division.dividend.constant;
      for (const FormTerm& term : division.dividend.terms) {
        dividend += term.coefficient * values[term.id];
      }
      values[kMaxVariables + i] = division.is_mod ? FloorMod(dividend, division.divisor)
                                                  : FloorDiv(dividend, division.divisor);
    }
    for (size_t i = 0; i < sums.size(); ++i) {
      int64_t value = 0;
      for (const Term& term : terms[i]) value += term.coefficient * values[term.id];
      Sum& sum = *sums[i];
      if (point == 0) sum.constant += value;
      sum.added.push_back(value);
    }
    // Elements of a vector one after the other: they mostly lie so.
    for (const int v : llvm::reverse(inner)) {
      if (values[v]++ < forms.range(v).upper) break;
      values[v] = forms.range(v).lower;
    }
  }
  for (Sum* sum : sums) {
    const int64_t at_first = sum->added[0];
    for (int64_t& value : sum->added) {
      value -= at_first;
      sum->low = std::min(sum->low, value);
      sum->high = std::max(sum->high, value);
    }
  }
}

LaneClasses::State LaneClasses::StateOf(const Sum& sum, int64_t v) const {
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
  for (size_t i = 0; i < digits_.size(); ++i) {
    const Digit& digit = digits_[i];
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
  for (size_t i = 0; i < constraints_.size(); ++i) {
    const ValueRange& interval = access_.constraints[constraint_ids_[i]].interval;
    const State state = StateOf(constraints_[i], v);
    const int64_t low = state.value + state.low;
    const int64_t high = state.value + state.high;
    int64_t& key = pattern_[digits_.size() + i];
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
  address_state_ = StateOf(address_, v);
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

// What a sum is more than at l0, at each point.
void LaneClasses::DifferencesOf(const Sum& sum, std::vector<int64_t>* differences) const {
  differences->assign(sum.added.begin(), sum.added.end());
  for (const auto& [digit, coefficient] : sum.digits) {
    const std::vector<int64_t>& of_digit = digit_differences_[digit];
    for (size_t i = 0; i < num_points_; ++i) (*differences)[i] += coefficient * of_digit[i];
  }
}

void LaneClasses::RunsOf(int pattern, llvm::SmallVectorImpl<BitRun>* runs) {
  runs->clear();
  // There is no key where there is nothing to tell patterns apart.
  const int64_t* key = keys_.data() + pattern * pattern_.size();
  for (size_t i = 0; i < digits_.size(); ++i) {
    const Digit& digit = digits_[i];
    std::vector<int64_t>& differences = digit_differences_[i];
    DifferencesOf(digit.dividend, &differences);
    if (key[i] == kDoesNotCount) {
      if (!digit.is_mod) differences.assign(num_points_, 0);
      continue;
    }
    for (int64_t& difference : differences) {
      const int64_t value = key[i] + difference;
      // Most carry once at most.
      int64_t quotient = 0;
      if (value < 0 || value >= digit.divisor) {
        quotient = value >= 0 && value - digit.divisor < digit.divisor
                       ? 1
                       : FloorDiv(value, digit.divisor);
      }
      difference = digit.is_mod ? difference - quotient * digit.divisor : quotient;
    }
  }
  is_active_.assign(num_points_, 1);
  for (size_t i = 0; i < constraints_.size(); ++i) {
    const int64_t at_first = key[digits_.size() + i];
    if (at_first == kDoesNotCount) continue;
    const ValueRange& interval = access_.constraints[constraint_ids_[i]].interval;
    DifferencesOf(constraints_[i], &differences_);
    for (size_t point = 0; point < num_points_; ++point) {
      const int64_t value = at_first + differences_[point];
      if (value < interval.lower || value > interval.upper) is_active_[point] = 0;
    }
  }
  DifferencesOf(address_, &differences_);
  for (size_t point = 0; point < num_points_; ++point) {
    if (is_active_[point] == 0) continue;
    const int64_t begin = differences_[point];
    if (!runs->empty() && runs->back().end == begin) {
      runs->back().end += width_;
    } else {
      runs->push_back({begin, begin + width_});
    }
  }
  CanonicalizeRuns(modulus_, runs);
}

}  // namespace xla_indexing
