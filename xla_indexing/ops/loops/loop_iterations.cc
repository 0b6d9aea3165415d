#include "xla_indexing/ops/loops/loop_iterations.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/loops/closure/loop_closure.h"

namespace xla_indexing::internal {
namespace {

// The devices that maps lead to, and those that they start from; and an unknown map, which may lead to
// any.
struct DevicesOfMaps {
  Interval readers = Interval::Empty();
  Interval devices = Interval::Empty();
  std::optional<OperandIndexing> unknown;

  void Add(const OperandIndexingSet& set) {
    for (const OperandIndexing& map : set) {
      if (map.IsUnknown()) unknown = map;
      if (map.replica_map() == nullptr) continue;
      readers = readers.Union(map.replica_map()->readers);
      devices = devices.Union(map.DevicesRead());
    }
  }
};

}  // namespace

// Every element of the leaves that are reached at all; where an iteration leads to other devices,
// on those too.
LeafSets ReachableLeaves(const LoopBody& body, const LeafSets& start, const Shape& from) {
  const std::string why =
      absl::StrCat("whole leaf: the maps of ", body.loop().name(), " are too many");
  std::vector<int64_t> pending;
  LeafSets all;
  DevicesOfMaps devices;
  const auto reach = [&](int64_t leaf) {
    const auto [set, is_new] = all.try_emplace(leaf);
    if (!is_new) return;
    set->second.Add(WholeTensorIndexing(from, body.Leaf(leaf), why, body.build().mlir_context));
    pending.push_back(leaf);
  };
  for (const auto& [leaf, set] : start) {
    devices.Add(set);
    if (body.is_forward() && body.PassesThrough(leaf)) {  // Nothing else leads there.
      all[leaf] = set;
      pending.push_back(leaf);
    } else {
      reach(leaf);
    }
  }
  while (!pending.empty()) {
    const int64_t leaf = pending.back();
    pending.pop_back();
    for (const int64_t next : body.LeavesFrom(leaf)) reach(next);
    if (!body.HasDevices()) continue;
    for (const IndexingEntry& entry : body.EntriesOf(leaf)) devices.Add(entry.indexing);
  }
  if (devices.unknown) {
    for (auto& [leaf, set] : all) {
      if (body.is_forward() && body.PassesThrough(leaf)) continue;  // It stays where it is.
      set = OperandIndexingSet(*devices.unknown);
    }
    return all;
  }
  if (devices.readers.IsEmpty()) return all;
  for (auto& [leaf, set] : all) {
    if (body.is_forward() && body.PassesThrough(leaf)) continue;  // It stays where it is.
    set.Add(OnAnyDevice(set.maps()[0], devices.readers, devices.devices));
  }
  return all;
}

IteratedSets AllIterations(const LoopBody& body, const LeafSets& start, const Shape& from) {
  if (start.empty()) return {};
  if (!body.IsBeyondClosing()) {
    if (std::optional<LeafSets> closed = AllIterationsInClosedForm(body, start)) {
      return {*std::move(closed)};
    }
  }
  return {ReachableLeaves(body, start, from), /*are_whole_leaves=*/true};
}

}  // namespace xla_indexing::internal
