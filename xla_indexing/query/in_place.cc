#include "xla_indexing/query/in_place.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/hlo/internal/physical_layout.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/map/domain.h"
#include "xla_indexing/map/inverse.h"
#include "xla_indexing/query/internal/changed_parts.h"
#include "xla_indexing/query/internal/order_conflicts.h"
#include "xla_indexing/query/utilization.h"

namespace xla_indexing {
namespace {

using internal::ChangedPart;
using internal::ChangedPartsOf;
using internal::ConflictCell;
using internal::ConflictRelation;
using internal::CoordinateKind;
using internal::FoundOrder;
using internal::Int128;
using internal::LeastPointOf;
using internal::OrderConflicts;
using internal::PhysicalLayout;
using internal::PhysicalLayoutOf;
using internal::RestrictTo;
using internal::SharedLeaves;
using ::mlir::AffineExpr;

constexpr int64_t kInPlaceSteps = int64_t{1} << 22;
constexpr size_t kMaxRelations = 512;

FusionOptions ExactMaps() {
  FusionOptions options;
  options.indexing.exact = true;
  return options;
}

// From an element of an array with the shape `from` to the elements of one with the shape `to` that
// share bits with it where both arrays begin at one address.
absl::StatusOr<OperandIndexing> PlaceMap(const Shape& from, const Shape& to,
                                         mlir::MLIRContext* context) {
  HloModule module("places");
  HloComputation* computation = module.AddComputation("places");
  HloInstruction* operand = computation->AddParameter(0, "from", from);
  HloInstruction* bitcast = computation->AddInstruction(HloOpcode::kBitcast, "to", to, {operand});
  const auto entries = HloIndexer(context).Index(*bitcast, Direction::kInputToOutput);
  if (!entries.ok()) return entries.status();
  if ((*entries)->empty()) {
    return OperandIndexing(kPartsFit, IndexingMap::MakeEmpty(context, static_cast<int>(from.rank()),
                                                             0, 0, static_cast<int>(to.rank())));
  }
  return (*entries)->front().indexing.maps().front();
}

// The map from (d, r) to (f(d), r), for `count` further dimensions r.
OperandIndexing WithMoreDims(const OperandIndexing& indexing, llvm::ArrayRef<Variable> more) {
  const IndexingMap& map = indexing.map();
  Variables dims(map.dims());
  llvm::SmallVector<AffineExpr, 8> results(map.results());
  for (const Variable& variable : more) {
    results.push_back(mlir::getAffineDimExpr(dims.size(), map.context()));
    dims.push_back(variable);
  }
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(dims.size(), map.num_symbols(), results, map.context());
  return OperandIndexing(
      kPartsFit,
      IndexingMap(kPartsFit, affine_map, std::move(dims), Variables(map.ranges()),
                  Variables(map.runtimes()), Constraints(map.constraints())),
      RuntimeVarIndexings(indexing.bindings().begin(), indexing.bindings().end()),
      indexing.label());
}

// From d to (f(d), d).
OperandIndexing WithDimsAsResults(const OperandIndexing& indexing) {
  const IndexingMap& map = indexing.map();
  llvm::SmallVector<AffineExpr, 8> results(map.results());
  for (int i = 0; i < map.num_dims(); ++i) {
    results.push_back(mlir::getAffineDimExpr(i, map.context()));
  }
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(map.num_dims(), map.num_symbols(), results, map.context());
  return OperandIndexing(
      kPartsFit,
      IndexingMap(kPartsFit, affine_map, Variables(map.dims()), Variables(map.ranges()),
                  Variables(map.runtimes()), Constraints(map.constraints())),
      RuntimeVarIndexings(indexing.bindings().begin(), indexing.bindings().end()),
      indexing.label());
}

// Whether some coordinate of two elements, over variables of one map, differs by a constant.
bool AreNeverEqual(llvm::ArrayRef<AffineExpr> a, llvm::ArrayRef<AffineExpr> b) {
  for (const auto& [x, y] : llvm::zip(a, b)) {
    const AffineExpr difference = internal::Sub(x, y);
    if (!difference) continue;
    const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(difference);
    if (constant && constant.getValue() != 0) return true;
  }
  return false;
}

// What the elements of an instruction are elements of.
const HloInstruction* MovedFrom(const HloInstruction* instruction) {
  while (true) {
    switch (instruction->opcode()) {
      case HloOpcode::kBitcast:
        if (internal::BitsOfElement(instruction->shape()) !=
            internal::BitsOfElement(instruction->operand(0)->shape())) {
          return instruction;
        }
        break;
      case HloOpcode::kCopy:
      case HloOpcode::kReshape:
      case HloOpcode::kReverse:
      case HloOpcode::kSlice:
      case HloOpcode::kTranspose:
        break;
      default:
        return instruction;
    }
    instruction = instruction->operand(0);
  }
}

// Why some values of the runtime variables may not occur together; empty where all do.
std::string WhyNotFree(const OperandIndexing& indexing) {
  const absl::Span<const RuntimeVarIndexing> bindings = indexing.bindings();
  for (size_t i = 0; i < bindings.size(); ++i) {
    const RuntimeVarIndexing& binding = bindings[i];
    const HloInstruction* source = MovedFrom(binding.instruction);
    if (!binding.call_path.empty() || binding.device || source->opcode() != HloOpcode::kParameter) {
      return absl::StrCat("it depends on the values of ", binding.instruction->name(),
                          ", which are computed");
    }
    for (size_t k = 0; k < i; ++k) {
      const RuntimeVarIndexing& other = bindings[k];
      if (MovedFrom(other.instruction) != source || other.leaf != binding.leaf) continue;
      if (other.instruction != binding.instruction ||
          !AreNeverEqual(other.element, binding.element)) {
        return absl::StrCat("it depends on several values of ", binding.instruction->name(),
                            ", which may be one");
      }
    }
  }
  return "";
}

std::string ElementText(absl::Span<const int64_t> element) {
  return absl::StrCat("{", absl::StrJoin(element, ","), "}");
}

// A maximum matching of a bipartite graph, as the right side of each left one, or -1; by paths that
// enlarge it (Kuhn).
std::vector<int> MaximumMatching(const std::vector<std::vector<int>>& edges, int num_right) {
  std::vector<int> left_of(num_right, -1);
  for (size_t left = 0; left < edges.size(); ++left) {
    std::vector<bool> is_seen(num_right, false);
    const std::function<bool(int)> enlarge = [&](int from) {
      for (const int right : edges[from]) {
        if (is_seen[right]) continue;
        is_seen[right] = true;
        if (left_of[right] < 0 || enlarge(left_of[right])) {
          left_of[right] = from;
          return true;
        }
      }
      return false;
    };
    enlarge(static_cast<int>(left));
  }
  std::vector<int> right_of(edges.size(), -1);
  for (int right = 0; right < num_right; ++right) {
    if (left_of[right] >= 0) right_of[left_of[right]] = right;
  }
  return right_of;
}

}  // namespace

std::string InPlaceConflict::ToString() const {
  std::string text = absl::StrCat("element ", ElementText(writer), " is written before element ",
                                  ElementText(reader));
  if (reader_leaf) absl::StrAppend(&text, " of output ", *reader_leaf);
  absl::StrAppend(&text, " reads element ", ElementText(operand), " of the operand, at byte ",
                  byte);
  for (size_t i = 0; i < runtime_values.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? ", where " : " and ", runtime_values[i].first, " = ",
                    runtime_values[i].second);
  }
  return text;
}

