// Operations across replicas. P is the position of the reader p in its group G, n the number of
// devices in it, k the dimension, c the size of a shard in it; x(q) is the operand x of device q.
//
//   all-gather            r(p)[d] = x(G[d_k floordiv c])[d with d_k mod c]
//   reduce-scatter        r(p)[d] = sum over Q of x(G[Q])[d with d_k + P*c]
//   all-to-all            r(p)[d] = x(G[d_k floordiv c])[d with P*c + d_k mod c]
//   ", of a tuple         r_j(p)[d] = x_P(G[j])[d]
//   all-reduce            r(p)[d] = sum over Q of x(G[Q])[d]
//   collective-broadcast  r(p)[d] = x(G[0])[d]
//   collective-reduce     r(p)[d] = sum over Q of x(G[Q])[d] where p = G[0], otherwise undefined
//   collective-permute    r(p)[d] = x(q)[d] where q sends to p, otherwise 0
//
// What is undefined may be made of anything that the operation reads: a collective-reduce has the maps of
// an all-reduce, over-approximate. Instead of G[0] an operand may say who the root is; the maps are then
// those for any root, over-approximate. A reduction with a function of arrays that does not go element by
// element may read all of them.
//
// From input to output i of device p goes to G[Q] for some Q: the formula with d and P of that
// device is solved for d. A gather's is a scatter's and the other way round; all-to-all and
// all-reduce are their own.
//
// An operation that is split in two has in between the pair of its operands, as they are, and its
// result; the -done is the result of that.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/hlo/devices/collective.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/rules/collectives/collective_builder.h"
#include "xla_indexing/ops/rules/collectives/device_groups.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using Indices = llvm::SmallVector<AffineExpr, 4>;

Indices IndicesOf(const Shape& shape, const MapBuilder& builder) {
  Indices indices;
  for (int64_t i = 0; i < shape.rank(); ++i) indices.push_back(builder.Dim(i));
  return indices;
}

// What one array of the result is of one array of the operands.
struct Arrays {
  const Shape& from;
  const Shape& to;
  const DeviceGroups& groups;
  mlir::MLIRContext* context;
};

OperandIndexingSet AnyDevice(const Arrays& arrays, std::string reason) {
  return OperandIndexingSet(OnAnyDevice(
      WholeTensorIndexing(arrays.from, arrays.to, std::move(reason), arrays.context),
      Interval::OfSize(arrays.groups.device_count), Interval::OfSize(arrays.groups.device_count)));
}

// An element of the whole in the shard that holds it.
OperandIndexingSet WholeToShard(const Arrays& arrays, int64_t dim) {
  const int64_t shard = arrays.to.dimension(dim);
  if (shard == 0) return {};
  return BuildForPieces(arrays.from, arrays.to, arrays.groups, arrays.context,
                        [&](CollectiveMapBuilder& builder) {
                          Indices indices = IndicesOf(arrays.from, builder.map());
                          builder.SetOtherPosition(FloorDiv(indices[dim], shard));
                          indices[dim] = Mod(indices[dim], shard);
                          builder.map().Simplify(indices);
                          return builder.Build(indices);
                        });
}

// An element of the reader's shard in the whole, which every device of the group has.
OperandIndexingSet ShardToWhole(const Arrays& arrays, int64_t dim) {
  const int64_t shard = arrays.from.dimension(dim);
  return BuildForPieces(
      arrays.from, arrays.to, arrays.groups, arrays.context, [&](CollectiveMapBuilder& builder) {
        Indices indices = IndicesOf(arrays.from, builder.map());
        indices[dim] = LinearCombination({{indices[dim]}, {builder.ReaderPosition(), shard}});
        builder.SetAnyOtherPosition();
        return builder.Build(indices);
      });
}

// Shard Q of one device is shard P of the other.
OperandIndexingSet ExchangeShards(const Arrays& arrays, int64_t dim) {
  const int64_t size = arrays.from.dimension(dim);
  if (size == 0) return {};
  return BuildForPieces(
      arrays.from, arrays.to, arrays.groups, arrays.context, [&](CollectiveMapBuilder& builder) {
        const int64_t shard = size / builder.group_size();
        Indices indices = IndicesOf(arrays.from, builder.map());
        AffineExpr position = FloorDiv(indices[dim], shard);
        indices[dim] =
            LinearCombination({{Mod(indices[dim], shard)}, {builder.ReaderPosition(), shard}});
        builder.SetOtherPosition(position);
        builder.map().Simplify(indices);
        return builder.Build(indices);
      });
}

