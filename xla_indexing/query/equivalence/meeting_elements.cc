#include "xla_indexing/query/equivalence/meeting_elements.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/ops/rules/arithmetic/contraction.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// The maps from one leaf of an instruction to leaves of parameters.
using MapsToParameters = std::map<OperandLeaf, OperandIndexingSet>;
// The maps from leaves of the root to one leaf of an instruction.
using MapsFromRoot = std::map<int64_t, OperandIndexingSet>;

// What two maps from one array map to, as the results of one map.
OperandIndexing Both(const OperandIndexing& a, const OperandIndexing& b) {
  mlir::MLIRContext* context = a.map().context();
  const int num_dims = a.map().num_dims();
  const int num_ranges = a.map().num_ranges() + b.map().num_ranges();
  Variables dims(a.map().dims());
  for (int i = 0; i < num_dims; ++i) {
    dims[i].bounds = dims[i].bounds.Intersect(b.map().dims()[i].bounds);
  }
  Variables ranges;
  Variables runtimes;
  Constraints constraints;
  RuntimeVarIndexings bindings;
  llvm::SmallVector<AffineExpr, 8> results;
  for (const OperandIndexing* indexing : {&a, &b}) {
    const IndexingMap& map = indexing->map();
    llvm::SmallVector<AffineExpr, 8> symbols;
    for (int i = 0; i < map.num_ranges(); ++i) {
      symbols.push_back(mlir::getAffineSymbolExpr(ranges.size() + i, context));
    }
    for (int i = 0; i < map.num_runtimes(); ++i) {
      symbols.push_back(mlir::getAffineSymbolExpr(num_ranges + runtimes.size() + i, context));
    }
    ranges.append(map.ranges().begin(), map.ranges().end());
    runtimes.append(map.runtimes().begin(), map.runtimes().end());
    for (const AffineExpr result : map.results()) {
      results.push_back(Substitute(result, {}, symbols));
    }
    for (const Constraint& constraint : map.constraints()) {
      constraints.push_back({Substitute(constraint.expr, {}, symbols), constraint.interval});
    }
    for (RuntimeVarIndexing binding : indexing->bindings()) {
      for (AffineExpr& index : binding.element) index = Substitute(index, {}, symbols);
      bindings.push_back(std::move(binding));
    }
  }
  const auto affine_map =
      mlir::AffineMap::get(num_dims, num_ranges + runtimes.size(), results, context);
  ExactnessLabel label = a.label();
  OperandIndexing both(kPartsFit,
                       IndexingMap(kPartsFit, affine_map, std::move(dims), std::move(ranges),
                                   std::move(runtimes), std::move(constraints)),
                       std::move(bindings), std::move(label));
  both.Weaken(b.label());
  return both;
}

// The maps (d) -> (u.., u..): an element meets itself.
OperandIndexing WithItself(const OperandIndexing& indexing) {
  llvm::SmallVector<AffineExpr, 8> results(indexing.map().results());
  results.append(indexing.map().results().begin(), indexing.map().results().end());
  return WithResults(indexing, results);
}

// The map to the elements of an array as one to the steps of a contraction of these sizes.
OperandIndexing ToSteps(const OperandIndexing& indexing, llvm::ArrayRef<int64_t> loops) {
  const IndexingMap& map = indexing.map();
  mlir::MLIRContext* context = map.context();
  const int num_new = static_cast<int>(loops.size());
  llvm::SmallVector<AffineExpr, 8> symbols;
  for (int i = 0; i < map.num_symbols(); ++i) {
    const int position = i < map.num_ranges() ? i : i + num_new;
    symbols.push_back(mlir::getAffineSymbolExpr(position, context));
  }
  llvm::SmallVector<AffineExpr, 8> results;
  for (const AffineExpr result : map.results()) results.push_back(Substitute(result, {}, symbols));
  Variables ranges(map.ranges());
  for (const auto& [i, size] : llvm::enumerate(loops)) {
    results.push_back(mlir::getAffineSymbolExpr(map.num_ranges() + i, context));
    ranges.push_back({Interval::OfSize(size), {}});
  }
  Constraints constraints;
  for (const Constraint& constraint : map.constraints()) {
    constraints.push_back({Substitute(constraint.expr, {}, symbols), constraint.interval});
  }
  RuntimeVarIndexings bindings(indexing.bindings().begin(), indexing.bindings().end());
  for (RuntimeVarIndexing& binding : bindings) {
    for (AffineExpr& index : binding.element) index = Substitute(index, {}, symbols);
  }
  const auto affine_map =
      mlir::AffineMap::get(map.num_dims(), map.num_symbols() + num_new, results, context);
  return OperandIndexing(
      kPartsFit,
      IndexingMap(kPartsFit, affine_map, Variables(map.dims()), std::move(ranges),
                  Variables(map.runtimes()), std::move(constraints)),
      std::move(bindings), indexing.label());
}

