#include "xla_indexing/affine/internal/quasi_affine_sum.h"

#include <cstddef>
#include <cstdint>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/internal/linear_sum.h"
#include "xla_indexing/base/internal/compare.h"
#include "xla_indexing/base/internal/mix_bits.h"

namespace xla_indexing::internal {
namespace {

// The order of summands of an atom of an expression and one that may not have its expression yet.
int CompareWithDigitAtom(mlir::AffineExpr a, const DigitAtom* b) {
  if (int c = CompareValues(SummandClassOf(a), b->summand_class)) return c;
  if (b->expr) return a == b->expr ? 0 : (SummandLess(a, b->expr) ? -1 : 1);
  const auto division = llvm::cast<mlir::AffineBinaryOpExpr>(a);
  const LinearSum dividend = LinearSum::FromExpr(division.getLHS());
  for (auto [term_a, term_b] : llvm::zip(dividend.terms(), b->written_dividend.terms())) {
    if (int c = CompareWithDigitAtom(term_a.atom, term_b.atom)) return c;
    if (int c = CompareValues(term_a.coefficient, term_b.coefficient)) return c;
  }
  if (int c = CompareValues(dividend.terms().size(), b->written_dividend.terms().size())) return c;
  if (int c = CompareValues(dividend.constant(), b->written_dividend.constant())) return c;
  const auto divisor = llvm::cast<mlir::AffineConstantExpr>(division.getRHS());
  return CompareValues(divisor.getValue(), b->divisor);
}

// The order of summands (affine/internal/linear_sum.h): summand by summand from the first one; a
// sum that ends earlier comes first. The recursion is as deep as divisions nest.
int CompareDigitAtoms(const DigitAtom* a, const DigitAtom* b) {
  if (a == b) return 0;
  if (int c = CompareValues(a->summand_class, b->summand_class)) return c;
  if (a->kind == DigitAtom::Kind::kVariable) return CompareValues(a->position, b->position);
  if (a->kind == DigitAtom::Kind::kOpaque) return CompareWithDigitAtom(a->expr, b);
  if (b->kind == DigitAtom::Kind::kOpaque) return -CompareWithDigitAtom(b->expr, a);
  for (auto [term_a, term_b] :
       llvm::zip(a->written_dividend.terms(), b->written_dividend.terms())) {
    if (int c = CompareDigitAtoms(term_a.atom, term_b.atom)) return c;
    if (int c = CompareValues(term_a.coefficient, term_b.coefficient)) return c;
  }
  if (int c = CompareValues(a->written_dividend.terms().size(), b->written_dividend.terms().size()))
    return c;
  if (int c = CompareValues(a->written_dividend.constant(), b->written_dividend.constant()))
    return c;
  if (int c = CompareValues(a->divisor, b->divisor)) return c;
  return CompareValues(a->kind, b->kind);
}

}  // namespace

std::optional<ValuesAtEnds> ValuesAtEndsOf(const QuasiAffineSum& sum, int64_t left_out) {
  ValuesAtEnds values{sum.constant(), sum.constant()};
  for (const DigitTerm& term : sum.terms()) {
    if (left_out != 0 && term.coefficient % left_out == 0) continue;
    if (!term.atom->at_ends) return std::nullopt;
    int64_t least = 0;
    int64_t greatest = 0;
    if (__builtin_mul_overflow(term.atom->at_ends->at_least, term.coefficient, &least) ||
        __builtin_mul_overflow(term.atom->at_ends->at_greatest, term.coefficient, &greatest) ||
        __builtin_add_overflow(values.at_least, least, &values.at_least) ||
        __builtin_add_overflow(values.at_greatest, greatest, &values.at_greatest)) {
      return std::nullopt;
    }
  }
  return values;
}

bool AtomLess(const DigitAtom* a, const DigitAtom* b) {
  if (a->summand_class != b->summand_class) return a->summand_class < b->summand_class;
  return CompareDigitAtoms(a, b) < 0;
}

void QuasiAffineSum::Sort() {
  constexpr size_t kMaxInsertion = 16;
  if (terms_.size() > kMaxInsertion) {
    llvm::stable_sort(terms_,
                      [](const Term& a, const Term& b) { return AtomLess(a.atom, b.atom); });
    return;
  }
  // Insertion sort: the terms are few, and nearly always in order already.
  for (size_t i = 1; i < terms_.size(); ++i) {
    const Term term = terms_[i];
    size_t j = i;
    for (; j > 0 && AtomLess(term.atom, terms_[j - 1].atom); --j) terms_[j] = terms_[j - 1];
    terms_[j] = term;
  }
}

bool IsOfTwoValues(const QuasiAffineSum& sum) {
  if (sum.terms().size() != 1) return false;
  const Interval& range = sum.terms()[0].atom->range;
  return range.has_lower() && range.has_upper() &&
         static_cast<uint64_t>(range.upper()) - static_cast<uint64_t>(range.lower()) == 1;
}

bool IsOfDistinctNumbers(const QuasiAffineSum& sum) {
  llvm::SmallVector<const DigitAtom*, 8> variables;
  const auto add = [&](const DigitAtom* variable) {
    if (llvm::is_contained(variables, variable)) return false;
    variables.push_back(variable);
    return true;
  };
  int64_t constant = sum.constant();
  const auto has_floor_form = [&](const DigitTerm& term) {
    int64_t product = 0;
    for (const DigitTerm& part : term.atom->mod_free_form.terms()) {
      if (__builtin_mul_overflow(part.coefficient, term.coefficient, &product)) return false;
    }
    return !__builtin_mul_overflow(term.atom->mod_free_form.constant(), term.coefficient,
                                   &product) &&
           !__builtin_add_overflow(constant, product, &constant);
  };
  return llvm::all_of(sum.terms(), [&](const DigitTerm& term) {
    if (term.atom->kind == DigitAtom::Kind::kVariable) return add(term.atom);
    return term.atom->number != nullptr && (!term.atom->IsMod() || has_floor_form(term)) &&
           llvm::all_of(term.atom->number->terms(),
                        [&](const DigitTerm& part) { return add(part.atom); });
  });
}

size_t QuasiAffineSum::Hash() const {
  uint64_t hash = MixBits(static_cast<uint64_t>(constant_));
  for (const Term& term : terms_) {
    hash += MixBits(reinterpret_cast<uintptr_t>(term.atom) +
                    MixBits(static_cast<uint64_t>(term.coefficient)));
  }
  return hash;
}

}  // namespace xla_indexing::internal
