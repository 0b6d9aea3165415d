#include "xla_indexing/query/in_place/order_conflicts.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/memory/physical_layout.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/values/element_value.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

constexpr absl::string_view kTooManySteps =
    "it was not decided within the number of steps whether elements meet";

// What each element of an instruction is an element of, each of another one.
const HloInstruction* MovedFrom(const HloInstruction* instruction) {
  while (MovesElements(instruction->opcode()) && instruction->opcode() != HloOpcode::kBroadcast &&
         instruction->operand_count() == 1 && instruction->shape().IsArray() &&
         instruction->operand(0)->shape().IsArray() &&
         BitsOfElement(instruction->shape()) == BitsOfElement(instruction->operand(0)->shape())) {
    instruction = instruction->operand(0);
  }
  return instruction;
}

// The least point of a domain, in lexicographic order, found by bisection variable by variable; nullopt if
// the budget does not suffice, or there is none. Of d0 and s0 in [0, 9] with d0 + s0 in [12, 18] it is (3, 9).
std::optional<llvm::SmallVector<int64_t, 8>> LeastPointOf(const IndexingMap& domain,
                                                          StepBudget* budget) {
  IndexingMap map = DomainOf(domain);
  llvm::SmallVector<int64_t, 8> point;
  const int count = map.num_dims() + map.num_symbols();
  for (int i = 0; i < count; ++i) {
    const bool is_dim = i < map.num_dims();
    const int symbol = i - map.num_dims();
    const AffineExpr variable = is_dim ? mlir::getAffineDimExpr(i, map.context())
                                       : mlir::getAffineSymbolExpr(symbol, map.context());
    const Interval bounds = is_dim ? map.dims()[i].bounds : map.symbol(symbol).bounds;
    if (bounds.IsEmpty()) return std::nullopt;
    int64_t low = bounds.has_lower() ? bounds.lower() : bounds.Contains(0) ? 0 : bounds.upper();
    int64_t high = bounds.has_upper() ? bounds.upper() : low;
    // Most often the least value will do.
    if (low < high &&
        HasIntegerPointWith(map, variable, Interval::Point(low), budget) != Answer::kYes) {
      ++low;
      while (low < high) {
        const auto middle = static_cast<int64_t>(low + (Int128{high} - low) / 2);
        const Answer below =
            HasIntegerPointWith(map, variable, Interval::Closed(low, middle), budget);
        if (below == Answer::kUndecided) return std::nullopt;
        (below == Answer::kYes ? high : low) = below == Answer::kYes ? middle : middle + 1;
      }
    }
    map.AddConstraint(kPartsFit, variable, Interval::Point(low));
    point.push_back(low);
  }
  const llvm::ArrayRef<int64_t> all = point;
  const auto num_dims = static_cast<size_t>(domain.num_dims());
  const absl::StatusOr<bool> is_inside =
      domain.Contains(all.take_front(num_dims), all.drop_front(num_dims));
  if (!is_inside.ok() || !*is_inside) return std::nullopt;
  return point;
}

// Why the runtime variables of a map may not have the values that they have at the least point of a part of
// its domain; empty where they can.
std::string WhyNoValues(const OperandIndexing& indexing, const IndexingMap& domain,
                        StepBudget* budget) {
  const absl::Span<const RuntimeVarIndexing> bindings = indexing.bindings();
  for (const RuntimeVarIndexing& binding : bindings) {
    if (binding.call_path.empty() && !binding.device &&
        MovedFrom(binding.instruction)->opcode() == HloOpcode::kParameter) {
      continue;
    }
    return absl::StrCat("it depends on the values of ", binding.instruction->name(),
                        ", which are computed");
  }
  std::optional<llvm::SmallVector<int64_t, 8>> point;
  for (size_t i = 0; i < bindings.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (MovedFrom(bindings[i].instruction) != MovedFrom(bindings[k].instruction) ||
          bindings[i].leaf != bindings[k].leaf) {
        continue;
      }
      if (!point) point = LeastPointOf(domain, budget);
      if (!point) return std::string(kTooManySteps);
      const llvm::ArrayRef<int64_t> values =
          llvm::ArrayRef<int64_t>(*point).take_back(bindings.size());
      if (values[i] != values[k] && (bindings[i].instruction != bindings[k].instruction ||
                                     ValuesAt(indexing, bindings[i].element, *point) ==
                                         ValuesAt(indexing, bindings[k].element, *point))) {
        return absl::StrCat("it depends on several values of ", bindings[i].instruction->name(),
                            ", which may be one");
      }
    }
  }
  return "";
}

