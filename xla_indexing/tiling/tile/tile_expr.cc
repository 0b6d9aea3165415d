#include "xla_indexing/tiling/tile/tile_expr.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing {

using internal::CheckedMul;
using internal::Int128;
using internal::NarrowToInt64;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

namespace {

// Sums of more summands are not searched for equal ones.
constexpr size_t kMaxSummandsCompared = 256;

// A number as large as any int64 is negative.
std::string MagnitudeText(int64_t value) {
  return absl::StrCat(value < 0 ? uint64_t{0} - static_cast<uint64_t>(value)
                                : static_cast<uint64_t>(value));
}

// What a list has at a position, or else the expression itself.
TileExpr Choose(llvm::ArrayRef<TileExpr> list, const TileExpr& variable) {
  const auto at = static_cast<size_t>(variable.value());
  return at < list.size() ? list[at] : variable;
}

std::optional<int64_t> ValueOf(llvm::ArrayRef<int64_t> list, int64_t variable) {
  if (static_cast<size_t>(variable) >= list.size()) return std::nullopt;
  return list[variable];
}

std::string NameOf(const std::vector<std::string>& names, const char* prefix, int64_t variable) {
  return static_cast<size_t>(variable) < names.size() ? names[variable]
                                                      : absl::StrCat(prefix, variable);
}

const char* Word(TileExpr::Kind kind) {
  switch (kind) {
    case TileExpr::Kind::kFloorDiv:
      return "floordiv";
    case TileExpr::Kind::kCeilDiv:
      return "ceildiv";
    case TileExpr::Kind::kMod:
      return "mod";
    case TileExpr::Kind::kSum:
      return "sum";
    case TileExpr::Kind::kProduct:
      return "product";
    case TileExpr::Kind::kSize:
      return "size";
    case TileExpr::Kind::kIndex:
      return "index";
    case TileExpr::Kind::kRuntime:
      return "runtime";
    default:
      return "min";
  }
}

const char* RelationWord(TileRelation relation) {
  switch (relation) {
    case TileRelation::kEqual:
      return "=";
    case TileRelation::kAtMost:
      return "<=";
    case TileRelation::kAtLeast:
      return ">=";
    case TileRelation::kMoreThan:
      return ">";
    case TileRelation::kMultipleOf:
      return "multiple of";
  }
  return "";
}

bool IsDivision(const TileExpr& expr) {
  return expr.kind() == TileExpr::Kind::kFloorDiv || expr.kind() == TileExpr::Kind::kCeilDiv ||
         expr.kind() == TileExpr::Kind::kMod;
}

std::string InParentheses(const TileExpr& expr, const TileNames& names) {
  return absl::StrCat("(", expr.ToString(names), ")");
}

// An operand of a division.
std::string DividendText(const TileExpr& expr, const TileNames& names) {
  const bool is_compound = IsDivision(expr) || expr.kind() == TileExpr::Kind::kSum ||
                           expr.kind() == TileExpr::Kind::kProduct;
  return is_compound ? InParentheses(expr, names) : expr.ToString(names);
}

// A factor of a product, or a summand.
std::string FactorText(const TileExpr& expr, const TileNames& names) {
  const bool is_looser = IsDivision(expr) || expr.kind() == TileExpr::Kind::kSum;
  return is_looser ? InParentheses(expr, names) : expr.ToString(names);
}

// Products of an index and a size, for which stand dimensions past the last index.
class AffineWriter {
 public:
  AffineWriter(mlir::MLIRContext* context, int num_sizes, int64_t num_indices)
      : context_(context), num_sizes_(num_sizes), num_indices_(num_indices) {}

  AffineExpr Write(const TileExpr& expr) {
    const llvm::ArrayRef<TileExpr> operands = expr.operands();
    switch (expr.kind()) {
      case TileExpr::Kind::kConstant:
        return internal::Constant(expr.value(), context_);
      case TileExpr::Kind::kIndex:
        return mlir::getAffineDimExpr(expr.value(), context_);
      case TileExpr::Kind::kSize:
        if (expr.value() >= num_sizes_) return nullptr;
        return mlir::getAffineSymbolExpr(expr.value(), context_);
      case TileExpr::Kind::kRuntime:
        return mlir::getAffineSymbolExpr(num_sizes_ + expr.value(), context_);
      case TileExpr::Kind::kSum: {
        AffineExpr sum = Write(operands[0]);
        for (const TileExpr& operand : operands.drop_front()) {
          sum = internal::Add(sum, Write(operand));
        }
        return sum;
      }
      case TileExpr::Kind::kProduct:
        if (operands[1].IsConstant()) {
          return internal::Scale(Write(operands[0]), operands[1].value());
        }
        return Product(operands[0], operands[1]);
      case TileExpr::Kind::kFloorDiv:
        return internal::FloorDiv(Write(operands[0]), expr.value());
      case TileExpr::Kind::kCeilDiv:
        return internal::CeilDiv(Write(operands[0]), expr.value());
      case TileExpr::Kind::kMod:
        return internal::Mod(Write(operands[0]), expr.value());
      default:
        return nullptr;
    }
  }

