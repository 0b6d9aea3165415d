#include "xla_indexing/query/in_place/runtime_conditions.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

bool IsOneValue(const RuntimeVarIndexing& binding) {
  return !binding.device && absl::c_all_of(binding.element, [](AffineExpr e) {
    return llvm::isa<mlir::AffineConstantExpr>(e);
  });
}

// F: one variable, or the difference of two.
struct RuntimeForm {
  RuntimeVarIndexing plus;
  std::optional<RuntimeVarIndexing> minus;
};

std::optional<AffineExpr> SymbolOf(const RuntimeVarIndexing& binding,
                                   const OperandIndexing& indexing) {
  const IndexingMap& map = indexing.map();
  for (int i = 0; i < map.num_runtimes(); ++i) {
    if (indexing.bindings()[i] == binding) {
      return mlir::getAffineSymbolExpr(map.num_ranges() + i, map.context());
    }
  }
  return std::nullopt;
}

// Null if the map does not have it.
AffineExpr ExpressionOf(const RuntimeForm& form, const OperandIndexing& indexing) {
  const std::optional<AffineExpr> plus = SymbolOf(form.plus, indexing);
  if (!plus || !form.minus) return plus.value_or(AffineExpr());
  const std::optional<AffineExpr> minus = SymbolOf(*form.minus, indexing);
  return minus ? Sub(*plus, *minus) : AffineExpr();
}

// The difference of two values, where its ends fit.
std::optional<Interval> DifferenceOf(const Interval& a, const Interval& b) {
  if (!a.IsFinite() || !b.IsFinite() || a.IsEmpty() || b.IsEmpty()) return std::nullopt;
  const Int128 low = Int128{a.lower()} - b.upper();
  const Int128 high = Int128{a.upper()} - b.lower();
  if (low < kInt64Min || high > kInt64Max) return std::nullopt;
  return Interval::Closed(static_cast<int64_t>(low), static_cast<int64_t>(high));
}

std::string NameOfForm(const RuntimeForm& form, const HloComputation* analysed) {
  const auto name = [&](const RuntimeVarIndexing& binding) {
    std::string text = binding.YieldedBy(analysed);
    if (binding.element.empty()) return text;
    return absl::StrCat(
        text, "{",
        absl::StrJoin(binding.element, ",",
                      [](std::string* out, AffineExpr e) {
                        absl::StrAppend(out, llvm::cast<mlir::AffineConstantExpr>(e).getValue());
                      }),
        "}");
  };
  return form.minus ? absl::StrCat(name(form.plus), " - ", name(*form.minus)) : name(form.plus);
}

// The values of `form` where those of `given` are in an interval.
std::optional<Interval> ValuesGiven(const RuntimeForm& form, const RuntimeForm& given,
                                    const Interval& values) {
  const auto of = [&](const RuntimeVarIndexing& binding) {
    return !given.minus && given.plus == binding ? values : binding.ValueRange();
  };
  if (!form.minus) return of(form.plus);
  return DifferenceOf(of(form.plus), of(*form.minus));
}

// A condition on a form.
struct FormCondition {
  RuntimeForm form;
  RuntimeCondition condition;
};

// Whether `other` holds wherever `one` does, so that it says nothing more.
bool Implies(const FormCondition& one, const FormCondition& other) {
  const auto holds_given = [&](const Interval& side) {
    const Interval given = side.Intersect(one.condition.values);
    if (given.IsEmpty()) return true;
    const auto values = ValuesGiven(other.form, one.form, given);
    return values && values->Intersect(other.condition.unsafe).IsEmpty();
  };
  return holds_given(Interval::AtMost(one.condition.unsafe.lower() - 1)) &&
         holds_given(Interval::AtLeast(one.condition.unsafe.upper() + 1));
}

// The variables of a map that are one value, then their differences.
std::vector<RuntimeForm> FormsOf(const OperandIndexing& indexing) {
  std::vector<RuntimeForm> forms;
  std::vector<RuntimeVarIndexing> values;
  for (const RuntimeVarIndexing& binding : indexing.bindings()) {
    if (IsOneValue(binding)) values.push_back(binding);
  }
  forms.reserve(values.size());
  for (const RuntimeVarIndexing& value : values) forms.push_back({value, std::nullopt});
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t k = i + 1; k < values.size(); ++k) forms.push_back({values[i], values[k]});
  }
  return forms;
}

