#include "xla_indexing/ops/values/loop_counter.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/parts/domain.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

AffineExpr LoopCounter::ValueOf(int64_t leaf, AffineExpr k) const {
  const auto counting = leaves.find(leaf);
  if (counting == leaves.end()) return {};
  return Add(Scale(k, counting->second.step), Constant(counting->second.start, k.getContext()));
}

AffineExpr LoopCounter::AddedTo(int64_t leaf, AffineExpr k) const {
  const auto step = steps.find(leaf);
  return step == steps.end() ? AffineExpr() : Scale(k, step->second);
}

namespace {

// The state of a loop at the beginning of iteration k: what counts, and what passes through.
class CountedState : public ValueEnvironment {
 public:
  CountedState(const HloInstruction& loop, const std::vector<bool>& passes_through,
               const LoopCounter& counter, AffineExpr k)
      : loop_(loop), passes_through_(passes_through), counter_(counter), k_(k) {}

  const HloInstruction* loop() const override { return &loop_; }
  AffineExpr ValueOfState(int64_t leaf) const override { return counter_.ValueOf(leaf, k_); }
  bool IsInitial(int64_t leaf) const override { return passes_through_[leaf]; }

 private:
  const HloInstruction& loop_;
  const std::vector<bool>& passes_through_;
  const LoopCounter& counter_;
  AffineExpr k_;
};

// The state of a loop at the beginning of any iteration: what passes through.
class AnyState : public ValueEnvironment {
 public:
  AnyState(const HloInstruction& loop, const std::vector<bool>& passes_through)
      : ValueEnvironment(TellsApart::kAllValues), loop_(loop), passes_through_(passes_through) {}

  const HloInstruction* loop() const override { return &loop_; }
  bool IsInitial(int64_t leaf) const override { return passes_through_[leaf]; }

 private:
  const HloInstruction& loop_;
  const std::vector<bool>& passes_through_;
};

// Evaluates scalars of a loop for the iterations whose numbers are in an interval.
class LoopEvaluator {
 public:
  LoopEvaluator(const HloInstruction& loop, const std::vector<bool>& passes_through,
                const LoopCounter& counter, mlir::MLIRContext* context)
      : loop_(loop), passes_through_(passes_through), counter_(counter), context_(context) {}

  // The only value of a leaf of the root of the body or the condition as a function of d0, the
  // number of the iteration; null if there are several, or one that is not known.
  AffineExpr Value(const HloComputation& computation, int64_t leaf, const Interval& numbers) const {
    const AffineExpr k = mlir::getAffineDimExpr(0, context_);
    const CountedState state(loop_, passes_through_, counter_, k);
    return OnlyValue(*computation.root_instruction(), leaf, {&loop_}, numbers, state);
  }

  // What a leaf is when the loop begins, where the module fixes it.
  std::optional<int64_t> InitialValue(int64_t leaf) const {
    return ValueIn(
        OnlyValue(*loop_.operand(0), leaf, {}, Interval::Point(0), UnknownEnvironment()));
  }

  // What every iteration adds to a leaf of integers, with a sum that wraps; nullopt if that is not
  // one number.
  std::optional<int64_t> Step(int64_t leaf) const {
    const AnyState state(loop_, passes_through_);
    const std::optional<int64_t> period =
        ValuesOfElementType(loop_.shape().Leaf(leaf).element_type()).Size();
    if (!period) return std::nullopt;
    ElementEvaluator evaluator(Domain(), context_, state);
    std::optional<int64_t> step;
    for (const ValueCase& each :
         evaluator.Evaluate(loop_.while_body()->root_instruction(), leaf, {}, {&loop_})) {
      if (evaluator.unknowns().size() != 1) return std::nullopt;
      const RuntimeVarIndexing& before = evaluator.unknowns().front();
      if (before.instruction->opcode() != HloOpcode::kParameter || before.leaf != leaf ||
          before.call_path.size() != 1) {
        return std::nullopt;
      }
      const auto added =
          ValueIn(Sub(each.value, mlir::getAffineSymbolExpr(evaluator.FirstUnknown(), context_)));
      if (!added || (step && (*added - *step) % *period != 0)) return std::nullopt;
      if (!step || std::abs(*added) < std::abs(*step)) step = added;
    }
    return step;
  }

