// The elements of an array that no indexed window contains, as disjoint pieces: what is left of the
// operand of a scatter that replaces.
//
// "In no window" is "for every batch index, the window is dropped or the element is outside of it in
// some dimension", which affine maps can say piece by piece where the windows are few:
//
//   - where the module fixes all indices (constants, iotas), windows are boxes, and what is left is
//     boxes;
//   - otherwise each window gives the alternatives, for its conditions c_1, c_2, .. one after
//     another, "c_1 .. c_(i-1) hold and c_i does not", and the pieces are all combinations of
//     one alternative for each window.

#ifndef XLA_INDEXING_OPS_RULES_INDEXED_OUTSIDE_WINDOWS_H_
#define XLA_INDEXING_OPS_RULES_INDEXED_OUTSIDE_WINDOWS_H_

#include <optional>

#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/rules/frame/builders.h"
#include "xla_indexing/ops/rules/indexed/indexed_windows.h"

namespace xla_indexing::internal {

// The bounds on the numbers of pieces and of windows that are looked at one by one.
inline constexpr int kMaxOutsidePieces = 64;
inline constexpr int kMaxOutsideWindows = 1024;

// The identity on those elements; nullopt if a bound is exceeded. Where there are more pieces than
// the builder takes (BuildContext::TakesPieces), some of them, which are too many as well.
std::optional<OperandIndexingSet> OutsideWindows(const BuildContext& build,
                                                 const IndexedWindows& windows);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_RULES_INDEXED_OUTSIDE_WINDOWS_H_
