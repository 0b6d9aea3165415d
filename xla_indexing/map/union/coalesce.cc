#include "xla_indexing/map/union/coalesce.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/expr/expr_util.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

namespace {

// The most atoms of a piece that a hull may make larger.
constexpr size_t kMaxCut = 4;

// The range variables of a as expressions of the variables of b.
class Choice {
 public:
  Choice(const Piece& a, const Piece& b, Facts* facts)
      : a_(a), b_(b), facts_(*facts), first_(b.num_symbols), chosen_(first_ + a.num_ranges) {
    // The ranges of a are numbered behind the symbols of b.
    for (int i = 0; i < a.num_symbols; ++i) {
      renumbered_.push_back(mlir::getAffineSymbolExpr(
          i < a.num_ranges ? first_ + i : i - a.num_ranges + b.num_ranges, a.context));
    }
  }

  // Whether there is a choice by which the results are equal. A range in no result is that of b with
  // its number.
  bool Find() {
    if (a_.num_ranges == b_.num_ranges && a_.results == b_.results) {
      for (int i = 0; i < a_.num_ranges; ++i) {
        chosen_[first_ + i] = mlir::getAffineSymbolExpr(i, a_.context);
      }
      return true;
    }
    llvm::SmallVector<std::pair<AffineExpr, AffineExpr>, 4> equations;
    for (const auto [x, y] : llvm::zip_equal(a_.results, b_.results)) equations.emplace_back(x, y);
    // One with several ranges that are not chosen yet waits until others are.
    for (size_t open = equations.size(); open > 0;) {
      llvm::SmallVector<std::pair<AffineExpr, AffineExpr>, 4> waiting;
      for (const auto& [x, y] : equations) {
        const std::optional<bool> is_equal = MakeEqual(x, y);
        if (is_equal == false) return false;
        if (!is_equal) waiting.emplace_back(x, y);
      }
      equations = std::move(waiting);
      if (equations.size() == open) return false;
      open = equations.size();
    }
    for (int i = 0; i < a_.num_ranges; ++i) {
      if (chosen_[first_ + i]) continue;
      if (i >= b_.num_ranges) return false;
      chosen_[first_ + i] = mlir::getAffineSymbolExpr(i, a_.context);
    }
    return true;
  }

  // An expression of a for what is chosen; null if a number does not fit.
  AffineExpr Of(AffineExpr expr) const {
    return Substitute(Substitute(expr, {}, renumbered_), {}, chosen_);
  }

  // Whether each range of a is one of b, plus a number.
  bool IsOfRanges() const {
    return llvm::all_of(llvm::ArrayRef(chosen_).drop_front(first_), [&](AffineExpr expr) {
      const LinearSum sum = LinearSum::FromExpr(expr);
      if (!sum.valid() || sum.terms().size() != 1) return false;
      const auto range = llvm::dyn_cast<mlir::AffineSymbolExpr>(sum.terms()[0].atom);
      return range && static_cast<int>(range.getPosition()) < b_.num_ranges;
    });
  }

 private:
  bool IsOpen(AffineExpr atom) const {
    const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(atom);
    return symbol && static_cast<int>(symbol.getPosition()) >= first_;
  }
  bool HasOpen(AffineExpr expr) const {
    llvm::BitVector used(chosen_.size());
    MarkSymbols(expr, &used);
    return used.find_next(first_ - 1) >= 0;
  }

  // What is to be added to `of_a`, for what is chosen, to get `of_b`; with variables of one value as
  // that.
  LinearSum Missing(AffineExpr of_a, AffineExpr of_b) const {
    LinearSum difference = LinearSum::FromExpr(of_b);
    const AffineExpr chosen = Of(of_a);
    difference.SubtractScaled(chosen ? LinearSum::FromExpr(chosen) : LinearSum::Invalid(), 1);
    if (!difference.valid()) return difference;
    LinearSum missing;
    missing.AddConstant(difference.constant());
    for (const Term& term : difference.terms()) {
      const std::optional<int64_t> value =
          IsVariable(term.atom) ? facts_.ValueOfVariable(term.atom) : std::nullopt;
      if (!value) {
        missing.AddTerm(term.atom, term.coefficient);
        continue;
      }
      LinearSum constant;
      constant.AddConstant(*value);
      missing.AddScaled(constant, term.coefficient);
    }
    return missing;
  }

