#include "xla_indexing/tools/report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "xla_indexing/fusion/computation_indexing.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/ops/instruction_indexing.h"
#include "xla_indexing/ops/operand_indexing_set.h"

namespace xla_indexing {
namespace {

// Nothing is known between any two leaves.
InstructionIndexing UnknownIndexing(const Subject& subject, const absl::Status& status,
                                    mlir::MLIRContext* context) {
  InstructionIndexing entries;
  const int64_t output_count = subject.instruction->shape().LeafCount();
  const auto unread = UnreadOperandLeaves(subject.operands(), {});
  for (int64_t output_leaf = 0; output_leaf < output_count; ++output_leaf) {
    for (const auto& [operand, operand_leaf] : unread) {
      OperandIndexing unknown = OperandIndexing::Unknown(context, std::string(status.message()));
      entries.push_back(
          {output_leaf, operand, operand_leaf, OperandIndexingSet(std::move(unknown))});
    }
  }
  return entries;
}

std::vector<ReportedMap> ReportMaps(const OperandIndexingSet& set, const ExactnessLabel& label,
                                    const HloComputation& analysed) {
  std::vector<ReportedMap> maps;
  for (const OperandIndexing& indexing : set) {
    // Beside an unknown part, the others say nothing of the whole.
    if (label.exactness == Exactness::kUnknown && !indexing.IsUnknown()) continue;
    ReportedMap map{indexing, indexing.MapToString(), {}, indexing.ReplicaToString()};
    for (int i = 0; i < indexing.map().num_runtimes(); ++i) {
      map.bindings.push_back(indexing.BindingToString(i, &analysed));
    }
    maps.push_back(std::move(map));
  }
  if (maps.size() < 2) return maps;
  if (label.exactness == Exactness::kUnknown) {
    maps.erase(maps.begin() + 1, maps.end());
    return maps;
  }
  const auto text = [](const ReportedMap& map) {
    return std::tie(map.line, map.bindings, map.replica);
  };
  std::stable_sort(maps.begin(), maps.end(),
                   [&](const ReportedMap& a, const ReportedMap& b) { return text(a) < text(b); });
  maps.erase(
      std::unique(maps.begin(), maps.end(),
                  [&](const ReportedMap& a, const ReportedMap& b) { return text(a) == text(b); }),
      maps.end());
  return maps;
}

}  // namespace

absl::StatusOr<InstructionIndexing> ComputeIndexing(const Subject& subject, Direction direction,
                                                    const CommandLine& line,
                                                    mlir::MLIRContext* context) {
  FusionOptions options;
  options.indexing.exact = line.exact;
  options.indexing.fold_runtime_variables = line.simplify != SimplifyMode::kNever;
  const bool to_input = direction == Direction::kOutputToInput;
  if (subject.is_fusion) {
    // The first output's entries name the operands that no output reads.
    const bool one_output = line.output_id.value_or(0) > 0 &&
                            *line.output_id < subject.instruction->shape().LeafCount();
    return to_input ? ComputeOutputToInputIndexing(subject.computation(), context, options,
                                                   one_output ? line.output_id : std::nullopt)
                    : ComputeInputToOutputIndexing(subject.computation(), context, options);
  }
  return to_input
             ? ComputeOutputToInputIndexingThroughCalls(*subject.instruction, context, options)
             : ComputeInputToOutputIndexingThroughCalls(*subject.instruction, context, options);
}

std::vector<ReportedEntry> ReportIndexing(const Subject& subject, Direction direction,
                                          const CommandLine& line, mlir::MLIRContext* context) {
  absl::StatusOr<InstructionIndexing> computed = ComputeIndexing(subject, direction, line, context);
  InstructionIndexing entries =
      computed.ok() ? *std::move(computed) : UnknownIndexing(subject, computed.status(), context);
  for (const OperandLeaf& leaf : UnreadOperandLeaves(subject.operands(), entries)) {
    entries.push_back({0, leaf.operand, leaf.operand_leaf, {}});
  }

  const bool to_input = direction == Direction::kOutputToInput;
  const auto array_of = [&](const IndexingEntry& entry) {
    return to_input ? std::pair(entry.output_leaf, int64_t{0})
                    : std::pair(entry.operand, entry.operand_leaf);
  };
  std::map<std::pair<int64_t, int64_t>, TilePieces> pieces;
  if (line.queries.tiling) {
    for (const IndexingEntry& entry : entries) {
      for (const OperandIndexing& map : entry.indexing) {
        if (!map.IsUnknown()) pieces[array_of(entry)].Add(map.map());
      }
    }
  }

  std::vector<ReportedEntry> reported;
  for (IndexingEntry& entry : entries) {
    if (line.output_id && entry.output_leaf != *line.output_id) continue;
    if (line.operand_id && entry.operand != *line.operand_id) continue;
    if (line.simplify == SimplifyMode::kAlways) entry.indexing.Simplify();
    ExactnessLabel label = entry.indexing.label();
    std::vector<ReportedMap> maps = ReportMaps(entry.indexing, label, subject.computation());
    reported.push_back(
        {entry.output_leaf, entry.operand, entry.operand_leaf, std::move(maps), std::move(label)});
    if (line.queries.tiling) reported.back().pieces = pieces[array_of(entry)];
  }
  const auto place = [&](const ReportedEntry& entry) {
    return std::tuple(to_input ? entry.output_leaf : 0, entry.operand, entry.operand_leaf,
                      entry.output_leaf);
  };
  std::sort(reported.begin(), reported.end(),
            [&](const ReportedEntry& a, const ReportedEntry& b) { return place(a) < place(b); });
  return reported;
}

}  // namespace xla_indexing
