// Where in a list elements of a given hash are: for lists that become long, in which equal elements
// are looked for again and again.
//
// The list is somewhere else. Positions are added in its order; a copy begins anew, so that what is
// copied and never searched costs a pointer:
//
//   while (positions.size() < list.size()) positions.Append(HashOf(list[positions.size()]));
//   for (const size_t i : positions.Find(HashOf(x))) if (list[i] == x) ..
#ifndef XLA_INDEXING_BASE_MEMORY_POSITIONS_BY_HASH_H_
#define XLA_INDEXING_BASE_MEMORY_POSITIONS_BY_HASH_H_

#include <algorithm>
#include <cstddef>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "xla_indexing/base/cpp20.h"

namespace xla_indexing::internal {

class PositionsByHash {
 public:
  PositionsByHash() = default;
  PositionsByHash(const PositionsByHash&) {}
  PositionsByHash(PositionsByHash&& other) noexcept = default;
  PositionsByHash& operator=(const PositionsByHash& other) {
    if (this != &other) table_.reset();
    return *this;
  }
  PositionsByHash& operator=(PositionsByHash&& other) noexcept = default;
  ~PositionsByHash() = default;

  // The number of positions.
  size_t size() const { return table_ == nullptr ? 0 : table_->size; }
  void Clear() { table_.reset(); }

  // The next position has this hash.
  void Append(size_t hash) {
    if (table_ == nullptr) table_ = std::make_unique<Table>();
    table_->positions[hash].push_back(table_->size++);
  }
  // The positions of a hash, in ascending order.
  absl::Span<const size_t> Find(size_t hash) const {
    if (table_ == nullptr) return {};
    const auto found = table_->positions.find(hash);
    return found == table_->positions.end() ? absl::Span<const size_t>()
                                            : absl::Span<const size_t>(found->second);
  }
  // The last position, which has the hash `of_last`, takes the place of this one, of hash `of_it`.
  void RemoveWithLast(size_t position, size_t of_it, size_t of_last) {
    Positions& own = table_->positions[of_it];
    own.erase(std::find(own.begin(), own.end(), position));
    const size_t last = --table_->size;
    if (position == last) return;
    Positions& of_others = table_->positions[of_last];
    of_others.pop_back();
    of_others.insert(std::lower_bound(of_others.begin(), of_others.end(), position), position);
  }

 private:
  using Positions = absl::InlinedVector<size_t, 1>;
  struct Table {
    absl::flat_hash_map<size_t, Positions> positions;
    size_t size = 0;
  };
  std::unique_ptr<Table> table_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_BASE_MEMORY_POSITIONS_BY_HASH_H_
