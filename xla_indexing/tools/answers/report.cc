#include "xla_indexing/tools/answers/report.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/rules/frame/operation_maps.h"

namespace xla_indexing {
namespace {

// With more entries than this, the leaves are asked for one by one. A computation may have more,
// because the walks for its leaves share their steps, and because it has far fewer entries than it
// might have.
constexpr int64_t kMaxEntriesOfInstruction = 10'000;
constexpr int64_t kMaxEntriesOfComputation = 500'000;

bool ComesLeafByLeaf(const Subject& subject) {
  return MostPairs(subject) >
         (subject.is_fusion ? kMaxEntriesOfComputation : kMaxEntriesOfInstruction);
}

// Nothing is known between any two leaves of a part.
InstructionIndexing UnknownIndexing(const Subject& subject, Direction direction,
                                    const std::optional<OperandLeaf>& leaf,
                                    const absl::Status& status, mlir::MLIRContext* context) {
  InstructionIndexing entries;
  const bool to_input = direction == Direction::kOutputToInput;
  const int64_t output_count = subject.instruction->shape().LeafCount();
  const int64_t first = leaf && to_input ? leaf->operand_leaf : 0;
  std::vector<OperandLeaf> operand_leaves = UnreadOperandLeaves(subject.operands(), {});
  if (leaf && !to_input) operand_leaves = {*leaf};
  for (int64_t output_leaf = first; output_leaf < (leaf && to_input ? first + 1 : output_count);
       ++output_leaf) {
    for (const auto& [operand, operand_leaf] : operand_leaves) {
      OperandIndexing unknown = OperandIndexing::Unknown(context, std::string(status.message()));
      entries.push_back(
          {output_leaf, operand, operand_leaf, OperandIndexingSet(std::move(unknown))});
    }
  }
  return entries;
}

auto LinesOf(const ReportedMap& map) { return std::tie(map.line, map.bindings, map.replica); }

std::vector<ReportedMap> ReportMaps(const OperandIndexingSet& set, const ExactnessLabel& label,
                                    const HloComputation& analysed) {
  std::vector<ReportedMap> maps;
  for (const OperandIndexing& indexing : set) {
    // Where one part is unknown, the others say nothing about the whole.
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
  SortByLines(&maps);
  maps.erase(std::unique(maps.begin(), maps.end(),
                         [](const auto& a, const auto& b) { return LinesOf(a) == LinesOf(b); }),
             maps.end());
  return maps;
}

}  // namespace

void SortByLines(std::vector<ReportedMap>* maps) {
  std::stable_sort(maps->begin(), maps->end(),
                   [](const auto& a, const auto& b) { return LinesOf(a) < LinesOf(b); });
}

SubjectIndexer::SubjectIndexer(const CommandLine& line, mlir::MLIRContext* context)
    : line_(line),
      context_(context),
      usual_{HloIndexer(context, OptionsFor(false)), HloIndexer(context, OptionsFor(false))},
      exact_{HloIndexer(context, OptionsFor(true)), HloIndexer(context, OptionsFor(true))} {}

FusionOptions SubjectIndexer::OptionsFor(bool exact) const {
  FusionOptions options;
  options.indexing.exact = exact;
  options.indexing.dependence = line_.AskedDependence();
  // A border between pieces cuts tiles that are whole.
  if (line_.queries.tiling) options.indexing.few_pieces = 0;
  options.indexing.fold_runtime_variables = line_.simplify != SimplifyMode::kNever;
  return options;
}

absl::StatusOr<SharedIndexing> SubjectIndexer::Compute(const Subject& subject, Direction direction,
                                                       const std::optional<OperandLeaf>& leaf,
                                                       bool exact) {
  HloIndexer& indexer = (exact ? exact_ : usual_)[static_cast<size_t>(direction)];
  if (!subject.is_fusion) return indexer.Index(*subject.instruction, direction, leaf);
  std::optional<OperandLeaf> from = leaf;
  // The first output's entries name the operands that no output reads.
  if (!from && direction == Direction::kOutputToInput && line_.output_id.value_or(0) > 0 &&
      *line_.output_id < subject.instruction->shape().LeafCount()) {
    from = OperandLeaf{0, *line_.output_id};
  }
  return indexer.Index(subject.computation(), direction, from);
}

int64_t MostPairs(const Subject& subject) {
  if (!subject.is_fusion) return internal::MostEntries(*subject.instruction);
  int64_t parameter_leaves = 0;
  for (const HloInstruction* parameter : subject.operands()) {
    parameter_leaves += parameter->shape().LeafCount();
  }
  return subject.instruction->shape().LeafCount() * parameter_leaves;
}

int64_t MostPairsOf(const Subject& subject, Direction direction, const ReportPart& part,
                    const CommandLine& line) {
  const bool to_input = direction == Direction::kOutputToInput;
  int64_t output_leaves = line.output_id ? 1 : subject.instruction->shape().LeafCount();
  int64_t operand_leaves = 0;
  for (size_t i = 0; i < subject.operands().size(); ++i) {
    const auto operand = static_cast<int64_t>(i);
    if (line.operand_id.value_or(operand) != operand) continue;
    operand_leaves += subject.operands()[i]->shape().LeafCount();
  }
  if (part.leaf) (to_input ? output_leaves : operand_leaves) = 1;
  return output_leaves * operand_leaves;
}

std::vector<ReportPart> PartsOf(const Subject& subject, Direction direction,
                                const CommandLine& line, SubjectIndexer* indexer) {
  if (!ComesLeafByLeaf(subject)) return {ReportPart()};
  std::vector<ReportPart> parts;
  std::vector<OperandLeaf> unread = UnreadOperandLeaves(subject.operands(), {});
  if (direction == Direction::kInputToOutput) {
    for (const OperandLeaf& leaf : unread) {
      if (line.operand_id.value_or(leaf.operand) == leaf.operand) parts.push_back({leaf, {}});
    }
    return parts;
  }
  // Operands that nothing reads are reported with the first leaf.
  const int64_t output_count = subject.instruction->shape().LeafCount();
  for (int64_t leaf = 0; leaf < output_count; ++leaf) {
    if (line.output_id.value_or(leaf) == leaf) parts.push_back({OperandLeaf{0, leaf}, {}});
    if (unread.empty() || line.output_id.value_or(0) != 0) continue;
    const absl::StatusOr<SharedIndexing> entries =
        indexer->Compute(subject, direction, OperandLeaf{0, leaf});
    if (!entries.ok()) continue;
    std::erase_if(unread, [&](const OperandLeaf& of) {
      return absl::c_any_of(**entries, [&](const IndexingEntry& entry) {
        return OperandLeaf{entry.operand, entry.operand_leaf} == of;
      });
    });
  }
  if (!parts.empty()) parts.front().unread = std::move(unread);
  return parts;
}

std::vector<ReportedEntry> ReportIndexing(const Subject& subject, Direction direction,
                                          const ReportPart& part, const CommandLine& line,
                                          SubjectIndexer* indexer) {
  const absl::StatusOr<SharedIndexing> computed = indexer->Compute(subject, direction, part.leaf);
  InstructionIndexing entries =
      computed.ok()
          ? **computed
          : UnknownIndexing(subject, direction, part.leaf, computed.status(), indexer->context());
  std::vector<OperandLeaf> unread = part.unread;
  if (!part.leaf) unread = UnreadOperandLeaves(subject.operands(), entries);
  if (part.leaf && direction == Direction::kInputToOutput && entries.empty()) unread = {*part.leaf};
  for (const OperandLeaf& leaf : unread) {
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
  // Many entries have the maps of the one before.
  const OperandIndexingSet* last = nullptr;
  for (IndexingEntry& entry : entries) {
    if (line.output_id && entry.output_leaf != *line.output_id) continue;
    if (line.operand_id && entry.operand != *line.operand_id) continue;
    if (line.simplify == SimplifyMode::kAlways) entry.indexing.Simplify();
    ExactnessLabel label = entry.indexing.label();
    std::vector<ReportedMap> maps = last != nullptr && *last == entry.indexing
                                        ? reported.back().maps
                                        : ReportMaps(entry.indexing, label, subject.computation());
    last = &entry.indexing;
    reported.push_back(
        {entry.output_leaf, entry.operand, entry.operand_leaf, std::move(maps), std::move(label)});
    if (line.queries.tiling) reported.back().pieces = pieces[array_of(entry)];
  }
  const auto leaves = [&](const ReportedEntry& entry) {
    return std::tuple(to_input ? entry.output_leaf : 0, entry.operand, entry.operand_leaf,
                      entry.output_leaf);
  };
  std::sort(reported.begin(), reported.end(),
            [&](const ReportedEntry& a, const ReportedEntry& b) { return leaves(a) < leaves(b); });
  return reported;
}

}  // namespace xla_indexing
