#include "xla_indexing/hlo/devices/collective.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/devices/device_lists.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/opcode_set.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_util.h"

namespace xla_indexing::internal {
namespace {

using shape_rules::Agreement;
using shape_rules::Brief;
using shape_rules::Error;
using shape_rules::OneOrTuple;
using shape_rules::OperandShapes;
using shape_rules::ShapesAgree;

using Op = HloOpcode;

// Those that have the attribute use_global_device_ids, false where it is left out.
constexpr OpcodeSet kGlobalIdOpcodes = {Op::kAllGather, Op::kAllGatherStart, Op::kAllReduce,
                                        Op::kAllReduceStart, Op::kReduceScatter};
// Those of which one device of each group is the root. Devices that no group names take no part.
constexpr OpcodeSet kRootedOpcodes = {Op::kCollectiveBroadcast, Op::kCollectiveReduce};

constexpr OpcodeSet kCollectiveOpcodes =
    kGlobalIdOpcodes | kRootedOpcodes |
    OpcodeSet({Op::kAllGatherDone, Op::kAllReduceDone, Op::kAllToAll, Op::kCollectivePermute,
               Op::kCollectivePermuteDone, Op::kCollectivePermuteStart, Op::kRaggedAllToAll});

bool HasGlobalDeviceIds(const HloInstruction& i) {
  return kGlobalIdOpcodes.Has(i.opcode()) || i.HasAttribute(AttributeKey::kUseGlobalDeviceIds);
}

absl::StatusOr<DeviceIdSpace> IdSpaceOf(const HloInstruction& i) {
  if (const std::optional<absl::string_view> mode = i.GetTextByName("mode")) {
    if (*mode == "cross_replica") return DeviceIdSpace::kReplicas;
    if (*mode == "cross_partition") return DeviceIdSpace::kPartitions;
    if (*mode == "cross_replica_and_partition") return DeviceIdSpace::kReplicasWithPartitions;
    if (*mode == "flattened_id") return DeviceIdSpace::kDevices;
  }
  const bool has_channel = i.GetInteger(AttributeKey::kChannelId).has_value();
  if (!HasGlobalDeviceIds(i)) {
    return has_channel ? DeviceIdSpace::kPartitions : DeviceIdSpace::kReplicas;
  }
  if (!i.GetBool(AttributeKey::kUseGlobalDeviceIds)) {
    return has_channel ? DeviceIdSpace::kReplicasWithPartitions : DeviceIdSpace::kReplicas;
  }
  if (has_channel) return DeviceIdSpace::kDevices;
  return Error(i, "use_global_device_ids needs a channel_id");
}

// The size that shapes ask of every group, and the leaves that say so; nullopt if they do not.
struct AskedSize {
  int64_t size;
  const Shape* whole;
  const Shape* part;
};

std::optional<AskedSize> SizeOfShards(const Shape& whole, const Shape& part, int64_t dimension) {
  if (!whole.IsArray() || !part.IsArray() || dimension < 0 || dimension >= whole.rank() ||
      dimension >= part.rank() || whole.IsUnboundedDimension(dimension) ||
      part.IsUnboundedDimension(dimension) || part.dimension(dimension) == 0) {
    return std::nullopt;
  }
  return AskedSize{whole.dimension(dimension) / part.dimension(dimension), &whole, &part};
}

std::optional<AskedSize> SizeThatShapesAsk(const HloInstruction& i) {
  const bool gathers =
      i.opcode() == HloOpcode::kAllGather || i.opcode() == HloOpcode::kAllGatherStart;
  if (!gathers && i.opcode() != HloOpcode::kReduceScatter) return std::nullopt;
  if (i.dimensions().size() != 1 || !i.has_shape()) return std::nullopt;
  const int64_t first =
      i.opcode() == HloOpcode::kAllGatherStart ? LeavesOfStart(i).result_begin : 0;
  for (int64_t k = 0; k < i.operand_count() && first + k < i.shape().LeafCount(); ++k) {
    const Shape& operand = i.operand(k)->shape();
    const Shape& result = i.shape().Leaf(first + k);
    if (const auto asked = gathers ? SizeOfShards(result, operand, i.dimensions()[0])
                                   : SizeOfShards(operand, result, i.dimensions()[0])) {
      return asked;
    }
  }
  return std::nullopt;
}

absl::Status CheckDeviceCount(const HloInstruction& i, const CollectiveIds& ids) {
  if (CheckedMul(ids.replica_count, ids.partition_count)) return absl::OkStatus();
  return Error(i, ids.replica_count, " replicas of ", ids.partition_count,
               " partitions are more devices than 64 bits count");
}

// What ids are of, and the counts of the module, 1 where they are not known.
absl::Status TakeIds(const HloInstruction& i, CollectiveIds* ids) {
  XLA_INDEXING_ASSIGN_OR_RETURN(ids->space, IdSpaceOf(i));
  const HloModule* module = i.parent() == nullptr ? nullptr : i.parent()->parent();
  if (module == nullptr) return absl::OkStatus();
  if (module->replica_count() > 1) ids->replica_count = module->replica_count();
  if (module->num_partitions() > 1) ids->partition_count = module->num_partitions();
  return CheckDeviceCount(i, *ids);
}

const char* IdName(DeviceIdSpace space) {
  switch (space) {
    case DeviceIdSpace::kPartitions:
      return "partition";
    case DeviceIdSpace::kDevices:
      return "device";
    default:
      return "replica";
  }
}

// Makes the counts, which may then be too large for a number of devices, large enough for `count`
// ids where the module leaves that open.
void FitCounts(int64_t count, CollectiveIds* ids) {
  if (ids->space == DeviceIdSpace::kDevices) {
    if (ids->DeviceCount() >= count) return;
    if (ids->replica_count == 1 && count % ids->partition_count == 0) {
      ids->replica_count = count / ids->partition_count;
    } else if (ids->partition_count == 1) {
      ids->partition_count = CeilDiv(count, ids->replica_count);
    }
    return;
  }
  int64_t& given =
      ids->space == DeviceIdSpace::kPartitions ? ids->partition_count : ids->replica_count;
  if (given == 1) given = std::max(given, count);
}

// Does what FitCounts does, for ids that `what` names, and fails where the module has fewer ids.
absl::Status FitNamedIds(const HloInstruction& i, absl::string_view what, int64_t count,
                         CollectiveIds* ids) {
  FitCounts(count, ids);
  XLA_INDEXING_RETURN_IF_ERROR(CheckDeviceCount(i, *ids));
  if (ids->IdCount() >= count) return absl::OkStatus();
  return Error(i, "its ", what, " name ", IdName(ids->space), " ", count - 1, ", and there are ",
               ids->IdCount());
}

// The number of ids of a list: one more than the largest.
int64_t CountOf(const ReplicaGroups& groups) {
  if (groups.form != ReplicaGroups::Form::kLists) return groups.IdCount();
  int64_t count = 0;
  for (const std::vector<int64_t>& list : groups.lists) {
    for (const int64_t id : list) count = std::max(count, id + 1);
  }
  return count;
}

// Where ids are those of replicas with all their partitions, and the header does not say how many
// partitions there are: as many as the shapes leave for each replica of a group.
void FitPartitions(const AskedSize& asked, CollectiveGroups* collective) {
  if (collective->space != DeviceIdSpace::kReplicasWithPartitions ||
      collective->partition_count != 1 || asked.size <= 0) {
    return;
  }
  const std::optional<int64_t> replicas = collective->groups.form == ReplicaGroups::Form::kAll
                                              ? collective->replica_count
                                              : collective->GroupSize();
  if (replicas && asked.size % *replicas == 0) collective->partition_count = asked.size / *replicas;
}

// Groups that are not written are one group of all ids.
absl::Status GroupAllIds(const HloInstruction& i, const std::optional<AskedSize>& asked,
                         CollectiveGroups* collective) {
  int64_t count = 1;
  if (i.opcode() == HloOpcode::kAllToAll && !i.HasAttribute(AttributeKey::kDimensions)) {
    count = i.operand_count();
  } else if (asked && asked->size > 0) {
    count = asked->size / std::gcd(asked->size, collective->DevicesPerId());
  }
  FitCounts(count, collective);
  XLA_INDEXING_RETURN_IF_ERROR(CheckDeviceCount(i, *collective));
  collective->groups.form = ReplicaGroups::Form::kIota;
  collective->groups.iota = {1, collective->IdCount(), {}};
  return absl::OkStatus();
}

absl::Status CheckNoIdIsMissing(const HloInstruction& i, const CollectiveGroups& collective) {
  const int64_t count = collective.IdCount();
  const int64_t named = collective.groups.IdCount();
  if (named == count) return absl::OkStatus();
  // For lists that name fewer ids than there are, the error names the first id that they leave out.
  int64_t missing = named;
  if (collective.groups.form == ReplicaGroups::Form::kLists) {
    std::vector<bool> seen(named, false);
    for (const std::vector<int64_t>& list : collective.groups.lists) {
      for (const int64_t id : list) {
        if (id < named) seen[id] = true;
      }
    }
    for (int64_t id = named; id-- > 0;) {
      if (!seen[id]) missing = id;
    }
  }
  const char* name = IdName(collective.space);
  return Error(i, "its replica groups name ", named, " of ", count, " ", name, "s: ", name, " ",
               missing, " is missing");
}

// The groups differ in size.
absl::Status SizesDifferError(const HloInstruction& i, const ReplicaGroups& groups) {
  const size_t first = groups.lists.front().size();
  for (const std::vector<int64_t>& list : groups.lists) {
    if (list.size() != first) {
      return Error(i, "its replica groups have ", first, " and ", list.size(),
                   " devices and should be equally large");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckGroupSize(const HloInstruction& i, const CollectiveGroups& collective,
                            const std::optional<AskedSize>& asked) {
  if (i.opcode() == HloOpcode::kAllReduce || i.opcode() == HloOpcode::kAllReduceStart ||
      kRootedOpcodes.Has(i.opcode())) {
    return absl::OkStatus();
  }
  const std::optional<int64_t> size = collective.GroupSize();
  if (!size) return SizesDifferError(i, collective.groups);
  if (asked && asked->size != *size && asked->whole->dimension(i.dimensions()[0]) > 0) {
    return Error(i, Brief(*asked->whole), " is ", asked->size, " times ", Brief(*asked->part),
                 " in dimension ", i.dimensions()[0], ", and its replica groups have ", *size,
                 " devices");
  }
  if (i.opcode() == HloOpcode::kAllToAll) {
    if (!i.HasAttribute(AttributeKey::kDimensions)) {
      if (i.operand_count() == *size) return absl::OkStatus();
      return Error(i, "takes ", i.operand_count(), " operands, and its replica groups have ", *size,
                   " devices");
    }
    const int64_t dimension = i.dimensions()[0];
    const Shape& operand = i.operand(0)->shape();
    if (!operand.IsUnboundedDimension(dimension) && operand.dimension(dimension) % *size != 0) {
      return Error(i, "dimension ", dimension, " of ", Brief(operand), " cannot be split among ",
                   *size, " devices");
    }
  }
  if (i.opcode() == HloOpcode::kRaggedAllToAll) {
    const Shape& offsets = i.operand(2)->shape();
    if (!offsets.IsUnboundedDimension(0) && offsets.dimension(0) % *size != 0) {
      return Error(i, "operand 2, ", Brief(offsets), ", has no equal number of offsets for ", *size,
                   " devices");
    }
  }
  return absl::OkStatus();
}

// A device sends, and receives, at most once for each slice that is permuted in place.
absl::Status CheckHowOften(const HloInstruction& i, absl::Span<const SourceTargetPair> pairs) {
  int64_t slices = 1;
  if (const absl::string_view lists = i.GetText(AttributeKey::kSliceSizes); !lists.empty()) {
    slices = std::max<int64_t>(1, absl::c_count(lists, '{') - 1);
  }
  absl::flat_hash_map<int64_t, int64_t> sent;
  absl::flat_hash_map<int64_t, int64_t> received;
  const absl::string_view often = slices == 1 ? "twice" : "more often than there are slices";
  for (const SourceTargetPair& pair : pairs) {
    if (++sent[pair.source] > slices) return Error(i, "device ", pair.source, " sends ", often);
    if (++received[pair.target] > slices) {
      return Error(i, "device ", pair.target, " receives ", often);
    }
  }
  return absl::OkStatus();
}

}  // namespace

int64_t CollectiveIds::IdCount() const {
  switch (space) {
    case DeviceIdSpace::kPartitions:
      return partition_count;
    case DeviceIdSpace::kDevices:
      return DeviceCount();
    default:
      return replica_count;
  }
}

std::optional<int64_t> CollectiveGroups::GroupSize() const {
  if (groups.form != ReplicaGroups::Form::kLists) return groups.iota.group_size * DevicesPerId();
  const size_t size = groups.lists.empty() ? 1 : groups.lists.front().size();
  for (const std::vector<int64_t>& list : groups.lists) {
    if (list.size() != size) return std::nullopt;
  }
  return static_cast<int64_t>(size) * DevicesPerId();
}

bool IsCollective(HloOpcode opcode) { return kCollectiveOpcodes.Has(opcode); }

bool HasDynamicRoot(const HloInstruction& i) {
  return kRootedOpcodes.Has(i.opcode()) && i.GetBool(AttributeKey::kHasDynamicRoot) &&
         i.operand_count() > 0;
}

absl::StatusOr<CollectiveGroups> CollectiveGroupsOf(const HloInstruction& i) {
  CollectiveGroups collective;
  XLA_INDEXING_RETURN_IF_ERROR(TakeIds(i, &collective));
  if (i.HasAttribute(AttributeKey::kReplicaGroups)) {
    absl::StatusOr<ReplicaGroups> groups =
        ParseReplicaGroups(i.GetText(AttributeKey::kReplicaGroups));
    if (!groups.ok()) return Error(i, groups.status().message());
    collective.groups = *std::move(groups);
  }
  const std::optional<AskedSize> asked = SizeThatShapesAsk(i);
  if (asked) FitPartitions(*asked, &collective);
  if (collective.groups.form == ReplicaGroups::Form::kAll) {
    XLA_INDEXING_RETURN_IF_ERROR(GroupAllIds(i, asked, &collective));
  } else {
    XLA_INDEXING_RETURN_IF_ERROR(
        FitNamedIds(i, "replica groups", CountOf(collective.groups), &collective));
    if (!kRootedOpcodes.Has(i.opcode())) {
      XLA_INDEXING_RETURN_IF_ERROR(CheckNoIdIsMissing(i, collective));
    }
  }
  XLA_INDEXING_RETURN_IF_ERROR(CheckGroupSize(i, collective, asked));
  return collective;
}

absl::StatusOr<CollectivePairs> CollectivePairsOf(const HloInstruction& i) {
  CollectivePairs collective;
  XLA_INDEXING_RETURN_IF_ERROR(TakeIds(i, &collective));
  if (!i.HasAttribute(AttributeKey::kSourceTargetPairs)) return collective;
  auto pairs = ParseSourceTargetPairs(i.GetText(AttributeKey::kSourceTargetPairs));
  if (!pairs.ok()) return Error(i, pairs.status().message());
  collective.pairs = *std::move(pairs);
  int64_t count = 0;
  for (const SourceTargetPair& pair : collective.pairs) {
    count = std::max({count, pair.source + 1, pair.target + 1});
  }
  XLA_INDEXING_RETURN_IF_ERROR(CheckHowOften(i, collective.pairs));
  XLA_INDEXING_RETURN_IF_ERROR(FitNamedIds(i, "source-target pairs", count, &collective));
  return collective;
}

std::optional<int64_t> ResultElementOfStart(const HloInstruction& start) {
  if (!start.shape().IsTuple()) return std::nullopt;
  const absl::Span<const Shape> elements = start.shape().tuple_elements();
  if (elements.size() < 2) return std::nullopt;
  std::vector<Shape> operands = OperandShapes(start);
  // A permute in place may have the shapes of its first two operands as (operands, result).
  if (start.HasAttribute(AttributeKey::kSliceSizes) && operands.size() == 4 &&
      ShapesAgree(elements[0], operands[0], Agreement::kExact) &&
      ShapesAgree(elements[1], operands[1], Agreement::kExact)) {
    return 1;
  }
  if (!ShapesAgree(elements[0], OneOrTuple(std::move(operands)), Agreement::kExact)) {
    return std::nullopt;
  }
  return 1;
}

StartLeaves LeavesOfStart(const HloInstruction& start) {
  const Shape& shape = start.shape();
  const std::optional<int64_t> element = ResultElementOfStart(start);
  if (!element) return {0, 0, shape.LeafCount()};
  const int64_t begin = shape.FirstLeafOfElement(*element);
  return {begin, begin, shape.tuple_element(*element).LeafCount()};
}

std::optional<int64_t> ResultElementOfDone(const HloInstruction& done) {
  const HloInstruction& start = *done.operand(0);
  if (!start.shape().IsTuple()) return std::nullopt;
  if (done.opcode() != HloOpcode::kAllReduceDone) return 1;
  // An all-reduce-start has the shape of its result, or is the pair of its operands and its result:
  // which of the two a shape is follows from the number of operands.
  const absl::Span<const Shape> elements = start.shape().tuple_elements();
  if (start.opcode() == HloOpcode::kAllReduceStart && elements.size() >= 2 &&
      (start.operand_count() == 1 || elements[0].IsTuple())) {
    return 1;
  }
  return std::nullopt;
}

}  // namespace xla_indexing::internal