  // Puts the products where their dimensions are.
  AffineExpr WithProducts(AffineExpr expr) const {
    if (!expr || products_.empty()) return expr;
    llvm::SmallVector<AffineExpr, 8> dims;
    for (int64_t i = 0; i < num_indices_; ++i) dims.push_back(mlir::getAffineDimExpr(i, context_));
    dims.append(products_.begin(), products_.end());
    return expr.replaceDims(dims);
  }

 private:
  AffineExpr Product(const TileExpr& a, const TileExpr& b) {
    if (b.kind() == TileExpr::Kind::kIndex && a.kind() != b.kind()) return Product(b, a);
    if (a.kind() != TileExpr::Kind::kIndex || b.kind() != TileExpr::Kind::kSize) return nullptr;
    const AffineExpr size = Write(b);
    if (!size) return nullptr;
    const AffineExpr product = mlir::getAffineBinaryOpExpr(AffineExprKind::Mul, Write(a), size);
    const auto* const known = llvm::find(products_, product);
    const int64_t number = known - products_.begin();
    if (known == products_.end()) products_.push_back(product);
    return mlir::getAffineDimExpr(num_indices_ + number, context_);
  }

  mlir::MLIRContext* context_;
  const int num_sizes_;
  const int64_t num_indices_;
  llvm::SmallVector<AffineExpr, 4> products_;
};

// One more than the greatest dimension of an index.
int64_t NumIndices(const TileExpr& expr) {
  if (expr.kind() == TileExpr::Kind::kIndex) return expr.value() + 1;
  int64_t most = 0;
  for (const TileExpr& operand : expr.operands()) most = std::max(most, NumIndices(operand));
  return most;
}

}  // namespace

bool HoldsFor(int64_t left, TileRelation relation, int64_t right) {
  switch (relation) {
    case TileRelation::kEqual:
      return left == right;
    case TileRelation::kAtMost:
      return left <= right;
    case TileRelation::kAtLeast:
      return left >= right;
    case TileRelation::kMoreThan:
      return left > right;
    case TileRelation::kMultipleOf:
      // The least int64 divided by -1 is no int64.
      return right != 0 && (right == -1 || left % right == 0);
  }
  return false;
}

std::string RelationText(const TileExpr& left, TileRelation relation, const TileExpr& right,
                         const TileNames& names) {
  if (relation == TileRelation::kMultipleOf) {
    return absl::StrCat(DividendText(left, names), " mod ", DividendText(right, names), " = 0");
  }
  return absl::StrCat(left.ToString(names), " ", RelationWord(relation), " ",
                      right.ToString(names));
}

std::string RelationJson(const TileExpr& left, TileRelation relation, const TileExpr& right) {
  return absl::StrCat("{\"left\": ", left.ToJson(), ", \"relation\": \"", RelationWord(relation),
                      "\", \"right\": ", right.ToJson(), "}");
}

llvm::ArrayRef<TileExpr> TileExpr::operands() const {
  return operands_ == nullptr ? llvm::ArrayRef<TileExpr>() : llvm::ArrayRef<TileExpr>(*operands_);
}

int64_t TileExpr::Factor() const {
  return kind_ == Kind::kProduct && operands()[1].IsConstant() ? operands()[1].value() : 1;
}

TileExpr TileExpr::WithoutFactor() const {
  return kind_ == Kind::kProduct && operands()[1].IsConstant() ? operands()[0] : *this;
}

