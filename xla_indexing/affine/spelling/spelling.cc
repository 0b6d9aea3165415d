#include "xla_indexing/affine/spelling/spelling.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/expr_size.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

constexpr size_t kMaxDivisions = 4;
// After so many ways to choose what goes into mods, a factor goes into one as a whole or not at all.
constexpr size_t kMostWaysOfParts = 32;

// The sum itself, or the dividend of a division in it.
struct SumOrDividend {
  bool is_mod = false;
  int64_t divisor = 0;  // 0 for the sum itself
  int parent = -1;
  // What multiplies the division in its parent, while all signs are positive.
  int64_t factor = 1;
  // For a floor, which constants may be added to the dividend without changing it: where the dividend
  // is r (mod g) and g divides m, those from -r to g - 1 - r.
  int64_t below = 0;
  int64_t above = 0;

  bool IsFloor() const { return divisor != 0 && !is_mod; }
};

// How many places a set has, bit i of which is place i.
int CountPlaces(unsigned places) {
  int count = 0;
  for (; places != 0; places &= places - 1) ++count;
  return count;
}

// The numbers of one key, or the constants, in all places.
using Column = std::array<int64_t, kMaxDivisions + 1>;

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

class Speller {
 public:
  // Reads the sum; children come after their parents. Returns false where it is not to be spelled.
  bool Read(const QuasiAffineSum& sum, const Assumptions& known) {
    places_.clear();
    keys_.clear();
    columns_.clear();
    constants_ = {};
    if (!ReadPlace(sum, -1, nullptr, 1, known)) return false;
    columns_.push_back(constants_);
    return true;
  }

  // Finds the shortest spelling of those that are no longer than `limit`, where there is one. Returns
  // false where there is none, and where no numbers fit.
  bool Choose(const std::optional<Length>& limit) {
    FindParts();
    FindKnown();
    limit_ = limit;
    found_ = false;
    now_.length = LeastLength();
    if (IsTooLong(0)) return false;
    const Length least = now_.length;
    for (unsigned signs = 0; signs < (1U << (places_.size() - 1)); ++signs) {
      for (const Column& parts : parts_) TakeSigns(signs << 1, parts);
      if (found_ && best_.length <= least) break;
    }
    return found_;
  }

  const Length& length() const { return best_.length; }

  // Whether the shortest spelling is the sum as it was read.
  bool IsAsRead() const {
    for (const auto& [i, place] : llvm::enumerate(places_)) {
      if (best_.scales[i] != 1 || best_.factors[i] != place.factor) return false;
    }
    return llvm::equal(best_.columns, columns_);
  }

  AffineExpr Write(mlir::MLIRContext* context) const { return WritePlace(0, context); }

 private:
  struct Spelling {
    Length length;
    // What multiplies each division in its parent; what the numbers of a dividend and its divisor are
    // multiplied by.
    Column factors;
    Column scales;
    llvm::SmallVector<Column, 8> columns;  // with the scales in them
  };

  bool ReadPlace(const QuasiAffineSum& sum, int parent, const Atom* division, int64_t factor,
                 const Assumptions& known) {
    if (!sum.valid() || places_.size() > kMaxDivisions || factor == kInt64Min ||
        sum.constant() == kInt64Min) {
      return false;
    }
    const int self = static_cast<int>(places_.size());
    places_.push_back({division != nullptr && division->IsMod(),
                       division != nullptr ? division->divisor : 0, parent, factor});
    constants_[self] = sum.constant();
    if (known.HasFacts() && places_.back().IsFloor()) {
      const Congruence residues = known.ResiduesOf(sum);
      const int64_t g = residues.IsEmpty() ? 1 : Gcd(residues.modulus(), places_.back().divisor);
      if (g > 1) places_.back().below = FloorMod(residues.residue(), g);
      if (g > 1) places_.back().above = g - 1 - places_.back().below;
    }
    for (const AtomTerm& term : sum.terms()) {
      if (term.atom->IsFloor() || term.atom->IsMod()) {
        if (!ReadPlace(term.atom->written.dividend, self, term.atom, term.coefficient, known)) {
          return false;
        }
        continue;
      }
      if (term.atom->kind != Atom::Kind::kVariable || term.coefficient == kInt64Min) return false;
      const size_t key = llvm::find(keys_, term.atom) - keys_.begin();
      if (key == keys_.size()) {
        keys_.push_back(term.atom);
        columns_.push_back({});
      }
      columns_[key][self] = term.coefficient;
    }
    return true;
  }

