#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/internal/evident_form.h"
#include "xla_indexing/affine/internal/linear_sum.h"
#include "xla_indexing/affine/internal/simplifier.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/internal/combine_residues.h"
#include "xla_indexing/map/internal/constraint_form.h"
#include "xla_indexing/map/internal/has_integer_point.h"
#include "xla_indexing/map/internal/joined_relation.h"

namespace xla_indexing {

using internal::Combined;
using internal::CombineResidues;
using internal::ConstraintState;
using internal::ExprSimplifier;
using internal::HasIntegerPoint;
using internal::IsEvidentForm;
using internal::JoinedRelation;
using internal::LinearSum;
using internal::NormalizeConstraint;
using internal::ResidueFact;
using internal::ResidueFactOf;
using internal::Term;
using ::mlir::AffineExpr;

namespace {

// The normal form of a sum of multiples of variables, in summand order and with the value of a
// variable that has only one in its place. Null for other expressions, and where a number does not
// fit int64.
AffineExpr FormOfLinear(AffineExpr expr, llvm::function_ref<const Interval*(AffineExpr)> range_of) {
  if (expr.getKind() == mlir::AffineExprKind::FloorDiv ||
      expr.getKind() == mlir::AffineExprKind::CeilDiv ||
      expr.getKind() == mlir::AffineExprKind::Mod) {
    return {};
  }
  const LinearSum given = LinearSum::FromExpr(expr);
  LinearSum form(given.constant());
  for (const Term& term : given.terms()) {
    const Interval* bounds = range_of(term.atom);
    if (bounds == nullptr) return {};
    if (bounds->IsPoint()) {
      form.AddScaled(LinearSum(bounds->lower()), term.coefficient);
    } else {
      form.AddTerm(term.atom, term.coefficient);
    }
  }
  return given.valid() ? form.ToExpr(expr.getContext()) : AffineExpr();
}

// Whether nothing is to be done about the range variables of a map without constraints but what
// Simplify() does: they have several values, and each is a result, first used in their order, and in
// no sum.
bool AreRangesResults(const IndexingMap& map) {
  if (llvm::any_of(map.ranges(), [](const Variable& range) { return range.bounds.IsPoint(); })) {
    return false;
  }
  int used = 0;
  for (const AffineExpr result : map.results()) {
    if (const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(result)) {
      const auto position = static_cast<int>(symbol.getPosition());
      if (position >= map.num_ranges()) continue;  // A runtime variable, which stays.
      if (position > used) return false;
      used = std::max(used, position + 1);
    } else if (result.getKind() != mlir::AffineExprKind::DimId) {
      for (int range = 0; range < map.num_ranges(); ++range) {
        if (result.isFunctionOfSymbol(range)) return false;
      }
    }
  }
  return used == map.num_ranges();
}

const char* RuleOf(ConstraintState state) {
  switch (state) {
    case ConstraintState::kImplied:
      return "intervals say all of the constraint";
    case ConstraintState::kUnsatisfiable:
      return "no point satisfies the constraint";
    case ConstraintState::kKept:
      break;
  }
  return "normal form of the constraint";
}

// How many digits a dividend has that may cut across each other, in the division of an expression
// that has the most of them: floordivs, and mods twice, in sums of several summands.
int CrossingDigits(AffineExpr expr) {
  int most = 0;
  // The sums that are still to be looked at.
  llvm::SmallVector<AffineExpr, 8> sums = {expr};
  llvm::SmallVector<AffineExpr, 8> pending;
  for (bool is_dividend = false; !sums.empty(); is_dividend = true) {
    int digits = 0;
    int summands = 0;
    pending.push_back(sums.pop_back_val());
    while (!pending.empty()) {
      const AffineExpr next = pending.pop_back_val();
      const auto binary = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(next);
      if (binary && next.getKind() == mlir::AffineExprKind::Add) {
        pending.push_back(binary.getLHS());
        pending.push_back(binary.getRHS());
      } else if (binary && next.getKind() == mlir::AffineExprKind::Mul) {
        pending.push_back(binary.getLHS());
      } else {
        summands += next.getKind() != mlir::AffineExprKind::Constant;
        if (!binary) continue;
        digits += next.getKind() == mlir::AffineExprKind::Mod ? 2 : 1;
        sums.push_back(binary.getLHS());
      }
    }
    if (is_dividend && summands > 1) most = std::max(most, digits);
  }
  return most;
}

// Whether an expression has a division by another number, in no other division.
bool HasDivisorOtherThan(AffineExpr expr, int64_t m) {
  const LinearSum sum = LinearSum::FromExpr(expr);
  return llvm::any_of(sum.terms(), [m](const Term& term) {
    const auto division = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(term.atom);
    const auto divisor =
        division ? llvm::dyn_cast<mlir::AffineConstantExpr>(division.getRHS()) : nullptr;
    return divisor && divisor.getValue() != m;
  });
}

// Whether what has been simplified may have another form still: what is known when a division is
// looked at may be said in a shorter way once all of them have been. A map of few variables is
// always looked at again, which costs little; a map of many only where it is likely to change, since
// what a question may take is better spent on other maps.
bool MayChangeAgain(const IndexingMap& map) {
  constexpr int kFewVariables = 8;
  if (map.num_dims() + map.num_symbols() <= kFewVariables) return true;
  int few_digits = 2;
  for (const Constraint& constraint : map.constraints()) {
    const std::optional<ResidueFact> fact = ResidueFactOf(constraint);
    if (!fact) continue;
    // Where residues are known, floors that are no quotients by their modulus have several forms.
    few_digits = 1;
    if (llvm::any_of(map.results(), [&](AffineExpr result) {
          return HasDivisorOtherThan(result, fact->residues.modulus());
        })) {
      return true;
    }
  }
  const auto crosses = [&](AffineExpr expr) { return CrossingDigits(expr) >= few_digits; };
  return llvm::any_of(map.results(), crosses) ||
         llvm::any_of(map.constraints(), [&](const Constraint& c) { return crosses(c.expr); });
}

}  // namespace

bool IndexingMap::Simplify(RuleTrace* trace) {
  bool has_integer_point = false;
  bool is_settled = false;
  if (!SimplifyOnce(trace, &has_integer_point, &is_settled)) return false;
  if (is_settled || !MayChangeAgain(*this)) return true;
  const QuestionBudget question;
  // Nearly always the second pass finds nothing.
  constexpr int kMaxPasses = 6;
  for (int pass = 1; pass < kMaxPasses && !QuestionBudget::IsSpent(); ++pass) {
    const bool changed = SimplifyOnce(trace, &has_integer_point, &is_settled);
    if (!changed || is_settled || !MayChangeAgain(*this)) break;
  }
  return true;
}

void IndexingMap::SimplifyAsRelation() {
  if (constraints_.empty() && !IsKnownEmpty() && AreRangesResults(*this)) {
    Simplify();
    return;
  }
  JoinedRelation relation(std::move(*this));
  relation.Simplify();
  *this = std::move(relation).TakeMap();
  if (IsKnownEmpty()) *this = MakeEmpty(context(), num_dims(), 0, num_runtimes(), num_results());
}

bool IndexingMap::SimplifyResults(RuleTrace* trace, bool* is_settled) {
  const auto range_of = [this](AffineExpr variable) {
    const Variable* found = FindVariable(variable);
    return found != nullptr ? &found->bounds : nullptr;
  };
  const auto stays = [&](AffineExpr result) { return IsEvidentForm(result, range_of); };
  const auto* const first = llvm::find_if_not(results(), stays);
  if (first == results().end()) return false;
  const QuestionBudget question;
  std::optional<ExprSimplifier> simplifier;
  llvm::SmallVector<AffineExpr, 4> simplified(results().begin(), first);
  *is_settled = true;
  for (const AffineExpr result : results().drop_front(simplified.size())) {
    if (stays(result)) {
      simplified.push_back(result);
      continue;
    }
    // Rules are recorded where they are used.
    AffineExpr form = trace == nullptr ? FormOfLinear(result, range_of) : AffineExpr();
    bool result_is_settled = false;
    if (!form) {
      if (!simplifier) {
        simplifier.emplace(context(), DimBounds(), SymbolBounds());
        simplifier->TraceTo(trace);
      }
      form = simplifier->Simplify(result, &result_is_settled);
    }
    simplified.push_back(form);
    *is_settled = *is_settled && (result_is_settled || stays(form));
  }
  if (llvm::equal(simplified, results())) return false;
  affine_map_ = mlir::AffineMap::get(num_dims(), num_symbols(), simplified, context());
  return true;
}

namespace {

bool IsFact(const Constraint& constraint) { return ResidueFactOf(constraint).has_value(); }

// What came of one look at every constraint.
struct ConstraintRound {
  Constraints kept;
  bool narrowed = false;     // some interval of a variable
  bool found_value = false;  // of a variable
  bool is_unsatisfiable = false;
};

// `bounds_of(variable)` is the variable's interval.
ConstraintRound NormalizeConstraints(ExprSimplifier& simplifier,
                                     llvm::ArrayRef<Constraint> constraints,
                                     llvm::function_ref<Interval*(AffineExpr)> bounds_of,
                                     RuleTrace* trace) {
  ConstraintRound round;
  const auto narrow = [&](AffineExpr variable, Interval interval) {
    Interval* bounds = bounds_of(variable);
    const Interval narrower = bounds->Intersect(interval);
    if (narrower == *bounds) return;
    if (trace) trace->push_back({"a constraint narrows", variable, variable, *bounds, narrower});
    *bounds = narrower;
    round.narrowed = true;
    if (narrower.IsPoint()) round.found_value = true;
    if (narrower.IsEmpty()) round.is_unsatisfiable = true;
  };
  for (Constraint constraint : constraints) {
    const Constraint given = constraint;
    const ConstraintState state = NormalizeConstraint(simplifier, constraint, narrow);
    if (trace && (state != ConstraintState::kKept || !(given == constraint))) {
      trace->push_back(
          {RuleOf(state), given.expr, constraint.expr, given.interval, constraint.interval});
    }
    if (state == ConstraintState::kUnsatisfiable) round.is_unsatisfiable = true;
    if (state != ConstraintState::kKept) continue;
    round.kept.push_back(constraint);
    if (std::optional<ResidueFact> fact = ResidueFactOf(constraint)) {
      simplifier.Assume(fact->sum, fact->residues);
    }
  }
  return round;
}

// Residues first, which what is assumed of sums can use.
void AssumeAll(llvm::ArrayRef<Constraint> constraints, ExprSimplifier* simplifier) {
  for (const Constraint& constraint : constraints) {
    if (std::optional<ResidueFact> fact = ResidueFactOf(constraint)) {
      simplifier->Assume(fact->sum, fact->residues);
    }
  }
  for (const Constraint& constraint : constraints) {
    if (IsFact(constraint)) continue;
    simplifier->Assume(LinearSum::FromExpr(constraint.expr), constraint.interval);
  }
}

}  // namespace

bool IndexingMap::SimplifyOnce(RuleTrace* trace, bool* has_integer_point, bool* is_settled) {
  if (constraints_.empty() && !IsKnownEmpty()) return SimplifyResults(trace, is_settled);
  const QuestionBudget question;
  const IndexingMap before = *this;
  const auto make_empty = [&] {
    *this = MakeEmpty(context(), num_dims(), num_ranges(), num_runtimes(), num_results());
    return *this != before;
  };
  if (IsKnownEmpty()) return make_empty();

  // A constraint that narrows a variable can make others say more, until nothing becomes narrower.
  // Nearly all end in two rounds; what is not found in many is left to the constraints that stay.
  constexpr int kMaxRounds = 24;
  for (int num_rounds = 1;; ++num_rounds) {
    ExprSimplifier simplifier(context(), DimBounds(), SymbolBounds());
    simplifier.TraceTo(trace);
    // Residues first: what they say is known when the others are looked at.
    std::stable_partition(constraints_.begin(), constraints_.end(), IsFact);
    ConstraintRound round = NormalizeConstraints(
        simplifier, constraints_,
        [this](AffineExpr variable) { return &FindVariable(variable)->bounds; }, trace);
    if (round.is_unsatisfiable) return make_empty();
    const Combined residues = CombineResidues(round.kept, context());
    if (residues == Combined::kUnsatisfiable) return make_empty();
    const bool combined = residues == Combined::kSome;
    if (trace && combined) trace->push_back({"residues of one sum are one constraint"});
    // Constraints grow fewer by combining, variables with several values by finding one: this ends.
    const bool may_go_on = !QuestionBudget::IsSpent();
    // A constraint that has become one on residues was not known to those before it.
    const bool may_say_more =
        num_rounds < kMaxRounds &&
        (round.narrowed || !std::is_partitioned(round.kept.begin(), round.kept.end(), IsFact));
    if (may_go_on && (combined || round.found_value || may_say_more)) {
      constraints_ = std::move(round.kept);
      if (combined) --num_rounds;
      continue;
    }
    if (!*has_integer_point) {
      const Answer answer = HasIntegerPoint(DimBounds(), SymbolBounds(), round.kept);
      if (answer == Answer::kNo) {
        if (trace) trace->push_back({"no integer point satisfies all constraints"});
        return make_empty();
      }
      *has_integer_point = answer == Answer::kYes;
    }
    // Results know the narrowed intervals and all constraints.
    std::optional<ExprSimplifier> last;
    if (round.narrowed || !llvm::all_of(round.kept, IsFact)) {
      last.emplace(context(), DimBounds(), SymbolBounds());
      last->TraceTo(trace);
      AssumeAll(round.kept, &*last);
    }
    llvm::SmallVector<AffineExpr, 4> results;
    for (AffineExpr result : this->results()) {
      results.push_back((last ? *last : simplifier).Simplify(result));
    }
    affine_map_ = mlir::AffineMap::get(num_dims(), num_symbols(), results, context());
    SetConstraints(std::move(round.kept));
    if (IsKnownEmpty()) return make_empty();
    return *this != before;
  }
}

}  // namespace xla_indexing