// Whether what one element of the result reads by two operands meets without exception, or the maps of
// what is read say which of it does, as of the indices of a gather or scatter.
bool SaysWhatMeets(const HloInstruction& instruction, const InstructionIndexing& entries) {
  switch (instruction.opcode()) {
    case HloOpcode::kGather:
    case HloOpcode::kScatter:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kDynamicUpdateSlice:
      return true;
    case HloOpcode::kReduce:
    case HloOpcode::kReduceWindow:
    case HloOpcode::kMap:
      break;
    default:
      // One array alone meets nothing else inside.
      if (IsOpaque(instruction.opcode()) || !instruction.called_computations().empty()) {
        return instruction.operand_count() == 1 && instruction.operand(0)->shape().IsArray();
      }
  }
  int64_t operand_with_ranges = -1;
  for (const IndexingEntry& entry : entries) {
    for (const OperandIndexing& map : entry.indexing) {
      if (map.map().num_ranges() == 0) continue;
      if (operand_with_ranges >= 0 && operand_with_ranges != entry.operand) return false;
      operand_with_ranges = entry.operand;
    }
  }
  return true;
}

class Finder {
 public:
  Finder(const HloComputation& computation, HloIndexer& indexer, mlir::MLIRContext* context,
         const IndexingOptions& options)
      : computation_(computation),
        indexer_(indexer),
        context_(context),
        options_(options),
        below_(computation.instruction_count()),
        above_(computation.instruction_count()) {}

  absl::StatusOr<MeetingElements> Find() {
    MarkUsed();
    for (const HloInstruction* instruction : computation_.instructions()) {
      absl::Status status = FindBelow(*instruction);
      if (!status.ok()) return status;
      if (!found_.failure.empty()) return std::move(found_);
    }
    const HloInstruction& root = *computation_.root_instruction();
    for (int64_t leaf = 0; leaf < root.shape().LeafCount(); ++leaf) {
      if (!root.shape().Leaf(leaf).IsArray()) continue;
      above_[root.index_in_computation()][leaf][leaf].Add(
          IdentityIndexing(root.shape().Leaf(leaf), context_));
      for (const auto& [parameter, maps] : Below(root, leaf)) {
        for (const OperandIndexing& map : maps) {
          found_.maps[{leaf, parameter, parameter}].Add(WithItself(map));
        }
      }
    }
    for (const HloInstruction* instruction : llvm::reverse(computation_.instructions())) {
      absl::Status status = FindAt(*instruction);
      if (!status.ok()) return status;
      if (!found_.failure.empty()) return std::move(found_);
    }
    for (auto& [place, maps] : found_.maps) maps.Simplify();
    return std::move(found_);
  }

 private:
  using Place = MeetingElements::Place;

  void MarkUsed() {
    is_used_.resize(computation_.instruction_count());
    is_used_[computation_.root_instruction()->index_in_computation()] = true;
    for (const HloInstruction* instruction : llvm::reverse(computation_.instructions())) {
      if (!is_used_[instruction->index_in_computation()]) continue;
      for (const HloInstruction* operand : instruction->operands()) {
        is_used_[operand->index_in_computation()] = true;
      }
    }
  }

  const MapsToParameters& Below(const HloInstruction& instruction, int64_t leaf) {
    return below_[instruction.index_in_computation()][leaf];
  }

