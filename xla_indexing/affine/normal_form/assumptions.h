// What is known of the variables of a simplifier, and of sums of atoms beyond what their atoms say.
//
// Mathematics. A variable lies in an interval. A fact says of a sum F that F = r (mod n), a bound
// that F is in [a, b]. Both say something of every sum S that contains a multiple of F:
//
//   S = k*F + R is in k*[a, b] + range(R), and  S = k*r + R (mod k*n).
//
// Facts or bounds that contradict each other make no result wrong, since there is no point then.
#ifndef XLA_INDEXING_AFFINE_NORMAL_FORM_ASSUMPTIONS_H_
#define XLA_INDEXING_AFFINE_NORMAL_FORM_ASSUMPTIONS_H_

#include <cstdint>
#include <memory>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/quasi_affine_sum.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {

class Assumptions {
 public:
  // Forgets what was known before. Variables beyond the lists are unbounded.
  void Start(llvm::ArrayRef<Interval> dims, llvm::ArrayRef<Interval> symbols) {
    dims_.assign(dims.begin(), dims.end());
    symbols_.assign(symbols.begin(), symbols.end());
    facts_.clear();
    bounds_.clear();
  }

  // Adds the fact that `sum` is in `residues`, or that it is in `interval`. Returns whether that
  // says anything that can be used.
  bool Add(QuasiAffineSum sum, const Congruence& residues);
  bool Add(QuasiAffineSum sum, const Interval& interval);

  bool HasFacts() const { return !facts_.empty(); }
  bool HasBounds() const { return !bounds_.empty(); }
  // Whether every point of the box of the variables counts.
  bool IsBox() const { return facts_.empty() && bounds_.empty(); }

  Interval RangeOfVariable(mlir::AffineExpr variable) const;
  // The sum of the ranges of the terms, with multiples of up to three bounded sums taken out where
  // that says more.
  Interval SumOfRanges(const QuasiAffineSum& sum) const;
  Congruence ResiduesOf(const QuasiAffineSum& sum) const;

  // A sum that is so many times another one.
  struct Multiple {
    QuasiAffineSum sum;
    int64_t multiple;
  };

 private:
  // A sum that has no constant.
  struct Fact {
    QuasiAffineSum sum;
    Congruence residues;
  };
  struct Bound {
    QuasiAffineSum sum;
    std::unique_ptr<Atom> value;  // what the sum is, as an atom by itself
  };
  // For each bound that shares atoms with the sum, or with others that do: F - (the value of F),
  // which is 0.
  llvm::SmallVector<QuasiAffineSum, 2> ZerosNear(const QuasiAffineSum& sum) const;
  // With one atom after the other eliminated by one of the zeros, from the sum and from the zeros
  // after it: linear programming, where as many atoms go as bounds are used.
  Interval RangeWithZeros(const Multiple& of, llvm::ArrayRef<QuasiAffineSum> zeros,
                          int depth) const;

  llvm::SmallVector<Interval, 8> dims_;
  llvm::SmallVector<Interval, 8> symbols_;
  llvm::SmallVector<Fact, 2> facts_;
  llvm::SmallVector<Bound, 2> bounds_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_NORMAL_FORM_ASSUMPTIONS_H_
