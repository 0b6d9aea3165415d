#include "xla_indexing/fusion/cache/called_computations.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/chain/path.h"
#include "xla_indexing/fusion/walk/traversal.h"
#include "xla_indexing/fusion/walk/whole_reads.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/answers/remembered_maps.h"
#include "xla_indexing/ops/decisions/dependence.h"
#include "xla_indexing/ops/instruction_indexing.h"
#include "xla_indexing/ops/loops/body/loop_memo.h"
#include "xla_indexing/ops/rules/frame/other_devices.h"
#include "xla_indexing/ops/unions/whole_sets.h"
#include "xla_indexing/ops/values/call_scope.h"

namespace xla_indexing::internal {
namespace {

constexpr int kMaxMapsOfLoopBodies = 16;
// Maps are remembered in walks over computations whose instructions have so many leaves, each at least one.
constexpr int64_t kManyLeaves = 128;
// Walks from more leaves of one computation than these share fewer steps.
constexpr int64_t kManyLeavesOfCalled = 128;
// Walks over the body of a loop share the steps as those from so many leaves do, if there are more:
// most of many leaves are passed through, and the first walk that is stopped is the last one.
constexpr int64_t kManyLeavesOfLoop = 8;

// The maps of one leaf among more than these are found sooner than those of all.
constexpr int64_t kFewLeaves = 4;

// A walk from all elements of leaves takes so small a part of the steps.
constexpr int64_t kWalksFromWholeLeaves = 16;

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

// The entries as the caller sees them.
InstructionIndexing SeenFrom(const CalledComputation& called, InstructionIndexing entries,
                             const ValueEnvironment* loops, ValueOrigins* origins) {
  for (IndexingEntry& entry : entries) {
    entry.indexing = SeenFromCaller(entry.indexing, called, loops);
    if (origins != nullptr) DecidePredicates(*origins, &entry.indexing);
    entry.indexing.Simplify();
  }
  std::erase_if(entries, [](const IndexingEntry& entry) { return entry.indexing.empty(); });
  return entries;
}

bool HasManyLeaves(const HloComputation& computation) {
  int64_t leaves = 0;
  for (const HloInstruction* instruction : computation.instructions()) {
    leaves += std::max<int64_t>(instruction->shape().LeafCount(), 1);
    if (leaves >= kManyLeaves) return true;
  }
  return false;
}

}  // namespace

CalledComputations::CalledComputations(mlir::MLIRContext* context, const FusionOptions& options)
    : context_(context),
      options_(options),
      loop_options_(options),
      tightest_(options.indexing.exact),
      passed_values_(context),
      call_trees_(options),
      origins_(options.indexing.dependence, known_scalars_) {
  loop_options_.max_maps = std::min(options.max_maps, kMaxMapsOfLoopBodies);
}

CalledComputations::~CalledComputations() = default;

struct CalledComputations::OpenTables {
  explicit OpenTables(CalledComputations* called)
      : forms(&called->forms_), compositions(&called->compositions_) {}

