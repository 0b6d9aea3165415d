// How many values variables of a map take together at most, whatever its runtime variables are.
//
// Mathematics. Runtime variables are values of tensors: one is determined by the variables that its
// element depends on. Where a constraint sum_i c_i * v_i + rest in [a, b] has a determined rest and
//
//   |c_1| < |c_2| < ..,   |c_i| > sum of |c_j| * (n_j - 1) over j < i,
//
// for v_j in an interval of n_j integers, different (v_1, v_2, ..) give different sums, so that they
// take no more than (b - a) / gcd(c) + 1 values together. So the values that variables take are no
// more than the product of, in some order, the values that each takes where those before have one.
//
// Example: updates u of a scatter are read by (d0)[s0]{rt0} -> (s0, d0 - rt0), d0 - rt0 in [0, 4],
// where rt0 depends on s0. Then s0 determines rt0, and d0 takes 5 values for each s0: an update of 3
// windows is read at most 15 times, however many d0 there are.
#ifndef XLA_INDEXING_QUERY_UTILIZATION_DETERMINED_VARIABLES_H_
#define XLA_INDEXING_QUERY_UTILIZATION_DETERMINED_VARIABLES_H_

#include <vector>

#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {

class DeterminedVariables {
 public:
  // Variables are numbered by dimension, then range variable. `read_at[i]` are those that the element
  // of runtime variable i depends on, also through earlier runtime variables. Keeps a reference.
  DeterminedVariables(const IndexingMap& map, std::vector<llvm::SmallBitVector> read_at);

  // The most values that the results take together, and with them the dimensions if these count.
  Interval MostValues(bool with_dims) const;

  // Whether the results and the variables `given` determine the variables `wanted`.
  bool ResultsDetermine(llvm::SmallBitVector given, const llvm::SmallBitVector& wanted) const;

 private:
  struct UnknownTerm {
    int variable;
    int64_t coefficient;
  };
  using UnknownTerms = llvm::SmallVector<UnknownTerm, 4>;
  struct BoundedSum {
    LinearSum sum;
    Interval interval;
  };

  bool IsKnown(int variable, const llvm::SmallBitVector& known) const;
  // The terms whose variables are not known; empty if these are not variables of `among`, or not
  // determined by the value of the sum.
  UnknownTerms TermsToDetermine(const LinearSum& sum, const llvm::SmallBitVector& known,
                                const llvm::SmallBitVector& among) const;
  Interval ValuesOf(const UnknownTerms& terms) const;
  Interval MostValuesOf(const llvm::SmallBitVector& wanted) const;

  const IndexingMap& map_;
  const std::vector<llvm::SmallBitVector> read_at_;
  std::vector<BoundedSum> constraints_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_UTILIZATION_DETERMINED_VARIABLES_H_
