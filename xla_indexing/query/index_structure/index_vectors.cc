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
#include "xla_indexing/ops/values/element_value.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

constexpr size_t kMaxVectorCases = 32;

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

IndexVectors::IndexVectors(const HloInstruction& instruction, mlir::MLIRContext* context,
                           const Interval& assumed)
    : assumed_(assumed) {
  AddCases(instruction, assumed, context);
}

void IndexVectors::AddCases(const HloInstruction& instruction, const Interval& assumed,
                            mlir::MLIRContext* context) {
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
  ElementEvaluator evaluator(domain, context);
  evaluator.AssumeOfUnknowns(assumed);
  for (int64_t dim = 0; dim < dims.operand->rank(); ++dim) {
    const int64_t last_start = dims.operand->dimension(dim) - dims.window_sizes[dim];
    const auto batching = absl::c_find(dims.operand_batching, dim);
    if (batching != dims.operand_batching.end()) {
      const int64_t of = dims.indices_batching[batching - dims.operand_batching.begin()];
      for (Case& each : cases) {
        each.values.push_back(mlir::getAffineDimExpr(batch_of[of], context));
      }
      components_.push_back({dim, last_start, true});
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
    components_.push_back({dim, last_start, false});
    if (cases.size() > kMaxVectorCases) is_known_ = false;
    if (!is_known_) return;
  }
  unknowns_ = evaluator.unknowns();
  Variables runtimes;
  for (const RuntimeVarIndexing& unknown : unknowns_) {
    runtimes.push_back({evaluator.ValuesOf(unknown), {}});
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
  std::string text;
  std::vector<absl::string_view> names;
  for (const RuntimeVarIndexing& unknown : unknowns_) {
    const bool is_used = absl::c_any_of(cases_, [&](const IndexingMap& map) {
      const auto symbol = static_cast<unsigned>(&unknown - unknowns_.data());
      return absl::c_any_of(map.results(), [&](AffineExpr e) { return HasSymbol(e, symbol); }) ||
             absl::c_any_of(map.constraints(),
                            [&](const Constraint& c) { return HasSymbol(c.expr, symbol); });
    });
    if (!is_used || absl::c_linear_search(names, unknown.instruction->name())) continue;
    names.push_back(unknown.instruction->name());
    absl::StrAppend(&text, text.empty() ? "" : ", ", unknown.instruction->name());
  }
  if (!is_known_) absl::StrAppend(&text, text.empty() ? "" : ", ", "values that are not followed");
  return text;
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

std::optional<Interval> IndexVectors::ValuesInBounds() const {
  if (!is_known_ || cases_.size() != 1 || !cases_[0].constraints().empty()) return std::nullopt;
  const IndexingMap& map = cases_[0];
  Interval values = assumed_;
  for (size_t i = 0; i < components_.size(); ++i) {
    if (components_[i].is_batching) continue;
    const LinearSum sum = LinearSum::FromExpr(map.results()[i]);
    if (!sum.valid()) return std::nullopt;
    // The sum without the unknown.
    LinearSum known(sum.constant());
    bool is_unknown = false;
    for (const auto& term : sum.terms()) {
      if (term.atom.getKind() != mlir::AffineExprKind::SymbolId) {
        known.AddNewTerm(term.atom, term.coefficient);
        continue;
      }
      if (is_unknown || term.coefficient != 1) return std::nullopt;
      is_unknown = true;
    }
    AffineExpr rest = known.ToExpr(map.context());
    if (!rest) return std::nullopt;
    ExprSimplifier simplifier(map.context(), map.DimBounds(), map.SymbolBounds());
    const Interval range = simplifier.Range(rest);
    if (!range.IsFinite() || range.IsEmpty()) return std::nullopt;
    const auto least = CheckedNeg(range.lower());
    const auto greatest = CheckedSub(components_[i].last_start, range.upper());
    if (!least || !greatest) return std::nullopt;
    if (is_unknown) {
      values = values.Intersect(Interval::Closed(*least, *greatest));
    } else if (*least > 0 || *greatest < 0) {
      return std::nullopt;
    }
  }
  if (values.IsEmpty()) return std::nullopt;
  return values;
}

Answer IndexVectors::IsAfter(const IndexingMap& first, const IndexingMap& second, int dim,
                             size_t component, StepBudget* budget) const {
  mlir::MLIRContext* context = first.context();
  const int rank = first.num_dims();
  const auto num_unknowns = static_cast<int>(unknowns_.size());
  // Dimensions: b, b'. Symbols: the unknowns of b, then those of b'.
  Variables dims(first.dims());
  dims.append(second.dims().begin(), second.dims().end());
  Variables runtimes(first.runtimes());
  runtimes.append(second.runtimes().begin(), second.runtimes().end());
  llvm::SmallVector<AffineExpr, 4> dims_of_second;
  for (int i = 0; i < rank; ++i)
    dims_of_second.push_back(mlir::getAffineDimExpr(rank + i, context));
  llvm::SmallVector<AffineExpr, 4> symbols_of_second;
  for (int i = 0; i < num_unknowns; ++i) {
    // A value that is the same for all b is the same for both.
    const bool is_one = absl::c_all_of(
        unknowns_[i].element, [](AffineExpr e) { return llvm::isa<mlir::AffineConstantExpr>(e); });
    symbols_of_second.push_back(mlir::getAffineSymbolExpr(is_one ? i : num_unknowns + i, context));
  }
  const auto of_second = [&](AffineExpr e) {
    return Substitute(e, dims_of_second, symbols_of_second);
  };
  const mlir::AffineMap no_results = mlir::AffineMap::get(dims.size(), runtimes.size(), context);
  IndexingMap pairs(kPartsFit, no_results, std::move(dims), {}, std::move(runtimes),
                    Constraints(first.constraints()));
  bool is_written = true;
  const auto constrain = [&](AffineExpr expr, Interval interval) {
    if (!expr) {
      is_written = false;
      return;
    }
    pairs.AddConstraint(kPartsFit, expr, interval);
  };
  for (const Constraint& constraint : second.constraints()) {
    constrain(of_second(constraint.expr), constraint.interval);
  }
  for (int i = 0; i <= dim; ++i) {
    constrain(Sub(dims_of_second[i], mlir::getAffineDimExpr(i, context)),
              i == dim ? Interval::AtLeast(1) : Interval::Point(0));
  }
  for (size_t i = 0; i <= component; ++i) {
    constrain(Sub(first.results()[i], of_second(second.results()[i])),
              i == component ? Interval::AtLeast(1) : Interval::Point(0));
  }
  return is_written ? DomainHasIntegerPoint(pairs, budget) : Answer::kUndecided;
}

Answer IndexVectors::AreSorted(StepBudget* budget) const {
  if (!is_known_) return Answer::kUndecided;
  Answer sorted = Answer::kYes;
  for (const IndexingMap& first : cases_) {
    for (const IndexingMap& second : cases_) {
      for (int dim = 0; dim < first.num_dims(); ++dim) {
        for (size_t i = 0; i < components_.size(); ++i) {
          sorted = And(sorted, Not(IsAfter(first, second, dim, i, budget)));
          if (sorted == Answer::kNo) {
            return Unknowns().empty() ? Answer::kNo : Answer::kUndecided;
          }
        }
      }
    }
  }
  return sorted;
}

}  // namespace xla_indexing::internal