std::string RuntimeCondition::ToString() const {
  std::string text;
  if (!values.has_lower() || values.lower() < unsafe.lower()) {
    absl::StrAppend(&text, runtime, " <= ", unsafe.lower() - 1);
  }
  if (!values.has_upper() || values.upper() > unsafe.upper()) {
    absl::StrAppend(&text, text.empty() ? "" : " or ", runtime, " >= ", unsafe.upper() + 1);
  }
  return text;
}

std::string InPlaceSafety::ToString() const {
  std::string text;
  switch (answer) {
    case InPlaceAnswer::kAnyOrder:
      return "any order";
    case InPlaceAnswer::kInOrder:
      text = "in order ";
      for (size_t i = 0; i < order.size(); ++i) {
        absl::StrAppend(&text, i == 0 ? "" : ", ", "d", order[i].dimension,
                        order[i].is_descending ? " descending" : " ascending");
      }
      if (conflict) absl::StrAppend(&text, "; otherwise unsafe: ", conflict->ToString());
      break;
    case InPlaceAnswer::kUnsafe:
      text = absl::StrCat("unsafe: ", conflict ? conflict->ToString() : reason);
      break;
    case InPlaceAnswer::kUndecided:
      text = absl::StrCat("undecided: ", reason);
      break;
  }
  if (condition) absl::StrAppend(&text, "; any order where ", condition->ToString());
  return text;
}

class InPlaceAnalysis::Impl {
 public:
  // With the shapes of what is asked about, and the parameter of the view that each is.
  Impl(FusionView view, const std::vector<const Shape*>& operand_shapes,
       std::vector<std::optional<int64_t>> parameter_of, mlir::MLIRContext* context)
      : view_(std::move(view)),
        parameter_of_(std::move(parameter_of)),
        context_(context),
        indexer_(context, ExactMaps()) {
    for (const Shape* shape : operand_shapes) operand_shapes_.push_back(*shape);
  }

  const Shape& output() const { return view_.computation().root_instruction()->shape(); }
  const std::vector<Shape>& operands() const { return operand_shapes_; }

  absl::Status CheckLeaves(const SharedBuffer& buffer) const {
    if (buffer.output_leaf < 0 || buffer.output_leaf >= output().LeafCount() ||
        !output().Leaf(buffer.output_leaf).IsArray()) {
      return absl::InvalidArgumentError(absl::StrCat("in place: there is no array that is leaf ",
                                                     buffer.output_leaf, " of the output ",
                                                     output().ToString()));
    }
    const auto& [operand, leaf] = buffer.operand;
    if (operand < 0 || operand >= static_cast<int64_t>(operand_shapes_.size()) || leaf < 0 ||
        leaf >= operand_shapes_[operand].LeafCount() ||
        !operand_shapes_[operand].Leaf(leaf).IsArray()) {
      return absl::InvalidArgumentError(
          absl::StrCat("in place: there is no array that is leaf ", leaf, " of operand ", operand));
    }
    return absl::OkStatus();
  }

