#include "xla_indexing/map/text/expr_parser.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/text/lexer.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/map/variable_names.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// Each level of nesting may come with a second pair of parentheses, directly around a division.
constexpr int kMaxOpenParentheses = 2 * kMaxExprDepth + 1;

constexpr Int128 kMaxMagnitude = Int128{1} << 63;

bool IsWithinMagnitude(Int128 value) { return -kMaxMagnitude <= value && value <= kMaxMagnitude; }

}  // namespace

bool PieceChoices::IsNegative(AffineExpr difference) {
  const size_t index = llvm::find(differences_, difference) - differences_.begin();
  if (index == differences_.size()) differences_.push_back(difference);
  if (index == is_negative_.size()) is_negative_.push_back(false);
  return is_negative_[index];
}

Constraints PieceChoices::Conditions() const {
  Constraints conditions;
  for (const auto& [i, difference] : llvm::enumerate(differences_)) {
    conditions.push_back(
        {difference, is_negative_[i] ? Interval::AtMost(-1) : Interval::AtLeast(0)});
  }
  return conditions;
}

// As one counts: the last choice that is still the first of its two becomes the other, and those
// after it begin anew.
bool PieceChoices::NextPiece() {
  is_negative_.truncate(differences_.size());
  while (!is_negative_.empty() && is_negative_.back()) is_negative_.pop_back();
  if (is_negative_.empty()) return false;
  is_negative_.back() = true;
  return true;
}

bool ExprParser::Fail(size_t at, std::string message) {
  *error_ = {at, std::move(message)};
  return false;
}

bool ExprParser::FailOverflow(size_t at) {
  return Fail(at, "a number in the expression does not fit int64");
}

bool ExprParser::FailNesting(size_t at) {
  return Fail(at, absl::StrCat("expected a nesting of at most ", kMaxExprDepth));
}

AffineExpr ExprParser::Parse() {
  terms_ = 0;
  open_parentheses_ = 0;
  const size_t at = lexer_->token().offset;
  Value value;
  if (!ParseSum(&value)) return {};
  return ToExpr(at, value);
}

bool ExprParser::ParseSum(Value* value) {
  size_t at = lexer_->token().offset;
  if (!ParseTerm(value)) return false;
  if (value->sum.IsConstant() && !CountTerm(at)) return false;
  if (!lexer_->IsSign("+") && !lexer_->IsSign("-")) return true;

  Value result;
  result.nesting = value->nesting;
  if (!AddTo(at, *value, &result.sum)) return false;
  while (lexer_->IsSign("+") || lexer_->IsSign("-")) {
    const bool subtract = lexer_->IsSign("-");
    lexer_->Advance();
    at = lexer_->token().offset;
    Value term;
    if (!ParseTerm(&term)) return false;
    if (term.sum.IsConstant() && !CountTerm(at)) return false;
    if (subtract) term.multiplier = -term.multiplier;
    if (!AddTo(at, term, &result.sum)) return false;
    result.nesting = std::max(result.nesting, term.nesting);
  }
  *value = std::move(result);
  return true;
}

bool ExprParser::ParseTerm(Value* value) {
  const size_t begin = lexer_->token().offset;
  if (!ParseFactor(value)) return false;
  while (true) {
    const MapToken op = lexer_->token();
    const bool is_product = lexer_->IsSign("*");
    const bool is_floor =
        lexer_->IsWord("floordiv") || lexer_->IsWord("floorDiv") || lexer_->IsSign("/");
    const bool is_ceil = lexer_->IsWord("ceildiv") || lexer_->IsWord("ceilDiv");
    const bool is_division = is_floor || is_ceil || lexer_->IsWord("mod");
    if (!is_product && !is_division) return true;
    lexer_->Advance();
    const size_t other_at = lexer_->token().offset;
    Value other;
    if (!ParseFactor(&other)) return false;
    const bool ok = is_product ? Multiply(op.offset, other, value)
                               : Divide(is_floor ? "floordiv" : (is_ceil ? "ceildiv" : "mod"),
                                        begin, other_at, other, value);
    if (!ok) return false;
  }
}

