// The forms of a function of one sum L that have a division in a division (affine/normal_form/rules.h):
//
//   e*L + k*floor((K*F + E*L + f)/n) + c'
//   e*L + k*((K*F + E*L + f) mod n) + c'       F = floor((a*L + c)/m), a and m have no common divisor
//
// They are read off the values of phi. The period p of phi is a multiple of m. With integers psi(t) for
// which phi(t) = e*t + k*psi(t) + c'',
//
// a mod: psi(t + 1) - psi(t) is E (mod n) where F does not grow from t to t + 1, and E + K where it does.
//
// a floor: psi(t + p) = psi(t) + drift, and F grows by a*p/m in a period, so that E = n*drift/p - K*a/m.
// Let G(t) = F(t) - a*t/m and P(t) = psi(t) - drift*t/p, which are periodic. The floor is psi where
//
//   n*P(t) <= K*G(t) + f <= n*P(t) + n - 1     for t = 0, .., p - 1
//
// Any two of these say between which numbers K/n is, and for one K and n all of them what f may be.
//
// With M = (a*L + c) mod m, K*F is v*(a*L + c) - v*M where v*m = K; in a mod where v*m = K (mod n).
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/normal_form/rules.h"
#include "xla_indexing/affine/normal_form/values_in_turn.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

// n is at most this, and so is what k is divided by where it might be greater.
constexpr int64_t kMostOuterNumber = 16;
// For each F and k the least so many n are looked at.
constexpr int kMostDivisors = 2;
// So many forms are spelled.
constexpr size_t kMostNestedOfValues = 12;

struct NestedForm {
  bool inner_is_mod = false;  // M stands in the place of F
  bool is_mod = false;        // the outer division
  int64_t a = 0, c = 0, m = 0;
  int64_t factor = 0;    // K, or what multiplies M
  int64_t of_sum = 0;    // E
  int64_t constant = 0;  // f
  int64_t n = 0;
  int64_t k = 0;
  int64_t sum_beside = 0;       // e
  int64_t constant_beside = 0;  // c'
};

// The same form with other signs: F = -floor((m - 1 - a*L - c)/m) and so on.
NestedForm WithInnerNegated(NestedForm form) {
  form.constant += form.inner_is_mod ? form.factor * (form.m - 1) : -form.factor;
  form.a = -form.a;
  form.c = form.m - 1 - form.c;
  form.factor = -form.factor;
  return form;
}
NestedForm WithOuterNegated(NestedForm form) {
  if (form.is_mod) form.constant_beside += form.k * (form.n - 1);
  form.factor = -form.factor;
  form.of_sum = -form.of_sum;
  form.constant = form.n - 1 - form.constant;
  form.k = -form.k;
  return form;
}

// How many nodes a form has at least, beside those that all have, once multiples of divisors are where
// that is shortest.
class NodeCounter {
 public:
  explicit NodeCounter(const FunctionOfOneSum& function) {
    for (const AtomTerm& term : function.one_sum.terms()) {
      variables_.push_back({term.coefficient, function.beside.CoefficientOf(term.atom)});
    }
    constant_beside_ = function.beside.constant();
  }

  int64_t Count(const NestedForm& form) const {
    int64_t least = kInt64Max;
    for (const NestedForm& inner : {form, WithInnerNegated(form)}) {
      least = std::min({least, CountAsItIs(inner), CountAsItIs(WithOuterNegated(inner))});
    }
    return least;
  }

 private:
  // A variable of L, and what multiplies it in L and in Z.
  struct Variable {
    int64_t in_sum;
    int64_t beside;
  };

  static int64_t OfFactor(int64_t k) { return k == 1 ? 0 : 2; }
  static int64_t OfTerm(int64_t k) { return k == 0 ? 0 : k == 1 ? 2 : 4; }
  static int64_t OfConstant(int64_t k) { return k == 0 ? 0 : 2; }

  int64_t CountAsItIs(NestedForm form) const {
    if (form.is_mod) form.factor = FloorMod(form.factor, form.n);
    bool inner_has_one = false;
    bool outer_has_one = form.factor == 1;
    int64_t nodes = CountColumn(form, form.c, form.constant,
                                form.constant_beside + constant_beside_, {0}, &OfConstant);
    for (const auto& [in_sum, beside] : variables_) {
      const int64_t in_dividend = form.of_sum * in_sum;
      inner_has_one = inner_has_one || FloorMod(form.a * in_sum, form.m) == 1;
      outer_has_one = outer_has_one || FloorMod(in_dividend, form.n) == 1;
      nodes += CountColumn(form, form.a * in_sum, in_dividend, form.sum_beside * in_sum + beside,
                           {0, 1}, &OfTerm);
    }
    const bool factor_goes_in = form.inner_is_mod && form.factor > 0 && !inner_has_one;
    const bool k_goes_in = form.is_mod && form.k > 0 && !outer_has_one;
    return nodes + (factor_goes_in ? 0 : OfFactor(form.factor)) +
           (k_goes_in ? 0 : OfFactor(form.k));
  }