  // Whether the result of a is that of b, perhaps by choosing one more range, whose coefficient
  // divides all others; nullopt if that depends on ranges that are not chosen yet.
  std::optional<bool> MakeEqual(AffineExpr of_a, AffineExpr of_b) {
    LinearSum missing = Missing(of_a, of_b);
    if (!missing.valid()) return false;
    if (missing.terms().empty()) return missing.constant() == 0;
    if (!llvm::all_of(missing.terms(), [](const Term& each) { return IsVariable(each.atom); })) {
      // An open range has no value at a point, so that nothing is seen of it.
      if (facts_.DifferSomewhere(Of(of_a), of_b)) return false;
      missing = facts_.Simplify(missing);
      if (!missing.valid()) return false;
    }
    bool has_open = false;
    for (const Term& term : missing.terms()) {
      if (!IsOpen(term.atom)) {
        has_open = has_open || HasOpen(term.atom);
        continue;
      }
      has_open = true;
      // missing = coefficient * s + rest is 0 for s = -rest / coefficient.
      const AffineExpr quotient = MinusRestDividedBy(missing, term);
      if (!quotient) continue;
      if (HasOpen(quotient)) return std::nullopt;
      chosen_[llvm::cast<mlir::AffineSymbolExpr>(term.atom).getPosition()] = quotient;
      return true;
    }
    if (has_open) return std::nullopt;
    return facts_.IsZero(missing);
  }

  // What the other terms add up to, divided by the negated coefficient of `by`; null if that does
  // not divide them.
  AffineExpr MinusRestDividedBy(const LinearSum& sum, const Term& by) const {
    const auto divided = [&](int64_t number) -> std::optional<int64_t> {
      // Negated first, so that the quotient of the least number fits.
      const std::optional<int64_t> negated = CheckedSub(0, number);
      if (!negated || by.coefficient == -1) return negated ? std::optional(number) : std::nullopt;
      if (*negated % by.coefficient != 0) return std::nullopt;
      return *negated / by.coefficient;
    };
    const std::optional<int64_t> constant = divided(sum.constant());
    if (!constant) return {};
    AffineExpr quotient = Constant(*constant, a_.context);
    for (const Term& term : sum.terms()) {
      if (term.atom == by.atom) continue;
      const std::optional<int64_t> coefficient = divided(term.coefficient);
      if (!coefficient) return {};
      quotient = Add(quotient, Scale(term.atom, *coefficient));
    }
    return quotient;
  }