  // For each mod the p for which (k/p)*((p*Y) mod (p*m)) may be shorter than k*(Y mod m), of which p = k
  // is written as 0, and 1 for other places; all ways to choose them, beginning with 1 for all. Two other p
  // are looked at: the least one with which the mod takes the constant beside it, which k/p divides then;
  // and one for which k/p and p*m are less than k. They are about the same where p*p is k/m.
  void FindParts() {
    Column ones;
    ones.fill(1);
    parts_.assign({ones});
    for (const auto& [i, place] : llvm::enumerate(places_)) {
      if (!place.is_mod || place.factor == 1 || place.factor == -1) continue;
      llvm::SmallVector<int64_t, 3> of_place = {0};
      for (const int64_t part : {PartOfConstant(place), MiddlePart(place)}) {
        if (!llvm::is_contained(of_place, part)) of_place.push_back(part);
      }
      const size_t num_parts = parts_.size();
      if (num_parts * of_place.size() > kMostWaysOfParts) of_place.resize(1);
      for (const int64_t part : of_place) {
        for (size_t k = 0; k < num_parts; ++k) {
          parts_.push_back(Column(parts_[k]));
          parts_.back()[i] = part;
        }
      }
    }
  }

  // These two; 0 where there is none, or where it is k.
  int64_t PartOfConstant(const SumOrDividend& place) const {
    const int64_t constant = constants_[place.parent];
    const int64_t part = std::abs(place.factor) / Gcd(place.factor, constant);
    return part == 1 || part == std::abs(place.factor) ? 0 : part;
  }
  static int64_t MiddlePart(const SumOrDividend& place) {
    constexpr int64_t kMostParts = 64;
    const int64_t k = place.factor < 0 ? -place.factor : place.factor;
    int64_t best = 0;
    int64_t least = k;
    for (int64_t p = 2; p <= kMostParts && p <= k / place.divisor; ++p) {
      if (k % p != 0 || std::max(k / p, p * place.divisor) >= least) continue;
      best = p;
      least = std::max(k / p, p * place.divisor);
    }
    return best;
  }

  // What is known of the numbers of a key, or of the constants, in dividends that have no division in
  // them, where they can only be changed by multiples of the divisor. Bit i is set where the variable or
  // a constant stands in place i, and where the coefficient may be 1 there; for both signs of the
  // dividend.
  struct Known {
    unsigned is_there[2] = {0, 0};
    unsigned may_be_one[2] = {0, 0};
  };

  void FindKnown() {
    unsigned parents = 1;
    for (const SumOrDividend& place : places_) {
      if (place.parent >= 0) parents |= 1U << place.parent;
    }
    known_.assign(columns_.size(), Known());
    for (const auto& [i, place] : llvm::enumerate(places_)) {
      const unsigned bit = 1U << i;
      if ((parents & bit) != 0) continue;
      const int64_t m = place.divisor;
      for (size_t key = 0; key < keys_.size(); ++key) {
        const int64_t residue = FloorMod(columns_[key][i], m);
        if (residue != 0) known_[key].is_there[0] |= bit;
        if (residue == 1) known_[key].may_be_one[0] |= bit;
        if (residue == m - 1) known_[key].may_be_one[1] |= bit;
      }
      if (place.below != 0 || place.above != 0) continue;
      const int64_t residue = FloorMod(columns_.back()[i], m);
      if (residue != 0) known_.back().is_there[0] |= bit;
      if (residue != m - 1) known_.back().is_there[1] |= bit;
    }
    for (size_t key = 0; key < keys_.size(); ++key)
      known_[key].is_there[1] = known_[key].is_there[0];
    // A constant takes two nodes.
    known_.back().may_be_one[0] = known_.back().may_be_one[1] = ~0U;
  }