  // The numbers of a variable, or the constants: in the inner dividend, in the outer one, and in the sum.
  template <typename Nodes>
  static int64_t CountColumn(const NestedForm& form, int64_t in_inner, int64_t in_dividend,
                             int64_t in_sum, llvm::ArrayRef<int64_t> left_in_sum, Nodes nodes) {
    const int64_t inner = FloorMod(in_inner, form.m);
    if (!form.inner_is_mod) in_dividend += form.factor * FloorDiv(in_inner, form.m);
    int64_t least = kInt64Max;
    const auto take = [&](int64_t outer, int64_t beside) {
      least = std::min(least, nodes(inner) + nodes(outer) + nodes(beside));
      const int64_t step = form.is_mod ? Gcd(form.factor, form.n) : form.factor;
      if (form.inner_is_mod || inner == 0 || outer % step != 0) return;
      least = std::min(least, nodes(form.m + 1) + nodes(beside));
    };
    const int64_t rest = FloorMod(in_dividend, form.n);
    if (form.is_mod) {
      take(rest, in_sum);
      return least;
    }
    const int64_t beside = in_sum + form.k * FloorDiv(in_dividend, form.n);
    take(rest, beside);
    if (rest == 0) return least;
    take(rest - form.n, beside + form.k);
    for (const int64_t left : left_in_sum) {
      if ((beside - left) % form.k != 0) continue;
      take(rest + (beside - left) / form.k * form.n, left);
    }
    return least;
  }

  llvm::SmallVector<Variable, 4> variables_;
  int64_t constant_beside_ = 0;
};

// Searches for the nested forms of a function, and keeps the shortest of them.
class NestedSearch {
 public:
  explicit NestedSearch(const FunctionOfOneSum& function)
      : phi_(function.values), p_(phi_.Period()), counter_(function) {}

  void Search() {
    const bool may_be_mod = phi_.drift % p_ == 0;
    for (int64_t m = 2; m <= p_; ++m) {
      if (p_ % m != 0) continue;
      // Those with m - a are the same but for signs.
      for (int64_t a = 1; 2 * a <= m; ++a) {
        if (Gcd(a, m) != 1) continue;
        for (int64_t c = 0; c < (m == 2 ? 1 : m); ++c) {
          form_ = NestedForm();
          form_.a = a;
          form_.c = c;
          form_.m = m;
          inner_.clear();
          for (int64_t t = 0; t <= p_; ++t) inner_.push_back((a * t + c) / m);
          AddFloors();
          if (may_be_mod) AddMods();
        }
      }
    }
  }

  struct Found {
    int64_t nodes;
    NestedForm form;
  };
  llvm::ArrayRef<Found> found() const { return found_; }

 private:
  // --- Floors

  void AddFloors() {
    form_.is_mod = false;
    form_.sum_beside = phi_.At(1) - phi_.At(0);
    int64_t gcd = 0;
    for (int64_t t = 0; t < p_; ++t) {
      gcd = Gcd(gcd, phi_.At(t + 1) - phi_.At(t) - form_.sum_beside);
    }
    for (int64_t part = 1; part <= kMostOuterNumber; ++part) {
      if (gcd == 0 || gcd % part != 0) continue;
      const int64_t k = gcd / part;
      form_.k = k;
      psi_.clear();
      for (int64_t t = 0; t <= p_; ++t) {
        psi_.push_back((phi_.At(t) - phi_.At(0) - form_.sum_beside * t) / k);
      }
      AddFloorsOfPsi();
    }
  }

