// Functions that are given by their values, as affine expressions: lists of devices and tables of
// indices, for which there is a formula more often than not.

#ifndef XLA_INDEXING_OPS_VALUES_CASES_FIT_SEQUENCE_H_
#define XLA_INDEXING_OPS_VALUES_CASES_FIT_SEQUENCE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

// An expression e(x) with e(i) = values[i] for every i in [0, n - 1], where x is in that interval;
// null if none of these is one:
//
//   v_0 + s*x                                 a progression
//   b + s*((x + c) mod n)                     a rotated progression
//   e_1(x floordiv m) + e_2(x mod m)          m divides n, e_1 and e_2 of these forms
//
// Thus every shape, transpose and shift along a dimension of a grid of numbers has an expression:
// {0,4,1,5} is (x mod 2) * 4 + x floordiv 2, {1,2,3,0} is (x + 1) mod 4.
mlir::AffineExpr FitSequence(llvm::ArrayRef<int64_t> values, mlir::AffineExpr x);

// floor((p*x + b) / q) with the smallest q, that is values[x] for every x in [0, n - 1]; null if
// there is none, or where that is not found in few steps. A digital line: {0, 0, 1, 2, 2} is
// (x*2) floordiv 3.
mlir::AffineExpr FitFloor(llvm::ArrayRef<int64_t> values, mlir::AffineExpr x);

// The values in [begin, end), which are those of an expression of all of x.
struct FittedRun {
  size_t begin;
  size_t end;
  mlir::AffineExpr value;
};

// A sequence as few digital lines, each as long as it can be. Nullopt if they are more than `most`.
std::optional<std::vector<FittedRun>> FitFloors(llvm::ArrayRef<int64_t> values, mlir::AffineExpr x,
                                                int64_t most);

struct ValuePair {
  int64_t x;
  int64_t y;
};

// The part of a function in which `where` holds of x: its value.
struct FittedPiece {
  Constraints where;
  mlir::AffineExpr value;
};

// A function given by pairs with distinct x, as functions of the expression `x` on disjoint parts:
// one where the x's are a progression along which the y's fit, otherwise runs in which both are
// progressions. Nullopt if these are more than `max_pieces`.
std::optional<std::vector<FittedPiece>> FitPieces(std::vector<ValuePair> pairs, mlir::AffineExpr x,
                                                  size_t max_pieces);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_VALUES_CASES_FIT_SEQUENCE_H_
