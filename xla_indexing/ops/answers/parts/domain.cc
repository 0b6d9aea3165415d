#include "xla_indexing/ops/answers/parts/domain.h"

#include <cstddef>
#include <cstdint>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/wide_interval.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

LinearSum SumOf(AffineExpr expr) { return expr ? LinearSum::FromExpr(expr) : LinearSum::Invalid(); }

// An interval that contains every value of a sum.
Interval RangeOfSum(const LinearSum& sum, Domain& domain) {
  if (!sum.valid()) return Interval::All();
  Interval range = Interval::Point(sum.constant());
  for (const Term& term : sum.terms()) {
    const Interval* bounds = domain.BoundsOf(term.atom);
    range = range.Add(bounds == nullptr ? Interval::All() : bounds->Mul(term.coefficient));
  }
  return range;
}

}  // namespace

Domain Domain::Of(const IndexingMap& map) {
  return {Variables(map.dims()), Variables(map.ranges()), Variables(map.runtimes()),
          Constraints(map.constraints())};
}

Interval* Domain::BoundsOf(AffineExpr variable) {
  if (auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(variable)) {
    return &dims[dim.getPosition()].bounds;
  }
  if (auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(variable)) {
    const size_t position = symbol.getPosition();
    if (position < ranges.size()) return &ranges[position].bounds;
    return &runtimes[position - ranges.size()].bounds;
  }
  return nullptr;
}

bool Domain::Constrain(AffineExpr expr, const Interval& interval) {
  if (Interval* bounds = expr ? BoundsOf(expr) : nullptr) {
    *bounds = bounds->Intersect(interval);
    return true;
  }
  const LinearSum sum = SumOf(expr);
  if (!sum.valid()) return false;
  if (RangeOfSum(sum, *this).IsSubsetOf(interval)) return true;
  if (sum.terms().size() == 1) {
    const Term& term = sum.terms().front();
    if (Interval* bounds = BoundsOf(term.atom)) {
      const WideInterval narrower =
          WideInterval(interval).Sub(sum.constant()).PreimageOfMul(term.coefficient);
      if (const auto both = WideInterval(*bounds).Intersect(narrower).Narrow()) {
        *bounds = *both;
        return true;
      }
    }
  }
  constraints.push_back({expr, interval});
  return true;
}

bool Domain::ConstrainResidue(AffineExpr expr, int64_t modulus, const Interval& residues) {
  const LinearSum sum = SumOf(expr);
  if (!sum.valid()) return false;
  const bool has_one_residue = llvm::all_of(
      sum.terms(), [modulus](const Term& term) { return term.coefficient % modulus == 0; });
  if (has_one_residue && residues.Contains(FloorMod(sum.constant(), modulus))) return true;
  AffineExpr residue = Mod(expr, modulus);
  if (!residue) return false;
  constraints.push_back({residue, residues});
  return true;
}

IndexingMap Domain::MakeMap(llvm::ArrayRef<AffineExpr> results, mlir::MLIRContext* context) const {
  return IndexingMap(
      kPartsFit,
      mlir::AffineMap::get(dims.size(), ranges.size() + runtimes.size(), results, context), dims,
      ranges, runtimes, constraints);
}

}  // namespace xla_indexing::internal
