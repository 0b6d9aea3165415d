// A map from numbers to values that is stored in place while it has one value, as it nearly always
// does.
//
//   SmallMap<PathSet> by_leaf;
//   by_leaf[0].Add(path);
//   for (auto& [leaf, paths] : by_leaf) ..   // by number
//
// What [] gives is valid until a number is added.
#ifndef XLA_INDEXING_FUSION_WALK_SMALL_MAP_H_
#define XLA_INDEXING_FUSION_WALK_SMALL_MAP_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace xla_indexing::internal {

template <typename T>
class SmallMap {
 public:
  using Entry = std::pair<int64_t, T>;

  bool empty() const { return entries_.empty(); }
  size_t size() const { return entries_.size(); }
  auto begin() { return entries_.begin(); }
  auto end() { return entries_.end(); }
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }

  // The value of the number; a new one where there was none.
  T& operator[](int64_t number) {
    if (entries_.empty() || entries_.back().first < number) {
      return entries_.emplace_back(number, T()).second;
    }
    auto* it = llvm::partition_point(entries_,
                                     [number](const Entry& entry) { return entry.first < number; });
    if (it->first != number) it = entries_.insert(it, Entry(number, T()));
    return it->second;
  }

 private:
  llvm::SmallVector<Entry, 1> entries_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_WALK_SMALL_MAP_H_
