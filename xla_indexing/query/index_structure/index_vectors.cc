#include "xla_indexing/query/index_structure/index_vectors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/ops/answers/parts/domain.h"
#include "xla_indexing/ops/decisions/value_origins.h"
#include "xla_indexing/ops/values/element_value.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

constexpr size_t kMaxVectorCases = 32;
// The ways in which unknowns of two vectors are one element or not.
constexpr size_t kMaxWays = 16;
// Bounds on what is asked to widen a condition.
constexpr int kMaxWidenings = 256;
constexpr int64_t kMaxStep = int64_t{1} << 61;

// What a gather and a scatter say in other words.
struct IndexedDims {
  const HloInstruction* indices;
  const Shape* operand;
  int64_t index_vector_dim;
  absl::Span<const int64_t> index_map;
  absl::Span<const int64_t> operand_batching;
  absl::Span<const int64_t> indices_batching;
  std::vector<int64_t> window_sizes;  // by dimension of the operand
};

IndexedDims DimsOf(const HloInstruction& instruction) {
  IndexedDims dims;
  dims.indices = instruction.operand(1);
  dims.operand = &instruction.operand(0)->shape();
  if (instruction.opcode() == HloOpcode::kGather) {
    const GatherDimensionNumbers numbers = instruction.gather_dimension_numbers();
    dims.index_vector_dim = numbers.index_vector_dim;
    dims.index_map = numbers.start_index_map;
    dims.operand_batching = numbers.operand_batching_dims;
    dims.indices_batching = numbers.start_indices_batching_dims;
    const auto sizes = instruction.gather_slice_sizes();
    dims.window_sizes.assign(sizes.begin(), sizes.end());
    return dims;
  }
  const ScatterDimensionNumbers numbers = instruction.scatter_dimension_numbers();
  dims.index_vector_dim = numbers.index_vector_dim;
  dims.index_map = numbers.scatter_dims_to_operand_dims;
  dims.operand_batching = numbers.input_batching_dims;
  dims.indices_batching = numbers.scatter_indices_batching_dims;
  size_t next = 0;
  for (int64_t dim = 0; dim < dims.operand->rank(); ++dim) {
    const bool is_inserted = absl::c_linear_search(numbers.inserted_window_dims, dim) ||
                             absl::c_linear_search(dims.operand_batching, dim);
    dims.window_sizes.push_back(is_inserted ? 1
                                            : instruction.operand(2)->shape().dimension(
                                                  numbers.update_window_dims[next++]));
  }
  return dims;
}

}  // namespace

void ValueCondition::Add(const RuntimeVarIndexing& value, const Interval& interval) {
  for (Value& each : values) {
    if (each.value != value) continue;
    each.interval = each.interval.Intersect(interval);
    return;
  }
  values.push_back({value, interval});
}

Interval ValueCondition::Of(const RuntimeVarIndexing& unknown) const {
  Interval interval = Interval::All();
  for (const auto& [value, values_of_it] : values) {
    const bool is_of_it =
        CompareSources(value, unknown) == 0 && value.element.size() == unknown.element.size() &&
        absl::c_equal(value.element, unknown.element, [](AffineExpr of_value, AffineExpr e) {
          return of_value == e || !ConstantIn(of_value);
        });
    if (is_of_it) interval = interval.Intersect(values_of_it);
  }
  return interval;
}

Assumption ValueCondition::ToAssumption() const {
  return [condition = *this](const RuntimeVarIndexing& unknown) { return condition.Of(unknown); };
}

std::string ValueCondition::ToString() const {
  std::vector<std::string> parts;
  for (const Value& each : values) {
    const bool is_alone = absl::c_all_of(values, [&](const Value& other) {
      return CompareSources(other.value, each.value) != 0 || other.interval == each.interval;
    });
    std::string name(each.value.instruction->name());
    if (!is_alone) {
      std::vector<std::string> indices;
      for (const AffineExpr e : each.value.element) {
        const std::optional<int64_t> index = ConstantIn(e);
        indices.push_back(index ? absl::StrCat(*index) : "..");
      }
      absl::StrAppend(&name, "[", absl::StrJoin(indices, ", "), "]");
    }
    std::string part = absl::StrCat(name, " in ", each.interval.ToString());
    if (!absl::c_linear_search(parts, part)) parts.push_back(std::move(part));
  }
  return absl::StrJoin(parts, ", ");
}

