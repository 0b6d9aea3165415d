#include "xla_indexing/ops/loops/body/iteration_count.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/values/loop_counter.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// Whether the value, or where it is so, depends on what is not known.
bool IsUnknown(const ElementEvaluator& evaluator, const ValueCase& value) {
  return !value.value || evaluator.HasUnknown(value.value) ||
         llvm::any_of(value.when, [&](const Constraint& constraint) {
           return evaluator.HasUnknown(constraint.expr);
         });
}

// Where a loop begins with these values, each an expression; other leaves are not known.
struct Beginning {
  Constraints when;
  std::map<int64_t, AffineExpr> values;
};

// The leaves of a loop's state, in which iteration k is the dimension after those of the domain: what is
// known of values in the loop's condition.
class CountedLeaves : public ValueEnvironment {
 public:
  CountedLeaves(const HloInstruction& loop, const CountedLoop& counted, const Domain& domain,
                const Beginning& beginning, mlir::MLIRContext* context)
      : loop_(loop), domain_(domain), beginning_(beginning), counted_(counted), context_(context) {}

  AffineExpr IterationNumber() const {
    return mlir::getAffineDimExpr(domain_.dims.size(), context_);
  }

  // The number up to which the leaves that iterations add to stay in their types, if less than
  // `iterations`; nullopt if they do not even begin there.
  std::optional<int64_t> MostIterations() const {
    Int128 most = kInt64Max / 2;
    if (counted_.counter.counts.has_upper()) {
      most = std::min(most, Int128{counted_.counter.counts.upper()});
    }
    const ValueVariables variables(domain_, context_);
    const auto limit = [&](int64_t leaf, int64_t step) {
      const auto found = beginning_.values.find(leaf);
      if (found == beginning_.values.end() || step == 0) return;
      const Interval first = variables.RangeOf(found->second, beginning_.when);
      const Interval values = ValuesOfElementType(loop_.shape().Leaf(leaf).element_type())
                                  .Intersect(Interval::Closed(kInt64Min, kInt64Max));
      if (first.IsEmpty() || !first.IsFinite()) {
        most = -1;
        return;
      }
      const Int128 room = step > 0 ? Int128{values.upper()} - first.upper()
                                   : Int128{first.lower()} - values.lower();
      most = std::min(most, room < 0 ? Int128{-1} : room / (step > 0 ? step : -Int128{step}));
    };
    for (const auto& [leaf, counting] : counted_.counter.leaves) limit(leaf, counting.step);
    for (const auto& [leaf, step] : counted_.counter.steps) limit(leaf, step);
    return most < 0 ? std::nullopt : std::optional(static_cast<int64_t>(most));
  }

  // The value of a leaf in iteration k; null if it is not known.
  AffineExpr ValueOf(int64_t leaf, AffineExpr k) const {
    const std::optional<int64_t> step = StepOf(leaf);
    const auto found = beginning_.values.find(leaf);
    if (!step || found == beginning_.values.end()) return {};
    return Add(found->second, Scale(k, *step));
  }

  const HloInstruction* loop() const override { return &loop_; }
  AffineExpr ValueOfState(int64_t leaf) const override { return ValueOf(leaf, IterationNumber()); }
  bool IsInitial(int64_t leaf) const override { return counted_.passes_through[leaf]; }

  // Whether the condition holds in each iteration of these.
  ValueCases Condition(const Interval& numbers) const {
    Domain domain = domain_;
    domain.dims.push_back({numbers, {}});
    ElementEvaluator evaluator(std::move(domain), context_, *this);
    ValueCases cases = MergeCases(evaluator.Evaluate(loop_.while_condition()->root_instruction(), 0,
                                                     {}, {&loop_}, beginning_.when));
    const auto is_unknown = [&](const ValueCase& each) { return IsUnknown(evaluator, each); };
    return llvm::any_of(cases, is_unknown) ? ValueCases() : cases;
  }

  std::optional<ValueCases> CountIterations() const;