// Maps each element to the element at the same index on the devices that `choose` chooses.
OperandIndexingSet SameElement(const Arrays& arrays,
                               llvm::function_ref<void(CollectiveMapBuilder&)> choose) {
  return BuildForPieces(arrays.from, arrays.to, arrays.groups, arrays.context,
                        [&](CollectiveMapBuilder& builder) {
                          choose(builder);
                          // One of the two may have no bound.
                          for (int64_t i = 0; i < arrays.to.rank(); ++i) {
                            builder.map().ConstrainDim(i, IndicesOfAxis(arrays.to.dimension(i)));
                          }
                          return builder.Build(IndicesOf(arrays.from, builder.map()));
                        });
}

// Array `own` of the reader, the operand it is or the result it is, is array `other` of the device
// at position `own`, if the reader is at position `other`.
OperandIndexingSet ExchangeArrays(const Arrays& arrays, int64_t own, int64_t other) {
  return SameElement(arrays, [&](CollectiveMapBuilder& builder) {
    builder.RestrictReaderPosition(other);
    builder.SetOtherPosition(builder.map().Value(own));
  });
}

// The element at the same index on every device of the group.
OperandIndexingSet AnyOfGroup(const Arrays& arrays) {
  return SameElement(arrays, [](CollectiveMapBuilder& builder) { builder.SetAnyOtherPosition(); });
}

OperandIndexingSet Weakened(const OperandIndexingSet& maps, const std::string& reason) {
  OperandIndexingSet weakened;
  for (OperandIndexing map : maps) {
    map.Weaken(ExactnessLabel::OverApproximate(reason));
    weakened.Add(std::move(map));
  }
  return weakened;
}

bool IsUnboundedAlong(const Arrays& arrays, int64_t dim) {
  return arrays.from.IsUnboundedDimension(dim) || arrays.to.IsUnboundedDimension(dim);
}

// What leaf `output` of the result is of leaf `operand` of the operands, counted without the alias
// of the operands that a -start has.
OperandIndexingSet GroupMaps(const HloInstruction& instruction, const Arrays& arrays,
                             Direction direction, int64_t output, int64_t operand) {
  const bool forward = direction == Direction::kInputToOutput;
  switch (instruction.opcode()) {
    case HloOpcode::kAllGather:
    case HloOpcode::kAllGatherStart:
    case HloOpcode::kReduceScatter: {
      const int64_t dim = instruction.dimensions()[0];
      if (IsUnboundedAlong(arrays, dim)) {
        return AnyDevice(arrays, "whole tensor: the size of a shard has no bound");
      }
      const bool gathers = instruction.opcode() != HloOpcode::kReduceScatter;
      return gathers == forward ? ShardToWhole(arrays, dim) : WholeToShard(arrays, dim);
    }
    case HloOpcode::kAllToAll: {
      if (instruction.dimensions().empty()) {
        return forward ? ExchangeArrays(arrays, operand, output)
                       : ExchangeArrays(arrays, output, operand);
      }
      const int64_t dim = instruction.dimensions()[0];
      if (IsUnboundedAlong(arrays, dim)) {
        return AnyDevice(arrays, "whole tensor: the size of a shard has no bound");
      }
      return ExchangeShards(arrays, dim);
    }
    case HloOpcode::kCollectiveBroadcast:
      if (HasDynamicRoot(instruction)) {
        return Weakened(AnyOfGroup(arrays), "which device is the root is a value");
      }
      return SameElement(arrays, [&](CollectiveMapBuilder& builder) {
        if (forward) {
          builder.RestrictReaderPosition(0);
          builder.SetAnyOtherPosition();
        } else {
          builder.SetOtherPosition(builder.map().Value(0));
        }
      });
    case HloOpcode::kCollectiveReduce:
      return Weakened(AnyOfGroup(arrays), "elsewhere than on the root the result is undefined");
    default:  // all-reduce
      return AnyOfGroup(arrays);
  }
}

// Whether each element of what the function yields is made of those at the same index.
bool GoesElementByElement(const HloComputation& function) {
  return absl::c_all_of(function.instructions(), [](const HloInstruction* i) {
    return i->shape().IsScalar() || i->opcode() == HloOpcode::kParameter ||
           i->opcode() == HloOpcode::kConstant || IsElementwise(i->opcode()) ||
           (i->opcode() == HloOpcode::kBroadcast &&
            i->operand(0)->opcode() == HloOpcode::kConstant);
  });
}

