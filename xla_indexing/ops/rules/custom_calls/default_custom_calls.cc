// The rules of the library.
//
//   Sharding, annotate_device_placement, MoveToHost, MoveToDevice, LayoutConstraint, Pin, Unpin,
//   SPMDFullToShardShape, SPMDShardToFullShape
//                     leaf l of operand 0 is leaf l of the result, where their sizes are equal; of
//                     shards, which part it is differs from device to device
//   xla.sdy.FuncResultSharding, xla.sdy.PropagationBarrier
//                     the same
//   xla.sdy.GlobalToLocalShape, xla.sdy.LocalToGlobalShape
//                     leaf l of the operands, one after another, is leaf l of the result; of other
//                     sizes, which part it is differs from device to device: all of it,
//                     over-approximate
//   PadToStatic       leaf 0 is the operand, indexed at its bounds; the others are sizes
//   SliceToDynamic    the operand, indexed at its bounds; every element reads the sizes
//   TopK              values and positions: every element of the last dimension
//
// and those of ops/rules/custom_calls/lapack_calls.h and ops/rules/custom_calls/library_calls.h.

#include <cstdint>
#include <utility>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/rules/custom_calls/custom_call_registry.h"
#include "xla_indexing/ops/rules/custom_calls/lapack_calls.h"
#include "xla_indexing/ops/rules/custom_calls/library_calls.h"