bool ExprParser::ParseFactor(Value* value) {
  bool negative = false;
  while (lexer_->IsSign("-")) {
    negative = !negative;
    lexer_->Advance();
  }
  const MapToken& token = lexer_->token();
  bool ok = false;
  if (token.kind == MapTokenKind::kInteger) {
    ok = ParseLiteral(value);
  } else if (lexer_->IsSign("(")) {
    ok = ParseParentheses(value);
  } else if ((lexer_->IsWord("min") || lexer_->IsWord("max")) && lexer_->IsBefore("(")) {
    ok = ParseMinOrMax(value);
  } else if (token.kind == MapTokenKind::kName && !IsReservedWord(token.text)) {
    ok = ParseVariable(value);
  } else {
    ok = Fail(token.offset,
              absl::StrCat("expected a variable, a number or '(', found ", lexer_->Describe()));
  }
  if (!ok) return false;
  if (negative) {
    value->multiplier = -value->multiplier;
    value->is_bare_division = false;
  }
  return true;
}

bool ExprParser::ParseLiteral(Value* value) {
  Int128 magnitude = 0;
  for (const char digit : lexer_->token().text) {
    magnitude = magnitude * 10 + (digit - '0');
    if (!IsWithinMagnitude(magnitude)) {
      return Fail(lexer_->token().offset,
                  absl::StrCat("the number ", lexer_->Describe(), " does not fit int64"));
    }
  }
  value->sum = LinearSum(1);
  value->multiplier = magnitude;
  lexer_->Advance();
  return true;
}

bool ExprParser::ParseVariable(Value* value) {
  const MapToken& token = lexer_->token();
  const auto variable = variables_->find(token.text);
  if (variable == variables_->end()) {
    return Fail(token.offset,
                absl::StrCat("expected a declared variable, found ", lexer_->Describe()));
  }
  if (!CountTerm(token.offset)) return false;
  value->sum = LinearSum::Of(variable->second);
  lexer_->Advance();
  return true;
}

bool ExprParser::ParseParentheses(Value* value) {
  const size_t at = lexer_->token().offset;
  if (++open_parentheses_ > kMaxOpenParentheses) return FailNesting(at);
  lexer_->Advance();
  if (!ParseSum(value)) return false;
  if (!lexer_->IsSign(")")) {
    return Fail(lexer_->token().offset,
                absl::StrCat("expected ')' or an operator, found ", lexer_->Describe()));
  }
  lexer_->Advance();
  --open_parentheses_;
  if (!value->is_bare_division && ++value->nesting > kMaxExprDepth) return FailNesting(at);
  value->is_bare_division = false;
  return true;
}

bool ExprParser::ParseMinOrMax(Value* value) {
  const bool is_min = lexer_->IsWord("min");
  const size_t at = lexer_->token().offset;
  if (++open_parentheses_ > kMaxOpenParentheses) return FailNesting(at);
  lexer_->Advance();
  Value values[2];
  AffineExpr exprs[2];
  for (const int i : {0, 1}) {
    if (!lexer_->IsSign(i == 0 ? "(" : ",")) {
      return Fail(lexer_->token().offset,
                  absl::StrCat("expected ',' or an operator, found ", lexer_->Describe()));
    }
    lexer_->Advance();
    if (!ParseSum(&values[i])) return false;
    exprs[i] = ToExpr(at, values[i]);
    if (!exprs[i]) return false;
  }
  if (!lexer_->IsSign(")")) {
    return Fail(lexer_->token().offset,
                absl::StrCat("expected ')' or an operator, found ", lexer_->Describe()));
  }
  lexer_->Advance();
  --open_parentheses_;
  const AffineExpr difference = Sub(exprs[1], exprs[0]);
  if (!difference) return FailOverflow(at);
  const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(difference);
  const bool is_negative = constant ? constant.getValue() < 0 : choices_->IsNegative(difference);
  // The second is the lesser one where it is negative.
  *value = std::move(values[is_min == is_negative ? 1 : 0]);
  value->is_bare_division = false;
  return ++value->nesting <= kMaxExprDepth || FailNesting(at);
}

