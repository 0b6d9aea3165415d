#include "xla_indexing/map/sets/inverse.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/sets/bijection.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/map/sets/project.h"

namespace xla_indexing {
namespace {

using internal::Projected;
using internal::Projection;
using internal::ProjectOntoResults;
using internal::Substitute;
using ::mlir::AffineExpr;

absl::Status NotInverted(const IndexingMap& map, absl::string_view reason, int64_t max_steps) {
  if (map.num_ranges() == 0) {
    const absl::StatusOr<Decision> injective = IsInjective(map, max_steps);
    if (injective.ok() && injective->IsNo()) {
      return absl::FailedPreconditionError(
          absl::StrCat("two points have one result: ", map.ToString()));
    }
  }
  return absl::UnimplementedError(absl::StrCat(reason, ": ", map.ToString()));
}

absl::Status InverseTooLarge(const IndexingMap& map) {
  return absl::OutOfRangeError(absl::StrCat(
      "the inverse passes a bound of int64 or of the size of expressions: ", map.ToString()));
}

}  // namespace

absl::StatusOr<IndexingMap> Inverse(const IndexingMap& map, int64_t max_steps) {
  const QuestionBudget question;
  if (absl::Status status = map.Verify(); !status.ok()) return status;
  const std::optional<Projected> projected =
      ProjectOntoResults(map, {.dims = false, .runtimes = true});
  if (!projected || !projected->projection) return InverseTooLarge(map);
  const Projection& projection = *projected->projection;
  for (int i = 0; i < map.num_dims(); ++i) {
    if (!projection.values[i]) {
      return NotInverted(map, absl::StrCat("the results were not shown to determine dimension ", i),
                         max_steps);
    }
  }
  if (!projection.IsExplicit()) {
    return NotInverted(
        map, "the results that there are could not be written without range variables", max_steps);
  }

  // The projection is over (rt, r), the inverse over (r){rt}.
  mlir::MLIRContext* context = map.context();
  const IndexingMap& set = projection.set;
  llvm::SmallVector<AffineExpr, 8> replacements;
  Variables runtimes;
  for (int i = 0; i < map.num_runtimes(); ++i) {
    replacements.push_back(mlir::getAffineSymbolExpr(i, context));
    runtimes.push_back({set.dims()[i].bounds, map.runtimes()[i].name});
  }
  StepBudget budget(max_steps);
  Variables dims;
  for (int i = map.num_runtimes(); i < set.num_dims(); ++i) {
    replacements.push_back(mlir::getAffineDimExpr(dims.size(), context));
    const AffineExpr result = mlir::getAffineDimExpr(i, context);
    dims.push_back({HullOver(set, result, set.dims()[i].bounds, &budget), {}});
  }
  llvm::SmallVector<AffineExpr, 4> results;
  for (const AffineExpr value : llvm::ArrayRef(projection.values).take_front(map.num_dims())) {
    results.push_back(Substitute(value, replacements, {}));
    if (!results.back()) return InverseTooLarge(map);
  }
  Constraints constraints;
  for (const Constraint& constraint : set.constraints()) {
    constraints.push_back({Substitute(constraint.expr, replacements, {}), constraint.interval});
    if (!constraints.back().expr) return InverseTooLarge(map);
  }
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(dims.size(), runtimes.size(), results, context);
  IndexingMap inverse(kPartsFit, affine_map, std::move(dims), {}, std::move(runtimes),
                      std::move(constraints));
  inverse.Simplify();
  if (!inverse.IsKnownEmpty()) DropImpliedConstraints(&inverse, &budget);
  return inverse;
}

}  // namespace xla_indexing