  const RememberedForms::Open forms;
  const RememberedCompositions::Open compositions;
};

int64_t CalledComputations::BeginQuestion() {
  const int64_t left = QuestionBudget::Left();
  const int64_t number = QuestionBudget::Number();
  if (cut_by_ != 0 && (cut_by_ != number || !QuestionBudget::IsSpent())) Forget();
  if (number != budget_) {
    budget_ = number;
    steps_before_ = steps_;
    if (steps_before_ > left / 2) Forget();
  }
  return left;
}

bool CalledComputations::MayBeCutWithoutKept(int64_t left) {
  if (steps_before_ == 0 || QuestionBudget::Left() >= steps_before_) return false;
  QuestionBudget::RefundTo(left);
  Forget();
  return true;
}

void CalledComputations::EndQuestion(int64_t left) {
  steps_ += left - QuestionBudget::Left();
  if (QuestionBudget::IsSpent()) cut_by_ = QuestionBudget::Number();
  if (kept_maps_ > kMaxKept) Forget();
}

void CalledComputations::Forget() {
  answers_.clear();
  kept_maps_ = 0;
  passed_values_.Forget();
  are_reads_decided_.clear();
  origins_.ForgetArrays();
  loops_.clear();
  kinds_.Forget();
  forms_.Forget();
  compositions_.Forget();
  steps_ = 0;
  steps_before_ = 0;
  cut_by_ = 0;
}

absl::StatusOr<SharedIndexing> CalledComputations::FindOrMake(const Question& question,
                                                              MakeEntries make) {
  if (const auto known = answers_.find(question); known != answers_.end()) return known->second;
  absl::StatusOr<InstructionIndexing> made = make();
  if (!made.ok()) return made.status();
  auto entries = std::make_shared<const InstructionIndexing>(*std::move(made));
  ++kept_maps_;
  for (const IndexingEntry& entry : *entries) kept_maps_ += entry.indexing.size();
  answers_.insert_or_assign(question, entries);
  return entries;
}

IndexingOptions CalledComputations::OptionsAt(int depth) {
  IndexingOptions options = options_.indexing;
  options.origins = &origins_;
  options.exact = options.exact || tightest_;
  if (depth < options_.max_call_depth) {
    depth_ = depth;
    options.computations = this;
  } else if (options_.max_call_depth > 0) {
    options.why_no_computations =
        absl::StrCat("calls nest more than ", options_.max_call_depth, " deep");
  }
  return options;
}

absl::StatusOr<TraversalResult> CalledComputations::WalkFrom(const HloComputation& computation,
                                                             const FusionOptions& options,
                                                             Direction direction, OperandLeaf from,
                                                             int depth, int64_t max_steps) {
  const bool backward = direction == Direction::kOutputToInput;
  const HloInstruction* first =
      backward ? computation.root_instruction() : computation.parameter(from.operand);
  if (first == nullptr || !first->shape().Leaf(from.operand_leaf).IsArray())
    return TraversalResult();
  const Shape& array = first->shape().Leaf(from.operand_leaf);
  Traversal::NumberedPaths start;
  start[from.operand][from.operand_leaf].Add(Path(array, context_));
  return Walk(
      {computation, direction, array, from, depth, max_steps}, options,
      [&](Traversal& traversal, const CallFrame& frame, Traversal::NumberedPaths* end) {
        return traversal.WalkComputation(computation, frame, start, end);
      },
      [&](Traversal& traversal, const CallFrame& frame, Traversal::NumberedPaths* end) {
        return traversal.WalkByJoints(computation, frame, start, end);
      });
}

absl::StatusOr<TraversalResult> CalledComputations::WalkToEach(const HloComputation& computation,
                                                               int64_t leaf) {
  const Shape& array = computation.root_instruction()->shape().Leaf(leaf);
  Traversal::NumberedPaths start;
  start[0][leaf].Add(Path(array, context_));
  return Walk({computation,
               Direction::kOutputToInput,
               array,
               {0, leaf},
               /*depth=*/0,
               options_.max_steps,
               /*is_to_each=*/true},
              options_,
              [&](Traversal& traversal, const CallFrame& frame, Traversal::NumberedPaths* end) {
                return traversal.WalkToEach(computation, frame, start, end);
              });
}

absl::StatusOr<TraversalResult> CalledComputations::Walk(const WalkStart& start,
                                                         const FusionOptions& options,
                                                         WalkTo walk_to, WalkTo walk_by_joints) {
  std::optional<OpenTables> open;
  if (HasManyLeaves(start.computation)) open.emplace(this);
  return FindByWalk(start, options, this, context_, walk_to, walk_by_joints);
}

int64_t CalledComputations::StepsOfWalk(const HloComputation& computation, Direction direction,
                                        bool is_of_loop) const {
  const int64_t leaves = LeafCount(computation, direction);
  if (is_of_loop) return options_.max_steps / std::min(leaves, kManyLeavesOfLoop);
  return options_.max_steps / leaves * std::min(leaves, kManyLeavesOfCalled) / leaves;
}

absl::StatusOr<InstructionIndexing> CalledComputations::Seen(const CalledComputation& called,
                                                             Direction direction,
                                                             OperandLeaf from) {
  const HloComputation& computation = called.computation;
  const bool is_of_loop = called.caller.opcode() == HloOpcode::kWhile;
  const int depth = depth_;
  const Question question = {.subject = &computation,
                             .direction = direction,
                             .from = from,
                             .levels_left = call_trees_.LevelsLeft(depth + 1, computation),
                             .is_called = true,
                             .is_of_loop = is_of_loop,
                             .tightest = tightest_ || called.tightest};
  const absl::StatusOr<SharedIndexing> entries =
      FindOrMake(question, [&]() -> absl::StatusOr<InstructionIndexing> {
        const bool tightest = std::exchange(tightest_, tightest_ || called.tightest);
        const int64_t max_steps = StepsOfWalk(computation, direction, is_of_loop);
        absl::StatusOr<TraversalResult> walked =
            WalkFrom(computation, is_of_loop ? loop_options_ : options_, direction, from, depth + 1,
                     max_steps);
        depth_ = depth;
        tightest_ = tightest;
        if (!walked.ok()) return walked.status();
        return std::move(walked->entries);
      });
  if (!entries.ok()) return entries.status();
  return SeenFrom(called, **entries,
                  options_.indexing.fold_runtime_variables ? &known_loops_ : nullptr, Origins());
}

absl::StatusOr<InstructionIndexing> CalledComputations::OutputToInput(
    const CalledComputation& called, int64_t output_leaf) {
  return Seen(called, Direction::kOutputToInput, {0, output_leaf});
}

absl::StatusOr<InstructionIndexing> CalledComputations::InputToOutput(
    const CalledComputation& called, OperandLeaf parameter_leaf) {
  return Seen(called, Direction::kInputToOutput, parameter_leaf);
}

absl::StatusOr<std::vector<OperandLeaf>> CalledComputations::LeavesReadWholly(
    const HloComputation& computation, absl::Span<const int64_t> output_leaves,
    llvm::function_ref<bool(OperandLeaf)> is_wanted) {
  const int depth = depth_;
  const bool tightest = std::exchange(tightest_, true);
  absl::StatusOr<std::vector<OperandLeaf>> leaves =
      FindReadWholly(computation, output_leaves, is_wanted, depth + 1);
  depth_ = depth;
  tightest_ = tightest;
  return leaves;
}

absl::StatusOr<std::vector<OperandLeaf>> CalledComputations::FindReadWholly(
    const HloComputation& computation, absl::Span<const int64_t> output_leaves,
    llvm::function_ref<bool(OperandLeaf)> is_wanted, int depth) {
  WholeReads reads(computation, *this, context_);
  absl::Status status = reads.Find(output_leaves, depth);
  if (!status.ok()) return status;
  std::vector<OperandLeaf> leaves;
  std::vector<OperandLeaf> rest;
  for (const OperandLeaf& leaf : UnreadOperandLeaves(computation.parameters(), {})) {
    if (!is_wanted(leaf)) continue;
    const bool is_whole = reads.IsWhole(*computation.parameter(leaf.operand), leaf.operand_leaf);
    (is_whole ? leaves : rest).push_back(leaf);
  }
  if (rest.empty()) return leaves;
  const WholeReads::Rest paths = reads.RestTo(rest);
  if (paths.start.empty()) return leaves;
  const Shape scalar = Shape::Scalar(ElementType::kPred);
  const absl::StatusOr<TraversalResult> walked = Walk(
      {computation,
       Direction::kOutputToInput,
       scalar,
       {0, 0},
       depth,
       options_.max_steps / kWalksFromWholeLeaves},
      options_, [&](Traversal& traversal, const CallFrame& frame, Traversal::NumberedPaths* end) {
        return traversal.WalkOn(computation, frame, paths.start, paths.left_out, end);
      });
  if (!walked.ok()) return walked.status();
  WholeSets sets(context_);
  for (const IndexingEntry& entry : walked->entries) {
    const OperandLeaf leaf{entry.operand, entry.operand_leaf};
    const Shape& array = computation.parameter(leaf.operand)->shape().Leaf(leaf.operand_leaf);
    if (absl::c_linear_search(rest, leaf) && sets.IsWhole(entry.indexing, array)) {
      leaves.push_back(leaf);
    }
  }
  return leaves;
}

absl::StatusOr<SharedIndexing> CalledComputations::ReadByAllOf(const HloInstruction& instruction,
                                                               int64_t leaf, int depth) {
  const Shape scalar = Shape::Scalar(ElementType::kPred);
  const auto from_all = [&](const InstructionIndexing& entries) {
    InstructionIndexing read;
    for (const IndexingEntry& entry : entries) {
      const Shape& array = instruction.shape().Leaf(entry.output_leaf);
      const OperandIndexingSet all(EveryElement(scalar, array, ExactnessLabel::Exact(), context_));
      OperandIndexingSet set = ComposeOrWiden(
          all, entry.indexing, scalar,
          instruction.operand(entry.operand)->shape().Leaf(entry.operand_leaf), context_);
      set.Simplify();
      if (set.empty()) continue;
      read.push_back({entry.output_leaf, entry.operand, entry.operand_leaf, std::move(set)});
    }
    return read;
  };
  if (HasKind(instruction.opcode()) && instruction.shape().LeafCount() <= kFewLeaves &&
      !MayDecideReads(instruction)) {
    const bool exact = options_.indexing.exact || tightest_;
    return EntriesOfKind(
        instruction,
        {.direction = Direction::kOutputToInput, .exact = exact, .from_all_elements = true},
        [&]() -> absl::StatusOr<InstructionIndexing> {
          const absl::StatusOr<SharedIndexing> entries =
              EntriesOfKind(instruction, {.direction = Direction::kOutputToInput, .exact = exact});
          if (!entries.ok()) return entries.status();
          return from_all(**entries);
        });
  }
  absl::StatusOr<InstructionIndexing> entries =
      EntriesOf(instruction, Direction::kOutputToInput, {0, leaf}, depth);
  if (!entries.ok()) return entries.status();
  return std::make_shared<const InstructionIndexing>(from_all(*entries));
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

LoopMemo& CalledComputations::MemoOf(const HloInstruction& loop, Direction direction) {
  std::unique_ptr<LoopMemo>& memo =
      loops_[{&loop, direction, call_trees_.LevelsLeft(depth_, loop), tightest_}];
  if (!memo) memo = std::make_unique<LoopMemo>();
  return *memo;
}

namespace {

// Whether there is such a leaf to start from.
bool HasLeaf(const HloInstruction& instruction, Direction direction, OperandLeaf from) {
  const bool backward = direction == Direction::kOutputToInput;
  if (from.operand < 0 || from.operand_leaf < 0) return false;
  if (from.operand >= (backward ? 1 : instruction.operand_count())) return false;
  const Shape& shape = backward ? instruction.shape() : instruction.operand(from.operand)->shape();
  return from.operand_leaf < shape.LeafCount();
}

// The entries that start at a leaf.
InstructionIndexing StartingAt(const InstructionIndexing& entries, Direction direction,
                               OperandLeaf from) {
  InstructionIndexing starting;
  for (const IndexingEntry& entry : entries) {
    const OperandLeaf start = direction == Direction::kOutputToInput
                                  ? OperandLeaf{0, entry.output_leaf}
                                  : OperandLeaf{entry.operand, entry.operand_leaf};
    if (start == from) starting.push_back(entry);
  }
  return starting;
}

}  // namespace

bool CalledComputations::MayDecideReads(const HloInstruction& instruction) {
  if (!origins_.MayDecideReads(instruction)) return false;
  if (const auto known = are_reads_decided_.find(&instruction); known != are_reads_decided_.end()) {
    return known->second;
  }
  const bool are_decided =
      AreReadsDecided(instruction, options_.indexing.scatter_bounds, origins_, context_);
  if (!QuestionBudget::IsSpent()) are_reads_decided_.emplace(&instruction, are_decided);
  return are_decided;
}

absl::StatusOr<SharedIndexing> CalledComputations::EntriesOfKind(const HloInstruction& instruction,
                                                                 const KnownKinds::Form& form,
                                                                 MakeEntries make) {
  InstructionKind kind = MayDecideReads(instruction) ? InstructionKind() : KindOf(instruction);
  const bool is_own = kind.empty();
  if (is_own) kind = OwnKind(instruction);
  return kinds_.Find(std::move(kind), form, make, [&](const InstructionIndexing& entries) {
    return is_own || AreOfKind(instruction, entries);
  });
}

absl::StatusOr<SharedIndexing> CalledComputations::EntriesOfKind(const HloInstruction& instruction,
                                                                 const KnownKinds::Form& form) {
  return EntriesOfKind(instruction, form, [&] {
    IndexingOptions options = options_.indexing;
    options.origins = &origins_;
    options.exact = form.exact;
    return ComputeIndexing(instruction, form.direction, context_, options, /*from=*/std::nullopt,
                           form.simplified ? OneValued::kValues : OneValued::kVariables);
  });
}

absl::StatusOr<InstructionIndexing> CalledComputations::EntriesOf(const HloInstruction& instruction,
                                                                  Direction direction,
                                                                  OperandLeaf from, int depth) {
  if (HasKind(instruction.opcode()) && HasLeaf(instruction, direction, from) &&
      instruction.shape().LeafCount() <= kFewLeaves && instruction.operand_count() <= kFewLeaves) {
    const absl::StatusOr<SharedIndexing> all =
        EntriesOfKind(instruction, {direction, options_.indexing.exact || tightest_});
    if (!all.ok()) return all.status();
    return StartingAt(**all, direction, from);
  }
  if (instruction.called_computations().empty()) {
    return ComputeIndexing(instruction, direction, context_, OptionsAt(depth), from);
  }
  const Question question = {.subject = &instruction,
                             .direction = direction,
                             .from = from,
                             .levels_left = call_trees_.LevelsLeft(depth, instruction),
                             .tightest = tightest_};
  const bool is_loop =
      instruction.opcode() == HloOpcode::kWhile || instruction.opcode() == HloOpcode::kScan;
  const absl::StatusOr<SharedIndexing> entries = FindOrMake(question, [&] {
    std::optional<OpenTables> open;
    if (is_loop) open.emplace(this);
    return ComputeIndexing(instruction, direction, context_, OptionsAt(depth), from);
  });
  if (!entries.ok()) return entries.status();
  return **entries;
}

absl::StatusOr<SharedIndexing> CalledComputations::EntriesOf(const HloComputation& computation,
                                                             Direction direction,
                                                             std::optional<OperandLeaf> from,
                                                             MakeEntries make) {
  return Ask([&]() -> absl::StatusOr<SharedIndexing> {
    // Who asks once does not pay for what is shared.
    if (!std::exchange(was_asked_, true) && steps_ == 0) {
      absl::StatusOr<InstructionIndexing> made = make();
      if (!made.ok()) return made.status();
      return std::make_shared<const InstructionIndexing>(*std::move(made));
    }
    return FindOrMake(
        {.subject = &computation, .direction = direction, .from = from, .tightest = tightest_},
        make);
  });
}

absl::StatusOr<SharedIndexing> CalledComputations::EntriesOf(const HloInstruction& instruction,
                                                             Direction direction, bool simplified) {
  return Ask([&] { return AllEntriesOf(instruction, direction, simplified); });
}

absl::StatusOr<SharedIndexing> CalledComputations::AllEntriesOf(const HloInstruction& instruction,
                                                                Direction direction,
                                                                bool simplified) {
  if (!AreNeededFor(instruction)) {
    return EntriesOfKind(instruction, {direction, options_.indexing.exact, simplified});
  }
  const bool backward = direction == Direction::kOutputToInput;
  std::vector<OperandLeaf> leaves;
  if (backward) {
    const int64_t leaf_count = instruction.shape().LeafCount();
    for (int64_t leaf = 0; leaf < leaf_count; ++leaf) leaves.push_back({0, leaf});
  } else {
    leaves = UnreadOperandLeaves(instruction.operands(), {});
  }
  InstructionIndexing entries;
  for (const OperandLeaf& leaf : leaves) {
    absl::StatusOr<InstructionIndexing> of_leaf =
        EntriesOf(instruction, direction, leaf, /*depth=*/0);
    if (!of_leaf.ok()) return of_leaf.status();
    absl::c_move(*of_leaf, std::back_inserter(entries));
  }
  if (!backward) SortEntries(&entries);
  if (simplified) Simplify(&entries);
  return std::make_shared<const InstructionIndexing>(std::move(entries));
}

Interval CalledComputations::DevicesOf(const HloComputation& computation) {
  const auto [it, is_new] = devices_.try_emplace(&computation, Interval::Empty());
  if (is_new) {
    if (const auto count = DevicesAcrossWhich(computation)) {
      it->second = Interval::OfSize(*count);
    }
  }
  return it->second;
}

const Reachability& CalledComputations::ReachabilityOf(const HloComputation& computation,
                                                       Direction direction) {
  std::unique_ptr<Reachability>& known = reachability_[{&computation, direction}];
  if (!known) known = std::make_unique<Reachability>(computation, direction);
  return *known;
}

}  // namespace xla_indexing::internal