IndexVectors::IndexVectors(const HloInstruction& instruction, mlir::MLIRContext* context,
                           const Assumption& assumption) {
  const IndexedDims dims = DimsOf(instruction);
  const Shape& indices = dims.indices->shape();
  Domain domain;
  std::vector<int> batch_of(indices.rank(), -1);
  for (int64_t i = 0; i < indices.rank(); ++i) {
    if (i == dims.index_vector_dim) continue;
    batch_of[i] = static_cast<int>(domain.dims.size());
    domain.dims.push_back({Interval::OfSize(indices.dimension(i)), {}});
  }
  if (absl::c_any_of(domain.dims, [](const Variable& v) { return v.bounds.IsEmpty(); })) return;

  struct Case {
    Constraints when;
    llvm::SmallVector<AffineExpr, 4> values;
  };
  std::vector<Case> cases = {{}};
  ValueOrigins origins(Dependence::kReads);
  const KnownArrays environment(origins, context, ValueEnvironment::TellsApart::kAllValues);
  ElementEvaluator evaluator(domain, context, environment);
  evaluator.FindRangesOfUnknowns();
  evaluator.AssumeOfUnknowns(assumption);
  for (int64_t dim = 0; dim < dims.operand->rank(); ++dim) {
    const int64_t last_start = dims.operand->dimension(dim) - dims.window_sizes[dim];
    const auto batching = absl::c_find(dims.operand_batching, dim);
    if (batching != dims.operand_batching.end()) {
      const int64_t of = dims.indices_batching[batching - dims.operand_batching.begin()];
      for (Case& each : cases) {
        each.values.push_back(mlir::getAffineDimExpr(batch_of[of], context));
      }
      components_.push_back({dims.window_sizes[dim], last_start, true});
      continue;
    }
    const auto indexed = absl::c_find(dims.index_map, dim);
    if (indexed == dims.index_map.end()) continue;
    llvm::SmallVector<AffineExpr, 4> element;
    for (int64_t i = 0; i < indices.rank(); ++i) {
      element.push_back(batch_of[i] < 0 ? Constant(indexed - dims.index_map.begin(), context)
                                        : mlir::getAffineDimExpr(batch_of[i], context));
    }
    const ValueCases values = evaluator.Evaluate(dims.indices, 0, element);
    std::vector<Case> next;
    for (const Case& each : cases) {
      for (const ValueCase& value : values) {
        Case both = each;
        both.when.append(value.when.begin(), value.when.end());
        both.values.push_back(value.value);
        is_known_ = is_known_ && value.value;
        next.push_back(std::move(both));
      }
    }
    cases = std::move(next);
    components_.push_back({dims.window_sizes[dim], last_start, false});
    if (cases.size() > kMaxVectorCases) is_known_ = false;
    if (!is_known_) return;
  }
  unknowns_ = evaluator.unknowns();
  Variables runtimes;
  for (const RuntimeVarIndexing& unknown : unknowns_) {
    values_of_unknowns_.push_back(evaluator.ValuesOf(unknown));
    runtimes.push_back({values_of_unknowns_.back(), {}});
  }
  for (const Case& each : cases) {
    IndexingMap map(kPartsFit,
                    mlir::AffineMap::get(domain.dims.size(), runtimes.size(), each.values, context),
                    domain.dims, {}, runtimes, each.when);
    map.Simplify();
    if (!map.IsKnownEmpty()) cases_.push_back(std::move(map));
  }
}

std::string IndexVectors::Unknowns() const {
  std::vector<absl::string_view> names;
  for (size_t i = 0; i < unknowns_.size(); ++i) {
    const auto has = [&](AffineExpr e) { return HasSymbol(e, static_cast<int>(i)); };
    // A case may be one of some of its values.
    const bool is_used = absl::c_any_of(cases_, [&](const IndexingMap& map) {
      return map.runtimes()[i].bounds != values_of_unknowns_[i] ||
             absl::c_any_of(map.results(), has) ||
             absl::c_any_of(map.constraints(), [&](const Constraint& c) { return has(c.expr); });
    });
    const absl::string_view name = unknowns_[i].instruction->name();
    if (is_used && !absl::c_linear_search(names, name)) names.push_back(name);
  }
  if (!is_known_) names.push_back("values that are not followed");
  return absl::StrJoin(names, ", ");
}

