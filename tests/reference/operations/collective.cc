// Operations across replicas. A device takes part in one group at most; its position is its place
// in that group.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "tests/reference/execute/devices.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/devices/device_lists.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/replica_groups.h"

namespace xla_indexing::reference {
namespace {

using Group = std::vector<int64_t>;

// The groups of ids as lists: of an iota, the elements of the transposed arrays cut up.
std::vector<Group> IdGroups(const ReplicaGroups& groups, int64_t id_count) {
  if (groups.form == ReplicaGroups::Form::kLists) return groups.lists;
  if (groups.form == ReplicaGroups::Form::kAll) {
    Group all;
    for (int64_t id = 0; id < id_count; ++id) all.push_back(id);
    return {all};
  }
  const IotaGroups& iota = groups.iota;
  Group ids;
  for (int64_t id = 0; id < groups.IdCount(); ++id) ids.push_back(id);
  for (const IotaOrder& order : iota.orders) {
    const Group before = std::exchange(ids, {});
    Index permuted_sizes;
    for (const int64_t d : order.permutation) permuted_sizes.push_back(order.sizes[d]);
    ForEachIndex(permuted_sizes, [&](const Index& permuted) {
      Index index(permuted.size());
      for (size_t i = 0; i < permuted.size(); ++i) index[order.permutation[i]] = permuted[i];
      ids.push_back(before[PositionOf(order.sizes, index)]);
    });
  }
  std::vector<Group> lists;
  for (auto id = ids.begin(); id != ids.end(); id += iota.group_size) {
    lists.emplace_back(id, id + iota.group_size);
  }
  return lists;
}

// Devices (r, k), partition k of replica r.
class Topology {
 public:
  explicit Topology(const HloInstruction& instruction) : instruction_(instruction) {
    const HloModule& module = *instruction.parent()->parent();
    replicas_ = module.replica_count();
    partitions_ = module.num_partitions();
    switch (instruction.opcode()) {
      case HloOpcode::kAllGather:
      case HloOpcode::kAllGatherStart:
      case HloOpcode::kAllReduce:
      case HloOpcode::kAllReduceStart:
      case HloOpcode::kReduceScatter:
        has_global_ids_ = true;
        break;
      default:
        has_global_ids_ = false;
    }
    has_channel_ = instruction.GetInteger(AttributeKey::kChannelId).has_value();
    uses_global_ids_ = instruction.GetBool(AttributeKey::kUseGlobalDeviceIds);
  }

  int64_t device_count() const { return replicas_ * partitions_; }

  // The group of every device; empty of those that are in none.
  std::vector<Group> GroupsOfDevices() const {
    const auto groups =
        internal::ParseReplicaGroups(instruction_.HasAttribute(AttributeKey::kReplicaGroups)
                                         ? instruction_.GetText(AttributeKey::kReplicaGroups)
                                         : "{}");
    std::vector<Group> result(device_count());
    const auto take_part = [&](const Group& devices) {
      for (const int64_t device : devices) result[device] = devices;
    };
    if (!has_global_ids_ && has_channel_) {
      for (const Group& ids : IdGroups(*groups, partitions_)) {
        for (int64_t r = 0; r < replicas_; ++r) {
          Group devices;
          for (const int64_t k : ids) devices.push_back(r * partitions_ + k);
          take_part(devices);
        }
      }
    } else if (uses_global_ids_) {
      for (const Group& ids : IdGroups(*groups, device_count())) take_part(ids);
    } else if (has_channel_) {
      for (const Group& ids : IdGroups(*groups, replicas_)) {
        Group devices;
        for (const int64_t r : ids) {
          for (int64_t k = 0; k < partitions_; ++k) devices.push_back(r * partitions_ + k);
        }
        take_part(devices);
      }
    } else {
      for (const Group& ids : IdGroups(*groups, replicas_)) {
        for (int64_t k = 0; k < partitions_; ++k) {
          Group devices;
          for (const int64_t r : ids) devices.push_back(r * partitions_ + k);
          take_part(devices);
        }
      }
    }
    return result;
  }

  // The device that each device receives from in a collective-permute, -1 for none.
  std::vector<int64_t> Sources() const {
    std::vector<int64_t> sources(device_count(), -1);
    const auto pairs =
        internal::ParseSourceTargetPairs(instruction_.GetText(AttributeKey::kSourceTargetPairs));
    for (const SourceTargetPair& pair : *pairs) {
      if (has_channel_) {
        for (int64_t r = 0; r < replicas_; ++r) {
          sources[r * partitions_ + pair.target] = r * partitions_ + pair.source;
        }
      } else {
        for (int64_t k = 0; k < partitions_; ++k) {
          sources[pair.target * partitions_ + k] = pair.source * partitions_ + k;
        }
      }
    }
    return sources;
  }