// Pairs of a relation and a cell in which there may be a conflict.
struct PlaceOfConflict {
  const OperandIndexing* indexing;
  IndexingMap domain;
};

std::optional<RuntimeCondition> ConditionOn(const RuntimeForm& form,
                                            const std::vector<PlaceOfConflict>& conflicts,
                                            const LoopOrder& order, const HloComputation* analysed,
                                            StepBudget* budget) {
  std::optional<Interval> values = form.plus.ValueRange();
  if (form.minus) values = DifferenceOf(*values, form.minus->ValueRange());
  if (!values) return std::nullopt;
  Interval unsafe = Interval::Empty();
  for (const PlaceOfConflict& conflict : conflicts) {
    const AffineExpr expression = ExpressionOf(form, *conflict.indexing);
    if (!expression) return std::nullopt;
    unsafe = unsafe.Union(HullOver(conflict.domain, expression, *values, budget));
    if (values->IsSubsetOf(unsafe)) return std::nullopt;
  }
  // The ends of int64 have no neighbour.
  if (unsafe.IsEmpty() || !unsafe.IsFinite() || unsafe.lower() == kInt64Min ||
      unsafe.upper() == kInt64Max) {
    return std::nullopt;
  }
  return RuntimeCondition{order, NameOfForm(form, analysed), *values, unsafe};
}

}  // namespace

std::vector<RuntimeCondition> ConditionsOf(const OrderConflicts& conflicts, const LoopOrder& order,
                                           const HloComputation* analysed, StepBudget* budget) {
  // Conditions are looked for on so many variables and differences, over so many conflicts.
  constexpr size_t kMaxForms = 8;
  constexpr size_t kMaxConflicts = 64;
  std::vector<PlaceOfConflict> found;
  for (size_t i = 0; i < conflicts.num_relations(); ++i) {
    const ConflictRelation& relation = conflicts.relation(i);
    const std::vector<ConflictCell> cells =
        relation.is_outside ? std::vector<ConflictCell>(1) : conflicts.CellsOf(order);
    for (const ConflictCell& cell : cells) {
      std::optional<IndexingMap> domain = RestrictTo(cell, relation.writers.map());
      if (!domain) return {};
      if (DomainHasIntegerPoint(*domain, budget) == Answer::kNo) continue;
      if (relation.writers.map().num_runtimes() == 0 || found.size() >= kMaxConflicts) return {};
      found.push_back({&relation.writers, *std::move(domain)});
    }
  }
  if (found.empty()) return {};
  std::vector<FormCondition> all;
  std::vector<RuntimeForm> forms = FormsOf(*found.front().indexing);
  if (forms.size() > kMaxForms) forms.resize(kMaxForms);
  for (const RuntimeForm& form : forms) {
    const auto condition = ConditionOn(form, found, order, analysed, budget);
    if (condition) all.push_back({form, *condition});
  }
  std::vector<RuntimeCondition> conditions;
  for (size_t i = 0; i < all.size(); ++i) {
    bool is_implied = false;
    for (size_t k = 0; k < all.size(); ++k) is_implied |= k != i && Implies(all[i], all[k]);
    if (!is_implied) conditions.push_back(all[i].condition);
  }
  return conditions;
}

std::string NameOfValue(const OperandIndexing& indexing, int variable,
                        llvm::ArrayRef<int64_t> point, const HloComputation* analysed) {
  std::string name = indexing.bindings()[variable].YieldedBy(analysed);
  const llvm::ArrayRef<AffineExpr> element = indexing.bindings()[variable].element;
  if (element.empty()) return name;
  const auto indices = ValuesAt(indexing.map(), element, point);
  if (indices.empty()) return name;
  return absl::StrCat(name, "{", absl::StrJoin(indices, ","), "}");
}

}  // namespace xla_indexing::internal