  // With G and P times p.
  void AddFloorsOfPsi() {
    const int64_t growth = inner_.back() - inner_.front();
    g_.clear();
    ps_.clear();
    for (int64_t t = 0; t < p_; ++t) {
      g_.push_back(p_ * inner_[t] - growth * t);
      ps_.push_back(p_ * psi_[t] - psi_.back() * t);
    }
    // K/n is above low/low_by and below high/high_by.
    int64_t low = 0, low_by = 0, high = 0, high_by = 0;
    for (int64_t s = 0; s < p_; ++s) {
      for (int64_t t = 0; t < p_; ++t) {
        const int64_t by = g_[s] - g_[t];
        if (by <= 0) continue;
        const int64_t apart = ps_[s] - ps_[t];
        if (high_by == 0 || (apart + p_) * high_by < high * by) {
          high = apart + p_;
          high_by = by;
        }
        if (low_by == 0 || (apart - p_) * low_by > low * by) {
          low = apart - p_;
          low_by = by;
        }
      }
    }
    if (low * high_by >= high * low_by) return;
    int divisors = 0;
    for (int64_t n = 2; n <= kMostOuterNumber && divisors < kMostDivisors; ++n) {
      bool is_found = false;
      form_.n = n;
      const int64_t least = FloorDiv(n * low, low_by) + 1;
      const int64_t greatest = CeilDiv(n * high, high_by) - 1;
      for (int64_t factor = least; factor <= greatest; ++factor) {
        const int64_t of_sum = n * psi_.back() - factor * growth;
        if (of_sum % p_ != 0) continue;
        form_.of_sum = of_sum / p_;
        is_found = TakeFloors(factor) || is_found;
      }
      divisors += is_found ? 1 : 0;
    }
  }

  bool TakeFloors(int64_t factor) {
    int64_t least = kInt64Min;
    int64_t greatest = kInt64Max;
    for (int64_t t = 0; t < p_; ++t) {
      const int64_t rest = form_.n * ps_[t] - factor * g_[t];
      least = std::max(least, CeilDiv(rest, p_));
      greatest = std::min(greatest, FloorDiv(rest + p_ * (form_.n - 1), p_));
    }
    if (least > greatest) return false;
    NestedForm form = form_;
    form.constant_beside = phi_.At(0);
    form.factor = factor;
    // Otherwise F leaves the dividend.
    if (factor % form.n != 0) TakeFloorsWithConstants(form, least, greatest);
    if (factor == 0 || factor % form.m != 0) return factor % form.n != 0;
    const int64_t v = factor / form.m;
    form.inner_is_mod = true;
    form.factor = -v;
    form.of_sum += v * form.a;
    TakeFloorsWithConstants(form, least + v * form.c, greatest + v * form.c);
    return true;
  }

  // Of the constants those count that go, with one sign or the other, and those at the ends.
  void TakeFloorsWithConstants(NestedForm form, int64_t least, int64_t greatest) {
    const int64_t n = form.n;
    llvm::SmallVector<int64_t, 4> constants = {least, greatest};
    for (const int64_t residue : {int64_t{0}, n - 1}) {
      const int64_t constant = greatest - FloorMod(greatest - residue, n);
      if (constant >= least) constants.push_back(constant);
    }
    llvm::sort(constants);
    constants.erase(std::unique(constants.begin(), constants.end()), constants.end());
    for (const int64_t constant : constants) {
      form.constant = constant;
      Take(form);
    }
  }

  // --- Mods

  void AddMods() {
    form_.is_mod = true;
    const int64_t e = phi_.drift / p_;
    form_.sum_beside = e;
    int64_t least = kInt64Max;
    int64_t greatest = kInt64Min;
    int64_t gcd = 0;
    for (int64_t t = 0; t < p_; ++t) {
      const int64_t value = phi_.At(t) - e * t;
      least = std::min(least, value);
      greatest = std::max(greatest, value);
      gcd = Gcd(gcd, value - phi_.At(0));
    }
    for (int64_t part = 1; part <= kMostOuterNumber; ++part) {
      if (gcd == 0 || gcd % part != 0) continue;
      const int64_t k = gcd / part;
      form_.k = k;
      psi_.clear();
      for (int64_t t = 0; t <= p_; ++t) psi_.push_back((phi_.At(t) - e * t - least) / k);
      AddModsOfPsi(least, (greatest - least) / k);
    }
  }

  // psi is in [0, width], and phi - e*t is k*psi + least.
  void AddModsOfPsi(int64_t least, int64_t width) {
    int64_t gcd = 0;
    const int64_t* steps[2] = {nullptr, nullptr};  // where F stays, and where it grows
    int64_t values[2];
    for (int64_t t = 0; t < p_; ++t) {
      const int at = inner_[t + 1] != inner_[t] ? 1 : 0;
      const int64_t step = psi_[t + 1] - psi_[t];
      if (steps[at] != nullptr) gcd = Gcd(gcd, step - values[at]);
      values[at] = step;
      steps[at] = &values[at];
    }
    for (int64_t n = std::max<int64_t>(width + 1, 2); n <= std::min(gcd, kMostOuterNumber); ++n) {
      const int64_t factor = FloorMod(values[1] - values[0], n);
      if (gcd % n != 0 || factor == 0) continue;
      NestedForm form = form_;
      form.n = n;
      form.factor = factor;
      form.of_sum = values[0];
      form.constant = psi_[0] - factor * inner_[0];
      form.constant_beside = least;
      TakeMods(form, width);
      const int64_t common = Gcd(form.m, n);
      if (factor % common != 0) continue;
      form.inner_is_mod = true;
      const int64_t modulus = n / common;
      const int64_t inverse = modulus == 1 ? 0 : InverseModulo(form.m / common, modulus);
      const NestedForm with_floor = form;
      for (int64_t v = FloorMod(factor / common * inverse, modulus); v < n; v += modulus) {
        if (v == 0) continue;
        form.factor = -v;
        form.of_sum = with_floor.of_sum + v * form.a;
        form.constant = with_floor.constant + v * form.c;
        TakeMods(form, width);
      }
    }
  }

