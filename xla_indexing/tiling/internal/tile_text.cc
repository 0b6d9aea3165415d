#include "xla_indexing/tiling/internal/tile_text.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/map/internal/affine_text.h"
#include "xla_indexing/map/internal/variable_names.h"
#include "xla_indexing/tiling/internal/tile_digits.h"

namespace xla_indexing::internal {
namespace {

std::string Size(int dim) { return absl::StrCat("t", dim); }

bool IsNumber(const std::string& text) {
  return !text.empty() && llvm::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// `a floordiv b` of `(a floordiv b)`, where that stands for itself.
std::string WithoutParentheses(const std::string& text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return text;
  int depth = 0;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return text;
  }
  // A choice keeps them.
  if (text.find('?') != std::string::npos) return text;
  return text.substr(1, text.size() - 2);
}

// A sum as text: terms that are 0 vanish, numbers are added.
class SumText {
 public:
  void Add(int64_t number) { constant_ += number; }
  // factor * text, where `text` is a number, or binds as tightly as a product does.
  void Add(const std::string& text, int64_t factor) {
    if (factor == 0) return;
    terms_.push_back({text, factor});
  }
  std::string Write() const {
    if (terms_.size() == 1 && terms_[0].factor == 1 && constant_ == 0) {
      return WithoutParentheses(terms_[0].text);
    }
    std::string sum;
    for (const auto& [text, factor] : terms_) {
      const std::string term =
          Magnitude(factor) == 1 ? text : absl::StrCat(text, " * ", Magnitude(factor));
      if (sum.empty()) {
        sum = factor < 0 ? absl::StrCat("-", term) : term;
      } else {
        absl::StrAppend(&sum, factor < 0 ? " - " : " + ", term);
      }
    }
    if (sum.empty()) return absl::StrCat(constant_);
    if (constant_ != 0) absl::StrAppend(&sum, constant_ < 0 ? " - " : " + ", Magnitude(constant_));
    return sum;
  }

