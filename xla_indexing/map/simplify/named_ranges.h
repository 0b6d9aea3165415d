// Range variables that are names: an equality among the constraints gives the value of each from
// the dimensions and other variables, and is too long to be put in its place
// (map/simplify/equalities.h).
//
// Mathematics. With names n_1 .. n_k in this order, and constraints  n_i = f_i(d, s, n_1 ..
// n_(i-1)),  a point of the other variables is a point of the domain for at most one value of each
// name. Whoever goes through all points need not go through the values of names, but computes them.
//
// Example: (d0)[s0, s1] -> (s1 floordiv 8, s1 mod 8) with f(d0) - s0 in [0, 0] and g(s0) - s1 in
// [0, 0], both long, has the names s0 = f(d0) and s1 = g(s0).
#ifndef XLA_INDEXING_MAP_SIMPLIFY_NAMED_RANGES_H_
#define XLA_INDEXING_MAP_SIMPLIFY_NAMED_RANGES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

struct NamedRange {
  int range;
  int constraint;          // the equality
  mlir::AffineExpr value;  // of dimensions and symbols, among them earlier names
};

// In an order in which each value has only names that stand before it. In a map that has such
// names, variables that a short equality gives the value of count as names too.
llvm::SmallVector<NamedRange, 0> NamedRangesOf(const IndexingMap& map);

// Puts the values of the names at a point of the other variables in their places among the symbols.
// OutOfRange where one does not fit int64.
absl::Status ComputeNames(llvm::ArrayRef<NamedRange> names, llvm::ArrayRef<int64_t> dims,
                          llvm::MutableArrayRef<int64_t> symbols);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_SIMPLIFY_NAMED_RANGES_H_
