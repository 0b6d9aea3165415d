#include "xla_indexing/ops/loops/loop_iterations.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/loops/body/strong_parts.h"
#include "xla_indexing/ops/loops/closure/loop_closure.h"

namespace xla_indexing::internal {
namespace {

constexpr size_t kMaxMaps = 16;
// Past so many maps of a leaf those that others cover are left out.
constexpr size_t kMergePast = 4;
constexpr int64_t kMaxComposedByDoubling = 4096;
// Rounds until the union over all numbers of iterations must have stopped growing.
constexpr int kMaxRounds = 16;

// Many maps are cheaper to compose without those that others cover.
void SimplifyLeaf(const Shape& leaf, OperandIndexingSet* set) {
  set->Simplify();
  if (set->size() > kMergePast) set->DropSubsumed(leaf);
}

}  // namespace

void AddAll(const LoopBody& body, const LeafSets& from, LeafSets* to) {
  for (const auto& [leaf, set] : from) {
    (*to)[leaf].Add(set);
    SimplifyLeaf(body.Leaf(leaf), &(*to)[leaf]);
  }
}

bool IterationComposer::Take(size_t num_maps, size_t num_steps) {
  is_exceeded_ = is_exceeded_ || !budget_.Take(static_cast<int64_t>(num_maps * num_steps));
  return !is_exceeded_;
}

void IterationComposer::SimplifyAll(LeafSets* sets) const {
  for (auto it = sets->begin(); it != sets->end();) {
    SimplifyLeaf(body_.Leaf(it->first), &it->second);
    it = it->second.empty() ? sets->erase(it) : std::next(it);
  }
}

OperandIndexingSet IterationComposer::InIteration(const OperandIndexing& map,
                                                  std::optional<int64_t> iteration) {
  if (map.bindings().empty()) return OperandIndexingSet(map);
  const auto [timed, is_new] = timed_.try_emplace(&map);
  if (is_new) timed->second = body_.WithTime(map);
  return body_.AtIteration(timed->second, iteration, &depends_on_number_);
}

LeafSets IterationComposer::Through(const LeafSets& sets, const Shape& from,
                                    std::optional<int64_t> iteration) {
  depends_on_number_ = false;
  LeafSets next;
  for (const auto& [leaf, set] : sets) {
    for (const IndexingEntry& entry : body_.EntriesOf(leaf)) {
      if (entry.indexing.size() > kMaxMaps) is_exceeded_ = true;
      if (!Take(set.size(), entry.indexing.size())) return next;
      OperandIndexingSet step;
      for (const OperandIndexing& map : entry.indexing) step.Add(InIteration(map, iteration));
      const int64_t to = body_.is_forward() ? entry.output_leaf : entry.operand_leaf;
      if (!step.label().IsExact()) inexact_.try_emplace(to, step.label());
      next[to].Add(ComposeOrWiden(set, step, from, body_.Leaf(to), body_.build().mlir_context));
    }
  }
  SimplifyAll(&next);
  return next;
}

LeafSets IterationComposer::Through(const LeafSets& sets, const Shape& from,
                                    llvm::function_ref<const LeafSets&(int64_t leaf)> maps_from) {
  LeafSets next;
  for (const auto& [leaf, set] : sets) {
    for (const auto& [to, step] : maps_from(leaf)) {
      if (!Take(set.size(), step.size())) return next;
      next[to].Add(ComposeOrWiden(set, step, from, body_.Leaf(to), body_.build().mlir_context));
    }
  }
  SimplifyAll(&next);
  return next;
}

bool IterationComposer::IsTooMuch(const LeafSets& sets) const {
  if (is_exceeded_ || QuestionBudget::IsSpent()) return true;
  return llvm::any_of(sets, [](const auto& place) { return place.second.size() > kMaxMaps; });
}

namespace {

LeafSets Identity(const LoopBody& body, int64_t leaf) {
  LeafSets identity;
  identity[leaf].Add(IdentityIndexing(body.Leaf(leaf), body.build().mlir_context));
  return identity;
}

// Powers of two of the body.
class DoubledBody {
 public:
  DoubledBody(const LoopBody& body, IterationComposer* composer)
      : body_(body), composer_(*composer) {}

  // The maps of 2^power iterations from a leaf; of no meaning once too many were composed.
  const LeafSets& From(int64_t leaf, int power) {
    const auto known = known_.find({power, leaf});
    if (known != known_.end()) return known->second;
    const Shape& from = body_.Leaf(leaf);
    LeafSets sets;
    if (power > 0) {
      sets = composer_.Through(From(leaf, power - 1), from, [&](int64_t next) -> const LeafSets& {
        return From(next, power - 1);
      });
    } else {
      sets = composer_.Through(Identity(body_, leaf), from, std::nullopt);
    }
    return known_[{power, leaf}] = std::move(sets);
  }