TileExpr TileExpr::Sum(llvm::ArrayRef<TileExpr> summands) {
  std::vector<TileExpr> terms;
  std::vector<int64_t> factors;
  Int128 constant = 0;
  bool is_known = true;
  const auto add = [&](const TileExpr& summand) {
    if (!summand.IsKnown()) is_known = false;
    if (summand.IsConstant()) {
      constant += summand.value();
      return;
    }
    const TileExpr term = summand.WithoutFactor();
    const auto known = terms.size() <= kMaxSummandsCompared ? llvm::find(terms, term) : terms.end();
    if (known == terms.end()) {
      terms.push_back(term);
      factors.push_back(summand.Factor());
      return;
    }
    int64_t& factor = factors[known - terms.begin()];
    const std::optional<int64_t> both = NarrowToInt64(Int128{factor} + summand.Factor());
    is_known = is_known && both;
    factor = both.value_or(0);
  };
  for (const TileExpr& summand : summands) {
    if (summand.kind_ != Kind::kSum) {
      add(summand);
      continue;
    }
    for (const TileExpr& part : summand.operands()) add(part);
  }
  const std::optional<int64_t> number = NarrowToInt64(constant);
  if (!is_known || !number) return Unknown();
  std::vector<TileExpr> parts;
  for (size_t i = 0; i < terms.size(); ++i) {
    if (factors[i] != 0) parts.push_back(terms[i] * factors[i]);
  }
  if (*number != 0 || parts.empty()) parts.emplace_back(*number);
  if (parts.size() == 1) return parts[0];
  return {Kind::kSum, 0, std::move(parts)};
}

TileExpr operator*(const TileExpr& a, const TileExpr& b) {
  if (!a.IsKnown() || !b.IsKnown()) return TileExpr::Unknown();
  if (a.IsConstant() && !b.IsConstant()) return b * a;
  if (!b.IsConstant()) {
    // A constant factor goes to the end.
    if (a.Factor() != 1 || b.Factor() != 1) {
      return (a.WithoutFactor() * b.WithoutFactor()) * (TileExpr(a.Factor()) * b.Factor());
    }
    return {TileExpr::Kind::kProduct, 0, {a, b}};
  }
  const std::optional<int64_t> factor =
      CheckedMul(a.IsConstant() ? a.value() : a.Factor(), b.value());
  if (!factor) return TileExpr::Unknown();
  if (a.IsConstant() || *factor == 0) return *factor;
  if (*factor == 1) return a.WithoutFactor();
  return {TileExpr::Kind::kProduct, 0, {a.WithoutFactor(), *factor}};
}

TileExpr TileExpr::Quotients(const TileExpr& sum, int64_t divisor, TileExpr* rest) {
  std::vector<TileExpr> quotients;
  std::vector<TileExpr> others;
  const auto add = [&](const TileExpr& summand) {
    const int64_t factor = summand.Factor();
    if (!summand.IsConstant() && factor % divisor == 0) {
      quotients.push_back(summand.WithoutFactor() * (factor / divisor));
    } else {
      others.push_back(summand);
    }
  };
  if (sum.kind_ == Kind::kSum) {
    for (const TileExpr& summand : sum.operands()) add(summand);
  } else {
    add(sum);
  }
  *rest = Sum(others);
  return Sum(quotients);
}

TileExpr FloorDiv(const TileExpr& a, int64_t divisor) {
  if (!a.IsKnown() || divisor < 1) return TileExpr::Unknown();
  if (divisor == 1) return a;
  TileExpr rest;
  const TileExpr whole = TileExpr::Quotients(a, divisor, &rest);
  if (rest.IsConstant()) return whole + internal::FloorDiv(rest.value(), divisor);
  return whole + TileExpr(TileExpr::Kind::kFloorDiv, divisor, {rest});
}

TileExpr CeilDiv(const TileExpr& a, int64_t divisor) {
  if (!a.IsKnown() || divisor < 1) return TileExpr::Unknown();
  if (divisor == 1) return a;
  TileExpr rest;
  const TileExpr whole = TileExpr::Quotients(a, divisor, &rest);
  if (rest.IsConstant()) return whole + internal::CeilDiv(rest.value(), divisor);
  return whole + TileExpr(TileExpr::Kind::kCeilDiv, divisor, {rest});
}

TileExpr Mod(const TileExpr& a, int64_t divisor) {
  if (!a.IsKnown() || divisor < 1) return TileExpr::Unknown();
  if (divisor == 1) return 0;
  TileExpr rest;
  (void)TileExpr::Quotients(a, divisor, &rest);
  if (rest.IsConstant()) return internal::FloorMod(rest.value(), divisor);
  return {TileExpr::Kind::kMod, divisor, {rest}};
}

TileExpr Min(const TileExpr& a, const TileExpr& b) {
  if (!a.IsKnown() || !b.IsKnown()) return TileExpr::Unknown();
  if (a == b) return a;
  if (a.IsConstant() && b.IsConstant()) return std::min(a.value(), b.value());
  return {TileExpr::Kind::kMin, 0, {a, b}};
}

