// For each producer and consumer of a module's ENTRY computation: is it cheaper to fuse them?
//
//   fusion_cost_pass FILE
//
// The cost is the bytes that move between memory and the warps, in sectors of 32 bytes, with the
// kernels that XLA's GPU backend would make (gpu/fusion_mapping.h):
//
//   apart    both as kernels of their own
//   fused    both as one kernel, which writes what the consumer writes
//
// Nothing in the module is fused: a FusionView is a computation of the two, and whatever takes a
// computation takes it.
//
// Lanes of a warp that ask for one sector at once count once, everything else as often as it is
// asked for. Fusing costs where a consumer asks for elements of the producer several times (`reads
// an element`, from utilization), where it asks for them in an order that is bad for the producer's
// operands, and where a kernel of its own would read rows and columns through shared memory. A
// producer with several users is computed once for all of them: fused into one, it is still there
// for the others, and nothing is saved.
//
// This is not a model of a GPU: caches, arithmetic and registers are left out.
//
// Two more figures say what the fused kernel would be like, from its maps:
//
//   tile       the bytes that a tile of the result needs of all operands, 32 by 32 elements in the
//              last two dimensions: what a program of the kernel has to hold
//   in place   the operand in whose buffer the result may be written, element by element in some
//              order, or -

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/gpu/fusion_mapping.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/query/in_place/in_place.h"
#include "xla_indexing/query/utilization/utilization.h"
#include "xla_indexing/tiling/tile/symbolic_tile.h"

