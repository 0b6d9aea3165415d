#include "xla_indexing/query/internal/changed_parts.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/hlo/internal/physical_layout.h"
#include "xla_indexing/hlo/opcode.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// The walk takes so many steps at most; what it has not reached then changes, perhaps.
constexpr int kMaxWalkSteps = 1024;
constexpr size_t kMaxParts = 64;

struct DataOperands {
  absl::InlinedVector<int64_t, 2> operands;  // whose elements become those of the result
  bool keeps_elements = false;               // false: the operation computes
};

bool SameWidth(const Shape& a, const Shape& b) { return BitsOfElement(a) == BitsOfElement(b); }

DataOperands AllOperands(const HloInstruction& instruction) {
  DataOperands data{{}, true};
  for (int64_t i = 0; i < instruction.operand_count(); ++i) data.operands.push_back(i);
  return data;
}

DataOperands DataOperandsOf(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kBitcast:
    case HloOpcode::kBitcastConvert:
      if (!SameWidth(instruction.shape(), instruction.operand(0)->shape())) return {};
      return {{0}, true};
    case HloOpcode::kConcatenate:
    case HloOpcode::kPad:
    case HloOpcode::kTuple:
    case HloOpcode::kOptBarrier:
      return AllOperands(instruction);
    case HloOpcode::kBroadcast:
    case HloOpcode::kCopy:
    case HloOpcode::kCopyDone:
    case HloOpcode::kCopyStart:
    case HloOpcode::kDomain:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kGather:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kSlice:
    case HloOpcode::kTranspose:
      return {{0}, true};
    case HloOpcode::kDynamicUpdateSlice:
      return {{0, 1}, true};
    case HloOpcode::kSelect:
      return {{1, 2}, true};
    case HloOpcode::kScatter:
      if (instruction.operand_count() != 3) return {};
      return {{0}, true};
    default:
      return {};
  }
}

// Whether an operation that is not looked through has results that it computes, and never just an
// element of an operand.
bool Computes(const HloInstruction& instruction) {
  const HloOpcode opcode = instruction.opcode();
  switch (opcode) {
    case HloOpcode::kConstant:
    case HloOpcode::kIota:
    case HloOpcode::kDot:
    case HloOpcode::kReduce:
    case HloOpcode::kConvolution:
      return true;
    case HloOpcode::kClamp:
    case HloOpcode::kMaximum:
    case HloOpcode::kMinimum:
    case HloOpcode::kConvert:
    case HloOpcode::kAnd:
    case HloOpcode::kOr:
    case HloOpcode::kReducePrecision:
      // These may happen to give back an operand. It is by their values, which do not count.
      return true;
    default:
      return IsElementwise(opcode);
  }
}

class ChangeWalk {
 public:
  ChangeWalk(const SharedLeaves& leaves, const OperandIndexing& place, HloIndexer* indexer)
      : leaves_(leaves), place_(place), indexer_(*indexer) {
    const absl::StatusOr<PhysicalLayout> of_output = PhysicalLayoutOf(leaves.output());
    const absl::StatusOr<PhysicalLayout> of_operand = PhysicalLayoutOf(leaves.operand());
    has_place_for_each_ =
        HaveSamePlaces(leaves.output(), leaves.operand()) ||
        (of_output.ok() && of_operand.ok() && of_output->width == of_operand->width &&
         of_output->positions == of_operand->positions &&
         !HasPadding(*of_output, leaves.output()) && !HasPadding(*of_operand, leaves.operand()));
  }

  std::vector<ChangedPart> Run() {
    const Shape& output = leaves_.output();
    steps_.push_back(
        {leaves_.computation.root_instruction(), leaves_.output_leaf, Identity(output), ""});
    for (int taken = 0; !steps_.empty(); ++taken) {
      const Step step = std::move(steps_.back());
      steps_.pop_back();
      if (taken >= kMaxWalkSteps || parts_.size() >= kMaxParts || !QuestionBudget::Spend(8)) {
        parts_.clear();
        AddPart(Identity(output), "there are too many ways in which elements are moved");
        return std::move(parts_);
      }
      Take(step);
    }
    return std::move(parts_);
  }

 private:
  // From elements of the result to those of an instruction that they are copies of.
  struct Step {
    const HloInstruction* instruction;
    int64_t leaf;
    OperandIndexing path;
    std::string doubt;  // why this may not be where the elements come from
  };

  static bool HasPadding(const PhysicalLayout& layout, const Shape& array) {
    const absl::StatusOr<int64_t> count = array.ElementCount();
    return !count.ok() || *count != layout.positions;
  }

