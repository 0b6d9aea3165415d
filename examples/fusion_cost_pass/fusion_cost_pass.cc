// For each producer and consumer of a module's ENTRY computation: is it cheaper to fuse them?
//
//   fusion_cost_pass FILE
//
// The cost is the bytes that move between memory and the warps, in sectors of 32 bytes, with one
// thread for each element of what a kernel writes:
//
//   apart    the producer reads its operands and writes its result; the consumer reads that
//   fused    the consumer reads what the producer reads, through both; nothing is written between
//
// Lanes of a warp that ask for one sector at once count once, everything else as often as it is
// asked for. Fusing costs where a consumer asks for elements of the producer several times (`reads
// an element`, from utilization), and where it asks for them in an order that is bad for the
// producer's operands (from coalescing). A producer with several users is written once for all of
// them: fused into one, it is still there for the others, and nothing is saved by not writing it.
//
// Not a model of a GPU: caches, arithmetic and registers are left out.

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/gpu/coalescing.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/hlo/parser.h"
#include "xla_indexing/hlo/verifier.h"
#include "xla_indexing/ops/operand_indexing_set.h"
#include "xla_indexing/query/utilization.h"

namespace {

using namespace xla_indexing;  // NOLINT: an example.

// The most sectors of reading through all maps of a set; none where they are not known.
std::optional<int64_t> Sectors(const CoalescingAnalysis& launch, const OperandIndexingSet& maps,
                               const Shape& operand) {
  int64_t sectors = 0;
  for (const OperandIndexing& map : maps) {
    const Coalescing coalescing = launch.OfReads(map, operand);
    if (!coalescing.sectors.has_upper()) return std::nullopt;
    sectors += coalescing.sectors.upper();
  }
  return sectors;
}

struct Cost {
  std::optional<int64_t> apart;
  std::optional<int64_t> fused;
  std::optional<double> reads_an_element;  // of the producer, by the consumer
};

// How many instructions use the result of `producer`.
int64_t NumUsers(const HloInstruction& producer) {
  int64_t users = 0;
  for (const HloInstruction* user : producer.parent()->instructions()) {
    bool is_user = false;
    for (const HloInstruction* operand : user->operands()) is_user |= operand == &producer;
    users += is_user ? 1 : 0;
  }
  return users;
}

absl::StatusOr<Cost> CostOf(const HloInstruction& producer, const HloInstruction& consumer,
                            mlir::MLIRContext* context) {
  HloIndexer indexer(context);
  const auto consumer_maps = indexer.Index(consumer, Direction::kOutputToInput);
  if (!consumer_maps.ok()) return consumer_maps.status();
  const auto producer_maps = indexer.Index(producer, Direction::kOutputToInput);
  if (!producer_maps.ok()) return producer_maps.status();
  const auto consumer_launch = CoalescingAnalysis::OfLoop(consumer.shape(), {}, context);
  if (!consumer_launch.ok()) return consumer_launch.status();
  const auto producer_launch = CoalescingAnalysis::OfLoop(producer.shape(), {}, context);
  if (!producer_launch.ok()) return producer_launch.status();

  Cost cost{0, 0, std::nullopt};
  const auto add = [](std::optional<int64_t>* sum, std::optional<int64_t> sectors) {
    *sum = *sum && sectors ? std::optional(**sum + *sectors) : std::nullopt;
  };
  for (const IndexingEntry& read : **consumer_maps) {
    if (consumer.operand(read.operand) != &producer) continue;
    add(&cost.apart, Sectors(*consumer_launch, read.indexing, producer.shape()));
    const auto utilization = ComputeUtilization(read.indexing, consumer.shape(), producer.shape());
    if (!utilization.ok()) return utilization.status();
    cost.reads_an_element = utilization->ReadsPerElement();
    for (const IndexingEntry& from : **producer_maps) {
      auto through = ComposeOperandIndexingSets(read.indexing, from.indexing);
      if (!through.ok()) return through.status();
      through->Simplify();
      const Shape& operand = producer.operand(from.operand)->shape().Leaf(from.operand_leaf);
      add(&cost.fused, Sectors(*consumer_launch, *through, operand));
    }
  }
  for (const IndexingEntry& from : **producer_maps) {
    const Shape& operand = producer.operand(from.operand)->shape().Leaf(from.operand_leaf);
    add(&cost.apart, Sectors(*producer_launch, from.indexing, operand));
  }
  const Interval written = producer_launch->OfWrites().sectors;
  const auto writes = written.IsPoint() ? std::optional(written.lower()) : std::nullopt;
  add(&cost.apart, writes);
  if (NumUsers(producer) > 1) {
    // It stays for its other users.
    add(&cost.fused, writes);
    for (const IndexingEntry& from : **producer_maps) {
      const Shape& operand = producer.operand(from.operand)->shape().Leaf(from.operand_leaf);
      add(&cost.fused, Sectors(*producer_launch, from.indexing, operand));
    }
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
  const absl::StatusOr<std::unique_ptr<HloModule>> module = ParseModule(text.str());
  absl::Status status = module.status();
  if (status.ok()) status = VerifyModule(**module);
  if (!status.ok()) {
    std::cerr << file << ": " << status.message() << "\n";
    return 1;
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::printf("%-20s %-20s %14s %14s %8s  %s\n", "producer", "consumer", "sectors apart", "fused",
              "reads", "fuse");
  for (const HloInstruction* consumer : (*module)->entry_computation()->instructions()) {
    if (!CanBeFused(*consumer)) continue;
    for (size_t i = 0; i < consumer->operands().size(); ++i) {
      const HloInstruction& producer = *consumer->operand(static_cast<int64_t>(i));
      bool was_seen = !CanBeFused(producer);
      for (size_t j = 0; j < i; ++j) was_seen |= consumer->operands()[j] == &producer;
      if (was_seen) continue;
      const absl::StatusOr<Cost> cost = CostOf(producer, *consumer, &context);
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
      std::printf("%-20s %-20s %14s %14s %8s  %s\n", std::string(producer.name()).c_str(),
                  std::string(consumer->name()).c_str(), Text(cost->apart).c_str(),
                  Text(cost->fused).c_str(), reads,
                  !is_known                     ? "?"
                  : *cost->fused < *cost->apart ? "yes"
                                                : "no");
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
