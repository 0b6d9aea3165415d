#include "xla_indexing/fusion/called_computations.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/fusion/path.h"
#include "xla_indexing/fusion/walker.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/hlo/shape.h"
#include "xla_indexing/ops/call_scope.h"
#include "xla_indexing/ops/loop_memo.h"
#include "xla_indexing/ops/operand_indexing_set.h"
#include "xla_indexing/ops/other_devices.h"

namespace xla_indexing {
namespace {

constexpr int kMaxMapsOfLoopBodies = 16;
constexpr int64_t kShareOfCalled = 8;

// How many leaves walks may start from.
int64_t LeafCount(const HloComputation& computation, Direction direction) {
  if (direction == Direction::kOutputToInput) {
    return std::max<int64_t>(computation.root_instruction()->shape().LeafCount(), 1);
  }
  int64_t count = 0;
  for (const HloInstruction* parameter : computation.parameters()) {
    count += parameter->shape().LeafCount();
  }
  return std::max<int64_t>(count, 1);
}

// `end` is the shape of the leaf that the paths have led to.
OperandIndexingSet MapsOf(const PathSet& paths, const Shape& end) {
  OperandIndexingSet set;
  for (const Path& path : paths.paths()) set.Add(path.Map(end));
  set.Simplify();
  return set;
}

void AddEntry(const IndexingEntry& place, const PathSet& paths, const Shape& end,
              InstructionIndexing* entries) {
  OperandIndexingSet set = MapsOf(paths, end);
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

CalledComputations::~CalledComputations() = default;

const FusionOptions& CalledComputations::OptionsFor(const HloComputation& computation) const {
  return loop_bodies_.contains(&computation) ? loop_options_ : options_;
}

bool CalledComputations::HasBudget() const {
  return called_instructions_ < options_.max_called_instructions;
}

IndexingOptions CalledComputations::OptionsAt(int depth) {
  IndexingOptions options = options_.indexing;
  if (depth < options_.max_call_depth && HasBudget()) {
    depth_ = depth;
    options.computations = this;
  } else if (options_.max_call_depth > 0 && depth >= options_.max_call_depth) {
    options.why_no_computations =
        absl::StrCat("calls nest more than ", options_.max_call_depth, " deep");
  } else if (options_.max_call_depth > 0) {
    options.why_no_computations =
        absl::StrCat("called computations have more than ", options_.max_called_instructions,
                     " instructions, each counted as often as it is called");
  }
  return options;
}

absl::StatusOr<Walked> CalledComputations::Walk(const HloComputation& computation,
                                                Direction direction, OperandLeaf from,
                                                const Shape& array, int depth, int64_t max_steps) {
  Walker walker(context_, OptionsFor(computation), direction, array, DevicesOf(computation),
                max_steps, this);
  Frame frame;
  frame.depth = depth;
  Walker::NumberedPaths start;
  Walker::NumberedPaths end;
  start[from.operand][from.operand_leaf].Add(Path(IdentityIndexing(array, context_), array));
  absl::Status status = walker.WalkComputation(computation, frame, start, &end);
  if (!status.ok()) return status;
  Walked walked;
  walked.steps = walker.steps();
  walked.is_whole = !walker.was_stopped();
  const bool backward = direction == Direction::kOutputToInput;
  for (const auto& [number, leaves] : end) {
    const Shape& shape =
        backward ? computation.parameter(number)->shape() : computation.root_instruction()->shape();
    for (const auto& [leaf, paths] : leaves) {
      const IndexingEntry place = backward
                                      ? IndexingEntry{from.operand_leaf, number, leaf, {}}
                                      : IndexingEntry{leaf, from.operand, from.operand_leaf, {}};
      AddEntry(place, paths, shape.Leaf(leaf), &walked.entries);
    }
  }
  SortEntries(&walked.entries);
  return walked;
}

absl::StatusOr<Walked> CalledComputations::OutputToInput(const HloComputation& computation,
                                                         int64_t output_leaf, int depth,
                                                         int64_t max_steps) {
  const HloInstruction* root = computation.root_instruction();
  if (root == nullptr || !root->shape().Leaf(output_leaf).IsArray()) return Walked();
  return Walk(computation, Direction::kOutputToInput, {0, output_leaf},
              root->shape().Leaf(output_leaf), depth, max_steps);
}

absl::StatusOr<std::vector<InstructionReads>> CalledComputations::OutputToInstructions(
    const HloComputation& computation, int64_t output_leaf, int64_t max_steps) {
  const Shape& array = computation.root_instruction()->shape().Leaf(output_leaf);
  Walker walker(context_, options_, Direction::kOutputToInput, array, DevicesOf(computation),
                max_steps, this);
  std::vector<InstructionReads> reads;
  walker.VisitWith([&](const HloInstruction& instruction, const Walker::LeafPaths& leaves) {
    for (const auto& [leaf, paths] : leaves) {
      const Shape& shape = instruction.shape().Leaf(leaf);
      if (!shape.IsArray()) continue;
      OperandIndexingSet maps = MapsOf(paths, shape);
      if (!maps.empty()) reads.push_back({&instruction, leaf, std::move(maps)});
    }
  });
  Walker::NumberedPaths start;
  Walker::NumberedPaths end;
  start[0][output_leaf].Add(Path(IdentityIndexing(array, context_), array));
  const absl::Status status = walker.WalkComputation(computation, Frame(), start, &end);
  if (!status.ok()) return status;
  if (walker.was_stopped()) {
    return absl::ResourceExhaustedError(absl::StrCat("computation ", computation.name(),
                                                     ": it takes more than ", max_steps,
                                                     " steps to compose the maps"));
  }
  return reads;
}

absl::StatusOr<Walked> CalledComputations::InputToOutput(const HloComputation& computation,
                                                         OperandLeaf parameter_leaf, int depth,
                                                         int64_t max_steps) {
  const Shape& array =
      computation.parameter(parameter_leaf.operand)->shape().Leaf(parameter_leaf.operand_leaf);
  if (!array.IsArray()) return Walked();
  return Walk(computation, Direction::kInputToOutput, parameter_leaf, array, depth, max_steps);
}

template <typename WalkFrom>
absl::StatusOr<InstructionIndexing> CalledComputations::Seen(const CalledComputation& called,
                                                             Direction direction, OperandLeaf from,
                                                             WalkFrom walk) {
  const HloComputation& computation = called.computation;
  if (called.caller.opcode() == HloOpcode::kWhile) loop_bodies_.insert(&computation);
  const int depth = depth_;
  const Key key(&computation, direction, from.operand, from.operand_leaf, depth);
  auto known = known_.find(key);
  if (known == known_.end()) {
    absl::StatusOr<Walked> walked =
        walk(depth + 1, options_.max_steps / kShareOfCalled / LeafCount(computation, direction));
    depth_ = depth;
    if (!walked.ok()) return walked.status();
    known = known_.emplace(key, std::move(walked->entries)).first;
  }
  return SeenFrom(called, known->second, options_.indexing.fold_runtime_variables);
}

absl::StatusOr<InstructionIndexing> CalledComputations::OutputToInput(
    const CalledComputation& called, int64_t output_leaf) {
  return Seen(called, Direction::kOutputToInput, {0, output_leaf},
              [&](int depth, int64_t max_steps) {
                return OutputToInput(called.computation, output_leaf, depth, max_steps);
              });
}

absl::StatusOr<InstructionIndexing> CalledComputations::InputToOutput(
    const CalledComputation& called, OperandLeaf parameter_leaf) {
  return Seen(called, Direction::kInputToOutput, parameter_leaf, [&](int depth, int64_t max_steps) {
    return InputToOutput(called.computation, parameter_leaf, depth, max_steps);
  });
}

std::vector<OperandLeaf> CalledComputations::LeavesRead(const HloComputation& computation,
                                                        int64_t output_leaf) {
  return ReachabilityOf(computation, Direction::kOutputToInput)
      .Of(*computation.root_instruction(), output_leaf);
}

std::vector<OperandLeaf> CalledComputations::LeavesReached(const HloComputation& computation,
                                                           OperandLeaf parameter_leaf) {
  return ReachabilityOf(computation, Direction::kInputToOutput)
      .Of(*computation.parameter(parameter_leaf.operand), parameter_leaf.operand_leaf);
}

LoopMemo& CalledComputations::MemoOf(const HloInstruction& loop, bool forward) {
  std::unique_ptr<LoopMemo>& memo = loops_[{&loop, forward, depth_}];
  if (!memo) memo = std::make_unique<LoopMemo>();
  return *memo;
}

absl::StatusOr<InstructionIndexing> CalledComputations::EntriesOf(const HloInstruction& instruction,
                                                                  Direction direction,
                                                                  OperandLeaf from, int depth) {
  const bool calls = !instruction.called_computations().empty();
  const InstructionKey key(&instruction, direction, from.operand, from.operand_leaf, depth);
  if (calls) {
    if (const auto known = known_callers_.find(key); known != known_callers_.end()) {
      return known->second;
    }
  }
  const IndexingOptions options = OptionsAt(depth);
  absl::StatusOr<InstructionIndexing> entries =
      direction == Direction::kOutputToInput
          ? ComputeOutputToInputIndexing(instruction, from.operand_leaf, context_, options)
          : ComputeInputToOutputIndexing(instruction, from.operand, from.operand_leaf, context_,
                                         options);
  // Not what was said for want of a budget that the next walk has again.
  if (calls && entries.ok() && options.computations != nullptr) {
    known_callers_.emplace(key, *entries);
  }
  return entries;
}

Interval CalledComputations::DevicesOf(const HloComputation& computation) {
  const auto [place, is_new] = devices_.try_emplace(&computation, Interval::Empty());
  if (is_new) {
    if (const auto count = DevicesAcrossWhich(computation)) {
      place->second = Interval::OfSize(*count);
    }
  }
  return place->second;
}

const Reachability& CalledComputations::ReachabilityOf(const HloComputation& computation,
                                                       Direction direction) {
  std::unique_ptr<Reachability>& known = reachability_[{&computation, direction}];
  if (!known) known = std::make_unique<Reachability>(computation, direction);
  return *known;
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
