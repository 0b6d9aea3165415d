#include "xla_indexing/query/in_place/buffers/changed_parts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/memory/physical_layout.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/rules/arithmetic/combiner.h"
#include "xla_indexing/ops/values/element_value.h"
#include "xla_indexing/query/in_place/buffers/buffer_places.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// The walk takes so many steps at most; what it has not reached then changes, perhaps.
constexpr int kMaxWalkSteps = 1024;
constexpr size_t kMaxParts = 256;

// Elements seen as their parts of one width, where arrays of several widths share bits.
//
// The parts of an array with elements of w * n bits, in units of w, are an array with a further, most
// minor dimension of size n: part k of element e, with index (e, k), has the k-th w bits of e. So the
// parts of two arrays that are reinterpreted as each other correspond one by one: by their places in
// memory for a bitcast, and by their row-major positions for a bitcast-convert.
//
// Example, in units of 8 bits: u8[6,4] has the parts [6,4,1], s32[6] the parts [6,4]; the
// bitcast-convert from one to the other leads from (d0, d1) to (d0, d1, 0).
class ElementParts {
 public:
  // In units of the least width that is changed in the computation, or that the two arrays have, where
  // these differ; elements as they are where nothing changes widths, or a layout has tiles.
  ElementParts(const HloComputation& computation, const Shape& output, const Shape& operand) {
    const auto add = [&](const Shape& a, const Shape& b) {
      const int64_t width = std::min(BitsOfElement(a), BitsOfElement(b));
      if (BitsOfElement(a) == BitsOfElement(b)) return;
      unit_ = unit_ == 0 ? width : std::min(unit_, width);
    };
    add(output, operand);
    for (const HloInstruction* i : computation.instructions()) {
      if ((i->opcode() == HloOpcode::kBitcast || i->opcode() == HloOpcode::kBitcastConvert) &&
          i->shape().IsArray() && i->operand(0)->shape().IsArray()) {
        add(i->shape(), i->operand(0)->shape());
      }
    }
    if (unit_ != 0 && (!PartsOf(output) || !PartsOf(operand))) unit_ = 0;
  }

  bool AreElements() const { return unit_ == 0; }

  // The array of the parts of an array. Nullopt if it has no parts.
  std::optional<Shape> PartsOf(const Shape& array) const {
    const int64_t width = BitsOfElement(array);
    Layout layout = array.LayoutOrRowMajor();
    layout.element_size_in_bits = 0;
    if (width % unit_ != 0 || !array.IsStatic() || !layout.IsPlain()) return std::nullopt;
    layout.element_size_in_bits = unit_;
    layout.minor_to_major.insert(layout.minor_to_major.begin(), array.rank());
    Shape parts = array;
    parts.AddDimension(width / unit_);
    parts.SetLayout(std::move(layout));
    return parts;
  }

  // From parts to parts, given a map from elements to elements of one width.
  OperandIndexing OfParts(const OperandIndexing& of_elements, const Shape& array) const {
    if (AreElements()) return of_elements;
    const IndexingMap& map = of_elements.map();
    Variables dims(map.dims());
    llvm::SmallVector<AffineExpr, 8> results(map.results());
    results.push_back(mlir::getAffineDimExpr(dims.size(), map.context()));
    dims.push_back({Interval::OfSize(BitsOfElement(array) / unit_), {}});
    const mlir::AffineMap affine_map =
        mlir::AffineMap::get(dims.size(), map.num_symbols(), results, map.context());
    const auto bindings = of_elements.bindings();
    return OperandIndexing(
        kPartsFit,
        IndexingMap(kPartsFit, affine_map, std::move(dims), Variables(map.ranges()),
                    Variables(map.runtimes()), Constraints(map.constraints())),
        RuntimeVarIndexings(bindings.begin(), bindings.end()), of_elements.label());
  }

  // From the parts of a bitcast or bitcast-convert to those of its operand.
  std::optional<OperandIndexing> Reinterpreted(const HloInstruction& instruction,
                                               mlir::MLIRContext* context) const {
    if (AreElements()) return std::nullopt;
    std::optional<Shape> from = PartsOf(instruction.shape());
    std::optional<Shape> to = PartsOf(instruction.operand(0)->shape());
    if (!from || !to) return std::nullopt;
    for (Shape* parts : {&*from, &*to}) {
      if (instruction.opcode() == HloOpcode::kBitcast) break;
      parts->ClearLayout();
      Layout row_major = parts->LayoutOrRowMajor();
      row_major.element_size_in_bits = unit_;
      parts->SetLayout(std::move(row_major));
    }
    absl::StatusOr<OperandIndexing> parts = PlacesIn(*from, *to, context);
    if (!parts.ok() || !parts->IsExact()) return std::nullopt;
    return *std::move(parts);
  }

