// The groups of devices that operations across replicas work in, and the pairs of devices that
// collective-permute sends between.
//
//   {{0,1},{2,3}}               groups by their ids, each in the order of their positions
//   {}  {{}}                    one group of all
//   [2,4]<=[8]                  the ids 0 to 7 in the shape [2,4]: 2 groups of 4
//   [4,2]<=[2,4]T(1,0)          the ids 0 to 7 in the shape [2,4], transposed, and put into the
//                               shape [4,2]: 4 groups of 2, {0,4}, {1,5}, {2,6}, {3,7}
//   mesh['x'=2,'y'=4] {'x'}     the groups along axes, or parts `'y':(2)2` of axes, of a mesh: its
//                               devices 0 to 7 in the shape [2,4] have {0,4}, {1,5}, {2,6}, {3,7}
//   mesh['x'=2,'y'=4], device_ids=([4,2]T(1,0)) {'x'}
//                               the groups along an axis of a mesh whose devices are in another
//                               order: those of the shape [4,2], transposed, so 0, 2, 4, 6, 1, 3,
//                               5, 7; the groups are {0,1}, {2,3}, {4,5}, {6,7}. The order may also
//                               be a list of all ids
//
// What the ids are ids of, an operation says.

#ifndef XLA_INDEXING_HLO_TYPES_REPLICA_GROUPS_H_
#define XLA_INDEXING_HLO_TYPES_REPLICA_GROUPS_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/base/cpp20.h"

namespace xla_indexing {

// A list in the shape `sizes`, its dimensions permuted (dimension i of the result is dimension
// permutation[i]), read in row-major order.
struct IotaOrder {
  std::vector<int64_t> sizes;
  std::vector<int64_t> permutation;
};

// The numbers 0, 1, .. permuted by several orders one after the other and cut into groups of
// group_size. A mesh takes this form, too: first the order of its devices, where it has one; then
// the order in which its axes, or the parts of them, are `sizes` and those that groups lie along
// come last.
struct IotaGroups {
  int64_t group_count = 1;
  int64_t group_size = 1;
  std::vector<IotaOrder> orders;
};

struct ReplicaGroups {
  enum class Form {
    kAll,    // one group of all
    kLists,  // lists
    kIota,   // iota
  };

  Form form = Form::kAll;
  std::vector<std::vector<int64_t>> lists;
  IotaGroups iota;

  // The number of ids that lists or iota name.
  int64_t IdCount() const;
};

struct SourceTargetPair {
  int64_t source = 0;
  int64_t target = 0;

  friend bool operator==(const SourceTargetPair& a, const SourceTargetPair& b) = default;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_TYPES_REPLICA_GROUPS_H_