 private:
  struct Term {
    std::string text;
    int64_t factor;
  };
  std::vector<Term> terms_;
  int64_t constant_ = 0;
};

std::string Parenthesized(const std::string& text) { return absl::StrCat("(", text, ")"); }

// The first value of a group in tile k.
std::string FirstText(const SymbolicTile& tile, const TileGroup& group) {
  const TileDigits& digits = tile.digits();
  const TileVariable& variable = digits.variables()[group.variable];
  SumText begin;
  begin.Add(absl::StrCat("k", group.variable, " * ", Size(group.variable)), 1);
  begin.Add(variable.shift);
  if (variable.modulus != 1) {
    return absl::StrCat("(", Parenthesized(begin.Write()), " ceildiv ", variable.modulus, ")");
  }
  if (group.low == 1 && group.count == 0) {
    return variable.shift == 0 ? begin.Write() : Parenthesized(begin.Write());
  }
  std::string text = Parenthesized(begin.Write());
  if (group.low != 1) absl::StrAppend(&text, " floordiv ", group.low);
  if (group.count == 0) return Parenthesized(text);
  absl::StrAppend(&text, " mod ", group.count);
  const TileUnit& last = digits.UnitsOf(variable).back();
  if (last.count == 0) return Parenthesized(text);
  // Where nothing above is used, tiles may begin anywhere once they have all values.
  const int64_t least_size = last.low * last.count - digits.UnitsOf(variable).front().low + 1;
  return absl::StrCat("(", Size(group.variable), " >= ", least_size, " ? 0 : ", text, ")");
}

// `a` for the first group that takes several values, `b` for the next, ..: a text for each group
// that may be that one.
template <typename TextOf>
std::string ByFirstGroup(const SymbolicTile& tile, llvm::ArrayRef<TileGroup> groups,
                         TextOf text_of) {
  std::string text;
  std::string end;
  for (size_t i = 0; i < groups.size(); ++i) {
    const TileGroup& group = groups[i];
    const std::string of_group = text_of(i);
    if (i + 1 == groups.size() || group.known_count) return absl::StrCat(text, of_group, end);
    const int64_t low = tile.digits().variables()[group.variable].modulus != 1
                            ? 2 * tile.digits().variables()[group.variable].modulus - 1
                            : group.low;
    absl::StrAppend(&text, "(", Size(group.variable), " > ", low, " ? ", of_group, " : ");
    end.push_back(')');
  }
  return text;
}

bool HasDigits(const SymbolicTile& tile, const TileResult& result) {
  return !result.is_opaque &&
         llvm::all_of(tile.digits().UnitTermsOf(result), [&](const TileUnitTerm& term) {
           const int variable = tile.digits().units()[term.unit].variable;
           // Tiles of range variables that are not aligned.
           return variable < tile.digits().num_dims() ||
                  tile.digits().RangeCounts().is_aligned[variable];
         });
}

std::string SizeText(const SymbolicTile& tile, const TileResult& result) {
  if (!HasDigits(tile, result)) return "?";
  const llvm::SmallVector<TileGroup, 4> groups = GroupsOf(tile, result);
  if (groups.empty()) return "1";
  return ByFirstGroup(tile, groups, [&](size_t first) {
    SumText size;
    for (size_t i = first; i < groups.size(); ++i) {
      const int64_t factor =
          Magnitude(groups[i].coefficient) / Magnitude(groups[first].coefficient);
      // It has to have one value where the others' steps do not lead to its own.
      if (groups[i].coefficient % groups[first].coefficient != 0) continue;
      const std::string count = CountText(tile, groups[i]);
      if (IsNumber(count)) {
        size.Add((*groups[i].known_count - (i == first ? 0 : 1)) * factor);
      } else {
        size.Add(factor == 1 || i == first ? count : Parenthesized(absl::StrCat(count, " - 1")),
                 factor);
        if (factor == 1 && i != first) size.Add(-1);
      }
    }
    return size.Write();
  });
}

std::string StrideText(const SymbolicTile& tile, const TileResult& result) {
  if (!HasDigits(tile, result)) return "?";
  const llvm::SmallVector<TileGroup, 4> groups = GroupsOf(tile, result);
  if (groups.empty()) return "1";
  const int64_t sign = tile.digits().Falls(result) ? -1 : 1;
  return ByFirstGroup(tile, groups, [&](size_t first) {
    return absl::StrCat(sign * Magnitude(groups[first].coefficient));
  });
}

// The summands of a sum, which is left-nested.
llvm::SmallVector<mlir::AffineExpr, 4> SummandsOf(mlir::AffineExpr expr) {
  llvm::SmallVector<mlir::AffineExpr, 4> summands;
  while (expr.getKind() == mlir::AffineExprKind::Add) {
    const auto sum = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
    summands.push_back(sum.getRHS());
    expr = sum.getLHS();
  }
  summands.push_back(expr);
  std::reverse(summands.begin(), summands.end());
  return summands;
}

bool HasRuntime(const IndexingMap& map, mlir::AffineExpr expr) {
  for (int i = 0; i < map.num_runtimes(); ++i) {
    if (expr.isFunctionOfSymbol(map.num_ranges() + i)) return true;
  }
  return false;
}

std::string OffsetText(const SymbolicTile& tile, int index) {
  const IndexingMap& map = tile.map();
  const TileDigits& digits = tile.digits();
  const TileResult& result = digits.results()[index];
  VariableNames names = NamesOf(map);
  std::string text;
  if (!HasDigits(tile, result)) {
    // The expression at the tile's first point.
    for (int i = 0; i < map.num_dims(); ++i) names.dims[i] = absl::StrCat("(k", i, " * t", i, ")");
    for (int i = 0; i < map.num_ranges(); ++i) {
      const Interval& bounds = map.ranges()[i].bounds;
      if (bounds.has_lower()) names.symbols[i] = absl::StrCat(bounds.lower());
    }
    AppendAffineExpr(map.results()[index], names.dims, names.symbols, &text);
    return text;
  }
  SumText offset;
  const UnitCounts ranges = digits.RangeCounts();
  const bool falls = digits.Falls(result);
  offset.Add(result.constant);
  for (const TileUnitTerm& term : digits.UnitTermsOf(result)) {
    const int variable = digits.units()[term.unit].variable;
    if (variable < digits.num_dims()) continue;
    // The first value, or where it falls among others that rise the last.
    const int64_t first =
        digits.FirstOf(term.unit, digits.variables()[variable].bounds.lower(), ranges).value_or(0);
    const bool is_last = term.coefficient < 0 && !falls;
    offset.Add((first + (is_last ? ranges.counts[term.unit] - 1 : 0)) * term.coefficient);
  }
  for (const TileGroup& group : GroupsOf(tile, result)) {
    if (group.variable >= digits.num_dims()) continue;
    offset.Add(FirstText(tile, group), group.coefficient);
    if (group.coefficient > 0 || falls) continue;
    offset.Add(CountText(tile, group), group.coefficient);
    offset.Add(Magnitude(group.coefficient));
  }
  text = offset.Write();
  if (!result.has_runtime) return text;
  for (const mlir::AffineExpr summand : SummandsOf(map.results()[index])) {
    if (!HasRuntime(map, summand)) continue;
    absl::StrAppend(&text, " + ");
    AppendAffineExpr(summand, names.dims, names.symbols, &text);
  }
  return absl::StartsWith(text, "0 + ") ? text.substr(4) : text;
}

std::string Names(const char* prefix, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(absl::StrCat(prefix, i));
  return absl::StrJoin(names, ", ");
}

template <typename TextOf>
std::string ResultTexts(const SymbolicTile& tile, TextOf text_of) {
  std::vector<std::string> texts;
  for (int i = 0; i < tile.map().num_results(); ++i) texts.push_back(text_of(i));
  return absl::StrCat(" -> (", absl::StrJoin(texts, ", "), ")");
}

}  // namespace

std::string CountText(const SymbolicTile& tile, const TileGroup& group, int first_size) {
  if (group.known_count) return absl::StrCat(*group.known_count);
  const TileVariable& variable = tile.digits().variables()[group.variable];
  const std::string size = Size(first_size + group.variable);
  if (variable.modulus != 1) return absl::StrCat("(", size, " floordiv ", variable.modulus, ")");
  if (group.low == 1) {
    return group.count == 0 ? size : absl::StrCat("min(", size, ", ", group.count, ")");
  }
  const std::string quotient = absl::StrCat(size, " ceildiv ", group.low);
  if (group.count != 0) return absl::StrCat("min(", quotient, ", ", group.count, ")");
  if (BeginsInside(variable, group.low)) {
    return absl::StrCat("(", size, " floordiv ", group.low, " + 1)");
  }
  return Parenthesized(quotient);
}

llvm::SmallVector<TileGroup, 4> GroupsOf(const SymbolicTile& tile, const TileResult& result) {
  const TileDigits& digits = tile.digits();
  const UnitCounts ranges = digits.RangeCounts();
  llvm::SmallVector<TileGroup, 4> groups;
  for (const TileUnitTerm& term : digits.UnitTermsOf(result)) {
    const TileUnit& unit = digits.units()[term.unit];
    const bool is_range = unit.variable >= digits.num_dims();
    // The unit goes on with a group: what one more of it counts is what all of the group does.
    const auto group = llvm::find_if(groups, [&](const TileGroup& g) {
      return g.variable == unit.variable && g.count != 0 && g.low * g.count == unit.low &&
             CheckedMul(g.coefficient, g.count) == term.coefficient;
    });
    const int64_t known = is_range ? ranges.counts[term.unit] : 0;
    if (group != groups.end()) {
      if (is_range) group->known_count = *group->known_count + (known - 1) * group->count;
      group->count *= unit.count;
      continue;
    }
    TileGroup& added = groups.emplace_back();
    added.variable = unit.variable;
    added.low = unit.low;
    added.count = unit.count;
    added.coefficient = term.coefficient;
    if (is_range) added.known_count = known;
  }
  for (TileGroup& group : groups) {
    if (group.known_count) {
      group.most = group.known_count;
      continue;
    }
    const TileVariable& variable = digits.variables()[group.variable];
    const int64_t size = tile.dim_sizes()[group.variable];
    group.most = CeilDiv(size, group.low);
    if (BeginsInside(variable, group.low)) group.most = size / group.low + 1;
    if (group.count != 0) group.most = std::min(*group.most, group.count);
    if (group.most == 1 && variable.shift == 0 && variable.modulus == 1) group.known_count = 1;
  }
  llvm::erase_if(groups, [](const TileGroup& group) { return group.known_count == 1; });
  llvm::stable_sort(groups, [](const TileGroup& a, const TileGroup& b) {
    return Magnitude(a.coefficient) < Magnitude(b.coefficient);
  });
  return groups;
}

std::string OffsetMapText(const SymbolicTile& tile) {
  std::string text = absl::StrCat("(", Names("k", tile.num_sizes()), ")");
  absl::StrAppend(&text, "[", Names("t", tile.num_sizes()), "]");
  const VariableNames names = NamesOf(tile.map());
  if (tile.map().num_runtimes() > 0) {
    absl::StrAppend(
        &text, "{",
        absl::StrJoin(names.symbols.begin() + tile.map().num_ranges(), names.symbols.end(), ", "),
        "}");
  }
  return absl::StrCat(text, ResultTexts(tile, [&](int i) { return OffsetText(tile, i); }));
}

std::string SizeMapText(const SymbolicTile& tile) {
  return absl::StrCat("(", Names("t", tile.num_sizes()), ")", ResultTexts(tile, [&](int i) {
                        return SizeText(tile, tile.digits().results()[i]);
                      }));
}

std::string StrideMapText(const SymbolicTile& tile) {
  return absl::StrCat("(", Names("t", tile.num_sizes()), ")", ResultTexts(tile, [&](int i) {
                        return StrideText(tile, tile.digits().results()[i]);
                      }));
}

}  // namespace xla_indexing::internal
