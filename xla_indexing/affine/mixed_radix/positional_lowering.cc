#include "xla_indexing/affine/mixed_radix/positional_lowering.h"

#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/memory/instance_pool.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {

PositionalLowering::PositionalLowering(const PositionalAlgebra* algebra, ExprSimplifier* simplifier,
                                       llvm::ArrayRef<mlir::AffineExpr> variables)
    : algebra_(*algebra),
      simplifier_(*simplifier),
      variables_(variables),
      memory_(InstancePool<Memory>::Take()) {
  memory_->values.clear();
  memory_->exprs.clear();
  memory_->dividends.clear();
}

PositionalLowering::~PositionalLowering() { InstancePool<Memory>::GiveBack(std::move(memory_)); }

bool PositionalLowering::IsLinear(const Digit& digit) const {
  if (digit.IsConstant() || digit.lower_factor != 1) return false;
  const PositionalAlgebra::Source& from = algebra_.source(digit.source);
  return from.kind == PositionalAlgebra::Source::Kind::kLinear && from.greatest < digit.extent;
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

namespace {

// Whether so many digits have no more than kMaxSummands summands at all levels together. A digit
// gives one, and a constant at most to the sum that it is in.
bool AreFewDigits(size_t digits) { return 2 * digits < kMaxSummands; }

}  // namespace

bool PositionalLowering::HasFlipped(const Number& number) const {
  return llvm::any_of(number, [this](const Digit& digit) {
    return digit.flipped || (IsLinear(digit) && HasFlipped(algebra_.source(digit.source).number));
  });
}

mlir::AffineExpr PositionalLowering::Lower(const Number& number) {
  if (const std::optional<int> variable = algebra_.AsVariable(number)) return variables_[*variable];
  // Digits that are not flipped are written in the shortest way as they are.
  llvm::SmallVector<uint32_t, 8> variables;
  if (AddDistinctVariables(number, variables) && !HasFlipped(number)) {
    LinearSum sum = WrittenSum(number);
    return sum.ToExpr(simplifier_.context());
  }
  const size_t nodes = algebra_.NodesOf(number);
  if (nodes <= kMaxSimplifiedDigits) return simplifier_.ToExpr(Sum(number));
  if (nodes > kMaxSummands || algebra_.DepthOf(number) > kMaxLoweredDepth) return {};
  LinearSum sum = WrittenSum(number);
  const mlir::AffineExpr expr = sum.ToExpr(simplifier_.context());
  const bool is_small = AreFewDigits(nodes) || (expr && IsSmallDividend(expr));
  return is_small ? expr : mlir::AffineExpr();
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
  if (!quotient.has_mod || !IsVariable(top) ||
      size % (quotient.lower_factor * quotient.extent) != 0) {
    return;
  }
  const int64_t values = algebra_.source(top.source).greatest / top.lower_factor + 1;
  const int64_t times = CeilDiv(values, top.extent);
  if (times > 1 && CheckedMul(size, times)) top.extent *= times;
}

// Extends the least variable of a run down to its lowest digit: what lies below the place does not
// change the quotient.
void PositionalLowering::ExtendBottom(Quotient& quotient) const {
  Digit& least = quotient.number.front();
  if (quotient.lower_factor == 1 || !IsVariable(least) ||
      !CheckedMul(SizeOf(quotient.number), least.lower_factor)) {
    return;
  }
  quotient.lower_factor *= least.lower_factor;
  least.extent *= least.lower_factor;
  least.lower_factor = 1;
}

PositionalLowering::Quotient PositionalLowering::QuotientOf(const Digit& digit) const {
  const PositionalAlgebra::Source& from = algebra_.source(digit.source);
  Quotient quotient{from.number, from.factor, from.offset, digit.lower_factor, digit.extent};
  quotient.has_mod = from.greatest / digit.lower_factor >= digit.extent;
  quotient.key = {digit.lower_factor, digit.extent, digit.source, false};
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
  if (high.IsConstant() || high.lower_factor != 1 || !IsVariable(low)) return std::nullopt;
  const PositionalAlgebra::Source& from = algebra_.source(high.source);
  if (from.kind != PositionalAlgebra::Source::Kind::kFused || from.greatest < high.extent) {
    return std::nullopt;
  }
  const Digit& least = from.number.front();
  if (!IsOfSame(low, least, high.flipped) ||
      Int128{low.lower_factor} * low.extent != least.lower_factor ||
      !CheckedMul(SizeOf(from.number), low.extent)) {
    return std::nullopt;
  }
  Quotient joined{from.number, 1, 0, 1, low.extent * high.extent, /*has_mod=*/true};
  joined.number.front().lower_factor = low.lower_factor;
  joined.number.front().extent *= low.extent;
  joined.key = {-low.lower_factor, high.extent, high.source, false};
  WidenTop(joined);
  return joined;
}

std::optional<PositionalLowering::Quotient> PositionalLowering::JoinedAbove(
    const Digit& low, const Digit& high) const {
  if (low.IsConstant() || !IsVariable(high)) return std::nullopt;
  const PositionalAlgebra::Source& from = algebra_.source(low.source);
  if (from.kind != PositionalAlgebra::Source::Kind::kFused) return std::nullopt;
  const Digit& greatest = from.number.back();
  const int64_t size = SizeOf(from.number);
  if (Int128{low.lower_factor} * low.extent != size || !IsOfSame(high, greatest, low.flipped) ||
      Int128{greatest.lower_factor} * greatest.extent != high.lower_factor ||
      !CheckedMul(size, high.extent)) {
    return std::nullopt;
  }
  Quotient joined{from.number, 1, 0, low.lower_factor, low.extent * high.extent, /*has_mod=*/false};
  joined.number.back().extent *= high.extent;
  joined.key = {low.lower_factor, joined.extent, low.source, false};
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
        add(of_run, &*joined, joined->extent, stride);
        stride *= joined->extent;
        ++i;
        continue;
      }
    }
    if (digit.IsConstant() || IsVariable(digit)) {
      add(digit, nullptr, digit.extent, stride);
    } else {
      const Quotient quotient = QuotientOf(digit);
      add(digit, &quotient, digit.extent, stride);
    }
    stride *= digit.extent;
  }
}