 private:
  std::optional<int64_t> StepOf(int64_t leaf) const {
    const LoopCounter& counter = counted_.counter;
    if (counted_.passes_through[leaf]) return 0;
    if (const auto found = counter.leaves.find(leaf); found != counter.leaves.end()) {
      return found->second.step;
    }
    const auto found = counter.steps.find(leaf);
    return found == counter.steps.end() ? std::nullopt : std::optional(found->second);
  }

  const HloInstruction& loop_;
  const Domain& domain_;
  const Beginning& beginning_;
  const CountedLoop& counted_;
  mlir::MLIRContext* context_;
};

// The leaves that iterations add to or that the condition reads.
std::set<int64_t> LeavesThatCount(const HloInstruction& loop, const LoopCounter& counter) {
  std::set<int64_t> leaves;
  for (const auto& [leaf, counting] : counter.leaves) leaves.insert(leaf);
  for (const auto& [leaf, step] : counter.steps) leaves.insert(leaf);
  for (const HloInstruction* user : loop.while_condition()->parameter(0)->users()) {
    // What another operation reads of the state is not looked for.
    const bool is_one = user->opcode() == HloOpcode::kGetTupleElement;
    const int64_t first = is_one ? loop.shape().FirstLeafOfElement(user->tuple_index()) : 0;
    for (int64_t i = 0; i < (is_one ? user->shape() : loop.shape()).LeafCount(); ++i) {
      leaves.insert(first + i);
    }
  }
  return leaves;
}

// What these leaves are when the loop begins, in cases that together are everywhere.
std::vector<Beginning> BeginningsOf(const CalledLoop& loop, const CountedLoop& counted,
                                    const Domain& domain, const ValueEnvironment& around,
                                    mlir::MLIRContext* context) {
  std::vector<Beginning> beginnings(1);
  ElementEvaluator evaluator(domain, context, around);
  const auto is_unknown = [&](const ValueCase& each) { return IsUnknown(evaluator, each); };
  for (const int64_t leaf : LeavesThatCount(loop.loop, counted.counter)) {
    const Shape& array = loop.loop.shape().Leaf(leaf);
    if (!array.IsScalar() || !IsIntegral(array.element_type())) continue;
    if (const auto found = counted.counter.leaves.find(leaf);
        found != counted.counter.leaves.end()) {
      for (Beginning& beginning : beginnings) {
        beginning.values[leaf] = Constant(found->second.start, context);
      }
      continue;
    }
    std::vector<Beginning> divided;
    for (const Beginning& beginning : beginnings) {
      const ValueCases cases = evaluator.Evaluate(loop.loop.operand(0), leaf, loop.iterations,
                                                  loop.path, beginning.when);
      if (cases.empty() || llvm::any_of(cases, is_unknown)) {
        divided.push_back(beginning);
        continue;
      }
      for (const ValueCase& each : cases) {
        Beginning& part = divided.emplace_back(beginning);
        part.when = each.when;
        part.values[leaf] = each.value;
      }
    }
    if (divided.size() <= kMaxValueCases) beginnings = std::move(divided);
  }
  return beginnings;
}

// c*k >= need, c > 0.
struct Enough {
  AffineExpr need;
  int64_t c;
};

// What a condition that is an expression in an interval, which has one end, says of dimension k.
std::optional<Enough> EnoughFor(const Constraint& constraint, AffineExpr k) {
  LinearSum sum = LinearSum::FromExpr(constraint.expr);
  if (constraint.interval.has_upper()) sum.Scale(-1);
  const Interval interval =
      constraint.interval.has_upper() ? constraint.interval.Neg() : constraint.interval;
  if (!interval.has_lower() || interval.has_upper()) return std::nullopt;
  const int64_t c = sum.CoefficientOf(k);
  sum.RemoveTerm(k);
  const unsigned position = llvm::cast<mlir::AffineDimExpr>(k).getPosition();
  if (c <= 0 || llvm::any_of(sum.terms(), [&](const Term& term) {
        return term.atom.isFunctionOfDim(position);
      })) {
    return std::nullopt;
  }
  sum.SubtractConstant(interval.lower());
  sum.Scale(-1);
  const AffineExpr need = sum.ToExpr(k.getContext());
  return need ? std::optional(Enough{need, c}) : std::nullopt;
}

