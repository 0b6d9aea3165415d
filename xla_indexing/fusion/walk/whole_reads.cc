#include "xla_indexing/fusion/walk/whole_reads.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/chain/path.h"
#include "xla_indexing/fusion/chain/reindexing.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

// Whether all elements of the result together read all of the operand.
bool ReadsAllOf(const HloInstruction& instruction, int64_t operand) {
  switch (instruction.opcode()) {
    case HloOpcode::kReshape:
    case HloOpcode::kTranspose:
    case HloOpcode::kReverse:
    case HloOpcode::kBroadcast:
    case HloOpcode::kConcatenate:
    case HloOpcode::kReduce:
      return IsReindexing(instruction, operand);
    // Starts are clamped, so that all of an update has its place in the result.
    case HloOpcode::kDynamicUpdateSlice:
    case HloOpcode::kDynamicSlice:
      return operand > 0;
    // Every element of an operand is a factor of some element of the result, which has one.
    case HloOpcode::kDot:
      return operand < 2;
    default:
      return IsElementwise(instruction.opcode()) && IsReindexing(instruction, operand);
  }
}

// Whether a map, and what follows it, may say that all of an array is read.
bool MayCount(const OperandIndexing& map) {
  if (!map.IsExact()) return false;
  if (map.bindings().empty()) return true;
  const IndexingMap& relation = map.map();
  // Where it may be that nothing is read.
  for (int i = 0; i < relation.num_runtimes(); ++i) {
    if (!map.bindings()[i].ValueRange().IsSubsetOf(relation.runtimes()[i].bounds)) return false;
  }
  llvm::BitVector used(static_cast<unsigned>(relation.num_symbols()));
  for (const Constraint& constraint : relation.constraints()) MarkSymbols(constraint.expr, &used);
  return used.find_first_in(static_cast<unsigned>(relation.num_ranges()), used.size()) < 0;
}

}  // namespace

WholeReads::WholeReads(const HloComputation& computation, TraversalSource& source,
                       mlir::MLIRContext* context)
    : computation_(computation), source_(source), sets_(context) {
  size_t rows = 0;
  for (const HloInstruction* instruction : computation.instructions()) {
    first_row_.push_back(rows);
    rows += static_cast<size_t>(instruction->shape().LeafCount());
  }
  whole_.resize(rows);
}

void WholeReads::SetWhole(const HloInstruction& instruction, int64_t leaf) {
  const Shape& shape = instruction.shape().Leaf(leaf);
  if (!shape.IsArray()) return;
  // Nothing is said about an array without elements, or with an unknown number of them.
  const absl::StatusOr<int64_t> count = shape.ElementCount();
  if (count.ok() && *count > 0) whole_.set(RowOf(instruction, leaf));
}

absl::Status WholeReads::Find(absl::Span<const int64_t> output_leaves, int depth) {
  const HloInstruction* root = computation_.root_instruction();
  for (const int64_t leaf : output_leaves) SetWhole(*root, leaf);
  for (int64_t position = root->index_in_computation(); position >= 0; --position) {
    const HloInstruction& instruction = *computation_.instructions()[position];
    if (instruction.operand_count() == 0) continue;
    const int64_t leaf_count = instruction.shape().LeafCount();
    bool is_read = false;
    if (const LeafRouter router = IndexingOfOpcode(instruction.opcode()).routes) {
      for (const LeafRoute& route : router(instruction)) {
        if (!IsWhole(instruction, route.output_leaf)) continue;
        SetWhole(*instruction.operand(route.operand), route.operand_leaf);
        is_read = true;
      }
    } else {
      for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
        if (!IsWhole(instruction, leaf)) continue;
        absl::Status status = Step(instruction, leaf, depth);
        if (!status.ok()) return status;
        is_read = true;
      }
    }
    if (is_read) QuestionBudget::Spend();
    if (QuestionBudget::IsSpent()) break;
  }
  return absl::OkStatus();
}

absl::Status WholeReads::Step(const HloInstruction& instruction, int64_t leaf, int depth) {
  bool reads_all = true;
  for (int64_t operand = 0; operand < instruction.operand_count(); ++operand) {
    const HloInstruction& read = *instruction.operand(operand);
    if (!source_.MayDecideReads(instruction) && ReadsAllOf(instruction, operand)) {
      SetWhole(read, 0);
    } else {
      reads_all = reads_all && read.shape().IsArray() && IsWhole(read, 0);
    }
  }
  if (reads_all) return absl::OkStatus();
  absl::StatusOr<SharedIndexing> entries = source_.ReadByAllOf(instruction, leaf, depth);
  if (!entries.ok()) return entries.status();
  bool is_in_part = false;
  for (const IndexingEntry& entry : **entries) {
    if (entry.output_leaf != leaf) continue;
    const HloInstruction& operand = *instruction.operand(entry.operand);
    if (IsWhole(operand, entry.operand_leaf)) continue;
    if (absl::c_none_of(entry.indexing, MayCount)) continue;
    OperandIndexingSet& read = parts_[RowOf(operand, entry.operand_leaf)];
    read.Add(entry.indexing);
    if (sets_.IsWhole(read, operand.shape().Leaf(entry.operand_leaf))) {
      SetWhole(operand, entry.operand_leaf);
    } else {
      is_in_part = true;
    }
  }
  if (is_in_part) in_part_.push_back({&instruction, leaf, *std::move(entries)});
  return absl::OkStatus();
}

WholeReads::Rest WholeReads::RestTo(absl::Span<const OperandLeaf> parameter_leaves) const {
  Rest rest;
  if (in_part_.empty()) return rest;
  const Reachability& reachability =
      source_.ReachabilityOf(computation_, Direction::kOutputToInput);
  const llvm::BitVector ends = reachability.EndsAt(parameter_leaves);
  const auto is_on_way = [&](const HloInstruction& instruction, int64_t leaf) {
    return !IsWhole(instruction, leaf) && reachability.LeadsTo(ends, instruction, leaf);
  };
  for (const StepInPart& step : in_part_) {
    for (const IndexingEntry& entry : *step.entries) {
      const HloInstruction& operand = *step.instruction->operand(entry.operand);
      if (entry.output_leaf != step.leaf || !is_on_way(operand, entry.operand_leaf)) continue;
      for (const OperandIndexing& map : entry.indexing) {
        if (!MayCount(map)) continue;
        rest.start[operand.index_in_computation()][entry.operand_leaf].Add(
            Path(map, operand.shape().Leaf(entry.operand_leaf)));
      }
    }
  }
  if (rest.start.empty()) return rest;
  rest.left_out.resize(static_cast<unsigned>(computation_.instructions().size()), true);
  for (const HloInstruction* instruction : computation_.instructions()) {
    const int64_t leaf_count = instruction->shape().LeafCount();
    for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
      if (!is_on_way(*instruction, leaf)) continue;
      rest.left_out.reset(static_cast<unsigned>(instruction->index_in_computation()));
      break;
    }
  }
  return rest;
}

}  // namespace xla_indexing::internal
