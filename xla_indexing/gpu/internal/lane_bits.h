// The bits that the lanes of a warp ask for, from where its divisions carry.
//
// Mathematics. With points, sums and digits of gpu/internal/lane_forms.h, let a digit of dividend D
// and divisor m have r = D(v, l0) mod m, or no carry. Then at point l
//
//   D(v, l) - D(v, l0) = d   gives   floor((r + d) / m)  as what the quotient is more than at l0,
//                            and     d - m * floor((r + d) / m)  for the remainder;
//
// without a carry the quotient is the same and the remainder differs by d. So the difference of
// every form follows, digit after digit.
//
// Points in a line are gone along: where each form is linear in the number of the point, until the
// next carry or end of a constraint, the addresses are a *train* of equal steps. A warp of 32 lanes
// over rows of 14 elements is three or four of them. Other points are taken one by one.
//
// Trains of one step that lie among each other, as those of the columns of a transpose do, are
// joined: seen as rows of a table, so many bits wide as the step, they have the same runs in every
// row until the next of them begins or ends.
//
// Example. A = 32 * (e mod 14) + 1024 * (e floordiv 14), e = 32*v + lane, at v = 1: r = 4 for both,
// 10 lanes from 0 on, 14 from 32 * (1024 / 32 - 4) = 896 on, and 8 from 1920 on.
#ifndef XLA_INDEXING_GPU_INTERNAL_LANE_BITS_H_
#define XLA_INDEXING_GPU_INTERNAL_LANE_BITS_H_

#include <cstdint>
#include <limits>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/gpu/internal/lane_forms.h"
#include "xla_indexing/gpu/internal/request_meter.h"

namespace xla_indexing::internal {

class LaneBits {
 public:
  // In a pattern: no carry, or a constraint that holds at all points.
  static constexpr int64_t kDoesNotCount = std::numeric_limits<int64_t>::min();

  using Trains = llvm::SmallVector<BitTrain, 16>;

  // The forms outlive this object.
  LaneBits(const LaneForms& forms, int64_t modulus);

  // The bits where A(v, l0) is 0, and all of them moved by a multiple of the modulus, so that the
  // first is in its first period; trains ascend and do not overlap. None: no lane is active.
  // `pattern` has the r of every digit, then the value at l0 of every constraint.
  const Trains& Of(llvm::ArrayRef<int64_t> pattern);

 private:
  // What a sum or a digit is more than at l0, at one point, and how that goes on.
  struct State {
    int64_t difference = 0;
    int64_t step = 0;
  };

  void GoAlongLine(llvm::ArrayRef<int64_t> pattern);
  State StateAt(const LaneSum& sum, int64_t point) const;
  void TakeAllPoints(llvm::ArrayRef<int64_t> pattern);
  void DifferencesOf(const LaneSum& sum, std::vector<int64_t>* differences) const;
  // The elements of points at addresses a step apart.
  void AddPoints(int64_t begin, const LaneSteps& points);
  void AddTrain(int64_t begin, const LaneSteps& elements);
  void Canonicalize();
  bool JoinTrains();
  void MakeRuns();

  const LaneForms& forms_;
  const int64_t modulus_;
  Trains trains_;
  llvm::SmallVector<State, 8> states_;  // of the digits
  // By point, where they are in no line.
  llvm::SmallVector<std::vector<int64_t>, 4> digit_differences_;
  std::vector<int64_t> differences_;
  std::vector<char> is_active_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_INTERNAL_LANE_BITS_H_
