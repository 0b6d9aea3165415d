#include "xla_indexing/query/index_structure/filled_gather.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/transforms/moved_box.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/domain.h"
#include "xla_indexing/ops/values/element_value.h"
#include "xla_indexing/query/index_structure/box_of_map.h"
#include "xla_indexing/query/index_structure/exact_pieces.h"
#include "xla_indexing/query/index_structure/index_structure_answer.h"
#include "xla_indexing/query/index_structure/recognise_gather.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

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
  Domain domain;
  llvm::SmallVector<AffineExpr, 4> element;
  for (int64_t i = 0; i < select.shape().rank(); ++i) {
    domain.dims.push_back({Interval::OfSize(select.shape().dimension(i)), {}});
    element.push_back(mlir::getAffineDimExpr(static_cast<unsigned>(i), context));
  }
  if (absl::c_any_of(domain.dims, [](const Variable& v) { return v.bounds.IsEmpty(); })) {
    return taken;
  }
  ElementEvaluator evaluator(domain, context);
  const HloInstruction* predicate = select.operand(0);
  if (predicate->shape().rank() == 0) element.clear();
  for (const ValueCase& each : evaluator.Evaluate(predicate, 0, element)) {
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

}  // namespace

bool HasOneValue(const HloInstruction& array) {
  if (!array.shape().IsArray()) return false;
  if (array.opcode() == HloOpcode::kBroadcast) return array.operand(0)->shape().rank() == 0;
  if (array.opcode() != HloOpcode::kConstant || array.literal() == nullptr) return false;
  return array.literal()->IsSplat() || array.literal()->ElementCount() == 1;
}

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

}  // namespace xla_indexing::internal