TileExpr TileExpr::Choice(const TileExpr& left, TileRelation relation, const TileExpr& right,
                          const TileExpr& then, const TileExpr& otherwise) {
  if (!left.IsKnown() || !right.IsKnown()) return Unknown();
  if (left.IsConstant() && right.IsConstant()) {
    return HoldsFor(left.value(), relation, right.value()) ? then : otherwise;
  }
  if (then == otherwise) return then;
  TileExpr choice(Kind::kChoice, 0, {left, right, then, otherwise});
  choice.relation_ = relation;
  return choice;
}

TileExpr TileExpr::Of(AffineExpr expr, llvm::ArrayRef<TileExpr> dims,
                      llvm::ArrayRef<TileExpr> symbols) {
  const auto at = [](llvm::ArrayRef<TileExpr> list, unsigned position) {
    return position < list.size() ? list[position] : Unknown();
  };
  if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr)) {
    return at(dims, dim.getPosition());
  }
  if (const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(expr)) {
    return at(symbols, symbol.getPosition());
  }
  if (const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr)) {
    return constant.getValue();
  }
  // Sums are left-nested, and long ones deep.
  std::vector<TileExpr> summands;
  while (expr.getKind() == AffineExprKind::Add) {
    const auto sum = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
    summands.push_back(Of(sum.getRHS(), dims, symbols));
    expr = sum.getLHS();
  }
  if (!summands.empty()) {
    summands.push_back(Of(expr, dims, symbols));
    std::reverse(summands.begin(), summands.end());
    return Sum(summands);
  }
  const auto binary = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
  const TileExpr left = Of(binary.getLHS(), dims, symbols);
  const TileExpr right = Of(binary.getRHS(), dims, symbols);
  if (expr.getKind() == AffineExprKind::Mul) return left * right;
  if (!right.IsConstant()) return Unknown();
  switch (expr.getKind()) {
    case AffineExprKind::FloorDiv:
      return FloorDiv(left, right.value());
    case AffineExprKind::CeilDiv:
      return CeilDiv(left, right.value());
    default:
      return Mod(left, right.value());
  }
}

std::optional<int64_t> TileExpr::Evaluate(llvm::ArrayRef<int64_t> sizes,
                                          llvm::ArrayRef<int64_t> indices,
                                          llvm::ArrayRef<int64_t> runtimes) const {
  const auto of = [&](const TileExpr& operand) {
    return operand.Evaluate(sizes, indices, runtimes);
  };
  switch (kind_) {
    case Kind::kConstant:
      return value_;
    case Kind::kSize:
      return ValueOf(sizes, value_);
    case Kind::kIndex:
      return ValueOf(indices, value_);
    case Kind::kRuntime:
      return ValueOf(runtimes, value_);
    case Kind::kSum: {
      Int128 sum = 0;
      for (const TileExpr& operand : operands()) {
        const std::optional<int64_t> value = of(operand);
        if (!value) return std::nullopt;
        sum += *value;
      }
      return NarrowToInt64(sum);
    }
    case Kind::kUnknown:
      return std::nullopt;
    default:
      break;
  }
  const std::optional<int64_t> left = of(operands()[0]);
  if (!left) return std::nullopt;
  if (kind_ == Kind::kFloorDiv) return internal::FloorDiv(*left, value_);
  if (kind_ == Kind::kCeilDiv) return internal::CeilDiv(*left, value_);
  if (kind_ == Kind::kMod) return internal::FloorMod(*left, value_);
  const std::optional<int64_t> right = of(operands()[1]);
  if (!right) return std::nullopt;
  if (kind_ == Kind::kProduct) return CheckedMul(*left, *right);
  if (kind_ == Kind::kMin) return std::min(*left, *right);
  return of(operands()[HoldsFor(*left, relation_, *right) ? 2 : 3]);
}

TileExpr TileExpr::Substitute(llvm::ArrayRef<TileExpr> sizes, llvm::ArrayRef<TileExpr> indices,
                              llvm::ArrayRef<TileExpr> runtimes) const {
  if (kind_ == Kind::kSize) return Choose(sizes, *this);
  if (kind_ == Kind::kIndex) return Choose(indices, *this);
  if (kind_ == Kind::kRuntime) return Choose(runtimes, *this);
  std::vector<TileExpr> parts;
  for (const TileExpr& operand : operands()) {
    parts.push_back(operand.Substitute(sizes, indices, runtimes));
  }
  switch (kind_) {
    case Kind::kSum:
      return Sum(parts);
    case Kind::kProduct:
      return parts[0] * parts[1];
    case Kind::kFloorDiv:
      return FloorDiv(parts[0], value_);
    case Kind::kCeilDiv:
      return CeilDiv(parts[0], value_);
    case Kind::kMod:
      return Mod(parts[0], value_);
    case Kind::kMin:
      return Min(parts[0], parts[1]);
    case Kind::kChoice:
      return Choice(parts[0], relation_, parts[1], parts[2], parts[3]);
    default:
      return *this;
  }
}