  // Whether the condition is known to have this value in all these iterations.
  bool ConditionIs(bool expected, const Interval& numbers) const {
    return ValueIn(Value(*loop_.while_condition(), 0, numbers)) == (expected ? 1 : 0);
  }

 private:
  static std::optional<int64_t> ValueIn(AffineExpr expr) {
    const auto constant = llvm::dyn_cast_or_null<mlir::AffineConstantExpr>(expr);
    return constant ? std::optional<int64_t>(constant.getValue()) : std::nullopt;
  }

  AffineExpr OnlyValue(const HloInstruction& root, int64_t leaf, CallPath path,
                       const Interval& numbers, const ValueEnvironment& state) const {
    Domain domain;
    domain.dims.push_back({numbers, {}});
    ElementEvaluator evaluator(std::move(domain), context_, state);
    AffineExpr only;
    for (const ValueCase& each : evaluator.Evaluate(&root, leaf, {}, std::move(path))) {
      const bool is_new = only && only != each.value;
      if (is_new || !each.value || evaluator.HasUnknown(each.value)) return {};
      only = each.value;
    }
    return only;
  }

  const HloInstruction& loop_;
  const std::vector<bool>& passes_through_;
  const LoopCounter& counter_;
  mlir::MLIRContext* context_;
};

// The greatest number for which a property holds that, where it holds for one number, holds for
// the smaller ones from 1 on; at most `limit`.
template <typename Property>
int64_t GreatestWith(int64_t limit, Property holds) {
  int64_t known = 0;
  int64_t next = 1;
  while (next <= limit && holds(next)) {
    known = next;
    if (known == limit) return known;
    next = known > limit / 2 ? limit : 2 * known;
  }
  int64_t past = next;
  while (past - known > 1) {
    const int64_t middle = known + (past - known) / 2;
    (holds(middle) ? known : past) = middle;
  }
  return known;
}

// The most iterations after which no leaf that counts has left its type.
int64_t MostWithoutWrapping(const HloInstruction& loop, const LoopCounter& counter) {
  int64_t most = kInt64Max / 2;
  for (const auto& [leaf, counting] : counter.leaves) {
    const Interval values = ValuesOfElementType(loop.shape().Leaf(leaf).element_type())
                                .Intersect(Interval::Closed(kInt64Min, kInt64Max));
    if (counting.step == 0) continue;
    const Int128 room = counting.step > 0 ? Int128{values.upper()} - counting.start
                                          : Int128{counting.start} - values.lower();
    const Int128 step = counting.step > 0 ? Int128{counting.step} : -Int128{counting.step};
    most = static_cast<int64_t>(std::min(Int128{most}, room / step));
  }
  return most;
}

// Leaves out the leaves that do not go on in these iterations as their value after the first one
// says, and says whether there were any.
bool DropLeavesThatDoNotCount(const LoopEvaluator& evaluator, const HloComputation& body,
                              const Interval& numbers, mlir::MLIRContext* context,
                              LoopCounter* counter) {
  const AffineExpr k = mlir::getAffineDimExpr(0, context);
  std::vector<int64_t> wrong;
  for (const auto& [leaf, counting] : counter->leaves) {
    const AffineExpr next = Add(counter->ValueOf(leaf, k), Constant(counting.step, context));
    if (!next || evaluator.Value(body, leaf, numbers) != next) wrong.push_back(leaf);
  }
  for (const int64_t leaf : wrong) counter->leaves.erase(leaf);
  return !wrong.empty();
}

// The iterations that there may be, which are no more than `most`; any number where the condition
// does not say so.
Interval FindCounts(const LoopEvaluator& evaluator, int64_t most) {
  const int64_t count = GreatestWith(
      most, [&](int64_t n) { return evaluator.ConditionIs(true, Interval::OfSize(n)); });
  if (evaluator.ConditionIs(false, Interval::Point(count))) return Interval::Point(count);
  if (!evaluator.ConditionIs(false, Interval::Point(most))) return Interval::AtLeast(0);
  const int64_t last = GreatestWith(
      most, [&](int64_t n) { return !evaluator.ConditionIs(false, Interval::Point(n)); });
  return Interval::Closed(count, last + 1);
}

// The number behind these words of the loop's backend_config, in which XLA says what it found out.
std::optional<int64_t> NumberInConfig(const HloInstruction& loop,
                                      std::initializer_list<absl::string_view> words) {
  absl::string_view text = loop.GetText(AttributeKey::kBackendConfig);
  for (const absl::string_view word : words) {
    const size_t place = text.find(word);
    if (place == absl::string_view::npos) return std::nullopt;
    text.remove_prefix(place + word.size());
  }
  const size_t first = text.find_first_not_of(" \"");
  if (first == absl::string_view::npos) return std::nullopt;
  text.remove_prefix(first);
  text = text.substr(0, text.find_first_not_of("0123456789", text[0] == '-' ? 1 : 0));
  int64_t number = 0;
  if (!absl::SimpleAtoi(text, &number)) return std::nullopt;
  return number;
}

// backend_config={"known_trip_count":{"n":"4"}}
std::optional<int64_t> KnownTripCount(const HloInstruction& loop) {
  const auto count = NumberInConfig(loop, {"known_trip_count", "\"n\"", ":"});
  return count && *count >= 0 ? count : std::nullopt;
}

// A leaf of the state, and the value that the loop begins with:
// backend_config={"known_init_step":{"init":"0","step":"1"},
//                 "known_induction_variable":{"tuple_index":"0"}}
std::optional<std::pair<int64_t, int64_t>> KnownStart(const HloInstruction& loop) {
  const auto element = NumberInConfig(loop, {"known_induction_variable", "\"tuple_index\"", ":"});
  const auto start = NumberInConfig(loop, {"known_init_step", "\"init\"", ":"});
  const Shape& state = loop.shape();
  if (!element || !start || !state.IsTuple() || *element < 0 ||
      *element >= static_cast<int64_t>(state.tuple_elements().size()) ||
      !state.tuple_element(*element).IsScalar()) {
    return std::nullopt;
  }
  return std::pair(state.FirstLeafOfElement(*element), *start);
}

}  // namespace