Interval IntervalOfSign(int sign) {
  if (sign == 0) return Interval::Point(0);
  return sign > 0 ? Interval::AtLeast(1) : Interval::AtMost(-1);
}

// The differences D as results; nullopt if an expression cannot be written.
std::optional<IndexingMap> DifferencesOf(const IndexingMap& relation, size_t num_coordinates) {
  llvm::SmallVector<AffineExpr, 4> differences;
  for (size_t i = 0; i < num_coordinates; ++i) {
    const AffineExpr own = mlir::getAffineDimExpr(i, relation.context());
    differences.push_back(Sub(relation.results()[i], own));
    if (!differences.back()) return std::nullopt;
  }
  IndexingMap map(kPartsFit,
                  mlir::AffineMap::get(relation.num_dims(), relation.num_symbols(), differences,
                                       relation.context()),
                  Variables(relation.dims()), Variables(relation.ranges()),
                  Variables(relation.runtimes()), Constraints(relation.constraints()));
  map.Simplify({.keep_variables = true});
  return map;
}

}  // namespace

OrderConflicts::OrderConflicts(std::vector<ConflictRelation> relations,
                               std::vector<CoordinateKind> kinds, StepBudget* budget)
    : relations_(std::move(relations)), kinds_(std::move(kinds)), budget_(budget) {
  for (const ConflictRelation& relation : relations_) {
    const IndexingMap& writers = relation.writers.map();
    differences_.push_back(relation.is_outside ? writers : DifferencesOf(writers, kinds_.size()));
  }
}

std::optional<IndexingMap> OrderConflicts::DomainIn(const ConflictCell& cell,
                                                    size_t relation) const {
  std::optional<IndexingMap> domain = differences_[relation];
  if (!domain) return std::nullopt;
  for (const auto& [coordinate, sign] : cell) {
    domain->AddConstraint(kPartsFit, domain->results()[coordinate], IntervalOfSign(sign));
  }
  return domain;
}

Answer OrderConflicts::HasConflict(size_t relation, const ConflictCell& cell) {
  if (relations_[relation].is_outside != cell.empty()) return Answer::kNo;
  const auto [it, is_new] = known_.try_emplace({relation, cell}, Answer::kUndecided);
  if (is_new) it->second = FindOut(relation, cell);
  return it->second;
}

Answer OrderConflicts::FindOut(size_t relation, const ConflictCell& cell) {
  const ConflictRelation& of = relations_[relation];
  const std::optional<IndexingMap> domain = DomainIn(cell, relation);
  const Answer has = domain ? DomainHasIntegerPoint(*domain, budget_) : Answer::kUndecided;
  if (has == Answer::kNo) return has;
  std::string why_not(has == Answer::kYes ? of.why_not_certain : kTooManySteps);
  if (why_not.empty()) why_not = WhyNoValues(of.writers, *domain, budget_);
  if (why_not.empty()) return has;
  if (why_undecided_.empty()) why_undecided_ = std::move(why_not);
  return Answer::kUndecided;
}

Answer OrderConflicts::HasConflict(const ConflictCell& cell) {
  Answer has = Answer::kNo;
  for (size_t i = 0; i < relations_.size() && has != Answer::kYes; ++i) {
    has = Or(has, HasConflict(i, cell));
  }
  return has;
}

std::vector<ConflictCell> OrderConflicts::CellsOf(const LoopOrder& loops) const {
  // The empty cell; then apart from the loops anything may come first.
  std::vector<ConflictCell> cells = {{}};
  const auto add = [&](ConflictCell cell, int coordinate, int sign) {
    cell.push_back({coordinate, sign});
    cells.push_back(std::move(cell));
  };
  ConflictCell outer;
  llvm::SmallVector<bool, 4> is_ordered(kinds_.size(), false);
  for (const DirectedLoop& loop : loops) is_ordered[loop.dimension] = true;
  for (int i = 0; i < static_cast<int>(kinds_.size()); ++i) {
    if (kinds_[i] != CoordinateKind::kParallel) continue;
    for (const int sign : {-1, 1}) add({}, i, sign);
    outer.push_back({i, 0});
  }
  for (const DirectedLoop& loop : loops) {
    add(outer, loop.dimension, loop.is_descending ? 1 : -1);
    outer.push_back({loop.dimension, 0});
  }
  for (int i = 0; i < static_cast<int>(kinds_.size()); ++i) {
    if (kinds_[i] != CoordinateKind::kLoop || is_ordered[i]) continue;
    for (const int sign : {-1, 1}) add(outer, i, sign);
  }
  return cells;
}

