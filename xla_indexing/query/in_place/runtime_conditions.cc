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

// The element of a value that is one.
llvm::SmallVector<int64_t, 4> ConstantsOf(const RuntimeVarIndexing& binding) {
  llvm::SmallVector<int64_t, 4> constants;
  for (const AffineExpr e : binding.element) {
    constants.push_back(llvm::cast<mlir::AffineConstantExpr>(e).getValue());
  }
  return constants;
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

// A condition on a form.
struct FormCondition {
  RuntimeForm form;
  RuntimeCondition condition;
};

// Whether `other` holds wherever `one` does, so that it says nothing more.
bool Implies(const FormCondition& one, const FormCondition& other) {
  const Interval& unsafe = one.condition.unsafe;
  for (const Interval& side :
       {Interval::AtMost(unsafe.lower() - 1), Interval::AtLeast(unsafe.upper() + 1)}) {
    const Interval given = side.Intersect(one.condition.values);
    const auto values_of = [&](const RuntimeVarIndexing& value) {
      return !one.form.minus && one.form.plus == value ? given : value.ValueRange();
    };
    Interval values = values_of(other.form.plus);
    if (other.form.minus) values = values.Sub(values_of(*other.form.minus));
    if (!given.IsEmpty() && !values.Intersect(other.condition.unsafe).IsEmpty()) return false;
  }
  return true;
}

// A relation on a cell in which there may be a conflict.
struct PlaceOfConflict {
  const OperandIndexing* indexing;
  IndexingMap domain;
};

std::optional<RuntimeCondition> ConditionOn(const RuntimeForm& form,
                                            const std::vector<PlaceOfConflict>& conflicts,
                                            const LoopOrder& order, const HloComputation* analysed,
                                            StepBudget* budget) {
  Interval values = form.plus.ValueRange();
  std::string name = NameOfValue(form.plus, ConstantsOf(form.plus), analysed);
  if (form.minus) {
    values = values.Sub(form.minus->ValueRange());
    absl::StrAppend(&name, " - ", NameOfValue(*form.minus, ConstantsOf(*form.minus), analysed));
  }
  Interval unsafe = Interval::Empty();
  for (const PlaceOfConflict& conflict : conflicts) {
    const AffineExpr expression = ExpressionOf(form, *conflict.indexing);
    if (!expression) return std::nullopt;
    unsafe = unsafe.Union(HullOver(conflict.domain, expression, values, budget));
    if (values.IsSubsetOf(unsafe)) return std::nullopt;
  }
  // The ends of int64 have no neighbour.
  if (unsafe.IsEmpty() || !unsafe.IsFinite() || unsafe.lower() == kInt64Min ||
      unsafe.upper() == kInt64Max) {
    return std::nullopt;
  }
  return RuntimeCondition{order, std::move(name), values, unsafe};
}

}  // namespace

std::vector<RuntimeCondition> ConditionsOf(const OrderConflicts& conflicts, const LoopOrder& order,
                                           const HloComputation* analysed, StepBudget* budget) {
  // Conditions are looked for on so many variables, over so many conflicts.
  constexpr size_t kMaxValues = 4;
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
  std::vector<RuntimeVarIndexing> values;
  for (const RuntimeVarIndexing& binding : found.front().indexing->bindings()) {
    if (IsOneValue(binding) && values.size() < kMaxValues) values.push_back(binding);
  }
  std::vector<FormCondition> all;
  const auto add = [&](const RuntimeForm& form) {
    const auto condition = ConditionOn(form, found, order, analysed, budget);
    if (condition) all.push_back({form, *condition});
  };
  for (const RuntimeVarIndexing& value : values) add({value, std::nullopt});
  for (size_t i = 0; i < values.size(); ++i) {
    for (size_t k = i + 1; k < values.size(); ++k) add({values[i], values[k]});
  }
  std::vector<RuntimeCondition> conditions;
  for (const FormCondition& one : all) {
    const bool is_implied = absl::c_any_of(
        all, [&](const FormCondition& other) { return &other != &one && Implies(one, other); });
    if (!is_implied) conditions.push_back(one.condition);
  }
  return conditions;
}

std::string NameOfValue(const RuntimeVarIndexing& binding, llvm::ArrayRef<int64_t> element,
                        const HloComputation* analysed) {
  std::string name = binding.YieldedBy(analysed);
  return element.empty() ? name : absl::StrCat(name, "{", absl::StrJoin(element, ","), "}");
}

}  // namespace xla_indexing::internal