// The operand that says who the roots are: a number for all arrays, or one for each of them. Every device
// of a group looks at its own.
OperandIndexingSet RootMaps(const Arrays& arrays, Direction direction, int64_t result,
                            int64_t result_count) {
  const bool forward = direction == Direction::kInputToOutput;
  const Shape& roots = forward ? arrays.from : arrays.to;
  const bool has_own = roots.rank() == 1 && result_count > 1 && roots.dimension(0) == result_count;
  return BuildForPieces(arrays.from, arrays.to, arrays.groups, arrays.context,
                        [&](CollectiveMapBuilder& builder) {
                          Indices indices;
                          if (has_own && !forward)
                            return builder.Build({builder.map().Value(result)});
                          if (has_own)
                            builder.map().Constrain(builder.map().Dim(0), Interval::Point(result));
                          for (const int64_t size : arrays.to.dimensions()) {
                            indices.push_back(builder.map().AddRangeOverAxis(size));
                          }
                          return builder.Build(indices);
                        });
}

bool IsPermute(const HloInstruction& instruction) {
  return instruction.opcode() == HloOpcode::kCollectivePermute ||
         instruction.opcode() == HloOpcode::kCollectivePermuteStart;
}

// Pairs in parts in which no device reads twice: the j-th pairs of all readers.
std::vector<CollectivePairs> InParts(const CollectivePairs& pairs, Direction direction) {
  std::vector<CollectivePairs> parts;
  absl::flat_hash_map<int64_t, size_t> seen;
  for (const SourceTargetPair& pair : pairs.pairs) {
    const size_t j = seen[direction == Direction::kInputToOutput ? pair.source : pair.target]++;
    if (j == parts.size()) {
      parts.push_back(pairs);
      parts.back().pairs.clear();
    }
    parts[j].pairs.push_back(pair);
  }
  return parts;
}

// The map from a device to those that it receives from, or sends to.
OperandIndexingSet PermuteMaps(const OperandIndexing& indexing, const CollectivePairs& pairs,
                               Direction direction) {
  const Interval devices = Interval::OfSize(pairs.DeviceCount());
  OperandIndexingSet maps;
  const auto pieces = AnalysePairs(pairs, direction, indexing.Reader());
  if (!pieces) {
    OperandIndexing any = OnAnyDevice(indexing, devices, devices);
    any.Weaken(ExactnessLabel::OverApproximate(
        absl::StrCat("the device is not known: the source-target pairs have more than ",
                     kMaxDevicePieces, " pieces with a formula each")));
    maps.Add(std::move(any));
    return maps;
  }
  for (const FittedPiece& piece : *pieces) {
    // Devices that the module does not name may be there and receive nothing.
    AddUnlessEmpty(WithReplicaMap(indexing, {devices, piece.value, piece.where}, std::nullopt),
                   &maps);
  }
  return maps;
}

// In place, collective-permute(input, output, input starts, output starts) puts a slice of the
// source's input into the target's output. Whose starts are meant is left open, so that everything
// may be anything.
void AddPermuteInPlace(BuildContext& build, const CollectivePairs& pairs, Direction direction,
                       int64_t output_leaf, int64_t result, int64_t operand, int64_t operand_leaf) {
  const bool forward = direction == Direction::kInputToOutput;
  if (operand <= 1 && operand_leaf != result) return;
  const Shape& output = build.instruction.shape().Leaf(output_leaf);
  const Shape& input = build.instruction.operand(operand)->shape().Leaf(operand_leaf);
  if (operand == 1) {
    OperandIndexing identity = IdentityIndexing(output, build.mlir_context);
    identity.Weaken(
        ExactnessLabel::OverApproximate("elements that are received in place are not read"));
    build.Add(output_leaf, operand, operand_leaf, std::move(identity));
    return;
  }
  const OperandIndexing whole = WholeTensorIndexing(
      forward ? input : output, forward ? output : input,
      "whole operand: the places of slices of a collective-permute in place are not analysed",
      build.mlir_context);
  OperandIndexingSet maps;
  for (const CollectivePairs& part : InParts(pairs, direction)) {
    for (const OperandIndexing& map : PermuteMaps(whole, part, direction)) maps.Add(map);
  }
  if (operand > 1) maps.Add(whole);
  build.Add(output_leaf, operand, operand_leaf, std::move(maps));
}

bool IsOfRoots(const HloInstruction& instruction, int64_t operand) {
  return operand + 1 == instruction.operand_count() && HasDynamicRoot(instruction);
}

