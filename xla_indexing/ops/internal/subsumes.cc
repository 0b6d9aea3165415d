#include "xla_indexing/ops/internal/subsumes.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/internal/linear_sum.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/internal/expr_util.h"
#include "xla_indexing/ops/internal/map_builder.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

bool UsesSymbols(AffineExpr expr, const IndexingMap& map) {
  return llvm::any_of(VariablesOf(expr, map.num_dims()),
                      [&](int variable) { return variable >= map.num_dims(); });
}

// Whether the map restricts its dimensions no more than `other`, and nothing else at all.
bool IsDefinedWhere(const IndexingMap& map, const IndexingMap& other) {
  for (int i = 0; i < map.num_dims(); ++i) {
    if (!other.dims()[i].bounds.IsSubsetOf(map.dims()[i].bounds)) return false;
  }
  return std::all_of(
      map.constraints().begin(), map.constraints().end(), [&](const Constraint& constraint) {
        if (UsesSymbols(constraint.expr, map)) return false;
        return std::any_of(
            other.constraints().begin(), other.constraints().end(), [&](const Constraint& also) {
              return also.expr == constraint.expr && also.interval.IsSubsetOf(constraint.interval);
            });
      });
}

// The range variable s of which the expression is c + s or c - s with all values of the axis.
std::optional<unsigned> FreeRange(AffineExpr expr, const IndexingMap& map, const Interval& axis) {
  const LinearSum sum = LinearSum::FromExpr(expr);
  if (!sum.valid() || sum.terms().size() != 1) return std::nullopt;
  const Term& term = sum.terms()[0];
  const auto range = llvm::dyn_cast<mlir::AffineSymbolExpr>(term.atom);
  if (!range || (term.coefficient != 1 && term.coefficient != -1)) return std::nullopt;
  const Interval values = map.ranges()[range.getPosition()]
                              .bounds.Mul(term.coefficient)
                              .Add(Interval::Point(sum.constant()));
  if (!axis.IsSubsetOf(values)) return std::nullopt;
  return range.getPosition();
}

// Whether the results are the same, but along axes of one element.
bool HaveSameResults(const IndexingMap& a, const IndexingMap& b, const Shape& to) {
  if (a.affine_map() == b.affine_map()) return true;
  for (int i = 0; i < a.num_results(); ++i) {
    if (to.dimension(i) != 1 && a.results()[i] != b.results()[i]) return false;
  }
  return true;
}

}  // namespace

bool Subsumes(const OperandIndexing& a, const OperandIndexing& b, const Shape& to) {
  const IndexingMap& map_a = a.map();
  const IndexingMap& map_b = b.map();
  if (a.IsUnknown() || b.IsUnknown() || map_a.num_runtimes() > 0 ||
      map_a.num_dims() != map_b.num_dims() || map_a.num_results() != map_b.num_results() ||
      map_a.num_results() != to.rank()) {
    return false;
  }
  if (a.replica_map() != nullptr || b.replica_map() != nullptr) return false;
  if (map_a.num_ranges() == 0) {
    return HaveSameResults(map_a, map_b, to) && IsDefinedWhere(map_a, map_b);
  }
  if (!IsDefinedWhere(map_a, map_b)) return false;
  llvm::SmallBitVector used(map_a.num_ranges());
  for (int i = 0; i < map_a.num_results(); ++i) {
    if (to.dimension(i) == 1) continue;
    const AffineExpr expr = map_a.results()[i];
    if (const std::optional<unsigned> range =
            FreeRange(expr, map_a, IndicesOfAxis(to.dimension(i)))) {
      if (used.test(*range)) return false;
      used.set(*range);
      continue;
    }
    // For equal expressions of range variables, the other range variables would have to be chosen
    // to match as well.
    if (UsesSymbols(expr, map_a) || expr != map_b.results()[i]) return false;
  }
  return true;
}

}  // namespace xla_indexing::internal
