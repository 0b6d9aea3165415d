#include "xla_indexing/ops/rules/collectives/device_groups.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using Exprs = llvm::SmallVector<AffineExpr, 4>;

// The row-major position of `indices` in an array of `sizes`, and the indices at a position.
AffineExpr PositionOf(llvm::ArrayRef<AffineExpr> indices, llvm::ArrayRef<int64_t> sizes,
                      mlir::MLIRContext* context) {
  llvm::SmallVector<Summand, 4> summands;
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    summands.push_back({indices[i], stride});
    const std::optional<int64_t> next = CheckedMul(stride, sizes[i]);
    if (!next) return {};
    stride = *next;
  }
  return summands.empty() ? Constant(0, context) : LinearCombination(summands);
}

Exprs CoordinatesOf(AffineExpr position, llvm::ArrayRef<int64_t> sizes) {
  Exprs indices(sizes.size());
  for (size_t i = sizes.size(); i-- > 0;) {
    indices[i] = i == 0 ? position : Mod(position, sizes[i]);
    if (i > 0) position = FloorDiv(position, sizes[i]);
  }
  return indices;
}

llvm::SmallVector<int64_t, 4> PermutedSizes(const IotaOrder& order) {
  llvm::SmallVector<int64_t, 4> sizes;
  for (const int64_t i : order.permutation) sizes.push_back(order.sizes[i]);
  return sizes;
}

// Flattened ids in terms of the ids of a space and back.
struct IdArithmetic {
  DeviceIdSpace space;
  int64_t partition_count;
  AffineExpr reader;

  AffineExpr ReaderId() const {
    switch (space) {
      case DeviceIdSpace::kDevices:
        return reader;
      case DeviceIdSpace::kPartitions:
        return Mod(reader, partition_count);
      default:
        return FloorDiv(reader, partition_count);
    }
  }

  // The device of an id, with what else a flattened id consists of as in the reader's.
  AffineExpr Device(AffineExpr id) const {
    switch (space) {
      case DeviceIdSpace::kDevices:
        return id;
      case DeviceIdSpace::kPartitions:
        return LinearCombination({{FloorDiv(reader, partition_count), partition_count}, {id}});
      default:
        return LinearCombination({{id, partition_count}, {Mod(reader, partition_count)}});
    }
  }

  // Position and device in groups of replicas that have all their partitions: those of one replica
  // stand together.
  AffineExpr Position(AffineExpr position_of_id) const {
    if (space != DeviceIdSpace::kReplicasWithPartitions) return position_of_id;
    return LinearCombination({{position_of_id, partition_count}, {Mod(reader, partition_count)}});
  }
  AffineExpr PositionOfId(AffineExpr position) const {
    if (space != DeviceIdSpace::kReplicasWithPartitions) return position;
    return FloorDiv(position, partition_count);
  }
  AffineExpr DeviceAt(AffineExpr id, AffineExpr position) const {
    if (space != DeviceIdSpace::kReplicasWithPartitions) return Device(id);
    return LinearCombination({{id, partition_count}, {Mod(position, partition_count)}});
  }
};

class Analysis {
 public:
  Analysis(const CollectiveGroups& groups, AffineExpr reader)
      : groups_(groups),
        ids_{groups.space, groups.partition_count, reader},
        context_(reader.getContext()),
        other_(mlir::getAffineSymbolExpr(0, context_)) {
    result_.device_count = groups.DeviceCount();
  }

  DeviceGroups Run() {
    DeviceGroups groups = groups_.groups.form == ReplicaGroups::Form::kLists
                              ? FromLists()
                              : FromIota(groups_.groups.iota);
    const bool fits = llvm::all_of(groups.pieces, [](const DeviceGroupPiece& piece) {
      return piece.position && piece.device &&
             llvm::all_of(piece.readers, [](const Constraint& c) { return !!c.expr; });
    });
    if (fits) return groups;
    groups.pieces.clear();
    groups.unknown = "the formula of the groups passes 64 bits or is too large";
    return groups;
  }

 private:
  DeviceGroups Unknown(std::string why) {
    result_.pieces.clear();
    result_.unknown = std::move(why);
    return std::move(result_);
  }

  // Adds readers with a position among the ids of their group, and the id at position `others` of
  // it, over symbol 0.
  void AddPiece(Constraints readers, AffineExpr position, Interval others, AffineExpr other_id,
                int64_t ids_of_group) {
    const int64_t per_id = groups_.DevicesPerId();
    AffineExpr id = Substitute(other_id, {}, {ids_.PositionOfId(other_)});
    result_.max_group_size = std::max(result_.max_group_size, ids_of_group * per_id);
    result_.pieces.push_back(
        {std::move(readers), ids_.Position(position),
         Interval::Closed(others.lower() * per_id, others.upper() * per_id + per_id - 1),
         ids_.DeviceAt(id, other_), ids_of_group * per_id});
  }

  // Groups of equal size of all ids, given by the position of an id among all of them, group after
  // group, and the id at a position.
  void AddUniform(AffineExpr position_of_reader, int64_t size,
                  llvm::function_ref<AffineExpr(AffineExpr)> id_at) {
    if (size == groups_.IdCount()) {  // One group.
      AddPiece({}, position_of_reader, Interval::OfSize(size), id_at(other_), size);
      return;
    }
    AddPiece({}, Mod(position_of_reader, size), Interval::OfSize(size),
             id_at(LinearCombination({{FloorDiv(position_of_reader, size), size}, {other_}})),
             size);
  }