 private:
  const LoopBody& body_;
  IterationComposer& composer_;
  std::map<std::pair<int, int64_t>, LeafSets> known_;
};

// As AllIterations, for a large number of them. None where that is too many maps.
std::optional<LeafSets> AllByDoubling(const LoopBody& body, const LeafSets& start,
                                      const Shape& from) {
  if (IsOff(Engine::kIterationsDoubled)) return std::nullopt;
  IterationComposer composer(body, kMaxComposedByDoubling);
  DoubledBody doubled(body, &composer);
  LeafSets sets = start;
  int power = 0;
  for (int64_t rest = *body.count(); rest > 0; rest /= 2, ++power) {
    if (rest % 2 == 1) {
      sets = composer.Through(
          sets, from, [&](int64_t leaf) -> const LeafSets& { return doubled.From(leaf, power); });
    }
    if (composer.IsTooMuch(sets)) return std::nullopt;
  }
  return sets;
}

// Whether one iteration is more maps than are composed.
bool IsTooWide(const LoopBody& body, const LeafSets& start) {
  return llvm::any_of(start, [&](const auto& place) {
    return static_cast<int64_t>(body.LeavesFrom(place.first).size()) > kMaxComposed;
  });
}

bool SameRelations(const LeafSets& a, const LeafSets& b) {
  const auto same = [](const auto& x, const auto& y) {
    return x.first == y.first &&
           llvm::equal(x.second.maps(), y.second.maps(), OperandIndexing::IdenticalRelation);
  };
  return llvm::equal(a, b, same);
}

// Weakens each leaf for its own reason, where an iteration has one that leads there.
void WeakenUnion(const LoopBody& body, bool depends_on_number,
                 const std::map<int64_t, ExactnessLabel>& inexact, LeafSets* sets) {
  std::string number = absl::StrCat("the number of iterations of ", body.loop().name());
  if (body.count()) {
    absl::StrAppend(&number, " is taken for any: ", body.WhyAnyNumber());
  } else {
    absl::StrAppend(&number, " is not known");
  }
  const ExactnessLabel label =
      depends_on_number ? ExactnessLabel::OverApproximate(number) : inexact.begin()->second;
  for (auto& [leaf, set] : *sets) {
    const auto own = inexact.find(leaf);
    OperandIndexingSet weaker;
    for (OperandIndexing map : set) {
      map.Weaken(own == inexact.end() ? label : own->second);
      weaker.Add(std::move(map));
    }
    set = std::move(weaker);
  }
}

// The union over all numbers of iterations; none where it has too many maps.
std::optional<LeafSets> Union(const LoopBody& body, const LeafSets& start, const Shape& from) {
  if (IsOff(Engine::kAnyIterations)) return std::nullopt;
  IterationComposer composer(body);
  LeafSets all = start;
  // Whether one more iteration can make a difference.
  bool has_changed = false;
  for (int round = 0; round < kMaxRounds && !composer.IsTooMuch(all); ++round) {
    const LeafSets step = composer.Through(all, from, std::nullopt);
    if (composer.IsExceeded()) break;
    has_changed = has_changed || !SameRelations(step, all);
    LeafSets more = all;
    AddAll(body, step, &more);
    if (SameRelations(more, all)) {
      if (has_changed || !composer.inexact().empty()) {
        WeakenUnion(body, has_changed, composer.inexact(), &all);
      }
      return all;
    }
    all = std::move(more);
  }
  return std::nullopt;
}

// Why nothing is said but that some leaves are reached, if that is so.
std::optional<std::string> WhyOnlyWholeLeaves(const LoopBody& body, const LeafSets& sets,
                                              const Shape& from) {
  std::string why;
  for (const auto& [leaf, set] : sets) {
    const OperandIndexing whole =
        WholeTensorIndexing(from, body.Leaf(leaf), "", body.build().mlir_context);
    const auto map = llvm::find_if(set, [&](const OperandIndexing& each) {
      return !each.IsExact() && OperandIndexing::IdenticalRelation(each, whole);
    });
    if (map == set.end()) return std::nullopt;
    if (why.empty()) why = map->label().reason;
  }
  return why;
}

std::string TooManyMaps(const LoopBody& body) {
  return absl::StrCat("whole leaf: the maps of ", body.loop().name(), " are too many");
}

// The union from one leaf; none where it has too many maps or is whole leaves.
const std::optional<LeafSets>& UnionFrom(const LoopBody& body, int64_t leaf) {
  const auto [it, is_new] = body.memo().unions.try_emplace(leaf);
  if (is_new) {
    const LeafSets start = Identity(body, leaf);
    if (!IsTooWide(body, start)) it->second = Union(body, start, body.Leaf(leaf));
    std::optional<std::string> why =
        it->second ? WhyOnlyWholeLeaves(body, *it->second, body.Leaf(leaf)) : TooManyMaps(body);
    if (why) {
      it->second.reset();
      body.memo().why_whole.emplace(leaf, *std::move(why));
    }
  }
  return it->second;
}

// Sorts leaves, together with all that iterations lead to from them, so that those come first from
// which the fewest others can be gone through one after another, and leaves of the same kind in their
// order: whichever leaf is asked about, they are in the same order.
void SortByDepth(const LoopBody& body, llvm::SmallVectorImpl<int64_t>* leaves) {
  std::vector<int> node_of(static_cast<size_t>(body.LeafCount()));
  for (size_t node = 0; node < leaves->size(); ++node) {
    node_of[(*leaves)[node]] = static_cast<int>(node);
  }
  std::vector<std::vector<int>> next(leaves->size());
  for (const int64_t leaf : *leaves) {
    std::vector<int>& after = next[node_of[leaf]];
    after.reserve(body.LeavesFrom(leaf).size());
    for (const int64_t to : body.LeavesFrom(leaf)) after.push_back(node_of[to]);
  }
  std::vector<int> depth(leaves->size(), -1);
  for (const std::vector<int>& part :
       StrongParts(static_cast<int>(leaves->size()),
                   [&](int node) -> const std::vector<int>& { return next[node]; })) {
    // What the part leads to besides itself has a depth by now.
    int greatest = -1;
    for (const int node : part) {
      for (const int to : next[node]) greatest = std::max(greatest, depth[to]);
    }
    for (const int node : part) depth[node] = greatest + 1;
  }
  llvm::sort(*leaves, [&](int64_t a, int64_t b) {
    return std::pair(depth[node_of[a]], a) < std::pair(depth[node_of[b]], b);
  });
}

// Why any number of iterations from one of these leaves is whole leaves, if it is: so it is where
// it is from a leaf that iterations lead to. Does not depend on what was asked before.
std::optional<std::string> WhyHopeless(const LoopBody& body, const LeafSets& start) {
  llvm::SmallVector<int64_t, 8> leaves;
  for (const auto& [leaf, set] : start) leaves.push_back(leaf);
  std::vector<bool> seen(static_cast<size_t>(body.LeafCount()));
  for (const int64_t leaf : leaves) seen[leaf] = true;
  for (size_t i = 0; i < leaves.size(); ++i) {
    for (const int64_t next : body.LeavesFrom(leaves[i])) {
      if (seen[next]) continue;
      seen[next] = true;
      leaves.push_back(next);
    }
  }
  SortByDepth(body, &leaves);
  for (const int64_t leaf : leaves) {
    // Passed through by every iteration, a leaf leads where the first one leads.
    if (body.PassesThrough(leaf)) continue;
    if (!UnionFrom(body, leaf)) return body.memo().why_whole.at(leaf);
  }
  return std::nullopt;
}

// The devices that maps lead to, and those that they start from.
struct DevicesOfMaps {
  Interval readers = Interval::Empty();
  Interval devices = Interval::Empty();