  // The elements e -> e of `array` of which some part is in the domain of (e, k) -> (e, k).
  OperandIndexing ElementsOf(const OperandIndexing& parts, const Shape& array) const {
    if (AreElements()) return parts;
    const Shape shape_of_parts = *PartsOf(array);
    MapBuilder builder(array, shape_of_parts, parts.map().context());
    llvm::SmallVector<AffineExpr, 4> results;
    for (int64_t i = 0; i < array.rank(); ++i) results.push_back(builder.Dim(i));
    results.push_back(builder.AddRangeOverAxis(shape_of_parts.dimensions().back()));
    const OperandIndexing some_part = builder.Build(results);
    const absl::StatusOr<OperandIndexing> of_some = ComposeOperandIndexing(some_part, parts);
    if (!of_some.ok()) return IdentityIndexing(array, parts.map().context());
    return WithResults(*of_some, of_some->map().results().drop_back());
  }

 private:
  int64_t unit_ = 0;
};

// How the elements of a leaf of an instruction come about.
struct Origin {
  enum class Kind { kMoved, kReinterpreted, kComputed, kUnknown };
  Kind kind = Kind::kUnknown;
  // For kMoved, the operands [first, end) whose elements become those of the result.
  int64_t first = 0;
  int64_t end = 0;
};

Origin Moved(int64_t first, int64_t end) { return {Origin::Kind::kMoved, first, end}; }

Origin OriginOf(const HloInstruction& instruction, int64_t leaf);

// Whether every leaf of the result of a computation is computed, and none a parameter as it is.
bool ComputesAll(const HloComputation* computation) {
  if (computation == nullptr) return false;
  const HloInstruction* root = computation->root_instruction();
  const auto is_computed = [](const HloInstruction* i) {
    return i->shape().IsArray() && OriginOf(*i, 0).kind == Origin::Kind::kComputed;
  };
  if (root->opcode() != HloOpcode::kTuple) return is_computed(root);
  return absl::c_all_of(root->operands(), is_computed);
}

// Whether the comparator of a sort compares two elements of one of the arrays, so that contents decide
// where an element goes.
bool ComparesElements(const HloComputation* comparator) {
  if (comparator == nullptr) return false;
  const HloInstruction* root = comparator->root_instruction();
  if (root->opcode() != HloOpcode::kCompare || root->comparison_direction() == "EQ" ||
      root->comparison_direction() == "NE") {
    return false;
  }
  const HloInstruction* a = root->operand(0);
  const HloInstruction* b = root->operand(1);
  return a->opcode() == HloOpcode::kParameter && b->opcode() == HloOpcode::kParameter && a != b &&
         a->parameter_number() / 2 == b->parameter_number() / 2;
}

