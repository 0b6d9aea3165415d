// Operations that pass arrays on or order other operations, and compute nothing:
//
//   copy-start          leaves {0} (the copy) and {1} (the original) are the operand; the context
//                       reads nothing
//   copy-done           element {0} of its operand
//   send                leaf {0} is the operand; the context reads nothing
//   recv-done           leaf {0} is element {0} of its operand, the buffer that recv fills
//   async-done          element {1} of its operand
//   after-all, send-done, outfeed: the result is a token, which has no elements
//   infeed, recv        the operand is a token; the data that comes in belongs to no operand
//
// What recv receives from the other side is not an operand of this module.

#include <cstdint>

#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

// Leaves of the result from `output_leaf` on that are those of operand 0 from `operand_leaf` on.
void AddRoutes(int64_t count, int64_t output_leaf, int64_t operand_leaf, LeafRoutes* routes) {
  for (int64_t i = 0; i < count; ++i) {
    routes->push_back({output_leaf + i, 0, operand_leaf + i});
  }
}

}  // namespace

LeafRoutes NoRoutes(const HloInstruction& /*instruction*/) { return {}; }

LeafRoutes CopyStartRoutes(const HloInstruction& instruction) {
  LeafRoutes routes;
  const int64_t count = instruction.operand(0)->shape().LeafCount();
  AddRoutes(count, 0, 0, &routes);
  AddRoutes(count, count, 0, &routes);
  return routes;
}

LeafRoutes FirstElementRoutes(const HloInstruction& instruction) {
  LeafRoutes routes;
  AddRoutes(instruction.operand(0)->shape().tuple_element(0).LeafCount(), 0, 0, &routes);
  return routes;
}

LeafRoutes SendRoutes(const HloInstruction& instruction) {
  LeafRoutes routes;
  AddRoutes(instruction.operand(0)->shape().LeafCount(), 0, 0, &routes);
  return routes;
}

LeafRoutes AsyncDoneRoutes(const HloInstruction& instruction) {
  const Shape& state = instruction.operand(0)->shape();
  LeafRoutes routes;
  AddRoutes(state.tuple_element(1).LeafCount(), 0, state.FirstLeafOfElement(1), &routes);
  return routes;
}

}  // namespace xla_indexing::internal