  const Shape& OutputLeaf(const SharedBuffer& buffer) const {
    return output().Leaf(buffer.output_leaf);
  }
  const Shape& OperandLeafShape(const SharedBuffer& buffer) const {
    return operand_shapes_[buffer.operand.operand].Leaf(buffer.operand.operand_leaf);
  }

  // One question about one pair of leaves.
  class Question;

  FusionView view_;
  std::vector<Shape> operand_shapes_;
  std::vector<std::optional<int64_t>> parameter_of_;
  mlir::MLIRContext* context_;
  HloIndexer indexer_;
};

class InPlaceAnalysis::Impl::Question {
 public:
  Question(Impl* impl, const SharedBuffer& buffer)
      : impl_(*impl), buffer_(buffer), budget_(kInPlaceSteps) {}

  // Reads the maps, over the elements of the output or over iterations.
  absl::Status Prepare(const IterationMap* iterations) {
    const std::optional<int64_t> parameter = impl_.parameter_of_[buffer_.operand.operand];
    const Shape& output = impl_.OutputLeaf(buffer_);
    const Shape& operand = impl_.OperandLeafShape(buffer_);
    auto place = PlaceMap(operand, output, impl_.context_);
    if (!place.ok()) return place.status();
    place_ = *std::move(place);
    if (!place_->IsExact()) {
      Doubt(absl::StrCat("where elements lie is not known: ", place_->label().reason));
      return absl::OkStatus();
    }
    const std::optional<Interval> output_bytes = BufferBytesOf(output);
    const std::optional<Interval> operand_bytes = BufferBytesOf(operand);
    if (output_bytes && operand_bytes && output_bytes->lower() > operand_bytes->lower()) {
      Doubt("the buffer of the operand is smaller than that of the output");
      return absl::OkStatus();
    }
    SetKinds(output, iterations);
    if (!parameter) return absl::OkStatus();
    const SharedLeaves leaves{impl_.view_.computation(), buffer_.output_leaf, *parameter,
                              buffer_.operand.operand_leaf};
    parts_ = ChangedPartsOf(leaves, *place_, &impl_.indexer_);
    const auto entries = impl_.indexer_.Index(impl_.view_.computation(), Direction::kOutputToInput);
    if (!entries.ok()) return entries.status();
    for (const IndexingEntry& entry : **entries) {
      if (entry.operand != *parameter || entry.operand_leaf != buffer_.operand.operand_leaf) {
        continue;
      }
      for (const OperandIndexing& map : entry.indexing) {
        if (map.IsUnknown()) Doubt(map.label().reason);
        if (map.replica_map() != nullptr) Doubt("an element of another device is read");
        if (!doubt_.empty()) return absl::OkStatus();
        reads_.push_back({entry.output_leaf, map});
      }
    }
    return absl::OkStatus();
  }

  // After Prepare(): the conflicts between iterations.
  absl::Status BuildConflicts(const IterationMap* iterations) {
    if (!doubt_.empty()) return absl::OkStatus();
    if (iterations != nullptr) {
      if (absl::Status status = SetIterations(*iterations); !status.ok()) return status;
    } else if (const Shape& output = impl_.OutputLeaf(buffer_);
               internal::BitsOfElement(output) < 8 && !ReadsInPlaceOnly()) {
      if (absl::Status status = SetBytes(output); !status.ok()) return status;
    }
    if (!doubt_.empty()) return absl::OkStatus();
    if (reads_.size() * parts_.size() > kMaxRelations) {
      Doubt(absl::StrCat("there are ", reads_.size(), " maps and ", parts_.size(),
                         " parts that change"));
      return absl::OkStatus();
    }
    std::vector<ConflictRelation> relations;
    for (size_t read = 0; read < reads_.size(); ++read) {
      for (size_t part = 0; part < parts_.size(); ++part) {
        absl::StatusOr<OperandIndexing> writers = Chain(read, part, /*with_operand=*/false);
        if (!writers.ok()) {
          Doubt(std::string(writers.status().message()));
          return absl::OkStatus();
        }
        writers->Simplify();
        if (writers->IsKnownEmpty()) continue;
        ConflictRelation relation{*std::move(writers), true, "", IsOutside(read)};
        for (const std::string& why :
             {reads_[read].map.label().reason, parts_[part].why_not_certain,
              WhyNotFree(relation.writers)}) {
          if (why.empty() || !relation.is_certain) continue;
          relation.is_certain = false;
          relation.why_not_certain = why;
        }
        relations.push_back(std::move(relation));
        sources_.push_back({read, part});
      }
    }
    conflicts_.emplace(std::move(relations), kinds_, &budget_);
    return absl::OkStatus();
  }

