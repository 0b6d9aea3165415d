#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/simplifier.h"
#include "xla_indexing/map/constraint_form.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {

using ::mlir::AffineExpr;

bool IndexingMap::Simplify() {
  const IndexingMap before = *this;
  auto make_empty = [&] {
    *this = MakeEmpty(context(), num_dims(), num_ranges(), num_runtimes(), num_results());
    return *this != before;
  };
  if (IsKnownEmpty()) return make_empty();

  // A constraint that narrows a variable can make others say more; what is not found in a few
  // rounds is left to the constraints that stay.
  constexpr int kMaxRounds = 4;
  for (int round = 0;; ++round) {
    ExprSimplifier simplifier(context(), DimBounds(), SymbolBounds());
    bool narrowed = false;
    bool unsatisfiable = false;
    auto narrow = [&](AffineExpr variable, Interval interval) {
      Interval* bounds;
      if (auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(variable)) {
        bounds = &dims_[dim.getPosition()].bounds;
      } else {
        const int symbol = llvm::cast<mlir::AffineSymbolExpr>(variable).getPosition();
        bounds = symbol < num_ranges() ? &ranges_[symbol].bounds
                                       : &runtimes_[symbol - num_ranges()].bounds;
      }
      const Interval narrower = bounds->Intersect(interval);
      if (narrower == *bounds) return;
      *bounds = narrower;
      narrowed = true;
      if (narrower.IsEmpty()) unsatisfiable = true;
    };
    Constraints kept;
    for (Constraint constraint : constraints_) {
      switch (NormalizeConstraint(simplifier, constraint, narrow)) {
        case ConstraintState::kImplied:
          break;
        case ConstraintState::kUnsatisfiable:
          unsatisfiable = true;
          break;
        case ConstraintState::kKept:
          kept.push_back(constraint);
          break;
      }
    }
    if (unsatisfiable) return make_empty();
    if (narrowed && round < kMaxRounds) {
      constraints_ = std::move(kept);
      continue;
    }
    llvm::SmallVector<AffineExpr, 4> results;
    if (narrowed) {
      ExprSimplifier last(context(), DimBounds(), SymbolBounds());
      for (AffineExpr result : this->results()) results.push_back(last.Simplify(result));
    } else {
      for (AffineExpr result : this->results()) results.push_back(simplifier.Simplify(result));
    }
    // The constructor sorts constraints and merges those of one expression.
    const mlir::AffineMap affine_map =
        mlir::AffineMap::get(num_dims(), num_symbols(), results, context());
    *this = IndexingMap(affine_map, std::move(dims_), std::move(ranges_), std::move(runtimes_),
                        std::move(kept));
    if (IsKnownEmpty()) return make_empty();
    return *this != before;
  }
}

}  // namespace xla_indexing
