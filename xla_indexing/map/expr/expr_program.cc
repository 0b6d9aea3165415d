#include "xla_indexing/map/expr/expr_program.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

using ::llvm::cast;
using ::mlir::AffineBinaryOpExpr;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

const char* NameOf(AffineExprKind kind) {
  switch (kind) {
    case AffineExprKind::Add:
      return "+";
    case AffineExprKind::Mul:
      return "*";
    case AffineExprKind::FloorDiv:
      return "floordiv";
    case AffineExprKind::CeilDiv:
      return "ceildiv";
    default:
      return "mod";
  }
}

std::optional<int64_t> Apply(AffineExprKind kind, int64_t a, int64_t b) {
  switch (kind) {
    case AffineExprKind::Add:
      return CheckedAdd(a, b);
    case AffineExprKind::Mul:
      return CheckedMul(a, b);
    default:
      break;
  }
  if (b < 1) return std::nullopt;
  switch (kind) {
    case AffineExprKind::FloorDiv:
      return FloorDiv(a, b);
    case AffineExprKind::CeilDiv:
      return CeilDiv(a, b);
    default:
      return FloorMod(a, b);
  }
}

absl::Status ApplyError(AffineExprKind kind, int64_t a, int64_t b) {
  const bool division = kind != AffineExprKind::Add && kind != AffineExprKind::Mul;
  if (division) {
    return absl::InvalidArgumentError(
        absl::StrCat("the divisor of ", a, " ", NameOf(kind), " ", b, " is below 1"));
  }
  return absl::OutOfRangeError(absl::StrCat(a, " ", NameOf(kind), " ", b, " does not fit int64"));
}

// --- Columns

template <typename Right>
void AddColumns(const int64_t* left, Right right, size_t count, int64_t* out,
                uint8_t* has_overflowed) {
  for (size_t i = 0; i < count; ++i) {
    has_overflowed[i] |= __builtin_add_overflow(left[i], right(i), &out[i]) ? 1 : 0;
  }
}

template <typename Right>
void MultiplyColumns(const int64_t* left, Right right, size_t count, int64_t* out,
                     uint8_t* has_overflowed) {
  for (size_t i = 0; i < count; ++i) {
    has_overflowed[i] |= __builtin_mul_overflow(left[i], right(i), &out[i]) ? 1 : 0;
  }
}

// The exponent of a power of two, or -1.
int LogTwo(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0 ? __builtin_ctzll(value) : -1;
}

// Gives `put` the quotient and the remainder of each value.
template <typename Put>
void DivideColumn(const int64_t* left, int64_t divisor, size_t count, Put put) {
  int64_t quotient = 0;
  int64_t product = 0;  // quotient * divisor
  bool fits = true;     // whether the product does
  for (size_t i = 0; i < count; ++i) {
    int64_t rest;
    // The quotient is mostly that of the point before.
    if (!fits || __builtin_sub_overflow(left[i], product, &rest) || rest < 0 || rest >= divisor) {
      quotient = FloorDiv(left[i], divisor);
      rest = FloorMod(left[i], divisor);
      fits = !__builtin_sub_overflow(left[i], rest, &product);
    }
    put(i, quotient, rest);
  }
}

void FloorDivideColumn(const int64_t* left, int64_t divisor, size_t count, int64_t* out) {
  if (const int shift = LogTwo(divisor); shift >= 0) {
    for (size_t i = 0; i < count; ++i) out[i] = left[i] >> shift;
    return;
  }
  DivideColumn(left, divisor, count,
               [out](size_t i, int64_t quotient, int64_t) { out[i] = quotient; });
}

void CeilDivideColumn(const int64_t* left, int64_t divisor, size_t count, int64_t* out) {
  for (size_t i = 0; i < count; ++i) out[i] = CeilDiv(left[i], divisor);
}

void ModuloColumn(const int64_t* left, int64_t divisor, size_t count, int64_t* out) {
  if (LogTwo(divisor) >= 0) {
    for (size_t i = 0; i < count; ++i) out[i] = left[i] & (divisor - 1);
    return;
  }
  DivideColumn(left, divisor, count, [out](size_t i, int64_t, int64_t rest) { out[i] = rest; });
}

}  // namespace

