#include "xla_indexing/ops/rules/frame/operation_maps.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

void AddRoute(const LeafRoute& route, Direction direction, BuildContext& build) {
  const Shape& output = build.instruction.shape().Leaf(route.output_leaf);
  const Shape& operand = build.instruction.operand(route.operand)->shape().Leaf(route.operand_leaf);
  if (output.dimensions() == operand.dimensions()) {
    build.Add(route.output_leaf, route.operand, route.operand_leaf, build.Identity(output));
    return;
  }
  // A recv-done may have other sizes than its recv, <=N stand for ?.
  const ExactnessLabel label = ExactnessLabel::OverApproximate(absl::StrCat(
      "whole operand: the sizes of ", build.instruction.name(), " are not those of its operand"));
  if (direction == Direction::kInputToOutput) {
    build.AddWholeReach(route.output_leaf, route.operand, route.operand_leaf, label);
  } else {
    build.AddWholeRead(route.output_leaf, route.operand, route.operand_leaf, label);
  }
}

// What one leaf of the result reads.
void AddOutputToInput(const OpcodeIndexing& opcode, int64_t output_leaf, BuildContext& build) {
  if (opcode.nests == nullptr) {
    opcode.output_to_input(build, output_leaf);
    return;
  }
  for (int64_t operand = 0; operand < build.instruction.operand_count(); ++operand) {
    build.AddEntry(output_leaf, operand, 0, [&](OperandIndexingSet* maps) {
      for (const LoopNest& nest : opcode.nests(build, output_leaf, operand)) {
        if (nest.IsEmpty()) continue;
        AddUnlessEmpty(OutputToInputOfNest(nest, build.Output(output_leaf), build.Operand(operand),
                                           build.mlir_context, build.one_valued),
                       maps);
      }
    });
  }
}

// Where one leaf of an operand goes.
void AddInputToOutput(const OpcodeIndexing& opcode, int64_t operand, int64_t operand_leaf,
                      BuildContext& build) {
  if (opcode.nests == nullptr) {
    opcode.input_to_output(build, operand, operand_leaf);
    return;
  }
  for (int64_t leaf = 0; leaf < build.instruction.shape().LeafCount(); ++leaf) {
    build.AddEntry(leaf, operand, 0, [&](OperandIndexingSet* maps) {
      for (const LoopNest& nest : opcode.nests(build, leaf, operand)) {
        if (nest.IsEmpty()) continue;
        AddUnlessEmpty(InputToOutputOfNest(nest, build.Output(leaf), build.Operand(operand),
                                           build.mlir_context, build.one_valued),
                       maps);
      }
    });
  }
}

// An error unless there is such a leaf to start from.
absl::Status CheckLeaf(const HloInstruction& instruction, Direction direction, OperandLeaf from) {
  const bool is_of_operand = direction == Direction::kInputToOutput;
  const int64_t operands = is_of_operand ? instruction.operand_count() : 1;
  if (from.operand < 0 || from.operand >= operands) {
    return absl::InvalidArgumentError(
        is_of_operand ? absl::StrCat(instruction.name(), " has ", operands,
                                     " operands, there is no operand ", from.operand)
                      : absl::StrCat(instruction.name(), " is indexed from its result, operand ",
                                     from.operand, " was asked for"));
  }
  const Shape& shape =
      is_of_operand ? instruction.operand(from.operand)->shape() : instruction.shape();
  const int64_t count = shape.LeafCount();
  if (from.operand_leaf >= 0 && from.operand_leaf < count) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(is_of_operand ? absl::StrCat("operand ", from.operand, " of ") : "",
                   instruction.name(), " has ", count, is_of_operand ? "" : " output",
                   " leaves, there is no leaf ", from.operand_leaf));
}

}  // namespace

absl::StatusOr<InstructionIndexing> OperationMaps(const HloInstruction& instruction,
                                                  Direction direction, mlir::MLIRContext* context,
                                                  const IndexingOptions& options,
                                                  std::optional<OperandLeaf> from,
                                                  OneValued one_valued) {
  if (from) {
    if (absl::Status status = CheckLeaf(instruction, direction, *from); !status.ok()) return status;
  }
  const bool is_from_operand = direction == Direction::kInputToOutput;
  BuildContext build{instruction, context, options};
  build.one_valued = one_valued;
  const OpcodeIndexing opcode = IndexingOfOpcode(instruction.opcode());
  if (opcode.routes != nullptr) {
    const LeafRoutes routes = opcode.routes(instruction);
    if (!from) build.entries.reserve(routes.size());
    for (const LeafRoute& route : routes) {
      const OperandLeaf start = is_from_operand ? OperandLeaf{route.operand, route.operand_leaf}
                                                : OperandLeaf{0, route.output_leaf};
      if (!from || *from == start) AddRoute(route, direction, build);
    }
  } else {
    build.entries.reserve(instruction.operand_count());
    const auto add = [&](OperandLeaf start) {
      if (is_from_operand) {
        AddInputToOutput(opcode, start.operand, start.operand_leaf, build);
      } else {
        AddOutputToInput(opcode, start.operand_leaf, build);
      }
    };
    if (from) {
      add(*from);
    } else if (is_from_operand) {
      for (int64_t operand = 0; operand < instruction.operand_count(); ++operand) {
        const int64_t leaf_count = instruction.operand(operand)->shape().LeafCount();
        for (int64_t leaf = 0; leaf < leaf_count; ++leaf) add({operand, leaf});
      }
    } else {
      const int64_t leaf_count = instruction.shape().LeafCount();
      for (int64_t leaf = 0; leaf < leaf_count; ++leaf) add({0, leaf});
    }
  }
  if (!build.status.ok()) return build.status;
  std::erase_if(build.entries, [](const IndexingEntry& entry) { return entry.indexing.empty(); });
  SortEntries(&build.entries);
  return std::move(build.entries);
}

int64_t MostEntries(const HloInstruction& instruction) {
  const int64_t output_leaves = instruction.shape().LeafCount();
  if (IndexingOfOpcode(instruction.opcode()).routes != nullptr) return output_leaves;
  int64_t operand_leaves = 0;
  for (const HloInstruction* operand : instruction.operands()) {
    operand_leaves += operand->shape().LeafCount();
  }
  return output_leaves * operand_leaves;
}

}  // namespace xla_indexing::internal
