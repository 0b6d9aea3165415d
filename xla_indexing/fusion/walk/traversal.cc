#include "xla_indexing/fusion/walk/traversal.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/chain/reindexing.h"
#include "xla_indexing/fusion/walk/joints.h"
#include "xla_indexing/fusion/walk/reachability.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/decisions/dependence.h"
#include "xla_indexing/ops/rules/frame/computation_indexer.h"
#include "xla_indexing/ops/unions/few_maps.h"
#include "xla_indexing/ops/values/call_scope.h"

namespace xla_indexing::internal {
namespace {

// When a leaf has more paths than this, those that other paths cover are left out.
constexpr size_t kMergePast = 8;

// A walk takes so many of its steps in the time of one of the question's (base/question_budget.h).
constexpr int64_t kStepsInOneOfQuestion = 2;
// When one of more paths than this leads to every element, those that it covers are left out.
constexpr size_t kFewBesideEvery = 4;

// A leaf has many paths when it has more than this.
constexpr size_t kManyPaths = 64;

// So many times as many steps as when it was last asked whether there is an answer, it is asked again.
constexpr int64_t kStepsToAskAgain = 4;

// A joint that leads to more maps than this somewhere is none that a walk by joints gains from.
constexpr size_t kFewMapsOfJoint = 4;

// A map whose normal form takes more steps than this is simplified at once.
constexpr size_t kFewSteps = 16;

// Whether the map renames nothing: (d0, d1, ..) -> (d0, d1, ..) over all elements of both shapes,
// on the same device.
bool KeepsElements(const OperandIndexingSet& set, const Shape& from, const Shape& to) {
  if (set.size() != 1 || from.dimensions() != to.dimensions()) return false;
  const OperandIndexing& indexing = set.maps().front();
  const IndexingMap& map = indexing.map();
  if (!indexing.IsExact() || indexing.replica_map() != nullptr || map.num_symbols() > 0 ||
      !map.constraints().empty() || !map.affine_map().isIdentity()) {
    return false;
  }
  for (int i = 0; i < map.num_dims(); ++i) {
    if (!(map.dims()[i].bounds == Interval::OfSize(from.dimension(i)))) return false;
  }
  return true;
}

void AddAll(const LeafPaths& from, LeafPaths& to) {
  for (const auto& [leaf, set] : from) to[leaf].Add(set);
}

// Whether an instruction leads from every element of one side to every element of the other, exactly,
// whatever the program computes. Not where one of them has no elements.
bool KeepsEveryElement(const HloInstruction& instruction, int64_t operand, Direction direction) {
  if (!instruction.shape().HasElements()) return false;
  if (!instruction.operand(operand)->shape().HasElements()) return false;
  const bool backward = direction == Direction::kOutputToInput;
  switch (instruction.opcode()) {
    case HloOpcode::kDot:
      return operand <= 1;
    case HloOpcode::kConcatenate:
      return backward;
    case HloOpcode::kSlice:
      return !backward;
    case HloOpcode::kReshape:
    case HloOpcode::kTranspose:
    case HloOpcode::kReverse:
    case HloOpcode::kBroadcast:
    case HloOpcode::kReduce:
      return IsReindexing(instruction, operand);
    default:
      return IsElementwise(instruction.opcode()) && IsReindexing(instruction, operand);
  }
}

// Ascends as a walk from output to input goes on.
int64_t NumberOfEach(const HloInstruction& instruction) {
  const auto count = static_cast<int64_t>(instruction.parent()->instructions().size());
  return count - 1 - instruction.index_in_computation();
}

}  // namespace

Traversal::Traversal(mlir::MLIRContext* context, const FusionOptions& options,
                     const HloComputation& computation, Direction direction, const Shape& start,
                     int64_t max_steps, TraversalSource* source)
    : context_(context),
      options_(options),
      computation_(computation),
      direction_(direction),
      start_shape_(start),
      budget_(max_steps, kStepsInOneOfQuestion),
      source_(*source) {}

bool Traversal::LooksInto(const HloInstruction& instruction, const CallFrame& frame) const {
  const HloComputation* computation = instruction.inlined_computation();
  return computation != nullptr && frame.depth < options_.max_call_depth &&
         source_.IsTraversedWhereCalled(*computation);
}

OperandIndexingSet Traversal::SeenFromOutside(const OperandIndexingSet& set,
                                              const CallFrame& frame) const {
  OperandIndexingSet seen = set;
  for (const CallFrame* f = &frame; f->caller != nullptr; f = f->outer) {
    seen = SeenFromCaller(seen, {*f->caller, *f->caller->inlined_computation()},
                          options_.indexing.fold_runtime_variables ? &source_.Loops() : nullptr);
    if (ValueOrigins* origins = source_.Origins()) DecidePredicates(*origins, &seen);
  }
  return seen;
}

void Traversal::Apply(const IndexingEntry& entry, const Shape& from, const Shape& to,
                      const CallFrame& frame, const PathSet& paths, PathSet* end) {
  if (KeepsElements(entry.indexing, from, to)) {
    Take(paths.paths().size());
    TakeEvery(paths.every_element());
    end->Add(paths);
    return;
  }
  Take(paths.size() * entry.indexing.size());
  const OperandIndexingSet steps = SeenFromOutside(entry.indexing, frame);
  const PathSet written = Written(paths, from);
  for (const Path& path : written.paths()) {
    if (was_stopped()) {
      const Path& whole = WholePath(to);
      if (end->paths().empty() || !whole.HasSameOrigin(end->paths().back())) end->Add(whole);
      return;
    }
    const OperandIndexing first = path.Map(from);
    if (first.IsKnownEmpty()) continue;
    for (const OperandIndexing& step : steps) {
      absl::StatusOr<OperandIndexing> composed = ComposeOperandIndexing(first, step);
      if (!composed.ok()) {
        if (is_by_joints_) was_given_up_ = true;
        composed =
            OnDevicesOf(first, step,
                        WholeTensorIndexing(
                            start_shape_, to,
                            absl::StrCat("whole tensor: ", composed.status().message()), context_));
      }
      const size_t steps_to_simplify = StepsToSimplify(composed->map());
      Take(steps_to_simplify);
      // A normal form may have no replica map where what it is made of has one, and what takes long
      // is better done while there are steps left.
      if (composed->replica_map() != nullptr || steps_to_simplify > kFewSteps) composed->Simplify();
      if (composed->IsKnownEmpty()) continue;
      if (const PathSet::Conditions conditions = LeadsToEvery(*composed, to)) {
        end->AddEveryElement(conditions);
        continue;
      }
      end->Add(Path::OfNormalForm(*std::move(composed), to));
    }
  }
}

void Traversal::Bound(const HloInstruction& instruction, int64_t leaf, PathSet& paths) {
  const size_t max_maps = options_.max_maps;
  if (paths.size() > std::min(kManyPaths, max_maps) && has_answer_ && steps() >= steps_to_ask_) {
    steps_to_ask_ = kStepsToAskAgain * std::max<int64_t>(steps(), 1);
    was_given_up_ = has_answer_();
    if (was_given_up_) return;
  }
  if (paths.LeadsToEveryElement() && paths.size() > std::min(kFewBesideEvery, max_maps)) {
    paths.DropBesideEveryElement();
    has_left_out_paths_ = true;
  }
  const size_t many = paths.every_element() != 0 ? kFewBesideEvery : kMergePast;
  if (paths.size() <= std::min(many, max_maps)) return;
  const Shape& shape = instruction.shape().Leaf(leaf);
  const size_t before = paths.size();
  const bool has_every = paths.every_element() != 0;
  paths = Written(paths, shape);
  if (paths.size() > max_maps || paths.MaySubsumeOneAnother()) {
    if (paths.Merge(shape, max_maps)) has_united_graphs_ = true;
  }
  if (has_every) paths = Unwritten(paths, shape);
  if (paths.size() < before) has_left_out_paths_ = true;
  if (paths.size() <= max_maps) return;
  if (is_by_joints_) was_given_up_ = true;
  const OperandIndexing whole = WholeTensorIndexing(
      start_shape_, shape,
      absl::StrCat("whole tensor: more than ", options_.max_maps, " maps at ", instruction.name()),
      context_);
  PathSet widened;
  widened.AddEveryElement(paths.every_element());
  AddWhole(whole, shape, paths, &widened);
  paths = std::move(widened);
}

void Traversal::AddWhole(const OperandIndexing& whole, const Shape& shape, const PathSet& paths,
                         PathSet* end) const {
  // Readers are counted separately for paths that stay on their device and for paths to other
  // devices.
  Interval readers = Interval::Empty();
  Interval devices = Interval::Empty();
  bool some_stay = false;
  for (const Path& path : paths.paths()) {
    some_stay = some_stay || !path.ChangesDevice();
    if (!path.ChangesDevice()) continue;
    const OperandIndexing map = path.Map(shape);
    readers = readers.Union(map.replica_map()->readers);
    devices = devices.Union(map.DevicesRead());
  }
  if (some_stay) end->Add(Path(whole, shape));
  if (readers.IsEmpty()) return;
  devices = devices.Intersect(source_.DevicesOf(computation_));
  end->Add(Path(OnAnyDevice(whole, readers, devices), shape));
}

PathSet::Conditions Traversal::LeadsToEvery(OperandIndexing& map, const Shape& to) {
  if (is_by_joints_ || !map.IsExact() || map.replica_map() != nullptr) return 0;
  // Each index is a range variable of its own, on which nothing else depends.
  const auto has_free_ranges = [&] {
    const IndexingMap& relation = map.map();
    llvm::BitVector used(static_cast<unsigned>(relation.num_symbols()));
    for (const Constraint& constraint : relation.constraints()) {
      MarkSymbols(constraint.expr, &used);
    }
    for (const RuntimeVarIndexing& binding : map.bindings()) {
      for (const mlir::AffineExpr index : binding.element) MarkSymbols(index, &used);
    }
    for (const auto [result, size] :
         llvm::zip_equal(relation.affine_map().getResults(), to.dimensions())) {
      if (size == 1) continue;
      const auto range = llvm::dyn_cast<mlir::AffineSymbolExpr>(result);
      if (!range || range.getPosition() >= static_cast<unsigned>(relation.num_ranges()) ||
          used.test(range.getPosition()) ||
          relation.ranges()[range.getPosition()].bounds != IndicesOfAxis(size)) {
        return false;
      }
      used.set(range.getPosition());
    }
    return true;
  };
  if (map.IsUnknown()) return 0;
  const bool are_ranges = llvm::all_of(
      llvm::zip_equal(map.map().affine_map().getResults(), to.dimensions()), [](const auto& index) {
        return std::get<1>(index) == 1 || llvm::isa<mlir::AffineSymbolExpr>(std::get<0>(index));
      });
  if (!are_ranges) return 0;
  if (!map.map().constraints().empty() || !map.bindings().empty()) map.Simplify();
  if (map.IsUnknown() || !map.IsExact() || !has_free_ranges()) return 0;
  const bool has_all_dims = llvm::all_of(
      llvm::zip_equal(map.map().dims(), start_shape_.dimensions()),
      [](const auto& dim) { return std::get<0>(dim).bounds == IndicesOfAxis(std::get<1>(dim)); });
  if (has_all_dims && map.map().constraints().empty() && map.bindings().empty()) {
    return PathSet::kUnconditional;
  }
  const OperandIndexing to_scalar =
      EveryElement(to, Shape::Scalar(ElementType::kPred), ExactnessLabel::Exact(), context_);
  absl::StatusOr<OperandIndexing> condition = ComposeOperandIndexing(map, to_scalar);
  if (!condition.ok()) return 0;
  condition->Simplify();
  if (!condition->IsExact() || condition->IsUnknown()) return 0;
  size_t number = 0;
  while (number < conditions_.size() && !(conditions_[number] == *condition)) ++number;
  if (number + 1 >= PathSet::kMaxConditions) return 0;
  if (number == conditions_.size()) conditions_.push_back(*std::move(condition));
  return PathSet::Conditions{1} << (number + 1);
}

PathSet Traversal::Written(const PathSet& paths, const Shape& shape) const {
  if (paths.every_element() == 0) return paths;
  PathSet written;
  for (const Path& path : paths.paths()) written.Add(path);
  if (paths.LeadsToEveryElement()) {
    written.Add(Path(EveryElement(start_shape_, shape, ExactnessLabel::Exact(), context_), shape));
  }
  const Shape scalar = Shape::Scalar(ElementType::kPred);
  for (size_t i = 0; i < conditions_.size(); ++i) {
    if ((paths.every_element() >> (i + 1) & 1) == 0) continue;
    const OperandIndexingSet maps = ComposeOrWiden(
        OperandIndexingSet(conditions_[i]),
        OperandIndexingSet(EveryElement(scalar, shape, ExactnessLabel::Exact(), context_)),
        start_shape_, shape, context_);
    for (const OperandIndexing& map : maps) written.Add(Path::OfNormalForm(map, shape));
  }
  return written;
}

PathSet Traversal::Unwritten(const PathSet& paths, const Shape& shape) {
  PathSet unwritten;
  for (const Path& path : paths.paths()) {
    OperandIndexing map = path.Map(shape);
    const PathSet::Conditions conditions = LeadsToEvery(map, shape);
    conditions != 0 ? unwritten.AddEveryElement(conditions) : unwritten.Add(path);
  }
  return unwritten;
}

PathSet Traversal::StepEvery(const HloInstruction& instruction, int64_t operand,
                             const PathSet& paths, llvm::function_ref<PathSet&()> end) {
  if (paths.every_element() == 0) return paths;
  if (source_.MayDecideReads(instruction) || !KeepsEveryElement(instruction, operand, direction_)) {
    const Shape& from = direction_ == Direction::kOutputToInput
                            ? instruction.shape()
                            : instruction.operand(operand)->shape();
    return from.IsArray() ? Written(paths, from) : paths;
  }
  TakeEvery(paths.every_element());
  end().AddEveryElement(paths.every_element());
  PathSet rest;
  for (const Path& path : paths.paths()) rest.Add(path);
  return rest;
}

const Path& Traversal::WholePath(const Shape& shape) const {
  const bool is_spent = QuestionBudget::IsSpent();
  std::optional<Path>& known = whole_paths_[{&shape, is_spent}];
  if (known) return *known;
  const std::string why = is_spent ? QuestionBudget::Reason() : std::string(kTooManySteps);
  OperandIndexing whole =
      WholeTensorIndexing(start_shape_, shape, absl::StrCat("whole tensor: ", why), context_);
  const Interval devices = source_.DevicesOf(computation_);
  if (!devices.IsEmpty()) whole = OnAnyDevice(whole, devices, devices);
  known.emplace(std::move(whole), shape);
  return *known;
}

void Traversal::FinishByReachability(const HloComputation& computation, const PendingPaths& pending,
                                     NumberedPaths* end) const {
  const Reachability& reachability = source_.ReachabilityOf(computation, direction_);
  std::set<std::pair<int64_t, int64_t>> reached;
  pending.ForEach([&](int64_t position, const LeafPaths& leaves) {
    for (const auto& [leaf, paths] : leaves) {
      if (paths.empty()) continue;
      for (const OperandLeaf& to : reachability.Of(*computation.instructions()[position], leaf)) {
        reached.insert({to.operand, to.operand_leaf});
      }
    }
  });
  const bool backward = direction_ == Direction::kOutputToInput;
  for (const auto& [number, leaf] : reached) {
    const HloInstruction& last =
        backward ? *computation.parameter(number) : *computation.root_instruction();
    const Shape& shape = last.shape().Leaf(leaf);
    if (!shape.IsArray()) continue;
    (*end)[number][leaf].Add(WholePath(shape));
  }
}

void Traversal::FinishAtEach(const HloComputation& computation, const PendingPaths& pending,
                             NumberedPaths* end) const {
  const auto instructions = computation.instructions();
  llvm::BitVector reached(static_cast<unsigned>(instructions.size()));
  pending.ForEach([&](int64_t position, const LeafPaths& leaves) {
    if (llvm::any_of(leaves, [](const auto& leaf) { return !leaf.second.empty(); })) {
      reached.set(static_cast<unsigned>(position));
    }
  });
  for (size_t i = instructions.size(); i-- > 0;) {
    if (!reached.test(static_cast<unsigned>(i))) continue;
    const HloInstruction& instruction = *instructions[i];
    for (int64_t leaf = 0; leaf < instruction.shape().LeafCount(); ++leaf) {
      (*end)[NumberOfEach(instruction)][leaf].Add(WholePath(instruction.shape().Leaf(leaf)));
    }
    for (const HloInstruction* operand : instruction.operands()) {
      reached.set(static_cast<unsigned>(operand->index_in_computation()));
    }
  }
}

bool Traversal::Reindexes(const HloInstruction& instruction, int64_t operand) {
  return IsReindexing(instruction, operand) && !source_.MayDecideReads(instruction);
}

void Traversal::Reindex(const HloInstruction& instruction, int64_t operand, const PathSet& paths,
                        llvm::function_ref<PathSet&()> end, PathSet* refused) {
  if (paths.empty()) return;
  if (IsElementwise(instruction.opcode())) {
    Take(paths.paths().size());
    TakeEvery(paths.every_element());
    end().Add(paths);
    return;
  }
  const PathSet rest = StepEvery(instruction, operand, paths, end);
  Take(rest.size());
  PathSet moved;
  rest.Extend(instruction, operand, direction_, &moved, refused);
  if (!moved.empty()) end().Add(moved);
}

absl::Status Traversal::StepToOperands(
    const HloInstruction& instruction, const CallFrame& frame, LeafPaths& paths,
    llvm::function_ref<PathSet&(int64_t operand, int64_t leaf)> end) {
  if (LooksInto(instruction, frame)) {
    const CallFrame inner{&frame, &instruction, frame.depth + 1};
    NumberedPaths start;
    NumberedPaths inner_end;
    start[0] = std::move(paths);
    absl::Status status =
        WalkComputation(*instruction.inlined_computation(), inner, start, &inner_end);
    if (!status.ok()) return status;
    for (const auto& [operand, leaves] : inner_end) {
      for (const auto& [leaf, set] : leaves) end(operand, leaf).Add(set);
    }
    return absl::OkStatus();
  }
  for (auto& [leaf, set] : paths) {
    Bound(instruction, leaf, set);
    const Shape& from = instruction.shape().Leaf(leaf);
    // The paths that an operand's reindexing could not extend. Operands that are not reindexed are
    // not listed: all paths of the set go through their maps.
    SmallMap<PathSet> refused;
    bool has_rest = false;
    for (int64_t operand = 0; operand < instruction.operand_count(); ++operand) {
      if (IsLeftOut(*instruction.operand(operand))) continue;
      if (!Reindexes(instruction, operand)) {
        has_rest = true;
        continue;
      }
      PathSet rest;
      const auto end_of_operand = [&]() -> PathSet& { return end(operand, 0); };
      Reindex(instruction, operand, set, end_of_operand, &rest);
      if (rest.empty()) continue;
      has_rest = true;
      refused[operand] = std::move(rest);
    }
    if (!has_rest) continue;
    absl::StatusOr<InstructionIndexing> entries =
        source_.EntriesOf(instruction, direction_, {0, leaf}, frame.depth);
    if (!entries.ok()) return entries.status();
    for (const IndexingEntry& entry : *entries) {
      if (IsLeftOut(*instruction.operand(entry.operand))) continue;
      const auto end_of_entry = [&]() -> PathSet& {
        return end(entry.operand, entry.operand_leaf);
      };
      const PathSet rest = Reindexes(instruction, entry.operand)
                               ? refused[entry.operand]
                               : StepEvery(instruction, entry.operand, set, end_of_entry);
      if (rest.empty()) continue;
      const Shape& to = instruction.operand(entry.operand)->shape().Leaf(entry.operand_leaf);
      Apply(entry, from, to, frame, rest, &end_of_entry());
    }
  }
  return absl::OkStatus();
}

absl::Status Traversal::StepToResult(const HloInstruction& instruction, const CallFrame& frame,
                                     int64_t operand, LeafPaths& paths,
                                     llvm::function_ref<PathSet&(int64_t leaf)> end) {
  if (LooksInto(instruction, frame)) {
    const CallFrame inner{&frame, &instruction, frame.depth + 1};
    NumberedPaths start;
    NumberedPaths inner_end;
    start[operand] = paths;
    absl::Status status =
        WalkComputation(*instruction.inlined_computation(), inner, start, &inner_end);
    if (!status.ok()) return status;
    for (const auto& [leaf, set] : inner_end[0]) end(leaf).Add(set);
    return absl::OkStatus();
  }
  for (auto& [leaf, set] : paths) {
    const Shape& from = instruction.operand(operand)->shape().Leaf(leaf);
    PathSet rest;
    const auto end_of_result = [&]() -> PathSet& { return end(0); };
    if (Reindexes(instruction, operand)) {
      Reindex(instruction, operand, set, end_of_result, &rest);
    } else {
      rest = StepEvery(instruction, operand, set, end_of_result);
      Take(rest.size());
    }
    if (rest.empty()) continue;
    absl::StatusOr<InstructionIndexing> entries =
        source_.EntriesOf(instruction, direction_, {operand, leaf}, frame.depth);
    if (!entries.ok()) return entries.status();
    for (const IndexingEntry& entry : *entries) {
      const Shape& to = instruction.shape().Leaf(entry.output_leaf);
      Apply(entry, from, to, frame, rest, &end(entry.output_leaf));
    }
  }
  return absl::OkStatus();
}

absl::Status Traversal::WalkComputation(const HloComputation& computation, const CallFrame& frame,
                                        const NumberedPaths& start, NumberedPaths* end) {
  const HloInstruction* root = computation.root_instruction();
  if (root == nullptr) return absl::OkStatus();
  const bool backward = direction_ == Direction::kOutputToInput;
  PendingPaths pending;
  for (const auto& [number, paths] : start) {
    if (backward) {
      AddAll(paths, pending[root->index_in_computation()]);
    } else if (number < static_cast<int64_t>(computation.parameters().size())) {
      AddAll(paths, pending[computation.parameter(number)->index_in_computation()]);
    }
  }
  return Walk(computation, frame, pending, end);
}

absl::Status Traversal::WalkToEach(const HloComputation& computation, const CallFrame& frame,
                                   const NumberedPaths& start, NumberedPaths* end) {
  is_to_each_ = true;
  return WalkComputation(computation, frame, start, end);
}

absl::Status Traversal::WalkOn(const HloComputation& computation, const CallFrame& frame,
                               const PathsByPosition& start, const llvm::BitVector& left_out,
                               NumberedPaths* end) {
  with_left_out_ = &computation;
  left_out_ = &left_out;
  PendingPaths pending;
  for (const auto& [position, paths] : start) AddAll(paths, pending[position]);
  absl::Status status = Walk(computation, frame, pending, end);
  with_left_out_ = nullptr;
  return status;
}

bool Traversal::IsLeftOut(const HloInstruction& instruction) const {
  if (!is_to_each_ && LeadsNowhere(instruction)) return true;
  return with_left_out_ != nullptr && instruction.parent() == with_left_out_ &&
         left_out_->test(static_cast<unsigned>(instruction.index_in_computation()));
}

absl::Status Traversal::WalkByJoints(const HloComputation& computation, const CallFrame& frame,
                                     const NumberedPaths& start, NumberedPaths* end) {
  is_by_joints_ = true;
  const bool backward = direction_ == Direction::kOutputToInput;
  llvm::SmallVector<int64_t> parameters;
  for (const auto& [number, paths] : start) parameters.push_back(number);
  const std::vector<int64_t> positions = JointsOnTheWay(computation, direction_, parameters);
  // Those that the walk reaches last are the first.
  for (const int64_t position : llvm::reverse(positions)) {
    if (was_stopped()) break;
    const HloInstruction& joint = *computation.instructions()[position];
    walked_joint_ = position;
    PendingPaths pending;
    pending[position][0].Add(Path(joint.shape(), context_));
    NumberedPaths reached;
    absl::Status status = Walk(computation, frame, pending, &reached);
    if (!status.ok()) return status;
    if (was_stopped()) break;
    InstructionIndexing& entries = joints_[position];
    for (const auto& [number, leaves] : reached) {
      for (const auto& [leaf, paths] : leaves) {
        const HloInstruction& last =
            backward ? *computation.parameter(number) : *computation.root_instruction();
        OperandIndexingSet maps;
        for (const Path& path : paths.paths()) maps.Add(path.Map(last.shape().Leaf(leaf)));
        maps.Simplify();
        UniteGraphs(&maps);
        if (maps.size() > kFewMapsOfJoint || !maps.label().IsExact()) was_given_up_ = true;
        entries.push_back({leaf, number, leaf, std::move(maps)});
      }
    }
  }
  walked_joint_ = -1;
  if (was_stopped()) return absl::OkStatus();
  return WalkComputation(computation, frame, start, end);
}

absl::Status Traversal::Walk(const HloComputation& computation, const CallFrame& frame,
                             PendingPaths& pending, NumberedPaths* end) {
  const bool backward = direction_ == Direction::kOutputToInput;
  while (!pending.empty()) {
    if (was_stopped()) {
      EndsAtEach(frame) ? FinishAtEach(computation, pending, end)
                        : FinishByReachability(computation, pending, end);
      return absl::OkStatus();
    }
    auto [position, paths] = backward ? pending.TakeLast() : pending.TakeFirst();
    const HloInstruction& instruction = *computation.instructions()[position];
    if (EndsAtEach(frame)) {
      for (auto& [leaf, set] : paths) Bound(instruction, leaf, set);
      AddAtEnd(instruction, frame, paths, (*end)[NumberOfEach(instruction)]);
      if (instruction.opcode() == HloOpcode::kParameter) continue;
    }
    if (IsLeftOut(instruction)) continue;
    if (llvm::any_of(paths, [](const auto& set) { return !set.second.paths().empty(); })) {
      QuestionBudget::Spend();
    }
    const auto joint = is_by_joints_ && frame.caller == nullptr && position != walked_joint_
                           ? joints_.find(position)
                           : joints_.end();
    if (joint != joints_.end()) {
      Bound(instruction, 0, paths[0]);
      for (const IndexingEntry& entry : joint->second) {
        const HloInstruction& last =
            backward ? *computation.parameter(entry.operand) : *computation.root_instruction();
        Apply(entry, instruction.shape(), last.shape().Leaf(entry.operand_leaf), frame, paths[0],
              &(*end)[entry.operand][entry.operand_leaf]);
      }
      continue;
    }
    absl::Status status = backward ? WalkToOperands(instruction, frame, paths, pending, end)
                                   : WalkToUsers(instruction, frame, paths, pending, end);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void Traversal::AddAtEnd(const HloInstruction& last, const CallFrame& frame, const LeafPaths& paths,
                         LeafPaths& end) const {
  const bool is_written = frame.caller == nullptr;
  for (const auto& [leaf, set] : paths) {
    end[leaf].Add(is_written ? Written(set, last.shape().Leaf(leaf)) : set);
  }
}

absl::Status Traversal::WalkToOperands(const HloInstruction& instruction, const CallFrame& frame,
                                       LeafPaths& paths, PendingPaths& pending,
                                       NumberedPaths* end) {
  if (instruction.opcode() == HloOpcode::kParameter) {
    for (auto& [leaf, set] : paths) Bound(instruction, leaf, set);
    AddAtEnd(instruction, frame, paths, (*end)[instruction.parameter_number()]);
    return absl::OkStatus();
  }
  return StepToOperands(instruction, frame, paths, [&](int64_t operand, int64_t leaf) -> PathSet& {
    return pending[instruction.operand(operand)->index_in_computation()][leaf];
  });
}

absl::Status Traversal::WalkToUsers(const HloInstruction& instruction, const CallFrame& frame,
                                    LeafPaths& paths, PendingPaths& pending, NumberedPaths* end) {
  for (auto& [leaf, set] : paths) Bound(instruction, leaf, set);
  if (&instruction == instruction.parent()->root_instruction()) {
    AddAtEnd(instruction, frame, paths, (*end)[0]);
  }
  for (const HloInstruction::Use& use : instruction.uses()) {
    absl::Status status = StepToResult(
        *use.user, frame, use.operand, paths,
        [&](int64_t leaf) -> PathSet& { return pending[use.user->index_in_computation()][leaf]; });
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace xla_indexing::internal
