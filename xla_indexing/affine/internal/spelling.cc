#include "xla_indexing/affine/internal/spelling.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/expr_size.h"
#include "xla_indexing/affine/internal/linear_sum.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/internal/congruence.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

constexpr size_t kMaxDivisions = 4;

// The sum itself or the dividend of a division in it.
struct Place {
  bool is_mod = false;
  int64_t divisor = 0;  // 0 for the sum itself
  int parent = -1;
  // What multiplies the division in its parent, while all signs are positive.
  int64_t factor = 1;
  // For a floor, which constants may be added to the dividend without changing it: where the dividend
  // is r (mod g) and g divides m, those from -r to g - 1 - r.
  int64_t below = 0;
  int64_t above = 0;
  // Coefficients of the keys, and at last the constant.
  llvm::SmallVector<int64_t, 8> coefficients = {};

  bool IsFloor() const { return divisor != 0 && !is_mod; }
};

uint64_t MagnitudeOf(int64_t value) {
  return value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

// How long a spelling is, or what the numbers of one key or the constants add to that. Spellings of
// one size are compared by their text, in which a minus comes after all else.
struct Length {
  ExprSize size;
  int64_t negative_numbers = 0;
  friend auto operator<=>(const Length&, const Length&) = default;

  void Add(int64_t nodes, int64_t number) {
    size.nodes += nodes;
    if (number == 1) return;  // It is not written.
    size.greatest = std::max(size.greatest, MagnitudeOf(number));
    negative_numbers += number < 0 ? 1 : 0;
  }
};

// A choice of numbers for one key: its coefficient in every place.
using Column = llvm::SmallVector<int64_t, kMaxDivisions + 1>;

class Speller {
 public:
  explicit Speller(const Assumptions* known) : known_(known) {}

  // Children come after their parents.
  bool Read(const QuasiAffineSum& sum) {
    if (!ReadPlace(sum, -1, nullptr, 1)) return false;
    for (Place& place : places_) place.coefficients.resize(keys_.size() + 1);
    for (const auto& [place, number] : constants_) places_[place].coefficients.back() = number;
    return true;
  }

  // Finds the shortest spelling. Returns false where there is none whose numbers fit.
  bool Choose() {
    const size_t divisions = places_.size() - 1;
    bool found = false;
    for (unsigned signs = 0; signs < (1U << divisions); ++signs) {
      for (const bool factors_go_in : {false, true}) {
        if (factors_go_in && !HasFactorOfMod()) continue;
        if (!TakeSigns(signs, factors_go_in)) continue;
        if (found && length_ >= best_length_) continue;
        best_length_ = length_;
        best_columns_ = columns_;
        best_factors_ = factors_;
        best_scales_ = scales_;
        found = true;
      }
    }
    return found;
  }

  const Length& length() const { return best_length_; }

  AffineExpr Write(mlir::MLIRContext* context) const { return WritePlace(0, context); }

 private:
  bool ReadPlace(const QuasiAffineSum& sum, int parent, const Atom* division, int64_t factor) {
    if (!sum.valid() || places_.size() > kMaxDivisions) return false;
    const int self = static_cast<int>(places_.size());
    places_.push_back({division != nullptr && division->IsMod(),
                       division != nullptr ? division->divisor : 0, parent, factor});
    if (sum.constant() != 0) constants_.push_back({self, sum.constant()});
    if (places_.back().IsFloor() && known_->HasFacts()) {
      const Congruence residues = known_->ResiduesOf(sum);
      const int64_t g = residues.IsEmpty() ? 1 : Gcd(residues.modulus(), division->divisor);
      if (g > 1) places_.back().below = FloorMod(residues.residue(), g);
      if (g > 1) places_.back().above = g - 1 - places_.back().below;
    }
    for (const AtomTerm& term : sum.terms()) {
      if (term.atom->IsFloor() || term.atom->IsMod()) {
        if (!ReadPlace(term.atom->written.dividend, self, term.atom, term.coefficient)) {
          return false;
        }
        continue;
      }
      if (term.atom->kind != Atom::Kind::kVariable) return false;
      const auto* const known = llvm::find(keys_, term.atom);
      const size_t key = known - keys_.begin();
      if (known == keys_.end()) keys_.push_back(term.atom);
      llvm::SmallVector<int64_t, 8>& coefficients = places_[self].coefficients;
      if (coefficients.size() <= key) coefficients.resize(key + 1);
      coefficients[key] = term.coefficient;
    }
    return true;
  }

  bool HasFactorOfMod() const {
    return llvm::any_of(places_, [](const Place& place) {
      return place.is_mod && place.factor != 1 && place.factor != -1;
    });
  }

  int SignOf(size_t place) const { return ((signs_ >> place) & 1U) != 0 ? -1 : 1; }

  // Finds the shortest spelling with these signs: bit i - 1 is set where the dividend of place i is
  // negated. In a multiple k*(Y mod m) = (k*Y) mod (k*m) the factor goes into the mod.
  bool TakeSigns(unsigned signs, bool factors_go_in) {
    signs_ = signs << 1;
    factors_.clear();
    scales_.clear();
    solvers_.clear();
    length_ = {{static_cast<int64_t>(places_.size()) - 1, 0, 0}, 0};
    for (const auto& [i, place] : llvm::enumerate(places_)) {
      int64_t factor = 1;
      int64_t scale = 1;
      if (i > 0) {
        if (place.factor == kInt64Min) return false;
        factor = SignOf(place.parent) * SignOf(i) * place.factor;
        // In the dividend of a mod its residue counts, which is positive here.
        const Place& parent = places_[place.parent];
        if (parent.is_mod) factor = FloorMod(factor, parent.divisor);
        if (factor == 0) return false;
        if (factors_go_in && place.is_mod) {
          scale = factor < 0 ? -factor : factor;
          factor = factor < 0 ? -1 : 1;
        }
        const Int128 divisor = Int128{place.divisor} * scale;
        const Int128 written = Int128{factor} * scales_[place.parent];
        if (divisor > kInt64Max || !NarrowToInt64(written)) return false;
        length_.Add(2, static_cast<int64_t>(divisor));
        length_.Add(written == 1 ? 1 : 3, static_cast<int64_t>(written));  // with the plus
        if (place.parent == 0 && place.IsFloor()) solvers_.push_back(static_cast<int>(i));
      }
      length_.size.nodes -= 1;  // One summand of each sum has no plus.
      factors_.push_back(factor);
      scales_.push_back(scale);
    }
    columns_.clear();
    for (size_t key = 0; key <= keys_.size(); ++key) {
      if (!ChooseColumn(key)) return false;
      length_.size.nodes += best_cost_.size.nodes;
      length_.size.greatest = std::max(length_.size.greatest, best_cost_.size.greatest);
      length_.negative_numbers += best_cost_.negative_numbers;
      columns_.push_back(best_column_);
    }
    return true;
  }

  // The numbers of one key with which the spelling is shortest.
  bool ChooseColumn(size_t key) {
    key_ = key;
    has_best_ = false;
    column_.assign(places_.size(), 0);
    for (size_t i = 0; i < places_.size(); ++i) {
      const Int128 number = Int128{SignOf(i)} * places_[i].coefficients[key];
      Int128 all = number;
      if (key == keys_.size()) {
        // -Y - 1 is divided where the sign is negative.
        if (i > 0 && SignOf(i) < 0) all -= 1;
        for (size_t child = i + 1; child < places_.size(); ++child) {
          if (places_[child].parent != static_cast<int>(i) || SignOf(child) > 0) continue;
          const Int128 part = places_[child].is_mod ? places_[child].divisor - 1 : -1;
          all += part * SignOf(i) * places_[child].factor;
        }
      }
      const std::optional<int64_t> narrow = NarrowToInt64(all);
      if (!narrow) return false;
      column_[i] = *narrow;
    }
    solver_ = -1;
    Shift(static_cast<int>(places_.size()) - 1);
    for (const int solver : solvers_) {
      solver_ = solver;
      Shift(static_cast<int>(places_.size()) - 1);
    }
    return has_best_;
  }

  // Tries the values of Z of this place and of all before it, those of the others being chosen. The
  // solver comes last.
  void Shift(int place) {
    if (place == solver_) --place;
    if (place <= 0) {
      if (solver_ < 0) {
        TakeColumn();
      } else {
        Solve();
      }
      return;
    }
    const int64_t m = places_[place].divisor;
    const int64_t residue = FloorMod(column_[place], m);
    const auto try_number = [&](Int128 number) {
      if (const std::optional<int64_t> narrow = NarrowToInt64(number)) {
        ShiftTo(place, *narrow, [&] { Shift(place - 1); });
      }
    };
    try_number(residue);
    if (residue == 0) return;
    try_number(Int128{residue} - m);
    // A constant is never 1 times something, so that its size is all that counts.
    const int parent = places_[place].parent;
    if (key_ < keys_.size() || places_[place].is_mod || places_.size() > 3) return;
    for (const int64_t by : {int64_t{0}, Balance(place, parent)}) {
      for (const int64_t more : {-1, 1, 2}) {
        if (by != 0 || more != 2) try_number(Int128{residue} + (Int128{by} + more) * m);
      }
    }
  }

  // About the z for which the number in the place and in its parent are as large as each other.
  int64_t Balance(int place, int parent) const {
    const Int128 m = places_[place].divisor;
    const Int128 t = factors_[place];
    const Int128 size = t < 0 ? m - t : m + t;
    const Int128 apart = t < 0 ? -Int128{column_[parent]} - column_[place]
                               : Int128{column_[parent]} - column_[place];
    return static_cast<int64_t>(apart / size);
  }

  // What the others leave of the key in the sum itself, or all but one of it, goes into the solver's
  // dividend.
  void Solve() {
    const int64_t m = places_[solver_].divisor;
    if (column_[solver_] % m == 0) return;
    for (const int64_t left : {0, 1}) {
      if (left == 1 && key_ == keys_.size()) return;
      const Int128 moved = Int128{column_[0]} - left;
      if (moved % factors_[solver_] != 0) continue;
      const std::optional<int64_t> number =
          NarrowToInt64(column_[solver_] + moved / factors_[solver_] * m);
      if (number) ShiftTo(solver_, *number, [&] { TakeColumn(); });
    }
  }

  // With the key's coefficient in the place made `number`, which is as it was modulo the divisor.
  template <typename Then>
  void ShiftTo(int place, int64_t number, Then then) {
    const Int128 z = (Int128{number} - column_[place]) / places_[place].divisor;
    if (z == 0) return then();
    const int parent = places_[place].parent;
    const int64_t before = column_[place];
    const int64_t parent_before = column_[parent];
    if (places_[place].IsFloor()) {
      Int128 taken;
      if (__builtin_mul_overflow(z, Int128{factors_[place]}, &taken)) return;
      const std::optional<int64_t> left = taken > kInt64Max || taken < kInt64Min
                                              ? std::nullopt
                                              : NarrowToInt64(Int128{parent_before} - taken);
      if (!left) return;
      column_[parent] = *left;
    }
    column_[place] = number;
    then();
    column_[place] = before;
    column_[parent] = parent_before;
  }

  void TakeColumn() {
    // Numbers that do not exceed a divisor are all alike.
    Length cost{{0, 0, length_.size.greatest}, 0};
    Column written = column_;
    for (const auto& [place, number] : llvm::enumerate(written)) {
      if (key_ == keys_.size() && MayBeZero(place, number)) number = 0;
      if (number == 0) continue;
      if (__builtin_mul_overflow(number, scales_[place], &number)) return;
      if (key_ == keys_.size()) {
        cost.Add(2, number);
        cost.size.greatest = std::max<uint64_t>(cost.size.greatest, 1);
      } else {
        cost.Add(number == 1 ? 2 : 4, number);
      }
    }
    if (has_best_ && cost >= best_cost_) return;
    has_best_ = true;
    best_cost_ = cost;
    best_column_ = std::move(written);
  }

  // Whether a constant of a dividend can be left out.
  bool MayBeZero(size_t place, int64_t constant) const {
    const int64_t below = SignOf(place) > 0 ? places_[place].below : places_[place].above;
    const int64_t above = SignOf(place) > 0 ? places_[place].above : places_[place].below;
    return constant > 0 ? constant <= below : constant >= -above;
  }

  AffineExpr WritePlace(size_t place, mlir::MLIRContext* context) const {
    const int64_t scale = best_scales_[place];
    LinearSum sum(best_columns_.back()[place]);
    for (const auto& [key, atom] : llvm::enumerate(keys_)) {
      sum.AddTerm(atom->written.expr, best_columns_[key][place]);
    }
    for (size_t child = place + 1; child < places_.size(); ++child) {
      if (places_[child].parent != static_cast<int>(place)) continue;
      const AffineExpr dividend = WritePlace(child, context);
      if (!dividend) return {};
      const int64_t divisor = places_[child].divisor * best_scales_[child];
      const AffineExpr division = places_[child].is_mod
                                      ? Mod(dividend, divisor)
                                      : ::xla_indexing::internal::FloorDiv(dividend, divisor);
      if (!division) return {};
      sum.AddTerm(division, best_factors_[child] * scale);
    }
    return sum.ToExpr(context);
  }

  const Assumptions* known_;
  llvm::SmallVector<Place, kMaxDivisions + 1> places_;
  llvm::SmallVector<std::pair<int, int64_t>, 4> constants_;
  llvm::SmallVector<const Atom*, 8> keys_;  // variables

  // With the signs that are tried.
  unsigned signs_ = 0;
  llvm::SmallVector<int64_t, kMaxDivisions + 1> factors_;
  // What the numbers of a dividend and its divisor are multiplied by.
  llvm::SmallVector<int64_t, kMaxDivisions + 1> scales_;
  llvm::SmallVector<int, kMaxDivisions> solvers_;  // floors of the sum itself
  Length length_;
  llvm::SmallVector<Column, 8> columns_;

  // Of the key that is looked at.
  size_t key_ = 0;
  int solver_ = -1;
  Column column_;
  bool has_best_ = false;
  Length best_cost_;
  Column best_column_;

  Length best_length_;
  llvm::SmallVector<Column, 8> best_columns_;
  llvm::SmallVector<int64_t, kMaxDivisions + 1> best_factors_;
  llvm::SmallVector<int64_t, kMaxDivisions + 1> best_scales_;
};

}  // namespace