  // What no spelling is shorter than, whatever the signs.
  Length LeastLength() const {
    const auto divisions = static_cast<int64_t>(places_.size()) - 1;
    // A division has its divisor and stands in a sum, which has one plus less than summands.
    Length least = {{divisions, 2 * divisions - 1, 0}, 0};
    unsigned with_ones = 0;
    for (const auto& [key, known] : llvm::enumerate(known_)) {
      if (key == keys_.size()) {
        least.size.nodes += 2 * CountPlaces(known.is_there[0] & known.is_there[1]);
        continue;
      }
      const unsigned ones = known.may_be_one[0] | known.may_be_one[1];
      with_ones |= ones;
      least.size.nodes += std::max(4 * CountPlaces(known.is_there[0]) - 2 * CountPlaces(ones), 2);
    }
    for (size_t i = 1; i < places_.size(); ++i) {
      const SumOrDividend& place = places_[i];
      const auto take = [&](int64_t number) {
        least.size.greatest = std::max(least.size.greatest, MagnitudeOf(number));
      };
      take(place.divisor);
      if (places_[place.parent].is_mod || place.factor == 1 || place.factor == -1) continue;
      if (!place.is_mod || (MiddlePart(place) == 0 && PartOfConstant(place) == 0)) {
        take(place.factor);
      }
      // A factor that goes into a mod makes coefficients of 1 longer.
      if (!place.is_mod || ((with_ones >> i) & 1U) != 0) least.size.nodes += 2;
    }
    return least;
  }

  // How many nodes each key adds at least with these signs, and all of them together. A variable stands
  // somewhere.
  int64_t FindLeastNodes() {
    unsigned scaled = 0;
    for (size_t i = 1; i < places_.size(); ++i) scaled |= now_.scales[i] == 1 ? 0 : 1U << i;
    least_nodes_.clear();
    int64_t all = 0;
    for (const Known& known : known_) {
      const bool is_variable = least_nodes_.size() < keys_.size();
      const unsigned there = (known.is_there[0] & ~signs_) | (known.is_there[1] & signs_);
      unsigned short_ones = (known.may_be_one[0] & ~signs_) | (known.may_be_one[1] & signs_);
      if (is_variable) short_ones &= ~scaled;
      const int least = 4 * CountPlaces(there) - 2 * CountPlaces(there & short_ones);
      least_nodes_.push_back(std::max(least, is_variable ? 2 : 0));
      all += least_nodes_.back();
    }
    return all;
  }

  // Whether no spelling that begins like `now_` can be the shortest, where what is left of it adds so
  // many nodes at least.
  bool IsTooLong(int64_t nodes_left) {
    if (!limit_) return false;
    Length least = now_.length;
    least.size.nodes += nodes_left;
    return found_ ? least >= *limit_ : least > *limit_;
  }

  int SignOf(size_t place) const { return ((signs_ >> place) & 1U) != 0 ? -1 : 1; }
  bool IsConstants() const { return key_ == keys_.size(); }

  // Finds the shortest spelling with these signs: bit i is set where the dividend of place i is
  // negated. The parts of the factors go into mods.
  void TakeSigns(unsigned signs, const Column& parts) {
    signs_ = signs;
    if (!StartSpelling(parts)) return;
    int64_t nodes_left = FindLeastNodes();
    for (key_ = 0; key_ < columns_.size(); ++key_) {
      if (IsTooLong(nodes_left) || !ChooseColumn()) return;
      nodes_left -= least_nodes_[key_];
      now_.length.size.nodes += best_cost_.size.nodes;
      now_.length.size.greatest = std::max(now_.length.size.greatest, best_cost_.size.greatest);
      now_.length.negative_numbers += best_cost_.negative_numbers;
      now_.columns.push_back(best_column_);
    }
    if (IsTooLong(0)) return;
    found_ = true;
    limit_ = now_.length;
    std::swap(now_, best_);
  }