  // (Y + o) mod n is psi + o for o in [0, n - 1 - width]. The constant goes, or that beside does.
  void TakeMods(const NestedForm& given, int64_t width) {
    const int64_t most = given.n - 1 - width;
    llvm::SmallVector<int64_t, 4> added = {0, most, FloorMod(-given.constant, given.n),
                                           FloorMod(-1 - given.constant, given.n)};
    if (given.constant_beside % given.k == 0) added.push_back(given.constant_beside / given.k);
    llvm::sort(added);
    added.erase(std::unique(added.begin(), added.end()), added.end());
    for (const int64_t o : added) {
      if (o < 0 || o > most) continue;
      NestedForm form = given;
      form.constant = FloorMod(given.constant + o, given.n);
      form.constant_beside -= given.k * o;
      Take(form);
    }
  }

  void Take(const NestedForm& form) {
    const Found found{counter_.Count(form), form};
    const auto order = [](const Found& f) {
      return std::tuple(f.nodes, std::max(f.form.n, f.form.m));
    };
    auto* at = llvm::upper_bound(
        found_, found, [&](const Found& a, const Found& b) { return order(a) < order(b); });
    if (at == found_.end() && found_.size() == kMostNestedOfValues) return;
    found_.insert(at, found);
    if (found_.size() > kMostNestedOfValues) found_.pop_back();
  }

  const ValuesInTurn& phi_;
  const int64_t p_;
  NodeCounter counter_;
  // What is looked at.
  NestedForm form_;
  llvm::SmallVector<int64_t, 16> inner_;  // F(0), .., F(p)
  llvm::SmallVector<int64_t, 16> psi_;    // psi(0), .., psi(p)
  llvm::SmallVector<int64_t, 16> g_;
  llvm::SmallVector<int64_t, 16> ps_;
  llvm::SmallVector<Found, kMostNestedOfValues + 1> found_;
};

}  // namespace

const Atom* WrittenDivision(SimplifierState& state, QuasiAffineSum dividend, bool is_mod,
                            int64_t divisor) {
  if (!dividend.valid() || dividend.IsConstant()) return nullptr;
  Atom& division = *state.atoms.New();
  division.kind = is_mod ? Atom::Kind::kMod : Atom::Kind::kFloor;
  division.divisor = divisor;
  division.written.divisions = 1;
  for (const AtomTerm& term : dividend.terms()) {
    division.written.divisions += term.atom->written.divisions;
  }
  dividend.Sort();
  division.written.dividend = std::move(dividend);
  return &division;
}

void AddNestedFormsOfValues(SimplifierState& state, const FunctionOfOneSum& function,
                            llvm::SmallVectorImpl<QuasiAffineSum>& nested) {
  // As many as count as ten steps, which is what the search takes.
  constexpr size_t kTermsOfSearch = 64 * 3;
  if (!state.work.Take(kTermsOfSearch)) return;
  NestedSearch search(function);
  search.Search();
  for (const auto& [nodes, form] : search.found()) {
    QuasiAffineSum inner(form.c);
    inner.AddScaled(function.one_sum, form.a);
    QuasiAffineSum dividend(form.constant);
    dividend.AddScaled(function.one_sum, form.of_sum);
    dividend.AddScaled(
        form.inner_is_mod ? Modulo(state, inner, form.m) : FloorDivide(state, inner, form.m),
        form.factor);
    const Atom* division = WrittenDivision(state, std::move(dividend), form.is_mod, form.n);
    if (division == nullptr) continue;
    QuasiAffineSum sum = function.beside;
    sum.AddConstant(form.constant_beside);
    sum.AddScaled(function.one_sum, form.sum_beside);
    sum.AddTerm(division, form.k);
    if (sum.valid()) nested.push_back(std::move(sum));
  }
}

}  // namespace xla_indexing::internal