bool IsSpelledShortest(const QuasiAffineSum& sum) {
  llvm::SmallVector<const Atom*, 8> keys;
  const auto is_new = [&](const Atom* atom) {
    if (llvm::is_contained(keys, atom)) return false;
    keys.push_back(atom);
    return true;
  };
  for (const AtomTerm& term : sum.terms()) {
    if (!term.atom->IsFloor() && !term.atom->IsMod()) {
      if (!is_new(term.atom)) return false;
      continue;
    }
    if (term.coefficient < 0) return false;
    const QuasiAffineSum& dividend = term.atom->written.dividend;
    const bool has_constant = dividend.constant() != 0;
    if (has_constant && (sum.constant() != 0 || sum.terms().size() > 1 || dividend.constant() < 0 ||
                         dividend.constant() >= term.atom->divisor)) {
      return false;
    }
    for (const AtomTerm& part : dividend.terms()) {
      if (part.atom->IsFloor() || part.atom->IsMod() || !is_new(part.atom)) return false;
      const bool is_short =
          part.coefficient == 1 || (!has_constant && part.coefficient > 0 &&
                                    part.coefficient <= term.atom->divisor - part.coefficient);
      if (!is_short) return false;
    }
  }
  return true;
}

AffineExpr ShortestSpelling(llvm::ArrayRef<QuasiAffineSum> forms, const Assumptions& known,
                            mlir::MLIRContext* context) {
  llvm::SmallVector<Speller, 1> spellers;
  for (const QuasiAffineSum& form : forms) {
    Speller speller(&known);
    if (speller.Read(form) && speller.Choose()) spellers.push_back(std::move(speller));
  }
  llvm::stable_sort(spellers,
                    [](const Speller& a, const Speller& b) { return a.length() < b.length(); });
  for (const Speller& speller : spellers) {
    // MLIR may make something else of what is shown to it.
    const AffineExpr result = speller.Write(context);
    if (result && SizeOf(result) == speller.length().size) return result;
  }
  return {};
}

}  // namespace xla_indexing::internal