ExprProgram::ExprProgram(llvm::ArrayRef<AffineExpr> exprs) {
  llvm::SmallDenseMap<AffineExpr, uint32_t, 32> slots;
  llvm::SmallVector<AffineExpr, 16> pending;
  const auto emit = [&](AffineExpr expr, Step step) {
    slots[expr] = static_cast<uint32_t>(steps_.size());
    steps_.push_back(step);
  };
  for (const AffineExpr root : exprs) {
    // An expression leaves the stack when both its operands have their slots.
    pending.push_back(root);
    while (!pending.empty()) {
      AffineExpr expr = pending.back();
      if (slots.contains(expr)) {
        pending.pop_back();
        continue;
      }
      switch (expr.getKind()) {
        case AffineExprKind::Constant:
          emit(expr, {expr.getKind(), 0, 0, cast<mlir::AffineConstantExpr>(expr).getValue()});
          break;
        case AffineExprKind::DimId:
          emit(expr, {expr.getKind(), cast<mlir::AffineDimExpr>(expr).getPosition()});
          break;
        case AffineExprKind::SymbolId:
          emit(expr, {expr.getKind(), cast<mlir::AffineSymbolExpr>(expr).getPosition()});
          break;
        default: {
          auto binary = cast<AffineBinaryOpExpr>(expr);
          const auto lhs = slots.find(binary.getLHS());
          const auto rhs = slots.find(binary.getRHS());
          if (lhs != slots.end() && rhs != slots.end()) {
            emit(expr, {expr.getKind(), lhs->second, rhs->second});
            break;
          }
          if (lhs == slots.end()) pending.push_back(binary.getLHS());
          if (rhs == slots.end()) pending.push_back(binary.getRHS());
        }
      }
    }
    results_.push_back(slots[root]);
    ends_.push_back(static_cast<uint32_t>(steps_.size()));
  }
}

absl::Status ExprProgram::Evaluate(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> symbols,
                                   Workspace* values) const {
  values->resize_for_overwrite(steps_.size());
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    switch (step.kind) {
      case AffineExprKind::Constant:
        (*values)[i] = step.value;
        break;
      case AffineExprKind::DimId:
      case AffineExprKind::SymbolId: {
        const bool is_dim = step.kind == AffineExprKind::DimId;
        const llvm::ArrayRef<int64_t> point = is_dim ? dims : symbols;
        if (step.a >= point.size()) {
          return absl::InvalidArgumentError(absl::StrCat(is_dim ? "dimension " : "symbol ", step.a,
                                                         " of a point with ", point.size()));
        }
        (*values)[i] = point[step.a];
        break;
      }
      default: {
        const int64_t a = (*values)[step.a];
        const int64_t b = (*values)[step.b];
        const std::optional<int64_t> value = Apply(step.kind, a, b);
        if (!value) return ApplyError(step.kind, a, b);
        (*values)[i] = *value;
      }
    }
  }
  return absl::OkStatus();
}

ExprProgram::Columns ExprProgram::MakeColumns(size_t block, absl::Span<const int64_t* const> dims,
                                              absl::Span<const int64_t* const> symbols) const {
  Columns columns;
  columns.block_ = block;
  columns.storage_ = std::make_unique<int64_t[]>(steps_.size() * block);
  columns.is_uniform_.assign(steps_.size(), false);
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    int64_t* const own = &columns.storage_[i * block];
    switch (step.kind) {
      case AffineExprKind::DimId:
        columns.of_step_.push_back(dims[step.a]);
        break;
      case AffineExprKind::SymbolId:
        columns.of_step_.push_back(symbols[step.a]);
        break;
      case AffineExprKind::Constant:
        columns.of_step_.push_back(own);
        std::fill_n(own, block, step.value);
        columns.is_uniform_[i] = true;
        break;
      default:
        columns.of_step_.push_back(own);
    }
  }
  return columns;
}

llvm::SmallVector<bool, 64> ExprProgram::StepsOf(llvm::ArrayRef<int> steps,
                                                 llvm::function_ref<bool(int)> is_known) const {
  llvm::SmallVector<bool, 64> used(steps_.size(), false);
  for (const int step : steps) used[step] = true;
  for (size_t i = steps_.size(); i-- > 0;) {
    const Step& step = steps_[i];
    if (!used[i] || step.kind >= AffineExprKind::Constant || is_known(static_cast<int>(i)))
      continue;
    used[step.a] = used[step.b] = true;
  }
  return used;
}