Answer IndexVectors::AreInBounds(StepBudget* budget) const {
  if (!is_known_) return Answer::kUndecided;
  Answer inside = Answer::kYes;
  for (const IndexingMap& map : cases_) {
    for (size_t i = 0; i < components_.size(); ++i) {
      if (components_[i].is_batching) continue;
      inside = And(inside, HoldsEverywhere(map, map.results()[i],
                                           Interval::Closed(0, components_[i].last_start), budget));
      if (inside == Answer::kNo) break;
    }
  }
  return inside == Answer::kNo && !Unknowns().empty() ? Answer::kUndecided : inside;
}

std::optional<Interval> IndexVectors::SmallestStarts() const {
  std::optional<Interval> smallest;
  for (const Component& component : components_) {
    if (component.is_batching) continue;
    const Interval starts = Interval::Closed(0, component.last_start);
    smallest = smallest ? smallest->Intersect(starts) : starts;
  }
  return smallest;
}

std::optional<ValueCondition> IndexVectors::InsideValues(const Interval& assumed) const {
  if (!is_known_ || cases_.size() != 1 || !cases_[0].constraints().empty()) return std::nullopt;
  const IndexingMap& map = cases_[0];
  ExprSimplifier simplifier(map.context(), map.DimBounds(), map.SymbolBounds());
  ValueCondition condition;
  for (size_t i = 0; i < components_.size(); ++i) {
    const Interval inside = Interval::Closed(0, components_[i].last_start);
    const LinearSum sum = LinearSum::FromExpr(map.results()[i]);
    if (components_[i].is_batching || !sum.valid()) continue;
    // The sum without the unknown.
    LinearSum known(sum.constant());
    std::optional<Term> unknown;
    for (const Term& term : sum.terms()) {
      if (term.atom.getKind() != mlir::AffineExprKind::SymbolId) {
        known.AddNewTerm(term.atom, term.coefficient);
      } else if (unknown) {
        return std::nullopt;
      } else {
        unknown = term;
      }
    }
    AffineExpr rest = known.ToExpr(map.context());
    if (!unknown || !rest) continue;
    const Interval range = simplifier.Range(rest);
    if (!range.IsFinite() || range.IsEmpty()) return std::nullopt;
    const auto least = CheckedNeg(range.lower());
    const auto greatest = CheckedSub(inside.upper(), range.upper());
    if (!least || !greatest) return std::nullopt;
    const Interval values = Interval::Closed(*least, *greatest).PreimageOfMul(unknown->coefficient);
    const RuntimeVarIndexing& value =
        unknowns_[llvm::cast<mlir::AffineSymbolExpr>(unknown->atom).getPosition()];
    condition.Add(value, values.Intersect(value.ValueRange()));
  }
  for (size_t i = 0; i < unknowns_.size(); ++i) {
    const bool is_used = absl::c_any_of(
        map.results(), [&](AffineExpr e) { return HasSymbol(e, static_cast<int>(i)); });
    if (is_used && condition.Of(unknowns_[i]) == Interval::All()) {
      condition.Add(unknowns_[i], assumed.Intersect(unknowns_[i].ValueRange()));
    }
  }
  return condition;
}

std::optional<ValueCondition> IndexVectors::WhereInBounds(const HloInstruction& instruction,
                                                          mlir::MLIRContext* context,
                                                          StepBudget* budget) {
  // Sums of small numbers do not wrap, so that starts are seen to be sums; these hold for all values
  // that the condition has, as is seen where these are assumed.
  const std::optional<Interval> starts = IndexVectors(instruction, context).SmallestStarts();
  if (!starts || starts->IsEmpty()) return std::nullopt;
  std::optional<ValueCondition> condition =
      IndexVectors(instruction, context, [&](const RuntimeVarIndexing&) {
        return *starts;
      }).InsideValues(*starts);
  if (!condition || condition->values.empty() ||
      !AreInBoundsWhere(instruction, *condition, context, budget)) {
    return std::nullopt;
  }
  return condition;
}

bool IndexVectors::AreInBoundsWhere(const HloInstruction& instruction,
                                    const ValueCondition& condition, mlir::MLIRContext* context,
                                    StepBudget* budget) {
  const IndexVectors inside(instruction, context, condition.ToAssumption());
  return !inside.cases_.empty() && inside.AreInBounds(budget) == Answer::kYes;
}