// Computed is what has no element of an operand by the operation's definition. That a value may happen
// to be equal, as that of a maximum is to one of its operands, does not count.
Origin OriginOf(const HloInstruction& instruction, int64_t leaf) {
  const auto computed_if = [](bool is_computed) {
    return Origin{is_computed ? Origin::Kind::kComputed : Origin::Kind::kUnknown};
  };
  switch (instruction.opcode()) {
    case HloOpcode::kBitcast:
    case HloOpcode::kBitcastConvert:
      if (BitsOfElement(instruction.shape()) != BitsOfElement(instruction.operand(0)->shape())) {
        return {Origin::Kind::kReinterpreted};
      }
      return Moved(0, 1);
    case HloOpcode::kAddDependency:
    case HloOpcode::kCopyDone:
    case HloOpcode::kCopyStart:
    case HloOpcode::kDynamicReshape:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kGather:
      return Moved(0, 1);
    case HloOpcode::kDynamicUpdateSlice:
      return Moved(0, 2);
    case HloOpcode::kSelect:
      return Moved(1, 3);
    case HloOpcode::kScatter:
      return instruction.operand_count() == 3 ? Moved(0, 1) : Origin();
    case HloOpcode::kBatchNormGrad:
    case HloOpcode::kBatchNormInference:
    case HloOpcode::kBatchNormTraining:
    case HloOpcode::kConstant:
    case HloOpcode::kConvolution:
    case HloOpcode::kDot:
    case HloOpcode::kFft:
    case HloOpcode::kGetDimensionSize:
    case HloOpcode::kInfeed:
    case HloOpcode::kIota:
    case HloOpcode::kPartitionId:
    case HloOpcode::kRaggedDot:
    case HloOpcode::kRecv:
    case HloOpcode::kReplicaId:
    case HloOpcode::kRng:
    case HloOpcode::kRngGetAndUpdateState:
    case HloOpcode::kRngBitGenerator:
    case HloOpcode::kScaledDot:
    case HloOpcode::kTriangularSolve:
      return {Origin::Kind::kComputed};
    case HloOpcode::kMap:
    case HloOpcode::kReduce:
    case HloOpcode::kReduceWindow:
    case HloOpcode::kScan:
      // Without elements to combine there is the initial value as it is.
      return computed_if(ComputesAll(instruction.to_apply()) &&
                         instruction.operand(0)->shape().ElementCount().value_or(0) > 0);
    case HloOpcode::kSelectAndScatter:
      // An element that no window selects is the initial value, which is one element.
      return computed_if(ComputesAll(instruction.GetComputation(AttributeKey::kScatter)) &&
                         instruction.shape().ElementCount().value_or(0) != 1);
    case HloOpcode::kSort: {
      const absl::Span<const int64_t> along = instruction.dimensions();
      if (along.size() != 1) return Origin();
      if (instruction.shape().Leaf(leaf).dimension(along[0]) == 1) return Moved(leaf, leaf + 1);
      return computed_if(ComparesElements(instruction.to_apply()));
    }
    case HloOpcode::kTopk:
      return computed_if(leaf == 1 || instruction.operand(0)->shape().dimensions().back() != 1);
    default:
      if (MovesElements(instruction.opcode())) return Moved(0, instruction.operand_count());
      return computed_if(IsElementwise(instruction.opcode()));
  }
}

bool IsParameter(const HloInstruction& instruction, int64_t number) {
  return instruction.opcode() == HloOpcode::kParameter && instruction.parameter_number() == number;
}

class ChangeWalk {
 public:
  ChangeWalk(const SharedLeaves& leaves, const OperandIndexing& place, HloIndexer* indexer)
      : leaves_(leaves),
        parts_of_(leaves.computation, leaves.output(), leaves.operand()),
        output_(leaves.output()),
        place_(place),
        indexer_(*indexer) {
    Shape operand = leaves.operand();
    if (!parts_of_.AreElements()) {
      output_ = *parts_of_.PartsOf(output_);
      operand = *parts_of_.PartsOf(operand);
      const absl::StatusOr<OperandIndexing> places =
          PlacesIn(operand, output_, place.map().context());
      if (!places.ok()) return;
      place_ = *places;
    }
    has_place_for_each_ = FillEqualPlaces(output_, operand);
  }

  std::vector<ChangedPart> Run() {
    steps_.push_back({leaves_.computation.root_instruction(), leaves_.output_leaf, Identity(), ""});
    for (int taken = 0; !steps_.empty(); ++taken) {
      const Step step = std::move(steps_.back());
      steps_.pop_back();
      if (taken >= kMaxWalkSteps || parts_.size() >= kMaxParts || !QuestionBudget::Spend(8)) {
        parts_.clear();
        AddPart(Identity(), "there are too many ways in which elements are moved");
        return std::move(parts_);
      }
      Take(step);
    }
    return std::move(parts_);
  }

 private:
  using Predicates = absl::InlinedVector<const HloInstruction*, 2>;

  // From elements of the result to those of an instruction that they are copies of.
  struct Step {
    const HloInstruction* instruction;
    int64_t leaf;
    OperandIndexing path;
    std::string doubt;  // why this may not be where the elements come from
    // The predicates of selects on the way, which choose an operand.
    Predicates predicates = {};
  };

  // All elements.
  OperandIndexing Identity() const { return IdentityIndexing(output_, place_.map().context()); }

