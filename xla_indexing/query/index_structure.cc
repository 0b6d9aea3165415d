#include "xla_indexing/query/index_structure.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/element_type.h"
#include "xla_indexing/hlo/literal.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/map/bijection.h"
#include "xla_indexing/map/domain.h"
#include "xla_indexing/ops/internal/domain.h"
#include "xla_indexing/ops/internal/element_value.h"
#include "xla_indexing/ops/internal/fold_runtime.h"
#include "xla_indexing/query/internal/box_of_map.h"
#include "xla_indexing/query/internal/index_vectors.h"

namespace xla_indexing {
namespace {

using internal::AtMultiples;
using internal::BoxKind;
using internal::BoxOfMap;
using internal::CommonDigits;
using internal::FromDigits;
using internal::IndexVectors;
using internal::IsRounded;
using internal::JoinBoxes;
using internal::KindOfBox;
using internal::MapBox;
using internal::NameOfBox;
using internal::Outside;
using ::mlir::AffineExpr;

constexpr int64_t kIndexSteps = int64_t{1} << 20;
// No more pieces than these are named.
constexpr size_t kMaxNames = 8;

// What the maps of an instruction are made of.
struct Boxes {
  std::vector<MovedBox> boxes;
  std::string why_not;
};

Boxes BoxesOf(const std::vector<OperandIndexing>& maps, const Shape& operand) {
  Boxes all;
  for (const OperandIndexing& map : maps) {
    if (!map.map().constraints().empty()) {
      all.why_not = "a piece is no box";
      return all;
    }
    MapBox box = BoxOfMap(map, operand);
    if (box.IsBox() && !IsRounded(box.box)) {
      all.boxes.push_back(std::move(box.box));
      continue;
    }
    // In pieces it may be simpler.
    std::vector<MovedBox> parts;
    std::string why_not;
    for (const OperandIndexing& part : AtMultiples(map)) {
      MapBox of_part = BoxOfMap(part, operand);
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

bool HasDynamicDimensions(const Shape& shape) {
  for (int64_t i = 0; i < shape.rank(); ++i) {
    if (shape.IsDynamicDimension(i) || shape.IsUnboundedDimension(i)) return true;
  }
  return false;
}

// Whether all elements of an array are one scalar of the program.
bool HasOneValue(const HloInstruction& array) {
  if (!array.shape().IsArray()) return false;
  if (array.opcode() == HloOpcode::kBroadcast) return array.operand(0)->shape().rank() == 0;
  if (array.opcode() != HloOpcode::kConstant || array.literal() == nullptr) return false;
  return array.literal()->IsSplat() || array.literal()->ElementCount() == 1;
}

// A select between a gather and one value: where there are elements for out of bounds indices.
struct FilledGather {
  const HloInstruction* gather = nullptr;
  // The gather or a reshape or transpose of it.
  const HloInstruction* moved = nullptr;
  const HloInstruction* fill = nullptr;
  bool is_gather_where_true = true;
};

std::optional<FilledGather> FilledGatherOf(const HloInstruction& select) {
  if (select.opcode() != HloOpcode::kSelect || !select.shape().IsArray()) return std::nullopt;
  for (const bool is_first : {true, false}) {
    const HloInstruction* moved = select.operand(is_first ? 1 : 2);
    const HloInstruction* fill = select.operand(is_first ? 2 : 1);
    const HloInstruction* gather = moved;
    while (gather->opcode() == HloOpcode::kReshape || gather->opcode() == HloOpcode::kTranspose ||
           gather->opcode() == HloOpcode::kCopy || gather->opcode() == HloOpcode::kBitcast) {
      gather = gather->operand(0);
    }
    if (gather->opcode() == HloOpcode::kGather && HasOneValue(*fill) &&
        gather->shape().element_type() == select.shape().element_type()) {
      return FilledGather{gather, moved, fill, is_first};
    }
  }
  return std::nullopt;
}

// The simplified maps of an entry; none where one is not exact.
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

bool HasRuntimeValues(const std::vector<OperandIndexing>& pieces) {
  return absl::c_any_of(pieces,
                        [](const OperandIndexing& piece) { return !piece.bindings().empty(); });
}

// The maps from what is moved of a gather to the gather's operand, with the indices that this is
// computed from; none where one is not exact.
std::optional<std::vector<OperandIndexing>> MovedMaps(const FilledGather& filled,
                                                      HloIndexer* indexer) {
  const HloInstruction* operand = filled.gather->operand(0);
  const absl::StatusOr<FusionView> view =
      FusionView::Create({filled.moved}, [&](const HloInstruction& i) { return &i != operand; });
  if (!view.ok()) return std::nullopt;
  const std::optional<int64_t> parameter = view->ParameterOf(*operand);
  const auto entries = indexer->Index(view->computation(), Direction::kOutputToInput);
  if (!parameter || !entries.ok()) return std::nullopt;
  auto maps = ExactPieces(**entries, *parameter);
  // Values that are not known are of the view, which is gone afterwards.
  if (maps && HasRuntimeValues(*maps)) return std::nullopt;
  return maps;
}

bool HasOneValueForAll(const OperandIndexing& piece) {
  return absl::c_all_of(piece.bindings(), [](const RuntimeVarIndexing& binding) {
    return absl::c_all_of(binding.element,
                          [](AffineExpr e) { return llvm::isa<mlir::AffineConstantExpr>(e); });
  });
}

// Whether no two points of two maps without runtime variables have one result.
Answer AreDisjoint(const IndexingMap& a, const IndexingMap& b, StepBudget* budget) {
  mlir::MLIRContext* context = a.context();
  Variables dims(a.dims());
  dims.append(b.dims().begin(), b.dims().end());
  llvm::SmallVector<AffineExpr, 4> of_b;
  for (int i = 0; i < b.num_dims(); ++i) {
    of_b.push_back(mlir::getAffineDimExpr(a.num_dims() + i, context));
  }
  const mlir::AffineMap no_results = mlir::AffineMap::get(dims.size(), 0, context);
  IndexingMap pairs(kPartsFit, no_results, std::move(dims), {}, {}, Constraints(a.constraints()));
  for (const Constraint& constraint : b.constraints()) {
    const AffineExpr expr = internal::Substitute(constraint.expr, of_b, {});
    if (!expr) return Answer::kUndecided;
    pairs.AddConstraint(kPartsFit, expr, constraint.interval);
  }
  for (const auto& [x, y] : llvm::zip_equal(a.results(), b.results())) {
    const AffineExpr difference = internal::Sub(x, internal::Substitute(y, of_b, {}));
    if (!difference) return Answer::kUndecided;
    pairs.AddConstraint(kPartsFit, difference, Interval::Point(0));
  }
  return Not(DomainHasIntegerPoint(pairs, budget));
}

IndexProperty UniquenessOf(const std::vector<OperandIndexing>& pieces, StepBudget* budget) {
  Answer unique = Answer::kYes;
  for (const OperandIndexing& piece : pieces) {
    if (!HasOneValueForAll(piece) || piece.map().num_ranges() > 0) {
      return {Answer::kUndecided, "where updates go depends on runtime values"};
    }
    const auto injective = IsInjective(piece.map());
    unique = And(unique, injective.ok() ? injective->answer : Answer::kUndecided);
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    for (size_t k = 0; k < i; ++k) {
      if (HasRuntimeValues({pieces[i], pieces[k]})) {
        return {Answer::kUndecided, "where updates go depends on runtime values"};
      }
      unique = And(unique, AreDisjoint(pieces[i].map(), pieces[k].map(), budget));
    }
  }
  switch (unique) {
    case Answer::kYes:
      return {unique, "no two updates go to one element"};
    case Answer::kNo:
      return {unique, "two updates go to one element"};
    case Answer::kUndecided:
      break;
  }
  return {unique, "not decided within the number of steps"};
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

std::vector<int64_t> SizesOfShape(const Shape& shape) {
  return {shape.dimensions().begin(), shape.dimensions().end()};
}

std::string ReasonOf(const std::vector<OperandIndexing>& maps) {
  return maps.size() == 1 ? maps[0].MapToString() : absl::StrCat(maps.size(), " pieces");
}

// `name, more`; a copy is not named beside other movements.
std::string AndThen(const std::string& name, absl::string_view more) {
  return name == "copy" ? std::string(more) : absl::StrCat(name, ", ", more);
}

// The boxes that make up an array of these sizes, as it is or with its dimensions in digits.
struct Assembly {
  MovedPieces pieces;
  std::string why_not;
  bool is_in_digits = false;
};

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

bool CoversAll(const MovedBox& box, const std::vector<int64_t>& sizes) {
  for (size_t i = 0; i < box.dims.size(); ++i) {
    if (box.dims[i].size != sizes[i]) return false;
  }
  return true;
}

// Says what an array made up of boxes, and perhaps a fill, is.
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
    structure->reason =
        HasRuntimeValues(maps) ? "the indices depend on runtime values" : assembly.why_not;
    return;
  }
  NameAssembly(std::move(assembly), operand, structure);
  structure->reason =
      structure->form == IndexedForm::kDynamicSlice ? "one start for all elements" : ReasonOf(maps);
}

// The parts of a gather's maps where a select takes it, and the conditions where it does not.
struct TakenParts {
  std::vector<OperandIndexing> parts;
  std::vector<Constraints> filled;
};

// None where the predicate is not known.
std::optional<TakenParts> TakenPartsOf(const HloInstruction& select, const FilledGather& filled,
                                       const std::vector<OperandIndexing>& maps,
                                       mlir::MLIRContext* context, StepBudget* budget) {
  TakenParts taken;
  internal::Domain domain;
  llvm::SmallVector<AffineExpr, 4> element;
  for (int64_t i = 0; i < select.shape().rank(); ++i) {
    domain.dims.push_back({Interval::OfSize(select.shape().dimension(i)), {}});
    element.push_back(mlir::getAffineDimExpr(static_cast<unsigned>(i), context));
  }
  if (absl::c_any_of(domain.dims, [](const Variable& v) { return v.bounds.IsEmpty(); })) {
    return taken;
  }
  internal::ElementEvaluator evaluator(domain, context);
  const HloInstruction* predicate = select.operand(0);
  if (predicate->shape().rank() == 0) element.clear();
  for (const internal::ValueCase& each : evaluator.Evaluate(predicate, 0, element)) {
    const auto value = each.value ? llvm::dyn_cast<mlir::AffineConstantExpr>(each.value)
                                  : mlir::AffineConstantExpr();
    if (!value) return std::nullopt;
    IndexingMap where = domain.MakeMap({}, context);
    for (const Constraint& constraint : each.when) {
      where.AddConstraint(kPartsFit, constraint.expr, constraint.interval);
    }
    if (DomainHasIntegerPoint(where, budget) == Answer::kNo) continue;
    if ((value.getValue() != 0) != filled.is_gather_where_true) {
      taken.filled.push_back(each.when);
      continue;
    }
    for (const OperandIndexing& map : maps) {
      OperandIndexing part = map;
      for (const Constraint& constraint : each.when) {
        if (!part.AddConstraint(constraint.expr, constraint.interval).ok()) return std::nullopt;
      }
      part.Simplify();
      if (part.IsKnownEmpty() || DomainHasIntegerPoint(part.map(), budget) == Answer::kNo) continue;
      taken.parts.push_back(std::move(part));
    }
  }
  return taken;
}

// Where the law of one part holds for all elements that are taken, and leads outside for all others.
std::optional<MovedBox> BoxOfPaddedOperand(const TakenParts& taken, const OperandIndexing& law,
                                           const Shape& operand, const Shape& result,
                                           StepBudget* budget) {
  if (!law.bindings().empty() || law.map().num_ranges() > 0) return std::nullopt;
  const int rank = law.map().num_dims();
  Variables dims;
  for (int i = 0; i < rank; ++i) dims.push_back({Interval::OfSize(result.dimension(i)), {}});
  const IndexingMap everywhere(kPartsFit, law.map().affine_map(), dims, {}, {}, {});
  MapBox box = BoxOfMap(OperandIndexing(kPartsFit, everywhere), operand, Outside::kIsFill);
  if (!box.IsBox() || IsRounded(box.box)) return std::nullopt;
  for (const OperandIndexing& part : taken.parts) {
    if (part.map().num_symbols() > 0 ||
        SameResultsOn(part.map(), everywhere, budget) != Answer::kYes) {
      return std::nullopt;
    }
  }
  for (const Constraints& filled : taken.filled) {
    IndexingMap inside = DomainOf(everywhere);
    for (const Constraint& constraint : filled) {
      inside.AddConstraint(kPartsFit, constraint.expr, constraint.interval);
    }
    for (int k = 0; k < everywhere.num_results(); ++k) {
      inside.AddConstraint(kPartsFit, everywhere.results()[k],
                           Interval::OfSize(operand.dimension(k)));
    }
    if (DomainHasIntegerPoint(inside, budget) != Answer::kNo) return std::nullopt;
  }
  return std::move(box.box);
}

void RecogniseFilledGather(const HloInstruction& select, const FilledGather& filled,
                           const std::vector<OperandIndexing>& maps, mlir::MLIRContext* context,
                           StepBudget* budget, IndexStructure* structure) {
  const auto taken = TakenPartsOf(select, filled, maps, context, budget);
  if (!taken) {
    structure->reason = "which elements are filled depends on runtime values";
    return;
  }
  structure->in_bounds = taken->filled.empty()
                             ? IndexProperty{Answer::kYes, "no element is filled"}
                             : IndexProperty{Answer::kNo, "some elements are filled"};
  const Shape& operand = filled.gather->operand(0)->shape();
  const std::vector<int64_t> sizes = SizesOfShape(select.shape());
  structure->reason = ReasonOf(taken->parts);
  const auto with_fill = [&](MovedPieces pieces) {
    pieces.operand = filled.gather->operand(0);
    pieces.fill = filled.fill;
    return pieces;
  };
  if (taken->parts.empty()) {
    structure->form = IndexedForm::kPad;
    structure->name = "broadcast";
    structure->reason = "every element is filled";
    structure->replacement.gather = with_fill({{}, sizes});
    return;
  }
  Assembly assembly = AssemblyOf(taken->parts, operand, sizes, /*has_fill=*/true);
  if (assembly.why_not.empty()) {
    assembly.pieces = with_fill(std::move(assembly.pieces));
    NameAssembly(std::move(assembly), operand, structure);
    return;
  }
  for (const OperandIndexing& law : taken->parts) {
    auto box = BoxOfPaddedOperand(*taken, law, operand, select.shape(), budget);
    if (!box) continue;
    structure->form = IndexedForm::kPad;
    structure->name = absl::StrCat("pad, ", NameOfBox(*box, operand));
    structure->replacement.gather = with_fill({{*std::move(box)}, sizes});
    return;
  }
  structure->reason = assembly.why_not;
}

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
  const HloInstruction* combiner = scatter.to_apply()->root_instruction();
  const bool replaces =
      combiner->opcode() == HloOpcode::kParameter && combiner->parameter_number() == 1;
  const HloInstruction& operand = *scatter.operand(0);
  Boxes found = BoxesOf(maps, operand.shape());
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
  } else {
    structure->reason = HasRuntimeValues(maps) && structure->unique.holds != Answer::kNo
                            ? "the indices depend on runtime values"
                            : why_not;
  }
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
  if (!box.IsBox() || !HasRuntimeStart(box.box)) return;
  const Shape& moved = is_gather ? instruction.shape() : instruction.operand(2)->shape();
  if (!CoversAll(box.box, SizesOfShape(moved)) ||
      (!is_gather && structure->unique.where.empty() && structure->unique.holds != Answer::kYes)) {
    return;
  }
  const HloInstruction* combiner = is_gather ? nullptr : instruction.to_apply()->root_instruction();
  const std::string name = is_gather ? NameOfBox(box.box, instruction.operand(0)->shape())
                           : combiner->opcode() == HloOpcode::kParameter
                               ? NameOfUpdate(box.box)
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

  FusionOptions options;
  options.indexing.exact = true;
  HloIndexer indexer(context, options);
  const auto entries =
      indexer.Index(indexed, is_gather ? Direction::kOutputToInput : Direction::kInputToOutput);
  if (!entries.ok()) return entries.status();
  auto maps = ExactPieces(**entries, is_gather ? 0 : 2);
  if (maps && filled && filled->moved != filled->gather) maps = MovedMaps(*filled, &indexer);
  if (!is_gather) {
    structure.unique = maps ? UniquenessOf(*maps, &budget)
                            : IndexProperty{Answer::kUndecided, "the maps are not exact"};
  }
  if (!maps) {
    structure.reason = filled ? "the indices depend on runtime values" : "the maps are not exact";
  } else if (maps->empty()) {
    structure.reason = "there are no elements";
  } else if (filled) {
    RecogniseFilledGather(instruction, *filled, *maps, context, &budget, &structure);
  } else if (is_gather) {
    RecogniseGather(indexed, *maps, &structure);
  } else {
    RecogniseScatter(indexed, *maps, &structure);
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
  std::vector<InstructionIndices> all;
  for (const HloInstruction* instruction : computation.instructions()) {
    if (!HasIndexStructure(*instruction)) continue;
    absl::StatusOr<IndexStructure> structure = IndexStructureOf(*instruction, context);
    if (!structure.ok()) return structure.status();
    all.push_back({instruction, *std::move(structure)});
  }
  return all;
}

absl::StatusOr<std::vector<InstructionIndices>> IndexStructuresOf(const FusionView& view,
                                                                  mlir::MLIRContext* context) {
  auto all = IndexStructuresOf(view.computation(), context);
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
  for (const HloComputation* computation : module.computations()) {
    absl::StatusOr<std::vector<InstructionIndices>> all = IndexStructuresOf(*computation, context);
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
