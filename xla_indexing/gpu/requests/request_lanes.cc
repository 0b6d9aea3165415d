#include "xla_indexing/gpu/requests/request_lanes.h"

#include <algorithm>
#include <cassert>
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
    : access_(access), variables_(access.program.num_variables()) {
  const AccessProgram& program = access.program;
  const auto is_inner = [&](int variable) { return (access.inner >> variable & 1) != 0; };
  for (int v = 0; v < program.num_variables(); ++v) {
    if (is_inner(v)) num_points_ *= program.variable(v).Size();
  }
  // The elements of a vector, which mostly lie one after the other, are the last variables.
  int64_t repeats = num_points_;
  std::vector<const int64_t*> columns;
  for (int v = 0; v < program.num_variables(); ++v) {
    if (is_inner(v)) {
      const int64_t size = program.variable(v).Size();
      repeats /= size;
      assert(repeats > 0);
      variables_[v].reserve(num_points_);
      for (int64_t i = 0; i < num_points_; ++i) {
        variables_[v].push_back(program.variable(v).lower + i / repeats % size);
      }
    }
    columns.push_back(variables_[v].data());
  }
  columns_ = program.program().MakeColumns(num_points_, columns, {});
  overflows_.resize(num_points_);
  for (int step = 0; step < program.program().num_steps(); ++step) {
    if ((program.VariablesOf(step) & ~access.inner) != 0) {
      outer_steps_.push_back(step);
    } else {
      program.program().EvaluateStep(step, num_points_, &columns_, overflows_.data());
    }
  }
}

void RequestLanes::Evaluate(llvm::ArrayRef<int> open) {
  const AccessProgram& access = access_.program;
  const ExprProgram& program = access.program();
  const auto is_point = [&](int step) { return access.range(step).IsPoint(); };
  const auto needed = program.StepsOf(access_.StepsOf(open), is_point);
  for (const int step : outer_steps_) {
    if (!needed[step]) continue;
    if (is_point(step) || program.IsVariable(step)) {
      program.SetUniform(step, access.range(step).lower, &columns_);
    } else {
      program.EvaluateStep(step, num_points_, &columns_, overflows_.data());
    }
  }
  is_active_.assign(num_points_, 1);
  for (const int c : open) {
    const auto& [step, interval] = access_.constraints[c];
    const int64_t* const values = ValuesOf(step);
    for (int64_t i = 0; i < num_points_; ++i) {
      if (values[i] < interval.lower || values[i] > interval.upper) is_active_[i] = 0;
    }
  }
}

LaneRuns RequestLanes::All() {
  runs_.clear();
  const int64_t* const addresses = ValuesOf(access_.address);
  BitRun last{0, 0};
  for (int64_t i = 0; i < num_points_; ++i) {
    if (is_active_[i] == 0) continue;
    // The elements of a vector mostly lie one after the other.
    const int64_t begin = addresses[i];
    if (begin != last.end || runs_.empty()) {
      runs_.push_back({begin, begin});
    }
    last.end = runs_.back().end = begin + access_.width;
  }
  return runs_.empty() ? LaneRuns() : Canonical(&runs_);
}

std::vector<LaneRuns> RequestLanes::Groups(bool are_apart) {
  const int64_t* const addresses = ValuesOf(access_.address);
  llvm::SmallVector<const int64_t*, 2> keys;
  for (const int step : access_.keys) keys.push_back(ValuesOf(step));
  std::map<std::vector<int64_t>, std::vector<BitRun>> groups;
  for (int64_t i = 0; i < num_points_; ++i) {
    if (is_active_[i] == 0) continue;
    std::vector<int64_t> key;
    key.reserve(keys.size() + 1);
    for (const int64_t* const values : keys) key.push_back(values[i]);
    if (are_apart) key.push_back(i);
    groups[std::move(key)].push_back({addresses[i], addresses[i] + access_.width});
  }
  std::vector<LaneRuns> result;
  result.reserve(groups.size());
  for (auto& [key, runs] : groups) result.push_back(Canonical(&runs));
  return result;
}

}  // namespace xla_indexing::internal