LoopCounter FindLoopCounter(const HloInstruction& loop, const std::vector<bool>& passes_through,
                            mlir::MLIRContext* context) {
  LoopCounter counter;
  const LoopEvaluator evaluator(loop, passes_through, counter, context);
  const HloComputation& body = *loop.while_body();
  // With the value that the loop begins with instead of a leaf, the body's value of the leaf
  // is the one after the first iteration.
  const auto leaf_count = static_cast<int64_t>(passes_through.size());
  const auto known_start = KnownStart(loop);
  for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
    const Shape& array = loop.shape().Leaf(leaf);
    if (passes_through[leaf] || !array.IsScalar() || !IsIntegral(array.element_type())) continue;
    std::optional<int64_t> start = evaluator.InitialValue(leaf);
    if (!start && known_start && known_start->first == leaf) start = known_start->second;
    if (start) {
      counter.leaves[leaf] = {*start, 0};
    } else if (const std::optional<int64_t> step = evaluator.Step(leaf)) {
      counter.steps[leaf] = *step;
    }
  }
  std::map<int64_t, CountingLeaf> counting;
  for (const auto& [leaf, constant] : counter.leaves) {
    const auto next = llvm::dyn_cast_or_null<mlir::AffineConstantExpr>(
        evaluator.Value(body, leaf, Interval::Point(0)));
    const auto step = next ? CheckedSub(next.getValue(), constant.start) : std::nullopt;
    if (step && *step != kInt64Min) counting[leaf] = {constant.start, *step};
  }
  counter.leaves = std::move(counting);
  while (DropLeavesThatDoNotCount(evaluator, body, Interval::OfSize(2), context, &counter)) {
  }
  const std::optional<int64_t> told = KnownTripCount(loop);
  while (true) {
    const int64_t most = MostWithoutWrapping(loop, counter);
    counter.counts = FindCounts(evaluator, most);
    if (!counter.counts.IsPoint() && told && *told <= most) counter.counts = Interval::Point(*told);
    if (!counter.counts.has_upper()) break;
    const Interval numbers = Interval::OfSize(counter.counts.upper());
    if (numbers.IsEmpty() ||
        !DropLeavesThatDoNotCount(evaluator, body, numbers, context, &counter)) {
      return counter;
    }
  }
  // Nothing says that values do not wrap.
  for (const auto& [leaf, unused] : counter.leaves) {
    if (const std::optional<int64_t> step = evaluator.Step(leaf)) counter.steps[leaf] = *step;
  }
  counter.leaves.clear();
  return counter;
}

}  // namespace xla_indexing::internal
