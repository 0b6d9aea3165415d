#include "xla_indexing/affine/positional_lowering.h"

#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/build.h"

namespace xla_indexing {

PositionalLowering::PositionalLowering(const PositionalAlgebra* algebra, ExprSimplifier* simplifier,
                                       llvm::ArrayRef<mlir::AffineExpr> variables)
    : algebra_(*algebra),
      simplifier_(*simplifier),
      variables_(variables),
      memory_(Unused<LoweringMemory>::Take()) {}

PositionalLowering::~PositionalLowering() { Unused<LoweringMemory>::GiveBack(std::move(memory_)); }

namespace {

// What stands for all of a source.
Digit WholeOf(uint32_t source) { return {0, 0, source, false}; }

// What the table has of the digit; null where it has nothing.
template <typename T>
const T* Find(const HashedChains<T>& table, const Digit& digit, size_t hash) {
  for (const T* known = table.First(hash); known != nullptr; known = known->next) {
    if (known->digit == digit) return known;
  }
  return nullptr;
}

// Room for what is found of the digit, in the table.
template <typename T>
T& Insert(const Digit& digit, size_t hash, Recycled<T>& objects, HashedChains<T>& table) {
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

LinearSum PositionalLowering::WrittenSum(const Number& number) {
  LinearSum sum;
  int64_t stride = 1;
  for (const Digit& digit : number) {
    if (digit.IsConstant()) {
      sum.AddConstant(digit.place * stride);
    } else if (algebra_.source(digit.source).kind == PositionalAlgebra::Source::Kind::kVariable) {
      if (digit.flipped) sum.AddConstant((digit.size - 1) * stride);
      sum.AddTerm(DigitOfVariable(digit), digit.flipped ? -stride : stride);
    } else {
      LinearSum value;
      llvm::SmallVector<uint32_t, 8> variables;
      const PositionalAlgebra::Source& from = algebra_.source(digit.source);
      if (IsLinear(digit) && AddDistinctVariables(from.number, variables)) {
        value = WrittenSum(from.number);
        value.Scale(from.factor);
        value.AddConstant(from.offset);
      } else {
        const mlir::AffineExpr expr = Written(digit);
        if (!expr) return LinearSum::Invalid();
        value = LinearSum::FromExpr(expr);
      }
      if (digit.flipped) sum.AddScaled(LinearSum(digit.size - 1), stride);
      sum.AddScaled(value, digit.flipped ? -stride : stride);
    }
    stride *= digit.size;
  }
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

mlir::AffineExpr PositionalLowering::Written(const Digit& digit) {
  const PositionalAlgebra::Source& from = algebra_.source(digit.source);
  if (from.nodes <= kMaxSimplifiedDigits) return simplifier_.ToExpr(ValueOf(digit));
  const Digit upright{digit.place, digit.size, digit.source, false};
  const size_t hash = HashOf(upright);
  if (const auto* known = Find(memory_->written_table, upright, hash)) return known->expr;
  const WrittenDigit& source = WrittenSource(digit.source);
  mlir::AffineExpr expr = source.expr;
  const auto apply = [&](mlir::AffineExprKind kind, int64_t divisor) {
    if (!expr || (!source.is_small && !IsSmallDividend(expr))) {
      expr = {};
    } else {
      expr = DivideSmall(kind, expr, divisor);
    }
  };
  if (digit.place > 1) apply(mlir::AffineExprKind::FloorDiv, digit.place);
  if (from.greatest / digit.place >= digit.size) apply(mlir::AffineExprKind::Mod, digit.size);
  return Insert(upright, hash, memory_->written, memory_->written_table).expr = expr;
}

const WrittenDigit& PositionalLowering::WrittenSource(uint32_t source) {
  const Digit whole = WholeOf(source);
  const size_t hash = HashOf(whole);
  if (const auto* known = Find(memory_->written_table, whole, hash)) return *known;
  const PositionalAlgebra::Source& from = algebra_.source(source);
  LinearSum sum = WrittenSum(from.number);
  if (from.kind == PositionalAlgebra::Source::Kind::kLinear) {
    sum.Scale(from.factor);
    sum.AddConstant(from.offset);
  }
  const mlir::AffineExpr expr = sum.ToExpr(simplifier_.context());
  WrittenDigit& written = Insert(whole, hash, memory_->written, memory_->written_table);
  written.expr = expr;
  written.is_small = expr && IsSmallDividend(expr, 1);
  return written;
}

DigitSum PositionalLowering::Sum(const Number& number) {
  DigitSum sum;
  int64_t stride = 1;
  for (const Digit& digit : number) {
    if (digit.IsConstant()) {
      sum.AddScaled(DigitSum(digit.place), stride);
    } else if (digit.flipped) {
      sum.AddScaled(DigitSum(digit.size - 1), stride);
      sum.AddScaled(ValueOf(digit), -stride);
    } else {
      sum.AddScaled(ValueOf(digit), stride);
    }
    stride *= digit.size;
  }
  return sum;
}

// Sources nest as deep as kMaxLoweredDigits at most.
const DigitSum& PositionalLowering::ValueOf(uint32_t source) {
  const Digit whole = WholeOf(source);
  const size_t hash = HashOf(whole);
  if (const auto* known = Find(memory_->value_table, whole, hash)) return known->value;
  const PositionalAlgebra::Source& from = algebra_.source(source);
  DigitSum value;
  switch (from.kind) {
    case PositionalAlgebra::Source::Kind::kVariable:
      value = simplifier_.Evaluate(variables_[from.variable]);
      break;
    case PositionalAlgebra::Source::Kind::kRun:
      value = Sum(from.number);
      break;
    case PositionalAlgebra::Source::Kind::kLinear:
      value = DigitSum(from.offset);
      value.AddScaled(Sum(from.number), from.factor);
      break;
  }
  return Insert(whole, hash, memory_->values, memory_->value_table).value = std::move(value);
}

const DigitSum& PositionalLowering::ValueOf(const Digit& digit) {
  const Digit upright{digit.place, digit.size, digit.source, false};
  const size_t hash = HashOf(upright);
  if (const auto* known = Find(memory_->value_table, upright, hash)) return known->value;
  const PositionalAlgebra::Source& from = algebra_.source(digit.source);
  DigitSum value = simplifier_.FloorDivide(ValueOf(digit.source), digit.place);
  if (from.greatest / digit.place >= digit.size) value = simplifier_.Modulo(value, digit.size);
  return Insert(upright, hash, memory_->values, memory_->value_table).value = std::move(value);
}

}  // namespace xla_indexing
