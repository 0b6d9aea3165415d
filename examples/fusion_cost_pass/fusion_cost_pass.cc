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
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/gpu/fusion_mapping.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/hlo/parser.h"
#include "xla_indexing/hlo/verifier.h"
#include "xla_indexing/query/utilization.h"

namespace {

using namespace xla_indexing;  // NOLINT: an example.

// The most sectors that a kernel moves; none where they are not known.
std::optional<int64_t> SectorsOf(const absl::StatusOr<FusionView>& view,
                                 mlir::MLIRContext* context) {
  if (!view.ok()) return std::nullopt;
  const auto cost = CoalescingOfFusion(view->computation(), context);
  if (!cost.ok() || !cost->Sectors().has_upper()) return std::nullopt;
  return cost->Sectors().upper();
}

std::optional<int64_t> Sum(const std::optional<int64_t>& a, const std::optional<int64_t>& b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}

struct Cost {
  bool is_possible = true;  // Not where the consumer reads the producer through others as well.
  std::optional<int64_t> apart;
  std::optional<int64_t> fused;
  std::optional<double> reads_an_element;  // of the producer, by the consumer
};

absl::StatusOr<Cost> CostOf(const HloInstruction& producer, const HloInstruction& consumer,
                            mlir::MLIRContext* context) {
  const std::optional<int64_t> of_producer = SectorsOf(FusionView::OfFusion(producer), context);
  Cost cost;
  cost.apart = Sum(of_producer, SectorsOf(FusionView::OfFusion(consumer), context));
  const auto both = FusionView::OfProducerConsumer(producer, consumer);
  cost.is_possible = both.ok();
  cost.fused = SectorsOf(both, context);
  // It stays for its other users.
  if (producer.users().size() > 1) cost.fused = Sum(cost.fused, of_producer);

  const auto utilization = ComputeUtilization(consumer, context);
  if (!utilization.ok()) return utilization.status();
  for (const OperandUtilization& read : utilization->operands) {
    if (consumer.operand(read.operand) != &producer) continue;
    cost.reads_an_element = read.utilization.ReadsPerElement();
    break;
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
                  cost->is_possible ? Text(cost->fused).c_str() : "impossible", reads,
                  !cost->is_possible            ? "no"
                  : !is_known                   ? "?"
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
