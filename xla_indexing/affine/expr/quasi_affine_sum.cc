#include "xla_indexing/affine/expr/quasi_affine_sum.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/compare.h"
#include "xla_indexing/base/mix_bits.h"

namespace xla_indexing::internal {
namespace {

// The order of summands of an atom of an expression and one that may not have its expression yet.
int CompareWithAtom(mlir::AffineExpr a, const Atom* b) {
  if (int c = CompareValues(SummandClassOf(a), b->written.summand_class)) return c;
  if (b->written.expr) {
    return a == b->written.expr ? 0 : (SummandLess(a, b->written.expr) ? -1 : 1);
  }
  const auto division = llvm::cast<mlir::AffineBinaryOpExpr>(a);
  const LinearSum dividend = LinearSum::FromExpr(division.getLHS());
  if (int c = CompareSums(dividend, b->written.dividend, CompareWithAtom)) return c;
  const auto divisor = llvm::cast<mlir::AffineConstantExpr>(division.getRHS());
  return CompareValues(divisor.getValue(), b->divisor);
}

// The order of summands (affine/expr/linear_sum.h). The recursion is as deep as divisions nest.
int CompareInOrder(const Atom* a, const Atom* b) {
  if (a == b) return 0;
  if (int c = CompareValues(a->written.summand_class, b->written.summand_class)) return c;
  if (a->kind == Atom::Kind::kVariable) return CompareValues(a->position, b->position);
  if (a->kind == Atom::Kind::kOpaque) return CompareWithAtom(a->written.expr, b);
  if (b->kind == Atom::Kind::kOpaque) return -CompareWithAtom(b->written.expr, a);
  if (int c = CompareSums(a->written.dividend, b->written.dividend, CompareInOrder)) return c;
  if (int c = CompareValues(a->divisor, b->divisor)) return c;
  return CompareValues(a->kind, b->kind);
}

}  // namespace

bool AtomLess(const Atom* a, const Atom* b) {
  if (a->written.summand_class != b->written.summand_class) {
    return a->written.summand_class < b->written.summand_class;
  }
  return CompareInOrder(a, b) < 0;
}

void QuasiAffineSum::Sort() { SortBy(AtomLess); }

size_t QuasiAffineSum::Hash() const {
  uint64_t hash = MixBits(static_cast<uint64_t>(constant_));
  for (const Term& term : terms_) {
    hash += MixBits(reinterpret_cast<uintptr_t>(term.atom) +
                    MixBits(static_cast<uint64_t>(term.coefficient)));
  }
  return hash;
}

// NOLINTBEGIN(bugprone-return-const-ref-from-parameter)
const QuasiAffineSum& ModFreeForm(const QuasiAffineSum& sum, QuasiAffineSum& storage) {
  if (!sum.valid() || !HasMod(sum)) return sum;
  storage = QuasiAffineSum(sum.constant());
  for (const AtomTerm& term : sum.terms()) {
    if (term.atom->IsMod()) {
      storage.AddScaled(term.atom->mod_free_form, term.coefficient);
    } else {
      storage.AddTerm(term.atom, term.coefficient);
    }
  }
  return storage;
}
// NOLINTEND(bugprone-return-const-ref-from-parameter)

QuasiAffineSum ModFreeForm(const QuasiAffineSum& sum) {
  QuasiAffineSum storage;
  return ModFreeForm(sum, storage);
}

namespace {

// The sum of the ranges where all numbers are finite and fit; none otherwise.
std::optional<Interval> SumOfFiniteRanges(const QuasiAffineSum& sum) {
  int64_t lower = sum.constant();
  int64_t upper = sum.constant();
  for (const AtomTerm& term : sum.terms()) {
    const Interval& range = term.atom->range;
    if (!range.has_lower() || !range.has_upper()) return std::nullopt;
    const bool is_up = term.coefficient > 0;
    int64_t least = 0;
    int64_t greatest = 0;
    if (__builtin_mul_overflow(is_up ? range.lower() : range.upper(), term.coefficient, &least) ||
        __builtin_mul_overflow(is_up ? range.upper() : range.lower(), term.coefficient,
                               &greatest) ||
        __builtin_add_overflow(lower, least, &lower) ||
        __builtin_add_overflow(upper, greatest, &upper)) {
      return std::nullopt;
    }
  }
  return Interval::Closed(lower, upper);
}

}  // namespace

WideInterval WideSumOfRanges(const QuasiAffineSum& sum) {
  WideInterval result = WideInterval::Point(sum.constant());
  for (const AtomTerm& term : sum.terms()) {
    result = result.Add(WideInterval(term.atom->range).Mul(term.coefficient));
  }
  return result;
}

Interval SumOfRanges(const QuasiAffineSum& sum) {
  if (const std::optional<Interval> finite = SumOfFiniteRanges(sum)) return *finite;
  return WideSumOfRanges(sum).Hull();
}

std::optional<CornerValues> CornerValuesOf(const QuasiAffineSum& sum, int64_t left_out) {
  CornerValues values{sum.constant(), sum.constant()};
  for (const AtomTerm& term : sum.terms()) {
    if (left_out != 0 && term.coefficient % left_out == 0) continue;
    if (!term.atom->corners) return std::nullopt;
    int64_t least = 0;
    int64_t greatest = 0;
    if (__builtin_mul_overflow(term.atom->corners->at_least, term.coefficient, &least) ||
        __builtin_mul_overflow(term.atom->corners->at_greatest, term.coefficient, &greatest) ||
        __builtin_add_overflow(values.at_least, least, &values.at_least) ||
        __builtin_add_overflow(values.at_greatest, greatest, &values.at_greatest)) {
      return std::nullopt;
    }
  }
  return values;
}

// The mod-free forms X - a*floor(X/a) of X mod a and floor(X/a) - n*floor(X/(a*n)) of floor(X/a)
// mod n have no other way to be written than they themselves and the mod, which has as many
// divisions and fewer summands. Next to atoms of other variables nothing is added: every step
// (sum_forms.cc) needs a multiple of what is divided.
const QuasiAffineSum* NumberOfDigit(const Atom& atom) {
  if (atom.IsFloor()) return atom.is_irreducible ? &atom.dividend_mod_free_form : nullptr;
  const Atom* floor = atom.IsMod() ? LoneAtom(atom.quotient) : nullptr;
  if (floor == nullptr || !floor->IsFloor() || !floor->is_irreducible) return nullptr;
  if (atom.is_digit) return &floor->dividend_mod_free_form;
  const Atom* above = LoneAtom(atom.dividend);
  const bool is_digit_above = above != nullptr && above->IsFloor() && above->is_irreducible &&
                              floor->divisor % atom.divisor == 0 &&
                              floor->divisor / atom.divisor == above->divisor &&
                              floor->dividend_mod_free_form == above->dividend_mod_free_form;
  return is_digit_above ? &floor->dividend_mod_free_form : nullptr;
}

bool IsOfDistinctNumbers(const QuasiAffineSum& sum) {
  llvm::SmallVector<const Atom*, 8> variables;
  const auto add = [&](const Atom* variable) {
    if (llvm::is_contained(variables, variable)) return false;
    variables.push_back(variable);
    return true;
  };
  int64_t constant = sum.constant();
  const auto has_mod_free_form = [&](const AtomTerm& term) {
    int64_t product = 0;
    for (const AtomTerm& part : term.atom->mod_free_form.terms()) {
      if (__builtin_mul_overflow(part.coefficient, term.coefficient, &product)) return false;
    }
    return !__builtin_mul_overflow(term.atom->mod_free_form.constant(), term.coefficient,
                                   &product) &&
           !__builtin_add_overflow(constant, product, &constant);
  };
  return llvm::all_of(sum.terms(), [&](const AtomTerm& term) {
    if (term.atom->kind == Atom::Kind::kVariable) return add(term.atom);
    const QuasiAffineSum* number = NumberOfDigit(*term.atom);
    return number != nullptr && (!term.atom->IsMod() || has_mod_free_form(term)) &&
           llvm::all_of(number->terms(), [&](const AtomTerm& part) { return add(part.atom); });
  });
}

bool IsOfTwoValues(const QuasiAffineSum& sum) {
  if (sum.terms().size() != 1) return false;
  const Interval& range = sum.terms()[0].atom->range;
  return range.has_lower() && range.has_upper() &&
         static_cast<uint64_t>(range.upper()) - static_cast<uint64_t>(range.lower()) == 1;
}

}  // namespace xla_indexing::internal
