#include "xla_indexing/query/index_structure/recognise_scatter.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/transforms/moved_box.h"
#include "xla_indexing/hlo/transforms/replace_indexed.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/query/index_structure/box_of_map.h"
#include "xla_indexing/query/index_structure/exact_pieces.h"
#include "xla_indexing/query/index_structure/filled_gather.h"
#include "xla_indexing/query/index_structure/index_structure_answer.h"
#include "xla_indexing/query/index_structure/recognise_gather.h"

namespace xla_indexing::internal {
namespace {

// Whether a scatter can be written as other operations, all of one element type.
bool HasOneElementType(const HloInstruction& scatter) {
  const ElementType type = scatter.shape().element_type();
  const auto is_one = [&](const HloInstruction* i) { return i->shape().element_type() == type; };
  return is_one(scatter.operand(0)) && is_one(scatter.operand(2)) &&
         absl::c_all_of(scatter.to_apply()->parameters(), is_one) &&
         is_one(scatter.to_apply()->root_instruction());
}

// Whether the updates are placed by a pad: a loop or none for each coordinate.
bool IsPlacedByPad(const MovedBox& box) {
  return KindOfBox(box) == BoxKind::kMovements &&
         absl::c_all_of(box.axes, [](const MovedAxis& axis) {
           return axis.terms.size() <= 1 && !axis.runtime;
         });
}

}  // namespace

bool Replaces(const HloInstruction& scatter) {
  const HloInstruction* combiner = scatter.to_apply()->root_instruction();
  return combiner->opcode() == HloOpcode::kParameter && combiner->parameter_number() == 1;
}

std::string NameOfUpdate(const MovedBox& box) {
  if (KindOfBox(box) == BoxKind::kDiagonal) return "diagonal dynamic-update-slice";
  const bool has_steps = absl::c_any_of(box.axes, [](const MovedAxis& axis) {
    return absl::c_any_of(axis.terms,
                          [](const MovedTerm& t) { return t.stride > 1 || t.stride < -1; });
  });
  return has_steps ? "strided dynamic-update-slice" : "dynamic-update-slice";
}

void RecogniseScatter(const HloInstruction& scatter, const std::vector<OperandIndexing>& maps,
                      IndexStructure* structure) {
  const bool replaces = Replaces(scatter);
  const HloInstruction& operand = *scatter.operand(0);
  const bool is_inside = structure->in_bounds.holds == Answer::kYes;
  Boxes found =
      BoxesOf(maps, operand.shape(), is_inside ? Outside::kAssumedNever : Outside::kNever);
  std::string why_not = found.why_not;
  if (structure->unique.holds != Answer::kYes) {
    why_not = structure->unique.reason;
  } else if (why_not.empty() && !absl::c_all_of(found.boxes, [&](const MovedBox& box) {
               return CanPlace(box, SizesOfShape(operand.shape()));
             })) {
    why_not = "the places of updates are no steps of one another";
  } else if (why_not.empty() && !HasOneElementType(scatter)) {
    why_not = "the combiner is of another element type";
  }
  const bool is_pad = why_not.empty() && found.boxes.size() == 1 && HasOneValue(operand) &&
                      IsPlacedByPad(found.boxes[0]);
  structure->reason = ReasonOf(maps);
  std::optional<MovedBox> in_each;
  if (replaces && is_inside && maps.size() == 1) {
    in_each = BoxInEachBatchElement(maps[0], operand.shape(), Outside::kAssumedNever);
    if (in_each && !CoversAll(*in_each, SizesOfShape(scatter.operand(2)->shape()))) in_each.reset();
  }
  if (why_not.empty()) structure->replacement.scatter = PlacedUpdates{found.boxes, is_pad};
  if (is_pad) {
    structure->form = IndexedForm::kPad;
    structure->name = "pad";
  } else if (why_not.empty() && replaces) {
    structure->form = IndexedForm::kUpdate;
    structure->name =
        found.boxes.size() == 1
            ? NameOfUpdate(found.boxes[0])
            : absl::StrCat(found.boxes.size(), " dynamic-update-slices, one after the other");
  } else if (structure->unique.holds == Answer::kYes && !replaces) {
    structure->form = IndexedForm::kAccumulation;
    structure->name = "accumulation over disjoint windows";
    structure->reason = structure->unique.reason;
    structure->not_replaced = why_not;
  } else if (in_each) {
    structure->form = IndexedForm::kUpdate;
    structure->name = NameOfBatch(NameOfUpdate(*in_each));
    structure->reason = "one start for each batch element";
    structure->not_replaced = "it takes an operation for each start";
  } else {
    structure->reason = HasRuntimeValues(maps) && structure->unique.holds != Answer::kNo
                            ? "the indices depend on runtime values"
                            : why_not;
  }
}

}  // namespace xla_indexing::internal
