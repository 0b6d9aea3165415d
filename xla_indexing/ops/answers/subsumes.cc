#include "xla_indexing/ops/answers/subsumes.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/map_builder.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

bool UsesSymbols(AffineExpr expr, const IndexingMap& map) {
  llvm::BitVector used(map.num_symbols());
  MarkSymbols(expr, &used);
  return used.any();
}

// Whether the map, whose constraints use no symbols, restricts its dimensions no more than `other`.
bool IsDefinedWhere(const IndexingMap& map, const IndexingMap& other) {
  for (int i = 0; i < map.num_dims(); ++i) {
    if (!other.dims()[i].bounds.IsSubsetOf(map.dims()[i].bounds)) return false;
  }
  return std::all_of(
      map.constraints().begin(), map.constraints().end(), [&](const Constraint& constraint) {
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

bool MaySubsumeOthers(const OperandIndexing& a, const Shape& to) {
  if (IsOff(Engine::kSubsumes)) return false;
  const IndexingMap& map = a.map();
  if (a.IsUnknown() || map.num_runtimes() > 0 || a.replica_map() != nullptr ||
      map.num_results() != to.rank()) {
    return false;
  }
  if (map.num_ranges() == 0) return true;
  if (llvm::any_of(map.constraints(), [&](const Constraint& constraint) {
        return UsesSymbols(constraint.expr, map);
      })) {
    return false;
  }
  llvm::SmallBitVector used(map.num_ranges());
  for (int i = 0; i < map.num_results(); ++i) {
    if (to.dimension(i) == 1) continue;
    const AffineExpr expr = map.results()[i];
    const std::optional<unsigned> range = FreeRange(expr, map, IndicesOfAxis(to.dimension(i)));
    // For equal expressions of range variables, the other range variables would have to be chosen
    // to match as well.
    if (range ? used.test(*range) : UsesSymbols(expr, map)) return false;
    if (range) used.set(*range);
  }
  return true;
}

bool Subsumes(const OperandIndexing& a, const OperandIndexing& b, const Shape& to) {
  const IndexingMap& map_a = a.map();
  const IndexingMap& map_b = b.map();
  if (b.IsUnknown() || b.replica_map() != nullptr || map_a.num_dims() != map_b.num_dims() ||
      map_a.num_results() != map_b.num_results() || !MaySubsumeOthers(a, to)) {
    return false;
  }
  if (map_a.num_ranges() == 0) {
    return HaveSameResults(map_a, map_b, to) && IsDefinedWhere(map_a, map_b);
  }
  if (!IsDefinedWhere(map_a, map_b)) return false;
  for (int i = 0; i < map_a.num_results(); ++i) {
    const AffineExpr expr = map_a.results()[i];
    if (to.dimension(i) != 1 && expr != map_b.results()[i] && !UsesSymbols(expr, map_a)) {
      return false;
    }
  }
  return true;
}

}  // namespace xla_indexing::internal
