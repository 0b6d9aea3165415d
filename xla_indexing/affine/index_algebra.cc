#include "xla_indexing/affine/index_algebra.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/base/checked.h"

namespace xla_indexing {
namespace {

using ::llvm::cast;
using ::llvm::dyn_cast;
using ::mlir::AffineBinaryOpExpr;
using ::mlir::AffineConstantExpr;
using ::mlir::AffineDimExpr;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;
using ::mlir::AffineSymbolExpr;

// Atoms are symbols beyond all real ones.
constexpr unsigned kFirstAtom = 1u << 24;

// sum - terms of `part` * factor has none of the atoms of `part`.
bool ContainsMultiple(const LinearSum& sum, const LinearSum& part, int64_t factor) {
  return llvm::all_of(part.terms(), [&](const Term& term) {
    std::optional<int64_t> expected = CheckedMul(term.coefficient, factor);
    return expected && sum.CoefficientOf(term.atom) == *expected;
  });
}

}  // namespace

IndexAlgebra::IndexAlgebra(mlir::MLIRContext* context, llvm::ArrayRef<Interval> dims)
    : context_(context), dims_(dims), simplifier_(context, dims, {}) {}

unsigned IndexAlgebra::AddSymbol(Interval range) {
  symbols_.push_back(range);
  simplifier_.AddSymbol(range);
  return num_symbols_++;
}

const IndexAlgebra::Atom* IndexAlgebra::LookUp(AffineExpr expr) const {
  auto symbol = dyn_cast<AffineSymbolExpr>(expr);
  if (!symbol || symbol.getPosition() < kFirstAtom) return nullptr;
  return &atoms_[symbol.getPosition() - kFirstAtom];
}

Interval IndexAlgebra::RangeOfTerm(AffineExpr expr) const {
  if (const Atom* atom = LookUp(expr)) return atom->range;
  bool is_dim = expr.getKind() == AffineExprKind::DimId;
  unsigned position =
      is_dim ? cast<AffineDimExpr>(expr).getPosition() : cast<AffineSymbolExpr>(expr).getPosition();
  llvm::ArrayRef<Interval> list = is_dim ? dims_ : symbols_;
  return position < list.size() ? list[position] : Interval::All();
}

Interval IndexAlgebra::RangeOf(const LinearSum& sum) const {
  if (!sum.valid()) return Interval::All();
  Interval range = Interval::Point(sum.constant());
  for (const Term& term : sum.terms()) {
    range = range.Add(RangeOfTerm(term.atom).Mul(term.coefficient));
  }
  return range;
}

LinearSum IndexAlgebra::MakeAtom(AtomKind kind, LinearSum value, int64_t divisor, Interval range) {
  AffineExpr key = value.ToExpr(context_);
  if (!key) return LinearSum::Invalid();
  auto [it, inserted] = atom_ids_.try_emplace(
      std::make_tuple(static_cast<unsigned>(kind), key, divisor), atoms_.size());
  if (inserted) {
    // A mod's quotient is made first: it may add atoms of its own.
    LinearSum quotient;
    if (kind == AtomKind::kMod) quotient = FloorDivide(value, divisor);
    unsigned id = atoms_.size();
    atoms_.push_back(
        Atom{kind, std::move(value), divisor, std::move(quotient), range, std::nullopt});
    atom_ids_[std::make_tuple(static_cast<unsigned>(kind), key, divisor)] = id;
    return LinearSum::Of(mlir::getAffineSymbolExpr(kFirstAtom + id, context_));
  }
  return LinearSum::Of(mlir::getAffineSymbolExpr(kFirstAtom + it->second, context_));
}

LinearSum IndexAlgebra::MakeIndex(const LinearSum& sum, Interval known) {
  bool is_linear = llvm::none_of(sum.terms(), [&](const Term& term) { return LookUp(term.atom); });
  if (!sum.valid() || sum.terms().size() < 2 || is_linear) return sum;
  Interval range = RangeOf(sum).Intersect(known);
  return MakeAtom(AtomKind::kUnit, sum, 0, range.IsEmpty() ? known : range);
}

LinearSum IndexAlgebra::Evaluate(AffineExpr e, llvm::ArrayRef<LinearSum> dims,
                                 llvm::ArrayRef<LinearSum> symbols) {
  llvm::DenseMap<AffineExpr, LinearSum> memo;
  return EvaluateSum(e, dims, symbols, memo);
}

LinearSum IndexAlgebra::EvaluateSum(AffineExpr e, llvm::ArrayRef<LinearSum> dims,
                                    llvm::ArrayRef<LinearSum> symbols,
                                    llvm::DenseMap<AffineExpr, LinearSum>& memo) {
  LinearSum flat = LinearSum::FromExpr(e);
  if (!flat.valid()) return flat;
  LinearSum result(flat.constant());
  for (const Term& term : flat.terms()) {
    result.AddScaled(EvaluateTerm(term.atom, dims, symbols, memo), term.coefficient);
  }
  return Join(std::move(result));
}

LinearSum IndexAlgebra::EvaluateTerm(AffineExpr expr, llvm::ArrayRef<LinearSum> dims,
                                     llvm::ArrayRef<LinearSum> symbols,
                                     llvm::DenseMap<AffineExpr, LinearSum>& memo) {
  bool is_dim = expr.getKind() == AffineExprKind::DimId;
  if (is_dim || expr.getKind() == AffineExprKind::SymbolId) {
    llvm::ArrayRef<LinearSum> list = is_dim ? dims : symbols;
    unsigned position = is_dim ? cast<AffineDimExpr>(expr).getPosition()
                               : cast<AffineSymbolExpr>(expr).getPosition();
    if (position < list.size()) return list[position];
    Interval range = RangeOfTerm(expr);
    return range.IsPoint() ? LinearSum(range.lower()) : LinearSum::Of(expr);
  }
  if (auto it = memo.find(expr); it != memo.end()) return it->second;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  LinearSum result = LinearSum::Invalid();
  if (divisor && divisor.getValue() >= 1) {
    LinearSum dividend = EvaluateSum(binary.getLHS(), dims, symbols, memo);
    result = expr.getKind() == AffineExprKind::Mod ? Modulo(dividend, divisor.getValue())
                                                   : FloorDivide(dividend, divisor.getValue());
  }
  memo[expr] = result;
  return result;
}

// c * X as c*r * (X fd r) + c * (X mod r) with c*r = radix, where that is integral and X is not a
// unit, which are taken apart otherwise.
bool IndexAlgebra::SplitDigit(LinearSum& sum, const Term& term, int64_t radix) {
  const Atom* atom = LookUp(term.atom);
  if ((atom && atom->kind == AtomKind::kUnit) || radix % term.coefficient != 0) return false;
  int64_t modulus = radix / term.coefficient;
  if (modulus < 0) modulus = -modulus;
  if (modulus == 1 || RangeOfTerm(term.atom).FloorDiv(modulus).IsPoint()) return false;
  if (atom && atom->kind == AtomKind::kMod && atom->divisor % modulus != 0) return false;
  LinearSum digit = LinearSum::Of(term.atom);
  sum.AddTerm(term.atom, -term.coefficient);
  sum.AddScaled(FloorDivide(digit, modulus), term.coefficient * modulus);
  sum.AddScaled(Modulo(digit, modulus), term.coefficient);
  return true;
}

std::optional<IndexAlgebra::Split> IndexAlgebra::SplitAt(const LinearSum& sum,
                                                         int64_t radix) const {
  Split split{LinearSum(), LinearSum(sum.constant()), radix};
  for (const Term& term : sum.terms()) {
    bool is_multiple = term.coefficient % radix == 0;
    (is_multiple ? split.high : split.low).AddTerm(term.atom, term.coefficient);
  }
  Interval carry = RangeOf(split.low).FloorDiv(radix);
  if (!carry.IsPoint()) return std::nullopt;
  std::optional<int64_t> shift = NarrowToInt64(-static_cast<Int128>(carry.lower()) * radix);
  if (!shift) return std::nullopt;
  split.high.DivideExactly(radix);
  split.high.AddConstant(carry.lower());
  split.low.AddConstant(*shift);
  return split;
}

// The greatest divisor g of m (m itself first) such that the terms whose coefficients are not
// multiples of g, with the constant, stay within one multiple of g; digits that g cuts through are
// split.
std::optional<IndexAlgebra::Split> IndexAlgebra::SplitOff(const LinearSum& sum, int64_t m,
                                                          bool split_digits) {
  llvm::SmallVector<int64_t, 8> radices = {m};
  for (const Term& term : sum.terms()) {
    int64_t radix = Gcd(m, term.coefficient);
    size_t known = radices.size();
    for (size_t i = 0; i < known && known < 32; ++i) {
      int64_t common = Gcd(radices[i], radix);
      if (common > 1 && !llvm::is_contained(radices, common)) radices.push_back(common);
    }
  }
  llvm::sort(radices, std::greater<>());
  for (int64_t radix : radices) {
    if (auto split = SplitAt(sum, radix)) return split;
    if (!split_digits || sum.terms().size() < 2) continue;
    LinearSum finer = sum;
    bool changed = false;
    for (const Term& term : sum.terms()) {
      if (term.coefficient % radix != 0) changed |= SplitDigit(finer, term, radix);
    }
    if (!changed || !finer.valid()) continue;
    if (auto split = SplitAt(finer, radix)) return split;
  }
  return std::nullopt;
}

// The same where a unit has to be taken apart: one that is alone, or one of several whose digits
// the radix separates.
std::optional<IndexAlgebra::Split> IndexAlgebra::SplitThroughUnits(LinearSum& sum, int64_t m,
                                                                   bool split_digits) {
  auto expand = [&](const Term& term, const Atom& unit) {
    LinearSum expanded = sum;
    expanded.AddTerm(term.atom, -term.coefficient);
    expanded.AddScaled(unit.value, term.coefficient);
    return Join(std::move(expanded));
  };
  auto unit_of = [&](const Term& term) {
    const Atom* atom = LookUp(term.atom);
    return atom && atom->kind == AtomKind::kUnit ? atom : nullptr;
  };
  while (sum.valid()) {
    if (auto split = SplitOff(sum, m, split_digits)) return split;
    if (sum.terms().size() != 1 || !unit_of(sum.terms()[0])) break;
    sum = expand(sum.terms()[0], *unit_of(sum.terms()[0]));
  }
  for (const Term& term : sum.terms()) {
    const Atom* unit = unit_of(term);
    if (!unit) continue;
    LinearSum expanded = expand(term, *unit);
    if (auto split = SplitOff(expanded, m, split_digits)) {
      sum = std::move(expanded);
      return split;
    }
  }
  return std::nullopt;
}

// floor(sum / m) for c + T and c - T with T = floor(Y / a), which is one division of Y by a*m, and
// for c + M and c - M with M = Y mod n and m a divisor of n, which is a coarser digit of Y.
std::optional<LinearSum> IndexAlgebra::DivideSingle(const LinearSum& sum, int64_t m) {
  if (sum.terms().size() != 1) return std::nullopt;
  const Term term = sum.terms()[0];
  const Atom* atom = LookUp(term.atom);
  if (!atom || (term.coefficient != 1 && term.coefficient != -1)) return std::nullopt;
  bool negative = term.coefficient == -1;
  LinearSum dividend = atom->value;
  dividend.Scale(term.coefficient);
  if (negative) dividend.AddConstant(-1);  // -floor(Y/a) = floor((-Y-1)/a) + 1
  if (atom->kind == AtomKind::kFloor) {
    std::optional<int64_t> divisor = CheckedMul(atom->divisor, m);
    std::optional<int64_t> constant =
        NarrowToInt64((static_cast<Int128>(sum.constant()) + (negative ? 1 : 0)) * atom->divisor);
    if (!divisor || !constant) return std::nullopt;
    dividend.AddConstant(*constant);
    return FloorDivide(dividend, *divisor);
  }
  if (atom->kind == AtomKind::kMod && atom->divisor % m == 0) {
    // -(Y mod n) = (-Y - 1) mod n - (n - 1)
    int64_t n = atom->divisor;
    std::optional<int64_t> constant =
        NarrowToInt64(static_cast<Int128>(sum.constant()) - (negative ? n - 1 : 0));
    if (!constant || *constant % m != 0) return std::nullopt;
    LinearSum result = Modulo(FloorDivide(dividend, m), n / m);
    result.AddConstant(*constant / m);
    return result;
  }
  return std::nullopt;
}

LinearSum IndexAlgebra::FloorDivide(const LinearSum& sum, int64_t m) {
  if (m == 1 || !sum.valid()) return sum;
  return Remembered(Operation::kFloorDivide, sum, m, [&] { return ComputeFloorDivide(sum, m); });
}

LinearSum IndexAlgebra::Modulo(const LinearSum& sum, int64_t m, bool split_digits) {
  if (m == 1) return LinearSum();
  if (!sum.valid()) return sum;
  return Remembered(split_digits ? Operation::kModulo : Operation::kModuloWhole, sum, m,
                    [&] { return ComputeModulo(sum, m, split_digits); });
}

LinearSum IndexAlgebra::Remembered(Operation operation, const LinearSum& sum, int64_t m,
                                   llvm::function_ref<LinearSum()> compute) {
  LinearSum sorted = sum;
  AffineExpr key = sorted.ToExpr(context_);
  if (!key || nesting_ >= kMaxNesting) return LinearSum::Invalid();
  const auto place = std::make_tuple(static_cast<unsigned>(operation), key, m);
  if (auto it = results_.find(place); it != results_.end()) return it->second;
  if (++work_ > kMaxWork) return LinearSum::Invalid();
  ++nesting_;
  LinearSum result = compute();
  --nesting_;
  results_[place] = result;
  return result;
}

LinearSum IndexAlgebra::ComputeFloorDivide(LinearSum sum, int64_t m) {
  if (auto split = SplitThroughUnits(sum, m, /*split_digits=*/true)) {
    if (split->radix == m) return split->high;
    return FloorDivide(split->high, m / split->radix);
  }
  if (!sum.valid()) return sum;
  if (auto result = DivideSingle(sum, m)) return *std::move(result);
  Interval range = RangeOf(sum).FloorDiv(m);
  return MakeAtom(AtomKind::kFloor, std::move(sum), m, range);
}

LinearSum IndexAlgebra::ComputeModulo(LinearSum sum, int64_t m, bool split_digits) {
  if (auto split = SplitThroughUnits(sum, m, split_digits)) {
    if (split->radix == m) return split->low;
    LinearSum result = Modulo(split->high, m / split->radix);
    result.Scale(split->radix);
    result.AddScaled(split->low, 1);
    return Join(std::move(result));
  }
  if (!sum.valid()) return sum;
  if (sum.terms().size() == 1) {  // (c + k * (Y mod n)) mod m = (c + k*Y) mod m where m divides n
    const Term term = sum.terms()[0];
    const Atom* atom = LookUp(term.atom);
    if (atom && atom->kind == AtomKind::kMod && atom->divisor % m == 0) {
      LinearSum finer = atom->value;
      finer.Scale(term.coefficient);
      finer.AddConstant(sum.constant());
      return Modulo(finer, m);
    }
  }
  return MakeAtom(AtomKind::kMod, std::move(sum), m, Interval::OfSize(m));
}

void IndexAlgebra::Remember(const LinearSum& position, llvm::ArrayRef<int64_t> sizes,
                            llvm::ArrayRef<LinearSum> indices) {
  LinearSum sum = position;
  AffineExpr key = sum.ToExpr(context_);
  if (!key) return;
  auto& list = known_indices_[key];
  if (llvm::any_of(list, [&](const KnownIndices& known) { return known.sizes == sizes; })) return;
  list.push_back(
      KnownIndices{llvm::SmallVector<int64_t, 4>(sizes), llvm::SmallVector<LinearSum, 4>(indices)});
}

LinearSum IndexAlgebra::Linearize(llvm::ArrayRef<LinearSum> indices,
                                  llvm::ArrayRef<int64_t> sizes) {
  LinearSum position;
  for (auto [index, size] : llvm::zip_equal(indices, sizes)) {
    position.Scale(size);
    position.AddScaled(index, 1);
  }
  position = Join(std::move(position));
  AffineExpr key = position.ToExpr(context_);
  if (!key) return LinearSum::Invalid();
  if (auto it = original_positions_.find(key); it != original_positions_.end()) {
    position = it->second;
  }
  Remember(position, sizes, indices);
  return position;
}

llvm::SmallVector<LinearSum, 4> IndexAlgebra::Delinearize(const LinearSum& position,
                                                          llvm::ArrayRef<int64_t> sizes) {
  LinearSum sorted = position;
  AffineExpr key = sorted.ToExpr(context_);
  if (auto it = known_indices_.find(key); key && it != known_indices_.end()) {
    for (const KnownIndices& known : it->second) {
      if (known.sizes == sizes) return known.indices;
    }
  }
  // One division after the other, so that the quotient of a digit is what the next one is made of.
  llvm::SmallVector<LinearSum, 4> indices(sizes.size());
  LinearSum quotient = position;
  for (size_t i = sizes.size(); i-- > 0;) {
    LinearSum index = i == 0 ? quotient : Modulo(quotient, sizes[i]);
    indices[i] = MakeIndex(index, Interval::OfSize(sizes[i]));
    if (i > 0) quotient = FloorDivide(quotient, sizes[i]);
  }
  if (!key) return indices;
  LinearSum back;
  for (auto [index, size] : llvm::zip_equal(indices, sizes)) {
    back.Scale(size);
    back.AddScaled(index, 1);
  }
  back = Join(std::move(back));
  if (AffineExpr back_key = back.ToExpr(context_); back_key && back_key != key) {
    original_positions_.try_emplace(back_key, position);
  }
  Remember(position, sizes, indices);
  return indices;
}

LinearSum IndexAlgebra::Join(LinearSum sum) {
  // Every step takes a mod away or puts one in the place of two.
  while (sum.valid() && sum.terms().size() > 1 && JoinOnce(sum)) {
  }
  return sum;
}

bool IndexAlgebra::JoinOnce(LinearSum& sum) {
  for (const Term& low : sum.terms()) {
    const Atom* mod = LookUp(low.atom);
    if (!mod || mod->kind != AtomKind::kMod || mod->quotient.IsConstant()) continue;
    int64_t n = mod->divisor;
    std::optional<int64_t> step = CheckedMul(low.coefficient, n);
    if (!step) continue;
    if (ContainsMultiple(sum, mod->quotient, *step)) {
      LinearSum joined = sum;
      joined.AddTerm(low.atom, -low.coefficient);
      joined.AddScaled(mod->value, low.coefficient);
      joined.AddScaled(mod->quotient, -*step);
      if (!joined.valid()) continue;
      sum = std::move(joined);
      return true;
    }
    for (const Term& high : sum.terms()) {
      const Atom* atom = LookUp(high.atom);
      if (!atom || high.coefficient != *step) continue;
      if (atom->kind == AtomKind::kUnit && ContainsMultiple(atom->value, mod->quotient, 1)) {
        LinearSum expanded = sum;
        expanded.AddTerm(high.atom, -high.coefficient);
        expanded.AddScaled(atom->value, high.coefficient);
        if (!expanded.valid()) continue;
        sum = std::move(expanded);
        return true;
      }
      if (atom->kind != AtomKind::kMod || !ContainsMultiple(atom->value, mod->quotient, 1))
        continue;
      std::optional<int64_t> modulus = CheckedMul(n, atom->divisor);
      if (!modulus) continue;
      LinearSum value = atom->value;  // n*Z + M with M = X - n*Q
      value.AddScaled(mod->quotient, -1);
      value.Scale(n);
      value.AddScaled(mod->value, 1);
      LinearSum joined = sum;
      joined.AddTerm(low.atom, -low.coefficient);
      joined.AddTerm(high.atom, -high.coefficient);
      joined.AddScaled(Modulo(value, *modulus, /*split_digits=*/false), low.coefficient);
      if (!joined.valid()) continue;
      sum = std::move(joined);
      return true;
    }
  }
  return false;
}

LinearSum IndexAlgebra::LowerSum(const LinearSum& sum) {
  LinearSum result(sum.constant());
  for (const Term& term : sum.terms()) {
    const Atom* found = LookUp(term.atom);
    if (!found) {
      result.AddTerm(term.atom, term.coefficient);
      continue;
    }
    // Atoms only refer to older ones, so the recursion ends; its depth is bounded by the chain's.
    Atom& atom = atoms_[cast<AffineSymbolExpr>(term.atom).getPosition() - kFirstAtom];
    if (!atom.lowered) {
      LinearSum value = LowerSum(atom.value);
      if (atom.kind == AtomKind::kFloor) value = simplifier_.FloorDivide(value, atom.divisor);
      if (atom.kind == AtomKind::kMod) value = simplifier_.Modulo(value, atom.divisor);
      atom.lowered = std::move(value);
    }
    result.AddScaled(*atom.lowered, term.coefficient);
  }
  return result;
}

AffineExpr IndexAlgebra::Lower(const LinearSum& sum) {
  if (!sum.valid()) return {};
  return simplifier_.ToExpr(LowerSum(sum));
}

}  // namespace xla_indexing
