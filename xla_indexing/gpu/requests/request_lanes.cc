#include "xla_indexing/gpu/requests/request_lanes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

// Ascending runs, joined where they overlap or touch; moved, so that the first begins at 0.
LaneRuns Canonical(std::vector<BitRun>* runs) {
  // Where there is one carry, the lanes after it ascend as those before it do.
  const auto second = std::is_sorted_until(runs->begin(), runs->end());
  if (std::is_sorted(second, runs->end())) {
    std::inplace_merge(runs->begin(), second, runs->end());
  } else {
    absl::c_sort(*runs);
  }
  LaneRuns result{{}, runs->front().begin};
  result.runs.reserve(runs->size());
  BitRun last{0, 0};
  for (const BitRun& run : *runs) {
    const BitRun next{run.begin - result.begin, run.end - result.begin};
    if (next.begin <= last.end) {
      last.end = std::max(last.end, next.end);
    } else {
      result.runs.push_back(last);
      last = next;
    }
  }
  result.runs.push_back(last);
  return result;
}

}  // namespace

RequestLanes::RequestLanes(const LaunchAccess& access)
    : access_(access), columns_(FormAlgebra::kMaxVariables + access.algebra.divisions().size()) {
  const FormAlgebra& forms = access.algebra;
  // The elements of a vector, which mostly lie one after the other, are the last variables.
  for (int v = forms.num_variables(); v-- > 0;) {
    if ((access.inner >> v & 1) == 0) continue;
    const int64_t size = forms.range(v).Size();
    num_points_ *= size;
    if (size == 1) continue;
    columns_[v].push_back(num_points_ / size);  // How many points have one value, for now.
  }
  for (int v = 0; v < forms.num_variables(); ++v) {
    Column& column = columns_[v];
    if (column.empty()) continue;
    const int64_t repeats = column[0];
    column.clear();
    column.reserve(num_points_);
    while (static_cast<int64_t>(column.size()) < num_points_) {
      for (int64_t value = forms.range(v).lower; value <= forms.range(v).upper; ++value) {
        column.insert(column.end(), repeats, value);
      }
    }
  }
}

void RequestLanes::SetColumn(const Form& form, Column* column) const {
  int64_t constant = form.constant;
  for (const auto& [id, coefficient] : form.terms) {
    if (columns_[id].empty()) constant += coefficient * access_.algebra.range(id).lower;
  }
  column->assign(num_points_, constant);
  for (const auto& [id, coefficient] : form.terms) {
    const Column& values = columns_[id];
    for (size_t i = 0; i < values.size(); ++i) (*column)[i] += coefficient * values[i];
  }
}

void RequestLanes::Evaluate(llvm::ArrayRef<bool> used, llvm::ArrayRef<int> open) {
  const FormAlgebra& forms = access_.algebra;
  for (size_t d = 0; d < used.size(); ++d) {
    const int id = FormAlgebra::kMaxVariables + static_cast<int>(d);
    Column& column = columns_[id];
    column.clear();
    if (!used[d] || forms.range(id).IsPoint()) continue;
    const FormDivision& division = forms.divisions()[d];
    Column dividend;
    SetColumn(division.dividend, &dividend);
    const int64_t m = division.divisor;
    int64_t quotient = FloorDiv(dividend[0], m);
    for (int64_t& value : dividend) {
      int64_t rest = value - quotient * m;
      // The quotient is mostly that of the point before, or the next one.
      if (rest < 0 || rest >= m) {
        quotient = FloorDiv(value, m);
        rest = value - quotient * m;
      }
      value = division.is_mod ? rest : quotient;
    }
    column.swap(dividend);
  }
  is_active_.assign(num_points_, 1);
  for (const int c : open) {
    const auto& [form, interval] = access_.constraints[c];
    SetColumn(form, &constrained_);
    for (int64_t i = 0; i < num_points_; ++i) {
      if (constrained_[i] < interval.lower || constrained_[i] > interval.upper) is_active_[i] = 0;
    }
  }
  SetColumn(access_.address, &addresses_);
}

LaneRuns RequestLanes::All() {
  runs_.clear();
  BitRun last{0, 0};
  for (int64_t i = 0; i < num_points_; ++i) {
    if (is_active_[i] == 0) continue;
    // The elements of a vector mostly lie one after the other.
    const int64_t begin = addresses_[i];
    if (begin != last.end || runs_.empty()) {
      runs_.push_back({begin, begin});
    }
    last.end = runs_.back().end = begin + access_.width;
  }
  return runs_.empty() ? LaneRuns() : Canonical(&runs_);
}

std::vector<LaneRuns> RequestLanes::Groups(bool are_apart) {
  std::vector<Column> keys(access_.keys.size());
  for (size_t k = 0; k < keys.size(); ++k) SetColumn(access_.keys[k], &keys[k]);
  std::map<std::vector<int64_t>, std::vector<BitRun>> groups;
  for (int64_t i = 0; i < num_points_; ++i) {
    if (is_active_[i] == 0) continue;
    std::vector<int64_t> key;
    key.reserve(keys.size() + 1);
    for (const Column& column : keys) key.push_back(column[i]);
    if (are_apart) key.push_back(i);
    groups[std::move(key)].push_back({addresses_[i], addresses_[i] + access_.width});
  }
  std::vector<LaneRuns> result;
  result.reserve(groups.size());
  for (auto& [key, runs] : groups) result.push_back(Canonical(&runs));
  return result;
}

}  // namespace xla_indexing::internal
