// The indexing maps of an operation that broadcasts its operands implicitly, without expanding it
// first: what an element of its result reads of each operand, and back.
//
// Mathematics. Let dimension k of an operand be dimension p(k) of the result. The element r of the
// result reads the element a of the operand with
//
//   a[k] = 0          where the operand has size 1 there
//   a[k] = r[p(k)]    elsewhere
//
// and dimensions of the result that no k is lined up with do not matter. In the other direction
// these dimensions, and those where the operand has size 1, are ranges.
//
// A dynamic size may be 1 at run time where another operand's is not. Then it is not known in
// advance which of the two lines applies. There is a case for each, whose maps hold if the sizes
// are as the case says. There is only one case where both lines say the same, because no other
// operand gives the result its size there, and where a bound leaves only one of them. As
// everywhere, a bounded dimension is indexed up to its bound, and one without bound has indices
// [0, inf].
//
// Example: for f32[10,1] and f32[6,8,1,5], operand 0 has one case, with exact maps,
//
//   (d0, d1, d2, d3) -> (d2, 0), domain: d0 in [0, 5], d1 in [0, 7], d2 in [0, 9], d3 in [0, 4]
//   (d0, d1)[s0, s1, s2] -> (s0, s1, d0, s2), domain: d0 in [0, 9], d1 in [0, 0], s0 in [0, 5],
//                                             s1 in [0, 7], s2 in [0, 4]
//
// and for f32[?] and f32[4], operand 0 has two:
//
//   dimension 0 has size 1:  (d0) -> (0), domain: d0 in [0, 3]
//   dimension 0 has size 4:  (d0) -> (d0), domain: d0 in [0, 3]
//
// Source: MLIR's trait Broadcastable; "Deprecate explicit shape promotion in PyTorch/XLA".

#ifndef XLA_INDEXING_OPS_IMPLICIT_BROADCAST_H_
#define XLA_INDEXING_OPS_IMPLICIT_BROADCAST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/build/broadcast.h"
#include "xla_indexing/hlo/build/broadcast_dimensions.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing {

// The most dimensions of one operand for which cases are distinguished, since each doubles their
// number. An operand with more is read whole, over-approximate.
inline constexpr int kMaxCaseDimensions = 6;

// The size that a case assumes one dimension of the operand to have at run time.
struct SizeAssumption {
  int64_t dimension = 0;
  bool is_one = false;  // Otherwise it is the result's,
  DimensionSize size;   // which is known to be this.
};

// The maps of one operand for one assumption about its sizes at run time. Each set has one map, or
// none if nothing is read.
struct BroadcastCase {
  std::vector<SizeAssumption> sizes;
  OperandIndexingSet result_to_operand;
  OperandIndexingSet operand_to_result;

  // `dimension 0 has size 1, dimension 2 has size 4, dimension 3 has the size of the result`; empty
  // where there is only one case.
  std::string Label() const;
};

struct BroadcastIndexing {
  // The cases of each operand: one, or 2^n for n dimensions that may or may not be 1. Cases in
  // which the first of these dimensions is 1 come first.
  std::vector<std::vector<BroadcastCase>> operands;
};

// The maps of operands that have been lined up; `broadcast` is the result for these shapes.
BroadcastIndexing ComputeBroadcastIndexing(absl::Span<const Shape> operands,
                                           const ImplicitBroadcast& broadcast,
                                           mlir::MLIRContext* context);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_OPS_IMPLICIT_BROADCAST_H_