  InPlaceSafety Decide() {
    InPlaceSafety safety;
    if (!doubt_.empty()) return Undecided();
    if (conflicts_->IsSafeInAnyOrder() == Answer::kYes) {
      safety.answer = InPlaceAnswer::kAnyOrder;
      return safety;
    }
    const FoundOrder found = conflicts_->FindOrder();
    if (found.is_safe == Answer::kUndecided) return Undecided();
    if (are_bytes_ && found.is_safe == Answer::kNo) {
      Doubt("rows are no whole bytes, and in the order of memory elements meet");
      return Undecided();
    }
    LoopOrder natural = NaturalOrder();
    safety.condition = ConditionOf();
    if (found.is_safe == Answer::kYes) {
      if (are_bytes_ && found.loops.front().is_descending) {
        for (DirectedLoop& loop : natural) loop.is_descending = true;
      }
      safety.answer = InPlaceAnswer::kInOrder;
      safety.order = are_bytes_ ? natural : found.loops;
      safety.conflict = ConflictIn(are_bytes_ ? LoopOrder{} : natural);
      if (!safety.conflict) safety.conflict = ConflictIn({});
      return safety;
    }
    safety.conflict = ConflictIn(natural);
    if (!safety.conflict) safety.conflict = ConflictIn({});
    if (!safety.conflict) return Undecided();
    safety.answer = InPlaceAnswer::kUnsafe;
    return safety;
  }

  // In one order, or where `order` is that of the kinds of coordinates alone.
  InPlaceSafety DecideIn(const LoopOrder& order) {
    if (!doubt_.empty()) return Undecided();
    InPlaceSafety safety;
    switch (conflicts_->IsSafeIn(order)) {
      case Answer::kYes:
        safety.answer = order.empty() || conflicts_->IsSafeInAnyOrder() == Answer::kYes
                            ? InPlaceAnswer::kAnyOrder
                            : InPlaceAnswer::kInOrder;
        if (safety.answer == InPlaceAnswer::kInOrder) safety.order = order;
        return safety;
      case Answer::kNo:
        safety.conflict = ConflictIn(order);
        if (!safety.conflict) break;
        safety.answer = InPlaceAnswer::kUnsafe;
        safety.condition = ConditionOf();
        return safety;
      case Answer::kUndecided:
        break;
    }
    return Undecided();
  }

  // The loops of given iterations, upwards.
  LoopOrder LoopsOfIterations() const {
    LoopOrder order;
    for (size_t i = 0; i < kinds_.size(); ++i) {
      if (kinds_[i] == CoordinateKind::kLoop) order.push_back({static_cast<int>(i), false});
    }
    return order;
  }

  bool AreBytes() const { return are_bytes_; }
  const std::string& doubt() const { return doubt_; }
  const std::vector<ChangedPart>& parts() const { return parts_; }

 private:
  struct Read {
    int64_t output_leaf;
    OperandIndexing map;
  };

  void Doubt(std::string why) {
    if (doubt_.empty()) doubt_ = std::move(why);
  }

  InPlaceSafety Undecided() const {
    InPlaceSafety safety;
    safety.reason = !doubt_.empty() ? doubt_ : conflicts_ ? conflicts_->why_undecided() : "";
    if (QuestionBudget::IsSpent()) safety.reason = QuestionBudget::Reason();
    if (safety.reason.empty()) safety.reason = "no two elements were found that meet";
    return safety;
  }

  void SetKinds(const Shape& output, const IterationMap* iterations) {
    if (iterations == nullptr) {
      kinds_.assign(output.rank(), CoordinateKind::kLoop);
      return;
    }
    kinds_.assign(iterations->elements.num_dims(), CoordinateKind::kParallel);
    for (int i = 0; i < iterations->elements.num_ranges(); ++i) {
      kinds_.push_back(absl::c_linear_search(iterations->together, i) ? CoordinateKind::kTogether
                                                                      : CoordinateKind::kLoop);
    }
  }

  // Whether every element reads the element in its own place alone.
  bool ReadsInPlaceOnly() const {
    return absl::c_all_of(reads_, [&](const Read& read) {
      if (!IsOfSizesOfOutput(read.output_leaf)) return false;
      absl::StatusOr<OperandIndexing> places = ComposeOperandIndexing(read.map, *place_);
      if (!places.ok()) return false;
      places->Simplify();
      if (places->IsKnownEmpty()) return true;
      for (int i = 0; i < places->map().num_results(); ++i) {
        if (places->map().results()[i] != mlir::getAffineDimExpr(i, impl_.context_)) return false;
      }
      return true;
    });
  }

  bool IsOfSizesOfOutput(int64_t leaf) const {
    return SameDimensions(impl_.output().Leaf(leaf), impl_.OutputLeaf(buffer_));
  }
  bool IsOutside(size_t read) const { return !IsOfSizesOfOutput(reads_[read].output_leaf); }

  absl::Status SetIterations(const IterationMap& iterations) {
    const IndexingMap& map = iterations.elements;
    const Shape& output = impl_.OutputLeaf(buffer_);
    if (map.num_results() != output.rank() || map.num_runtimes() != 0 ||
        absl::c_any_of(iterations.together,
                       [&](int i) { return i < 0 || i >= map.num_ranges(); })) {
      return absl::InvalidArgumentError(absl::StrCat("in place: iterations ", map.ToString(),
                                                     " are none of ", output.ToString()));
    }
    if (absl::Status status = map.Verify(); !status.ok()) return status;
    iterations_ = OperandIndexing(kPartsFit, map.ConvertRangeVariablesToDimensions());
    return SetIterationOf();
  }

