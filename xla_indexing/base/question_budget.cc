#include "xla_indexing/base/question_budget.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
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

// Who is asked whether to go on. The clock is looked at after so many steps.
struct OpenInterruption {
  static constexpr int64_t kStepsBetweenLooks = 2048;

  const absl::FunctionRef<bool()>* is_wanted = nullptr;
  bool has_happened = false;
  int64_t steps_left = 0;
  std::chrono::steady_clock::rep last_asked = 0;
};

thread_local constinit OpenInterruption open_interruption;

// Whether work is to end.
bool IsInterrupted(int64_t steps) {
  OpenInterruption& open = open_interruption;
  if (open.is_wanted == nullptr) return false;
  if (open.has_happened) return true;
  if (steps < open.steps_left) {
    open.steps_left -= steps + 1;
    return false;
  }
  open.steps_left = OpenInterruption::kStepsBetweenLooks;
  constexpr std::chrono::steady_clock::duration kBetweenQuestions = std::chrono::milliseconds(100);
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  if (now - open.last_asked < kBetweenQuestions.count()) return false;
  open.last_asked = now;
  return open.has_happened = (*open.is_wanted)();
}

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
  if (IsInterrupted(steps)) {
    open_budget.is_spent = open_budget.is_open;
    return false;
  }
  if (!open_budget.is_open) return true;
  if (open_budget.is_spent || steps > open_budget.left) {
    open_budget.is_spent = true;
    return false;
  }
  open_budget.left -= steps;
  return true;
}

int64_t QuestionBudget::Left() {
  if (open_interruption.has_happened) return 0;
  if (!open_budget.is_open) return INT64_MAX;
  return open_budget.is_spent ? 0 : open_budget.left;
}

int64_t QuestionBudget::Number() { return open_budget.number; }

void QuestionBudget::RefundTo(int64_t left) {
  if (!open_budget.is_open || left <= 0 || open_interruption.has_happened) return;
  open_budget.is_spent = false;
  open_budget.left = left;
}

bool QuestionBudget::IsSpent() { return open_budget.is_spent || open_interruption.has_happened; }

std::string QuestionBudget::Reason() {
  if (open_interruption.has_happened) return "the question was interrupted";
  return absl::StrCat("the question takes more than ", open_budget.steps, " steps");
}

Interruption::Interruption(absl::FunctionRef<bool()> is_wanted)
    : is_wanted_(is_wanted), is_first_(open_interruption.is_wanted == nullptr) {
  if (!is_first_) return;
  open_interruption = {.is_wanted = &is_wanted_,
                       .has_happened = false,
                       .steps_left = OpenInterruption::kStepsBetweenLooks,
                       .last_asked = std::chrono::steady_clock::now().time_since_epoch().count()};
}

Interruption::~Interruption() {
  if (is_first_) open_interruption = {};
}

bool Interruption::Happened() { return open_interruption.has_happened; }
bool Interruption::IsOpen() { return open_interruption.is_wanted != nullptr; }

}  // namespace xla_indexing