  // The elements of a path's domain.
  static OperandIndexing DomainOfPath(const OperandIndexing& path) {
    const IndexingMap& map = path.map();
    llvm::SmallVector<AffineExpr, 4> dims;
    for (int i = 0; i < map.num_dims(); ++i) {
      dims.push_back(mlir::getAffineDimExpr(i, map.context()));
    }
    return WithResults(path, dims);
  }

  void AddPart(const OperandIndexing& path, std::string doubt) {
    OperandIndexing elements = parts_of_.ElementsOf(DomainOfPath(path), leaves_.output());
    elements.Simplify();
    if (elements.IsKnownEmpty()) return;
    if (doubt.empty() && !elements.IsExact()) doubt = elements.label().reason;
    for (const ChangedPart& part : parts_) {
      if (part.why_not_certain.empty() == doubt.empty() &&
          OperandIndexing::IdenticalRelation(part.elements, elements)) {
        return;
      }
    }
    parts_.push_back({std::move(elements), std::move(doubt)});
  }

  // The elements come from the shared parameter.
  void TakeShared(const Step& step) {
    if (!has_place_for_each_) {
      AddPart(step.path, "elements and places do not correspond one by one");
      return;
    }
    absl::StatusOr<OperandIndexing> at_place = ComposeOperandIndexing(step.path, place_);
    if (!at_place.ok() || !at_place->IsExact()) {
      AddPart(step.path, "the place of an element is not known");
      return;
    }
    at_place->Simplify();
    if (at_place->IsKnownEmpty()) return AddPart(step.path, step.doubt);
    for (int i = 0; i < at_place->map().num_results(); ++i) {
      mlir::MLIRContext* context = at_place->map().context();
      const AffineExpr difference =
          Sub(at_place->map().results()[i], mlir::getAffineDimExpr(i, context));
      if (!difference) return AddPart(step.path, "a number is too large");
      if (difference == Constant(0, context)) continue;
      for (const Interval& away : {Interval::AtLeast(1), Interval::AtMost(-1)}) {
        OperandIndexing moved = *at_place;
        const absl::Status status = moved.AddConstraint(difference, away);
        AddPart(status.ok() ? moved : step.path, step.doubt);
      }
    }
  }

  void Take(const Step& step) {
    const HloInstruction& instruction = *step.instruction;
    if (instruction.opcode() == HloOpcode::kParameter) {
      const bool is_shared = instruction.parameter_number() == leaves_.parameter &&
                             step.leaf == leaves_.parameter_leaf;
      return is_shared ? TakeShared(step) : AddPart(step.path, step.doubt);
    }
    const Origin origin = OriginOf(instruction, step.leaf);
    switch (origin.kind) {
      case Origin::Kind::kMoved:
        return TakeMoved(step, origin);
      case Origin::Kind::kReinterpreted:
        return TakeReinterpreted(step);
      case Origin::Kind::kComputed:
        return AddPart(step.path, step.doubt);
      case Origin::Kind::kUnknown:
        return AddPart(step.path, !step.doubt.empty() ? step.doubt
                                                      : absl::StrCat(instruction.name(), " (",
                                                                     instruction.opcode_name(),
                                                                     ") may hand elements on"));
    }
  }

  void TakeReinterpreted(const Step& step) {
    const HloInstruction& instruction = *step.instruction;
    const std::optional<OperandIndexing> parts =
        parts_of_.Reinterpreted(instruction, place_.map().context());
    if (!parts) {
      return AddPart(step.path, absl::StrCat("how ", instruction.name(),
                                             " cuts elements into others is not known"));
    }
    Follow(step, ComposeOperandIndexing(step.path, *parts), {0, 0}, step.doubt, step.predicates);
  }

  // From a step to elements of an operand.
  void Follow(const Step& step, absl::StatusOr<OperandIndexing> path, const OperandLeaf& to,
              const std::string& doubt, const Predicates& predicates) {
    if (!path.ok()) return AddPart(step.path, std::string(path.status().message()));
    path->Simplify();
    if (path->IsKnownEmpty()) return;
    steps_.push_back({step.instruction->operand(to.operand), to.operand_leaf, *std::move(path),
                      doubt, predicates});
  }

