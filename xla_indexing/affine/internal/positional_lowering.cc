#include "xla_indexing/affine/internal/positional_lowering.h"

#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {

PositionalLowering::PositionalLowering(const PositionalAlgebra* algebra, ExprSimplifier* simplifier,
                                       llvm::ArrayRef<mlir::AffineExpr> variables)
    : algebra_(*algebra),
      simplifier_(*simplifier),
      variables_(variables),
      memory_(InstancePool<LoweringMemory>::Take()) {}

PositionalLowering::~PositionalLowering() {
  InstancePool<LoweringMemory>::GiveBack(std::move(memory_));
}

namespace {

// What the table has of the digit; null where it has nothing.
template <typename T>
const T* Find(const HashedChains<T>& table, const Digit& digit, size_t hash) {
  for (const T* known = table.First(hash); known != nullptr; known = known->next) {
    if (known->digit == digit) return known;
  }
  return nullptr;
}

// Adds an entry for the digit to the table; the caller fills it in.
template <typename T>
T& Insert(const Digit& digit, size_t hash, ObjectPool<T>& objects, HashedChains<T>& table) {
  T* made = objects.New();
  made->digit = digit;
  table.Insert(hash, made);
  return *made;
}

}  // namespace

bool PositionalLowering::IsLinear(const Digit& digit) const {
  if (digit.IsConstant() || digit.place != 1) return false;
  const PositionalAlgebra::Source& from = algebra_.source(digit.source);
  return from.kind == PositionalAlgebra::Source::Kind::kLinear && from.greatest < digit.size;
}

bool PositionalLowering::AddDistinctVariables(const Number& number,
                                              llvm::SmallVectorImpl<uint32_t>& variables) const {
  for (const Digit& digit : number) {
    if (digit.IsConstant()) continue;
    const PositionalAlgebra::Source& from = algebra_.source(digit.source);
    if (from.kind == PositionalAlgebra::Source::Kind::kVariable) {
      if (llvm::is_contained(variables, digit.source)) return false;
      variables.push_back(digit.source);
    } else if (!IsLinear(digit) || !AddDistinctVariables(from.number, variables)) {
      return false;
    }
  }
  return true;
}

mlir::AffineExpr PositionalLowering::Lower(const Number& number) {
  llvm::SmallVector<uint32_t, 8> variables;
  if (AddDistinctVariables(number, variables)) {
    LinearSum sum = WrittenSum(number);
    return sum.ToExpr(simplifier_.context());
  }
  const size_t nodes = algebra_.NodesOf(number);
  if (nodes > kMaxLoweredDigits) return {};
  if (nodes <= kMaxSimplifiedDigits) return simplifier_.ToExpr(Sum(number));
  LinearSum sum = WrittenSum(number);
  return sum.ToExpr(simplifier_.context());
}

bool PositionalLowering::IsVariable(const Digit& digit) const {
  return !digit.IsConstant() &&
         algebra_.source(digit.source).kind == PositionalAlgebra::Source::Kind::kVariable;
}

// Extends the top variable of a run up to its greatest value: what lies above the run changes
// nothing modulo the quotient's size.
void PositionalLowering::WidenTop(Quotient& quotient) const {
  Digit& top = quotient.number.back();
  const int64_t size = SizeOf(quotient.number);
  if (!quotient.has_mod || !IsVariable(top) || size % (quotient.place * quotient.size) != 0) {
    return;
  }
  const int64_t values = algebra_.source(top.source).greatest / top.place + 1;
  const int64_t times = CeilDiv(values, top.size);
  if (times > 1 && CheckedMul(size, times)) top.size *= times;
}

// Extends the least variable of a run down to its lowest digit: what lies below the place does not
// change the quotient.
void PositionalLowering::ExtendBottom(Quotient& quotient) const {
  Digit& least = quotient.number.front();
  if (quotient.place == 1 || !IsVariable(least) ||
      !CheckedMul(SizeOf(quotient.number), least.place)) {
    return;
  }
  quotient.place *= least.place;
  least.size *= least.place;
  least.place = 1;
}

PositionalLowering::Quotient PositionalLowering::QuotientOf(const Digit& digit) const {
  const PositionalAlgebra::Source& from = algebra_.source(digit.source);
  Quotient quotient{from.number, from.factor, from.offset, digit.place, digit.size};
  quotient.has_mod = from.greatest / digit.place >= digit.size;
  quotient.key = {digit.place, digit.size, digit.source, false};
  if (from.kind == PositionalAlgebra::Source::Kind::kLinear) return quotient;
  ExtendBottom(quotient);
  WidenTop(quotient);
  return quotient;
}