// The maps between a leaf of the result proper and a leaf of an operand: `result` and `flat` are
// their numbers among the leaves of the result and of all operands.
void AddExchange(BuildContext& build, Direction direction, int64_t output_leaf, int64_t result,
                 int64_t operand, int64_t operand_leaf, int64_t flat) {
  const bool forward = direction == Direction::kInputToOutput;
  const HloInstruction& instruction = build.instruction;
  const Shape& output = instruction.shape().Leaf(output_leaf);
  const Shape& input = instruction.operand(operand)->shape().Leaf(operand_leaf);
  const Shape& from = forward ? input : output;
  if (!output.IsArray() || !input.IsArray()) return;
  if (IsPermute(instruction)) {
    const absl::StatusOr<CollectivePairs> pairs = CollectivePairsOf(instruction);
    if (!pairs.ok()) {
      build.status = pairs.status();
    } else if (instruction.HasAttribute(AttributeKey::kSliceSizes)) {
      AddPermuteInPlace(build, *pairs, direction, output_leaf, result, operand, operand_leaf);
    } else {
      build.Add(output_leaf, operand, operand_leaf,
                PermuteMaps(IdentityIndexing(from, build.mlir_context), *pairs, direction));
    }
    return;
  }
  const absl::StatusOr<CollectiveGroups> collective = CollectiveGroupsOf(instruction);
  if (!collective.ok()) {
    build.status = collective.status();
    return;
  }
  const DeviceGroups groups =
      AnalyseGroups(*collective, mlir::getAffineDimExpr(from.rank(), build.mlir_context));
  const Arrays arrays = {from, forward ? output : input, groups, build.mlir_context};
  if (IsOfRoots(instruction, operand)) {
    build.Add(output_leaf, operand, operand_leaf,
              RootMaps(arrays, direction, result, instruction.shape().LeafCount()));
    return;
  }
  const HloComputation* function = instruction.to_apply();
  if (function != nullptr && !GoesElementByElement(*function)) {
    build.Add(output_leaf, operand, operand_leaf,
              AnyDevice(arrays, absl::StrCat("whole tensor: ", function->name(),
                                             " does not go element by element")));
    return;
  }
  build.Add(output_leaf, operand, operand_leaf,
            GroupMaps(instruction, arrays, direction, result, flat));
}

// Whether an array of the result is of every operand, not of one.
bool MixesOperands(const HloInstruction& instruction) {
  return (instruction.opcode() == HloOpcode::kAllToAll && instruction.dimensions().empty()) ||
         instruction.HasAttribute(AttributeKey::kSliceSizes);
}

StartLeaves LeavesOf(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kAllGatherStart:
    case HloOpcode::kAllReduceStart:
    case HloOpcode::kCollectivePermuteStart:
      return LeavesOfStart(instruction);
    default:
      return {0, 0, instruction.shape().LeafCount()};
  }
}

}  // namespace

void CollectiveOutputToInput(BuildContext& build, int64_t output_leaf) {
  const HloInstruction& instruction = build.instruction;
  const StartLeaves leaves = LeavesOf(instruction);
  const bool is_alias = output_leaf < leaves.operand_count;
  const int64_t result = output_leaf - leaves.result_begin;
  if (!is_alias && (result < 0 || result >= leaves.result_count)) return;
  int64_t flat = 0;
  for (int64_t operand = 0; operand < instruction.operand_count(); ++operand) {
    const int64_t count = instruction.operand(operand)->shape().LeafCount();
    for (int64_t leaf = 0; leaf < count; ++leaf, ++flat) {
      if (is_alias) {
        if (flat != output_leaf) continue;
        build.Add(output_leaf, operand, leaf,
                  IdentityIndexing(instruction.shape().Leaf(output_leaf), build.mlir_context));
      } else if (flat == result || MixesOperands(instruction) || IsOfRoots(instruction, operand)) {
        AddExchange(build, Direction::kOutputToInput, output_leaf, result, operand, leaf, flat);
      }
    }
  }
}

void CollectiveInputToOutput(BuildContext& build, int64_t operand, int64_t operand_leaf) {
  const HloInstruction& instruction = build.instruction;
  const StartLeaves leaves = LeavesOf(instruction);
  int64_t flat = operand_leaf;
  for (int64_t k = 0; k < operand; ++k) flat += instruction.operand(k)->shape().LeafCount();
  if (flat < leaves.operand_count) {
    build.Add(flat, operand, operand_leaf,
              IdentityIndexing(instruction.operand(operand)->shape().Leaf(operand_leaf),
                               build.mlir_context));
  }
  for (int64_t result = 0; result < leaves.result_count; ++result) {
    if (flat != result && !MixesOperands(instruction) && !IsOfRoots(instruction, operand)) continue;
    AddExchange(build, Direction::kInputToOutput, leaves.result_begin + result, result, operand,
                operand_leaf, flat);
  }
}

LeafRoutes CollectiveDoneRoutes(const HloInstruction& instruction) {
  const std::optional<int64_t> element = ResultElementOfDone(instruction);
  const int64_t first = element ? instruction.operand(0)->shape().FirstLeafOfElement(*element) : 0;
  LeafRoutes routes;
  for (int64_t leaf = 0; leaf < instruction.shape().LeafCount(); ++leaf) {
    routes.push_back({leaf, 0, first + leaf});
  }
  return routes;
}

}  // namespace xla_indexing::internal
