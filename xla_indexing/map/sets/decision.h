// Answers that may stay open: yes, no, or not decided within a number of steps.
//
// Mathematics. Questions about maps, such as whether two are the same function, are about
// quasi-affine formulas (Presburger arithmetic), which are decidable at a cost that no program
// should meet unprepared. Those of map/sets/decide.h, map/sets/bijection.h and map/count/image.h therefore take a
// budget. "Yes" and "no" are proofs; kUndecided says nothing about the maps.
//
// Budget. Trying one point of a domain is a step, of the order of 0.1 us. A question for emptiness
// that goes to the normal form and to HasIntegerPoint counts as kStepsOfQuestion steps; those two
// have bounds of their own. Bringing the maps themselves into normal form, and solving for
// variables, are bounded likewise and not counted, so that a budget of 0 steps answers with them
// alone. The same question gives the same answer at every run.
//
// Time. Every question of map/ opens a QuestionBudget (base/question_budget.h), or joins the one of
// the question that asks it; all work is counted there, that of the normal form too. Once it is
// spent, expressions and constraints stay as they are, and a question that needs them stays
// undecided.
//
// Errors. A question that has no meaning, about maps that do not Verify() or cannot be compared,
// gives InvalidArgument and no Decision. A number past int64 on the way is no error: the question
// stays undecided where it needs that number.
//
// Example:
//   absl::StatusOr<Decision> same = SameFunction(a, b, /*max_steps=*/1000000);
//   if (same.ok() && same->IsYes()) Merge(a, b);
//   if (same.ok() && same->IsUndecided()) LOG(INFO) << "gave up after " << same->steps;
//
// Source: Presburger, "Uber die Vollstandigkeit eines gewissen Systems der Arithmetik ganzer
// Zahlen" (1929), that they are decidable.
#ifndef XLA_INDEXING_MAP_SETS_DECISION_H_
#define XLA_INDEXING_MAP_SETS_DECISION_H_

#include <algorithm>
#include <cstdint>
#include <iosfwd>

#include "xla_indexing/base/question_budget.h"

namespace xla_indexing {

enum class Answer { kNo, kYes, kUndecided };

constexpr Answer AnswerOf(bool is_yes) { return is_yes ? Answer::kYes : Answer::kNo; }
constexpr Answer Not(Answer a) { return a == Answer::kUndecided ? a : AnswerOf(a == Answer::kNo); }
// No where either is no, whatever the other one is.
constexpr Answer And(Answer a, Answer b) {
  if (a == Answer::kNo || b == Answer::kNo) return Answer::kNo;
  return a == Answer::kYes ? b : a;
}
// Yes where either is yes, whatever the other one is.
constexpr Answer Or(Answer a, Answer b) { return Not(And(Not(a), Not(b))); }

// An answer, and the steps that it took.
struct Decision {
  Answer answer = Answer::kUndecided;
  int64_t steps = 0;

  bool IsYes() const { return answer == Answer::kYes; }
  bool IsNo() const { return answer == Answer::kNo; }
  bool IsUndecided() const { return answer == Answer::kUndecided; }
};

// For GoogleTest's messages.
void PrintTo(const Decision& decision, std::ostream* os);

inline constexpr int64_t kDefaultSteps = int64_t{1} << 17;
inline constexpr int64_t kStepsOfQuestion = 256;

// What is left of the steps that a part of a question may take, which are steps of the question too
// (base/question_budget.h). Both are no estimates of time but bounds: `steps_in_one_of_question`
// steps here are one there.
class StepBudget {
 public:
  explicit StepBudget(int64_t max_steps, int64_t steps_in_one_of_question = 32)
      : left_(std::max<int64_t>(max_steps, 0)), steps_in_one_(steps_in_one_of_question) {}

  // Takes `steps` (at least 0) and returns true where as many are left, here and in the budget of
  // the question; takes nothing otherwise.
  bool Take(int64_t steps) {
    const int64_t in_question =
        steps > left_ ? 0 : (used_ + steps) / steps_in_one_ - used_ / steps_in_one_;
    if (steps > left_ || !QuestionBudget::Spend(in_question)) {
      was_exceeded_ = true;
      return false;
    }
    left_ -= steps;
    used_ += steps;
    return true;
  }

  int64_t used() const { return used_; }
  // Whether steps were asked for that were not left.
  bool WasExceeded() const { return was_exceeded_; }
  int64_t left() const { return left_; }

  // The decision that a computation with this budget has led to.
  Decision Decide(Answer answer) const { return {answer, used_}; }
  Decision Decide(bool is_yes) const { return Decide(AnswerOf(is_yes)); }

 private:
  int64_t left_;
  int64_t used_ = 0;
  int64_t steps_in_one_;
  bool was_exceeded_ = false;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_MAP_SETS_DECISION_H_
