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
#include "xla_indexing/ops/values/fold_runtime.h"
#include "xla_indexing/query/index_structure/box_of_map.h"
#include "xla_indexing/query/index_structure/exact_pieces.h"
#include "xla_indexing/query/index_structure/filled_gather.h"
#include "xla_indexing/query/index_structure/index_vectors.h"
#include "xla_indexing/query/index_structure/recognise_gather.h"
#include "xla_indexing/query/index_structure/recognise_scatter.h"

namespace xla_indexing {
namespace {

using internal::BoxOfMap;
using internal::CoversAll;
using internal::ExactPieces;
using internal::FilledGather;
using internal::FilledGatherOf;
using internal::IndexVectors;
using internal::MapBox;
using internal::Outside;
using internal::UniquenessOf;

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

// The maps where values that are not known are in an interval.
std::vector<OperandIndexing> Assuming(const std::vector<OperandIndexing>& maps,
                                      const Interval& values) {
  internal::FoldOptions options;
  options.assumed_values = values;
  std::vector<OperandIndexing> assumed;
  for (const OperandIndexing& map : maps) {
    for (OperandIndexing folded : internal::FoldRuntimeVariables(map, options)) {
      folded.Simplify();
      if (!folded.IsKnownEmpty()) assumed.push_back(std::move(folded));
    }
  }
  return assumed;
}

// What is so for some values of what is not known: the first ones that leave all windows inside.
void AddConditions(const HloInstruction& instruction, const std::vector<OperandIndexing>* maps,
                   const IndexVectors& vectors, mlir::MLIRContext* context, StepBudget* budget,
                   IndexStructure* structure) {
  const std::optional<Interval> starts = vectors.SmallestStarts();
  if (!starts || starts->IsEmpty()) return;
  const std::optional<Interval> values =
      IndexVectors(instruction, context, *starts).ValuesInBounds();
  if (!values) return;
  const IndexVectors assumed(instruction, context, *values);
  const std::string condition = absl::StrCat(assumed.Unknowns(), " in ", values->ToString());
  const auto add = [&](Answer answer, IndexProperty* property) {
    if (property->holds != Answer::kUndecided || answer != Answer::kYes) return;
    property->where = condition;
    absl::StrAppend(&property->reason, "; yes where ", condition);
  };
  add(assumed.AreInBounds(budget), &structure->in_bounds);
  add(assumed.AreSorted(budget), &structure->sorted);
  if (maps == nullptr) return;
  const bool is_gather = instruction.opcode() == HloOpcode::kGather;
  const std::vector<OperandIndexing> where = Assuming(*maps, *values);
  if (!is_gather) add(UniquenessOf(where, budget).holds, &structure->unique);
  if (structure->form != IndexedForm::kUnrecognised || where.size() != 1) return;
  const MapBox box = BoxOfMap(where[0], instruction.operand(0)->shape(), Outside::kAssumedNever);
  if (!box.IsBox() || !internal::HasRuntimeStart(box.box)) return;
  const Shape& moved = is_gather ? instruction.shape() : instruction.operand(2)->shape();
  if (!CoversAll(box.box, internal::SizesOfShape(moved)) ||
      (!is_gather && structure->unique.where.empty() && structure->unique.holds != Answer::kYes)) {
    return;
  }
  const HloInstruction* combiner = is_gather ? nullptr : instruction.to_apply()->root_instruction();
  const std::string name = is_gather ? internal::NameOfBox(box.box, instruction.operand(0)->shape())
                           : combiner->opcode() == HloOpcode::kParameter
                               ? internal::NameOfUpdate(box.box)
                               : "accumulation over disjoint windows";
  structure->where = condition;
  structure->name = absl::StrCat(name, " where ", condition);
  structure->not_replaced =
      is_gather ? "starts are clamped one by one elsewhere" : "windows are dropped elsewhere";
}

}  // namespace

bool HasIndexStructure(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kGather ||
         (instruction.opcode() == HloOpcode::kScatter && instruction.operand_count() == 3) ||
         FilledGatherOf(instruction).has_value();
}

absl::StatusOr<IndexStructure> IndexStructureOf(const HloInstruction& instruction,
                                                mlir::MLIRContext* context) {
  HloIndexers indexers(context);
  return IndexStructureOf(instruction, indexers);
}

absl::StatusOr<IndexStructure> IndexStructureOf(const HloInstruction& instruction,
                                                HloIndexers& indexers) {
  mlir::MLIRContext* context = indexers.context();
  if (!HasIndexStructure(instruction)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "indices: ", instruction.name(), " (", OpcodeName(instruction.opcode()),
        ") is no gather, no scatter of one array, and no select between a gather and one value"));
  }
  const QuestionBudget question;
  StepBudget budget(kIndexSteps);
  const std::optional<FilledGather> filled = FilledGatherOf(instruction);
  // The one whose indices count.
  const HloInstruction& indexed = filled ? *filled->gather : instruction;
  const bool is_gather = indexed.opcode() == HloOpcode::kGather;
  IndexStructure structure;
  structure.name = "unrecognised";

  const IndexVectors vectors(indexed, context);
  const std::string unknowns = vectors.Unknowns();
  structure.sorted =
      PropertyOf(vectors.AreSorted(&budget), "no index vector is less than one before it",
                 "an index vector is less than one before it", unknowns);
  structure.in_bounds =
      PropertyOf(vectors.AreInBounds(&budget), "every window is inside the operand",
                 is_gather ? "a start is clamped" : "a window is dropped", unknowns);

  const auto entries = indexers.exact().Index(
      indexed, is_gather ? Direction::kOutputToInput : Direction::kInputToOutput);
  if (!entries.ok()) return entries.status();
  auto maps = ExactPieces(**entries, is_gather ? 0 : 2);
  if (maps && filled && filled->moved != filled->gather) {
    maps = internal::MovedMaps(*filled, &indexers.exact());
  }
  if (!is_gather) {
    structure.unique = maps ? UniquenessOf(*maps, &budget)
                            : IndexProperty{Answer::kUndecided, "the maps are not exact"};
  }
  if (!maps) {
    structure.reason = filled ? "the indices depend on runtime values" : "the maps are not exact";
  } else if (maps->empty()) {
    structure.reason = "there are no elements";
  } else if (filled) {
    internal::RecogniseFilledGather(instruction, *filled, *maps, context, &budget, &structure);
  } else if (is_gather) {
    internal::RecogniseGather(indexed, *maps, &structure);
  } else {
    internal::RecogniseScatter(indexed, *maps, &structure);
  }
  if (!filled && !unknowns.empty()) {
    AddConditions(indexed, maps ? &*maps : nullptr, vectors, context, &budget, &structure);
  }
  const auto is_dynamic = [](const HloInstruction* i) { return HasDynamicDimensions(i->shape()); };
  if ((structure.replacement.gather || structure.replacement.scatter) &&
      (HasDynamicDimensions(indexed.shape()) || absl::c_any_of(indexed.operands(), is_dynamic))) {
    structure.replacement.gather.reset();
    structure.replacement.scatter.reset();
    structure.not_replaced = "dimensions are dynamic";
  }
  if (filled) return structure;
  structure.replacement.is_sorted =
      structure.sorted.holds == Answer::kYes && !indexed.GetBool(AttributeKey::kIndicesAreSorted);
  // What is dropped goes to no element, but its vectors may be equal.
  structure.replacement.is_unique = !is_gather && structure.unique.holds == Answer::kYes &&
                                    structure.in_bounds.holds == Answer::kYes &&
                                    !indexed.GetBool(AttributeKey::kUniqueIndices);
  return structure;
}

absl::StatusOr<std::vector<InstructionIndices>> IndexStructuresOf(const HloComputation& computation,
                                                                  mlir::MLIRContext* context) {
  HloIndexers indexers(context);
  return IndexStructuresOf(computation, indexers);
}

absl::StatusOr<std::vector<InstructionIndices>> IndexStructuresOf(const HloComputation& computation,
                                                                  HloIndexers& indexers) {
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
    // A gather whose elements a select takes, which is replaced, is not computed any more.
    for (const InstructionIndices& each : *all) {
      const std::optional<FilledGather> filled = FilledGatherOf(*each.instruction);
      if (!filled || !replacements.contains(each.instruction)) continue;
      const HloInstruction* moved = filled->moved;
      bool is_only_use = true;
      for (const HloInstruction* i = moved; is_only_use; i = i->operand(0)) {
        is_only_use = i->users().size() == 1 && !i->is_root();
        if (i == filled->gather) break;
      }
      if (is_only_use) replacements.erase(filled->gather);
    }
  }
  return ReplaceIndexed(module, replacements);
}

}  // namespace xla_indexing
