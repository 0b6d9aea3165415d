#include "xla_indexing/ops/loops/body/loop_graph.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/loops/body/strong_parts.h"
#include "xla_indexing/ops/loops/body/timed_map.h"

namespace xla_indexing::internal {
namespace {

// The pairs of pieces of which it is asked whether one can follow the other.
constexpr int64_t kMaxPairs = 4096;

// Whether a map starts from some elements of a leaf only, at some times that it starts from.
bool IsRestricted(const OperandIndexing& timed, const Shape& leaf) {
  if (timed.IsUnknown()) return false;
  if (!timed.map().constraints().empty()) return true;
  for (int i = 1; i < timed.map().num_dims(); ++i) {
    if (timed.map().dims()[i].bounds != IndicesOfAxis(leaf.dimension(i - 1))) return true;
  }
  return false;
}

// Whether a map that starts from all elements at its times starts at a time to which `first` leads.
bool StartsInTime(const OperandIndexing& first, const OperandIndexing& second, int64_t step) {
  if (first.IsUnknown() || second.IsUnknown()) return true;
  return !first.map().dims()[0].bounds.Add(step).Intersect(second.map().dims()[0].bounds).IsEmpty();
}

void FindParts(LoopGraph* graph) {
  graph->parts.clear();
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

std::vector<LoopPiece> PiecesOf(const LoopSteps& body,
                                llvm::function_ref<const LeafSets&(int64_t leaf)> steps_of) {
  std::vector<LoopPiece> pieces;
  const int64_t leaf_count = body.LeafCount();
  for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
    if (!body.is_forward() && body.PassesThrough(leaf)) continue;
    for (const auto& [to, maps] : steps_of(leaf)) {
      // What starts there is there at all times.
      if (to == leaf && body.PassesThrough(leaf)) continue;
      for (const OperandIndexing& map : maps) pieces.push_back({leaf, to, map});
    }
  }
  return pieces;
}

LoopGraph MakeLoopGraph(const LoopSteps& body, std::vector<LoopPiece> pieces) {
  LoopGraph graph;
  graph.pieces = std::move(pieces);
  std::map<int64_t, std::vector<int>> from;
  for (size_t i = 0; i < graph.pieces.size(); ++i) {
    from[graph.pieces[i].from].push_back(static_cast<int>(i));
  }
  for (LoopPiece& piece : graph.pieces) {
    for (const int next : from[piece.to]) {
      if (StartsInTime(piece.map, graph.pieces[next].map, body.is_forward() ? 1 : -1)) {
        piece.next.push_back(next);
      }
    }
  }
  FindParts(&graph);
  // What is empty when composed divides parts. Between parts it makes no difference.
  int64_t pairs = 0;
  bool is_divided = false;
  for (LoopPiece& piece : graph.pieces) {
    const size_t count = piece.next.size();
    llvm::erase_if(piece.next, [&](int next) {
      const LoopPiece& second = graph.pieces[next];
      if (second.part != piece.part || !IsRestricted(second.map, body.Leaf(piece.to)) ||
          ++pairs > kMaxPairs) {
        return false;
      }
      const std::optional<OperandIndexing> both = ComposeTimed(piece.map, second.map);
      return both && both->IsKnownEmpty();
    });
    is_divided = is_divided || piece.next.size() < count;
  }
  if (is_divided) FindParts(&graph);
  return graph;
}

}  // namespace xla_indexing::internal
