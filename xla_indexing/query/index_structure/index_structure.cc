#include "xla_indexing/query/index_structure/index_structure.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/ops/values/fold_runtime.h"
#include "xla_indexing/query/index_structure/box_of_map.h"
#include "xla_indexing/query/index_structure/index_vectors.h"
#include "xla_indexing/query/index_structure/recognise.h"

namespace xla_indexing {
namespace {

using internal::BoxInEachBatchElement;
using internal::BoxOfMap;
using internal::CoversAll;
using internal::IndexVectors;
using internal::MapBox;
using internal::Outside;
using internal::ValueCondition;

constexpr int64_t kIndexSteps = int64_t{1} << 20;

bool HasDynamicDimensions(const Shape& shape) {
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (shape.IsDynamicDimension(i) || shape.IsUnboundedDimension(i)) return true;
  }
  return false;
}

IndexProperty PropertyOf(Answer answer, absl::string_view yes, absl::string_view no,
                         const std::string& unknowns) {
  switch (answer) {
    case Answer::kYes:
      return {answer, unknowns.empty() ? std::string(yes)
                                       : absl::StrCat(yes, ", whatever ", unknowns, " is")};
    case Answer::kNo:
      return {answer, std::string(no)};
    case Answer::kUndecided:
      break;
  }
  return {answer, unknowns.empty() ? "not decided within the number of steps"
                                   : absl::StrCat("it depends on ", unknowns)};
}

// The maps where values that are not known are as a condition says.
std::vector<OperandIndexing> Assuming(const std::vector<OperandIndexing>& maps,
                                      const ValueCondition& condition) {
  internal::FoldOptions options;
  options.assumption = condition.ToAssumption();
  std::vector<OperandIndexing> assumed;
  for (const OperandIndexing& map : maps) {
    for (OperandIndexing folded : internal::FoldRuntimeVariables(map, options)) {
      folded.Simplify();
      if (!folded.IsKnownEmpty()) assumed.push_back(std::move(folded));
    }
  }
  return assumed;
}

// What a gather or scatter is whose windows are all inside, and whose maps are these then; empty where
// that has no name.
std::string NameWhereInside(const HloInstruction& instruction,
                            const std::vector<OperandIndexing>& maps) {
  if (maps.size() != 1) return {};
  const bool is_gather = instruction.opcode() == HloOpcode::kGather;
  const Shape& operand = instruction.operand(0)->shape();
  const Shape& moved = is_gather ? instruction.shape() : instruction.operand(2)->shape();
  const bool replaces = !is_gather && ReplacesElements(instruction);
  const MapBox box = BoxOfMap(maps[0], operand, Outside::kAssumedNever);
  if (box.IsBox() && box.box.HasRuntimeStart() && CoversAll(box.box, moved)) {
    return is_gather  ? internal::NameOfBox(box.box, operand)
           : replaces ? internal::NameOfUpdate(box.box)
                      : "accumulation over disjoint windows";
  }
  const std::optional<MovedBox> in_each =
      BoxInEachBatchElement(maps[0], operand, Outside::kAssumedNever);
  if (!in_each || !CoversAll(*in_each, moved)) return {};
  return is_gather  ? internal::NameOfBatch(internal::NameOfBox(*in_each, operand))
         : replaces ? internal::NameOfBatch(internal::NameOfUpdate(*in_each))
                    : "";
}

// The simplified maps of the leaf of an operand; nullopt if one is not exact.
std::optional<std::vector<OperandIndexing>> ExactPieces(const InstructionIndexing& entries,
                                                        int64_t operand) {
  std::vector<OperandIndexing> pieces;
  for (const IndexingEntry& entry : entries) {
    if (entry.operand != operand) continue;
    for (OperandIndexing map : entry.indexing) {
      if (!map.IsExact() || map.replica_map() != nullptr) return std::nullopt;
      map.Simplify();
      if (!map.IsKnownEmpty()) pieces.push_back(std::move(map));
    }
  }
  return pieces;
}

// What is so where all windows are inside.
void AddConditions(const HloInstruction& instruction, const std::vector<OperandIndexing>* maps,
                   ScatterBounds bounds, mlir::MLIRContext* context, StepBudget* budget,
                   IndexStructure* structure) {
  const auto simple = IndexVectors::WhereInBounds(instruction, context, budget);
  if (!simple) return;
  const bool is_gather = instruction.opcode() == HloOpcode::kGather;
  const auto say = [](const ValueCondition& condition, IndexProperty* property) {
    property->where = condition.ToString();
    absl::StrAppend(&property->reason, "; yes where ", property->where);
  };
  ValueCondition whole = *simple;
  if (structure->in_bounds.holds == Answer::kUndecided) {
    whole = IndexVectors::Widened(instruction, *simple, context, budget);
    say(whole, &structure->in_bounds);
  }
  const auto say_if = [&](const auto& holds, IndexProperty* property) {
    for (const ValueCondition* condition : {&std::as_const(whole), &*simple}) {
      if (property->holds != Answer::kUndecided) return;
      if (holds(IndexVectors(instruction, context, condition->ToAssumption())) != Answer::kYes) {
        continue;
      }
      return say(*condition, property);
    }
  };
  say_if([&](const IndexVectors& where) { return where.AreSorted(budget); }, &structure->sorted);
  if (maps == nullptr) return;
  if (!is_gather) {
    say_if([&](const IndexVectors& where) { return where.AreUnique(bounds, budget); },
           &structure->unique);
  }
  if (structure->form != IndexedForm::kUnrecognised ||
      (!is_gather && structure->unique.where.empty() && structure->unique.holds != Answer::kYes)) {
    return;
  }
  const std::string name = NameWhereInside(instruction, Assuming(*maps, *simple));
  if (name.empty()) return;
  structure->where = simple->ToString();
  structure->name = absl::StrCat(name, " where ", structure->where);
  structure->not_replaced =
      is_gather ? "starts are clamped one by one elsewhere" : "windows are dropped elsewhere";
}

}  // namespace