namespace {

// Whether a digit of the variable that `inner`, a digit of a run, is of goes with it, beside a
// digit of that run that is flipped or not.
bool IsOfSame(const Digit& digit, const Digit& inner, bool is_flipped) {
  return !inner.IsConstant() && digit.source == inner.source &&
         digit.flipped == (inner.flipped != is_flipped);
}

}  // namespace

std::optional<PositionalLowering::Quotient> PositionalLowering::JoinedBelow(
    const Digit& low, const Digit& high) const {
  if (high.IsConstant() || high.place != 1 || !IsVariable(low)) return std::nullopt;
  const PositionalAlgebra::Source& from = algebra_.source(high.source);
  if (from.kind != PositionalAlgebra::Source::Kind::kRun || from.greatest < high.size) {
    return std::nullopt;
  }
  const Digit& least = from.number.front();
  if (!IsOfSame(low, least, high.flipped) || Int128{low.place} * low.size != least.place ||
      !CheckedMul(SizeOf(from.number), low.size)) {
    return std::nullopt;
  }
  Quotient joined{from.number, 1, 0, 1, low.size * high.size, /*has_mod=*/true};
  joined.number.front().place = low.place;
  joined.number.front().size *= low.size;
  joined.key = {-low.place, high.size, high.source, false};
  WidenTop(joined);
  return joined;
}

std::optional<PositionalLowering::Quotient> PositionalLowering::JoinedAbove(
    const Digit& low, const Digit& high) const {
  if (low.IsConstant() || !IsVariable(high)) return std::nullopt;
  const PositionalAlgebra::Source& from = algebra_.source(low.source);
  if (from.kind != PositionalAlgebra::Source::Kind::kRun) return std::nullopt;
  const Digit& greatest = from.number.back();
  const int64_t size = SizeOf(from.number);
  if (Int128{low.place} * low.size != size || !IsOfSame(high, greatest, low.flipped) ||
      Int128{greatest.place} * greatest.size != high.place || !CheckedMul(size, high.size)) {
    return std::nullopt;
  }
  Quotient joined{from.number, 1, 0, low.place, low.size * high.size, /*has_mod=*/false};
  joined.number.back().size *= high.size;
  joined.key = {low.place, joined.size, low.source, false};
  ExtendBottom(joined);
  return joined;
}

template <typename Add>
void PositionalLowering::ForEachDigit(const Number& number, Add add) const {
  int64_t stride = 1;
  for (size_t i = 0; i < number.size(); ++i) {
    const Digit& digit = number[i];
    if (i + 1 < number.size()) {
      const Digit& next = number[i + 1];
      std::optional<Quotient> joined = JoinedBelow(digit, next);
      const Digit& of_run = joined ? next : digit;
      if (!joined) joined = JoinedAbove(digit, next);
      if (joined) {
        add(of_run, &*joined, joined->size, stride);
        stride *= joined->size;
        ++i;
        continue;
      }
    }
    if (digit.IsConstant() || IsVariable(digit)) {
      add(digit, nullptr, digit.size, stride);
    } else {
      const Quotient quotient = QuotientOf(digit);
      add(digit, &quotient, digit.size, stride);
    }
    stride *= digit.size;
  }
}

LinearSum PositionalLowering::WrittenSum(const Number& number) {
  LinearSum sum;
  ForEachDigit(number,
               [&](const Digit& digit, const Quotient* quotient, int64_t size, int64_t stride) {
                 if (digit.IsConstant()) {
                   sum.AddConstant(digit.place * stride);
                   return;
                 }
                 if (digit.flipped) sum.AddScaled(LinearSum(size - 1), stride);
                 const int64_t factor = digit.flipped ? -stride : stride;
                 llvm::SmallVector<uint32_t, 8> variables;
                 if (quotient == nullptr) {
                   sum.AddTerm(DigitOfVariable(digit), factor);
                 } else if (IsLinear(digit) && AddDistinctVariables(quotient->number, variables)) {
                   LinearSum value = WrittenSum(quotient->number);
                   value.Scale(quotient->factor);
                   value.AddConstant(quotient->offset);
                   sum.AddScaled(value, factor);
                 } else {
                   const mlir::AffineExpr expr = Written(*quotient);
                   sum.AddScaled(expr ? LinearSum::FromExpr(expr) : LinearSum::Invalid(), factor);
                 }
               });
  return sum;
}

