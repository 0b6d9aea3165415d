// How the pieces of a loop's body step within boxes, for the law of spreading (ops/loops/closure/spreading.h):
// as translations, which add constants to the points of a box, or as one window, which leads from all
// points of a box to all points of another one whose distances are in progressions.
//
// Example: (t, d0)[s0] -> (t - 1, s0), s0 - d0 in [-1, 1], is three translations, by -1, 0 and 1; with
// s0 - d0 in [-100, 100] it is a window with the progression -100, -99, .., 100.
#ifndef XLA_INDEXING_OPS_LOOPS_CLOSURE_BOX_STEPS_H_
#define XLA_INDEXING_OPS_LOOPS_CLOSURE_BOX_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/numbers/progression.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

using IntervalBox = llvm::SmallVector<Interval, 4>;
using BoxStep = std::vector<int64_t>;

// Steps that are taken one by one, and the largest one.
inline constexpr size_t kMaxBoxSteps = 64;
inline constexpr int64_t kMaxBoxStep = int64_t{1} << 31;

// A box moved by a step (`sign` 1), or by the opposite of it (-1).
IntervalBox ShiftedBox(const IntervalBox& box, const BoxStep& step, int64_t sign);
IntervalBox CommonBox(const IntervalBox& a, const IntervalBox& b);
bool IsEmptyBox(const IntervalBox& box);
// Whether boxes within `whole` have all of its points.
bool CoverBox(std::vector<IntervalBox> boxes, const IntervalBox& whole);

// A piece that adds constants to the points of a box.
struct BoxTranslation {
  OperandIndexing piece;
  int64_t iterations = 0;  // negative where the time runs backwards
  BoxStep step = {};
  IntervalBox domain = {};
  Interval times = {};

  bool IsStill() const;
};

// A piece that leads from all points of a box to all points of another one whose distances are in
// progressions, one for each dimension.
struct StepWindow {
  int64_t iterations = 0;
  Interval times = {};
  IntervalBox from = {};
  IntervalBox to = {};
  std::vector<Progression> steps = {};

  // The least box in which the window stops at nothing but the border; nullopt if there is none.
  std::optional<IntervalBox> Box() const;
};

// A piece as pieces without range variables, and one of these as a translation; nullopt if they are
// too many, or another kind of map.
std::optional<std::vector<OperandIndexing>> WithoutRanges(const OperandIndexing& piece);
std::optional<BoxTranslation> AsTranslation(const OperandIndexing& piece);
// A piece as a window; nullopt if it is none.
std::optional<StepWindow> AsWindow(const OperandIndexing& piece);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_CLOSURE_BOX_STEPS_H_
