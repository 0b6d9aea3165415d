// Composition of index expressions, step by step, without losing what each step was.
//
// A chain of reindexings (reshapes, transposes, reverses, bitcasts and whatever comes between them)
// is composed by putting the index expressions of one step into those of the next. `IndexAlgebra`
// keeps the indices of a step as *atoms* with exact ranges: variables, floor(L / m), L mod n, and
// units (an index that is a sum of several atoms). L is the linear combination of earlier atoms as
// it was written: nothing is reduced or reordered. Two rules do the work:
//
//   floor((g*H + L) / m) = floor((H + t) / (m/g))   g | m, L in [t*g, t*g + g - 1]    (delinearize)
//   k*(X mod n) + k*n*floor(X / n) = k*X            and  n*(Z mod b) + X mod n =
//                                                   (n*Z + X mod n) mod (n*b)         (linearize)
//
// `Linearize` and `Delinearize` are the two halves of a reshape. What they did is remembered:
// digits that came from L come back as L when they are linearized with the same sizes, and indices
// that L was made of come back when it is delinearized with theirs. So a reshape and its inverse
// cancel, whatever stands between them cancels too, and by induction every chain of reindexings
// followed by its inverse is the identity. `Lower` turns what is left into the normal form of
// affine/simplifier.h.
//
//   IndexAlgebra algebra(context, {Interval::OfSize(12), Interval::OfSize(8)});
//   LinearSum linear = algebra.Linearize({d0, d1}, {12, 8});      // d0 * 8 + d1
//   algebra.Delinearize(linear, {16, 6});   // {(d0 * 8 + d1) floordiv 6, (d0 * 8 + d1) mod 6}
//
// Errors. Sums that overflow int64 are invalid (LinearSum::valid) and stay so.
#ifndef XLA_INDEXING_AFFINE_INDEX_ALGEBRA_H_
#define XLA_INDEXING_AFFINE_INDEX_ALGEBRA_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <tuple>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/linear_sum.h"
#include "xla_indexing/affine/simplifier.h"
#include "xla_indexing/base/interval.h"

namespace xla_indexing {

class IndexAlgebra {
 public:
  // Variables are the dimensions with these intervals and symbols, to be added. None may be empty.
  IndexAlgebra(mlir::MLIRContext* context, llvm::ArrayRef<Interval> dims);

  IndexAlgebra(const IndexAlgebra&) = delete;
  IndexAlgebra& operator=(const IndexAlgebra&) = delete;

  // One more symbol. Returns its position.
  unsigned AddSymbol(Interval range);
  unsigned num_symbols() const { return num_symbols_; }

  // `e` with dimension i standing for dims[i] and symbol j for symbols[j]; variables beyond the
  // lists stand for the algebra's own of that position.
  LinearSum Evaluate(mlir::AffineExpr e, llvm::ArrayRef<LinearSum> dims,
                     llvm::ArrayRef<LinearSum> symbols);

  LinearSum FloorDivide(const LinearSum& sum, int64_t m);
  LinearSum Modulo(const LinearSum& sum, int64_t m) {
    return Modulo(sum, m, /*split_digits=*/true);
  }

  // The row-major position of the element with these indices in an array of these sizes; sizes[i]
  // >= 1 and indices[i] in [0, sizes[i] - 1].
  LinearSum Linearize(llvm::ArrayRef<LinearSum> indices, llvm::ArrayRef<int64_t> sizes);
  // The indices of the element at a row-major position, in [0, product of sizes - 1].
  llvm::SmallVector<LinearSum, 4> Delinearize(const LinearSum& position,
                                              llvm::ArrayRef<int64_t> sizes);

  // An index that is known to lie in `known`, as one atom unless it is linear in the variables.
  LinearSum MakeIndex(const LinearSum& sum, Interval known);

  // An interval that contains all values of the sum.
  Interval RangeOf(const LinearSum& sum) const;

  // The normal form of the sum; null when it is invalid.
  mlir::AffineExpr Lower(const LinearSum& sum);
  // The simplifier that gives it, over the algebra's variables.
  ExprSimplifier& simplifier() { return simplifier_; }