  // Signs, factors and scales, and what the divisions themselves add to the length.
  bool StartSpelling(const Column& parts) {
    now_.length = {{static_cast<int64_t>(places_.size()) - 1, 0, 0}, 0};
    now_.columns.clear();
    for (const auto& [i, place] : llvm::enumerate(places_)) {
      int64_t factor = 1;
      int64_t scale = 1;
      if (i > 0) {
        factor = SignOf(place.parent) * SignOf(i) * place.factor;
        // In the dividend of a mod its residue counts, which is positive here.
        const SumOrDividend& parent = places_[place.parent];
        if (parent.is_mod) factor = FloorMod(factor, parent.divisor);
        if (factor == 0) return false;
        if (place.is_mod && parts[i] != 1) {
          scale = Gcd(factor, parts[i]);
          factor /= scale;
        }
        int64_t divisor;
        int64_t written;
        if (__builtin_mul_overflow(place.divisor, scale, &divisor) ||
            __builtin_mul_overflow(factor, now_.scales[place.parent], &written)) {
          return false;
        }
        now_.length.Add(2, divisor);
        now_.length.Add(written == 1 ? 1 : 3, written);  // with the plus of the summand
      }
      now_.length.size.nodes -= 1;  // One summand of each sum has no plus.
      now_.factors[i] = factor;
      now_.scales[i] = scale;
    }
    return true;
  }

  // The numbers of one key with which the spelling is shortest.
  bool ChooseColumn() {
    has_best_ = false;
    column_ = columns_[key_];
    for (size_t i = 1; i < places_.size(); ++i) {
      if (SignOf(i) > 0) continue;
      column_[i] = -column_[i];
    }
    if (IsConstants() && !AddConstantsOfSigns()) return false;
    const int last = static_cast<int>(places_.size()) - 1;
    solver_ = -1;
    Shift(last);
    for (solver_ = 1; solver_ <= last && !IsLeast(); ++solver_) {
      if (places_[solver_].IsFloor()) Shift(last);
    }
    return has_best_;
  }

  // Whether no numbers can be better.
  bool IsLeast() const {
    return has_best_ && best_cost_ <= Length{{0, least_nodes_[key_], now_.length.size.greatest}, 0};
  }

  // -Y - 1 is divided where the sign is negative, and constants remain of the division.
  bool AddConstantsOfSigns() {
    for (size_t i = 1; i < places_.size(); ++i) {
      if (SignOf(i) > 0) continue;
      const SumOrDividend& place = places_[i];
      int64_t rest;
      if (__builtin_mul_overflow(place.is_mod ? place.divisor - 1 : -1,
                                 SignOf(place.parent) * place.factor, &rest) ||
          __builtin_add_overflow(column_[place.parent], rest, &column_[place.parent]) ||
          __builtin_sub_overflow(column_[i], 1, &column_[i])) {
        return false;
      }
    }
    return true;
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
    const int64_t z = -FloorDiv(column_[place], m);
    const auto shift = [&](int64_t by) {
      if (!IsLeast()) ShiftBy(place, by, [&] { Shift(place - 1); });
    };
    const bool is_multiple = column_[place] % m == 0;
    shift(z);
    // In a mod nothing else changes, and the positive residue is as short as the negative one.
    if (is_multiple || places_[place].is_mod) return;
    shift(z - 1);
    // A constant is never 1 times something, so that its size is all that counts.
    if (!IsConstants() || places_.size() > 3) return;
    const int64_t balance = Balance(place);
    for (const int64_t more : {z - 2, z + 1, z + balance - 1, z + balance, z + balance + 1})
      shift(more);
  }

  // About how far the z for which the number in the place and that in its parent are as large as each
  // other is from the one for which the former is least.
  int64_t Balance(int place) const {
    const Int128 t = now_.factors[place];
    const Int128 sum = Int128{places_[place].divisor} + (t < 0 ? -t : t);
    const Int128 apart =
        t < 0 ? -Int128{column_[places_[place].parent]} : column_[places_[place].parent];
    constexpr int64_t kFar = 1 << 30;
    return static_cast<int64_t>(std::clamp<Int128>(apart / sum, -kFar, kFar));
  }

  // What the others leave of the key in the solver's parent, or all but one of it, goes into the
  // solver's dividend; also after the parent has taken what is left in its own.
  void Solve() {
    const auto take = [&] { TakeColumn(); };
    SolveIn(solver_, take);
    const int parent = places_[solver_].parent;
    if (places_[parent].IsFloor()) SolveIn(parent, [&] { SolveIn(solver_, take); });
  }

