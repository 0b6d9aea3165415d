// The work that one question may take altogether.
//
// What a question is made of (a walk over a computation, a sum that is simplified, points that are
// counted) has bounds of its own. A question can be made of very many of them: the budget bounds
// their sum. One that is opened on a thread counts all work that the thread does until it is
// closed; while it is open, others that are opened on the same thread join it, so that whoever asks
// first decides, and a question that asks another one does not start anew.
//
// Steps. A step is the work of about a microsecond. What works in smaller pieces spends steps for
// many of them at once. Without an open budget work is not counted.
//
// When it is spent, Spend() gives false from then on, and whoever was told so takes the answer that
// costs nothing: the expression as it is, the whole leaf, a count between bounds, "undecided". The
// answer is still right; where it is weaker than it could have been it says Reason(). The same
// question spends the same steps whenever and on whatever thread it is asked, as long as it is
// given the same memory to start from.
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

namespace xla_indexing {

class QuestionBudget {
 public:
  static constexpr int64_t kDefaultSteps = 4'000'000;

  // Opens a budget of `steps` (at least 0) on this thread, or joins the one that is open.
  explicit QuestionBudget(int64_t steps = kDefaultSteps);
  ~QuestionBudget();
  QuestionBudget(const QuestionBudget&) = delete;
  QuestionBudget& operator=(const QuestionBudget&) = delete;

  // Takes `steps` (at least 0) from this thread's open budget. False where fewer are left, which
  // then are gone, too: from then on the budget is spent.
  static bool Spend(int64_t steps = 1);
  // How many steps are left of it: what a part of the question that counts on its own may take, and
  // then spends. INT64_MAX without an open budget.
  static int64_t Left();
  // Whether this thread's open budget is spent.
  static bool IsSpent();
  // Why an answer is weaker than it could be, once it is spent:
  // `the question takes more than 4000000 steps`.
  static std::string Reason();

 private:
  const bool is_first_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_BASE_QUESTION_BUDGET_H_