  // Iterations are the bytes of the output: along the most minor dimension, where each row has whole
  // bytes, and otherwise all in the order of memory.
  absl::Status SetBytes(const Shape& output) {
    const absl::StatusOr<PhysicalLayout> layout = PhysicalLayoutOf(output);
    if (!layout.ok()) return layout.status();
    const int64_t in_byte = 8 / layout->width;
    const int64_t rank = output.rank();
    const int64_t minor = rank == 0 ? -1 : layout->major_to_minor.back();
    if (layout->tilings.empty() && rank > 0 && output.dimension(minor) % in_byte == 0) {
      return SetBytesOfRows(output, minor, in_byte);
    }
    const Shape bytes = Shape::Array(output.element_type(),
                                     {internal::CeilDiv(layout->positions, in_byte), in_byte});
    if (layout->width != internal::BitsOfElement(bytes) || !layout->tilings.empty()) {
      Doubt("elements are narrower than a byte, and not in the order of their indices");
      return absl::OkStatus();
    }
    const absl::StatusOr<OperandIndexing> elements = PlaceMap(bytes, output, impl_.context_);
    if (!elements.ok()) return elements.status();
    iterations_ = *elements;
    kinds_ = {CoordinateKind::kLoop, CoordinateKind::kTogether};
    are_bytes_ = true;
    return SetIterationOf();
  }

  absl::Status SetBytesOfRows(const Shape& output, int64_t minor, int64_t in_byte) {
    Variables dims;
    llvm::SmallVector<AffineExpr, 4> results;
    for (int64_t i = 0; i < output.rank(); ++i) {
      const int64_t size = output.dimension(i);
      dims.push_back({Interval::OfSize(i == minor ? size / in_byte : size), {}});
      results.push_back(mlir::getAffineDimExpr(i, impl_.context_));
    }
    dims.push_back({Interval::OfSize(in_byte), {}});
    results[minor] = internal::Add(internal::Scale(results[minor], in_byte),
                                   mlir::getAffineDimExpr(output.rank(), impl_.context_));
    const mlir::AffineMap map = mlir::AffineMap::get(dims.size(), 0, results, impl_.context_);
    iterations_ = OperandIndexing(kPartsFit, IndexingMap(kPartsFit, map, std::move(dims), {}, {}));
    kinds_.push_back(CoordinateKind::kTogether);
    return SetIterationOf();
  }

  // Which iteration an element belongs to.
  absl::Status SetIterationOf() {
    const absl::StatusOr<IndexingMap> inverse = Inverse(iterations_->map());
    if (!inverse.ok()) {
      Doubt(absl::StrCat("which iteration computes an element is not known: ",
                         inverse.status().message()));
      return absl::OkStatus();
    }
    iteration_of_ = OperandIndexing(kPartsFit, *inverse);
    return absl::OkStatus();
  }

  // From iterations that read, through one map, to those that change one part of what is read;
  // `with_operand` adds the element of the operand to the results.
  absl::StatusOr<OperandIndexing> Chain(size_t read, size_t part, bool with_operand) const {
    const OperandIndexing& reads = reads_[read].map;
    const bool is_outside = IsOutside(read);
    absl::StatusOr<OperandIndexing> chain =
        iterations_ && !is_outside ? ComposeOperandIndexing(*iterations_, reads) : reads;
    llvm::SmallVector<OperandIndexing, 3> steps = {*place_, parts_[part].elements};
    if (iteration_of_ && !is_outside) steps.push_back(*iteration_of_);
    if (with_operand) {
      const Variables operand(place_->map().dims());
      steps[0] = WithDimsAsResults(steps[0]);
      for (size_t i = 1; i < steps.size(); ++i) steps[i] = WithMoreDims(steps[i], operand);
    }
    for (const OperandIndexing& step : steps) {
      if (!chain.ok()) break;
      chain = ComposeOperandIndexing(*chain, step);
      if (chain.ok()) chain->Simplify();
      if (chain.ok() && chain->IsKnownEmpty()) break;
    }
    return chain;
  }

  LoopOrder NaturalOrder() const {
    LoopOrder order;
    const Shape& output = impl_.OutputLeaf(buffer_);
    const absl::StatusOr<PhysicalLayout> layout = PhysicalLayoutOf(output);
    for (int64_t i = 0; i < output.rank(); ++i) {
      order.push_back({static_cast<int>(layout.ok() ? layout->major_to_minor[i] : i), false});
    }
    return order;
  }

  std::vector<int64_t> ElementAt(llvm::ArrayRef<int64_t> coordinates, bool is_outside) const {
    if (!iterations_ || is_outside) return {coordinates.begin(), coordinates.end()};
    const auto element = iterations_->map().Evaluate(coordinates, {});
    if (!element.ok()) return {};
    return {element->begin(), element->end()};
  }

