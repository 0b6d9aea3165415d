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
constinit std::atomic<int64_t> last_number = 0;

}  // namespace

QuestionBudget::QuestionBudget(int64_t steps) : is_first_(!open_budget.is_open) {
  if (!is_first_) return;
  steps = std::max<int64_t>(steps, 0);
  open_budget = {
      .is_open = true, .is_spent = false, .steps = steps, .left = steps, .number = ++last_number};
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