namespace {

using namespace xla_indexing;  // NOLINT: an example.

// The most sectors that a kernel moves; none where they are not known.
std::optional<int64_t> SectorsOf(const absl::StatusOr<FusionView>& view, HloIndexers& indexers) {
  if (!view.ok()) return std::nullopt;
  const auto cost = CoalescingOfFusion(view->computation(), indexers);
  if (!cost.ok() || !cost->Sectors().has_upper()) return std::nullopt;
  return cost->Sectors().upper();
}

std::optional<int64_t> Sum(const std::optional<int64_t>& a, const std::optional<int64_t>& b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}

constexpr int64_t kTileSize = 32;  // in the last two dimensions

// The bytes that a tile of the result needs of the operands, as boxes of elements, those of each map
// by themselves; none where the maps are not exact, or do not read boxes.
std::optional<int64_t> TileBytes(const FusionView& view, HloIndexer& indexer) {
  const HloInstruction& root = *view.computation().root_instruction();
  std::vector<int64_t> sizes(root.shape().rank(), 1);
  for (size_t i = sizes.size() - std::min<size_t>(2, sizes.size()); i < sizes.size(); ++i) {
    sizes[i] = std::min(kTileSize, root.shape().dimension(static_cast<int64_t>(i)));
    sizes[i] = std::max<int64_t>(sizes[i], 1);
  }
  const auto entries = indexer.IndexSimplified(view.computation(), Direction::kOutputToInput);
  if (!entries.ok()) return std::nullopt;
  int64_t bytes = 0;
  for (const IndexingEntry& entry : **entries) {
    const Shape& operand = view.operand(entry.operand)->shape().Leaf(entry.operand_leaf);
    for (const OperandIndexing& map : entry.indexing) {
      if (!map.IsExact()) return std::nullopt;
      const auto tile = SymbolicTile::Of(map, root.shape().dimensions());
      if (!tile.ok()) return std::nullopt;
      const auto box = tile->FullTile(sizes);
      if (!box.ok() || !box->is_exact) return std::nullopt;
      int64_t elements = 1;
      for (const TileRange& range : box->ranges) elements *= range.size;
      bytes += elements * StorageBitWidth(operand.element_type()) / 8;
    }
  }
  return bytes;
}

// The operand whose buffer the result may take; none where there is none, or that is not known.
std::string InPlaceOperand(FusionView view, HloIndexers& indexers) {
  const std::vector<const HloInstruction*> operands(view.operands().begin(), view.operands().end());
  auto analysis = InPlaceAnalysis::OfView(std::move(view), indexers);
  if (!analysis.ok()) return "-";
  const auto sharing = analysis->Share();
  if (!sharing.ok() || sharing->shared.empty()) return "-";
  return std::string(operands[sharing->shared.front().operand.operand]->name());
}

struct Cost {
  bool is_possible = true;  // Not where the consumer reads the producer through others as well.
  std::optional<int64_t> apart;
  std::optional<int64_t> fused;
  std::optional<double> reads_an_element;  // of the producer, by the consumer
  std::optional<int64_t> tile_bytes;       // of the fused kernel
  std::string in_place = "-";
};

absl::StatusOr<Cost> CostOf(const HloInstruction& producer, const HloInstruction& consumer,
                            HloIndexers& indexers) {
  const std::optional<int64_t> of_producer = SectorsOf(FusionView::OfFusion(producer), indexers);
  Cost cost;
  cost.apart = Sum(of_producer, SectorsOf(FusionView::OfFusion(consumer), indexers));
  auto both = FusionView::OfProducerConsumer(producer, consumer);
  cost.is_possible = both.ok();
  cost.fused = SectorsOf(both, indexers);
  // It stays for its other users.
  if (producer.users().size() > 1) cost.fused = Sum(cost.fused, of_producer);

  const auto utilization = ComputeUtilization(consumer, indexers);
  if (!utilization.ok()) return utilization.status();
  for (const OperandUtilization& read : utilization->operands) {
    if (consumer.operand(read.operand) != &producer) continue;
    cost.reads_an_element = read.utilization.ReadsPerElement();
    break;
  }
  if (both.ok()) {
    cost.tile_bytes = TileBytes(*both, indexers.usual());
    cost.in_place = InPlaceOperand(*std::move(both), indexers);
  }
  return cost;
}

bool CanBeFused(const HloInstruction& instruction) {
  return instruction.opcode() != HloOpcode::kParameter &&
         instruction.opcode() != HloOpcode::kConstant && instruction.shape().IsArray();
}

std::string Text(const std::optional<int64_t>& sectors) {
  return sectors ? std::to_string(*sectors) : "unknown";
}

int Run(const char* file) {
  std::ifstream stream(file);
  std::stringstream text;
  text << stream.rdbuf();
  if (!stream) {
    std::cerr << file << ": cannot be read\n";
    return 1;
  }
  const absl::StatusOr<std::unique_ptr<HloModule>> module = ParseAndVerifyModule(text.str());
  if (!module.ok()) {
    std::cerr << file << ": " << module.status().message() << "\n";
    return 1;
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  // What is found about one pair serves the next.
  HloIndexers indexers(&context);
  std::printf("%-20s %-20s %14s %14s %8s  %-4s %8s  %s\n", "producer", "consumer", "sectors apart",
              "fused", "reads", "fuse", "tile", "in place");
  for (const HloInstruction* consumer : (*module)->entry_computation()->instructions()) {
    if (!CanBeFused(*consumer)) continue;
    for (size_t i = 0; i < consumer->operands().size(); ++i) {
      const HloInstruction& producer = *consumer->operand(static_cast<int64_t>(i));
      bool was_seen = !CanBeFused(producer);
      for (size_t j = 0; j < i; ++j) was_seen |= consumer->operands()[j] == &producer;
      if (was_seen) continue;
      const absl::StatusOr<Cost> cost = CostOf(producer, *consumer, indexers);
      if (!cost.ok()) {
        std::cerr << producer.name() << ", " << consumer->name() << ": " << cost.status().message()
                  << "\n";
        return 1;
      }
      const bool is_known = cost->apart && cost->fused;
      char reads[32] = "?";
      if (cost->reads_an_element) {
        std::snprintf(reads, sizeof(reads), "%.2f", *cost->reads_an_element);
      }
      std::printf("%-20s %-20s %14s %14s %8s  %-4s %8s  %s\n", std::string(producer.name()).c_str(),
                  std::string(consumer->name()).c_str(), Text(cost->apart).c_str(),
                  cost->is_possible ? Text(cost->fused).c_str() : "impossible", reads,
                  !cost->is_possible            ? "no"
                  : !is_known                   ? "?"
                  : *cost->fused < *cost->apart ? "yes"
                                                : "no",
                  cost->is_possible ? Text(cost->tile_bytes).c_str() : "-", cost->in_place.c_str());
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: fusion_cost_pass FILE\n";
    return 2;
  }
  return Run(argv[1]);
}