  void Add(const OperandIndexingSet& set) {
    for (const OperandIndexing& map : set) {
      if (map.replica_map() == nullptr) continue;
      readers = readers.Union(map.replica_map()->readers);
      devices = devices.Union(map.DevicesRead());
    }
  }
};

// Every element of the leaves that are reached at all; where an iteration leads to other devices,
// on those too.
LeafSets ReachableLeaves(const LoopBody& body, const LeafSets& start, const Shape& from,
                         const std::string& why) {
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
  if (devices.readers.IsEmpty()) return all;
  for (auto& [leaf, set] : all) {
    if (body.is_forward() && body.PassesThrough(leaf)) continue;  // It stays where it is.
    set.Add(OnAnyDevice(set.maps()[0], devices.readers, devices.devices));
  }
  return all;
}

}  // namespace

IteratedSets AnyIterations(const LoopBody& body, const LeafSets& start, const Shape& from) {
  if (start.empty()) return {};
  if (const std::optional<std::string> why = WhyHopeless(body, start)) {
    return {ReachableLeaves(body, start, from, *why), /*are_whole_leaves=*/true};
  }
  const int64_t leaf = start.begin()->first;
  const bool is_known = start == Identity(body, leaf) && from == body.Leaf(leaf);
  std::optional<LeafSets> all = is_known ? UnionFrom(body, leaf) : Union(body, start, from);
  if (all) return {*std::move(all)};
  return {ReachableLeaves(body, start, from, TooManyMaps(body)), /*are_whole_leaves=*/true};
}

IteratedSets AllIterations(const LoopBody& body, const LeafSets& start, const Shape& from) {
  if (body.IsBeyondClosing()) return AnyIterations(body, start, from);
  if (std::optional<LeafSets> closed = AllIterationsInClosedForm(body, start)) {
    return {*std::move(closed)};
  }
  if (!body.count() || IsTooWide(body, start)) return AnyIterations(body, start, from);
  const int64_t count = *body.count();
  if (count > kMaxSingleIterations) {
    std::optional<LeafSets> sets = AllByDoubling(body, start, from);
    return sets ? IteratedSets{*std::move(sets)} : AnyIterations(body, start, from);
  }
  if (IsOff(Engine::kIterationsOneByOne)) return AnyIterations(body, start, from);
  IterationComposer composer(body);
  LeafSets sets = start;
  for (int64_t k = 0; k < count; ++k) {
    LeafSets next = composer.Through(sets, from, body.IterationOf(k));
    if (composer.IsTooMuch(next)) return AnyIterations(body, start, from);
    const bool is_stable = !composer.depends_on_number() && next == sets;
    sets = std::move(next);
    if (is_stable) break;
  }
  return {std::move(sets)};
}

}  // namespace xla_indexing::internal
