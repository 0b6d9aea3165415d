#include "xla_indexing/ops/loops/body/iteration_values.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/coalesce.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/answers/map_builder.h"
#include "xla_indexing/ops/loops/body/loop_ends.h"
#include "xla_indexing/ops/loops/body/loop_graph.h"
#include "xla_indexing/ops/loops/body/timed_map.h"
#include "xla_indexing/ops/unions/few_maps.h"

namespace xla_indexing::internal {
namespace {

// Maps of one leaf, and compositions for one answer.
constexpr size_t kMaxValuedMaps = 32;
constexpr int64_t kMaxValuedComposed = 1 << 15;

using Through = llvm::function_ref<std::optional<LeafSets>(const LeafSets& from, LoopGraph& graph)>;

ValuedLoop& ValuedLoopOf(const LoopBody& body, StepValues values) {
  const auto [it, is_new] = body.memo().valued.try_emplace(values);
  ValuedLoop* valued = &it->second;
  if (!is_new) return *valued;
  std::vector<LoopPiece> steady;
  for (LoopPiece& piece : PiecesOf(body, [&](int64_t leaf) -> const LeafSets& {
         return body.ValuedStepsOf(leaf, values);
       })) {
    if (piece.map.IsUnknown() || HasFixedValues(piece.map)) {
      steady.push_back(std::move(piece));
    } else {
      valued->changing[piece.from][piece.to].Add(std::move(piece.map));
    }
  }
  for (int64_t leaf = 0; leaf < body.LeafCount() && !valued->has_values; ++leaf) {
    valued->has_values =
        body.ValuedStepsOf(leaf, values) !=
        (values == StepValues::kOfIterations ? body.TimedStepsOf(leaf)
                                             : body.ValuedStepsOf(leaf, StepValues::kOfIterations));
  }
  if (valued->has_values) valued->steady = MakeLoopGraph(body, std::move(steady));
  return *valued;
}

// `map` with its first dimension, the number of iterations, as its first result.
OperandIndexing WithNumberAsResult(const OperandIndexing& map) {
  if (map.IsUnknown()) return map;
  Renaming renaming;
  renaming.dims = Variables(map.map().dims());
  renaming.ranges = Variables(map.map().ranges());
  for (int i = 0; i < map.map().num_runtimes(); ++i) renaming.runtimes.push_back(i);
  renaming.results_added.push_back(mlir::getAffineDimExpr(0, map.map().context()));
  return Renamed(map, std::move(renaming));
}

class ValuedWays {
 public:
  ValuedWays(const LoopBody& body, StepValues values, Through through)
      : body_(body),
        loop_(ValuedLoopOf(body, values)),
        through_(through),
        is_end_number_(body.is_forward() && !body.count()) {}

  // Whether iterations depend on such values.
  bool HasValues() const { return loop_.has_values; }

  std::optional<LeafSets> Steady(const LeafSets& from) { return through_(from, loop_.steady); }

  // What S* or (`then_any`) A leads to at a leaf at the end from all that changing pieces lead to from
  // `from`, in their order; nullopt if that has no closed form. What is the same for two leaves leads
  // to the same of them.
  std::optional<std::vector<OperandIndexingSet>> RestsTo(int64_t to, const LeafSets& from,
                                                         bool then_any) {
    std::vector<OperandIndexingSet> rests;
    for (const auto& [leaf, set] : from) {
      const auto pieces = loop_.changing.find(leaf);
      if (pieces == loop_.changing.end()) continue;
      for (const auto& [next, maps] : pieces->second) {
        const std::optional<LeafSets>& ends = ToEnd(next, then_any);
        if (!ends) return std::nullopt;
        const auto rest = ends->find(to);
        rests.push_back(rest == ends->end() ? OperandIndexingSet() : rest->second);
      }
    }
    return rests;
  }