mlir::AffineExpr PositionalLowering::DigitOfVariable(const Digit& digit) {
  const PositionalAlgebra::Source& from = algebra_.source(digit.source);
  mlir::AffineExpr expr = variables_[from.variable];
  const auto apply = [&](mlir::AffineExprKind kind, int64_t divisor) {
    expr = mlir::getAffineBinaryOpExpr(kind, expr,
                                       mlir::getAffineConstantExpr(divisor, simplifier_.context()));
  };
  if (digit.place > 1) apply(mlir::AffineExprKind::FloorDiv, digit.place);
  if (from.greatest / digit.place >= digit.size) apply(mlir::AffineExprKind::Mod, digit.size);
  return expr;
}

mlir::AffineExpr PositionalLowering::Written(const Quotient& quotient) {
  const size_t hash = HashOf(quotient.key);
  if (const auto* known = Find(memory_->written_table, quotient.key, hash)) return known->expr;
  const WrittenNumber& dividend = WrittenDividend(quotient);
  mlir::AffineExpr expr = dividend.expr;
  const auto apply = [&](mlir::AffineExprKind kind, int64_t divisor) {
    if (!expr || (!dividend.is_small && !IsSmallDividend(expr))) {
      expr = {};
    } else {
      expr = DivideSmall(kind, expr, divisor);
    }
  };
  if (quotient.place > 1) apply(mlir::AffineExprKind::FloorDiv, quotient.place);
  if (quotient.has_mod) apply(mlir::AffineExprKind::Mod, quotient.size);
  return Insert(quotient.key, hash, memory_->written, memory_->written_table).expr = expr;
}

const WrittenNumber& PositionalLowering::WrittenDividend(const Quotient& quotient) {
  const size_t hash = HashOf(quotient.number);
  for (const WrittenNumber* known = memory_->number_table.First(hash); known != nullptr;
       known = known->next) {
    if (known->number == quotient.number && known->factor == quotient.factor &&
        known->offset == quotient.offset) {
      return *known;
    }
  }
  LinearSum sum = WrittenSum(quotient.number);
  sum.Scale(quotient.factor);
  sum.AddConstant(quotient.offset);
  const mlir::AffineExpr expr = sum.ToExpr(simplifier_.context());
  WrittenNumber* written = memory_->numbers.New();
  written->number = quotient.number;
  written->factor = quotient.factor;
  written->offset = quotient.offset;
  written->expr = expr;
  // A digit gives a summand, and a constant at most to the sum that it is in. One level of sources
  // gives two divisions.
  static_assert(2 * kMaxLoweredDigits < kMaxSummands);
  const bool is_shallow = 2 * (algebra_.DepthOf(quotient.number) + 2) < kMaxExprDepth;
  written->is_small = expr && (is_shallow || IsSmallDividend(expr, 1));
  memory_->number_table.Insert(hash, written);
  return *written;
}

QuasiAffineSum PositionalLowering::Sum(const Number& number) {
  QuasiAffineSum sum;
  ForEachDigit(number,
               [&](const Digit& digit, const Quotient* quotient, int64_t size, int64_t stride) {
                 if (digit.IsConstant()) {
                   sum.AddScaled(QuasiAffineSum(digit.place), stride);
                   return;
                 }
                 if (digit.flipped) sum.AddScaled(QuasiAffineSum(size - 1), stride);
                 sum.AddScaled(quotient ? ValueOf(*quotient) : ValueOfVariable(digit),
                               digit.flipped ? -stride : stride);
               });
  return sum;
}

// Sources nest as deep as kMaxLoweredDigits at most.
const QuasiAffineSum& PositionalLowering::ValueOf(const Quotient& quotient) {
  const size_t hash = HashOf(quotient.key);
  if (const auto* known = Find(memory_->value_table, quotient.key, hash)) return known->value;
  QuasiAffineSum value(quotient.offset);
  value.AddScaled(Sum(quotient.number), quotient.factor);
  value = simplifier_.FloorDivide(value, quotient.place);
  if (quotient.has_mod) value = simplifier_.Modulo(value, quotient.size);
  return Insert(quotient.key, hash, memory_->values, memory_->value_table).value = std::move(value);
}

const QuasiAffineSum& PositionalLowering::ValueOfVariable(const Digit& digit) {
  const Digit upright{digit.place, digit.size, digit.source, false};
  const size_t hash = HashOf(upright);
  if (const auto* known = Find(memory_->value_table, upright, hash)) return known->value;
  const PositionalAlgebra::Source& from = algebra_.source(digit.source);
  QuasiAffineSum value =
      simplifier_.FloorDivide(simplifier_.Evaluate(variables_[from.variable]), digit.place);
  if (from.greatest / digit.place >= digit.size) value = simplifier_.Modulo(value, digit.size);
  return Insert(upright, hash, memory_->values, memory_->value_table).value = std::move(value);
}

}  // namespace xla_indexing::internal