bool HasIndexStructure(const HloInstruction& instruction) {
  return (instruction.opcode() == HloOpcode::kGather &&
          !instruction.gather_dimension_numbers().HasBatchingAndIndexed()) ||
         (instruction.opcode() == HloOpcode::kScatter && instruction.operand_count() == 3);
}

absl::StatusOr<IndexStructure> IndexStructureOf(const HloInstruction& instruction,
                                                mlir::MLIRContext* context) {
  HloIndexers indexers(context);
  return IndexStructureOf(instruction, indexers);
}

absl::StatusOr<IndexStructure> IndexStructureOf(const HloInstruction& instruction,
                                                HloIndexers& indexers) {
  const HloModule& module = *instruction.parent()->parent();
  if (absl::Status status = VerifyModule(module); !status.ok()) return status;
  mlir::MLIRContext* context = indexers.context();
  if (!HasIndexStructure(instruction)) {
    return absl::InvalidArgumentError(absl::StrCat("indices: ", instruction.name(), " (",
                                                   instruction.opcode_name(),
                                                   ") is no gather, and no scatter of one array"));
  }
  const QuestionBudget question;
  StepBudget budget(kIndexSteps);
  const bool is_gather = instruction.opcode() == HloOpcode::kGather;
  IndexStructure structure;
  structure.name = "unrecognised";

  const IndexVectors vectors(instruction, context);
  const std::string unknowns = vectors.Unknowns();
  structure.sorted =
      PropertyOf(vectors.AreSorted(&budget), "no index vector is less than one before it",
                 "an index vector is less than one before it", unknowns);
  structure.in_bounds =
      PropertyOf(vectors.AreInBounds(&budget), "every window is inside the operand",
                 is_gather ? "a start is clamped" : "a window is dropped", unknowns);

  const auto entries = indexers.exact().Index(
      instruction, is_gather ? Direction::kOutputToInput : Direction::kInputToOutput);
  if (!entries.ok()) return entries.status();
  const auto maps = ExactPieces(**entries, is_gather ? 0 : 2);
  const ScatterBounds bounds = indexers.options().indexing.scatter_bounds;
  if (!is_gather) {
    structure.unique =
        maps ? PropertyOf(vectors.AreUnique(bounds, &budget), "no two updates go to one element",
                          "two updates go to one element", unknowns)
             : IndexProperty{Answer::kUndecided, "the maps are not exact"};
  }
  if (!maps) {
    structure.reason = "the maps are not exact";
  } else if (maps->empty()) {
    structure.reason = "there are no elements";
  } else if (is_gather) {
    internal::RecogniseGather(instruction, *maps, &structure);
  } else {
    internal::RecogniseScatter(instruction, *maps, &structure);
  }
  if (!unknowns.empty()) {
    AddConditions(instruction, maps ? &*maps : nullptr, bounds, context, &budget, &structure);
  }
  const auto is_dynamic = [](const HloInstruction* i) { return HasDynamicDimensions(i->shape()); };
  if ((structure.replacement.gather || structure.replacement.scatter) &&
      (HasDynamicDimensions(instruction.shape()) ||
       absl::c_any_of(instruction.operands(), is_dynamic))) {
    structure.replacement.gather.reset();
    structure.replacement.scatter.reset();
    structure.not_replaced = "dimensions are dynamic";
  }
  structure.replacement.is_sorted = structure.sorted.holds == Answer::kYes &&
                                    !instruction.GetBool(AttributeKey::kIndicesAreSorted);
  // What is dropped goes to no element, but its vectors may be equal.
  structure.replacement.is_unique = !is_gather && structure.unique.holds == Answer::kYes &&
                                    structure.in_bounds.holds == Answer::kYes &&
                                    !instruction.GetBool(AttributeKey::kUniqueIndices);
  return structure;
}