  OperandIndexing Identity(const Shape& array) const {
    mlir::MLIRContext* context = place_.map().context();
    Variables dims;
    for (const int64_t size : array.dimensions()) {
      dims.push_back(
          {size == Shape::kUnboundedSize ? Interval::AtLeast(0) : Interval::OfSize(size), {}});
    }
    const mlir::AffineMap identity = mlir::AffineMap::getMultiDimIdentityMap(dims.size(), context);
    return OperandIndexing(kPartsFit, IndexingMap(kPartsFit, identity, std::move(dims), {}, {}));
  }

  // The elements of a path's domain.
  static OperandIndexing DomainOfPath(const OperandIndexing& path) {
    const IndexingMap& map = path.map();
    llvm::SmallVector<AffineExpr, 4> dims;
    for (int i = 0; i < map.num_dims(); ++i) {
      dims.push_back(mlir::getAffineDimExpr(i, map.context()));
    }
    IndexingMap domain(kPartsFit,
                       mlir::AffineMap::get(map.num_dims(), map.num_symbols(), dims, map.context()),
                       Variables(map.dims()), Variables(map.ranges()), Variables(map.runtimes()),
                       Constraints(map.constraints()));
    return OperandIndexing(kPartsFit, std::move(domain),
                           RuntimeVarIndexings(path.bindings().begin(), path.bindings().end()),
                           path.label());
  }

  void AddPart(const OperandIndexing& path, std::string doubt) {
    OperandIndexing elements = DomainOfPath(path);
    elements.Simplify();
    if (elements.IsKnownEmpty()) return;
    if (doubt.empty() && !elements.IsExact()) doubt = elements.label().reason;
    const bool is_certain = doubt.empty();
    for (const ChangedPart& part : parts_) {
      if (part.is_certain == is_certain &&
          OperandIndexing::IdenticalRelation(part.elements, elements)) {
        return;
      }
    }
    parts_.push_back({std::move(elements), is_certain, std::move(doubt)});
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
    const DataOperands data = DataOperandsOf(instruction);
    if (!data.keeps_elements) {
      std::string doubt = step.doubt;
      if (doubt.empty() && !Computes(instruction)) {
        doubt = absl::StrCat(instruction.name(), " (", OpcodeName(instruction.opcode()),
                             ") may hand elements on");
      }
      return AddPart(step.path, std::move(doubt));
    }
    const auto entries =
        indexer_.Index(instruction, Direction::kOutputToInput, OperandLeaf{0, step.leaf});
    if (!entries.ok()) return AddPart(step.path, std::string(entries.status().message()));
    if (instruction.opcode() == HloOpcode::kScatter && !ReadsUpdates(**entries)) {
      return AddPart(step.path, absl::StrCat("what ", instruction.name(),
                                             " changes does not follow from its updates"));
    }
    bool is_moved = false;
    for (const IndexingEntry& entry : **entries) {
      if (entry.output_leaf == step.leaf) is_moved |= TakeEntry(step, data, entry);
    }
    // A leaf may be none of those that are handed on, such as the context of a copy-start.
    if (!is_moved) AddPart(step.path, step.doubt);
  }

  // Whether a scatter of one array reads its updates, so that what it changes is where they go.
  static bool ReadsUpdates(const InstructionIndexing& entries) {
    return absl::c_any_of(entries, [](const IndexingEntry& entry) { return entry.operand == 2; });
  }

  // Whether the entry is of an operand whose elements become those of the leaf.
  bool TakeEntry(const Step& step, const DataOperands& data, const IndexingEntry& entry) {
    const HloInstruction& instruction = *step.instruction;
    const bool is_scatter = instruction.opcode() == HloOpcode::kScatter;
    const bool is_update = is_scatter && entry.operand == 2;
    const bool is_data = absl::c_linear_search(data.operands, entry.operand);
    if (!is_data && !is_update) return false;
    std::string doubt = step.doubt;
    if (doubt.empty() && instruction.opcode() == HloOpcode::kSelect &&
        instruction.operand(0)->opcode() != HloOpcode::kParameter) {
      doubt = absl::StrCat("the predicate of ", instruction.name(), " is computed");
    }
    if (doubt.empty() && is_update && instruction.to_apply() != nullptr &&
        instruction.to_apply()->root_instruction()->opcode() == HloOpcode::kParameter) {
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
      absl::StatusOr<OperandIndexing> path = ComposeOperandIndexing(step.path, map);
      if (!path.ok()) {
        AddPart(step.path, std::string(path.status().message()));
        continue;
      }
      if (is_update) {
        AddPart(*path, doubt);
        continue;
      }
      if (may_be_larger) {
        path =
            OperandIndexing(kPartsFit, path->map(),
                            RuntimeVarIndexings(path->bindings().begin(), path->bindings().end()));
      }
      path->Simplify();
      if (path->IsKnownEmpty()) continue;
      steps_.push_back(
          {instruction.operand(entry.operand), entry.operand_leaf, *std::move(path), doubt});
    }
    return is_data;
  }

  const SharedLeaves& leaves_;
  const OperandIndexing& place_;
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
