#include "xla_indexing/base/question_budget.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

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

bool QuestionBudget::Spend(int64_t steps) {
  if (!open_budget.is_open) return true;
  if (open_budget.is_spent || steps > open_budget.left) {
    open_budget.is_spent = true;
    return false;
  }
  open_budget.left -= steps;
  return true;
}

int64_t QuestionBudget::Left() {
  if (!open_budget.is_open) return INT64_MAX;
  return open_budget.is_spent ? 0 : open_budget.left;
}

int64_t QuestionBudget::Number() { return open_budget.number; }

void QuestionBudget::RefundTo(int64_t left) {
  if (!open_budget.is_open || left <= 0) return;
  open_budget.is_spent = false;
  open_budget.left = left;
}

bool QuestionBudget::IsSpent() { return open_budget.is_spent; }

std::string QuestionBudget::Reason() {
  return absl::StrCat("the question takes more than ", open_budget.steps, " steps");
}

}  // namespace xla_indexing