ValueCondition IndexVectors::Widened(const HloInstruction& instruction,
                                     const ValueCondition& condition, mlir::MLIRContext* context,
                                     StepBudget* budget) {
  ValueCondition widened = condition;
  int questions = 0;
  for (auto& [value, interval] : widened.values) {
    const Interval possible = value.ValueRange();
    for (const bool is_up : {true, false}) {
      bool grows = true;
      for (int64_t step = 1; step > 0 && step < kMaxStep && questions < kMaxWidenings;
           step = grows ? step * 2 : step / 2) {
        const Interval before = interval;
        const Interval steps = is_up ? Interval::Closed(0, step) : Interval::Closed(-step, 0);
        interval = before.Add(steps).Intersect(possible);
        if (interval == before) break;
        ++questions;
        if (AreInBoundsWhere(instruction, widened, context, budget)) continue;
        interval = before;
        grows = false;
      }
    }
  }
  return widened;
}

namespace {

// A way in which unknowns of b and b' are one element, or are not.
struct Way {
  llvm::SmallVector<AffineExpr, 4> symbols_of_second;
  Constraints when;
};

// All ways. Unknown i is symbol i for b, and where it is another element for b' one after all of b.
std::vector<Way> WaysOfUnknowns(const RuntimeVarIndexings& unknowns,
                                llvm::ArrayRef<AffineExpr> dims_of_second,
                                mlir::MLIRContext* context) {
  const auto num_unknowns = static_cast<int>(unknowns.size());
  const auto rank = static_cast<int>(dims_of_second.size());
  std::vector<Way> ways = {{}};
  for (int i = 0; i < num_unknowns; ++i) {
    const AffineExpr one = mlir::getAffineSymbolExpr(i, context);
    const AffineExpr other = mlir::getAffineSymbolExpr(num_unknowns + i, context);
    Constraints same;
    bool is_compared = true;
    for (const AffineExpr e : unknowns[i].element) {
      const AffineExpr difference = Sub(e, Substitute(e, dims_of_second, {}));
      // Where an element is at an unknown index, that may be another one.
      const bool is_fixed = absl::c_all_of(VariablesOf(e, rank), [&](int v) { return v < rank; });
      if (!is_fixed || ConstantIn(difference) != 0) {
        same.push_back({difference, Interval::Point(0)});
      }
      is_compared = is_compared && is_fixed && difference;
    }
    is_compared = is_compared && (same.empty() || ways.size() < kMaxWays);
    std::vector<Way> next;
    const auto add = [&](Way way, AffineExpr symbol, llvm::ArrayRef<Constraint> when) {
      way.symbols_of_second.push_back(symbol);
      way.when.append(when.begin(), when.end());
      next.push_back(std::move(way));
    };
    for (const Way& way : ways) {
      if (!is_compared) {
        add(way, other, {});
        continue;
      }
      add(way, one, same);
      for (const Constraint& constraint : same) {
        add(way, other, {{constraint.expr, Interval::AtLeast(1)}});
        add(way, other, {{constraint.expr, Interval::AtMost(-1)}});
      }
    }
    ways = std::move(next);
  }
  return ways;
}

}  // namespace

