// A piece of a union of maps: a conjunction of atoms  e in P,  P a progression.
//
// Mathematics. With d, s and rt the dimensions, range and runtime variables of a map, its piece is
//
//   { (d, rt) -> f(d, s, rt) : some s with  v in P_v  for each variable v,  e_k in P_k  for each k }
//
// where P are progressions (base/numbers/progression.h): an interval and a residue class. A constraint
// `(d0 + 1) mod 2 in [0, 0]` narrows the class of d0, `(d0 + d1) mod 2 in [0, 0]` is an atom of the sum.
// Runtime variables are parameters: a union is one for each value of theirs.
//
// Example: (d0)[s0] -> (s0), d0 in [0, 7], s0 in [0, 7], d0 - s0 in [1, 3], d0 mod 2 in [0, 0] has the
// atoms d0 in {0, 2, 4, 6}, s0 in [0, 7] and d0 - s0 in [1, 3].
#ifndef XLA_INDEXING_MAP_UNION_PIECE_H_
#define XLA_INDEXING_MAP_UNION_PIECE_H_

#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/progression.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

struct PieceAtom {
  mlir::AffineExpr expr;
  Progression values;
};

struct Piece {
  explicit Piece(const IndexingMap& map);

  int num_variables() const { return num_dims + num_symbols; }
  // The dimension or symbol of variable `i`; its atom is atoms[i].
  mlir::AffineExpr Variable(int i) const;
  // Adds the atom of a sum, or narrows the one that there is.
  void Restrict(mlir::AffineExpr expr, const Progression& values);
  // The atoms behind those of the variables, and the residue classes of these, as constraints; false
  // if a number does not fit.
  bool AppendConstraints(Constraints* constraints) const;
  // The map whose variables these are, by `like` of the same numbers of variables and results; nullopt
  // if a number does not fit.
  std::optional<IndexingMap> ToMap(const IndexingMap& like) const;

  mlir::MLIRContext* context;
  int num_dims;
  int num_ranges;
  int num_symbols;
  llvm::SmallVector<PieceAtom, 8> atoms;  // of the dimensions and symbols, then of sums
  llvm::SmallVector<mlir::AffineExpr, 4> results;
};

// What `all` has and `part`, which is in it, has not, as progressions; nullopt if these are many.
std::optional<llvm::SmallVector<Progression, 4>> Outside(const Progression& all,
                                                         const Progression& part);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_MAP_UNION_PIECE_H_