namespace xla_indexing {
namespace {

using internal::AddLapackRules;
using internal::AddLibraryCallRules;
using internal::MapBuilder;
using ::mlir::AffineExpr;
using Entries = absl::StatusOr<std::optional<InstructionIndexing>>;

bool IsForward(const CustomCallLeaf& leaf) { return leaf.operand >= 0; }

const Shape& OutputLeaf(const CustomCallLeaf& leaf, int64_t i) {
  return leaf.instruction.shape().Leaf(i);
}

const Shape& OperandLeafShape(const CustomCallLeaf& leaf, int64_t operand, int64_t i) {
  return leaf.instruction.operand(operand)->shape().Leaf(i);
}

// An entry with the map between these leaves that `index` gives for each dimension of the array it
// leads to: from one of the array that it starts from, or a range variable.
template <typename IndexOf>
void AddEntry(const CustomCallLeaf& leaf, IndexingEntry entry, IndexOf index,
              InstructionIndexing* entries, const ExactnessLabel& label = ExactnessLabel::Exact()) {
  const Shape& output = OutputLeaf(leaf, entry.output_leaf);
  const Shape& operand = OperandLeafShape(leaf, entry.operand, entry.operand_leaf);
  const Shape& to = IsForward(leaf) ? output : operand;
  MapBuilder builder(IsForward(leaf) ? operand : output, to, leaf.context);
  llvm::SmallVector<AffineExpr, 4> indices;
  for (int64_t i = 0; i < to.rank(); ++i) indices.push_back(index(builder, to, i));
  entry.indexing = OperandIndexingSet(builder.Build(indices, label));
  if (!entry.indexing.empty()) entries->push_back(std::move(entry));
}

AffineExpr SameIndex(const MapBuilder& builder, const Shape& /*to*/, int64_t i) {
  return builder.Dim(i);
}

AffineExpr AnyIndex(MapBuilder& builder, const Shape& to, int64_t i) {
  return builder.AddRangeOverAxis(to.dimension(i));
}

Entries PassThrough(const CustomCallLeaf& leaf) {
  const HloInstruction& call = leaf.instruction;
  if (call.operand_count() == 0 ||
      call.operand(0)->shape().LeafCount() != call.shape().LeafCount()) {
    return std::nullopt;
  }
  InstructionIndexing entries;
  if (leaf.operand > 0) return entries;
  if (OutputLeaf(leaf, leaf.leaf).dimensions() !=
      OperandLeafShape(leaf, 0, leaf.leaf).dimensions()) {
    return std::nullopt;
  }
  AddEntry(leaf, {leaf.leaf, 0, leaf.leaf, {}}, SameIndex, &entries);
  return entries;
}

Entries PadToStatic(const CustomCallLeaf& leaf) {
  InstructionIndexing entries;
  if (leaf.instruction.operand_count() != 1 || leaf.instruction.shape().LeafCount() == 0 ||
      OutputLeaf(leaf, 0).dimensions() != leaf.instruction.operand(0)->shape().dimensions()) {
    return std::nullopt;
  }
  // Leaves after the first are made from no elements.
  if (leaf.leaf == 0) AddEntry(leaf, {0, 0, 0, {}}, SameIndex, &entries);
  return entries;
}

Entries SliceToDynamic(const CustomCallLeaf& leaf) {
  const HloInstruction& call = leaf.instruction;
  if (!call.shape().IsArray() || call.operand_count() == 0 ||
      call.operand(0)->shape().dimensions() != call.shape().dimensions()) {
    return std::nullopt;
  }
  for (const HloInstruction* operand : call.operands()) {
    if (!operand->shape().IsArray()) return std::nullopt;
  }
  InstructionIndexing entries;
  for (int64_t i = 0; i < call.operand_count(); ++i) {
    if (IsForward(leaf) && i != leaf.operand) continue;
    if (i == 0) {
      AddEntry(leaf, {0, i, 0, {}}, SameIndex, &entries);
    } else {
      AddEntry(leaf, {0, i, 0, {}}, AnyIndex, &entries);
    }
  }
  return entries;
}

Entries TopK(const CustomCallLeaf& leaf) {
  const HloInstruction& call = leaf.instruction;
  if (call.operand_count() != 1 || !call.operand(0)->shape().IsArray()) return std::nullopt;
  const Shape& operand = call.operand(0)->shape();
  const int64_t last = operand.rank() - 1;
  const int64_t leaf_count = call.shape().LeafCount();
  if (last < 0) return std::nullopt;
  for (int64_t i = 0; i < leaf_count; ++i) {
    const auto sizes = OutputLeaf(leaf, i).dimensions();
    if (OutputLeaf(leaf, i).rank() != operand.rank() ||
        sizes.first(last) != operand.dimensions().first(last)) {
      return std::nullopt;
    }
  }
  InstructionIndexing entries;
  for (int64_t i = 0; i < leaf_count; ++i) {
    if (!IsForward(leaf) && i != leaf.leaf) continue;
    AddEntry(
        leaf, {i, 0, 0, {}},
        [last](MapBuilder& builder, const Shape& to, int64_t d) {
          return d == last ? AnyIndex(builder, to, d) : SameIndex(builder, to, d);
        },
        &entries);
  }
  return entries;
}

// The leaf of the operands, one after another, that is leaf `leaf` of the result; none past the end.
std::optional<OperandLeaf> LeafOfOperands(const HloInstruction& call, int64_t leaf) {
  for (int64_t operand = 0; operand < call.operand_count(); ++operand) {
    const int64_t count = call.operand(operand)->shape().LeafCount();
    if (leaf < count) return OperandLeaf{operand, leaf};
    leaf -= count;
  }
  return std::nullopt;
}

// Arrays that are cut for devices, or put together.
Entries BetweenShards(const CustomCallLeaf& leaf) {
  const HloInstruction& call = leaf.instruction;
  InstructionIndexing entries;
  const int64_t leaf_count = call.shape().LeafCount();
  for (int64_t i = 0; i < leaf_count; ++i) {
    const std::optional<OperandLeaf> from = LeafOfOperands(call, i);
    if (!from) return std::nullopt;
    const bool is_asked_for = IsForward(leaf)
                                  ? from->operand == leaf.operand && from->operand_leaf == leaf.leaf
                                  : i == leaf.leaf;
    if (!is_asked_for) continue;
    const IndexingEntry place{i, from->operand, from->operand_leaf, {}};
    const Shape& output = OutputLeaf(leaf, i);
    const Shape& operand = OperandLeafShape(leaf, from->operand, from->operand_leaf);
    if (output.dimensions() == operand.dimensions()) {
      AddEntry(leaf, place, SameIndex, &entries);
    } else {
      AddEntry(leaf, place, AnyIndex, &entries,
               ExactnessLabel::OverApproximate(
                   absl::StrCat("which part of the array it is differs from device to device: ",
                                call.custom_call_target())));
    }
  }
  return LeafOfOperands(call, leaf_count) ? Entries(std::nullopt) : Entries(std::move(entries));
}

CustomCallRegistry MakeDefault() {
  CustomCallRegistry registry;
  for (const absl::string_view target :
       {"Sharding", "annotate_device_placement", "MoveToHost", "MoveToDevice", "LayoutConstraint",
        "Pin", "Unpin", "SPMDFullToShardShape", "SPMDShardToFullShape",
        "xla.sdy.FuncResultSharding", "xla.sdy.PropagationBarrier"}) {
    registry.Add(target, {PassThrough, PassThrough});
  }
  registry.Add("xla.sdy.GlobalToLocalShape", {BetweenShards, BetweenShards});
  registry.Add("xla.sdy.LocalToGlobalShape", {BetweenShards, BetweenShards});
  registry.Add("PadToStatic", {PadToStatic, PadToStatic});
  registry.Add("SliceToDynamic", {SliceToDynamic, SliceToDynamic});
  registry.Add("TopK", {TopK, TopK});
  AddLapackRules(&registry);
  AddLibraryCallRules(&registry);
  return registry;
}

}  // namespace

const CustomCallRegistry& CustomCallRegistry::Default() {
  static const auto* const kDefault = new CustomCallRegistry(MakeDefault());
  return *kDefault;
}

}  // namespace xla_indexing