  void Fail(const HloInstruction& instruction, absl::string_view reason) {
    found_.failure = absl::StrCat(instruction.name(), ": ", reason);
  }

  // first followed by second, added to `sum`.
  absl::Status AddComposed(const OperandIndexingSet& first, const OperandIndexingSet& second,
                           const HloInstruction& at, OperandIndexingSet* sum) {
    num_maps_ += static_cast<int64_t>(first.size() * second.size());
    if (num_maps_ > kMaxMeetingMaps || !QuestionBudget::Spend()) {
      Fail(at, "there are too many ways in which elements meet");
      return absl::OkStatus();
    }
    for (const OperandIndexingSet* set : {&first, &second}) {
      for (const OperandIndexing& map : *set) {
        if (map.IsUnknown()) Fail(at, absl::StrCat("unknown: ", map.label().reason));
        if (map.replica_map() != nullptr) Fail(at, "an element of another device is read");
      }
    }
    if (!found_.failure.empty()) return absl::OkStatus();
    absl::StatusOr<OperandIndexingSet> composed = ComposeOperandIndexingSets(first, second);
    if (!composed.ok()) return composed.status();
    composed->Simplify();
    sum->Add(*composed);
    return absl::OkStatus();
  }

  // From an element of the result, or a step of it, to the operands.
  absl::StatusOr<InstructionIndexing> Entries(const HloInstruction& instruction) {
    const absl::StatusOr<SharedIndexing> entries =
        indexer_.Index(instruction, Direction::kOutputToInput);
    if (!entries.ok()) return entries.status();
    return **entries;
  }

  absl::Status FindBelow(const HloInstruction& instruction) {
    const int64_t position = instruction.index_in_computation();
    if (!is_used_[position]) return absl::OkStatus();
    if (instruction.opcode() == HloOpcode::kParameter) {
      for (int64_t leaf = 0; leaf < instruction.shape().LeafCount(); ++leaf) {
        if (!instruction.shape().Leaf(leaf).IsArray()) continue;
        below_[position][leaf][{instruction.parameter_number(), leaf}].Add(
            IdentityIndexing(instruction.shape().Leaf(leaf), context_));
      }
      return absl::OkStatus();
    }
    const absl::StatusOr<InstructionIndexing> entries = Entries(instruction);
    if (!entries.ok()) return entries.status();
    for (const IndexingEntry& entry : *entries) {
      const HloInstruction& operand = *instruction.operand(entry.operand);
      for (const auto& [parameter, maps] : Below(operand, entry.operand_leaf)) {
        absl::Status status = AddComposed(entry.indexing, maps, instruction,
                                          &below_[position][entry.output_leaf][parameter]);
        if (!status.ok()) return status;
      }
    }
    return absl::OkStatus();
  }