  // The maps of from ; c ; rest, with what RestsTo() gives for `from`, one after another; false where
  // `each` says so of one, or there are too many.
  bool ForEachAtEnd(const LeafSets& from, const std::vector<OperandIndexingSet>& rests,
                    llvm::function_ref<bool(OperandIndexing map)> each) {
    size_t i = 0;
    for (const auto& [leaf, set] : from) {
      const auto pieces = loop_.changing.find(leaf);
      if (pieces == loop_.changing.end()) continue;
      for (const auto& [next, maps] : pieces->second) {
        const OperandIndexingSet& rest = rests[i++];
        if (rest.empty()) continue;
        const std::optional<OperandIndexingSet>& begun = Begun(set, maps);
        if (!begun || !ForEachComposed(*begun, rest, each)) return false;
      }
    }
    return true;
  }

 private:
  // Any number of steady pieces, or of all, from a leaf to the end, with the number of iterations as
  // a dimension if need be.
  const std::optional<LeafSets>& ToEnd(int64_t leaf, bool any) {
    auto& known = any ? loop_.any_to_end : loop_.steady_to_end;
    const auto [it, is_new] = known.try_emplace(leaf);
    if (!is_new) return it->second;
    mlir::MLIRContext* context = body_.build().mlir_context;
    LeafSets start;
    start[leaf].Add(AddTime(IdentityIndexing(body_.Leaf(leaf), context), body_.Times(),
                            mlir::getAffineDimExpr(0, context)));
    std::optional<LeafSets> ways = through_(start, any ? *body_.memo().graph : loop_.steady);
    if (!ways) return it->second;
    if (is_end_number_) {
      for (auto& [to, set] : *ways) {
        OperandIndexingSet numbered;
        for (const OperandIndexing& map : set) {
          numbered.Add(map.IsUnknown() ? map : AddTime(map, body_.counter().counts, {}));
        }
        set = std::move(numbered);
      }
    }
    it->second = LoopEnds(body_).BeforeNumber(*ways);
    return it->second;
  }

  std::optional<OperandIndexing> Compose(const OperandIndexing& a, const OperandIndexing& b) {
    return budget_.Take(1) && loop_.budget.Take(1) ? ComposeTimed(a, b) : std::nullopt;
  }

  // first ; pieces, with the number of iterations, if that is the first dimension of `first` and need be,
  // as the first result; nullopt if there are too many. References stay.
  const std::optional<OperandIndexingSet>& Begun(const OperandIndexingSet& first,
                                                 const OperandIndexingSet& pieces) {
    const auto [known, is_new] = begun_.try_emplace({first, pieces});
    if (!is_new) return known->second;
    OperandIndexingSet begun;
    for (const OperandIndexing& piece : pieces) {
      for (const OperandIndexing& map : first) {
        const std::optional<OperandIndexing> both = Compose(map, piece);
        if (!both) return known->second;
        if (!both->IsKnownEmpty()) begun.Add(is_end_number_ ? WithNumberAsResult(*both) : *both);
      }
    }
    known->second = std::move(begun);
    return known->second;
  }

  bool ForEachComposed(const OperandIndexingSet& first, const OperandIndexingSet& last,
                       llvm::function_ref<bool(OperandIndexing map)> each) {
    for (const OperandIndexing& a : first) {
      for (const OperandIndexing& b : last) {
        std::optional<OperandIndexing> all = Compose(a, b);
        if (!all || (!all->IsKnownEmpty() && !each(*std::move(all)))) return false;
      }
    }
    return true;
  }

  const LoopBody& body_;
  ValuedLoop& loop_;
  Through through_;
  // Whether the ways end at a time that is a dimension of the maps that they start with.
  const bool is_end_number_;
  absl::node_hash_map<std::pair<OperandIndexingSet, OperandIndexingSet>,
                      std::optional<OperandIndexingSet>>
      begun_;
  StepBudget budget_{kMaxValuedComposed};
};

bool IsCoveredByOne(const OperandIndexing& map, const OperandIndexingSet& set) {
  return llvm::any_of(set, [&](const OperandIndexing& known) { return Covers(known, map); });
}

// What is found of leaves to which the same ways lead, for all of them once.
class SharpenedLeaves {
 public:
  // Keeps references.
  SharpenedLeaves(ValuedWays& ways, const LeafSets& steady, const LeafSets& places)
      : ways_(ways), steady_(steady), places_(places) {}