  DeviceGroups FromIota(const IotaGroups& iota) {
    size_t dimensions = 0;
    for (const IotaOrder& order : iota.orders) dimensions += order.sizes.size();
    if (dimensions > kMaxOrderedDimensions) {
      result_.max_group_size = iota.group_size * groups_.DevicesPerId();
      return Unknown(absl::StrCat("the groups are those of an array of ", dimensions,
                                  " dimensions, more than ", kMaxOrderedDimensions));
    }
    AffineExpr position = ids_.ReaderId();
    for (const IotaOrder& order : iota.orders) {
      const Exprs coordinates = CoordinatesOf(position, order.sizes);
      Exprs permuted;
      for (const int64_t i : order.permutation) permuted.push_back(coordinates[i]);
      position = PositionOf(permuted, PermutedSizes(order), context_);
    }
    AddUniform(position, iota.group_size, [&](AffineExpr id) {
      for (size_t k = iota.orders.size(); k-- > 0;) {
        const IotaOrder& order = iota.orders[k];
        const Exprs at = CoordinatesOf(id, PermutedSizes(order));
        Exprs indices(at.size());
        for (size_t i = 0; i < at.size(); ++i) indices[order.permutation[i]] = at[i];
        id = PositionOf(indices, order.sizes, context_);
      }
      return id;
    });
    return std::move(result_);
  }

  DeviceGroups FromLists() {
    const std::vector<std::vector<int64_t>>& lists = groups_.groups.lists;
    if (FromUniformLists(lists)) return std::move(result_);
    for (const std::vector<int64_t>& list : lists) {
      if (AddList(list)) continue;
      for (const std::vector<int64_t>& each : lists) {
        result_.max_group_size = std::max(
            result_.max_group_size, static_cast<int64_t>(each.size()) * groups_.DevicesPerId());
      }
      return Unknown(absl::StrCat("the groups have more than ", kMaxDevicePieces,
                                  " pieces with a formula each"));
    }
    return std::move(result_);
  }

  // One formula for the lists together.
  bool FromUniformLists(const std::vector<std::vector<int64_t>>& lists) {
    const std::optional<int64_t> size = groups_.GroupSize();
    if (!size || lists.empty() || groups_.groups.IdCount() != groups_.IdCount()) return false;
    std::vector<int64_t> ids;
    for (const std::vector<int64_t>& list : lists) ids.insert(ids.end(), list.begin(), list.end());
    std::vector<int64_t> positions(ids.size());
    for (size_t position = 0; position < ids.size(); ++position) {
      positions[ids[position]] = static_cast<int64_t>(position);
    }
    const AffineExpr position = FitSequence(positions, ids_.ReaderId());
    const AffineExpr id = position ? FitSequence(ids, other_) : AffineExpr();
    if (!id) return false;
    AddUniform(position, static_cast<int64_t>(lists.front().size()),
               [&](AffineExpr at) { return Substitute(id, {}, {at}); });
    return true;
  }

  // The pieces of one group: those of its readers times those of its positions.
  bool AddList(const std::vector<int64_t>& list) {
    std::vector<ValuePair> positions;
    std::vector<ValuePair> ids;
    for (size_t i = 0; i < list.size(); ++i) {
      positions.push_back({list[i], static_cast<int64_t>(i)});
      ids.push_back({static_cast<int64_t>(i), list[i]});
    }
    const auto readers = FitPieces(std::move(positions), ids_.ReaderId(), kMaxDevicePieces);
    const auto others = FitPieces(std::move(ids), other_, kMaxDevicePieces);
    if (!readers || !others ||
        readers->size() * others->size() + result_.pieces.size() > kMaxDevicePieces) {
      return false;
    }
    for (const FittedPiece& reader : *readers) {
      for (const FittedPiece& other : *others) {
        // Positions are all there are, so that a run of them is an interval.
        AddPiece(reader.where, reader.value, other.where.front().interval, other.value,
                 static_cast<int64_t>(list.size()));
      }
    }
    return true;
  }

  const CollectiveGroups& groups_;
  const IdArithmetic ids_;
  mlir::MLIRContext* context_;
  AffineExpr other_;
  DeviceGroups result_;
};

}  // namespace

DeviceGroups AnalyseGroups(const CollectiveGroups& groups, AffineExpr reader) {
  return Analysis(groups, reader).Run();
}

std::optional<std::vector<FittedPiece>> AnalysePairs(const CollectivePairs& pairs,
                                                     Direction direction, AffineExpr reader) {
  const bool forward = direction == Direction::kInputToOutput;
  const IdArithmetic ids = {pairs.space, pairs.partition_count, reader};
  std::vector<ValuePair> values;
  values.reserve(pairs.pairs.size());
  for (const auto& [source, target] : pairs.pairs) {
    values.push_back(forward ? ValuePair{source, target} : ValuePair{target, source});
  }
  auto pieces = FitPieces(std::move(values), ids.ReaderId(), kMaxDevicePieces);
  if (!pieces) return std::nullopt;
  for (FittedPiece& piece : *pieces) {
    piece.value = ids.Device(piece.value);
    if (!piece.value) return std::nullopt;
  }
  return pieces;
}

}  // namespace xla_indexing::internal
