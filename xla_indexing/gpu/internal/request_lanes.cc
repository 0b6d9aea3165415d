#include "xla_indexing/gpu/internal/request_lanes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {
namespace {

enum class Holds { kNever, kAlways, kSometimes };

Holds HoldsIn(const FormConstraint& constraint, const FormAlgebra& forms) {
  const ValueRange values = forms.RangeOf(constraint.form);
  const ValueRange& interval = constraint.interval;
  if (values.lower > interval.upper || values.upper < interval.lower) return Holds::kNever;
  if (values.lower < interval.lower || values.upper > interval.upper) return Holds::kSometimes;
  return Holds::kAlways;
}

}  // namespace

void CanonicalizeRuns(int64_t modulus, llvm::SmallVectorImpl<BitRun>* runs) {
  if (runs->empty()) return;
  const auto is_before = [](const BitRun& a, const BitRun& b) { return a.begin < b.begin; };
  // Where there is one carry, the lanes after it ascend as those before it do.
  auto* second = std::is_sorted_until(runs->begin(), runs->end(), is_before);
  if (std::is_sorted(second, runs->end(), is_before)) {
    std::inplace_merge(runs->begin(), second, runs->end(), is_before);
  } else {
    absl::c_sort(*runs, is_before);
  }
  const int64_t origin = FloorDiv(runs->front().begin, modulus) * modulus;
  size_t last = 0;
  for (BitRun& run : *runs) run = {run.begin - origin, run.end - origin};
  for (size_t i = 1; i < runs->size(); ++i) {
    const BitRun run = (*runs)[i];
    if (run.begin <= (*runs)[last].end) {
      (*runs)[last].end = std::max((*runs)[last].end, run.end);
    } else {
      (*runs)[++last] = run;
    }
  }
  runs->truncate(last + 1);
}

int64_t RequestLanes::ValueOf(const Form& form) const {
  int64_t value = form.constant;
  for (const FormTerm& term : form.terms) value += term.coefficient * values_[term.id];
  return value;
}

template <typename Visit>
void RequestLanes::ForEachPoint(llvm::ArrayRef<int> open, VariableSet moving, Visit visit) {
  values_.resize(FormAlgebra::kMaxVariables + forms_.divisions().size());
  llvm::SmallVector<int, 4> inner;
  for (int v = 0; v < forms_.num_variables(); ++v) {
    values_[v] = forms_.range(v).lower;
    if ((access_.inner >> v & 1) != 0 && !forms_.range(v).IsPoint()) inner.push_back(v);
  }
  llvm::SmallVector<int, 8> divisions;  // that differ from lane to lane
  for (size_t i = 0; i < forms_.divisions().size(); ++i) {
    const int id = FormAlgebra::kMaxVariables + static_cast<int>(i);
    values_[id] = forms_.range(id).lower;
    if (!forms_.range(id).IsPoint() && (forms_.divisions()[i].variables & moving) == 0) {
      divisions.push_back(static_cast<int>(i));
    }
  }
  while (true) {
    for (const int i : divisions) {
      const FormDivision& division = forms_.divisions()[i];
      const int64_t dividend = ValueOf(division.dividend);
      values_[FormAlgebra::kMaxVariables + i] = division.is_mod
                                                    ? FloorMod(dividend, division.divisor)
                                                    : FloorDiv(dividend, division.divisor);
    }
    const bool is_active = absl::c_all_of(open, [&](int i) {
      const FormConstraint& constraint = access_.constraints[i];
      const int64_t value = ValueOf(constraint.form);
      return constraint.interval.lower <= value && value <= constraint.interval.upper;
    });
    if (is_active) visit(ValueOf(access_.address));
    size_t i = 0;
    while (i < inner.size() && values_[inner[i]] == forms_.range(inner[i]).upper) {
      values_[inner[i]] = forms_.range(inner[i]).lower;
      ++i;
    }
    if (i == inner.size()) break;
    ++values_[inner[i]];
  }
}

// Whether bisecting would take about as long as all points do.
bool RequestLanes::HasManyPieces() const {
  int64_t points = 1;
  for (int v = 0; v < forms_.num_variables(); ++v) {
    if ((access_.inner >> v & 1) != 0) points *= forms_.range(v).Size();
  }
  int64_t pieces = 0;
  for (const FormTerm& term : access_.address.terms) {
    if (term.id < FormAlgebra::kMaxVariables || forms_.range(term.id).IsPoint()) continue;
    const FormDivision& division = forms_.divisions()[term.id - FormAlgebra::kMaxVariables];
    const ValueRange dividend = forms_.RangeOf(division.dividend);
    pieces += std::min(points, FloorDiv(dividend.upper, division.divisor) -
                                   FloorDiv(dividend.lower, division.divisor));
  }
  constexpr int64_t kPointsOfPiece = 8;
  return pieces > points / kPointsOfPiece;
}