  std::optional<InPlaceConflict> ConflictIn(const LoopOrder& order) {
    const auto found = conflicts_->FindConflict(order);
    if (!found) return std::nullopt;
    const auto& [relation, cell] = *found;
    const auto [read, part] = sources_[relation];
    const bool is_outside = IsOutside(read);
    absl::StatusOr<OperandIndexing> chain = Chain(read, part, /*with_operand=*/true);
    if (!chain.ok() || chain->IsKnownEmpty()) return std::nullopt;
    const std::optional<IndexingMap> domain =
        is_outside ? chain->map() : RestrictTo(cell, chain->map());
    if (!domain) return std::nullopt;
    const auto point = LeastPointOf(*domain, &budget_);
    if (!point) return std::nullopt;
    const llvm::ArrayRef<int64_t> all = *point;
    const auto num_dims = static_cast<size_t>(domain->num_dims());
    const auto results = domain->Evaluate(all.take_front(num_dims), all.drop_front(num_dims));
    if (!results.ok()) return std::nullopt;
    const Shape& output = impl_.OutputLeaf(buffer_);
    const Shape& operand = impl_.OperandLeafShape(buffer_);
    const llvm::ArrayRef<int64_t> ends = *results;
    const auto operand_rank = static_cast<size_t>(operand.rank());
    InPlaceConflict conflict;
    conflict.reader = ElementAt(all.take_front(num_dims), is_outside);
    conflict.writer = ElementAt(ends.drop_back(operand_rank), is_outside);
    if (reads_[read].output_leaf != buffer_.output_leaf) {
      conflict.reader_leaf = reads_[read].output_leaf;
    }
    const llvm::ArrayRef<int64_t> element = ends.take_back(operand_rank);
    conflict.operand.assign(element.begin(), element.end());
    const absl::StatusOr<PhysicalLayout> of_output = PhysicalLayoutOf(output);
    const absl::StatusOr<PhysicalLayout> of_operand = PhysicalLayoutOf(operand);
    if (!of_output.ok() || !of_operand.ok()) return std::nullopt;
    const Int128 bit =
        std::max(Int128{PositionOf(*of_output, conflict.writer)} * of_output->width,
                 Int128{PositionOf(*of_operand, conflict.operand)} * of_operand->width);
    conflict.byte = static_cast<int64_t>(bit / 8);
    const auto num_ranges = static_cast<size_t>(domain->num_ranges());
    for (int i = 0; i < domain->num_runtimes(); ++i) {
      conflict.runtime_values.emplace_back(NameOf(chain->bindings()[i]),
                                           all[num_dims + num_ranges + i]);
    }
    return conflict;
  }

  std::string NameOf(const RuntimeVarIndexing& binding) const {
    return binding.YieldedBy(&impl_.view_.computation());
  }

  // Where one runtime variable, the same for all elements, decides.
  std::optional<RuntimeCondition> ConditionOf() {
    std::optional<RuntimeVarIndexing> decides;
    Interval unsafe = Interval::Empty();
    Interval values = Interval::Empty();
    std::vector<ConflictCell> cells;
    for (int i = 0; i < static_cast<int>(kinds_.size()); ++i) {
      if (kinds_[i] == CoordinateKind::kTogether) continue;
      for (const int sign : {-1, 1}) cells.push_back({{i, sign}});
    }
    for (size_t i = 0; i < sources_.size(); ++i) {
      const ConflictRelation& relation = conflicts_->relation(i);
      const IndexingMap& map = relation.writers.map();
      if (relation.is_outside) return std::nullopt;
      for (const ConflictCell& cell : cells) {
        const std::optional<IndexingMap> domain = RestrictTo(cell, map);
        if (!domain) return std::nullopt;
        if (DomainHasIntegerPoint(*domain, &budget_) == Answer::kNo) continue;
        if (map.num_runtimes() != 1 || !IsSameForAll(relation.writers.bindings()[0])) {
          return std::nullopt;
        }
        const RuntimeVarIndexing& binding = relation.writers.bindings()[0];
        if (decides && !(*decides == binding)) return std::nullopt;
        decides = binding;
        values = binding.ValueRange();
        const AffineExpr variable = mlir::getAffineSymbolExpr(map.num_ranges(), map.context());
        const Interval bounds = map.runtimes()[0].bounds.Intersect(values);
        unsafe = unsafe.Union(HullOver(*domain, variable, bounds, &budget_));
      }
    }
    if (!decides || unsafe.IsEmpty() || !unsafe.IsFinite() || values.IsSubsetOf(unsafe)) {
      return std::nullopt;
    }
    // The ends of int64 have no neighbour.
    if (unsafe.lower() == internal::kInt64Min || unsafe.upper() == internal::kInt64Max) {
      return std::nullopt;
    }
    return RuntimeCondition{NameOf(*decides), values, unsafe};
  }

  static bool IsSameForAll(const RuntimeVarIndexing& binding) {
    return absl::c_all_of(binding.element, [](AffineExpr e) {
      return e.isSymbolicOrConstant() && llvm::isa<mlir::AffineConstantExpr>(e);
    });
  }