bool ExprParser::Multiply(size_t at, const Value& other, Value* value) {
  const Value left = std::move(*value);
  const bool left_is_factor = left.sum.IsConstant();
  if (!left_is_factor && !other.sum.IsConstant()) {
    return Fail(at, "expected a product with a constant, found one of two variables");
  }
  const Value& factor = left_is_factor ? left : other;
  const Value& factored = left_is_factor ? other : left;
  // Constants have magnitude at most 2^63, and so have multipliers: nothing here passes 2^126.
  const Int128 constant = factor.multiplier * factor.sum.constant();
  *value = Value();
  value->nesting = std::max(left.nesting, other.nesting);
  if (factored.sum.IsConstant()) {
    const Int128 factored_constant = factored.multiplier * factored.sum.constant();
    if (!IsWithinMagnitude(constant) || !IsWithinMagnitude(factored_constant)) {
      return FailOverflow(at);
    }
    value->sum = LinearSum(1);
    value->multiplier = constant * factored_constant;
  } else if (constant == 0) {
    value->sum = LinearSum(0);
  } else {
    if (!IsWithinMagnitude(constant)) return FailOverflow(at);
    value->sum = factored.sum;
    value->multiplier = constant * factored.multiplier;
  }
  return IsWithinMagnitude(value->multiplier) || FailOverflow(at);
}

bool ExprParser::Divide(absl::string_view word, size_t at, size_t other_at, const Value& other,
                        Value* value) {
  if (!other.sum.IsConstant()) {
    return Fail(other_at, absl::StrCat("expected a constant divisor for ", word,
                                       ", found one with variables"));
  }
  const Int128 wide_divisor = other.multiplier * other.sum.constant();
  if (wide_divisor == 0) {
    return Fail(other_at, absl::StrCat("expected a divisor other than 0 for ", word));
  }
  // For a negative divisor: e / -m = -e / m, and e mod -m = e + m * floor(e / -m) = -((-e) mod m).
  const bool is_negative = wide_divisor < 0;
  const std::optional<int64_t> divisor = NarrowToInt64(is_negative ? -wide_divisor : wide_divisor);
  if (!divisor) return FailOverflow(other_at);
  if (is_negative) value->multiplier = -value->multiplier;
  AffineExpr dividend = ToExpr(at, *value);
  if (!dividend) return false;
  AffineExpr quotient;
  if (word == "floordiv") {
    quotient = FloorDiv(dividend, *divisor);
  } else if (word == "ceildiv") {
    quotient = CeilDiv(dividend, *divisor);
  } else {
    quotient = Mod(dividend, *divisor);
  }
  if (!quotient) {
    return DivisionDepth(dividend) >= kMaxExprDepth ? FailNesting(at) : FailOverflow(at);
  }
  value->sum = LinearSum::FromExpr(quotient);
  value->multiplier = is_negative && word == "mod" ? -1 : 1;
  value->nesting = std::max(value->nesting, other.nesting);
  value->is_bare_division = true;
  return true;
}

bool ExprParser::AddTo(size_t at, const Value& value, LinearSum* sum) {
  if (value.sum.IsConstant()) {
    const std::optional<int64_t> constant = NarrowToInt64(value.multiplier * value.sum.constant());
    if (!constant) return FailOverflow(at);
    sum->AddConstant(*constant);
  } else {
    const std::optional<int64_t> multiplier = NarrowToInt64(value.multiplier);
    if (!multiplier) return FailOverflow(at);
    sum->AddScaled(value.sum, *multiplier);
  }
  return sum->valid() || FailOverflow(at);
}

AffineExpr ExprParser::ToExpr(size_t at, const Value& value) {
  LinearSum sum;
  if (!AddTo(at, value, &sum)) return {};
  AffineExpr expr = sum.ToExpr(context_);
  if (!expr) FailOverflow(at);
  return expr;
}

bool ExprParser::CountTerm(size_t at) {
  if (++terms_ <= kMaxSummands) return true;
  return Fail(at, absl::StrCat("expected at most ", kMaxSummands, " terms in an expression"));
}

}  // namespace xla_indexing::internal