void RequestLanes::Collect(llvm::ArrayRef<int> open, VariableSet moving) {
  runs_.clear();
  copies_ = 1;
  if (HasManyPieces()) {
    const auto add_run = [&](int64_t address) {
      runs_.push_back({address, address + access_.width});
    };
    ForEachPoint(open, moving, add_run);
  } else {
    CollectPieces(open, /*is_whole=*/true);
  }
}

void RequestLanes::CollectGroups(llvm::ArrayRef<int> open, VariableSet moving, bool are_apart) {
  groups_.clear();
  int64_t lane = 0;
  ForEachPoint(open, moving, [&](int64_t address) {
    std::vector<int64_t> key;
    for (const Form& form : access_.keys) key.push_back(ValueOf(form));
    if (are_apart) key.push_back(lane++);
    groups_[std::move(key)].push_back({address, address + access_.width});
  });
}

void RequestLanes::CollectPieces(llvm::ArrayRef<int> open, bool is_whole) {
  llvm::SmallVector<int, 4> left;
  VariableSet undecided = 0;
  for (const int i : open) {
    const Holds holds = HoldsIn(access_.constraints[i], forms_);
    if (holds == Holds::kNever) return;
    if (holds == Holds::kAlways) continue;
    left.push_back(i);
    undecided |= forms_.VariablesOf(access_.constraints[i].form);
  }
  Form linear;
  if (!forms_.AddLinear(access_.address, 1, &linear)) {
    undecided |= forms_.VariablesOf(access_.address);
    linear = access_.address;
  }
  undecided &= access_.inner;
  int widest = -1;
  for (int v = 0; v < forms_.num_variables(); ++v) {
    if ((undecided >> v & 1) == 0 || forms_.range(v).IsPoint()) continue;
    if (widest < 0 || forms_.range(v).Size() > forms_.range(widest).Size()) widest = v;
  }
  if (widest < 0) return AddBox(linear, is_whole);
  const ValueRange values = forms_.range(widest);
  const int64_t middle = std::midpoint(values.lower, values.upper);
  for (const ValueRange& half :
       {ValueRange{values.lower, middle}, ValueRange{middle + 1, values.upper}}) {
    forms_.Narrow(widest, half);
    forms_.UpdateDivisionRanges();
    CollectPieces(left, /*is_whole=*/false);
  }
  forms_.Narrow(widest, values);
  forms_.UpdateDivisionRanges();
}

// All points of the inner variables, of which the address is linear; its divisions have one value.
void RequestLanes::AddBox(const Form& address, bool is_whole) {
  int64_t begin = address.constant;
  llvm::SmallVector<std::pair<int64_t, int64_t>, 4> steps;  // a step, and how often
  for (const FormTerm& term : address.terms) {
    const ValueRange values = forms_.range(term.id);
    const bool is_inner =
        term.id < FormAlgebra::kMaxVariables && (access_.inner >> term.id & 1) != 0;
    const bool is_down = is_inner && term.coefficient < 0;
    begin += term.coefficient * (is_down ? values.upper : values.lower);
    if (is_inner && !values.IsPoint()) {
      steps.push_back({is_down ? -term.coefficient : term.coefficient, values.Size()});
    }
  }
  absl::c_sort(steps);
  int64_t length = access_.width;
  size_t next = 0;
  while (next < steps.size() && steps[next].first <= length) {
    length += steps[next].first * (steps[next].second - 1);
    ++next;
  }
  const size_t first = runs_.size();
  runs_.push_back({begin, begin + length});
  for (; next < steps.size(); ++next) {
    const auto [step, count] = steps[next];
    // Runs that are less than this step, less a period, have no period in common with a copy.
    const int64_t extent = runs_.back().end - begin;
    if (is_whole && takes_copies_ && step % modulus_ == 0 && extent <= step - modulus_) {
      const int64_t reach = (count - 1) * step;
      // Those after it copy the copies.
      bool all_are_copies = true;
      int64_t all = count;
      int64_t covered = extent + reach;
      for (size_t i = next + 1; i < steps.size(); ++i) {
        all_are_copies &= steps[i].first % modulus_ == 0 && covered <= steps[i].first - modulus_;
        covered += (steps[i].second - 1) * steps[i].first;
        all *= steps[i].second;
      }
      if (all_are_copies) {
        copies_ = all;
        return;
      }
    }
    const size_t end = runs_.size();
    for (int64_t x = 1; x < count; ++x) {
      for (size_t i = first; i < end; ++i) {
        runs_.push_back({runs_[i].begin + x * step, runs_[i].end + x * step});
      }
    }
  }
}

void RequestLanes::Canonicalize() {
  CanonicalizeRuns(modulus_, &runs_);
  for (auto& [key, runs] : groups_) CanonicalizeRuns(modulus_, &runs);
}

}  // namespace xla_indexing::internal
