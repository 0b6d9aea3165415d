// Operations across replicas and partitions: who takes part with whom.
//
// A module runs on replica_count * num_partitions devices. Device p is the partition
// p mod num_partitions of the replica p floordiv num_partitions: its *flattened id*. An operation
// works in groups of devices, and a device's place in its group is its *position*. Groups are given
// by ids (hlo/types/replica_groups.h), and what these are ids of follows from the other attributes:
//
//   channel_id  use_global_device_ids  ids are of            a group is
//   no          no                     replicas              the replicas listed, of one partition
//   yes         no                     replicas              the replicas listed, each with all of
//                                                            its partitions
//   yes         yes                    devices               the devices listed
//   no          yes                    an error
//   yes         (has none)             partitions            the partitions listed, of one replica
//
// The last row is for all-to-all, ragged-all-to-all, collective-broadcast and collective-permute,
// which have no such attribute. All-gather, all-reduce and reduce-scatter have it; "no" is the
// default. An attribute `mode` overrides all of this.
//
// Many files leave out a count, or give it as 1, because only their compiler knows it. Such a count
// is as large as the ids, or otherwise the shapes, require.
//
// Source: XLA's operation semantics, "AllGather" and following.

#ifndef XLA_INDEXING_HLO_DEVICES_COLLECTIVE_H_
#define XLA_INDEXING_HLO_DEVICES_COLLECTIVE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/replica_groups.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

enum class DeviceIdSpace : uint8_t {
  kReplicas,
  kPartitions,
  kReplicasWithPartitions,  // Replicas; all partitions of those in a group take part.
  kDevices,                 // Flattened ids.
};

// Whether an opcode is one of those that devices execute together, or the -start or -done of one.
bool IsCollective(HloOpcode opcode);

// Whether the last operand of a collective-broadcast or collective-reduce says which device of the group
// is the root.
bool HasDynamicRoot(const HloInstruction& i);

// The devices of a module, and what the ids in an operation's groups or pairs are of. The number of
// devices fits 64 bits.
struct CollectiveIds {
  DeviceIdSpace space = DeviceIdSpace::kReplicas;
  int64_t replica_count = 1;
  int64_t partition_count = 1;

  int64_t DeviceCount() const { return replica_count * partition_count; }
  // How many ids there are.
  int64_t IdCount() const;
};

struct CollectiveGroups : CollectiveIds {
  // The groups: each id from 0 up to the number of ids in this space is in one group (for a
  // collective-broadcast, in one group or none); kAll has been replaced by an iota.
  ReplicaGroups groups;

  // How many devices a group has for each id in it: the partitions in kReplicasWithPartitions.
  int64_t DevicesPerId() const {
    return space == DeviceIdSpace::kReplicasWithPartitions ? partition_count : 1;
  }
  // The number of devices of every group; nullopt if they differ.
  std::optional<int64_t> GroupSize() const;
};

// The groups of an all-gather, all-reduce, reduce-scatter, all-to-all, ragged-all-to-all or
// collective-broadcast, or of the -start of one. InvalidArgument, naming instruction and numbers,
// where ids are missing or too many for the module, where groups differ in size and the operation
// needs equal ones, and where their size is not the one that the shapes ask for.
absl::StatusOr<CollectiveGroups> CollectiveGroupsOf(const HloInstruction& instruction);

// The pairs of a collective-permute, or of the -start of one.
struct CollectivePairs : CollectiveIds {
  std::vector<SourceTargetPair> pairs;
};

absl::StatusOr<CollectivePairs> CollectivePairsOf(const HloInstruction& instruction);

// The element of the shape of a -start that is its result: element 1 of a tuple (operands, result,
// ..), whose further elements have no meaning outside the run time. Nullopt if the shape is the
// result alone, as in some text.
std::optional<int64_t> ResultElementOfStart(const HloInstruction& start);

// The leaves of a -start: where its shape is such a tuple the operands' leaves, then the result's.
struct StartLeaves {
  int64_t operand_count = 0;
  int64_t result_begin = 0;
  int64_t result_count = 0;
};
StartLeaves LeavesOfStart(const HloInstruction& start);

// The element of the operand of a -done that is its result; nullopt if all of it is.
std::optional<int64_t> ResultElementOfDone(const HloInstruction& done);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_DEVICES_COLLECTIVE_H_