Answer IndexVectors::HasPair(const IndexingMap& first, const IndexingMap& second,
                             const PairQuestion& question, StepBudget* budget) const {
  mlir::MLIRContext* context = first.context();
  const int rank = first.num_dims();
  const auto num_unknowns = static_cast<int>(unknowns_.size());
  // Dimensions: b, b', of which those before `dim` are the same. Symbols: the unknowns of b, then
  // those of b'.
  Variables dims(first.dims());
  dims.append(second.dims().begin(), second.dims().end());
  Variables runtimes(first.runtimes());
  runtimes.append(second.runtimes().begin(), second.runtimes().end());
  llvm::SmallVector<AffineExpr, 4> dims_of_second;
  for (int i = 0; i < rank; ++i) {
    dims_of_second.push_back(mlir::getAffineDimExpr(i < question.dim ? i : rank + i, context));
    if (i < question.dim) dims[i].bounds = dims[i].bounds.Intersect(second.dims()[i].bounds);
  }
  const std::vector<Way> ways = WaysOfUnknowns(unknowns_, dims_of_second, context);
  Answer has_pair = Answer::kNo;
  for (const Way& way : ways) {
    const auto of_second = [&](AffineExpr e) {
      return Substitute(e, dims_of_second, way.symbols_of_second);
    };
    const mlir::AffineMap no_results = mlir::AffineMap::get(dims.size(), runtimes.size(), context);
    Constraints constraints(first.constraints());
    constraints.append(way.when.begin(), way.when.end());
    for (const Constraint& constraint : second.constraints()) {
      constraints.push_back({of_second(constraint.expr), constraint.interval});
    }
    constraints.push_back(
        {Sub(dims_of_second[question.dim], mlir::getAffineDimExpr(question.dim, context)),
         Interval::AtLeast(1)});
    for (size_t i = 0; i < components_.size(); ++i) {
      const AffineExpr start = first.results()[i];
      const AffineExpr other_start = of_second(second.results()[i]);
      constraints.push_back({Sub(start, other_start), question.differences[i]});
      constraints.push_back({start, question.starts[i]});
      constraints.push_back({other_start, question.starts[i]});
    }
    Variables values = runtimes;
    for (int i = 0; i < num_unknowns; ++i) {
      const bool is_one = way.symbols_of_second[i] == mlir::getAffineSymbolExpr(i, context);
      if (is_one) values[i].bounds = values[i].bounds.Intersect(second.runtimes()[i].bounds);
    }
    IndexingMap pairs(kPartsFit, no_results, dims, {}, std::move(values), {});
    bool is_written = true;
    for (const Constraint& constraint : constraints) {
      is_written = is_written && constraint.expr;
      if (is_written && constraint.interval != Interval::All()) {
        pairs.AddConstraint(kPartsFit, constraint.expr, constraint.interval);
      }
    }
    has_pair = Not(And(Not(has_pair), is_written ? Not(DomainHasIntegerPoint(pairs, budget))
                                                 : Answer::kUndecided));
    if (has_pair == Answer::kYes) break;
  }
  return has_pair;
}

Answer IndexVectors::HaveNoPair(const PairQuestion& question, StepBudget* budget) const {
  Answer none = Answer::kYes;
  for (const IndexingMap& first : cases_) {
    for (const IndexingMap& second : cases_) {
      none = And(none, Not(HasPair(first, second, question, budget)));
      if (none == Answer::kNo) return Unknowns().empty() ? Answer::kNo : Answer::kUndecided;
    }
  }
  return none;
}

Answer IndexVectors::AreSorted(StepBudget* budget) const {
  if (!is_known_) return Answer::kUndecided;
  Answer sorted = Answer::kYes;
  const int rank = cases_.empty() ? 0 : cases_[0].num_dims();
  for (int dim = 0; dim < rank; ++dim) {
    // A vector is after a later one that is less in some component, and equal in those before.
    PairQuestion question = {dim, std::vector<Interval>(components_.size(), Interval::All()),
                             std::vector<Interval>(components_.size(), Interval::All())};
    for (Interval& difference : question.differences) {
      difference = Interval::AtLeast(1);
      sorted = And(sorted, HaveNoPair(question, budget));
      if (sorted == Answer::kNo) return sorted;
      difference = Interval::Point(0);
    }
  }
  return sorted;
}

Answer IndexVectors::AreUnique(ScatterBounds bounds, StepBudget* budget) const {
  if (!is_known_) return Answer::kUndecided;
  Answer unique = Answer::kYes;
  const int rank = cases_.empty() ? 0 : cases_[0].num_dims();
  for (int dim = 0; dim < rank; ++dim) {
    PairQuestion question = {dim, {}, {}};
    for (const Component& component : components_) {
      const int64_t reach = component.window_size - 1;
      question.differences.push_back(Interval::Closed(-reach, reach));
      question.starts.push_back(component.is_batching ? Interval::All()
                                : bounds == ScatterBounds::kWindow
                                    ? Interval::Closed(0, component.last_start)
                                    : Interval::Closed(-reach, component.last_start + reach));
    }
    unique = And(unique, HaveNoPair(question, budget));
    if (unique == Answer::kNo) return unique;
  }
  return unique;
}

}  // namespace xla_indexing::internal
