// The address and the constraints of a launch as functions of one outer variable v and of the
// points of a request, ready to be looked at for one v after the other.
//
// Points are the values of the inner variables, the last one the fastest; l0 is the first. Every
// form is a sum  constant + slope*v + (what the points add) + sum_i k_i * (digit i),  where digits
// are the divisions that have v. All other variables are at their lower ends. Inner variables that
// are only added to the address are no part of the points: where their elements are side by side,
// each point has one wide element, and otherwise some that are equally far apart.
//
// Most often point number j adds step*j to every form: points are *in a line*.
#ifndef XLA_INDEXING_GPU_INTERNAL_LANE_FORMS_H_
#define XLA_INDEXING_GPU_INTERNAL_LANE_FORMS_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/gpu/internal/access_forms.h"
#include "xla_indexing/gpu/internal/launch_variables.h"

namespace xla_indexing::internal {

struct LaneSum {
  int64_t constant = 0;  // at l0
  int64_t slope = 0;     // of v
  int64_t low = 0;       // of what the points add
  int64_t high = 0;
  llvm::SmallVector<std::pair<int, int64_t>, 2> digits;  // number, coefficient
  int64_t step = 0;                                      // of points in a line
  std::vector<int64_t> added;                            // by point, where they are in none
};

struct LaneDigit {
  LaneSum dividend;
  int64_t divisor = 1;
  bool is_mod = false;
};

struct LaneConstraint {
  LaneSum sum;
  ValueRange interval;
};

// step * x for x in [0, count - 1].
struct LaneSteps {
  int64_t step = 0;
  int64_t count = 1;
};

struct LaneForms {
  // Sums of a few such numbers, and the differences of two, fit int64.
  static constexpr int64_t kMaxNumber = int64_t{1} << 60;

  // `constraints` are those that do not hold everywhere. Other variables than v and the inner ones
  // are in no division that has several values; ranges are as FormAlgebra::UpdateDivisionRanges
  // leaves them, and only values of v in its range have a meaning.
  LaneForms(const LaunchAccess& access, llvm::ArrayRef<int> constraints, int variable);

  bool fits = true;  // Whether numbers are at most kMaxNumber; if not, nothing has a meaning.
  size_t num_points = 1;
  bool are_in_line = false;
  int64_t width = 0;                         // of an element of a point, in bits
  llvm::SmallVector<LaneSteps, 2> elements;  // Where a point's elements are: the sum of these.
  llvm::SmallVector<LaneDigit, 4> digits;    // those before others that they are part of
  llvm::SmallVector<LaneConstraint, 2> constraints;
  LaneSum address;

 private:
  void AddPoints(const LaunchAccess& access, int variable, llvm::ArrayRef<const Form*> sources,
                 llvm::ArrayRef<LaneSum*> sums, llvm::ArrayRef<int> digit_of,
                 llvm::ArrayRef<int> of_points);
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_INTERNAL_LANE_FORMS_H_