void ExprProgram::SetUniform(int step, int64_t value, Columns* columns) const {
  int64_t* const own = &columns->storage_[step * columns->block_];
  *own = value;
  columns->of_step_[step] = own;
  columns->is_uniform_[step] = true;
}

void ExprProgram::EvaluateColumns(int begin, int end, size_t count, Columns* columns,
                                  uint8_t* has_overflowed) const {
  const size_t first = begin == 0 ? 0 : ends_[begin - 1];
  const size_t last = end == 0 ? 0 : ends_[end - 1];
  for (size_t i = first; i < last; ++i) {
    EvaluateStep(static_cast<int>(i), count, columns, has_overflowed);
    ValuesOf(static_cast<int>(i), columns);
  }
}

void ExprProgram::EvaluateStep(int index, size_t count, Columns* columns,
                               uint8_t* has_overflowed) const {
  const Step& step = steps_[index];
  // What has no operands is there already.
  if (step.kind >= AffineExprKind::Constant) return;
  const int64_t* left = columns->of_step_[step.a];
  const int64_t* right = columns->of_step_[step.b];
  bool is_uniform = columns->is_uniform_[step.b];
  if (is_uniform && columns->is_uniform_[step.a]) {
    const std::optional<int64_t> value = Apply(step.kind, *left, *right);
    if (!value) std::fill_n(has_overflowed, count, 1);
    return SetUniform(index, value.value_or(0), columns);
  }
  if (step.kind == AffineExprKind::Add && columns->is_uniform_[step.a]) {
    std::swap(left, right);
    is_uniform = true;
  }
  int64_t* const out = &columns->storage_[index * columns->block_];
  columns->is_uniform_[index] = false;
  const auto value = [number = *right](size_t) { return number; };
  const auto value_at = [right](size_t point) { return right[point]; };
  if (step.kind == AffineExprKind::Add) {
    is_uniform ? AddColumns(left, value, count, out, has_overflowed)
               : AddColumns(left, value_at, count, out, has_overflowed);
  } else if (step.kind == AffineExprKind::Mul) {
    is_uniform ? MultiplyColumns(left, value, count, out, has_overflowed)
               : MultiplyColumns(left, value_at, count, out, has_overflowed);
  } else if (!is_uniform || *right < 1) {
    // Maps that verify have no such divisors.
    std::fill_n(out, count, 0);
    std::fill_n(has_overflowed, count, 1);
  } else if (step.kind == AffineExprKind::FloorDiv) {
    FloorDivideColumn(left, *right, count, out);
  } else if (step.kind == AffineExprKind::CeilDiv) {
    CeilDivideColumn(left, *right, count, out);
  } else {
    ModuloColumn(left, *right, count, out);
  }
}

const int64_t* ExprProgram::ValuesOf(int step, Columns* columns) const {
  const int64_t* const values = columns->of_step_[step];
  if (columns->is_uniform_[step] != 0) {
    std::fill_n(&columns->storage_[step * columns->block_], columns->block_, *values);
  }
  return values;
}

std::optional<int64_t> ValueAt(AffineExpr expr, llvm::ArrayRef<int64_t> dims,
                               llvm::ArrayRef<int64_t> symbols) {
  const auto at = [](llvm::ArrayRef<int64_t> point, size_t position) {
    return position < point.size() ? std::optional(point[position]) : std::nullopt;
  };
  switch (expr.getKind()) {
    case AffineExprKind::Constant:
      return cast<mlir::AffineConstantExpr>(expr).getValue();
    case AffineExprKind::DimId:
      return at(dims, cast<mlir::AffineDimExpr>(expr).getPosition());
    case AffineExprKind::SymbolId:
      return at(symbols, cast<mlir::AffineSymbolExpr>(expr).getPosition());
    default:
      break;
  }
  const auto binary = cast<AffineBinaryOpExpr>(expr);
  const std::optional<int64_t> a = ValueAt(binary.getLHS(), dims, symbols);
  if (!a) return std::nullopt;
  const std::optional<int64_t> b = ValueAt(binary.getRHS(), dims, symbols);
  return b ? Apply(expr.getKind(), *a, *b) : std::nullopt;
}

}  // namespace xla_indexing::internal
