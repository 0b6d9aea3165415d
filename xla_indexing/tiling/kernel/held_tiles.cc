#include "xla_indexing/tiling/kernel/held_tiles.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::internal {
namespace {

// How long each tile is held, in steps of its region, and where.
class HeldTiles {
 public:
  HeldTiles(const TileGraph& graph, const TileCostOptions& options) : graph_(graph) {
    FindSteps();
    FindSources();
    FindLastUses();
    for (const auto [number, node] : llvm::enumerate(graph.nodes())) {
      const TilePlace usual = is_factor_[number] ? TilePlace::kSharedMemory : TilePlace::kRegisters;
      places_.push_back(options.place ? options.place(node) : usual);
    }
  }

  HeldBytes Most() const;

 private:
  void FindSteps();
  void FindSources();
  void FindLastUses();
  // The step of `region` during which `node` is computed; one past the last where that is not
  // within it.
  size_t StepWithin(int node, int region) const;
  // The last step at which a node's tile is held, of its region.
  size_t EndOf(int node) const;

  const TileGraph& graph_;
  // By node: the one whose tile it is, perhaps reshaped or broadcast.
  std::vector<int> sources_;
  std::vector<size_t> step_of_node_;
  std::vector<size_t> step_of_region_;  // of its parent
  std::vector<size_t> last_use_;        // by node
  std::vector<bool> is_factor_;         // of a product
  std::vector<TilePlace> places_;
};

void HeldTiles::FindSteps() {
  step_of_node_.resize(graph_.nodes().size());
  step_of_region_.resize(graph_.regions().size());
  for (const TileRegion& region : graph_.regions()) {
    for (size_t i = 0; i < region.steps.size(); ++i) {
      // An accumulator is a node of the region around its loop.
      if (region.steps[i].is_accumulation) continue;
      (region.steps[i].is_region ? step_of_region_ : step_of_node_)[region.steps[i].index] = i;
    }
  }
}

void HeldTiles::FindSources() {
  constexpr int kUnknown = -1;
  sources_.assign(graph_.nodes().size(), kUnknown);
  std::vector<int> views;
  for (size_t i = 0; i < sources_.size(); ++i) {
    auto node = static_cast<int>(i);
    views.clear();
    while (sources_[node] == kUnknown) {
      const TileNode& at = graph_.nodes()[node];
      const HloOpcode opcode = at.array->opcode;
      const bool is_view = opcode == HloOpcode::kBroadcast || opcode == HloOpcode::kReshape ||
                           opcode == HloOpcode::kBitcast || opcode == HloOpcode::kGetTupleElement;
      if (!is_view || at.operands.size() != 1) sources_[node] = node;
      if (sources_[node] == node) break;
      views.push_back(node);
      node = at.operands[0].node;
    }
    for (const int view : views) sources_[view] = sources_[node];
  }
}

size_t HeldTiles::StepWithin(int node, int region) const {
  int at = graph_.nodes()[node].region;
  size_t step = step_of_node_[node];
  while (at != region && at >= 0) {
    step = step_of_region_[at];
    at = graph_.regions()[at].parent;
  }
  return at == region ? step : graph_.regions()[region].steps.size();
}

void HeldTiles::FindLastUses() {
  last_use_ = step_of_node_;
  is_factor_.resize(graph_.nodes().size());
  for (const auto [number, node] : llvm::enumerate(graph_.nodes())) {
    for (const TileNode::Operand& operand : node.operands) {
      const int used = sources_[operand.node];
      last_use_[used] = std::max(last_use_[used],
                                 StepWithin(static_cast<int>(number), graph_.nodes()[used].region));
      if (node.array->work.multiply_adds > 0) is_factor_[used] = true;
    }
  }
}

size_t HeldTiles::EndOf(int node) const {
  const std::vector<TileRegion::Step>& steps = graph_.regions()[graph_.nodes()[node].region].steps;
  const size_t last = last_use_[node];
  if (last >= steps.size()) return steps.size() - 1;
  if (last == step_of_node_[node] || steps[last].is_region || steps[last].is_accumulation) {
    return last;
  }
  // What is used last leaves its place to the result, but for products, which read it again and
  // again.
  const int user = steps[last].index;
  const bool leaves = graph_.nodes()[user].array->work.multiply_adds == 0 &&
                      places_[user] == places_[node] && sources_[user] == user;
  return leaves ? last - 1 : last;
}

HeldBytes HeldTiles::Most() const {
  const absl::Span<const TileRegion> regions = graph_.regions();
  std::vector<HeldBytes> most(regions.size());
  HeldBytes of_all = {};
  // Regions come before those within them.
  for (size_t r = regions.size(); r-- > 0;) {
    const std::vector<TileRegion::Step>& steps = regions[r].steps;
    std::vector<HeldBytes> changes(steps.size() + 1);
    for (size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].is_region || steps[i].is_accumulation) continue;
      const int number = steps[i].index;
      const TileNode& node = graph_.nodes()[number];
      if (sources_[number] != number || node.array->opcode == HloOpcode::kConstant) continue;
      const int64_t bytes = graph_.BytesOf(node);
      const auto place = static_cast<size_t>(places_[number]);
      changes[node.loop < 0 ? i : std::min(i, step_of_region_[node.loop])][place] += bytes;
      changes[EndOf(number) + 1][place] -= bytes;
    }
    for (size_t place = 0; place < of_all.size(); ++place) {
      Int128 held = 0;
      for (size_t i = 0; i < steps.size(); ++i) {
        held += changes[i][place];
        const Int128 inner = steps[i].is_region ? most[steps[i].index][place] : 0;
        most[r][place] = std::max(most[r][place], held + inner);
      }
      if (regions[r].parent < 0) of_all[place] = std::max(of_all[place], most[r][place]);
    }
  }
  return of_all;
}

}  // namespace

HeldBytes MostHeldBytes(const TileGraph& graph, const TileCostOptions& options) {
  return HeldTiles(graph, options).Most();
}

}  // namespace xla_indexing::internal