 private:
  const HloInstruction& instruction_;
  int64_t replicas_ = 1;
  int64_t partitions_ = 1;
  bool has_global_ids_ = false;
  bool has_channel_ = false;
  bool uses_global_ids_ = false;
};

int64_t PositionIn(const Group& group, int64_t device) {
  return absl::c_find(group, device) - group.begin();
}

// The arrays of a device's operands, one after another.
std::vector<const Array*> ArraysOf(const std::vector<const Value*>& operands) {
  std::vector<const Array*> arrays;
  for (const Value* operand : operands) {
    for (const Array& array : *operand) arrays.push_back(&array);
  }
  return arrays;
}

using DeviceArrays = std::vector<std::vector<const Array*>>;  // by device, then number

Element ZeroElement() {
  Element zero;
  zero.value = 0;
  return zero;
}

// The shards of the group one after another along a dimension.
void AllGather(const Group& group, const DeviceArrays& operands, size_t number, int64_t dim,
               Array* result) {
  int64_t offset = 0;
  for (const int64_t device : group) {
    const Array& shard = *operands[device][number];
    ForEachIndex(shard.sizes(), [&](const Index& index) {
      Index written = index;
      written[dim] += offset;
      result->at(written) = shard.at(index);
    });
    offset += shard.size(dim);
  }
}

// The sum of the arrays at `index` of all devices of the group.
Element Sum(const Group& group, const DeviceArrays& operands, size_t number, const Index& index) {
  Element sum;
  for (const int64_t device : group) {
    sum.sources.AddAll(operands[device][number]->at(index).sources);
  }
  return sum;
}

// Every device splits its array into as many parts as there are devices and gives the part of that
// position to each.
void AllToAll(const Group& group, int64_t position, const DeviceArrays& operands, int64_t dim,
              Array* result) {
  int64_t written_part = 0;
  for (const int64_t device : group) {
    const Array& operand = *operands[device][0];
    const int64_t part = operand.size(dim) / static_cast<int64_t>(group.size());
    ForEachIndex(operand.sizes(), [&](const Index& index) {
      if (part == 0 || index[dim] / part != position) return;
      Index written = index;
      written[dim] = written_part * part + index[dim] % part;
      result->at(written) = operand.at(index);
    });
    ++written_part;
  }
}

// Senders, one after another, put blocks of rows into the receivers' arrays.
void RaggedAllToAll(const Group& group, int64_t receiver, const DeviceArrays& operands,
                    Array* result) {
  const auto n = static_cast<int64_t>(group.size());
  const int64_t blocks = operands[receiver][2]->size(0) / n;
  const int64_t own = PositionIn(group, receiver);
  result->elements() = operands[receiver][1]->elements();
  const auto number = [&](int64_t device, int operand, int64_t element) {
    return *operands[device][operand]->at({element}).value;
  };
  // Where several rows are sent to one, it holds one of them; which one is left open.
  std::vector<bool> is_sent(result->elements().size(), false);
  for (const int64_t sender : group) {
    const Array& input = *operands[sender][0];
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t place = own * blocks + block;
      const Integer size = number(sender, 3, place);
      for (int64_t row = 0; row < input.size(0); ++row) {
        const Integer in_block = row - number(sender, 2, place);
        const Integer target = in_block + number(sender, 4, place);
        if (in_block < 0 || in_block >= size || target < 0 || target >= result->size(0)) continue;
        ForEachIndex(input.sizes(), [&](const Index& index) {
          if (index[0] != row) return;
          Index written = index;
          written[0] = static_cast<int64_t>(target);
          const int64_t position = PositionOf(result->sizes(), written);
          Element& element = result->elements()[position];
          if (!is_sent[position]) element.sources.Clear();
          is_sent[position] = true;
          element.sources.AddAll(input.at(index).sources);
          element.value = input.at(index).value;
        });
      }
    }
  }
  SourceSet places;
  for (const int64_t sender : group) {
    for (int64_t block = 0; block < blocks; ++block) {
      for (const int operand : {2, 3, 4}) {
        places.AddAll(operands[sender][operand]->at({own * blocks + block}).sources);
      }
    }
  }
  for (const Element& size : operands[receiver][5]->elements()) places.AddAll(size.sources);
  for (Element& element : result->elements()) element.sources.AddAll(places);
}

// The root of a group, and what says so: element `number` of the last operand, or its only one, is taken
// for a position in the group.
struct Root {
  int64_t device = 0;
  SourceSet sources;
};

Root RootOf(const HloInstruction& instruction, const Group& group, size_t number,
            const std::vector<const Array*>& operands) {
  Root root = {group[0], {}};
  if (!instruction.GetBool(AttributeKey::kHasDynamicRoot)) return root;
  const std::vector<Element>& elements = operands.back()->elements();
  const Element& element = elements.size() == 1 ? elements[0] : elements[number];
  const Integer last = static_cast<int64_t>(group.size()) - 1;
  root.device = group[static_cast<size_t>(std::clamp<Integer>(*element.value, 0, last))];
  root.sources = element.sources;
  return root;
}

// The result proper of one device.
Value ResultOf(const HloInstruction& instruction, const Shape& shape, int64_t device,
               const DeviceArrays& operands, const std::vector<Group>& groups,
               const std::vector<int64_t>& sources) {
  Value result = MakeValue(shape);
  const Group group = groups.empty() ? Group() : groups[device];
  const int64_t position = PositionIn(group, device);
  for (size_t number = 0; number < result.size(); ++number) {
    Array& array = result[number];
    switch (instruction.opcode()) {
      case HloOpcode::kAllGather:
      case HloOpcode::kAllGatherStart:
        AllGather(group, operands, number, instruction.dimensions()[0], &array);
        break;
      case HloOpcode::kAllReduce:
      case HloOpcode::kAllReduceStart:
        ForEachIndex(array.sizes(), [&](const Index& index) {
          array.at(index) = Sum(group, operands, number, index);
        });
        break;
      case HloOpcode::kReduceScatter:
        ForEachIndex(array.sizes(), [&](const Index& index) {
          Index read = index;
          const int64_t dim = instruction.dimensions()[0];
          read[dim] += position * array.size(dim);
          array.at(index) = Sum(group, operands, number, read);
        });
        break;
      case HloOpcode::kAllToAll:
        if (instruction.dimensions().empty()) {
          array.elements() = operands[group[number]][position]->elements();
        } else {
          AllToAll(group, position, operands, instruction.dimensions()[0], &array);
        }
        break;
      case HloOpcode::kCollectiveBroadcast:
        if (!group.empty()) {
          const Root root = RootOf(instruction, group, number, operands[device]);
          array.elements() = operands[root.device][number]->elements();
          for (Element& element : array.elements()) element.sources.AddAll(root.sources);
        }
        break;
      case HloOpcode::kCollectiveReduce:
        if (!group.empty()) {
          // Elsewhere than on the root the values are whatever they are.
          const Root root = RootOf(instruction, group, number, operands[device]);
          if (root.device == device) {
            ForEachIndex(array.sizes(), [&](const Index& index) {
              array.at(index) = Sum(group, operands, number, index);
            });
          }
          for (Element& element : array.elements()) element.sources.AddAll(root.sources);
        }
        break;
      case HloOpcode::kRaggedAllToAll:
        RaggedAllToAll(group, device, operands, &array);
        break;
      default:  // collective-permute
        if (sources[device] >= 0) array.elements() = operands[sources[device]][number]->elements();
        break;
    }
    const bool is_zero = (instruction.opcode() == HloOpcode::kCollectiveBroadcast)
                             ? group.empty()
                             : !sources.empty() && sources[device] < 0;
    if (!is_zero) continue;
    for (Element& element : array.elements()) element = ZeroElement();
  }
  return result;
}

}  // namespace

