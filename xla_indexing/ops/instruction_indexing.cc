#include "xla_indexing/ops/instruction_indexing.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/ops/builders.h"
#include "xla_indexing/ops/fold_runtime.h"

namespace xla_indexing {
namespace {

void AddRoute(const LeafRoute& route, bool forward, BuildContext& build) {
  const Shape& output = build.instruction.shape().Leaf(route.output_leaf);
  const Shape& operand = build.instruction.operand(route.operand)->shape().Leaf(route.operand_leaf);
  if (output.dimensions() == operand.dimensions()) {
    build.Add(route.output_leaf, route.operand, route.operand_leaf,
              IdentityIndexing(output, build.mlir_context));
    return;
  }
  // A recv-done may have other sizes than its recv, <=N stand for ?.
  const ExactnessLabel label = ExactnessLabel::OverApproximate(absl::StrCat(
      "whole operand: the sizes of ", build.instruction.name(), " are not those of its operand"));
  if (forward) {
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
    OperandIndexingSet maps;
    for (const LoopNest& nest : opcode.nests(build, output_leaf, operand)) {
      if (nest.IsEmpty()) continue;
      AddUnlessEmpty(OutputToInputOfNest(nest, build.Output(output_leaf), build.Operand(operand),
                                         build.mlir_context),
                     &maps);
    }
    build.Add(output_leaf, operand, 0, std::move(maps));
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
    OperandIndexingSet maps;
    for (const LoopNest& nest : opcode.nests(build, leaf, operand)) {
      if (nest.IsEmpty()) continue;
      AddUnlessEmpty(
          InputToOutputOfNest(nest, build.Output(leaf), build.Operand(operand), build.mlir_context),
          &maps);
    }
    build.Add(leaf, operand, 0, std::move(maps));
  }
}

bool HasRuntimeVariables(const OperandIndexingSet& set) {
  return absl::c_any_of(
      set, [](const OperandIndexing& indexing) { return indexing.map().num_runtimes() > 0; });
}

// Folds what is to be folded and sorts.
absl::StatusOr<InstructionIndexing> Finish(BuildContext build) {
  if (!build.status.ok()) return build.status;
  if (build.options.fold_runtime_variables) {
    for (IndexingEntry& entry : build.entries) {
      if (!HasRuntimeVariables(entry.indexing)) continue;
      entry.indexing = FoldRuntimeVariables(entry.indexing);
    }
  }
  std::erase_if(build.entries, [](const IndexingEntry& entry) { return entry.indexing.empty(); });
  SortEntries(&build.entries);
  return std::move(build.entries);
}

}  // namespace

void SortEntries(InstructionIndexing* entries) {
  const auto place = [](const IndexingEntry& entry) {
    return std::tie(entry.output_leaf, entry.operand, entry.operand_leaf);
  };
  std::sort(entries->begin(), entries->end(),
            [&](const IndexingEntry& a, const IndexingEntry& b) { return place(a) < place(b); });
}

absl::StatusOr<InstructionIndexing> ComputeOutputToInputIndexing(const HloInstruction& instruction,
                                                                 int64_t output_leaf,
                                                                 mlir::MLIRContext* context,
                                                                 const IndexingOptions& options) {
  const int64_t leaf_count = instruction.shape().LeafCount();
  if (output_leaf < 0 || output_leaf >= leaf_count) {
    return absl::InvalidArgumentError(absl::StrCat(
        instruction.name(), " has ", leaf_count, " output leaves, there is no leaf ", output_leaf));
  }
  BuildContext build{instruction, context, options};
  const OpcodeIndexing opcode = IndexingOfOpcode(instruction.opcode());
  if (opcode.routes == nullptr) {
    AddOutputToInput(opcode, output_leaf, build);
  } else {
    for (const LeafRoute& route : opcode.routes(instruction)) {
      if (route.output_leaf == output_leaf) AddRoute(route, /*forward=*/false, build);
    }
  }
  return Finish(std::move(build));
}

absl::StatusOr<InstructionIndexing> ComputeInputToOutputIndexing(const HloInstruction& instruction,
                                                                 int64_t operand,
                                                                 int64_t operand_leaf,
                                                                 mlir::MLIRContext* context,
                                                                 const IndexingOptions& options) {
  if (operand < 0 || operand >= instruction.operand_count()) {
    return absl::InvalidArgumentError(absl::StrCat(instruction.name(), " has ",
                                                   instruction.operand_count(),
                                                   " operands, there is no operand ", operand));
  }
  const int64_t leaf_count = instruction.operand(operand)->shape().LeafCount();
  if (operand_leaf < 0 || operand_leaf >= leaf_count) {
    return absl::InvalidArgumentError(absl::StrCat("operand ", operand, " of ", instruction.name(),
                                                   " has ", leaf_count,
                                                   " leaves, there is no leaf ", operand_leaf));
  }
  BuildContext build{instruction, context, options};
  const OpcodeIndexing opcode = IndexingOfOpcode(instruction.opcode());
  if (opcode.routes == nullptr) {
    AddInputToOutput(opcode, operand, operand_leaf, build);
  } else {
    for (const LeafRoute& route : opcode.routes(instruction)) {
      if (route.operand == operand && route.operand_leaf == operand_leaf) {
        AddRoute(route, /*forward=*/true, build);
      }
    }
  }
  return Finish(std::move(build));
}

absl::StatusOr<InstructionIndexing> ComputeOutputToInputIndexing(const HloInstruction& instruction,
                                                                 mlir::MLIRContext* context,
                                                                 const IndexingOptions& options) {
  BuildContext build{instruction, context, options};
  const OpcodeIndexing opcode = IndexingOfOpcode(instruction.opcode());
  if (opcode.routes != nullptr) {
    for (const LeafRoute& route : opcode.routes(instruction)) {
      AddRoute(route, /*forward=*/false, build);
    }
  } else {
    const int64_t leaf_count = instruction.shape().LeafCount();
    for (int64_t leaf = 0; leaf < leaf_count; ++leaf) AddOutputToInput(opcode, leaf, build);
  }
  return Finish(std::move(build));
}

absl::StatusOr<InstructionIndexing> ComputeInputToOutputIndexing(const HloInstruction& instruction,
                                                                 mlir::MLIRContext* context,
                                                                 const IndexingOptions& options) {
  BuildContext build{instruction, context, options};
  const OpcodeIndexing opcode = IndexingOfOpcode(instruction.opcode());
  if (opcode.routes != nullptr) {
    for (const LeafRoute& route : opcode.routes(instruction)) {
      AddRoute(route, /*forward=*/true, build);
    }
  } else {
    for (int64_t operand = 0; operand < instruction.operand_count(); ++operand) {
      const int64_t leaf_count = instruction.operand(operand)->shape().LeafCount();
      for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
        AddInputToOutput(opcode, operand, leaf, build);
      }
    }
  }
  return Finish(std::move(build));
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

std::vector<OperandLeaf> UnreadOperandLeaves(absl::Span<const HloInstruction* const> operands,
                                             const InstructionIndexing& entries) {
  std::vector<std::vector<bool>> is_read(operands.size());
  for (size_t i = 0; i < operands.size(); ++i) is_read[i].resize(operands[i]->shape().LeafCount());
  for (const IndexingEntry& entry : entries) is_read[entry.operand][entry.operand_leaf] = true;
  std::vector<OperandLeaf> unread;
  for (size_t i = 0; i < operands.size(); ++i) {
    for (size_t leaf = 0; leaf < is_read[i].size(); ++leaf) {
      if (!is_read[i][leaf]) {
        unread.push_back({static_cast<int64_t>(i), static_cast<int64_t>(leaf)});
      }
    }
  }
  return unread;
}

}  // namespace xla_indexing