Answer OrderConflicts::IsSafeIn(const LoopOrder& loops) {
  Answer is_safe = Answer::kYes;
  for (const ConflictCell& cell : CellsOf(loops)) {
    is_safe = And(is_safe, Not(HasConflict(cell)));
    if (is_safe == Answer::kNo) break;
  }
  return is_safe;
}

std::optional<LoopOrder> OrderConflicts::OrderWithout(std::initializer_list<Answer> conflicts) {
  const auto has_conflict = [&](const ConflictCell& cell) {
    return absl::c_linear_search(conflicts, HasConflict(cell));
  };
  ConflictCell outer;
  if (has_conflict(outer)) return std::nullopt;
  llvm::SmallVector<int, 4> left;
  for (int i = 0; i < static_cast<int>(kinds_.size()); ++i) {
    if (kinds_[i] == CoordinateKind::kLoop) left.push_back(i);
    if (kinds_[i] != CoordinateKind::kParallel) continue;
    if (has_conflict({{i, -1}}) || has_conflict({{i, 1}})) return std::nullopt;
    outer.push_back({i, 0});
  }
  LoopOrder loops;
  while (true) {
    std::optional<DirectedLoop> next;
    bool is_any_left = false;
    for (const int i : left) {
      ConflictCell cell = outer;
      cell.push_back({i, -1});
      const bool is_down = has_conflict(cell);
      cell.back().sign = 1;
      const bool is_up = has_conflict(cell);
      is_any_left |= is_down || is_up;
      if (is_down == is_up) continue;
      next = DirectedLoop{i, /*is_descending=*/is_down};
      break;
    }
    if (!is_any_left) return loops;
    if (!next) return std::nullopt;
    llvm::erase(left, next->dimension);
    outer.push_back({next->dimension, 0});
    loops.push_back(*next);
  }
}

FoundOrder OrderConflicts::FindOrder() {
  if (auto loops = OrderWithout({Answer::kYes, Answer::kUndecided})) {
    return {Answer::kYes, *std::move(loops)};
  }
  return {OrderWithout({Answer::kYes}) ? Answer::kUndecided : Answer::kNo, {}};
}

std::optional<FoundConflict> OrderConflicts::FindConflict(const LoopOrder& loops) {
  for (const ConflictCell& cell : CellsOf(loops)) {
    for (size_t i = 0; i < relations_.size(); ++i) {
      if (HasConflict(i, cell) != Answer::kYes) continue;
      auto point = LeastPointOf(*DomainIn(cell, i), budget_);
      if (!point) return std::nullopt;
      return FoundConflict{i, *std::move(point)};
    }
  }
  return std::nullopt;
}

std::vector<int64_t> ValuesAt(const OperandIndexing& indexing,
                              llvm::ArrayRef<AffineExpr> expressions,
                              llvm::ArrayRef<int64_t> point) {
  const auto num_dims = static_cast<size_t>(indexing.map().num_dims());
  const auto found = WithResults(indexing, expressions)
                         .map()
                         .Evaluate(point.take_front(num_dims), point.drop_front(num_dims));
  if (!found.ok()) return {};
  return {found->begin(), found->end()};
}

