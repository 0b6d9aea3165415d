#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/affine/spelling/evident_form.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/expr/constraint_form.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/has_integer_point.h"
#include "xla_indexing/map/simplify/equalities.h"
#include "xla_indexing/map/simplify/joined_relation.h"

namespace xla_indexing {

using internal::ConstraintState;
using internal::Equalities;
using internal::ExprSimplifier;
using internal::HasIntegerPointWithoutPresburger;
using internal::IsEquality;
using internal::IsEvidentForm;
using internal::JoinedRelation;
using internal::LinearSum;
using internal::NormalizeConstraint;
using internal::ResidueFact;
using internal::ResidueFactOf;
using internal::Term;
using internal::VariablesOf;
using ::mlir::AffineExpr;

namespace {

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

// Maps of more variables are not looked at as thoroughly: what a question may take is better spent
// on other maps.
constexpr int kFewVariables = 8;

}  // namespace

bool IndexingMap::Simplify(const SimplifyOptions& options) {
  if (options.keep_variables || num_ranges() == 0) {
    return SimplifyFunction(
        {.num_dims = num_dims(), .ranges = true, .runtimes = true, .trace = options.trace});
  }
  JoinedRelation relation(std::move(*this));
  const bool changed = relation.Simplify(options.trace);
  *this = std::move(relation).TakeMap();
  if (!IsKnownEmpty()) return changed;
  // It had range variables, which an empty map does without.
  *this = MakeEmpty(context(), num_dims(), 0, num_runtimes(), num_results());
  return true;
}

bool IndexingMap::SimplifyResults(RuleTrace* trace) {
  const auto range_of = [this](AffineExpr variable) {
    const Variable* found = FindVariable(variable);
    return found != nullptr ? &found->bounds : nullptr;
  };
  const QuestionBudget question;
  std::optional<ExprSimplifier> simplifier;
  llvm::SmallVector<AffineExpr, 4> simplified;
  for (const AffineExpr result : results()) {
    if (IsEvidentForm(result, range_of)) {
      simplified.push_back(result);
      continue;
    }
    if (!simplifier) {
      simplifier.emplace(context(), DimBounds(), SymbolBounds());
      simplifier->TraceTo(trace);
    }
    simplified.push_back(simplifier->Simplify(result));
  }
  if (llvm::equal(simplified, results())) return false;
  SetAffineMap(mlir::AffineMap::get(num_dims(), num_symbols(), simplified, context()));
  return true;
}

namespace {

bool IsFact(const Constraint& constraint) { return ResidueFactOf(constraint).has_value(); }

// What came of one look at every constraint.
struct ConstraintRound {
  Constraints kept;
  bool narrowed = false;     // some interval of a variable
  bool shortened = false;    // some constraint, by an equality
  bool found_value = false;  // of a variable
  bool is_unsatisfiable = false;

