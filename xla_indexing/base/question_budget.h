// The work that one question may take altogether.
//
// Each part of a question (a walk over a computation, the simplification of a sum, the counting of
// points) has a bound of its own. A question can have very many parts: the budget bounds their sum.
// A budget that is opened on a thread counts all work of that thread until it is closed. While it
// is open, budgets opened on the same thread join it: the outermost question decides, and a
// question that asks another one does not start anew.
//
// Steps. A step is the work of about a microsecond. Work in smaller pieces spends one step for many
// of them. Without an open budget work is not counted.
//
// Once the budget is spent, Spend() returns false, and whoever calls it takes the answer that costs
// nothing: the expression as it is, the whole leaf, a count between bounds, "undecided". The answer
// is still right; where it is weaker than it could have been it says Reason(). The same question
// spends the same number of steps at every time and on every thread, as long as it starts with the
// same caches.
//
// Example:
//   QuestionBudget budget;                       // of this question, or that which asks it
//   while (HasMore()) {
//     if (!QuestionBudget::Spend()) return OverApproximate(QuestionBudget::Reason());
//     DoMore();
//   }
#ifndef XLA_INDEXING_BASE_QUESTION_BUDGET_H_
#define XLA_INDEXING_BASE_QUESTION_BUDGET_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "xla_indexing/base/cpp20.h"

namespace xla_indexing {

class QuestionBudget {
 public:
  static constexpr int64_t kDefaultSteps = 4'000'000;

  // Opens a budget of `steps` (at least 0) on this thread, or joins the one that is open.
  explicit QuestionBudget(int64_t steps = kDefaultSteps);
  ~QuestionBudget();
  QuestionBudget(const QuestionBudget&) = delete;
  QuestionBudget& operator=(const QuestionBudget&) = delete;

  // Takes `steps` (at least 0) from this thread's open budget. False where fewer are left; these
  // are then taken too, so that the budget is spent from then on.
  static bool Spend(int64_t steps = 1);
  // The number of steps left: what a part of the question that counts on its own may take before it
  // spends them. INT64_MAX without an open budget.
  static int64_t Left();
  // The number of this thread's open budget, which no other budget has had; 0 without one.
  static int64_t Number();
  // While it lives, all work of this thread may be stopped: `should_stop` is asked every tenth of a
  // second or so, with the share of the budget that is spent (0 to 1; 0 without an open budget). Once
  // it says so, every budget of the thread is spent as long as the watch lives. What is answered then
  // is right, but as weak as can be: whoever stops a question throws the answer away. Watches do not
  // nest: the outermost counts.
  class Watch {
   public:
    explicit Watch(absl::FunctionRef<bool(double share)> should_stop);
    ~Watch();
    Watch(const Watch&) = delete;
    Watch& operator=(const Watch&) = delete;

   private:
    absl::FunctionRef<bool(double share)> should_stop_;
    bool is_first_;
    friend class QuestionBudget;
  };

  // Cancelled where a watch has stopped the work of this thread: for whoever goes over the many parts
  // of an answer, each of which still takes a moment.
  static absl::Status CheckGoesOn();

  // Gives back what was taken since Left() was `left`, where that was not nothing: for a question
  // that is answered anew, whose first answer is thrown away.
  static void RefundTo(int64_t left);
  // Whether this thread's open budget is spent.
  static bool IsSpent();
  // Why an answer is weaker than it could be, once it is spent:
  // `the question takes more than 4000000 steps`.
  static std::string Reason();

 private:
  // Whether the watch of the thread has stopped its work; asks it if it is time.
  static bool IsStopped();

  const bool is_first_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_BASE_QUESTION_BUDGET_H_
