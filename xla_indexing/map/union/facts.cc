#include "xla_indexing/map/union/facts.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/expr/expr_program.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

namespace {

constexpr size_t kMaxCoordinates = 16;
// How often sums narrow variables, which may narrow others.
constexpr int kRounds = 2;

}  // namespace

Facts::Facts(const Piece& piece) : num_dims_(piece.num_dims), context_(piece.context) {
  for (int i = 0; i < piece.num_variables(); ++i) variables_.push_back(piece.atoms[i].values);
  for (const PieceAtom& atom : llvm::ArrayRef(piece.atoms).drop_front(piece.num_variables())) {
    is_empty_ = is_empty_ || atom.values.IsEmpty();
    LinearSum sum = LinearSum::FromExpr(atom.expr);
    if (sum.valid()) sums_.push_back({std::move(sum), atom.values});
  }
  for (int round = 0; round < kRounds && !sums_.empty(); ++round) NarrowBySums();
  CloseDifferences();
  is_empty_ =
      is_empty_ || llvm::any_of(variables_, [](const Progression& each) { return each.IsEmpty(); });
  if (is_empty_) return;
  if (piece.atoms.size() == variables_.size() &&
      llvm::all_of(variables_, [](const Progression& each) { return each.interval.has_lower(); })) {
    for (const Progression& values : variables_) corner_.push_back(values.first());
  }
  for (Known& known : sums_) known.sum = Simplify(known.sum);
  llvm::erase_if(sums_, [](const Known& known) { return !known.sum.valid(); });
  is_empty_ = llvm::any_of(sums_, [&](const Known& known) {
    return InBox(known.sum).Intersect(known.values).IsEmpty();
  });
}

ExprSimplifier& Facts::simplifier() {
  if (simplifier_) return *simplifier_;
  llvm::SmallVector<Interval, 8> intervals;
  for (const Progression& values : variables_) intervals.push_back(values.interval);
  simplifier_.emplace(context_, llvm::ArrayRef(intervals).take_front(num_dims_),
                      llvm::ArrayRef(intervals).drop_front(num_dims_));
  const auto assume = [&](const LinearSum& sum, const Congruence& residues) {
    if (!residues.IsAll() && !residues.IsPoint() && !residues.IsEmpty()) {
      simplifier_->Assume(sum, residues);
    }
  };
  for (int i = 0; i < static_cast<int>(variables_.size()); ++i) {
    const AffineExpr variable = i < num_dims_ ? mlir::getAffineDimExpr(i, context_)
                                              : mlir::getAffineSymbolExpr(i - num_dims_, context_);
    assume(LinearSum::Of(variable), variables_[i].residues);
  }
  for (const Known& known : sums_) assume(known.sum, known.values.residues);
  return *simplifier_;
}

int Facts::CoordinateOf(AffineExpr variable) const {
  if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(variable)) {
    return 1 + static_cast<int>(dim.getPosition());
  }
  return 1 + num_dims_ +
         static_cast<int>(llvm::cast<mlir::AffineSymbolExpr>(variable).getPosition());
}

std::optional<Facts::Difference> Facts::AsDifference(const LinearSum& sum) const {
  if (sum.terms().size() > 2) return std::nullopt;
  Difference difference;
  difference.constant = sum.constant();
  for (const Term& term : sum.terms()) {
    if (!IsVariable(term.atom)) return std::nullopt;
    const int coordinate = CoordinateOf(term.atom);
    int& place = term.coefficient == 1 ? difference.from : difference.to;
    if ((term.coefficient != 1 && term.coefficient != -1) || place != 0 ||
        coordinate > static_cast<int>(variables_.size())) {
      return std::nullopt;
    }
    place = coordinate;
  }
  return difference;
}

void Facts::Narrow(int variable, const Progression& values) {
  variables_[variable] = variables_[variable].Intersect(values);
}

// c*x + r = y leaves x in (y - r) / c.
void Facts::NarrowBySums() {
  for (const auto& [sum, values] : sums_) {
    const auto values_of = [&](AffineExpr atom) {
      const int i = IsVariable(atom) ? CoordinateOf(atom) - 1 : -1;
      return i >= 0 ? variables_[i].interval : Interval::All();
    };
    for (const Term& of : sum.terms()) {
      if (!IsVariable(of.atom)) continue;
      Interval rest = values.interval.Sub(sum.constant());
      for (const Term& term : sum.terms()) {
        if (term.atom != of.atom) rest = rest.Sub(values_of(term.atom).Mul(term.coefficient));
      }
      Narrow(CoordinateOf(of.atom) - 1, {rest.PreimageOfMul(of.coefficient), Congruence::All()});
    }
  }
}