  // In a mod what is left counts modulo its divisor.
  template <typename Then>
  void SolveIn(int place, Then then) {
    if (column_[place] % places_[place].divisor == 0) return;
    const int parent = places_[place].parent;
    const int64_t modulus = places_[parent].is_mod ? places_[parent].divisor : 0;
    for (const int64_t left : {0, 1}) {
      int64_t moved;
      if (left == 1 && IsConstants()) return;
      if (__builtin_sub_overflow(column_[parent], left, &moved)) return;
      const std::optional<int64_t> z = SolveMultiple(now_.factors[place], moved, modulus);
      if (!z) continue;
      if (modulus == 0) {
        ShiftBy(place, *z, then);
      } else {
        ShiftByResidue(place, *z, modulus, [&] {
          const int64_t in_parent = column_[parent];
          column_[parent] = left;
          then();
          column_[parent] = in_parent;
        });
      }
    }
  }

  // By z and what is equal to it in the dividend of a mod, so that the number in the place becomes least,
  // or greatest below 0.
  template <typename Then>
  void ShiftByResidue(int place, int64_t z, int64_t modulus, Then then) {
    const int64_t period = modulus / Gcd(now_.factors[place], modulus);
    const Int128 step = Int128{places_[place].divisor} * period;
    const Int128 number = column_[place] + Int128{places_[place].divisor} * z;
    const Int128 rest = number % step;
    const Int128 least = z - (number - rest) / step * period - (rest < 0 ? -period : 0);
    for (const Int128 by : {least, least - period}) {
      if (const std::optional<int64_t> narrow = NarrowToInt64(by)) ShiftBy(place, *narrow, then);
    }
  }

  // A z with factor*z = number, or (mod modulus) where that is not 0.
  static std::optional<int64_t> SolveMultiple(int64_t factor, int64_t number, int64_t modulus) {
    if (modulus == 0) return ExactQuotient(number, factor);
    const int64_t common = Gcd(factor, modulus);
    if (number % common != 0) return std::nullopt;
    const int64_t rest = modulus / common;
    if (rest == 1) return 0;
    const Int128 z = Int128{FloorMod(number / common, rest)} *
                     InverseModulo(FloorMod(factor / common, rest), rest);
    return static_cast<int64_t>(z % rest);
  }

  // With z times the key, of which the place has m times as many, in the dividend.
  template <typename Then>
  void ShiftBy(int place, int64_t z, Then then) {
    if (z == 0) return then();
    int64_t& number = column_[place];
    int64_t& in_parent = column_[places_[place].parent];
    const int64_t before = number;
    const int64_t parent_before = in_parent;
    int64_t added;
    int64_t taken = 0;
    if (!__builtin_mul_overflow(z, places_[place].divisor, &added) &&
        !__builtin_add_overflow(before, added, &number) &&
        (places_[place].is_mod || (!__builtin_mul_overflow(z, now_.factors[place], &taken) &&
                                   !__builtin_sub_overflow(parent_before, taken, &in_parent)))) {
      then();
    }
    number = before;
    in_parent = parent_before;
  }

  void TakeColumn() {
    // Numbers that do not exceed a divisor are all alike.
    Length cost{{0, 0, now_.length.size.greatest}, 0};
    Column written = {};
    for (size_t i = 0; i < places_.size(); ++i) {
      int64_t& number = written[i];
      if (column_[i] == 0 || (IsConstants() && MayBeZero(i))) continue;
      if (__builtin_mul_overflow(column_[i], now_.scales[i], &number)) return;
    }
    if (IsConstants()) TakeConstantsIntoMods(written);
    for (size_t i = 0; i < places_.size(); ++i) {
      if (written[i] == 0) continue;
      cost.Add(IsConstants() || written[i] == 1 ? 2 : 4, written[i]);
      if (has_best_ && cost.size.nodes > best_cost_.size.nodes) return;
    }
    if (has_best_ && cost >= best_cost_) return;
    has_best_ = true;
    best_cost_ = cost;
    best_column_ = written;
  }

  // k*(s*(Y mod m)) + k*c = k*((s*Y + c) mod (s*m)) for c in [0, s - 1].
  void TakeConstantsIntoMods(Column& written) const {
    for (size_t i = 1; i < places_.size(); ++i) {
      const int parent = places_[i].parent;
      int64_t& beside = written[parent];
      if (!places_[i].is_mod || now_.scales[i] == 1 || now_.scales[parent] != 1) continue;
      const std::optional<int64_t> c = ExactQuotient(beside, now_.factors[i]);
      if (!c || *c <= 0 || *c >= now_.scales[i]) continue;
      // The multiple of s in the dividend is below s*m.
      written[i] += *c;
      beside = 0;
    }
  }

