#include "xla_indexing/map/text/rule_step_text.h"

#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/text/affine_text.h"
#include "xla_indexing/map/variable_names.h"

namespace xla_indexing {

using internal::AppendAffineExpr;
using internal::NamesOf;
using internal::VariableNames;

std::string ToString(const RuleStep& step, const IndexingMap& map) {
  if (!step.before) return absl::StrCat("[", step.rule, "]");
  const VariableNames names = NamesOf(map);
  std::string text;
  const auto append = [&](mlir::AffineExpr expr, const std::optional<Interval>& interval) {
    AppendAffineExpr(expr, names.dims, names.symbols, &text);
    if (!interval) return;
    text.append(" in ");
    interval->AppendTo(&text);
  };
  append(step.before, step.interval_before);
  text.append(" -> ");
  append(step.after, step.interval_after);
  absl::StrAppend(&text, "  [", step.rule, "]");
  return text;
}

}  // namespace xla_indexing