void Facts::CloseDifferences() {
  if (variables_.size() >= kMaxCoordinates || is_empty_) return;
  DifferenceBounds bounds(1 + static_cast<int>(variables_.size()));
  bool has_differences = false;
  for (const auto& [sum, values] : sums_) {
    const std::optional<Difference> difference = AsDifference(sum);
    if (!difference || values.interval.IsAll()) continue;
    has_differences |= bounds.Restrict({difference->from, difference->constant}, {difference->to},
                                       values.interval);
  }
  if (!has_differences) return;
  for (size_t i = 0; i < variables_.size(); ++i) {
    bounds.Restrict({static_cast<int>(i) + 1}, {}, variables_[i].interval);
  }
  is_empty_ = !bounds.Close();
  if (is_empty_) return;
  for (size_t i = 0; i < variables_.size(); ++i) {
    Narrow(static_cast<int>(i), {bounds.Values(static_cast<int>(i) + 1, 0), Congruence::All()});
  }
  differences_ = std::move(bounds);
}

LinearSum Facts::Simplify(const LinearSum& sum) {
  // A sum of variables of several values is its own normal form.
  const bool is_simple = llvm::all_of(sum.terms(), [&](const Term& term) {
    const Progression* values = OfVariable(term.atom);
    return values != nullptr && !values->interval.IsPoint();
  });
  if (sum.valid() && is_simple) return sum;
  return simplifier().Written(simplifier().Evaluate(sum));
}

Progression Facts::ValuesOf(const LinearSum& sum) {
  if (!sum.valid()) return {};
  if (sum.constant() == 0 && sum.terms().size() == 1 && sum.terms()[0].coefficient == 1) {
    const Progression* known = OfVariable(sum.terms()[0].atom);
    if (known != nullptr) return *known;
  }
  Progression values = InBox(sum);
  const LinearSum simple = Simplify(sum);
  if (!simple.valid() || simple.terms().empty()) return values;
  const auto add = [&](const Progression& also) { values = values.Intersect(also); };
  if (differences_) {
    if (const std::optional<Difference> found = AsDifference(simple)) {
      add({differences_->Values(found->from, found->to).Add(found->constant), Congruence::All()});
    }
  }
  for (const Known& known : sums_) {
    if (known.sum.terms().empty()) continue;
    const Term& first = known.sum.terms()[0];
    const int64_t coefficient = simple.CoefficientOf(first.atom);
    if (coefficient == 0 || coefficient == kInt64Min || coefficient % first.coefficient != 0) {
      continue;
    }
    const int64_t times = coefficient / first.coefficient;
    LinearSum rest = simple;
    rest.SubtractScaled(known.sum, times);
    if (rest.valid()) add(InBox(rest).Add(known.values.Mul(times)));
  }
  return values;
}

Progression Facts::InBox(const LinearSum& sum) {
  Progression values = Progression::Point(sum.constant());
  for (const Term& term : sum.terms()) {
    const Progression* of_variable = OfVariable(term.atom);
    if (of_variable == nullptr) {
      const QuasiAffineSum evaluated = simplifier().Evaluate(sum);
      return Progression::Of(simplifier().RangeOf(evaluated), simplifier().ResiduesOf(evaluated));
    }
    values = values.Add(of_variable->Mul(term.coefficient));
  }
  return values;
}

const Progression* Facts::OfVariable(AffineExpr atom) const {
  if (!IsVariable(atom)) return nullptr;
  const size_t i = CoordinateOf(atom) - 1;
  return i < variables_.size() ? &variables_[i] : nullptr;
}

std::optional<int64_t> Facts::ValueOfVariable(AffineExpr variable) const {
  const Progression* known = OfVariable(variable);
  if (known == nullptr || !known->interval.IsPoint()) return std::nullopt;
  return known->interval.lower();
}

bool Facts::DifferSomewhere(AffineExpr a, AffineExpr b) const {
  if (corner_.empty()) return false;
  const llvm::ArrayRef<int64_t> corner(corner_);
  const auto of_a = ValueAt(a, corner.take_front(num_dims_), corner.drop_front(num_dims_));
  const auto of_b = ValueAt(b, corner.take_front(num_dims_), corner.drop_front(num_dims_));
  return of_a && of_b && *of_a != *of_b;
}

bool Facts::IsZero(const LinearSum& sum) {
  const bool may_cancel = !sums_.empty() || llvm::any_of(sum.terms(), [&](const Term& term) {
    return !IsVariable(term.atom) || ValueOfVariable(term.atom);
  });
  // Variables that are independent do not cancel.
  if (!may_cancel && !sum.terms().empty()) return false;
  const LinearSum simple = Simplify(sum);
  if (simple.valid() && simple.terms().empty()) return simple.constant() == 0;
  // Only sums say more than the normal form, whose range would take long.
  const bool may_say_more = llvm::any_of(sums_, [&](const Known& known) {
    return llvm::any_of(known.sum.terms(),
                        [&](const Term& term) { return simple.CoefficientOf(term.atom) != 0; });
  });
  if (!may_say_more) return false;
  return ValuesOf(sum).interval == Interval::Point(0);
}

bool Facts::AreIn(AffineExpr expr, const Progression& values) {
  if (!expr) return false;
  return values == Progression{} || values.Contains(ValuesOf(expr));
}

}  // namespace xla_indexing::internal
