#include "xla_indexing/map/count/image_parts.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/wide_interval.h"
#include "xla_indexing/map/count/progression_of_values.h"
#include "xla_indexing/map/expr/components.h"
#include "xla_indexing/map/expr/constraint_form.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/map/sets/project.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

int NumberOf(AffineExpr variable, int num_dims) {
  if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(variable)) {
    return static_cast<int>(dim.getPosition());
  }
  return num_dims + static_cast<int>(llvm::cast<mlir::AffineSymbolExpr>(variable).getPosition());
}

// None of an infinite interval.
std::optional<Progression> FiniteProgression(const Interval& interval,
                                             const Congruence& residues = Congruence::All()) {
  if (!residues.Tighten(interval).IsFinite()) return std::nullopt;
  return Progression::Of(interval, residues);
}

// What a constraint on one variable alone, its residue class, leaves of its values; none for a
// constraint that says something else.
std::optional<Progression> Restricted(const IndexingMap& map, const Constraint& constraint,
                                      int variable) {
  const std::optional<ResidueFact> fact = ResidueFactOf(constraint);
  if (!fact || fact->sum.terms().size() != 1) return std::nullopt;
  const Term& term = fact->sum.terms()[0];
  if (term.coefficient != 1 || (term.atom.getKind() != mlir::AffineExprKind::DimId &&
                                term.atom.getKind() != mlir::AffineExprKind::SymbolId)) {
    return std::nullopt;
  }
  if (NumberOf(term.atom, map.num_dims()) != variable) return std::nullopt;
  // A fact says nothing of a remainder that there is not.
  const auto mod = llvm::cast<mlir::AffineBinaryOpExpr>(constraint.expr);
  const int64_t divisor = llvm::cast<mlir::AffineConstantExpr>(mod.getRHS()).getValue();
  if (!Interval::OfSize(divisor).Contains(constraint.interval.lower())) {
    return Progression::Empty();
  }
  return FiniteProgression(BoundsOf(map, variable), fact->residues);
}

// The values of the only result of a component, where its form says so.
std::optional<Progression> ProgressionOfResult(const IndexingMap& map, const Component& component) {
  const AffineExpr result = map.results()[component.results[0]];
  // The values under the only constraint on a variable alone, of which there is at most one. A
  // constraint on the result itself is applied last.
  std::optional<std::pair<int, Progression>> restricted;
  WideInterval of_result(Interval::Closed(kInt64Min, kInt64Max));
  for (const int i : component.constraints) {
    const Constraint& constraint = map.constraints()[i];
    LinearSum difference = LinearSum::FromExpr(constraint.expr);
    difference.AddScaled(LinearSum::FromExpr(result), -1);
    if (difference.valid() && difference.IsConstant()) {
      of_result = of_result.Intersect(WideInterval(constraint.interval).Sub(difference.constant()));
      continue;
    }
    if (restricted || component.variables.size() != 1) return std::nullopt;
    const std::optional<Progression> values = Restricted(map, constraint, component.variables[0]);
    if (!values) return std::nullopt;
    if (values->IsEmpty()) return Progression::Empty();
    restricted = {component.variables[0], *values};
  }
  const std::optional<Progression> values =
      ProgressionOfValues(result, [&](AffineExpr variable) -> std::optional<Progression> {
        const int number = NumberOf(variable, map.num_dims());
        if (restricted && restricted->first == number) return restricted->second;
        return FiniteProgression(BoundsOf(map, number));
      });
  if (!values) return std::nullopt;
  return Progression::Of(values->interval.Intersect(of_result.Hull()), values->residues);
}

void AddProgression(int result, const Progression& values, ImageParts* image) {
  if (values.IsEmpty()) image->has_point = Answer::kNo;
  ImagePart& part = image->parts.emplace_back();
  part.results.push_back(result);
  part.progression = values;
}

// The parts of an explicit set, whose dimension i is result results[i].
bool AddExplicit(const IndexingMap& set, llvm::ArrayRef<int> results, ImageParts* image) {
  for (const Component& component : ComponentsOf(set)) {
    ImagePart part;
    for (const int dim : component.variables) part.results.push_back(results[dim]);
    if (component.variables.size() == 1) {
      const int dim = component.variables[0];
      if (component.constraints.empty()) {
        part.progression = FiniteProgression(set.dims()[dim].bounds);
      } else if (component.constraints.size() == 1) {
        part.progression = Restricted(set, set.constraints()[component.constraints[0]], dim);
      }
      if (part.progression) {
        AddProgression(part.results[0], *part.progression, image);
        continue;
      }
    }
    part.domain = MapOfComponent(set, component);
    if (!part.domain) return false;
    image->parts.push_back(std::move(part));
  }
  return true;
}