  void Narrow(AffineExpr variable, const Interval& interval, Interval* bounds, RuleTrace* trace) {
    const Interval narrower = bounds->Intersect(interval);
    if (narrower == *bounds) return;
    if (trace) trace->push_back({"a constraint narrows", variable, variable, *bounds, narrower});
    *bounds = narrower;
    narrowed = true;
    if (narrower.IsPoint()) found_value = true;
    if (narrower.IsEmpty()) is_unsatisfiable = true;
  }
};

using Narrow = llvm::function_ref<void(AffineExpr variable, Interval interval)>;

void NormalizeConstraints(ExprSimplifier& simplifier, llvm::ArrayRef<Constraint> constraints,
                          Narrow narrow, RuleTrace* trace, ConstraintRound* round) {
  for (Constraint constraint : constraints) {
    const Constraint given = constraint;
    const ConstraintState state = NormalizeConstraint(simplifier, constraint, narrow);
    if (trace && (state != ConstraintState::kKept || !(given == constraint))) {
      trace->push_back(
          {RuleOf(state), given.expr, constraint.expr, given.interval, constraint.interval});
    }
    if (state == ConstraintState::kUnsatisfiable) round->is_unsatisfiable = true;
    if (state != ConstraintState::kKept) continue;
    round->kept.push_back(constraint);
    if (std::optional<ResidueFact> fact = ResidueFactOf(constraint)) {
      simplifier.Assume(fact->sum, fact->residues);
    }
  }
}

// Residues first, which what is assumed of sums can use.
void AssumeAll(llvm::ArrayRef<Constraint> constraints, ExprSimplifier* simplifier) {
  for (const Constraint& constraint : constraints) {
    if (std::optional<ResidueFact> fact = ResidueFactOf(constraint)) {
      simplifier->Assume(fact->sum, fact->residues);
    }
  }
  Equalities(constraints, [](const Constraint&) { return true; }).AssumeResidues(simplifier);
  for (const Constraint& constraint : constraints) {
    if (IsFact(constraint)) continue;
    simplifier->Assume(LinearSum::FromExpr(constraint.expr), constraint.interval);
  }
}

// Puts what the equalities among the constraints make of the others in their place, without those
// that follow from them.
void ShortenConstraints(const IndexingMap& map, llvm::function_ref<bool(const Constraint&)> may_use,
                        Narrow narrow, RuleTrace* trace, ConstraintRound* round) {
  for (size_t i = 0; i < round->kept.size();) {
    Constraint constraint = round->kept[i];
    Constraints others = round->kept;
    others.erase(others.begin() + i);
    ExprSimplifier simplifier(map.context(), map.DimBounds(), map.SymbolBounds());
    Equalities(others, [](const Constraint&) { return true; }).AssumeResidues(&simplifier);
    const ConstraintState state =
        Equalities(others, may_use).Shorten(&constraint, &simplifier, narrow);
    if (state == ConstraintState::kUnsatisfiable) round->is_unsatisfiable = true;
    if (round->is_unsatisfiable) return;
    const Constraint given = round->kept[i];
    if (state == ConstraintState::kKept && constraint == given) {
      ++i;
      continue;
    }
    round->shortened = true;
    if (trace) {
      trace->push_back({"equalities say it shorter", given.expr, constraint.expr, given.interval,
                        constraint.interval});
    }
    if (state == ConstraintState::kImplied) {
      round->kept = std::move(others);
    } else {
      round->kept[i++] = constraint;
    }
  }
}

// The variables of constraints that share variables with others, those on residues left out. What
// is to be known of other variables a constraint by itself has said.
llvm::SmallBitVector VariablesOfSeveral(const IndexingMap& map,
                                        llvm::ArrayRef<Constraint> constraints) {
  const unsigned count = map.num_dims() + map.num_symbols();
  llvm::SmallBitVector in_one(count);
  llvm::SmallBitVector in_several(count);
  llvm::SmallVector<llvm::SmallBitVector, 4> variables_of;
  if (constraints.size() < 2) return in_several;
  for (const Constraint& constraint : constraints) {
    if (IsFact(constraint)) continue;
    variables_of.emplace_back(count);
    for (const int variable : VariablesOf(constraint.expr, map.num_dims())) {
      variables_of.back().set(variable);
    }
    llvm::SmallBitVector again = in_one;
    again &= variables_of.back();
    in_several |= again;
    in_one |= variables_of.back();
  }
  llvm::SmallBitVector result(count);
  for (const llvm::SmallBitVector& variables : variables_of) {
    if (variables.anyCommon(in_several)) result |= variables;
  }
  return result;
}

enum class Outcome {
  kStays,
  kAgain,      // the constraints have to be looked at again
  kShortened,  // likewise, and some may be on one expression now
  kEmpty,      // no point satisfies them
};

// What is known while constraints are looked at.
struct Knowledge {
  // With the residues of all constraints, once they have been looked at.
  ExprSimplifier& residues;
  // With all constraints, where they are more than residues.
  std::optional<ExprSimplifier> all;
};

// Looks once at all constraints. `may_go_on` says whether they may be looked at again.
Outcome LookAtConstraints(const IndexingMap& map, llvm::ArrayRef<Constraint> constraints,
                          llvm::function_ref<bool(const Constraint&)> may_use, Narrow narrow,
                          bool may_go_on, RuleTrace* trace, Knowledge* knowledge,
                          ConstraintRound* round) {
  NormalizeConstraints(knowledge->residues, constraints, narrow, trace, round);
  if (round->is_unsatisfiable) return Outcome::kEmpty;
  // A constraint that has become one on residues was not known to those before it.
  const bool may_say_more =
      round->narrowed || !std::is_partitioned(round->kept.begin(), round->kept.end(), IsFact);
  // Variables with several values grow fewer by finding one: this ends.
  if (!QuestionBudget::IsSpent() && (round->found_value || (may_go_on && may_say_more)))
    return Outcome::kAgain;
  may_go_on = may_go_on && !QuestionBudget::IsSpent();
  if (may_go_on && llvm::any_of(round->kept, IsEquality)) {
    ShortenConstraints(map, may_use, narrow, trace, round);
    if (round->is_unsatisfiable) return Outcome::kEmpty;
    if (round->shortened || round->narrowed) return Outcome::kShortened;
  }
  if (!round->narrowed && llvm::all_of(round->kept, IsFact)) return Outcome::kStays;
  ExprSimplifier& all = knowledge->all.emplace(map.context(), map.DimBounds(), map.SymbolBounds());
  AssumeAll(round->kept, &all);
  if (!may_go_on || map.num_dims() + map.num_symbols() > kFewVariables) return Outcome::kStays;
  // Several constraints together may leave less of a variable than each of them.
  const llvm::SmallBitVector variables = VariablesOfSeveral(map, round->kept);
  for (const unsigned i : variables.set_bits()) {
    const auto num_dims = static_cast<unsigned>(map.num_dims());
    const AffineExpr variable = i < num_dims
                                    ? mlir::getAffineDimExpr(i, map.context())
                                    : mlir::getAffineSymbolExpr(i - num_dims, map.context());
    narrow(variable, all.Range(variable));
  }
  if (round->is_unsatisfiable) return Outcome::kEmpty;
  return round->narrowed ? Outcome::kShortened : Outcome::kStays;
}

// The normal forms of the map's results, the least under the equalities whose variables may all come
// into the expression, or are in it already.
llvm::SmallVector<AffineExpr, 4> LeastForms(const IndexingMap& map,
                                            llvm::function_ref<bool(int variable)> may_come,
                                            ExprSimplifier& simplifier, RuleTrace* trace) {
  llvm::SmallVector<AffineExpr, 4> forms;
  simplifier.TraceTo(trace);
  for (const AffineExpr result : map.results()) forms.push_back(simplifier.Simplify(result));
  simplifier.TraceTo(nullptr);
  const llvm::ArrayRef<Constraint> constraints = map.constraints();
  if (llvm::none_of(constraints, IsEquality)) return forms;
  const int num_dims = map.num_dims();
  for (AffineExpr& form : forms) {
    const auto in_form = VariablesOf(form, num_dims);
    const Equalities equalities(constraints, [&](const Constraint& equality) {
      return llvm::all_of(VariablesOf(equality.expr, num_dims), [&](int variable) {
        return may_come(variable) || llvm::is_contained(in_form, variable);
      });
    });
    if (equalities.empty()) continue;
    const AffineExpr least = equalities.Least(form, &simplifier);
    if (trace && least != form) trace->push_back({"equalities say it shorter", form, least});
    form = least;
  }
  return forms;
}

}  // namespace

bool IndexingMap::SimplifyFunction(const FunctionOptions& options) {
  RuleTrace* const trace = options.trace;
  if (constraints_.empty() && !IsKnownEmpty()) return SimplifyResults(trace);
  const QuestionBudget question;
  const IndexingMap before = *this;
  const auto make_empty = [&] {
    *this = MakeEmpty(context(), num_dims(), num_ranges(), num_runtimes(), num_results());
    return *this != before;
  };
  if (IsKnownEmpty()) return make_empty();
  const auto may_come = [&](int variable) {
    if (variable < num_dims()) return variable < options.num_dims;
    return variable < num_dims() + num_ranges() ? options.ranges : options.runtimes;
  };
  const auto may_use = [&](const Constraint& equality) {
    return llvm::all_of(VariablesOf(equality.expr, num_dims()), may_come);
  };

  // A constraint that narrows a variable can make others say more, so rounds go on until nothing
  // becomes narrower. A pass ends with the results, and another one begins where constraints have
  // changed since, or an equality has made a result shorter. Nearly all maps take two rounds.
  constexpr int kMaxRounds = 24;
  constexpr int kMaxPasses = 6;
  bool has_integer_point = false;
  int num_passes = 0;
  for (int num_rounds = 1; !constraints_.empty(); ++num_rounds) {
    ExprSimplifier simplifier(context(), DimBounds(), SymbolBounds());
    simplifier.TraceTo(trace);
    // Residues first: what they say is known when the others are looked at.
    if (!std::is_partitioned(constraints_.begin(), constraints_.end(), IsFact)) {
      std::stable_partition(constraints_.begin(), constraints_.end(), IsFact);
    }
    ConstraintRound round;
    const auto narrow = [&](AffineExpr variable, Interval interval) {
      round.Narrow(variable, interval, &FindVariable(variable)->bounds, trace);
    };
    Knowledge knowledge{simplifier, std::nullopt};
    const Outcome outcome = LookAtConstraints(*this, constraints_, may_use, narrow,
                                              num_rounds < kMaxRounds, trace, &knowledge, &round);
    if (outcome == Outcome::kEmpty) return make_empty();
    if (outcome == Outcome::kAgain) {
      constraints_ = std::move(round.kept);
      continue;
    }
    if (outcome == Outcome::kShortened) {
      SetConstraints(std::move(round.kept));
      if (IsKnownEmpty()) return make_empty();
      continue;
    }
    if (!has_integer_point) {
      const Answer answer =
          HasIntegerPointWithoutPresburger(DimBounds(), SymbolBounds(), round.kept);
      if (answer == Answer::kNo) {
        if (trace) trace->push_back({"no integer point satisfies all constraints"});
        return make_empty();
      }
      has_integer_point = answer == Answer::kYes;
    }
    const Constraints given = std::exchange(constraints_, {});
    SetConstraints(round.kept);
    if (IsKnownEmpty()) return make_empty();
    if (constraints_.empty()) break;
    const llvm::SmallVector<AffineExpr, 4> forms =
        LeastForms(*this, may_come, knowledge.all ? *knowledge.all : simplifier, trace);
    // The same constraints would say the same again, and the simplifier gives its forms back. Only
    // what equalities have made shorter may become shorter still.
    const bool stays = constraints_ == given &&
                       (llvm::none_of(constraints_, IsEquality) || llvm::equal(forms, results()));
    SetAffineMap(mlir::AffineMap::get(num_dims(), num_symbols(), forms, context()));
    if (stays || ++num_passes == kMaxPasses || QuestionBudget::IsSpent()) return *this != before;
    num_rounds = 0;
  }
  SimplifyResults(trace);
  return *this != before;
}

}  // namespace xla_indexing
