#include "xla_indexing/hlo/types/replica_groups.h"

#include <cstdint>
#include <vector>

namespace xla_indexing {

int64_t ReplicaGroups::IdCount() const {
  if (form == Form::kIota) return iota.group_count * iota.group_size;
  int64_t count = 0;
  for (const std::vector<int64_t>& list : lists) count += static_cast<int64_t>(list.size());
  return count;
}

}  // namespace xla_indexing