  Impl& impl_;
  const SharedBuffer buffer_;
  StepBudget budget_;
  std::string doubt_;
  std::optional<OperandIndexing> place_;
  std::vector<ChangedPart> parts_;
  std::vector<Read> reads_;
  std::vector<CoordinateKind> kinds_;
  bool are_bytes_ = false;
  std::optional<OperandIndexing> iterations_;
  std::optional<OperandIndexing> iteration_of_;
  std::vector<std::pair<size_t, size_t>> sources_;  // read and part of each relation
  std::optional<OrderConflicts> conflicts_;
};

InPlaceAnalysis::InPlaceAnalysis(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
InPlaceAnalysis::InPlaceAnalysis(InPlaceAnalysis&& other) noexcept = default;
InPlaceAnalysis& InPlaceAnalysis::operator=(InPlaceAnalysis&& other) noexcept = default;
InPlaceAnalysis::~InPlaceAnalysis() = default;

absl::StatusOr<InPlaceAnalysis> InPlaceAnalysis::OfComputation(const HloComputation& computation,
                                                               mlir::MLIRContext* context) {
  absl::StatusOr<FusionView> view = FusionView::OfComputation(computation);
  if (!view.ok()) return view.status();
  std::vector<const Shape*> shapes;
  std::vector<std::optional<int64_t>> parameter_of;
  for (const HloInstruction* parameter : computation.parameters()) {
    shapes.push_back(&parameter->shape());
    parameter_of.push_back(view->ParameterOf(*parameter));
  }
  return InPlaceAnalysis(
      std::make_unique<Impl>(*std::move(view), shapes, std::move(parameter_of), context));
}

absl::StatusOr<InPlaceAnalysis> InPlaceAnalysis::OfInstruction(const HloInstruction& instruction,
                                                               mlir::MLIRContext* context) {
  absl::StatusOr<FusionView> view = FusionView::OfFusion(instruction);
  if (!view.ok()) return view.status();
  std::vector<const Shape*> shapes;
  std::vector<std::optional<int64_t>> parameter_of;
  for (const HloInstruction* operand : instruction.operands()) {
    shapes.push_back(&operand->shape());
    parameter_of.push_back(view->ParameterOf(*operand));
  }
  return InPlaceAnalysis(
      std::make_unique<Impl>(*std::move(view), shapes, std::move(parameter_of), context));
}

absl::StatusOr<InPlaceAnalysis> InPlaceAnalysis::OfView(FusionView view,
                                                        mlir::MLIRContext* context) {
  std::vector<const Shape*> shapes;
  std::vector<std::optional<int64_t>> parameter_of;
  for (const HloInstruction* parameter : view.computation().parameters()) {
    shapes.push_back(&parameter->shape());
    parameter_of.emplace_back(parameter->parameter_number());
  }
  return InPlaceAnalysis(
      std::make_unique<Impl>(std::move(view), shapes, std::move(parameter_of), context));
}

std::vector<SharedBuffer> InPlaceAnalysis::Candidates(int64_t max_pairs) const {
  std::vector<SharedBuffer> candidates;
  const Shape& output = impl_->output();
  std::multimap<int64_t, OperandLeaf> by_bytes;
  const auto bytes_of = [](const Shape& leaf) {
    const auto bytes = leaf.IsArray() ? BufferBytesOf(leaf) : std::nullopt;
    return bytes && bytes->IsPoint() ? bytes->lower() : int64_t{0};
  };
  for (size_t i = 0; i < impl_->operands().size(); ++i) {
    const Shape& operand = impl_->operands()[i];
    for (int64_t leaf = 0; leaf < operand.LeafCount(); ++leaf) {
      const int64_t bytes = bytes_of(operand.Leaf(leaf));
      if (bytes > 0) by_bytes.emplace(bytes, OperandLeaf{static_cast<int64_t>(i), leaf});
    }
  }
  for (int64_t leaf = 0; leaf < output.LeafCount(); ++leaf) {
    // Multimaps keep equal keys in the order in which they came.
    const auto [begin, end] = by_bytes.equal_range(bytes_of(output.Leaf(leaf)));
    for (auto it = begin; it != end; ++it) {
      if (static_cast<int64_t>(candidates.size()) >= max_pairs) return candidates;
      candidates.push_back({leaf, it->second});
    }
  }
  return candidates;
}

absl::StatusOr<InPlaceSafety> InPlaceAnalysis::Safety(const SharedBuffer& buffer) {
  const QuestionBudget question;
  if (absl::Status status = impl_->CheckLeaves(buffer); !status.ok()) return status;
  Impl::Question asked(impl_.get(), buffer);
  if (absl::Status status = asked.Prepare(nullptr); !status.ok()) return status;
  if (absl::Status status = asked.BuildConflicts(nullptr); !status.ok()) return status;
  return asked.Decide();
}

absl::StatusOr<InPlaceSafety> InPlaceAnalysis::SafetyIn(const SharedBuffer& buffer,
                                                        const LoopOrder& order) {
  const QuestionBudget question;
  if (absl::Status status = impl_->CheckLeaves(buffer); !status.ok()) return status;
  std::vector<bool> is_used(impl_->OutputLeaf(buffer).rank(), false);
  for (const DirectedLoop& loop : order) {
    if (loop.dimension < 0 || loop.dimension >= static_cast<int>(is_used.size()) ||
        is_used[loop.dimension]) {
      return absl::InvalidArgumentError(absl::StrCat("in place: an order of the loops of ",
                                                     impl_->OutputLeaf(buffer).ToString(),
                                                     " has no second dimension ", loop.dimension));
    }
    is_used[loop.dimension] = true;
  }
  Impl::Question asked(impl_.get(), buffer);
  if (absl::Status status = asked.Prepare(nullptr); !status.ok()) return status;
  if (absl::Status status = asked.BuildConflicts(nullptr); !status.ok()) return status;
  // Bytes have orders of their own.
  if (asked.AreBytes()) {
    InPlaceSafety safety = asked.Decide();
    if (safety.answer == InPlaceAnswer::kInOrder && safety.order != order) {
      safety = InPlaceSafety();
      safety.reason =
          "elements are narrower than a byte, and those of one byte are written at once";
    }
    return safety;
  }
  return asked.DecideIn(order);
}

absl::StatusOr<InPlaceSafety> InPlaceAnalysis::SafetyUnder(const SharedBuffer& buffer,
                                                           const IterationMap& iterations) {
  const QuestionBudget question;
  if (absl::Status status = impl_->CheckLeaves(buffer); !status.ok()) return status;
  Impl::Question asked(impl_.get(), buffer);
  if (absl::Status status = asked.Prepare(&iterations); !status.ok()) return status;
  if (absl::Status status = asked.BuildConflicts(&iterations); !status.ok()) return status;
  InPlaceSafety safety = asked.DecideIn(asked.LoopsOfIterations());
  if (safety.answer == InPlaceAnswer::kInOrder) {
    safety.answer = InPlaceAnswer::kAnyOrder;
    safety.order.clear();
  }
  return safety;
}

absl::StatusOr<WrittenElements> InPlaceAnalysis::Written(const SharedBuffer& buffer) {
  const QuestionBudget question;
  if (absl::Status status = impl_->CheckLeaves(buffer); !status.ok()) return status;
  const Shape& output = impl_->OutputLeaf(buffer);
  WrittenElements written;
  Impl::Question asked(impl_.get(), buffer);
  if (absl::Status status = asked.Prepare(nullptr); !status.ok()) return status;
  if (impl_->parameter_of_[buffer.operand.operand] && asked.doubt().empty()) {
    for (const ChangedPart& part : asked.parts()) written.elements.Add(part.elements);
  } else {
    const absl::StatusOr<OperandIndexing> all = PlaceMap(output, output, impl_->context_);
    if (!all.ok()) return all.status();
    written.elements.Add(*all);
  }
  written.elements.Simplify();
  written.elements.DropSubsumed(output);
  const absl::StatusOr<Utilization> count = ComputeUtilization(written.elements, output, output);
  if (!count.ok()) return count.status();
  written.count = count->elements_read;
  written.of = output.ElementCount().value_or(0);
  return written;
}

absl::StatusOr<BufferSharing> InPlaceAnalysis::Share() {
  const QuestionBudget question;
  const std::vector<SharedBuffer> candidates = Candidates();
  std::vector<OperandLeaf> operands;
  std::vector<LoopOrder> orders = {{}};
  std::vector<InPlaceSafety> safeties;
  std::vector<int> right_of;
  for (const SharedBuffer& candidate : candidates) {
    absl::StatusOr<InPlaceSafety> safety = Safety(candidate);
    if (!safety.ok()) return safety.status();
    if (safety->answer == InPlaceAnswer::kInOrder &&
        !absl::c_linear_search(orders, safety->order)) {
      orders.push_back(safety->order);
    }
    safeties.push_back(*std::move(safety));
    auto it = absl::c_find(operands, candidate.operand);
    right_of.push_back(static_cast<int>(it - operands.begin()));
    if (it == operands.end()) operands.push_back(candidate.operand);
  }
  BufferSharing best;
  for (const LoopOrder& order : orders) {
    std::vector<std::vector<int>> edges(impl_->output().LeafCount());
    for (size_t i = 0; i < candidates.size(); ++i) {
      bool is_safe = safeties[i].answer == InPlaceAnswer::kAnyOrder;
      if (!is_safe && !order.empty() && safeties[i].answer == InPlaceAnswer::kInOrder) {
        const absl::StatusOr<InPlaceSafety> in_order = SafetyIn(candidates[i], order);
        is_safe = in_order.ok() && in_order->IsSafe();
      }
      if (is_safe) edges[candidates[i].output_leaf].push_back(right_of[i]);
    }
    const std::vector<int> matching = MaximumMatching(edges, static_cast<int>(operands.size()));
    BufferSharing sharing;
    sharing.order = order;
    for (size_t leaf = 0; leaf < matching.size(); ++leaf) {
      if (matching[leaf] < 0) continue;
      sharing.shared.push_back({static_cast<int64_t>(leaf), operands[matching[leaf]]});
    }
    if (sharing.shared.size() > best.shared.size()) best = std::move(sharing);
  }
  return best;
}

}  // namespace xla_indexing
