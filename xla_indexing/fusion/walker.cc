#include "xla_indexing/fusion/walker.h"

#include <algorithm>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/hlo/shape.h"
#include "xla_indexing/ops/call_scope.h"

namespace xla_indexing {
namespace {

// Past so many paths at a leaf it pays to look for equal maps among them.
constexpr size_t kMergePast = 8;
// Past so many maps those that one of them contains are left out.
constexpr size_t kWholePast = 32;

// What is walked in place of the instruction.
const HloComputation* ComputationOf(const HloInstruction& instruction) {
  if (instruction.opcode() != HloOpcode::kFusion && instruction.opcode() != HloOpcode::kCall) {
    return nullptr;
  }
  const auto computations = instruction.called_computations();
  return computations.empty() ? nullptr : computations.front();
}

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

}  // namespace

Walker::Walker(mlir::MLIRContext* context, const FusionOptions& options, Direction direction,
               const Shape& start, CalledComputations* called)
    : context_(context),
      options_(options),
      direction_(direction),
      start_shape_(start),
      called_(*called) {}

bool Walker::LooksInto(const HloInstruction& instruction, const Frame& frame) const {
  return ComputationOf(instruction) != nullptr && frame.depth < options_.max_call_depth &&
         called_.HasBudget();
}

IndexingOptions Walker::OptionsIn(const Frame& frame) const {
  IndexingOptions options = options_.indexing;
  options.computations = called_.At(frame.depth);
  return options;
}

OperandIndexingSet Walker::SeenFromOutside(const OperandIndexingSet& set,
                                           const Frame& frame) const {
  OperandIndexingSet seen = set;
  for (const Frame* f = &frame; f->caller != nullptr; f = f->caller_frame) {
    seen = SeenFromCaller(seen, {*f->caller, *ComputationOf(*f->caller)},
                          options_.indexing.fold_runtime_variables);
  }
  return seen;
}

void Walker::Apply(const IndexingEntry& entry, const Shape& from, const Shape& to,
                   const Frame& frame, const PathSet& paths, PathSet* end) {
  if (KeepsElements(entry.indexing, from, to)) {
    for (const Path& path : paths.paths()) end->Add(path);
    return;
  }
  const OperandIndexingSet steps = SeenFromOutside(entry.indexing, frame);
  for (const Path& path : paths.paths()) {
    const OperandIndexing first = path.Map(from);
    if (first.IsKnownEmpty()) continue;
    for (const OperandIndexing& step : steps) {
      absl::StatusOr<OperandIndexing> composed = ComposeOperandIndexing(first, step);
      if (!composed.ok()) {
        composed =
            OnDevicesOf(first, step,
                        WholeTensorIndexing(
                            start_shape_, to,
                            absl::StrCat("whole tensor: ", composed.status().message()), context_));
      }
      composed->Simplify();
      if (composed->IsKnownEmpty()) continue;
      end->Add(Path(*std::move(composed), to));
    }
  }
}

void Walker::Bound(const HloInstruction& instruction, int64_t leaf, PathSet& paths) const {
  const size_t max_maps = options_.max_maps;
  if (paths.size() <= std::min(kMergePast, max_maps)) return;
  const Shape& shape = instruction.shape().Leaf(leaf);
  paths.Merge(shape);
  const auto& all = paths.paths();
  const auto changes_device = [](const Path& path) { return path.ChangesDevice(); };
  // Whoever reads everything anyway need not say how else.
  if (paths.size() > kWholePast && std::none_of(all.begin(), all.end(), changes_device)) {
    for (const Path& path : paths.paths()) {
      if (!path.IsWhole(start_shape_, shape)) continue;
      paths.Reset(path);
      return;
    }
  }
  if (paths.size() <= max_maps) return;
  const OperandIndexing whole = WholeTensorIndexing(
      start_shape_, shape,
      absl::StrCat("whole tensor: more than ", options_.max_maps, " maps at ", instruction.name()),
      context_);
  // Paths that stay on a device are not those that lead to others.
  Interval readers = Interval::Empty();
  Interval devices = Interval::Empty();
  size_t staying = 0;
  for (const Path& path : all) {
    if (!path.ChangesDevice()) {
      ++staying;
      continue;
    }
    const OperandIndexing map = path.Map(shape);
    readers = readers.Union(map.replica_map()->readers);
    devices = devices.Union(map.DevicesRead());
  }
  const bool some_leave = staying < all.size();
  paths.Clear();
  if (staying > 0) paths.Add(Path(whole, shape));
  if (some_leave) paths.Add(Path(OnAnyDevice(whole, readers, devices), shape));
}

absl::Status Walker::StepToOperands(const HloInstruction& instruction, const Frame& frame,
                                    LeafPaths& paths, std::map<int64_t, LeafPaths>* end) {
  if (LooksInto(instruction, frame)) {
    const Frame inner{&frame, &instruction, frame.depth + 1};
    std::map<int64_t, LeafPaths> start;
    start[0] = std::move(paths);
    return WalkComputation(*ComputationOf(instruction), inner, start, end);
  }
  for (auto& [leaf, set] : paths) {
    Bound(instruction, leaf, set);
    const Shape& from = instruction.shape().Leaf(leaf);
    if (instruction.operand_count() == 1) {
      PathSet rest;
      for (Path path : set.paths()) {
        if (path.Extend(instruction, direction_)) {
          (*end)[0][0].Add(std::move(path));
        } else {
          rest.Add(std::move(path));
        }
      }
      set = std::move(rest);
      if (set.empty()) continue;
    }
    absl::StatusOr<InstructionIndexing> entries =
        ComputeOutputToInputIndexing(instruction, leaf, context_, OptionsIn(frame));
    if (!entries.ok()) return entries.status();
    for (const IndexingEntry& entry : *entries) {
      const Shape& to = instruction.operand(entry.operand)->shape().Leaf(entry.operand_leaf);
      Apply(entry, from, to, frame, set, &(*end)[entry.operand][entry.operand_leaf]);
    }
  }
  return absl::OkStatus();
}

absl::Status Walker::StepToResult(const HloInstruction& instruction, const Frame& frame,
                                  int64_t operand, LeafPaths& paths, LeafPaths* end) {
  if (LooksInto(instruction, frame)) {
    const Frame inner{&frame, &instruction, frame.depth + 1};
    std::map<int64_t, LeafPaths> start;
    std::map<int64_t, LeafPaths> inner_end;
    start[operand] = paths;
    absl::Status status = WalkComputation(*ComputationOf(instruction), inner, start, &inner_end);
    if (!status.ok()) return status;
    for (auto& [leaf, set] : inner_end[0]) {
      for (const Path& path : set.paths()) (*end)[leaf].Add(path);
    }
    return absl::OkStatus();
  }
  for (auto& [leaf, set] : paths) {
    const Shape& from = instruction.operand(operand)->shape().Leaf(leaf);
    PathSet rest;
    for (Path path : set.paths()) {
      if (instruction.operand_count() == 1 && path.Extend(instruction, direction_)) {
        (*end)[0].Add(std::move(path));
      } else {
        rest.Add(std::move(path));
      }
    }
    if (rest.empty()) continue;
    absl::StatusOr<InstructionIndexing> entries =
        ComputeInputToOutputIndexing(instruction, operand, leaf, context_, OptionsIn(frame));
    if (!entries.ok()) return entries.status();
    for (const IndexingEntry& entry : *entries) {
      const Shape& to = instruction.shape().Leaf(entry.output_leaf);
      Apply(entry, from, to, frame, rest, &(*end)[entry.output_leaf]);
    }
  }
  return absl::OkStatus();
}

absl::Status Walker::WalkComputation(const HloComputation& computation, const Frame& frame,
                                     const std::map<int64_t, LeafPaths>& start,
                                     std::map<int64_t, LeafPaths>* end) {
  // Instructions that paths have come to, by position. Operands stand before their users, so that
  // the paths to an instruction are complete when it is the last (or first) one left.
  std::map<int64_t, LeafPaths> pending;
  const HloInstruction* root = computation.root_instruction();
  if (root == nullptr) return absl::OkStatus();
  const auto add_all = [](const LeafPaths& from, LeafPaths& to) {
    for (const auto& [leaf, set] : from) {
      PathSet& target = to[leaf];
      for (const Path& path : set.paths()) target.Add(path);
    }
  };
  if (direction_ == Direction::kOutputToInput) {
    for (const auto& [unused, paths] : start) {
      add_all(paths, pending[root->index_in_computation()]);
    }
    while (!pending.empty()) {
      auto last = std::prev(pending.end());
      const HloInstruction& instruction = *computation.instructions()[last->first];
      if (frame.depth > 0) called_.Spend();
      LeafPaths paths = std::move(last->second);
      pending.erase(last);
      if (instruction.opcode() == HloOpcode::kParameter) {
        for (auto& [leaf, set] : paths) Bound(instruction, leaf, set);
        add_all(paths, (*end)[instruction.parameter_number()]);
        continue;
      }
      std::map<int64_t, LeafPaths> next;
      absl::Status status = StepToOperands(instruction, frame, paths, &next);
      if (!status.ok()) return status;
      for (const auto& [operand, operand_paths] : next) {
        add_all(operand_paths, pending[instruction.operand(operand)->index_in_computation()]);
      }
    }
    return absl::OkStatus();
  }
  for (const auto& [number, paths] : start) {
    if (number >= static_cast<int64_t>(computation.parameters().size())) continue;
    add_all(paths, pending[computation.parameter(number)->index_in_computation()]);
  }
  const CalledComputations::Users& users = called_.UsersOf(computation);
  while (!pending.empty()) {
    auto first = pending.begin();
    const HloInstruction& instruction = *computation.instructions()[first->first];
    if (frame.depth > 0) called_.Spend();
    LeafPaths paths = std::move(first->second);
    pending.erase(first);
    for (auto& [leaf, set] : paths) Bound(instruction, leaf, set);
    if (&instruction == root) add_all(paths, (*end)[0]);
    for (const CalledComputations::Use& use : users[instruction.index_in_computation()]) {
      LeafPaths next;
      absl::Status status = StepToResult(*use.user, frame, use.operand, paths, &next);
      if (!status.ok()) return status;
      if (!next.empty()) add_all(next, pending[use.user->index_in_computation()]);
    }
  }
  return absl::OkStatus();
}

}  // namespace xla_indexing