namespace {

// F: a runtime variable, or the difference of two.
struct RuntimeForm {
  const RuntimeVarIndexing* plus = nullptr;
  const RuntimeVarIndexing* minus = nullptr;
  RuntimeCondition condition = {};
};

// A relation in a cell in which there may be a conflict.
struct PlaceOfConflict {
  const OperandIndexing* indexing;
  IndexingMap domain;
};

// Whether it is one value, whatever the variables are.
bool IsOneValue(const RuntimeVarIndexing& binding) {
  return !binding.device && absl::c_all_of(binding.element, [](AffineExpr e) {
    return llvm::isa<mlir::AffineConstantExpr>(e);
  });
}

// The variable of a map with this binding; null if it has none.
AffineExpr SymbolOf(const RuntimeVarIndexing& binding, const OperandIndexing& indexing) {
  const IndexingMap& map = indexing.map();
  for (int i = 0; i < map.num_runtimes(); ++i) {
    if (indexing.bindings()[i] != binding) continue;
    return mlir::getAffineSymbolExpr(map.num_ranges() + i, map.context());
  }
  return {};
}

// Whether `other` holds wherever `one` does, so that it says nothing more.
bool Implies(const RuntimeForm& one, const RuntimeForm& other) {
  const Interval& unsafe = one.condition.unsafe;
  for (const Interval& side :
       {Interval::AtMost(unsafe.lower() - 1), Interval::AtLeast(unsafe.upper() + 1)}) {
    const Interval given = side.Intersect(one.condition.values);
    const auto values_of = [&](const RuntimeVarIndexing& value) {
      return one.minus == nullptr && *one.plus == value ? given : value.ValueRange();
    };
    Interval values = values_of(*other.plus);
    if (other.minus != nullptr) values = values.Sub(values_of(*other.minus));
    if (!given.IsEmpty() && !values.Intersect(other.condition.unsafe).IsEmpty()) return false;
  }
  return true;
}

// Sets the condition that keeps a form out of all conflicts, if there is one.
bool SetCondition(const std::vector<PlaceOfConflict>& conflicts, const HloComputation* analysed,
                  StepBudget* budget, RuntimeForm* form) {
  auto& [order, name, values, unsafe] = form->condition;
  const auto constants_of = [](const RuntimeVarIndexing& binding) {
    return llvm::map_to_vector<4>(binding.element, [](AffineExpr e) {
      return llvm::cast<mlir::AffineConstantExpr>(e).getValue();
    });
  };
  values = form->plus->ValueRange();
  name = NameOfValue(*form->plus, constants_of(*form->plus), analysed);
  if (form->minus != nullptr) {
    values = values.Sub(form->minus->ValueRange());
    absl::StrAppend(&name, " - ", NameOfValue(*form->minus, constants_of(*form->minus), analysed));
  }
  unsafe = Interval::Empty();
  for (const PlaceOfConflict& conflict : conflicts) {
    AffineExpr value = SymbolOf(*form->plus, *conflict.indexing);
    if (value && form->minus != nullptr) {
      const AffineExpr minus = SymbolOf(*form->minus, *conflict.indexing);
      value = minus ? Sub(value, minus) : AffineExpr();
    }
    if (!value) return false;
    unsafe = unsafe.Union(HullOver(conflict.domain, value, values, budget));
    if (values.IsSubsetOf(unsafe)) return false;
  }
  // The ends of int64 have no neighbour.
  return !unsafe.IsEmpty() && unsafe.IsFinite() && unsafe.lower() != kInt64Min &&
         unsafe.upper() != kInt64Max;
}

}  // namespace

std::vector<RuntimeCondition> ConditionsOf(const OrderConflicts& conflicts, const LoopOrder& order,
                                           const HloComputation* analysed, StepBudget* budget) {
  // Conditions are looked for on so many variables, over so many conflicts.
  constexpr size_t kMaxValues = 4;
  constexpr size_t kMaxConflicts = 64;
  std::vector<PlaceOfConflict> found;
  for (size_t i = 0; i < conflicts.relations().size(); ++i) {
    const ConflictRelation& relation = conflicts.relations()[i];
    for (const ConflictCell& cell : conflicts.CellsOf(order)) {
      if (relation.is_outside != cell.empty()) continue;
      std::optional<IndexingMap> domain = conflicts.DomainIn(cell, i);
      if (!domain) return {};
      if (DomainHasIntegerPoint(*domain, budget) == Answer::kNo) continue;
      if (relation.writers.map().num_runtimes() == 0 || found.size() >= kMaxConflicts) return {};
      found.push_back({&relation.writers, *std::move(domain)});
    }
  }
  if (found.empty()) return {};
  std::vector<RuntimeForm> forms;
  for (const RuntimeVarIndexing& binding : found.front().indexing->bindings()) {
    if (IsOneValue(binding) && forms.size() < kMaxValues) forms.push_back({&binding});
  }
  const size_t num_values = forms.size();
  for (size_t i = 0; i < num_values; ++i) {
    for (size_t k = i + 1; k < num_values; ++k) forms.push_back({forms[i].plus, forms[k].plus});
  }
  std::erase_if(forms,
                [&](RuntimeForm& form) { return !SetCondition(found, analysed, budget, &form); });
  std::vector<RuntimeCondition> conditions;
  for (const RuntimeForm& one : forms) {
    const bool is_implied = absl::c_any_of(
        forms, [&](const RuntimeForm& other) { return &other != &one && Implies(one, other); });
    if (is_implied) continue;
    conditions.push_back(one.condition);
    conditions.back().order = order;
  }
  return conditions;
}

std::string NameOfValue(const RuntimeVarIndexing& binding, llvm::ArrayRef<int64_t> element,
                        const HloComputation* analysed) {
  std::string name = binding.YieldedBy(analysed);
  return element.empty() ? name : absl::StrCat(name, "{", absl::StrJoin(element, ","), "}");
}

}  // namespace xla_indexing::internal
