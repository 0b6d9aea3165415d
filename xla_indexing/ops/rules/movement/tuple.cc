// Operations that pass whole leaves on: tuple, get-tuple-element, and those whose result is their
// operand (copy, domain, opt-barrier, add-dependency).

#include <cstdint>

#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

void AddLeafRoutes(int64_t count, LeafRoute first, LeafRoutes* routes) {
  for (int64_t i = 0; i < count; ++i) {
    routes->push_back({first.output_leaf + i, first.operand, first.operand_leaf + i});
  }
}

}  // namespace

LeafRoutes TupleRoutes(const HloInstruction& instruction) {
  LeafRoutes routes;
  for (int64_t i = 0; i < instruction.operand_count(); ++i) {
    AddLeafRoutes(instruction.operand(i)->shape().LeafCount(),
                  {static_cast<int64_t>(routes.size()), i, 0}, &routes);
  }
  return routes;
}

LeafRoutes GetTupleElementRoutes(const HloInstruction& instruction) {
  LeafRoutes routes;
  AddLeafRoutes(
      instruction.shape().LeafCount(),
      {0, 0, instruction.operand(0)->shape().FirstLeafOfElement(instruction.tuple_index())},
      &routes);
  return routes;
}

LeafRoutes PassThroughRoutes(const HloInstruction& instruction) {
  LeafRoutes routes;
  AddLeafRoutes(instruction.shape().LeafCount(), {0, 0, 0}, &routes);
  return routes;
}

}  // namespace xla_indexing::internal