  const Piece& a_;
  const Piece& b_;
  Facts& facts_;
  const int first_;
  llvm::SmallVector<AffineExpr, 8> renumbered_;
  llvm::SmallVector<AffineExpr, 8> chosen_;
};

// Whether `piece` is one of b with these values of an atom.
bool IsWithin(const Piece& b, Piece piece, AffineExpr atom, const Progression& values) {
  if (!QuestionBudget::Spend()) return false;
  piece.Restrict(atom, values);
  Facts facts(piece);
  return facts.IsEmpty() || Contains(b, piece, &facts);
}

// Whether b has all of `hull`, which is `a` but for the cut atoms, that is not in a; `first` is the
// first of these whose outside is looked at.
bool HasWhatHullAdds(const Piece& hull, const Piece& a, const Piece& b, llvm::ArrayRef<size_t> cut,
                     size_t first) {
  Piece left = hull;
  for (size_t n = 0; n < cut.size(); ++n) {
    const size_t i = n == 0 ? first : cut[n] == first ? cut[0] : cut[n];
    const auto outside = Outside(hull.atoms[i].values, a.atoms[i].values);
    if (!outside) return false;
    for (const Progression& values : *outside) {
      if (!IsWithin(b, left, hull.atoms[i].expr, values)) return false;
    }
    left.atoms[i].values = a.atoms[i].values;
  }
  return true;
}

// `a`, in which a dimension has one value, with results that are those of `b` where it has the next
// one.
std::optional<Piece> Tilted(const Piece& a, const Piece& b) {
  if (a.num_ranges != b.num_ranges) return std::nullopt;
  for (int i = 0; i < a.num_dims; ++i) {
    const Interval& of_a = a.atoms[i].values.interval;
    const Interval& of_b = b.atoms[i].values.interval;
    if (!of_a.IsPoint() || (of_b != of_a.Add(1) && of_b != of_a.Sub(1))) continue;
    const int64_t sign = of_b == of_a.Add(1) ? 1 : -1;
    const AffineExpr from = Sub(a.Variable(i), Constant(of_a.lower(), a.context));
    Piece tilted = a;
    for (const auto& [result, next] : llvm::zip_equal(tilted.results, b.results)) {
      const auto step = ConstantIn(Sub(next, result));
      result = step ? Add(result, Scale(Scale(from, sign), *step)) : AffineExpr();
    }
    if (!llvm::is_contained(tilted.results, AffineExpr())) return tilted;
    return std::nullopt;
  }
  return std::nullopt;
}

// Whether these are two values that are no neighbours. They are a progression, but d0 in {0, 199} is no
// shorter to read, and less to work with, as d0 mod 199 in [0, 0].
bool AreApart(const Progression& a, const Progression& b) {
  return a.interval.IsPoint() && b.interval.IsPoint() && !a.interval.TouchesOrOverlaps(b.interval);
}

std::optional<Piece> CoalesceWithHull(const Piece& a, const Piece& b, const Choice& choice,
                                      Facts* facts) {
  Piece hull = a;
  llvm::SmallVector<size_t, kMaxCut> cut;
  for (size_t i = 0; i < a.atoms.size(); ++i) {
    const AffineExpr chosen = choice.Of(a.atoms[i].expr);
    if (!chosen) return std::nullopt;
    const Progression values = facts->ValuesOf(chosen);
    if (a.atoms[i].values.Contains(values)) continue;
    if (cut.size() == kMaxCut || AreApart(a.atoms[i].values, values)) return std::nullopt;
    hull.atoms[i].values = a.atoms[i].values.Hull(values);
    cut.push_back(i);
  }
  if (cut.empty()) return hull;
  for (const size_t first : cut) {
    if (HasWhatHullAdds(hull, a, b, cut, first)) return hull;
  }
  return std::nullopt;
}

}  // namespace

bool Contains(const Piece& a, const Piece& b, Facts* facts) {
  Choice choice(a, b, facts);
  return choice.Find() && llvm::all_of(a.atoms, [&](const PieceAtom& atom) {
           return facts->AreIn(choice.Of(atom.expr), atom.values);
         });
}

std::optional<Piece> Coalesce(const Piece& a, const Piece& b, Witness witness, Facts* facts) {
  if (witness == Witness::kRanges && a.num_ranges != b.num_ranges) return std::nullopt;
  Choice choice(a, b, facts);
  if (choice.Find()) {
    if (witness == Witness::kRanges && !choice.IsOfRanges()) return std::nullopt;
    return CoalesceWithHull(a, b, choice, facts);
  }
  const std::optional<Piece> tilted = witness == Witness::kAny ? Tilted(a, b) : std::nullopt;
  if (!tilted) return std::nullopt;
  Choice of_tilted(*tilted, b, facts);
  if (!of_tilted.Find()) return std::nullopt;
  return CoalesceWithHull(*tilted, b, of_tilted, facts);
}

}  // namespace xla_indexing::internal
