#include "xla_indexing/ops/internal/loop_graph.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/ops/internal/strong_parts.h"
#include "xla_indexing/ops/internal/timed_map.h"

namespace xla_indexing::internal {
namespace {

// The pairs of pieces of which it is asked whether one can follow the other.
constexpr int64_t kMaxPairs = 4096;

bool IsRestricted(const OperandIndexing& timed) {
  if (timed.IsUnknown()) return false;
  return !timed.map().constraints().empty() || timed.map().num_dims() > 1;
}

void FindParts(LoopGraph* graph) {
  std::vector<std::vector<int>> parts =
      StrongParts(static_cast<int>(graph->pieces.size()),
                  [&](int piece) -> const std::vector<int>& { return graph->pieces[piece].next; });
  std::reverse(parts.begin(), parts.end());
  for (std::vector<int>& part : parts) {
    for (const int piece : part) {
      graph->pieces[piece].part = static_cast<int>(graph->parts.size());
    }
    graph->parts.push_back({std::move(part)});
  }
}

}  // namespace

LoopGraph MakeLoopGraph(const LoopSteps& body) {
  LoopGraph graph;
  const int64_t leaf_count = body.LeafCount();
  std::map<int64_t, std::vector<int>> from;
  for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
    if (!body.is_forward() && body.PassesThrough(leaf)) continue;
    const LeafSets& steps = body.TimedStepsOf(leaf);
    for (const auto& [to, maps] : steps) {
      // What starts there is there at all times.
      if (to == leaf && body.PassesThrough(leaf)) continue;
      for (const OperandIndexing& map : maps) {
        from[leaf].push_back(static_cast<int>(graph.pieces.size()));
        graph.pieces.push_back({leaf, to, map});
      }
    }
  }
  int64_t pairs = 0;
  for (LoopPiece& piece : graph.pieces) {
    for (const int next : from[piece.to]) {
      const OperandIndexing& second = graph.pieces[next].map;
      bool follows = true;
      if (IsRestricted(second) && ++pairs <= kMaxPairs) {
        const std::optional<OperandIndexing> both = ComposeTimed(piece.map, second);
        follows = !both || !both->IsKnownEmpty();
      }
      if (follows) piece.next.push_back(next);
    }
  }
  FindParts(&graph);
  return graph;
}

}  // namespace xla_indexing::internal
