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
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/linear_sum.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/map/bijection.h"
#include "xla_indexing/map/domain.h"
#include "xla_indexing/query/internal/index_vectors.h"

namespace xla_indexing {
namespace {

using internal::IndexVectors;
using internal::LinearSum;
using ::mlir::AffineExpr;

constexpr int64_t kIndexSteps = int64_t{1} << 20;
// A concatenation of more pieces is named, but not written as one.
constexpr size_t kMaxReplacedPieces = 8;

struct Recognised {
  IndexedForm form = IndexedForm::kUnrecognised;
  MovedBox box;                    // of kBox
  std::vector<Interval> elements;  // of the array that the map starts from
  std::string why_not;
};

// What one piece, without runtime variables, is.
Recognised RecognisePiece(const IndexingMap& map) {
  Recognised piece;
  if (!map.constraints().empty() || map.num_symbols() > 0) {
    piece.why_not = "a piece is no box";
    return piece;
  }
  for (const Variable& dim : map.dims()) piece.elements.push_back(dim.bounds);
  piece.form = IndexedForm::kBox;
  std::vector<bool> is_used(map.num_dims(), false);
  for (const AffineExpr result : map.results()) {
    const LinearSum sum = LinearSum::FromExpr(result);
    if (!sum.valid()) {
      piece.form = IndexedForm::kUnrecognised;
      piece.why_not = "a coordinate is no sum";
      return piece;
    }
    MovedAxis axis;
    axis.start = sum.constant();
    for (const auto& term : sum.terms()) {
      const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(term.atom);
      if (!dim) {
        piece.form = IndexedForm::kUnrecognised;
        piece.why_not = "a coordinate has a quotient or remainder";
        return piece;
      }
      const auto i = static_cast<int64_t>(dim.getPosition());
      if (axis.result_dim) piece.form = IndexedForm::kStencil;
      if (is_used[i] && piece.form == IndexedForm::kBox) piece.form = IndexedForm::kDiagonal;
      is_used[i] = true;
      axis.result_dim = i;
      axis.stride = term.coefficient;
      axis.count = piece.elements[i].Size().value_or(0);
      axis.start += term.coefficient * piece.elements[i].lower();
    }
    piece.box.push_back(axis);
  }
  return piece;
}

// `strided slice, reverse, transpose`.
std::string NameOfBox(const Recognised& piece, const Shape& operand) {
  std::vector<absl::string_view> names;
  const auto any = [&](auto is) { return absl::c_any_of(piece.box, is); };
  if (any([](const MovedAxis& axis) { return axis.stride > 1 || axis.stride < -1; })) {
    names.push_back("strided slice");
  } else {
    for (size_t i = 0; i < piece.box.size(); ++i) {
      if (piece.box[i].count == operand.dimension(static_cast<int64_t>(i))) continue;
      names.push_back("slice");
      break;
    }
  }
  if (any([](const MovedAxis& axis) { return axis.stride < 0; })) names.push_back("reverse");
  std::vector<int64_t> order;
  for (const MovedAxis& axis : piece.box) {
    if (axis.result_dim) order.push_back(*axis.result_dim);
  }
  if (!absl::c_is_sorted(order)) names.push_back("transpose");
  for (size_t i = 0; i < piece.elements.size(); ++i) {
    if (piece.elements[i].IsPoint() || absl::c_linear_search(order, static_cast<int64_t>(i)))
      continue;
    names.push_back("broadcast");
    break;
  }
  return names.empty() ? "copy" : absl::StrJoin(names, ", ");
}

// The dimension along which pieces follow one another, which are sorted by it then; none where they
// do not, or do not fill the array.
std::optional<int64_t> DimOfConcatenation(std::vector<Recognised>* pieces, const Shape& array) {
  std::optional<int64_t> dim;
  for (int64_t i = 0; i < array.rank(); ++i) {
    const bool is_whole = absl::c_all_of(*pieces, [&](const Recognised& piece) {
      return piece.elements[i] == Interval::OfSize(array.dimension(i));
    });
    if (is_whole) continue;
    if (dim) return std::nullopt;
    dim = i;
  }
  if (!dim) return std::nullopt;
  absl::c_sort(*pieces, [&](const Recognised& a, const Recognised& b) {
    return a.elements[*dim].lower() < b.elements[*dim].lower();
  });
  int64_t next = 0;
  for (const Recognised& piece : *pieces) {
    if (piece.elements[*dim].lower() != next) return std::nullopt;
    next = piece.elements[*dim].upper() + 1;
  }
  if (next != array.dimension(*dim)) return std::nullopt;
  return dim;
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

bool HasOneValueForAll(const OperandIndexing& piece) {
  return absl::c_all_of(piece.bindings(), [](const RuntimeVarIndexing& binding) {
    return absl::c_all_of(binding.element,
                          [](AffineExpr e) { return llvm::isa<mlir::AffineConstantExpr>(e); });
  });
}

bool HasRuntimeValues(const std::vector<OperandIndexing>& pieces) {
  return absl::c_any_of(pieces,
                        [](const OperandIndexing& piece) { return !piece.bindings().empty(); });
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

void RecogniseGather(const HloInstruction& gather, const std::vector<OperandIndexing>& maps,
                     IndexStructure* structure) {
  const Shape& operand = gather.operand(0)->shape();
  if (HasRuntimeValues(maps)) {
    structure->reason = "the indices depend on runtime values";
    if (maps.size() != 1 || !HasOneValueForAll(maps[0])) return;
    // Without the starts, which are the same for all elements, it has to be a slice.
    const IndexingMap& map = maps[0].map();
    llvm::SmallVector<AffineExpr, 4> zeros(map.num_symbols(), internal::Constant(0, map.context()));
    llvm::SmallVector<AffineExpr, 4> results;
    for (const AffineExpr result : map.results()) {
      results.push_back(internal::Substitute(result, {}, zeros));
    }
    IndexingMap offsets(kPartsFit, mlir::AffineMap::get(map.num_dims(), 0, results, map.context()),
                        Variables(map.dims()), {}, {}, {});
    offsets.Simplify();
    if (!map.constraints().empty() || map.num_ranges() > 0 ||
        RecognisePiece(offsets).form != IndexedForm::kBox) {
      return;
    }
    structure->form = IndexedForm::kDynamicSlice;
    structure->name = "dynamic-slice";
    structure->reason = "one start for all elements";
    return;
  }
  std::vector<Recognised> pieces;
  for (const OperandIndexing& map : maps) {
    pieces.push_back(RecognisePiece(map.map()));
    if (!pieces.back().why_not.empty()) {
      structure->reason = pieces.back().why_not;
      return;
    }
  }
  if (pieces.size() == 1) {
    structure->form = pieces[0].form;
    structure->reason = maps[0].MapToString();
    if (pieces[0].form == IndexedForm::kBox) {
      structure->name = NameOfBox(pieces[0], operand);
      structure->replacement.gather = MovedPieces{{pieces[0].box}, 0, {}};
    } else {
      structure->name = pieces[0].form == IndexedForm::kDiagonal ? "diagonal" : "stencil";
    }
    return;
  }
  const std::optional<int64_t> dim = DimOfConcatenation(&pieces, gather.shape());
  if (!dim) {
    structure->reason = absl::StrCat(pieces.size(), " pieces, not one after the other");
    return;
  }
  structure->form = IndexedForm::kConcatenation;
  structure->reason = absl::StrCat("pieces along d", *dim);
  MovedPieces moved;
  moved.dim = *dim;
  std::vector<std::string> names;
  bool are_boxes = true;
  for (const Recognised& piece : pieces) {
    const bool is_box = piece.form == IndexedForm::kBox;
    are_boxes = are_boxes && is_box;
    names.push_back(is_box                                 ? NameOfBox(piece, operand)
                    : piece.form == IndexedForm::kDiagonal ? "diagonal"
                                                           : "stencil");
    moved.boxes.push_back(piece.box);
    moved.sizes.push_back(*piece.elements[*dim].Size());
  }
  if (names.size() > kMaxReplacedPieces) {
    names.resize(kMaxReplacedPieces);
    names.push_back("..");
  }
  structure->name =
      absl::StrCat("concatenation of ", pieces.size(), ": ", absl::StrJoin(names, "; "));
  if (are_boxes && pieces.size() <= kMaxReplacedPieces) structure->replacement.gather = moved;
}

void RecogniseScatter(const HloInstruction& scatter, const std::vector<OperandIndexing>& maps,
                      IndexStructure* structure) {
  const HloInstruction* combiner = scatter.to_apply()->root_instruction();
  const bool replaces =
      combiner->opcode() == HloOpcode::kParameter && combiner->parameter_number() == 1;
  const Shape& updates = scatter.operand(2)->shape();
  const bool is_whole = maps.size() == 1 && !HasRuntimeValues(maps);
  const Recognised piece = is_whole ? RecognisePiece(maps[0].map()) : Recognised();
  bool is_update = piece.form == IndexedForm::kBox && replaces;
  int64_t elements = 1;
  for (const MovedAxis& axis : piece.box) {
    is_update = is_update && axis.stride == 1;
    elements *= axis.count;
  }
  // All updates go somewhere, each to a place of its own.
  is_update = is_update && elements == updates.ElementCount().value_or(-1);
  if (is_update) {
    structure->form = IndexedForm::kUpdate;
    structure->name = "dynamic-update-slice";
    structure->reason = maps[0].MapToString();
    structure->replacement.scatter = ReplacedBox{piece.box};
    return;
  }
  if (structure->unique.holds == Answer::kYes && !replaces) {
    structure->form = IndexedForm::kAccumulation;
    structure->name = "accumulation over disjoint windows";
    structure->reason = structure->unique.reason;
    return;
  }
  structure->reason = HasRuntimeValues(maps)   ? "the indices depend on runtime values"
                      : !piece.why_not.empty() ? piece.why_not
                                               : "updates do not replace one box";
}

}  // namespace

bool HasIndexStructure(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kGather ||
         (instruction.opcode() == HloOpcode::kScatter && instruction.operand_count() == 3);
}

absl::StatusOr<IndexStructure> IndexStructureOf(const HloInstruction& instruction,
                                                mlir::MLIRContext* context) {
  if (!HasIndexStructure(instruction)) {
    return absl::InvalidArgumentError(absl::StrCat("indices: ", instruction.name(), " (",
                                                   OpcodeName(instruction.opcode()),
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

  FusionOptions options;
  options.indexing.exact = true;
  const auto entries =
      HloIndexer(context, options)
          .Index(instruction, is_gather ? Direction::kOutputToInput : Direction::kInputToOutput);
  if (!entries.ok()) return entries.status();
  const auto maps = ExactPieces(**entries, is_gather ? 0 : 2);
  if (!is_gather) {
    structure.unique = maps ? UniquenessOf(*maps, &budget)
                            : IndexProperty{Answer::kUndecided, "the maps are not exact"};
  }
  if (!maps) {
    structure.reason = "the maps are not exact";
  } else if (maps->empty()) {
    structure.reason = "there are no elements";
  } else if (is_gather) {
    RecogniseGather(instruction, *maps, &structure);
  } else {
    RecogniseScatter(instruction, *maps, &structure);
  }
  structure.replacement.is_sorted = structure.sorted.holds == Answer::kYes &&
                                    !instruction.GetBool(AttributeKey::kIndicesAreSorted);
  // What is dropped goes to no element, but its vectors may be equal.
  structure.replacement.is_unique = !is_gather && structure.unique.holds == Answer::kYes &&
                                    structure.in_bounds.holds == Answer::kYes &&
                                    !instruction.GetBool(AttributeKey::kUniqueIndices);
  return structure;
}

absl::StatusOr<std::unique_ptr<HloModule>> RewriteIndices(const HloModule& module,
                                                          mlir::MLIRContext* context) {
  IndexedReplacements replacements;
  for (const HloComputation* computation : module.computations()) {
    for (const HloInstruction* instruction : computation->instructions()) {
      if (!HasIndexStructure(*instruction)) continue;
      absl::StatusOr<IndexStructure> structure = IndexStructureOf(*instruction, context);
      if (!structure.ok()) return structure.status();
      if (structure->IsReplaceable()) {
        replacements.emplace(instruction, std::move(structure->replacement));
      }
    }
  }
  return ReplaceIndexed(module, replacements);
}

}  // namespace xla_indexing