TileExpr TileExpr::WithSizes(llvm::ArrayRef<int64_t> sizes) const {
  return Substitute(std::vector<TileExpr>(sizes.begin(), sizes.end()));
}

std::string TileExpr::ToString(const TileNames& names) const {
  switch (kind_) {
    case Kind::kConstant:
      return absl::StrCat(value_);
    case Kind::kSize:
      return NameOf(names.sizes, "t", value_);
    case Kind::kIndex:
      return NameOf(names.indices, "k", value_);
    case Kind::kRuntime:
      return NameOf(names.runtimes, "rt", value_);
    case Kind::kUnknown:
      return "?";
    case Kind::kSum: {
      std::string text;
      for (const TileExpr& operand : operands()) {
        if (text.empty()) {
          text = FactorText(operand, names);
          continue;
        }
        const int64_t factor = operand.IsConstant() ? operand.value() : operand.Factor();
        absl::StrAppend(&text, factor < 0 ? " - " : " + ");
        if (operand.IsConstant()) {
          absl::StrAppend(&text, MagnitudeText(factor));
        } else {
          absl::StrAppend(&text, FactorText(operand.WithoutFactor(), names));
          const std::string magnitude = MagnitudeText(factor);
          if (magnitude != "1") absl::StrAppend(&text, " * ", magnitude);
        }
      }
      return text;
    }
    case Kind::kProduct: {
      const std::string left = FactorText(operands()[0], names);
      if (!operands()[1].IsConstant()) {
        return absl::StrCat(left, " * ", FactorText(operands()[1], names));
      }
      const int64_t factor = operands()[1].value();
      const std::string magnitude = MagnitudeText(factor);
      return absl::StrCat(factor < 0 ? "-" : "", left,
                          magnitude == "1" ? "" : absl::StrCat(" * ", magnitude));
    }
    case Kind::kFloorDiv:
    case Kind::kCeilDiv:
    case Kind::kMod:
      return absl::StrCat(DividendText(operands()[0], names), " ", Word(kind_), " ", value_);
    case Kind::kMin:
      return absl::StrCat("min(", operands()[0].ToString(names), ", ",
                          operands()[1].ToString(names), ")");
    case Kind::kChoice:
      return absl::StrCat("(", RelationText(operands()[0], relation_, operands()[1], names), " ? ",
                          operands()[2].ToString(names), " : ", operands()[3].ToString(names), ")");
  }
  return "";
}

std::string TileExpr::ToJson() const {
  switch (kind_) {
    case Kind::kConstant:
      return absl::StrCat(value_);
    case Kind::kUnknown:
      return "null";
    case Kind::kSize:
    case Kind::kIndex:
    case Kind::kRuntime:
      return absl::StrCat("{\"", Word(kind_), "\": ", value_, "}");
    case Kind::kChoice:
      return absl::StrCat("{\"if\": ", RelationJson(operands()[0], relation_, operands()[1]),
                          ", \"then\": ", operands()[2].ToJson(),
                          ", \"else\": ", operands()[3].ToJson(), "}");
    default:
      break;
  }
  std::vector<std::string> parts;
  for (const TileExpr& operand : operands()) parts.push_back(operand.ToJson());
  if (IsDivision(*this)) parts.push_back(absl::StrCat(value_));
  return absl::StrCat("{\"", Word(kind_), "\": [", absl::StrJoin(parts, ", "), "]}");
}

AffineExpr TileExpr::ToAffine(mlir::MLIRContext* context, int num_sizes) const {
  AffineWriter writer(context, num_sizes, NumIndices(*this));
  return writer.WithProducts(writer.Write(*this));
}

bool operator==(const TileExpr& a, const TileExpr& b) {
  if (a.kind_ != b.kind_ || a.value_ != b.value_ || a.relation_ != b.relation_) return false;
  return a.operands_ == b.operands_ || a.operands() == b.operands();
}

}  // namespace xla_indexing
