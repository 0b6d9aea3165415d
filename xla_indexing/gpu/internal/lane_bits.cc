#include "xla_indexing/gpu/internal/lane_bits.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/algorithm/container.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/gpu/internal/request_lanes.h"

namespace xla_indexing::internal {
namespace {

// How many more points, with this one, until something with this step has no more room.
int64_t PointsUntil(int64_t step, int64_t above, int64_t below) {
  if (step > 0) return above / step + 1;
  if (step < 0) return below / -step + 1;
  return std::numeric_limits<int64_t>::max();
}

}  // namespace

LaneBits::LaneBits(const LaneForms& forms, int64_t modulus)
    : forms_(forms), modulus_(modulus), states_(forms.digits.size()) {
  digit_differences_.resize(forms.are_in_line ? 0 : forms.digits.size());
}

const LaneBits::Trains& LaneBits::Of(llvm::ArrayRef<int64_t> pattern) {
  trains_.clear();
  forms_.are_in_line ? GoAlongLine(pattern) : TakeAllPoints(pattern);
  Canonicalize();
  return trains_;
}

LaneBits::State LaneBits::StateAt(const LaneSum& sum, int64_t point) const {
  State state{sum.step * point, sum.step};
  for (const auto& [digit, coefficient] : sum.digits) {
    state.difference += coefficient * states_[digit].difference;
    state.step += coefficient * states_[digit].step;
  }
  return state;
}

void LaneBits::GoAlongLine(llvm::ArrayRef<int64_t> pattern) {
  const auto num_points = static_cast<int64_t>(forms_.num_points);
  for (int64_t point = 0; point < num_points;) {
    int64_t length = num_points - point;
    for (size_t i = 0; i < states_.size(); ++i) {
      const LaneDigit& digit = forms_.digits[i];
      const State dividend = StateAt(digit.dividend, point);
      int64_t quotient = 0;
      if (pattern[i] != kDoesNotCount) {
        const int64_t value = pattern[i] + dividend.difference;
        const int64_t m = digit.divisor;
        // Most carry once at most.
        if (value < 0 || value >= m) {
          quotient = value >= m && value - m < m ? 1 : FloorDiv(value, m);
        }
        const int64_t rest = value - quotient * m;
        length = std::min(length, PointsUntil(dividend.step, m - 1 - rest, rest));
      }
      states_[i] = digit.is_mod
                       ? State{dividend.difference - quotient * digit.divisor, dividend.step}
                       : State{quotient, 0};
      // Where there is no next point, it may be a step that no two points have.
      if (length == 1) states_[i].step = 0;
    }
    bool is_active = true;
    for (size_t i = 0; i < forms_.constraints.size(); ++i) {
      const int64_t at_first = pattern[states_.size() + i];
      if (at_first == kDoesNotCount) continue;
      const auto& [sum, interval] = forms_.constraints[i];
      const State state = StateAt(sum, point);
      const int64_t value = at_first + state.difference;
      if (value < interval.lower) {
        is_active = false;
        length = std::min(
            length, PointsUntil(state.step, interval.lower - value - 1, LaneForms::kMaxNumber));
      } else if (value > interval.upper) {
        is_active = false;
        length = std::min(
            length, PointsUntil(state.step, LaneForms::kMaxNumber, value - interval.upper - 1));
      } else {
        length = std::min(length,
                          PointsUntil(state.step, interval.upper - value, value - interval.lower));
      }
    }
    if (is_active) {
      const State address = StateAt(forms_.address, point);
      AddPoints(address.difference, {address.step, length});
    }
    point += length;
  }
}

void LaneBits::AddPoints(int64_t begin, const LaneSteps& points) {
  // Steps that continue where the ones before them end are joined into one train.
  LaneSteps train;
  llvm::SmallVector<LaneSteps, 4> others;
  const auto add = [&](const LaneSteps& steps) {
    if (steps.count == 1) return;
    if (train.count == 1) {
      train = steps;
    } else if (steps.step == Int128{train.step} * train.count) {
      train.count *= steps.count;
    } else {
      others.push_back(steps);
    }
  };
  for (const LaneSteps& steps : forms_.elements) add(steps);
  add(points);
  llvm::SmallVector<int64_t, 4> at(others.size(), 0);
  while (true) {
    AddTrain(begin, train);
    size_t i = 0;
    for (; i < others.size(); ++i) {
      begin += others[i].step;
      if (++at[i] < others[i].count) break;
      begin -= others[i].step * others[i].count;
      at[i] = 0;
    }
    if (i == others.size()) break;
  }
}

// Elements that overlap or touch are one run.
void LaneBits::AddTrain(int64_t begin, const LaneSteps& elements) {
  const auto& [step, count] = elements;
  const int64_t last = begin + (count - 1) * step;
  BitTrain train{{std::min(begin, last), 0}, step < 0 ? -step : step, count};
  train.first.end = train.first.begin + forms_.width;
  if (train.step <= forms_.width || count == 1) {
    train = {{train.first.begin, train.end()}, 0, 1};
    if (!trains_.empty() && trains_.back().count == 1 &&
        trains_.back().first.end == train.first.begin) {
      trains_.back().first.end = train.first.end;
      return;
    }
  }
  trains_.push_back(train);
}

void LaneBits::Canonicalize() {
  if (trains_.empty()) return;
  const auto is_before = [](const BitTrain& a, const BitTrain& b) {
    return a.first.begin < b.first.begin;
  };
  if (!absl::c_is_sorted(trains_, is_before)) absl::c_sort(trains_, is_before);
  const int64_t origin = FloorDiv(trains_.front().first.begin, modulus_) * modulus_;
  bool are_apart = true;
  int64_t end = origin;
  for (BitTrain& train : trains_) {
    are_apart = are_apart && end <= train.first.begin;
    end = train.end();
    train.first = {train.first.begin - origin, train.first.end - origin};
  }
  if (!are_apart && !JoinTrains()) MakeRuns();
}

// As the rows of a table: false, and nothing done, where steps differ or a run is in two rows.
bool LaneBits::JoinTrains() {
  int64_t base = trains_.front().first.begin;
  int64_t step = 0;
  for (const BitTrain& train : trains_) step = std::max(step, train.step);
  if (step == 0) return false;
  struct Column {
    BitRun run;  // within a row, which it may pass the end of
    int64_t first_row;
    int64_t end_row;
  };
  llvm::SmallVector<Column, 16> columns;
  const auto place = [&] {
    columns.clear();
    for (const BitTrain& train : trains_) {
      const int64_t row = (train.first.begin - base) / step;
      const int64_t begin = train.first.begin - base - row * step;
      const int64_t end = begin + train.first.end - train.first.begin;
      columns.push_back({{begin, end}, row, row + train.count});
    }
    absl::c_sort(columns,
                 [](const Column& a, const Column& b) { return a.run.begin < b.run.begin; });
  };
  place();
  // Rows should begin after a gap: what ends with a row goes on in the next one.
  int64_t end = 0;
  int64_t after_gap = 0;
  for (const Column& column : columns) {
    if (column.run.begin > end) after_gap = column.run.begin;
    end = std::max(end, column.run.end);
  }
  if (end >= step && after_gap > 0) {
    base += after_gap - step;
    place();
  }
  llvm::SmallVector<int64_t, 32> ends;  // of stretches of equal rows
  for (const auto& [run, first_row, end_row] : columns) {
    if (run.end > step) return false;
    ends.push_back(first_row);
    ends.push_back(end_row);
  }
  for (const BitTrain& train : trains_) {
    if (train.count > 1 && train.step != step) return false;
  }
  absl::c_sort(ends);
  trains_.clear();
  for (size_t i = 1; i < ends.size(); ++i) {
    const int64_t row = ends[i - 1];
    const int64_t count = ends[i] - row;
    if (count == 0) continue;
    llvm::SmallVector<BitRun, 4> runs;
    for (const Column& column : columns) {
      if (row < column.first_row || row >= column.end_row) continue;
      if (!runs.empty() && column.run.begin <= runs.back().end) {
        runs.back().end = std::max(runs.back().end, column.run.end);
      } else {
        runs.push_back(column.run);
      }
    }
    const bool is_train = runs.size() == 1;
    for (int64_t r = row; r < ends[i] && !runs.empty(); r += is_train ? count : 1) {
      const int64_t begin = base + r * step;
      for (const BitRun& run : runs) {
        trains_.push_back({{begin + run.begin, begin + run.end}, step, is_train ? count : 1});
      }
    }
  }
  return true;
}

void LaneBits::MakeRuns() {
  llvm::SmallVector<BitRun, 64> runs;
  for (const auto& [first, step, count] : trains_) {
    for (int64_t i = 0; i < count; ++i) {
      runs.push_back({first.begin + i * step, first.end + i * step});
    }
  }
  CanonicalizeRuns(modulus_, &runs);
  trains_.clear();
  for (const BitRun& run : runs) trains_.push_back({run});
}

// What a sum is more than at l0, at each point.
void LaneBits::DifferencesOf(const LaneSum& sum, std::vector<int64_t>* differences) const {
  differences->assign(sum.added.begin(), sum.added.end());
  for (const auto& [digit, coefficient] : sum.digits) {
    const std::vector<int64_t>& of_digit = digit_differences_[digit];
    for (size_t i = 0; i < forms_.num_points; ++i) (*differences)[i] += coefficient * of_digit[i];
  }
}

void LaneBits::TakeAllPoints(llvm::ArrayRef<int64_t> pattern) {
  for (size_t i = 0; i < forms_.digits.size(); ++i) {
    const LaneDigit& digit = forms_.digits[i];
    std::vector<int64_t>& differences = digit_differences_[i];
    DifferencesOf(digit.dividend, &differences);
    if (pattern[i] == kDoesNotCount) {
      if (!digit.is_mod) differences.assign(forms_.num_points, 0);
      continue;
    }
    for (int64_t& difference : differences) {
      const int64_t quotient = FloorDiv(pattern[i] + difference, digit.divisor);
      difference = digit.is_mod ? difference - quotient * digit.divisor : quotient;
    }
  }
  is_active_.assign(forms_.num_points, 1);
  for (size_t i = 0; i < forms_.constraints.size(); ++i) {
    const int64_t at_first = pattern[forms_.digits.size() + i];
    if (at_first == kDoesNotCount) continue;
    const auto& [sum, interval] = forms_.constraints[i];
    DifferencesOf(sum, &differences_);
    for (size_t point = 0; point < forms_.num_points; ++point) {
      const int64_t value = at_first + differences_[point];
      if (value < interval.lower || value > interval.upper) is_active_[point] = 0;
    }
  }
  DifferencesOf(forms_.address, &differences_);
  for (size_t point = 0; point < forms_.num_points; ++point) {
    if (is_active_[point] != 0) AddPoints(differences_[point], {0, 1});
  }
}

}  // namespace xla_indexing::internal
