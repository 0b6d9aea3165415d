// Long chains of steps that are one-to-one, as a map in parts.
//
// Mathematics. A step between arrays of equally many elements that asks nothing of an element, such
// as a reshape or a transpose, is a bijection of their elements, and so is a chain of such steps.
// Where reshapes cut an index at places that do not divide one another, each digit of it becomes a
// quotient of several others, so that an index of the whole chain, written as one expression, grows
// exponentially with the length of the chain. So the chain is cut into parts of a bounded length.
// With p_k the row-major place of the element where part k ends, of N elements in all,
//
//   p_1 = f_1(d),  p_2 = f_2(p_1),  ..,  p_n = f_n(p_(n-1)),  results = g(p_n),
//
// and the map has a range variable p_k in [0, N - 1] and the equality f_k(..) - p_k in [0, 0] for
// each: its length grows with that of the chain. Each element has one value of every p_k, and each
// value of p_k belongs to one element.
//
// Units. Places count elements.
//
// Example, f32[4,6] to f32[8,3] by a reshape, a transpose and a reshape, if each were a part:
//   (d0, d1)[s0, s1] -> (s1 floordiv 3, s1 mod 3), domain: d0 in [0, 3], d1 in [0, 5],
//   s0 in [0, 23], s1 in [0, 23], d0 * 6 + d1 - s0 in [0, 0],
//   (s0 mod 8) * 3 + s0 floordiv 8 - s1 in [0, 0]
#ifndef XLA_INDEXING_FUSION_CHAIN_CHAIN_IN_PARTS_H_
#define XLA_INDEXING_FUSION_CHAIN_CHAIN_IN_PARTS_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing::internal {

// A reindexing (fusion/chain/reindexing.h) of an operand.
struct ReindexingStep {
  const HloInstruction* instruction;
  int64_t operand;
  Direction direction;
};

// The map of a chain that begins at an array of this shape. Each step, a reindexing, is one-to-one
// from all elements of an array to all of another. Nullopt if a step cannot be written, or where
// the parts are more than kMaxParts.
inline constexpr size_t kMaxParts = 64;
std::optional<IndexingMap> MapOfChainInParts(const Shape& from,
                                             llvm::ArrayRef<ReindexingStep> steps,
                                             mlir::MLIRContext* context);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_CHAIN_CHAIN_IN_PARTS_H_
