#include <cstddef>
#include <ostream>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/affine_text.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/map/variable_names.h"

namespace xla_indexing {
namespace {

using internal::AppendAffineExpr;
using internal::NamesOf;
using internal::VariableNames;

// The names, separated by ", ", between two signs.
void AppendList(absl::string_view open, llvm::ArrayRef<std::string> names, absl::string_view close,
                std::string* out) {
  absl::StrAppend(out, open);
  for (size_t i = 0; i < names.size(); ++i) absl::StrAppend(out, i == 0 ? "" : ", ", names[i]);
  absl::StrAppend(out, close);
}

}  // namespace

std::string IndexingMap::ToString() const {
  const VariableNames names = NamesOf(*this);
  const llvm::ArrayRef<std::string> symbols = names.symbols;
  const bool known_empty = IsKnownEmpty();
  std::string out = known_empty ? "KNOWN EMPTY " : "";
  AppendList("(", names.dims, ")", &out);
  if (num_ranges() > 0) AppendList("[", symbols.take_front(num_ranges()), "]", &out);
  if (num_runtimes() > 0) AppendList("{", symbols.drop_front(num_ranges()), "}", &out);
  out.append(" -> ");
  if (known_empty) {
    absl::StrAppend(&out, num_results(), " results");
    return out;
  }
  out.push_back('(');
  for (int i = 0; i < num_results(); ++i) {
    if (i > 0) out.append(", ");
    AppendAffineExpr(results()[i], names.dims, names.symbols, &out);
  }
  out.push_back(')');

  absl::string_view separator = ", domain: ";
  const auto append_interval = [&](const Interval& interval) {
    out.append(" in ");
    interval.AppendTo(&out);
    separator = ", ";
  };
  for (int i = 0; i < num_dims(); ++i) {
    absl::StrAppend(&out, separator, names.dims[i]);
    append_interval(variables_[i].bounds);
  }
  for (int i = 0; i < num_symbols(); ++i) {
    absl::StrAppend(&out, separator, names.symbols[i]);
    append_interval(symbol(i).bounds);
  }
  for (const Constraint& constraint : constraints_) {
    absl::StrAppend(&out, separator);
    AppendAffineExpr(constraint.expr, names.dims, names.symbols, &out);
    append_interval(constraint.interval);
  }
  return out;
}

MapTextParts TextPartsOf(const IndexingMap& map) {
  VariableNames names = NamesOf(map);
  MapTextParts parts;
  for (const mlir::AffineExpr result : map.results()) {
    AppendAffineExpr(result, names.dims, names.symbols, &parts.results.emplace_back());
  }
  for (const Constraint& constraint : map.constraints()) {
    AppendAffineExpr(constraint.expr, names.dims, names.symbols, &parts.constraints.emplace_back());
  }
  parts.dims = std::move(names.dims);
  const auto first_runtime = names.symbols.begin() + map.num_ranges();
  parts.ranges.assign(names.symbols.begin(), first_runtime);
  parts.runtimes.assign(first_runtime, names.symbols.end());
  return parts;
}

void PrintTo(const IndexingMap& map, std::ostream* os) { *os << map.ToString(); }

}  // namespace xla_indexing