  void TakeMoved(const Step& step, const Origin& origin) {
    const HloInstruction& instruction = *step.instruction;
    const auto entries =
        indexer_.Index(instruction, Direction::kOutputToInput, OperandLeaf{0, step.leaf});
    if (!entries.ok()) return AddPart(step.path, std::string(entries.status().message()));
    if (instruction.opcode() == HloOpcode::kScatter && !PutsUpdatesIn(instruction)) {
      return AddPart(step.path, absl::StrCat("what ", instruction.name(),
                                             " changes does not follow from its updates"));
    }
    bool is_moved = false;
    for (const IndexingEntry& entry : **entries) {
      if (entry.output_leaf == step.leaf) is_moved |= TakeEntry(step, origin, entry);
    }
    // A leaf may be none of those that are handed on, such as the context of a copy-start.
    if (!is_moved) AddPart(step.path, step.doubt);
  }

  // Whether what a scatter of one array changes is where it reads its updates: nowhere where none of
  // them stays inside, or the combiner keeps what is there.
  static bool PutsUpdatesIn(const HloInstruction& scatter) {
    const HloComputation& combiner = *scatter.to_apply();
    return IsParameter(*combiner.root_instruction(), 0) ||
           ReadsOfCombiner(combiner, 1).updates[0].test(0);
  }

  // Whether the entry is of an operand whose elements become those of the leaf, or its update.
  bool TakeEntry(const Step& step, const Origin& origin, const IndexingEntry& entry) {
    const HloInstruction& instruction = *step.instruction;
    const bool is_scatter = instruction.opcode() == HloOpcode::kScatter;
    const bool is_update = is_scatter && entry.operand == 2;
    const bool is_data = entry.operand >= origin.first && entry.operand < origin.end;
    if (!is_data && !is_update) return false;
    std::string doubt = step.doubt;
    auto predicates = step.predicates;
    if (instruction.opcode() == HloOpcode::kSelect) {
      const HloInstruction* predicate = instruction.operand(0);
      if (doubt.empty() && predicate->opcode() != HloOpcode::kParameter) {
        doubt = absl::StrCat("the predicate of ", instruction.name(), " is computed");
      } else if (doubt.empty() && absl::c_linear_search(predicates, predicate)) {
        doubt = absl::StrCat("several selects have the predicate ", predicate->name());
      }
      predicates.push_back(predicate);
    }
    // An update that takes the place of the element is moved there.
    const bool is_assigned = is_update && instruction.to_apply() != nullptr &&
                             IsParameter(*instruction.to_apply()->root_instruction(), 1);
    if (doubt.empty() && is_update && !is_assigned && !ComputesAll(instruction.to_apply())) {
      doubt =
          absl::StrCat("an update of ", instruction.name(), " may be the element that is there");
    }
    for (const OperandIndexing& map : entry.indexing) {
      // What a scatter may overwrite of its operand is kept otherwise.
      const bool may_be_larger = is_scatter && is_data;
      if (map.IsUnknown() || map.replica_map() != nullptr ||
          (!map.IsExact() && !may_be_larger && !is_update)) {
        AddPart(step.path,
                map.IsExact() ? "elements of other devices are moved" : map.label().reason);
        continue;
      }
      absl::StatusOr<OperandIndexing> path = ComposeOperandIndexing(
          step.path, parts_of_.OfParts(map, instruction.shape().Leaf(step.leaf)));
      if (path.ok() && is_update && !is_assigned) {
        AddPart(*path, doubt);
        continue;
      }
      if (path.ok() && may_be_larger) {
        const auto bindings = path->bindings();
        path = OperandIndexing(kPartsFit, path->map(),
                               RuntimeVarIndexings(bindings.begin(), bindings.end()));
      }
      Follow(step, std::move(path), {entry.operand, entry.operand_leaf}, doubt, predicates);
    }
    return true;
  }

  const SharedLeaves& leaves_;
  const ElementParts parts_of_;
  Shape output_;  // of elements, or of their parts, as are all paths
  OperandIndexing place_;
  HloIndexer& indexer_;
  bool has_place_for_each_ = false;
  std::vector<Step> steps_;
  std::vector<ChangedPart> parts_;
};

}  // namespace

std::vector<ChangedPart> ChangedPartsOf(const SharedLeaves& leaves, const OperandIndexing& place,
                                        HloIndexer* indexer) {
  return ChangeWalk(leaves, place, indexer).Run();
}

}  // namespace xla_indexing::internal