  // Whether the constant of a dividend can be left out.
  bool MayBeZero(size_t i) const {
    const int64_t below = SignOf(i) > 0 ? places_[i].below : places_[i].above;
    const int64_t above = SignOf(i) > 0 ? places_[i].above : places_[i].below;
    return column_[i] > 0 ? column_[i] <= below : column_[i] >= -above;
  }

  AffineExpr WritePlace(size_t self, mlir::MLIRContext* context) const {
    LinearSum sum(best_.columns.back()[self]);
    for (const auto& [key, atom] : llvm::enumerate(keys_)) {
      sum.AddTerm(atom->written.expr, best_.columns[key][self]);
    }
    for (size_t i = self + 1; i < places_.size(); ++i) {
      if (places_[i].parent != static_cast<int>(self)) continue;
      const AffineExpr dividend = WritePlace(i, context);
      const int64_t divisor = places_[i].divisor * best_.scales[i];
      const AffineExpr division = places_[i].is_mod
                                      ? Mod(dividend, divisor)
                                      : ::xla_indexing::internal::FloorDiv(dividend, divisor);
      // MLIR may make a sum of what is shown to it, whose summands have other places.
      if (!division || (division.getKind() != mlir::AffineExprKind::Mod &&
                        division.getKind() != mlir::AffineExprKind::FloorDiv)) {
        return {};
      }
      sum.AddTerm(division, best_.factors[i] * best_.scales[self]);
    }
    return sum.ToExpr(context);
  }

  // What was read: the variables, and their numbers; the last column is the constants.
  llvm::SmallVector<SumOrDividend, kMaxDivisions + 1> places_;
  llvm::SmallVector<const Atom*, 8> keys_;
  llvm::SmallVector<Column, 8> columns_;
  Column constants_;

  // What is tried: a spelling, and in it the numbers of one key.
  Spelling now_;
  size_t key_ = 0;
  Column column_;
  Length best_cost_;
  Column best_column_;
  Spelling best_;
  llvm::SmallVector<Column, 4> parts_;
  llvm::SmallVector<Known, 8> known_;  // of each key, the constants last
  llvm::SmallVector<int64_t, 8> least_nodes_;
  std::optional<Length> limit_;  // What is not shorter is of no use.
  unsigned signs_ = 0;
  int solver_ = -1;
  bool has_best_ = false;
  bool found_ = false;
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
    // Otherwise a factor may be shorter in a mod than before it.
    const bool keeps_factor =
        term.atom->IsFloor() || term.coefficient == 1 ||
        llvm::any_of(dividend.terms(), [](const AtomTerm& part) { return part.coefficient == 1; });
    if (!keeps_factor) return false;
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
  if (IsOff(Engine::kShortestSpelling)) return {};
  Speller spellers[2];
  llvm::SmallVector<bool, 8> is_left_out(forms.size(), false);
  while (true) {
    Speller* best = nullptr;
    size_t best_form = 0;
    std::optional<Length> limit;
    for (size_t i = 0; i < forms.size(); ++i) {
      Speller& speller = best == &spellers[0] ? spellers[1] : spellers[0];
      if (is_left_out[i] || !speller.Read(forms[i], known) || !speller.Choose(limit)) {
        continue;
      }
      if (best != nullptr && speller.length() == *limit) {
        const AffineExpr before = best->Write(context);
        const AffineExpr same_length = speller.Write(context);
        if (!before || !same_length || !ComesBefore(same_length, before)) continue;
      }
      best = &speller;
      best_form = i;
      limit = speller.length();
    }
    if (best == nullptr || (best_form == 0 && best->IsAsRead())) return {};
    const AffineExpr result = best->Write(context);
    // MLIR may make something else of what is shown to it.
    if (result && SizeOf(result) == best->length().size) return result;
    is_left_out[best_form] = true;
  }
}

}  // namespace xla_indexing::internal
