// The costs of the requests of lane classes (gpu/internal/lane_classes.h).
//
// Mathematics. With a period of the values v in [a, b] (gpu/internal/value_periods.h), v = a + t +
// R*u,
//
//   A(v, l) = A(a + t, l) + g(u)
//
// for u in [0, N] at the first `more` of the t, and for u in [0, N - 1] at the others, where there
// are N*R + more values. u moves all lanes alike, as other variables do that are only added: how
// often a class begins at each residue of the modulus is the convolution of both
// (gpu/internal/residue_counts.h), and costs are measured once for each pattern and residue. So the
// work grows with R values.
//
// The worst request is the one with the least v and, among several, with the first residue of the
// other variables.
#ifndef XLA_INDEXING_GPU_INTERNAL_CLASS_COSTS_H_
#define XLA_INDEXING_GPU_INTERNAL_CLASS_COSTS_H_

#include <array>
#include <cstdint>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/gpu/internal/access_forms.h"
#include "xla_indexing/gpu/internal/lane_classes.h"
#include "xla_indexing/gpu/internal/request_meter.h"
#include "xla_indexing/gpu/internal/request_totals.h"
#include "xla_indexing/gpu/internal/residue_counts.h"
#include "xla_indexing/gpu/internal/value_periods.h"

namespace xla_indexing::internal {

// Writes the values of v in t and u, and says how u and other variables move the lanes.
class PeriodMoves {
 public:
  // `others` come `weight` times each. There are values, and no fewer than a period's length.
  PeriodMoves(ValueRange values, const ValuePeriod& period, llvm::ArrayRef<MovingTerm> others,
              int64_t modulus, Int128 weight);

  // The values of a + t: part 0 has N + 1 values of u, part 1 has N.
  ValueRange Part(int part) const {
    return part == 0 ? ValueRange{first_, first_ + more_ - 1}
                     : ValueRange{first_ + more_, first_ + period_.length - 1};
  }
  int64_t NumPeriods(int part) const { return part == 0 ? times_ + 1 : times_; }
  int64_t length() const { return period_.length; }

  // The moves of the other variables alone.
  const ResidueCounts& others() const { return others_; }
  // The moves of u and the others together: each residue that occurs, and how many requests of one
  // value of each part it moves.
  struct Moved {
    int64_t residue = 0;
    std::array<Int128, 2> counts = {0, 0};
  };
  llvm::ArrayRef<Moved> moved() const { return moved_; }
  Int128 Total(const LaneClass& of) const {
    return TimesCount(others_.Total(),
                      Int128{of.counts[0]} * NumPeriods(0) + Int128{of.counts[1]} * NumPeriods(1));
  }
  // g(u), as a residue; and a number of u after which g(u) repeats.
  int64_t MoveOf(int64_t u) const;
  int64_t Order() const;

 private:
  ResidueCounts PartOf(int part, int64_t granularity, llvm::ArrayRef<MovingTerm> others,
                       Int128 weight) const;

  const ValuePeriod period_;  // numbers modulo the modulus
  const int64_t modulus_;
  int64_t first_;
  int64_t times_;
  int64_t more_;
  bool u_moves_ = false;
  ResidueCounts others_;
  llvm::SmallVector<Moved, 1> moved_;
};

class ClassCosts {
 public:
  struct Worst {
    RequestCost cost;
    int64_t value = 0;  // of v
    int64_t move = 0;   // a residue of the others
  };

  // Points are the elements of a request; `most` is what it can cost. All outlive this object.
  ClassCosts(const PeriodMoves& moves, const RequestMeter& meter, int64_t points,
             const RequestCost& most)
      : moves_(moves), meter_(meter), points_(points), most_(most) {}

  // Adds the requests of the classes to the totals as long as steps last; a measured lane is one
  // step. The other requests are added as ones that may be there.
  void Measure(LaneClasses* classes, int64_t* steps, RequestTotals* totals);

  // The worst of all requests that were measured; none where there was no request.
  const std::optional<Worst>& worst() const { return worst_; }
  // Whether all requests were measured, and steps sufficed to find the worst.
  bool is_complete() const { return is_complete_; }

 private:
  RequestCost& MeasuredAt(int64_t shift) {
    return measured_[(shift & (meter_.modulus() - 1)) >> granularity_log_];
  }
  void OfferWorst(const LaneClass& of, const RequestCost& cost, int64_t* steps);

  const PeriodMoves& moves_;
  const RequestMeter& meter_;
  const int64_t points_;
  const RequestCost most_;
  // The costs of one pattern, by shift; -1 units where it was not measured.
  llvm::SmallVector<RequestCost, 0> measured_;
  llvm::SmallVector<int64_t, 0> shifts_;  // that were
  int granularity_log_ = 0;
  std::optional<Worst> worst_;
  bool is_complete_ = true;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_INTERNAL_CLASS_COSTS_H_
