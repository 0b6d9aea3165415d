#include "xla_indexing/ops/internal/loop_graph.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/ops/internal/timed_map.h"

namespace xla_indexing::internal {
namespace {

// The pairs of pieces of which it is asked whether one can follow the other.
constexpr int64_t kMaxPairs = 4096;

bool IsRestricted(const OperandIndexing& timed) {
  if (timed.IsUnknown()) return false;
  return !timed.map().constraints().empty() || timed.map().num_dims() > 1;
}

// Tarjan's algorithm, with a stack of its own.
void FindParts(LoopGraph* graph) {
  const auto count = static_cast<int>(graph->pieces.size());
  std::vector<int> number(count, -1);
  std::vector<int> least(count, 0);
  std::vector<bool> is_open(count, false);
  std::vector<int> open;
  struct Visit {
    int piece;
    size_t next = 0;
  };
  std::vector<Visit> visits;
  int numbered = 0;
  const auto begin = [&](int piece) {
    number[piece] = least[piece] = numbered++;
    open.push_back(piece);
    is_open[piece] = true;
    visits.push_back({piece});
  };
  for (int root = 0; root < count; ++root) {
    if (number[root] < 0) begin(root);
    while (!visits.empty()) {
      Visit& visit = visits.back();
      const int piece = visit.piece;
      const std::vector<int>& nexts = graph->pieces[piece].next;
      if (visit.next < nexts.size()) {
        const int next = nexts[visit.next++];
        if (number[next] < 0) {
          begin(next);
        } else if (is_open[next]) {
          least[piece] = std::min(least[piece], number[next]);
        }
        continue;
      }
      visits.pop_back();
      if (!visits.empty()) {
        least[visits.back().piece] = std::min(least[visits.back().piece], least[piece]);
      }
      if (least[piece] != number[piece]) continue;
      LoopPart& part = graph->parts.emplace_back();
      int member = -1;
      do {
        member = open.back();
        open.pop_back();
        is_open[member] = false;
        part.pieces.push_back(member);
      } while (member != piece);
      std::sort(part.pieces.begin(), part.pieces.end());
    }
  }
  // Parts were closed after those that they lead to.
  std::reverse(graph->parts.begin(), graph->parts.end());
  for (size_t i = 0; i < graph->parts.size(); ++i) {
    for (const int piece : graph->parts[i].pieces) {
      graph->pieces[piece].part = static_cast<int>(i);
    }
  }
}

}  // namespace

std::vector<LoopPiece> PiecesOf(const LoopBody& body,
                                llvm::function_ref<const LeafSets&(int64_t leaf)> steps_of) {
  std::vector<LoopPiece> pieces;
  const int64_t leaf_count = body.loop().shape().LeafCount();
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

LoopGraph MakeLoopGraph(std::vector<LoopPiece> pieces) {
  LoopGraph graph;
  graph.pieces = std::move(pieces);
  std::map<int64_t, std::vector<int>> from;
  for (size_t i = 0; i < graph.pieces.size(); ++i) {
    from[graph.pieces[i].from].push_back(static_cast<int>(i));
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