absl::StatusOr<std::vector<InstructionIndices>> IndexStructuresOf(const HloComputation& computation,
                                                                  mlir::MLIRContext* context) {
  HloIndexers indexers(context);
  return IndexStructuresOf(computation, indexers);
}

absl::StatusOr<std::vector<InstructionIndices>> IndexStructuresOf(const HloComputation& computation,
                                                                  HloIndexers& indexers) {
  if (absl::Status status = VerifyModule(*computation.parent()); !status.ok()) return status;
  std::vector<InstructionIndices> all;
  for (const HloInstruction* instruction : computation.instructions()) {
    if (!HasIndexStructure(*instruction)) continue;
    absl::StatusOr<IndexStructure> structure = IndexStructureOf(*instruction, indexers);
    if (!structure.ok()) return structure.status();
    all.push_back({instruction, *std::move(structure)});
  }
  return all;
}

absl::StatusOr<std::vector<InstructionIndices>> IndexStructuresOf(const FusionView& view,
                                                                  mlir::MLIRContext* context) {
  HloIndexers indexers(context);
  return IndexStructuresOf(view, indexers);
}

absl::StatusOr<std::vector<InstructionIndices>> IndexStructuresOf(const FusionView& view,
                                                                  HloIndexers& indexers) {
  auto all = IndexStructuresOf(view.computation(), indexers);
  if (!all.ok()) return all.status();
  for (InstructionIndices& each : *all) {
    if (const HloInstruction* original = view.OriginalOf(*each.instruction)) {
      each.instruction = original;
    }
    // It speaks of instructions of the view.
    each.structure.replacement = {};
  }
  return all;
}

absl::StatusOr<FusionView> ViewWithIndices(const HloInstruction& instruction) {
  return FusionView::Create({&instruction}, [&](const HloInstruction& i) {
    if (&i == &instruction) return true;
    if (!i.shape().IsArray()) return false;
    return IsIntegral(i.shape().element_type()) || IsPred(i.shape().element_type()) ||
           i.opcode() == HloOpcode::kConstant;
  });
}

absl::StatusOr<std::unique_ptr<HloModule>> RewriteIndices(const HloModule& module,
                                                          mlir::MLIRContext* context) {
  IndexedReplacements replacements;
  HloIndexers indexers(context);
  for (const HloComputation* computation : module.computations()) {
    absl::StatusOr<std::vector<InstructionIndices>> all = IndexStructuresOf(*computation, indexers);
    if (!all.ok()) return all.status();
    for (InstructionIndices& each : *all) {
      if (!each.structure.IsReplaceable()) continue;
      replacements.emplace(each.instruction, std::move(each.structure.replacement));
    }
  }
  return ReplaceIndexed(module, replacements);
}

}  // namespace xla_indexing