std::optional<ValueCases> CountedLeaves::CountIterations() const {
  const std::optional<int64_t> most = MostIterations();
  if (!most) return std::nullopt;
  ValueCases condition = Condition(Interval::Closed(0, *most));
  if (condition.size() == 1 && condition[0].value == Constant(0, context_)) return condition;
  // One case in which it holds, and one in which it does not, for all points.
  if (condition.size() != 2) return std::nullopt;
  const bool ends_first = condition[0].value == Constant(0, context_);
  const ValueCase& end = condition[ends_first ? 0 : 1];
  const ValueCase& more = condition[ends_first ? 1 : 0];
  // Both say where the loop begins so, and one thing more.
  const size_t own = beginning_.when.size();
  const auto is_of_beginning = [&](const ValueCase& each) {
    return each.when.size() == own + 1 &&
           std::equal(beginning_.when.begin(), beginning_.when.end(), each.when.begin());
  };
  if (end.value != Constant(0, context_) || more.value != Constant(1, context_) ||
      !is_of_beginning(end) || !is_of_beginning(more) ||
      end.when[own].expr != more.when[own].expr) {
    return std::nullopt;
  }
  const std::optional<Enough> enough = EnoughFor(end.when[own], IterationNumber());
  if (!enough) return std::nullopt;
  const ValueVariables variables(domain_, context_);
  const AffineExpr count = CeilDiv(enough->need, enough->c);
  if (!count) return std::nullopt;
  std::optional<ValueCases> cases = variables.Split(enough->need, 0, Constant(0, context_),
                                                    variables.Simplified(count), beginning_.when);
  // What is known of the leaves holds up to this number.
  const Interval known = Interval::Closed(0, *most);
  if (!cases || !llvm::all_of(*cases, [&](const ValueCase& each) {
        return variables.RangeOf(each.value, each.when).IsSubsetOf(known);
      })) {
    return std::nullopt;
  }
  return cases;
}

std::optional<ValueCases> CountIterations(const std::vector<Beginning>& beginnings,
                                          const HloInstruction& loop, const CountedLoop& counted,
                                          const Domain& domain, mlir::MLIRContext* context) {
  ValueCases all;
  for (const Beginning& beginning : beginnings) {
    const std::optional<ValueCases> cases =
        CountedLeaves(loop, counted, domain, beginning, context).CountIterations();
    if (!cases) return std::nullopt;
    llvm::append_range(all, *cases);
  }
  return all;
}

}  // namespace

std::optional<ValueCases> IterationsOf(const CalledLoop& loop, const CountedLoop& counted,
                                       const Domain& domain, const ValueEnvironment& around,
                                       mlir::MLIRContext* context) {
  return CountIterations(BeginningsOf(loop, counted, domain, around, context), loop.loop, counted,
                         domain, context);
}

std::optional<ValueCases> ValueInIteration(const CalledLoop& loop, const CountedLoop& counted,
                                           const Domain& domain, const ValueEnvironment& around,
                                           int64_t leaf, AffineExpr k) {
  mlir::MLIRContext* context = k.getContext();
  const std::vector<Beginning> beginnings = BeginningsOf(loop, counted, domain, around, context);
  // Where it is known how often the loop runs nothing leaves its type.
  if (!CountIterations(beginnings, loop.loop, counted, domain, context)) return std::nullopt;
  ValueCases cases;
  for (const Beginning& beginning : beginnings) {
    const AffineExpr value =
        CountedLeaves(loop.loop, counted, domain, beginning, context).ValueOf(leaf, k);
    if (!value) return std::nullopt;
    cases.push_back({beginning.when, value});
  }
  return cases;
}

}  // namespace xla_indexing::internal