  // What meets at an instruction, whose maps from the root are all there.
  absl::Status FindAt(const HloInstruction& instruction) {
    const int64_t position = instruction.index_in_computation();
    if (!is_used_[position] || instruction.opcode() == HloOpcode::kParameter) {
      return absl::OkStatus();
    }
    const absl::StatusOr<InstructionIndexing> entries = Entries(instruction);
    if (!entries.ok()) return entries.status();
    const llvm::SmallVector<int64_t, 2> loops = ContractionLoops(instruction);
    // A scan carries what it has read from step to step.
    const bool has_steps = !loops.empty() && instruction.opcode() != HloOpcode::kScan;
    const InstructionIndexing steps =
        has_steps ? ContractionSteps(instruction, *entries, context_, options_) : *entries;
    const bool is_known = has_steps || SaysWhatMeets(instruction, *entries);
    for (auto& [leaf, from_root] : above_[position]) {
      for (auto& [output_leaf, maps] : from_root) {
        maps.Simplify();
        absl::Status status = AddAbove(instruction, *entries, leaf, output_leaf, maps);
        if (!status.ok()) return status;
        if (!is_known) {
          found_.opaque.push_back({output_leaf, &instruction, leaf, maps});
          continue;
        }
        OperandIndexingSet to_steps;
        for (const OperandIndexing& map : maps) {
          to_steps.Add(has_steps ? ToSteps(map, loops) : map);
        }
        status = AddPairs(instruction, steps, leaf, output_leaf, to_steps);
        if (!status.ok()) return status;
        if (!found_.failure.empty()) return absl::OkStatus();
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddAbove(const HloInstruction& instruction, const InstructionIndexing& entries,
                        int64_t leaf, int64_t output_leaf, const OperandIndexingSet& maps) {
    for (const IndexingEntry& entry : entries) {
      if (entry.output_leaf != leaf) continue;
      const HloInstruction& operand = *instruction.operand(entry.operand);
      if (Below(operand, entry.operand_leaf).empty()) continue;
      absl::Status status =
          AddComposed(maps, entry.indexing, instruction,
                      &above_[operand.index_in_computation()][entry.operand_leaf][output_leaf]);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // The leaves of parameters that an element or step reads by one operand.
  using OfOperand = std::pair<int64_t, MapsToParameters>;

  absl::StatusOr<std::vector<OfOperand>> ParametersOfOperands(const HloInstruction& instruction,
                                                              const InstructionIndexing& steps,
                                                              int64_t leaf) {
    std::vector<OfOperand> operands;
    for (const IndexingEntry& entry : steps) {
      if (entry.output_leaf != leaf) continue;
      MapsToParameters to_parameters;
      for (const auto& [parameter, maps] :
           Below(*instruction.operand(entry.operand), entry.operand_leaf)) {
        absl::Status status =
            AddComposed(entry.indexing, maps, instruction, &to_parameters[parameter]);
        if (!status.ok()) return status;
      }
      operands.emplace_back(entry.operand, std::move(to_parameters));
    }
    return operands;
  }

  absl::Status AddPairs(const HloInstruction& instruction, const InstructionIndexing& steps,
                        int64_t leaf, int64_t output_leaf, const OperandIndexingSet& to_steps) {
    if (instruction.operand_count() < 2) return absl::OkStatus();
    const auto operands = ParametersOfOperands(instruction, steps, leaf);
    if (!operands.ok()) return operands.status();
    for (size_t i = 0; i < operands->size(); ++i) {
      for (size_t j = i + 1; j < operands->size(); ++j) {
        if ((*operands)[i].first == (*operands)[j].first) continue;
        for (const auto& [p, maps_of_p] : (*operands)[i].second) {
          for (const auto& [q, maps_of_q] : (*operands)[j].second) {
            const bool in_order = p <= q;
            if (in_order || p == q) {
              absl::Status status =
                  AddPair({output_leaf, p, q}, instruction, to_steps, maps_of_p, maps_of_q);
              if (!status.ok()) return status;
            }
            if (!in_order || p == q) {
              absl::Status status =
                  AddPair({output_leaf, q, p}, instruction, to_steps, maps_of_q, maps_of_p);
              if (!status.ok()) return status;
            }
            if (!found_.failure.empty()) return absl::OkStatus();
          }
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status AddPair(const Place& place, const HloInstruction& at,
                       const OperandIndexingSet& to_steps, const OperandIndexingSet& a,
                       const OperandIndexingSet& b) {
    OperandIndexingSet both;
    for (const OperandIndexing& of_a : a) {
      for (const OperandIndexing& of_b : b) both.Add(Both(of_a, of_b));
    }
    return AddComposed(to_steps, both, at, &found_.maps[place]);
  }

  const HloComputation& computation_;
  HloIndexer& indexer_;
  mlir::MLIRContext* context_;
  const IndexingOptions& options_;
  std::vector<bool> is_used_;
  // By instruction and leaf.
  std::vector<std::map<int64_t, MapsToParameters>> below_;
  std::vector<std::map<int64_t, MapsFromRoot>> above_;
  int64_t num_maps_ = 0;
  MeetingElements found_;
};

}  // namespace

absl::StatusOr<MeetingElements> FindMeetingElements(const HloComputation& computation,
                                                    HloIndexer& indexer, mlir::MLIRContext* context,
                                                    const IndexingOptions& options) {
  return Finder(computation, indexer, context, options).Find();
}

}  // namespace xla_indexing::internal
