#include "xla_indexing/fusion/called_computations.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "xla_indexing/fusion/path.h"
#include "xla_indexing/fusion/walker.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/hlo/shape.h"
#include "xla_indexing/ops/call_scope.h"
#include "xla_indexing/ops/operand_indexing_set.h"

namespace xla_indexing {
namespace {

using LeafPaths = Walker::LeafPaths;

constexpr int64_t kRoot = -1;
constexpr int kMaxMapsOfLoopBodies = 16;

// `end` is the shape of the leaf that the paths have led to.
void AddEntry(const IndexingEntry& place, const PathSet& paths, const Shape& end,
              InstructionIndexing* entries) {
  OperandIndexingSet set;
  for (const Path& path : paths.paths()) set.Add(path.Map(end));
  set.Simplify();
  if (set.empty()) return;
  entries->push_back({place.output_leaf, place.operand, place.operand_leaf, std::move(set)});
}

// The entries as the caller sees them.
InstructionIndexing SeenFrom(const CalledComputation& called, InstructionIndexing entries,
                             bool fold_runtime_variables) {
  for (IndexingEntry& entry : entries) {
    entry.indexing = SeenFromCaller(entry.indexing, called, fold_runtime_variables);
    entry.indexing.Simplify();
  }
  std::erase_if(entries, [](const IndexingEntry& entry) { return entry.indexing.empty(); });
  return entries;
}

}  // namespace

CalledComputations::CalledComputations(mlir::MLIRContext* context, const FusionOptions& options)
    : context_(context), options_(options), loop_options_(options) {
  loop_options_.max_maps = std::min(options.max_maps, kMaxMapsOfLoopBodies);
}

const FusionOptions& CalledComputations::OptionsFor(const HloComputation& computation) const {
  return loop_bodies_.contains(&computation) ? loop_options_ : options_;
}

bool CalledComputations::HasBudget() const {
  return called_instructions_ < options_.max_called_instructions;
}

ComputationIndexer* CalledComputations::At(int depth) {
  if (depth >= options_.max_call_depth || !HasBudget()) return nullptr;
  depth_ = depth;
  return this;
}

absl::StatusOr<InstructionIndexing> CalledComputations::OutputToInput(
    const HloComputation& computation, int64_t output_leaf, int depth) {
  const HloInstruction* root = computation.root_instruction();
  if (root == nullptr || !root->shape().Leaf(output_leaf).IsArray()) return InstructionIndexing();
  const Key key(&computation, kRoot, output_leaf, depth);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  const Shape& array = root->shape().Leaf(output_leaf);

  Walker walker(context_, OptionsFor(computation), Direction::kOutputToInput, array, this);
  Frame frame;
  frame.depth = depth;
  std::map<int64_t, LeafPaths> start;
  std::map<int64_t, LeafPaths> end;
  start[0][output_leaf].Add(Path(IdentityIndexing(array, context_), array));
  absl::Status status = walker.WalkComputation(computation, frame, start, &end);
  if (!status.ok()) return status;
  InstructionIndexing entries;
  for (const auto& [number, leaves] : end) {
    const Shape& shape = computation.parameter(number)->shape();
    for (const auto& [leaf, paths] : leaves) {
      AddEntry({output_leaf, number, leaf, {}}, paths, shape.Leaf(leaf), &entries);
    }
  }
  SortEntries(&entries);
  known_.emplace(key, entries);
  return entries;
}

absl::StatusOr<InstructionIndexing> CalledComputations::InputToOutput(
    const HloComputation& computation, OperandLeaf parameter_leaf, int depth) {
  const auto [number, leaf] = parameter_leaf;
  const Shape& array = computation.parameter(number)->shape().Leaf(leaf);
  if (!array.IsArray()) return InstructionIndexing();
  const Key key(&computation, number, leaf, depth);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;

  Walker walker(context_, OptionsFor(computation), Direction::kInputToOutput, array, this);
  Frame frame;
  frame.depth = depth;
  std::map<int64_t, LeafPaths> start;
  std::map<int64_t, LeafPaths> end;
  start[number][leaf].Add(Path(IdentityIndexing(array, context_), array));
  absl::Status status = walker.WalkComputation(computation, frame, start, &end);
  if (!status.ok()) return status;
  InstructionIndexing entries;
  for (const auto& [output_leaf, paths] : end[0]) {
    AddEntry({output_leaf, number, leaf, {}}, paths,
             computation.root_instruction()->shape().Leaf(output_leaf), &entries);
  }
  SortEntries(&entries);
  known_.emplace(key, entries);
  return entries;
}

absl::StatusOr<InstructionIndexing> CalledComputations::OutputToInput(
    const CalledComputation& called, int64_t output_leaf) {
  if (called.caller.opcode() == HloOpcode::kWhile) loop_bodies_.insert(&called.computation);
  const int depth = depth_;
  auto entries = OutputToInput(called.computation, output_leaf, depth + 1);
  depth_ = depth;
  if (!entries.ok()) return entries;
  return SeenFrom(called, *std::move(entries), options_.indexing.fold_runtime_variables);
}

absl::StatusOr<InstructionIndexing> CalledComputations::InputToOutput(
    const CalledComputation& called, OperandLeaf parameter_leaf) {
  if (called.caller.opcode() == HloOpcode::kWhile) loop_bodies_.insert(&called.computation);
  const int depth = depth_;
  auto entries = InputToOutput(called.computation, parameter_leaf, depth + 1);
  depth_ = depth;
  if (!entries.ok()) return entries;
  return SeenFrom(called, *std::move(entries), options_.indexing.fold_runtime_variables);
}

const CalledComputations::Users& CalledComputations::UsersOf(const HloComputation& computation) {
  std::unique_ptr<Users>& users = users_[&computation];
  if (!users) {
    users = std::make_unique<Users>(computation.instruction_count());
    for (const HloInstruction* instruction : computation.instructions()) {
      for (int64_t i = 0; i < instruction->operand_count(); ++i) {
        (*users)[instruction->operand(i)->index_in_computation()].push_back({instruction, i});
      }
    }
  }
  return *users;
}

}  // namespace xla_indexing