LinearSum PositionalLowering::WrittenSum(const Number& number) {
  LinearSum sum;
  ForEachDigit(number,
               [&](const Digit& digit, const Quotient* quotient, int64_t size, int64_t stride) {
                 if (digit.IsConstant()) {
                   sum.AddConstant(digit.lower_factor * stride);
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
  if (digit.lower_factor > 1) apply(mlir::AffineExprKind::FloorDiv, digit.lower_factor);
  if (from.greatest / digit.lower_factor >= digit.extent)
    apply(mlir::AffineExprKind::Mod, digit.extent);
  return expr;
}

mlir::AffineExpr PositionalLowering::Written(const Quotient& quotient) {
  if (const auto known = memory_->exprs.find(quotient.key); known != memory_->exprs.end()) {
    return known->second;
  }
  const WrittenDividend dividend =
      WriteDividend({quotient.number, quotient.factor, quotient.offset});
  mlir::AffineExpr expr = dividend.expr;
  const auto apply = [&](mlir::AffineExprKind kind, int64_t divisor) {
    const bool is_small = expr && (dividend.is_small || IsSmallDividend(expr));
    expr = is_small ? DivideSmall(kind, expr, divisor) : mlir::AffineExpr();
  };
  if (quotient.lower_factor > 1) apply(mlir::AffineExprKind::FloorDiv, quotient.lower_factor);
  if (quotient.has_mod) apply(mlir::AffineExprKind::Mod, quotient.extent);
  return memory_->exprs[quotient.key] = expr;
}

PositionalLowering::WrittenDividend PositionalLowering::WriteDividend(const Dividend& dividend) {
  if (const auto known = memory_->dividends.find(dividend); known != memory_->dividends.end()) {
    return known->second;
  }
  LinearSum sum = WrittenSum(dividend.number);
  sum.Scale(dividend.factor);
  sum.AddConstant(dividend.offset);
  WrittenDividend written{sum.ToExpr(simplifier_.context())};
  // One level of sources gives two divisions.
  const bool is_small = AreFewDigits(algebra_.NodesOf(dividend.number)) &&
                        2 * (algebra_.DepthOf(dividend.number) + 2) < kMaxExprDepth;
  written.is_small = written.expr && (is_small || IsSmallDividend(written.expr, 1));
  memory_->dividends.try_emplace(dividend, written);
  return written;
}

QuasiAffineSum PositionalLowering::Sum(const Number& number) {
  QuasiAffineSum sum;
  ForEachDigit(number,
               [&](const Digit& digit, const Quotient* quotient, int64_t size, int64_t stride) {
                 if (digit.IsConstant()) {
                   sum.AddScaled(QuasiAffineSum(digit.lower_factor), stride);
                   return;
                 }
                 if (digit.flipped) sum.AddScaled(QuasiAffineSum(size - 1), stride);
                 sum.AddScaled(quotient ? ValueOf(*quotient) : ValueOfVariable(digit),
                               digit.flipped ? -stride : stride);
               });
  return sum;
}

// Sources nest as deep as kMaxSimplifiedDigits at most.
const QuasiAffineSum& PositionalLowering::ValueOf(const Quotient& quotient) {
  if (const auto known = memory_->values.find(quotient.key); known != memory_->values.end())
    return known->second;
  QuasiAffineSum value(quotient.offset);
  value.AddScaled(Sum(quotient.number), quotient.factor);
  value = simplifier_.FloorDivide(value, quotient.lower_factor);
  if (quotient.has_mod) value = simplifier_.Modulo(value, quotient.extent);
  return memory_->values[quotient.key] = std::move(value);
}

const QuasiAffineSum& PositionalLowering::ValueOfVariable(const Digit& digit) {
  const Digit upright{digit.lower_factor, digit.extent, digit.source, false};
  if (const auto known = memory_->values.find(upright); known != memory_->values.end())
    return known->second;
  const PositionalAlgebra::Source& from = algebra_.source(digit.source);
  QuasiAffineSum value =
      simplifier_.FloorDivide(simplifier_.Evaluate(variables_[from.variable]), digit.lower_factor);
  if (from.greatest / digit.lower_factor >= digit.extent)
    value = simplifier_.Modulo(value, digit.extent);
  return memory_->values[upright] = std::move(value);
}

}  // namespace xla_indexing::internal
