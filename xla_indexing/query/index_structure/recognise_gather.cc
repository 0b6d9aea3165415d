#include "xla_indexing/query/index_structure/recognise_gather.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/transforms/moved_box.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/query/index_structure/affine_runs.h"
#include "xla_indexing/query/index_structure/box_of_map.h"
#include "xla_indexing/query/index_structure/exact_pieces.h"
#include "xla_indexing/query/index_structure/index_structure_answer.h"

namespace xla_indexing::internal {
namespace {

// No more pieces than these are named.
constexpr size_t kMaxNames = 8;

IndexedForm FormOfBox(const MovedBox& box) {
  if (HasRuntimeStart(box)) return IndexedForm::kDynamicSlice;
  switch (KindOfBox(box)) {
    case BoxKind::kDiagonal:
      return IndexedForm::kDiagonal;
    case BoxKind::kStencil:
      return IndexedForm::kStencil;
    case BoxKind::kMovements:
      break;
  }
  return IndexedForm::kBox;
}

std::string NamesOf(const std::vector<MovedBox>& boxes, const Shape& operand) {
  std::vector<std::string> names;
  for (const MovedBox& box : boxes) {
    if (names.size() == kMaxNames) {
      names.push_back("..");
      break;
    }
    names.push_back(NameOfBox(box, operand));
  }
  return absl::StrCat("concatenation of ", boxes.size(), ": ", absl::StrJoin(names, "; "));
}

// `name, more`; a copy is not named beside other movements.
std::string AndThen(const std::string& name, absl::string_view more) {
  return name == "copy" ? std::string(more) : absl::StrCat(name, ", ", more);
}

}  // namespace

Boxes BoxesOf(const std::vector<OperandIndexing>& maps, const Shape& operand, Outside outside) {
  Boxes all;
  for (const OperandIndexing& map : maps) {
    if (!map.map().constraints().empty()) {
      all.why_not = "a piece is no box";
      return all;
    }
    MapBox box = BoxOfMap(map, operand, outside);
    if (box.IsBox() && !IsRounded(box.box)) {
      all.boxes.push_back(std::move(box.box));
      continue;
    }
    // In pieces it may be simpler.
    std::vector<MovedBox> parts;
    std::string why_not;
    std::vector<OperandIndexing> pieces = AtMultiples(map);
    if (pieces.size() == 1) pieces = InAffineRuns(map);
    for (const OperandIndexing& part : pieces) {
      MapBox of_part = BoxOfMap(part, operand, outside);
      if (!of_part.IsBox() || !part.map().constraints().empty()) why_not = of_part.why_not;
      parts.push_back(std::move(of_part.box));
    }
    const bool is_simpler = why_not.empty() && !absl::c_any_of(parts, IsRounded);
    if (is_simpler || (why_not.empty() && !box.IsBox())) {
      all.boxes.insert(all.boxes.end(), parts.begin(), parts.end());
    } else if (box.IsBox()) {
      all.boxes.push_back(std::move(box.box));
    } else {
      all.why_not = box.why_not;
      return all;
    }
  }
  JoinBoxes(&all.boxes);
  return all;
}

bool HasRuntimeStart(const MovedBox& box) {
  return absl::c_any_of(box.axes, [](const MovedAxis& axis) { return axis.runtime.has_value(); });
}

bool CoversAll(const MovedBox& box, const std::vector<int64_t>& sizes) {
  for (size_t i = 0; i < box.dims.size(); ++i) {
    if (box.dims[i].size != sizes[i]) return false;
  }
  return true;
}

std::vector<int64_t> SizesOfShape(const Shape& shape) {
  return {shape.dimensions().begin(), shape.dimensions().end()};
}

std::string ReasonOf(const std::vector<OperandIndexing>& maps) {
  return maps.size() == 1 ? maps[0].MapToString() : absl::StrCat(maps.size(), " pieces");
}

namespace {

Assembly AssemblyAt(const std::vector<OperandIndexing>& maps, const Shape& operand,
                    const std::vector<int64_t>& sizes, bool has_fill) {
  Assembly assembly;
  Boxes found = BoxesOf(maps, operand);
  assembly.why_not = std::move(found.why_not);
  if (!assembly.why_not.empty()) return assembly;
  if (!CanAssemble(found.boxes, sizes, has_fill)) {
    assembly.why_not = absl::StrCat(found.boxes.size(), " pieces, not one after the other");
  }
  assembly.pieces.boxes = std::move(found.boxes);
  assembly.pieces.sizes = sizes;
  return assembly;
}

}  // namespace

Assembly AssemblyOf(const std::vector<OperandIndexing>& maps, const Shape& operand,
                    const std::vector<int64_t>& sizes, bool has_fill) {
  if (const auto digits = CommonDigits(maps, sizes)) {
    std::vector<OperandIndexing> from_digits;
    for (const OperandIndexing& map : maps) {
      auto from = FromDigits(map, *digits);
      if (from && !from->IsKnownEmpty()) from_digits.push_back(*std::move(from));
    }
    if (from_digits.size() == maps.size()) {
      Assembly assembly = AssemblyAt(from_digits, operand, digits->sizes, has_fill);
      assembly.is_in_digits = true;
      if (assembly.why_not.empty()) return assembly;
    }
  }
  return AssemblyAt(maps, operand, sizes, has_fill);
}

void NameAssembly(Assembly assembly, const Shape& operand, IndexStructure* structure) {
  const std::vector<MovedBox>& boxes = assembly.pieces.boxes;
  if (boxes.size() == 1) {
    structure->form = FormOfBox(boxes[0]);
    structure->name = NameOfBox(boxes[0], operand);
    if (!CoversAll(boxes[0], assembly.pieces.sizes)) {
      structure->form = IndexedForm::kPad;
      structure->name = AndThen(structure->name, "pad");
    }
  } else {
    structure->form = IndexedForm::kConcatenation;
    structure->name = NamesOf(boxes, operand);
    if (structure->in_bounds.holds == Answer::kNo && assembly.pieces.fill != nullptr) {
      absl::StrAppend(&structure->name, "; fill");
    }
  }
  if (assembly.is_in_digits) {
    if (boxes.size() > 1) {
      absl::StrAppend(&structure->name, "; then reshape");
    } else if (structure->form != IndexedForm::kDiagonal &&
               structure->form != IndexedForm::kStencil &&
               !absl::EndsWith(structure->name, "reshape")) {
      structure->name = AndThen(structure->name, "reshape");
    }
  }
  structure->replacement.gather = std::move(assembly.pieces);
}

void RecogniseGather(const HloInstruction& gather, const std::vector<OperandIndexing>& maps,
                     IndexStructure* structure) {
  const Shape& operand = gather.operand(0)->shape();
  Assembly assembly = AssemblyOf(maps, operand, SizesOfShape(gather.shape()), /*has_fill=*/false);
  if (!assembly.why_not.empty()) {
    const std::optional<MovedBox> in_each =
        maps.size() == 1 ? BoxInEachBatchElement(maps[0], operand) : std::nullopt;
    if (in_each && CoversAll(*in_each, SizesOfShape(gather.shape()))) {
      structure->form = IndexedForm::kDynamicSlice;
      structure->name = NameOfBatch(NameOfBox(*in_each, operand));
      structure->reason = "one start for each batch element";
      structure->not_replaced = "it takes an operation for each start";
      return;
    }
    structure->reason =
        HasRuntimeValues(maps) ? "the indices depend on runtime values" : assembly.why_not;
    return;
  }
  NameAssembly(std::move(assembly), operand, structure);
  structure->reason =
      structure->form == IndexedForm::kDynamicSlice ? "one start for all elements" : ReasonOf(maps);
}

}  // namespace xla_indexing::internal