bool AddProjected(const IndexingMap& map, const Component& component, ImageParts* image) {
  const std::optional<IndexingMap> alone = MapOfComponent(map, component);
  if (!alone) return false;
  std::optional<Projected> projected =
      ProjectOntoResults(*alone, {.dims = false, .runtimes = false});
  if (!projected) return false;
  if (projected->map.IsKnownEmpty()) {
    image->has_point = Answer::kNo;
    return true;
  }
  const std::optional<Projection>& projection = projected->projection;
  if (projection && projection->IsExplicit()) {
    return AddExplicit(projection->set, component.results, image);
  }
  ImagePart part;
  part.results.append(component.results.begin(), component.results.end());
  part.is_injective = projection && llvm::all_of(projection->values, [](AffineExpr value) {
                        return static_cast<bool>(value);
                      });
  part.map = std::move(projected->map);
  image->parts.push_back(std::move(part));
  return true;
}

bool Visit(const IndexingMap& map, bool dims_are_results, StepBudget* budget,
           llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit) {
  const std::optional<int64_t> candidates = NumCandidates(map);
  if (!candidates || !budget->Take(*candidates)) return false;
  return map
      .ForEachPoint(
          *candidates,
          [&](llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t>,
              llvm::ArrayRef<int64_t> results) { visit(dims_are_results ? dims : results); })
      .ok();
}

}  // namespace

std::optional<ImageParts> ProgressionPartsOf(const IndexingMap& map) {
  ImageParts image;
  if (map.IsKnownEmpty()) image.has_point = Answer::kNo;
  if (image.has_point == Answer::kNo) return image;
  for (const Component& component : ComponentsOf(map)) {
    if (component.results.empty() && component.constraints.empty()) continue;
    if (component.results.size() != 1) return std::nullopt;
    const std::optional<Progression> values = ProgressionOfResult(map, component);
    if (!values) return std::nullopt;
    AddProgression(component.results[0], *values, &image);
  }
  return image;
}

std::optional<ImageParts> PartsOf(const IndexingMap& map, StepBudget* budget) {
  ImageParts image;
  if (map.IsKnownEmpty()) {
    image.has_point = Answer::kNo;
    return image;
  }
  for (const Component& component : ComponentsOf(map)) {
    if (component.results.empty()) {
      if (component.constraints.empty()) continue;
      const std::optional<IndexingMap> alone = MapOfComponent(map, component);
      image.has_point =
          And(image.has_point, alone ? DomainHasIntegerPoint(*alone, budget) : Answer::kUndecided);
      continue;
    }
    if (component.results.size() == 1) {
      if (const std::optional<Progression> values = ProgressionOfResult(map, component)) {
        AddProgression(component.results[0], *values, &image);
        continue;
      }
    }
    if (!AddProjected(map, component, &image)) return std::nullopt;
  }
  return image;
}

llvm::SmallVector<Interval, 4> HullOf(const ImagePart& part) {
  if (part.progression) {
    return {part.progression->interval};
  }
  if (part.domain) return llvm::SmallVector<Interval, 4>(part.domain->DimBounds());
  llvm::SmallVector<Interval, 4> hull;
  ExprSimplifier simplifier(part.map->context(), {}, part.map->SymbolBounds());
  for (const AffineExpr result : part.map->results()) hull.push_back(simplifier.Range(result));
  return hull;
}

bool ForEachElement(const ImagePart& part, StepBudget* budget,
                    llvm::function_ref<void(llvm::ArrayRef<int64_t> results)> visit) {
  if (part.domain) return Visit(*part.domain, /*dims_are_results=*/true, budget, visit);
  if (part.map) return Visit(*part.map, /*dims_are_results=*/false, budget, visit);
  const Progression& values = *part.progression;
  if (values.IsEmpty()) return true;
  const std::optional<int64_t> count = NarrowToInt64(*values.Count());
  if (!count || !budget->Take(*count)) return false;
  for (int64_t i = 0; i < *count; ++i) {
    const auto value = static_cast<int64_t>(values.first() + Int128{i} * values.stride());
    visit(value);
  }
  return true;
}

}  // namespace xla_indexing::internal
