// A sum of integer multiples of distinct atoms and a constant, c + sum_i k_i * a_i with int64 c and
// non-zero int64 k_i, over any kind of atom that is copied and compared cheaply.
//
// Overflow of a coefficient or of the constant makes a sum invalid; it stays so.
#ifndef XLA_INDEXING_AFFINE_EXPR_SUM_H_
#define XLA_INDEXING_AFFINE_EXPR_SUM_H_

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/expr/short_list.h"
#include "xla_indexing/base/compare.h"

namespace xla_indexing::internal {

template <typename Atom>
class Sum {
 public:
  struct Term {
    Atom atom;
    int64_t coefficient;
  };

  Sum() = default;
  explicit Sum(int64_t constant) : constant_(constant) {}

  // Terms in no particular order; atoms are distinct and coefficients non-zero.
  llvm::ArrayRef<Term> terms() const { return terms_; }
  int64_t constant() const { return constant_; }
  bool valid() const { return valid_; }
  bool IsConstant() const { return terms_.empty(); }
  // The coefficient of an atom, 0 where it does not occur.
  int64_t CoefficientOf(Atom atom) const {
    for (const Term& term : terms_) {
      if (term.atom == atom) return term.coefficient;
    }
    return 0;
  }

  void AddConstant(int64_t value) {
    if (__builtin_add_overflow(constant_, value, &constant_)) valid_ = false;
  }

  // The least int64 has no negation, so what is taken away is not added negated.
  void SubtractConstant(int64_t value) {
    if (__builtin_sub_overflow(constant_, value, &constant_)) valid_ = false;
  }

  void RemoveConstant() { constant_ = 0; }

  void AddTerm(Atom atom, int64_t coefficient) {
    if (coefficient == 0) return;
    for (Term& term : terms_) {
      if (term.atom != atom) continue;
      if (__builtin_add_overflow(term.coefficient, coefficient, &term.coefficient)) valid_ = false;
      if (term.coefficient == 0) terms_.erase(&term);
      return;
    }
    terms_.push_back({atom, coefficient});
  }

  // Adds a term for an atom that does not occur yet, with a coefficient other than 0.
  void AddNewTerm(Atom atom, int64_t coefficient) { terms_.push_back({atom, coefficient}); }

  void RemoveTerm(Atom atom) {
    for (Term& term : terms_) {
      if (term.atom == atom) return terms_.erase(&term);
    }
  }

  // Replaces the coefficient of every term by replacement(term), and drops terms where that is 0.
  // Returns whether any coefficient changed.
  template <typename Replacement>
  bool ReplaceCoefficients(Replacement replacement) {
    bool changed = false;
    size_t kept = 0;
    for (const Term& term : terms_) {
      const int64_t coefficient = replacement(term);
      changed = changed || coefficient != term.coefficient;
      if (coefficient != 0) terms_[kept++] = {term.atom, coefficient};
    }
    terms_.truncate(kept);
    return changed;
  }

  // this += factor * other.
  void AddScaled(const Sum& other, int64_t factor) {
    valid_ = valid_ && other.valid_;
    int64_t product;
    if (__builtin_mul_overflow(other.constant_, factor, &product)) {
      valid_ = false;
      return;
    }
    AddConstant(product);
    for (const Term& term : other.terms_) {
      if (__builtin_mul_overflow(term.coefficient, factor, &product)) {
        valid_ = false;
        return;
      }
      AddTerm(term.atom, product);
    }
  }

  // this -= factor * other.
  void SubtractScaled(const Sum& other, int64_t factor) {
    int64_t negated;
    if (__builtin_sub_overflow(0, factor, &negated)) {
      valid_ = false;
      return;
    }
    AddScaled(other, negated);
  }

  void Scale(int64_t factor) {
    if (factor == 0) {
      terms_.clear();
      constant_ = 0;
      valid_ = true;
      return;
    }
    if (__builtin_mul_overflow(constant_, factor, &constant_)) valid_ = false;
    for (Term& term : terms_) {
      if (__builtin_mul_overflow(term.coefficient, factor, &term.coefficient)) valid_ = false;
    }
  }

  // The gcd of the coefficients; 0 for a constant.
  int64_t CoefficientGcd() const {
    uint64_t gcd = 0;
    for (const Term& term : terms_) {
      const uint64_t magnitude = term.coefficient < 0 ? -static_cast<uint64_t>(term.coefficient)
                                                      : static_cast<uint64_t>(term.coefficient);
      gcd = std::gcd(gcd, magnitude);
      if (gcd == 1) break;
    }
    // Only all coefficients int64 min give 2^63; half of it divides them as well.
    if (gcd > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) gcd /= 2;
    return static_cast<int64_t>(gcd);
  }

  // Divides terms and constant by `divisor`, which must divide all of them.
  void DivideExactly(int64_t divisor) {
    assert(divisor != 0);
    constant_ /= divisor;
    for (Term& term : terms_) term.coefficient /= divisor;
  }

  // Puts the terms into the order of a comparison of atoms.
  template <typename Less>
  void SortBy(Less less) {
    constexpr size_t kMaxInsertion = 16;
    if (terms_.size() > kMaxInsertion) {
      llvm::stable_sort(terms_, [&](const Term& a, const Term& b) { return less(a.atom, b.atom); });
      return;
    }
    // Insertion sort is used because the terms are few, and nearly always in order already.
    for (size_t i = 1; i < terms_.size(); ++i) {
      const Term term = terms_[i];
      size_t j = i;
      for (; j > 0 && less(term.atom, terms_[j - 1].atom); --j) terms_[j] = terms_[j - 1];
      terms_[j] = term;
    }
  }

  // Equal as sums; the order of terms does not count.
  friend bool operator==(const Sum& a, const Sum& b) {
    if (a.constant_ != b.constant_ || a.valid_ != b.valid_ || a.terms_.size() != b.terms_.size()) {
      return false;
    }
    return llvm::all_of(
        a.terms_, [&](const Term& term) { return b.CoefficientOf(term.atom) == term.coefficient; });
  }

 protected:
  ShortList<Term, 4> terms_;
  int64_t constant_ = 0;
  bool valid_ = true;
};

// Compares sums whose terms are sorted, with a comparison of their atoms: summand by summand from
// the first one, where a sum that ends earlier comes first, and then the constants.
template <typename AtomA, typename AtomB, typename CompareAtoms>
int CompareSums(const Sum<AtomA>& a, const Sum<AtomB>& b, CompareAtoms compare_atoms) {
  for (auto [term_a, term_b] : llvm::zip(a.terms(), b.terms())) {
    if (int c = compare_atoms(term_a.atom, term_b.atom)) return c;
    if (int c = CompareValues(term_a.coefficient, term_b.coefficient)) return c;
  }
  if (int c = CompareValues(a.terms().size(), b.terms().size())) return c;
  return CompareValues(a.constant(), b.constant());
}

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_EXPR_SUM_H_
