#include "xla_indexing/map/text/isl_text.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing {
namespace {

// The name of a symbol: ranges first, then runtime variables.
std::string SymbolNameInIsl(int64_t position, int64_t num_ranges) {
  return position < num_ranges ? absl::StrCat("s", position)
                               : absl::StrCat("rt", position - num_ranges);
}

// Every operation in parentheses, so that no order of operators matters.
void AppendIslExpr(mlir::AffineExpr expr, int64_t num_ranges, std::string* out) {
  if (const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr)) {
    absl::StrAppend(out, constant.getValue());
    return;
  }
  if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr)) {
    absl::StrAppend(out, "d", dim.getPosition());
    return;
  }
  if (const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(expr)) {
    absl::StrAppend(out, SymbolNameInIsl(symbol.getPosition(), num_ranges));
    return;
  }
  const auto binary = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
  const bool is_division = expr.getKind() == mlir::AffineExprKind::FloorDiv;
  absl::string_view sign = " + ";
  if (is_division) sign = "/";
  if (expr.getKind() == mlir::AffineExprKind::Mul) sign = "*";
  if (expr.getKind() == mlir::AffineExprKind::Mod) sign = " mod ";
  absl::StrAppend(out, is_division ? "floor(" : "(");
  AppendIslExpr(binary.getLHS(), num_ranges, out);
  absl::StrAppend(out, sign);
  AppendIslExpr(binary.getRHS(), num_ranges, out);
  absl::StrAppend(out, ")");
}

// `text in interval`, after ` and ` unless it is the first condition.
void AppendIslInterval(absl::string_view text, const Interval& interval, std::string* conditions) {
  if (interval.IsAll()) return;
  if (!conditions->empty()) absl::StrAppend(conditions, " and ");
  if (interval.IsEmpty()) {
    absl::StrAppend(conditions, "1 = 0");
    return;
  }
  if (interval.has_lower()) absl::StrAppend(conditions, interval.lower(), " <= ");
  absl::StrAppend(conditions, text);
  if (interval.has_upper()) absl::StrAppend(conditions, " <= ", interval.upper());
}

// `prefix0, prefix1, ..`.
std::string NumberedNames(absl::string_view prefix, int count) {
  std::string names;
  for (int i = 0; i < count; ++i) absl::StrAppend(&names, i == 0 ? "" : ", ", prefix, i);
  return names;
}

}  // namespace

std::string ToIslText(const IndexingMap& map) {
  std::string conditions;
  for (int i = 0; i < map.num_results(); ++i) {
    absl::StrAppend(&conditions, i == 0 ? "r" : " and r", i, " = ");
    AppendIslExpr(map.results()[i], map.num_ranges(), &conditions);
  }
  for (int i = 0; i < map.num_dims(); ++i) {
    AppendIslInterval(absl::StrCat("d", i), map.dims()[i].bounds, &conditions);
  }
  for (int i = 0; i < map.num_symbols(); ++i) {
    AppendIslInterval(SymbolNameInIsl(i, map.num_ranges()), map.symbol(i).bounds, &conditions);
  }
  for (const Constraint& constraint : map.constraints()) {
    std::string text;
    AppendIslExpr(constraint.expr, map.num_ranges(), &text);
    AppendIslInterval(text, constraint.interval, &conditions);
  }

  std::string out;
  if (map.num_runtimes() > 0) {
    absl::StrAppend(&out, "[", NumberedNames("rt", map.num_runtimes()), "] -> ");
  }
  absl::StrAppend(&out, "{ [", NumberedNames("d", map.num_dims()), "] -> [",
                  NumberedNames("r", map.num_results()), "]");
  if (map.num_ranges() > 0) {
    // An existential quantifier has to have a formula.
    if (conditions.empty()) conditions = "0 = 0";
    conditions =
        absl::StrCat("exists (", NumberedNames("s", map.num_ranges()), " : ", conditions, ")");
  }
  if (!conditions.empty()) absl::StrAppend(&out, " : ", conditions);
  absl::StrAppend(&out, " }");
  return out;
}

}  // namespace xla_indexing