std::vector<Value> ExecuteCollective(const HloInstruction& instruction,
                                     const DeviceOperands& operands) {
  std::vector<Value> results;
  const Shape& shape = instruction.shape();
  switch (instruction.opcode()) {
    case HloOpcode::kAllGatherDone:
    case HloOpcode::kAllReduceDone:
    case HloOpcode::kCollectivePermuteDone: {
      // The result is the last but for what has no meaning, or all there is.
      const Shape& start = instruction.operand(0)->shape();
      const bool is_pair = start.IsTuple() && !EqualIgnoringLayout(start, shape);
      const int64_t first = is_pair ? start.tuple_element(0).LeafCount() : 0;
      for (const std::vector<const Value*>& values : operands) {
        const auto begin = values[0]->begin() + first;
        results.emplace_back(begin, begin + shape.LeafCount());
      }
      return results;
    }
    default:
      break;
  }
  const Topology topology(instruction);
  const bool is_permute = instruction.HasAttribute(AttributeKey::kSourceTargetPairs);
  const std::vector<int64_t> sources = is_permute ? topology.Sources() : std::vector<int64_t>();
  const std::vector<Group> groups = is_permute ? std::vector<Group>() : topology.GroupsOfDevices();
  DeviceArrays arrays;
  for (const std::vector<const Value*>& values : operands) arrays.push_back(ArraysOf(values));
  const bool is_start = instruction.opcode() == HloOpcode::kAllGatherStart ||
                        instruction.opcode() == HloOpcode::kAllReduceStart ||
                        instruction.opcode() == HloOpcode::kCollectivePermuteStart;
  // In the modules here a start that is a pair has more leaves than operands.
  const bool is_pair = is_start && shape.LeafCount() > static_cast<int64_t>(arrays.front().size());
  for (int64_t device = 0; device < topology.device_count(); ++device) {
    Value result = ResultOf(instruction, is_pair ? shape.tuple_element(1) : shape, device, arrays,
                            groups, sources);
    if (is_pair) {
      Value pair;
      for (const Array* array : arrays[device]) pair.push_back(*array);
      for (Array& array : result) pair.push_back(std::move(array));
      const std::vector<const Shape*> leaves = shape.Leaves();
      while (pair.size() < leaves.size()) pair.emplace_back(*leaves[pair.size()]);
      result = std::move(pair);
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace xla_indexing::reference
