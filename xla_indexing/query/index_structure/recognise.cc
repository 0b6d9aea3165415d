#include "xla_indexing/query/index_structure/recognise.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/transforms/moved_box.h"
#include "xla_indexing/hlo/transforms/replace_indexed.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/query/index_structure/box_of_map.h"
#include "xla_indexing/query/index_structure/index_structure_answer.h"

namespace xla_indexing::internal {
namespace {

// No more pieces than these are named.
constexpr size_t kMaxNames = 8;

constexpr char kRuntimeIndices[] = "the indices depend on runtime values";
constexpr char kOneStartInEach[] = "one start for each batch element";
constexpr char kOperationInEach[] = "it takes an operation for each start";

std::string NamesOf(const std::vector<MovedBox>& boxes, const Shape& operand) {
  std::vector<std::string> names;
  for (const MovedBox& box : boxes) {
    names.push_back(names.size() == kMaxNames ? ".." : NameOfBox(box, operand));
    if (names.size() > kMaxNames) break;
  }
  return absl::StrCat("concatenation of ", boxes.size(), ": ", absl::StrJoin(names, "; "));
}

std::vector<int64_t> SizesOfShape(const Shape& shape) {
  return {shape.dimensions().begin(), shape.dimensions().end()};
}

bool HasRuntimeValues(const std::vector<OperandIndexing>& maps) {
  return absl::c_any_of(maps, [](const OperandIndexing& map) { return !map.bindings().empty(); });
}

// In one line.
std::string ReasonOf(const std::vector<OperandIndexing>& maps) {
  return maps.size() == 1 ? maps[0].MapToString() : absl::StrCat(maps.size(), " pieces");
}

// Whether a scatter can be written as other operations, all of one element type.
bool HasOneElementType(const HloInstruction& scatter) {
  const ElementType type = scatter.shape().element_type();
  const auto is_one = [&](const HloInstruction* i) { return i->shape().element_type() == type; };
  return is_one(scatter.operand(0)) && is_one(scatter.operand(2)) &&
         absl::c_all_of(scatter.to_apply()->parameters(), is_one) &&
         is_one(scatter.to_apply()->root_instruction());
}

}  // namespace

void RecogniseGather(const HloInstruction& gather, const std::vector<OperandIndexing>& maps,
                     IndexStructure* structure) {
  const Shape& operand = gather.operand(0)->shape();
  Boxes found = BoxesOf(maps, operand);
  std::string why_not = found.why_not;
  if (why_not.empty() && !CanAssemble(found.boxes, SizesOfShape(gather.shape()))) {
    why_not = absl::StrCat(found.boxes.size(), " pieces, not one after the other");
  }
  if (why_not.empty()) {
    const bool is_one = found.boxes.size() == 1;
    const bool is_dynamic = is_one && found.boxes[0].HasRuntimeStart();
    structure->form = is_dynamic ? IndexedForm::kDynamicSlice
                      : is_one   ? IndexedForm::kBox
                                 : IndexedForm::kConcatenation;
    structure->name = is_one ? NameOfBox(found.boxes[0], operand) : NamesOf(found.boxes, operand);
    structure->reason = is_dynamic ? "one start for all elements" : ReasonOf(maps);
    structure->replacement.gather = std::move(found.boxes);
    return;
  }
  structure->reason = HasRuntimeValues(maps) ? kRuntimeIndices : why_not;
  if (maps.size() != 1) return;
  const BoxKind kind = BoxOfMap(maps[0], operand).kind;
  if (maps[0].map().constraints().empty() &&
      (kind == BoxKind::kDiagonal || kind == BoxKind::kStencil)) {
    structure->form = kind == BoxKind::kDiagonal ? IndexedForm::kDiagonal : IndexedForm::kStencil;
    structure->name = kind == BoxKind::kDiagonal ? "diagonal" : "stencil";
    structure->reason = ReasonOf(maps);
    structure->not_replaced = why_not;
    return;
  }
  const std::optional<MovedBox> in_each = BoxInEachBatchElement(maps[0], operand);
  if (!in_each || !CoversAll(*in_each, gather.shape())) return;
  structure->form = IndexedForm::kDynamicSlice;
  structure->name = NameOfBatch(NameOfBox(*in_each, operand));
  structure->reason = kOneStartInEach;
  structure->not_replaced = kOperationInEach;
}

std::string NameOfUpdate(const MovedBox& box) {
  const bool has_steps = absl::c_any_of(box.axes, [](const MovedAxis& axis) {
    return axis.dim && (axis.stride > 1 || axis.stride < -1);
  });
  return has_steps ? "strided dynamic-update-slice" : "dynamic-update-slice";
}

void RecogniseScatter(const HloInstruction& scatter, const std::vector<OperandIndexing>& maps,
                      IndexStructure* structure) {
  const bool replaces = ReplacesElements(scatter);
  const HloInstruction& operand = *scatter.operand(0);
  const bool is_inside = structure->in_bounds.holds == Answer::kYes;
  Boxes found =
      BoxesOf(maps, operand.shape(), is_inside ? Outside::kAssumedNever : Outside::kMayBe);
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
                      !found.boxes[0].HasRuntimeStart();
  structure->reason = ReasonOf(maps);
  std::optional<MovedBox> in_each;
  if (replaces && is_inside && maps.size() == 1) {
    in_each = BoxInEachBatchElement(maps[0], operand.shape(), Outside::kAssumedNever);
    if (in_each && !CoversAll(*in_each, scatter.operand(2)->shape())) in_each.reset();
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
    structure->reason = kOneStartInEach;
    structure->not_replaced = kOperationInEach;
  } else {
    structure->reason = HasRuntimeValues(maps) && structure->unique.holds != Answer::kNo
                            ? kRuntimeIndices
                            : why_not;
  }
}

}  // namespace xla_indexing::internal