 private:
  enum class AtomKind { kFloor, kMod, kUnit };
  struct Atom {
    AtomKind kind;
    LinearSum value;     // the dividend, or what a unit stands for
    int64_t divisor;     // of a floor or mod
    LinearSum quotient;  // of a mod: floor(value / divisor)
    Interval range;
    std::optional<LinearSum> lowered;
  };
  // sum = radix * high + low with low in [0, radix - 1].
  struct Split {
    LinearSum high;
    LinearSum low;
    int64_t radix;
  };

  const Atom* LookUp(mlir::AffineExpr expr) const;
  Interval RangeOfTerm(mlir::AffineExpr expr) const;
  LinearSum MakeAtom(AtomKind kind, LinearSum value, int64_t divisor, Interval range);
  LinearSum EvaluateTerm(mlir::AffineExpr expr, llvm::ArrayRef<LinearSum> dims,
                         llvm::ArrayRef<LinearSum> symbols,
                         llvm::DenseMap<mlir::AffineExpr, LinearSum>& memo);
  LinearSum EvaluateSum(mlir::AffineExpr e, llvm::ArrayRef<LinearSum> dims,
                        llvm::ArrayRef<LinearSum> symbols,
                        llvm::DenseMap<mlir::AffineExpr, LinearSum>& memo);
  bool SplitDigit(LinearSum& sum, const Term& term, int64_t radix);
  std::optional<Split> SplitAt(const LinearSum& sum, int64_t radix) const;
  std::optional<Split> SplitOff(const LinearSum& sum, int64_t m, bool split_digits);
  std::optional<Split> SplitThroughUnits(LinearSum& sum, int64_t m, bool split_digits);
  LinearSum Modulo(const LinearSum& given, int64_t m, bool split_digits);
  std::optional<LinearSum> DivideSingle(const LinearSum& sum, int64_t m);
  LinearSum ComputeFloorDivide(LinearSum sum, int64_t m);
  LinearSum ComputeModulo(LinearSum sum, int64_t m, bool split_digits);
  enum class Operation : unsigned { kFloorDivide, kModulo, kModuloWhole };
  LinearSum Remembered(Operation operation, const LinearSum& sum, int64_t m,
                       llvm::function_ref<LinearSum()> compute);
  LinearSum Join(LinearSum sum);
  bool JoinOnce(LinearSum& sum);
  LinearSum LowerSum(const LinearSum& sum);

  // Divisions that an object makes, and how deep they nest; sums beyond are invalid.
  static constexpr int kMaxWork = 1 << 20;
  static constexpr int kMaxNesting = 256;

  mlir::MLIRContext* context_;
  llvm::SmallVector<Interval, 8> dims_;
  llvm::SmallVector<Interval, 8> symbols_;
  unsigned num_symbols_ = 0;
  ExprSimplifier simplifier_;
  std::deque<Atom> atoms_;  // atom i is the symbol kFirstAtom + i
  llvm::DenseMap<std::tuple<unsigned, mlir::AffineExpr, int64_t>, unsigned> atom_ids_;

  llvm::DenseMap<std::tuple<unsigned, mlir::AffineExpr, int64_t>, LinearSum> results_;
  int work_ = 0;
  int nesting_ = 0;

  // What reshapes did: a position as it comes back from its digits -> as it was; a position -> the
  // sizes and indices it is known to consist of.
  struct KnownIndices {
    llvm::SmallVector<int64_t, 4> sizes;
    llvm::SmallVector<LinearSum, 4> indices;
  };
  void Remember(const LinearSum& position, llvm::ArrayRef<int64_t> sizes,
                llvm::ArrayRef<LinearSum> indices);
  llvm::DenseMap<mlir::AffineExpr, LinearSum> original_positions_;
  llvm::DenseMap<mlir::AffineExpr, llvm::SmallVector<KnownIndices, 1>> known_indices_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_AFFINE_INDEX_ALGEBRA_H_
