// What a simplifier (affine/internal/simplifier.h) keeps while it works: atoms, what expressions
// were found to be, ways to write sums and divisions, each with a table to find them in. It is
// handed from one simplifier of a thread to the next, since most of them serve a map or two.
#ifndef XLA_INDEXING_AFFINE_INTERNAL_SIMPLIFIER_MEMORY_H_
#define XLA_INDEXING_AFFINE_INTERNAL_SIMPLIFIER_MEMORY_H_

#include <cstddef>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/internal/division.h"
#include "xla_indexing/affine/internal/object_pool.h"
#include "xla_indexing/affine/internal/quasi_affine_sum.h"
#include "xla_indexing/base/interval.h"

namespace xla_indexing::internal {

// A floordiv or mod, and the sum of digits that it is.
struct EvaluatedExpr {
  mlir::AffineExpr expr;
  QuasiAffineSum sum;

  size_t hash = 0;
  EvaluatedExpr* next = nullptr;
};

// Ways to write one mod-free form (views.cc).
struct SumViews {
  QuasiAffineSum mod_free_form;
  QuasiAffineSum digits;
  QuasiAffineSum shortest;
  Interval range;

  size_t hash = 0;
  SumViews* next = nullptr;
};

struct SimplifierMemory {
  ObjectPool<DigitAtom> atoms;
  ObjectPool<EvaluatedExpr> evaluated;
  ObjectPool<SumViews> views;
  ObjectPool<KnownDivision> divisions;
  HashedChains<DigitAtom> atom_table;  // floors and mods
  HashedChains<EvaluatedExpr> evaluated_table;
  HashedChains<SumViews> view_table;  // by the mod-free form
  HashedChains<KnownDivision> division_table;
  // The sum that was divided last; null where none was.
  mlir::AffineExpr last_dividend;
  QuasiAffineSum last_evaluated;
  // Variables by position.
  llvm::SmallVector<const DigitAtom*, 8> dim_atoms;
  llvm::SmallVector<const DigitAtom*, 8> symbol_atoms;

  // Forgets what is known of floors, mods and sums; objects stay.
  void ClearTables() {
    atom_table.Clear();
    evaluated_table.Clear();
    view_table.Clear();
    division_table.Clear();
    last_dividend = {};
  }
  void Reset() {
    ClearTables();
    atoms.Reset();
    evaluated.Reset();
    views.Reset();
    divisions.Reset();
    dim_atoms.clear();
    symbol_atoms.clear();
  }
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_INTERNAL_SIMPLIFIER_MEMORY_H_