  // The union of S* and S* ; c ; S* to a leaf at the end, where it is exact and all. `at_end` is where S*
  // leads at that leaf.
  std::optional<OperandIndexingSet> Of(int64_t leaf, OperandIndexingSet at_end) {
    std::optional<OperandIndexingSet> set = WithOneChange(leaf, std::move(at_end));
    if (!set) return std::nullopt;
    const bool is_all = CoversAll(leaf, *set, steady_, /*then_any=*/true) ||
                        CoversAll(leaf, *set, places_, /*then_any=*/false);
    return is_all ? set : std::nullopt;
  }

 private:
  std::optional<OperandIndexingSet> WithOneChange(int64_t leaf, OperandIndexingSet at_end) {
    std::optional<Sets> rests = ways_.RestsTo(leaf, steady_, /*then_any=*/false);
    if (!rests) return std::nullopt;
    Sets ways = *rests;
    ways.push_back(at_end);
    const auto [known, is_new] = with_one_change_.try_emplace(std::move(ways));
    if (!is_new) return known->second;
    const bool fits = ways_.ForEachAtEnd(steady_, *rests, [&](OperandIndexing map) {
      if (!IsCoveredByOne(map, at_end)) at_end.Add(std::move(map));
      return at_end.size() <= kMaxValuedMaps;
    });
    if (!fits) return std::nullopt;
    WriteWithFewMaps(&at_end);
    if (at_end.label().IsExact()) known->second = std::move(at_end);
    return known->second;
  }

  bool CoversAll(int64_t leaf, const OperandIndexingSet& set, const LeafSets& from, bool then_any) {
    std::optional<Sets> rests = ways_.RestsTo(leaf, from, then_any);
    if (!rests) return false;
    Sets ways = *rests;
    ways.push_back(set);
    const auto [known, is_new] = (then_any ? then_any_ : from_any_).try_emplace(std::move(ways));
    if (is_new) {
      known->second = ways_.ForEachAtEnd(
          from, *rests, [&](const OperandIndexing& map) { return IsCoveredByOne(map, set); });
    }
    return known->second;
  }

  using Sets = std::vector<OperandIndexingSet>;

  ValuedWays& ways_;
  const LeafSets& steady_;
  const LeafSets& places_;
  absl::flat_hash_map<Sets, std::optional<OperandIndexingSet>> with_one_change_;
  absl::flat_hash_map<Sets, bool> then_any_;
  absl::flat_hash_map<Sets, bool> from_any_;
};

// SharpenByValues with values of one kind.
void SharpenBy(StepValues values, const LoopBody& body, const LeafSets& start,
               const LeafSets& places, Through through, LeafSets* at_end) {
  std::set<int64_t> open;
  for (const auto& [leaf, set] : *at_end) {
    if (!set.label().IsExact()) open.insert(leaf);
  }
  if (open.empty()) return;
  ValuedWays ways(body, values, through);
  if (!ways.HasValues()) return;
  const LoopEnds ends(body);
  const std::optional<LeafSets> steady = ways.Steady(start);
  if (!steady) return;
  LeafSets exact = ends.BeforeNumber(*steady);
  SharpenedLeaves leaves(ways, *steady, places);
  for (const int64_t leaf : open) {
    std::optional<OperandIndexingSet> set = leaves.Of(leaf, std::move(exact[leaf]));
    if (!set) continue;
    at_end->erase(leaf);
    if (!set->empty()) (*at_end)[leaf] = ends.WithoutNumber({{leaf, *std::move(set)}})[leaf];
  }
}

}  // namespace

void SharpenByValues(const LoopBody& body, const LeafSets& start, const LeafSets& places,
                     Through through, LeafSets* at_end) {
  if (IsOff(Engine::kIterationValues)) return;
  for (const StepValues values : {StepValues::kOfIterations, StepValues::kOfBeginning}) {
    SharpenBy(values, body, start, places, through, at_end);
  }
}

}  // namespace xla_indexing::internal
