#include "xla_indexing/query/index_structure/exact_pieces.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/bijection.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/query/index_structure/index_structure_answer.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

bool HasOneValueForAll(const OperandIndexing& piece) {
  return absl::c_all_of(piece.bindings(), [](const RuntimeVarIndexing& binding) {
    return absl::c_all_of(binding.element,
                          [](AffineExpr e) { return llvm::isa<mlir::AffineConstantExpr>(e); });
  });
}

// Whether no two points of two maps without runtime variables have one result.
Answer AreDisjoint(const IndexingMap& a, const IndexingMap& b, StepBudget* budget) {
  mlir::MLIRContext* context = a.context();
  Variables dims(a.dims());
  dims.append(b.dims().begin(), b.dims().end());
  llvm::SmallVector<AffineExpr, 4> of_b;
  for (int i = 0; i < b.num_dims(); ++i) {
    of_b.push_back(mlir::getAffineDimExpr(a.num_dims() + i, context));
  }
  const mlir::AffineMap no_results = mlir::AffineMap::get(dims.size(), 0, context);
  IndexingMap pairs(kPartsFit, no_results, std::move(dims), {}, {}, Constraints(a.constraints()));
  for (const Constraint& constraint : b.constraints()) {
    const AffineExpr expr = Substitute(constraint.expr, of_b, {});
    if (!expr) return Answer::kUndecided;
    pairs.AddConstraint(kPartsFit, expr, constraint.interval);
  }
  for (const auto& [x, y] : llvm::zip_equal(a.results(), b.results())) {
    const AffineExpr difference = Sub(x, Substitute(y, of_b, {}));
    if (!difference) return Answer::kUndecided;
    pairs.AddConstraint(kPartsFit, difference, Interval::Point(0));
  }
  return Not(DomainHasIntegerPoint(pairs, budget));
}

}  // namespace

std::optional<std::vector<OperandIndexing>> ExactPieces(const InstructionIndexing& entries,
                                                        int64_t operand) {
  std::vector<OperandIndexing> pieces;
  for (const IndexingEntry& entry : entries) {
    if (entry.operand != operand) continue;
    for (OperandIndexing map : entry.indexing) {
      if (!map.IsExact() || map.replica_map() != nullptr) return std::nullopt;
      map.Simplify();
      if (!map.IsKnownEmpty()) pieces.push_back(std::move(map));
    }
  }
  return pieces;
}

bool HasRuntimeValues(const std::vector<OperandIndexing>& pieces) {
  return absl::c_any_of(pieces,
                        [](const OperandIndexing& piece) { return !piece.bindings().empty(); });
}

IndexProperty UniquenessOf(const std::vector<OperandIndexing>& pieces, StepBudget* budget) {
  Answer unique = Answer::kYes;
  for (const OperandIndexing& piece : pieces) {
    if (!HasOneValueForAll(piece) || piece.map().num_ranges() > 0) {
      return {Answer::kUndecided, "where updates go depends on runtime values"};
    }
    const auto injective = IsInjective(piece.map());
    unique = And(unique, injective.ok() ? injective->answer : Answer::kUndecided);
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (HasRuntimeValues({pieces[i], pieces[k]})) {
        return {Answer::kUndecided, "where updates go depends on runtime values"};
      }
      unique = And(unique, AreDisjoint(pieces[i].map(), pieces[k].map(), budget));
    }
  }
  switch (unique) {
    case Answer::kYes:
      return {unique, "no two updates go to one element"};
    case Answer::kNo:
      return {unique, "two updates go to one element"};
    case Answer::kUndecided:
      break;
  }
  return {unique, "not decided within the number of steps"};
}

}  // namespace xla_indexing::internal
