#include "xla_indexing/tiling/tile/tile_condition.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/STLExtras.h"

namespace xla_indexing {

namespace {

Answer HoldsOf(const TileLiteral& literal, llvm::ArrayRef<int64_t> sizes) {
  const std::optional<int64_t> left = literal.left.Evaluate(sizes);
  const std::optional<int64_t> right = literal.right.Evaluate(sizes);
  if (!left || !right) return Answer::kUndecided;
  return AnswerOf(HoldsFor(*left, literal.relation, *right));
}

Answer HoldsOf(const TileClause& clause, llvm::ArrayRef<int64_t> sizes) {
  Answer any = clause.others.IsEmpty() ? Answer::kNo : clause.others.Contains(sizes);
  for (const TileAlternative& alternative : clause.alternatives) {
    Answer all = Answer::kYes;
    for (const TileLiteral& literal : alternative) all = And(all, HoldsOf(literal, sizes));
    any = Or(any, all);
  }
  return any;
}

std::string AlternativeText(const TileAlternative& alternative, const TileNames& names) {
  if (alternative.empty()) return "true";
  const std::string text = absl::StrJoin(
      alternative, " and ",
      [&](std::string* out, const TileLiteral& literal) { out->append(literal.ToString(names)); });
  return alternative.size() == 1 ? text : absl::StrCat("(", text, ")");
}

std::string ListJson(llvm::ArrayRef<int64_t> list) {
  return absl::StrCat("[", absl::StrJoin(list, ", "), "]");
}

std::string SetJson(const TileSizeSet& set) {
  return absl::StrCat(
      "{\"dims\": [", absl::StrJoin(set.dims, ", "), "], \"sizes\": [",
      absl::StrJoin(set.sizes, ", ",
                    [](std::string* out, const llvm::SmallVector<int64_t, 4>& sizes) {
                      out->append(ListJson(sizes));
                    }),
      "]}");
}

std::string ClauseJson(const TileClause& clause) {
  std::vector<std::string> alternatives;
  for (const TileAlternative& alternative : clause.alternatives) {
    std::vector<std::string> literals;
    for (const TileLiteral& literal : alternative) {
      literals.push_back(RelationJson(literal.left, literal.relation, literal.right));
    }
    alternatives.push_back(absl::StrCat("[", absl::StrJoin(literals, ", "), "]"));
  }
  return absl::StrCat(
      "{\"alternatives\": [", absl::StrJoin(alternatives, ", "), "]",
      clause.others.IsEmpty() ? "" : absl::StrCat(", \"or\": ", SetJson(clause.others)), "}");
}

// Renames the dimensions of a set.
bool SubstituteIn(llvm::ArrayRef<TileExpr> sizes, TileSizeSet* set) {
  for (int& dim : set->dims) {
    if (static_cast<size_t>(dim) >= sizes.size()) continue;
    if (sizes[dim].kind() != TileExpr::Kind::kSize) return false;
    dim = static_cast<int>(sizes[dim].value());
  }
  return true;
}

}  // namespace

Answer TileSizeSet::Contains(llvm::ArrayRef<int64_t> of_all) const {
  llvm::SmallVector<int64_t, 4> own;
  for (const int dim : dims) {
    if (static_cast<size_t>(dim) >= of_all.size()) return Answer::kUndecided;
    own.push_back(of_all[dim]);
  }
  return AnswerOf(llvm::is_contained(sizes, own));
}

std::string TileSizeSet::ToString(const TileNames& names) const {
  std::vector<std::string> of_dims;
  for (const int dim : dims) of_dims.push_back(TileExpr::Size(dim).ToString(names));
  std::vector<std::string> elements;
  if (dims.size() == 1) {
    for (size_t i = 0; i < sizes.size();) {
      size_t end = i + 1;
      while (end < sizes.size() && sizes[end][0] == sizes[end - 1][0] + 1) ++end;
      elements.push_back(end == i + 1 ? absl::StrCat(sizes[i][0])
                                      : absl::StrCat(sizes[i][0], " to ", sizes[end - 1][0]));
      i = end;
    }
    return absl::StrCat(of_dims[0], " in {", absl::StrJoin(elements, ", "), "}");
  }
  for (const llvm::SmallVector<int64_t, 4>& element : sizes) {
    elements.push_back(absl::StrCat("(", absl::StrJoin(element, ", "), ")"));
  }
  return absl::StrCat("(", absl::StrJoin(of_dims, ", "), ") in {", absl::StrJoin(elements, ", "),
                      "}");
}

std::string TileClause::ToString(const TileNames& names) const {
  std::vector<std::string> texts;
  texts.reserve(alternatives.size());
  for (const TileAlternative& alternative : alternatives) {
    texts.push_back(AlternativeText(alternative, names));
  }
  if (!others.IsEmpty()) texts.push_back(others.ToString(names));
  return texts.empty() ? "false" : absl::StrJoin(texts, " or ");
}

Answer TileCondition::Holds(llvm::ArrayRef<int64_t> sizes) const {
  Answer all = Answer::kYes;
  for (const TileClause& clause : clauses) all = And(all, HoldsOf(clause, sizes));
  const Answer other = others.IsEmpty() ? Answer::kNo : others.Contains(sizes);
  return Or(Or(all, other), is_by_points ? Answer::kUndecided : Answer::kNo);
}

std::optional<TileCondition> TileCondition::Substitute(llvm::ArrayRef<TileExpr> sizes) const {
  TileCondition result = *this;
  if (!SubstituteIn(sizes, &result.others)) return std::nullopt;
  for (TileClause& clause : result.clauses) {
    if (!SubstituteIn(sizes, &clause.others)) return std::nullopt;
    for (TileAlternative& alternative : clause.alternatives) {
      for (TileLiteral& literal : alternative) {
        literal.left = literal.left.Substitute(sizes);
        literal.right = literal.right.Substitute(sizes);
      }
    }
  }
  return result;
}

std::string TileCondition::ToString(const TileNames& names) const {
  const bool is_false =
      clauses.size() == 1 && clauses[0].alternatives.empty() && clauses[0].others.IsEmpty();
  if (is_false && is_by_points && others.IsEmpty()) return "decided point by point";
  if (is_false && !others.IsEmpty()) return others.ToString(names);
  std::vector<std::string> texts;
  texts.reserve(clauses.size());
  for (const TileClause& clause : clauses) texts.push_back(clause.ToString(names));
  if (texts.empty()) return "true";
  if (texts.size() > 1) {
    for (std::string& text : texts) text = absl::StrCat("(", text, ")");
  }
  std::string text = absl::StrJoin(texts, " and ");
  if (others.IsEmpty()) return text;
  if (texts.size() > 1) text = absl::StrCat("(", text, ")");
  return absl::StrCat(text, " or ", others.ToString(names));
}

std::string TileCondition::ToJson() const {
  std::vector<std::string> of_clauses;
  of_clauses.reserve(clauses.size());
  for (const TileClause& clause : clauses) of_clauses.push_back(ClauseJson(clause));
  return absl::StrCat("{\"clauses\": [", absl::StrJoin(of_clauses, ", "), "]",
                      others.IsEmpty() ? "" : absl::StrCat(", \"or\": ", SetJson(others)),
                      is_by_points ? ", \"by_points\": true" : "", "}");
}

Answer AllHold(llvm::ArrayRef<TileCondition> conditions, llvm::ArrayRef<int64_t> sizes) {
  Answer all = Answer::kYes;
  for (const TileCondition& condition : conditions) all = And(all, condition.Holds(sizes));
  return all;
}

}  // namespace xla_indexing
