#include "xla_indexing/base/question_budget.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace xla_indexing {
namespace {

struct OpenBudget {
  bool is_open = false;
  bool is_spent = false;
  int64_t steps = 0;
  int64_t left = 0;
  int64_t number = 0;
};

thread_local constinit OpenBudget open_budget;

struct Watched {
  QuestionBudget::Watch* watch = nullptr;
  bool is_stopped = false;
  int until_clock = 0;  // so many steps are taken without a look at the clock
  std::chrono::steady_clock::time_point last_asked;
};

thread_local constinit Watched watched;

// A number that no budget has had. Each thread takes many numbers at a time: threads that write one
// place for every question wait for one another.
int64_t NextNumber() {
  constexpr int64_t kMany = 1 << 20;
  static constinit std::atomic<int64_t> taken = 0;
  thread_local constinit int64_t last = 0;
  if (last % kMany == 0) last = taken.fetch_add(kMany, std::memory_order_relaxed);
  return ++last;
}

}  // namespace

QuestionBudget::QuestionBudget(int64_t steps) : is_first_(!open_budget.is_open) {
  if (!is_first_) return;
  steps = std::max<int64_t>(steps, 0);
  open_budget = {
      .is_open = true, .is_spent = false, .steps = steps, .left = steps, .number = NextNumber()};
}

QuestionBudget::~QuestionBudget() {
  if (is_first_) open_budget = {};
}

QuestionBudget::Watch::Watch(absl::FunctionRef<bool(double share)> should_stop)
    : should_stop_(should_stop), is_first_(watched.watch == nullptr) {
  if (is_first_) watched = {.watch = this, .last_asked = std::chrono::steady_clock::now()};
}

QuestionBudget::Watch::~Watch() {
  if (is_first_) watched = {};
}

bool QuestionBudget::IsStopped() {
  constexpr int kStepsPerClock = 64;
  constexpr std::chrono::milliseconds kInterval(100);
  if (watched.is_stopped || watched.until_clock-- > 0) return watched.is_stopped;
  watched.until_clock = kStepsPerClock;
  const auto now = std::chrono::steady_clock::now();
  if (now - watched.last_asked < kInterval) return false;
  watched.last_asked = now;
  const auto steps = static_cast<double>(std::max<int64_t>(open_budget.steps, 1));
  const auto left = static_cast<double>(open_budget.left);
  watched.is_stopped = watched.watch->should_stop_(open_budget.is_open ? 1 - left / steps : 0.0);
  return watched.is_stopped;
}

absl::Status QuestionBudget::CheckGoesOn() {
  if (watched.watch == nullptr || !IsStopped()) return absl::OkStatus();
  return absl::CancelledError("the question was stopped");
}

bool QuestionBudget::Spend(int64_t steps) {
  if (watched.watch != nullptr && IsStopped()) return false;
  if (!open_budget.is_open) return true;
  if (open_budget.is_spent || steps > open_budget.left) {
    open_budget.is_spent = true;
    return false;
  }
  open_budget.left -= steps;
  return true;
}

int64_t QuestionBudget::Left() {
  if (watched.is_stopped) return 0;
  if (!open_budget.is_open) return INT64_MAX;
  return open_budget.is_spent ? 0 : open_budget.left;
}

int64_t QuestionBudget::Number() { return open_budget.number; }

void QuestionBudget::RefundTo(int64_t left) {
  if (!open_budget.is_open || left <= 0) return;
  open_budget.is_spent = false;
  open_budget.left = left;
}

bool QuestionBudget::IsSpent() {
  if (watched.watch != nullptr && IsStopped()) return true;
  return open_budget.is_spent;
}

std::string QuestionBudget::Reason() {
  return absl::StrCat("the question takes more than ", open_budget.steps, " steps");
}

}  // namespace xla_indexing
