#include "xla_indexing/tiling/tile/tile_condition.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"

namespace xla_indexing {

using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;
using ::mlir::IntegerSet;

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

// Expressions that are 0, or at least 0.
struct SizeConstraints {
  llvm::SmallVector<AffineExpr, 4> exprs;
  llvm::SmallVector<bool, 4> are_zero;

  bool Add(AffineExpr expr, bool is_zero) {
    if (!expr) return false;
    exprs.push_back(expr);
    are_zero.push_back(is_zero);
    return true;
  }
};

bool AddLiteral(const TileLiteral& literal, mlir::MLIRContext* context, int num_sizes,
                SizeConstraints* constraints) {
  const AffineExpr left = literal.left.ToAffine(context, num_sizes);
  const AffineExpr right = literal.right.ToAffine(context, num_sizes);
  if (!left || !right) return false;
  switch (literal.relation) {
    case TileRelation::kEqual:
      return constraints->Add(internal::Sub(left, right), /*is_zero=*/true);
    case TileRelation::kAtMost:
      return constraints->Add(internal::Sub(right, left), /*is_zero=*/false);
    case TileRelation::kAtLeast:
      return constraints->Add(internal::Sub(left, right), /*is_zero=*/false);
    case TileRelation::kMoreThan:
      return constraints->Add(
          internal::Add(internal::Sub(left, right), internal::Constant(-1, context)),
          /*is_zero=*/false);
    case TileRelation::kMultipleOf:
      if (literal.right.IsConstant()) {
        return constraints->Add(internal::Mod(left, literal.right.value()), /*is_zero=*/true);
      }
      // Nothing is a multiple of 0, which a size is not.
      if (literal.right.kind() != TileExpr::Kind::kSize &&
          !constraints->Add(internal::Add(right, internal::Constant(-1, context)),
                            /*is_zero=*/false)) {
        return false;
      }
      return constraints->Add(mlir::getAffineBinaryOpExpr(AffineExprKind::Mod, left, right),
                              /*is_zero=*/true);
  }
  return false;
}

bool AddSet(const TileSizeSet& set, mlir::MLIRContext* context, int num_sizes,
            std::vector<SizeConstraints>* sets) {
  if (llvm::any_of(set.dims, [&](int dim) { return dim >= num_sizes; })) return false;
  for (const llvm::SmallVector<int64_t, 4>& sizes : set.sizes) {
    SizeConstraints& added = sets->emplace_back();
    for (const auto [dim, size] : llvm::zip(set.dims, sizes)) {
      added.Add(
          internal::Sub(mlir::getAffineSymbolExpr(dim, context), internal::Constant(size, context)),
          /*is_zero=*/true);
    }
  }
  return true;
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

std::optional<std::vector<IntegerSet>> TileCondition::ToIntegerSets(mlir::MLIRContext* context,
                                                                    int num_sizes) const {
  if (is_by_points) return std::nullopt;
  // Clauses are multiplied out.
  std::vector<SizeConstraints> all(1);
  for (const TileClause& clause : clauses) {
    std::vector<SizeConstraints> of_clause;
    for (const TileAlternative& alternative : clause.alternatives) {
      SizeConstraints& added = of_clause.emplace_back();
      for (const TileLiteral& literal : alternative) {
        if (!AddLiteral(literal, context, num_sizes, &added)) return std::nullopt;
      }
    }
    if (!AddSet(clause.others, context, num_sizes, &of_clause)) return std::nullopt;
    if (all.size() * of_clause.size() > kMaxIntegerSets) return std::nullopt;
    std::vector<SizeConstraints> both;
    for (const SizeConstraints& a : all) {
      for (const SizeConstraints& b : of_clause) {
        SizeConstraints& added = both.emplace_back(a);
        added.exprs.append(b.exprs.begin(), b.exprs.end());
        added.are_zero.append(b.are_zero.begin(), b.are_zero.end());
      }
    }
    all = std::move(both);
  }
  if (!AddSet(others, context, num_sizes, &all)) return std::nullopt;
  std::vector<IntegerSet> sets;
  sets.reserve(all.size());
  for (const SizeConstraints& constraints : all) {
    // A set has at least one constraint.
    sets.push_back(constraints.exprs.empty()
                       ? IntegerSet::get(0, num_sizes, internal::Constant(0, context), true)
                       : IntegerSet::get(0, num_sizes, constraints.exprs, constraints.are_zero));
  }
  return sets;
}

Answer AllHold(llvm::ArrayRef<TileCondition> conditions, llvm::ArrayRef<int64_t> sizes) {
  Answer all = Answer::kYes;
  for (const TileCondition& condition : conditions) all = And(all, condition.Holds(sizes));
  return all;
}

}  // namespace xla_indexing
