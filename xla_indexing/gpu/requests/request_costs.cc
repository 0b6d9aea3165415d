#include "xla_indexing/gpu/requests/request_costs.h"

#include <cstdint>

namespace xla_indexing::internal {

void RequestCosts::Select(const LaneRuns& lanes) {
  if (size_ > kMaxSize) {
    costs_.clear();
    size_ = 0;
  }
  const auto [it, is_new] = costs_.try_emplace(lanes.runs);
  if (is_new) size_ += kSizeOfTable + static_cast<int64_t>(lanes.runs.size());
  lanes_ = &lanes;
  selected_ = &it->second;
}

const RequestCost* RequestCosts::At(int64_t shift) {
  const int64_t begin = (lanes_->begin + shift) & (meter_.modulus() - 1);
  const auto it = selected_->find(begin);
  if (it != selected_->end()) return &it->second;
  const auto num_runs = static_cast<int64_t>(lanes_->runs.size());
  if (num_runs > steps_) return nullptr;
  steps_ -= num_runs;
  ++size_;
  return &selected_->try_emplace(begin, meter_.Measure(lanes_->runs, begin)).first->second;
}

}  // namespace xla_indexing::internal
