// Paths that have come to instructions of a computation, by position, until a walk takes them on.
//
// A walk takes those at the greatest position first, or those at the least. What it adds in between
// is less, or greater, so that each position is looked for from the one before it. The memory
// serves one walk after another (base/memory/instance_pool.h).
//
//   PendingPaths pending;
//   pending[7][0].Add(path);
//   pending[4][0].Add(path);
//   auto [position, paths] = pending.TakeLast();   // 7
#ifndef XLA_INDEXING_FUSION_WALK_PENDING_PATHS_H_
#define XLA_INDEXING_FUSION_WALK_PENDING_PATHS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "llvm/ADT/BitVector.h"
#include "xla_indexing/base/memory/instance_pool.h"
#include "xla_indexing/fusion/chain/path.h"
#include "xla_indexing/fusion/walk/small_map.h"

namespace xla_indexing::internal {

// By leaf of an instruction.
using LeafPaths = SmallMap<PathSet>;

class PendingPaths {
 public:
  PendingPaths() : table_(InstancePool<Table>::Take()) {}
  ~PendingPaths() {
    while (!empty()) TakeLast();
    // That of a large computation is not kept.
    constexpr size_t kMostKept = 4096;
    if (table_->paths.size() <= kMostKept) InstancePool<Table>::GiveBack(std::move(table_));
  }
  PendingPaths(const PendingPaths&) = delete;
  PendingPaths& operator=(const PendingPaths&) = delete;

  bool empty() const { return count_ == 0; }

  // The paths at the position, which are pending from now on, also where there are none. Valid until
  // paths are pending at another position.
  LeafPaths& operator[](int64_t position) {
    const auto at = static_cast<unsigned>(position);
    if (at >= table_->paths.size()) {
      table_->paths.resize(at + 1);
      table_->is_pending.resize(at + 1);
    }
    if (!table_->is_pending.test(at)) {
      table_->is_pending.set(at);
      first_ = count_ == 0 ? at : std::min(first_, at);
      last_ = count_ == 0 ? at : std::max(last_, at);
      ++count_;
    }
    return table_->paths[at];
  }

  // The greatest, or the least, position, and the paths there, which are pending no longer. There
  // are some.
  std::pair<int64_t, LeafPaths> TakeLast() {
    last_ = static_cast<unsigned>(table_->is_pending.find_last_in(first_, last_ + 1));
    return Take(last_);
  }
  std::pair<int64_t, LeafPaths> TakeFirst() {
    first_ = static_cast<unsigned>(table_->is_pending.find_first_in(first_, last_ + 1));
    return Take(first_);
  }

  // Calls visit(position, paths) for each.
  template <typename Visit>
  void ForEach(Visit visit) const {
    if (empty()) return;
    for (unsigned at = first_; at <= last_; ++at) {
      if (table_->is_pending.test(at)) visit(int64_t{at}, table_->paths[at]);
    }
  }

 private:
  // No paths are in a table that nobody uses.
  struct Table {
    std::vector<LeafPaths> paths;
    llvm::BitVector is_pending;
  };

  std::pair<int64_t, LeafPaths> Take(unsigned at) {
    table_->is_pending.reset(at);
    --count_;
    return {at, std::move(table_->paths[at])};  // which leaves none there
  }

  std::unique_ptr<Table> table_;
  size_t count_ = 0;
  // Positions between which all are, while there are some.
  unsigned first_ = 0;
  unsigned last_ = 0;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_WALK_PENDING_PATHS_H_
