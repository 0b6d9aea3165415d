#include "xla_indexing/ops/loops/closure/loop_closure.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/coalesce.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/loops/body/iteration_values.h"
#include "xla_indexing/ops/loops/body/loop_ends.h"
#include "xla_indexing/ops/loops/body/loop_graph.h"
#include "xla_indexing/ops/loops/body/timed_map.h"
#include "xla_indexing/ops/loops/closure/powers.h"
#include "xla_indexing/ops/unions/few_maps.h"

namespace xla_indexing::internal {
namespace {

// Maps of one leaf, and compositions for one answer.
constexpr size_t kMaxMapsOfPlace = 16;
constexpr int64_t kMaxComposedForAnswer = 4096;
// The leaves of a part that are gone through one after another.
constexpr size_t kMaxLeavesOfPart = 64;

// Whether a leaf is what it was in the iteration before, whatever the body makes of it: iterations
// lead from it to itself and to nothing else.
bool IsStill(const LoopSteps& body, int64_t leaf) {
  if (body.PassesThrough(leaf)) return true;
  const LeafSets& steps = body.TimedStepsOf(leaf);
  if (steps.size() != 1 || steps.begin()->first != leaf || steps.begin()->second.size() != 1) {
    return false;
  }
  const OperandIndexing& step = steps.begin()->second.maps().front();
  if (!step.IsExact() || step.map().num_symbols() > 0 || !step.map().constraints().empty() ||
      step.replica_map() != nullptr) {
    return false;
  }
  for (int i = 1; i < step.map().num_dims(); ++i) {
    if (step.map().results()[i] != mlir::getAffineDimExpr(i, step.map().context()) ||
        step.map().dims()[i].bounds != Interval::OfSize(body.Leaf(leaf).dimension(i - 1))) {
      return false;
    }
  }
  return true;
}

class ClosedLoop {
 public:
  // Solves parts of `graph` as they are needed; keeps references.
  ClosedLoop(const LoopSteps& body, LoopGraph& graph) : body_(body), graph_(graph) {}

  // Everything that ways from `start`, timed, lead to at any time; nullopt if some part has no
  // closed form, or there are too many maps.
  std::optional<LeafSets> Through(const LeafSets& start) {
    if (IsOff(Engine::kClosedForms)) return std::nullopt;
    std::vector<LoopPart>& parts = Graph().parts;
    std::vector<LeafSets> arrived(parts.size());
    joined_.clear();
    LeafSets places = start;
    for (size_t i = 0; i < Graph().pieces.size(); ++i) {
      const LoopPiece& piece = Graph().pieces[i];
      if (const auto set = start.find(piece.from); set != start.end()) {
        arrived[piece.part][piece.from] = set->second;
      }
    }
    for (size_t i = 0; i < parts.size(); ++i) {
      if (arrived[i].empty()) continue;
      for (auto& [leaf, set] : arrived[i]) {
        if (joined_.contains({i, leaf}) && !Bound(&set)) return std::nullopt;
      }
      const std::optional<LeafSets> left =
          Solve(parts[i]) ? Leave(parts[i], arrived[i]) : std::nullopt;
      if (!left) return std::nullopt;
      for (const auto& [leaf, set] : *left) places[leaf].Add(set);
      Enter(static_cast<int>(i), *left, &arrived);
    }
    for (auto& [leaf, set] : places) {
      if (!IsFew(&set)) return std::nullopt;
    }
    return places;
  }

 private:
  LoopGraph& Graph() { return graph_; }

  // Maps that have arrived somewhere, as maps that go on need to know them.
  const OperandIndexingSet& WhatMatters(const OperandIndexingSet& arrived,
                                        const std::vector<bool>& matter) {
    if (!llvm::is_contained(matter, false)) return arrived;
    const auto [known, is_new] = what_matters_.try_emplace({arrived, matter});
    if (is_new) {
      for (const OperandIndexing& map : arrived) {
        known->second.Add(WithResultsThatMatter(map, matter));
      }
      if (known->second.size() > 1) WriteWithFewMaps(&known->second);
    }
    return known->second;
  }

  // Where the closure of a part leads from what has arrived there.
  std::optional<LeafSets> Leave(const LoopPart& part, const LeafSets& arrived) {
    LeafSets left;
    for (const auto& [ends, maps] : *part.closure) {
      const auto set = arrived.find(ends.first);
      if (set == arrived.end()) continue;
      for (const OperandIndexing& map : maps) {
        if (map.IsUnknown()) return std::nullopt;
        const OperandIndexingSet& first =
            WhatMatters(set->second, DimensionsThatMatter(map, body_.Leaf(ends.first)));
        const std::optional<OperandIndexingSet>& both = Composed(first, OperandIndexingSet(map));
        if (!both) return std::nullopt;
        left[ends.second].Add(*both);
      }
    }
    std::erase_if(left, [](const auto& place) { return place.second.empty(); });
    for (auto& [leaf, set] : left) {
      if (!body_.is_forward() && IsStill(body_, leaf)) set = AtTimeZero(set);
      if (!LeadsOn(part, leaf) && set.size() <= kMaxMapsOfPlace) continue;
      const std::optional<OperandIndexingSet>& few = United(set, OperandIndexingSet());
      if (!few) return std::nullopt;
      set = *few;
    }
    return left;
  }

  // Adds what has left a part to what has arrived at the parts that it leads to, each of which is
  // entered from a leaf once.
  void Enter(int from, const LeafSets& left, std::vector<LeafSets>* arrived) {
    std::set<std::pair<int, int64_t>> entered;
    for (const int i : Graph().parts[from].pieces) {
      const LoopPiece& piece = Graph().pieces[i];
      const auto set = left.find(piece.to);
      if (set == left.end()) continue;
      for (const int next : piece.next) {
        const int part = Graph().pieces[next].part;
        if (part == from || !entered.insert({part, piece.to}).second) continue;
        OperandIndexingSet& at_part = (*arrived)[part][piece.to];
        if (!at_part.empty()) joined_.insert({part, piece.to});
        at_part.Add(set->second);
      }
    }
  }

  // What leads to such a leaf at any time leads to what the loop begins with.
  static OperandIndexingSet AtTimeZero(const OperandIndexingSet& set) {
    OperandIndexingSet result;
    for (const OperandIndexing& map : set) {
      Renaming renaming;
      renaming.dims = Variables(map.map().dims());
      renaming.ranges = Variables(map.map().ranges());
      for (int i = 0; i < map.map().num_runtimes(); ++i) renaming.runtimes.push_back(i);
      renaming.results_dropped = 1;
      renaming.results_added.push_back(Constant(0, map.map().context()));
      result.Add(Renamed(map, std::move(renaming)));
    }
    return result;
  }

  bool ComposeAll(const OperandIndexingSet& first, const OperandIndexingSet& second,
                  OperandIndexingSet* result) {
    for (const OperandIndexing& a : first) {
      for (const OperandIndexing& b : second) {
        if (!budget_.Take(1)) return false;
        std::optional<OperandIndexing> composed = ComposeTimed(a, b);
        if (!composed) return false;
        result->Add(*std::move(composed));
      }
    }
    return true;
  }

  // Whether pieces lead from a leaf to which a part leads to other parts.
  bool LeadsOn(const LoopPart& part, int64_t leaf) {
    return llvm::any_of(part.pieces, [&](int i) {
      const LoopPiece& piece = Graph().pieces[i];
      return piece.to == leaf && llvm::any_of(piece.next, [&](int next) {
               return Graph().pieces[next].part != piece.part;
             });
    });
  }

  // As Bound, of what is written with few maps later.
  static bool IsFew(OperandIndexingSet* set) {
    return set->size() <= kMaxMapsOfPlace || Bound(set);
  }

  static bool Bound(OperandIndexingSet* set) {
    if (set->size() > 1) WriteWithFewMaps(set);
    return set->size() <= 2 * kMaxMapsOfPlace;
  }

  // Finds the closure of a part; false where there is none.
  bool Solve(LoopPart& part) {
    if (!part.is_solved) {
      part.is_solved = true;
      part.closure = ClosureOf(part);
    }
    return part.closure.has_value();
  }

  std::optional<LoopClosure> ClosureOf(const LoopPart& part) {
    std::vector<const LoopPiece*> pieces;
    for (const int i : part.pieces) pieces.push_back(&Graph().pieces[i]);
    const LoopPiece& first = *pieces[0];
    if (pieces.size() == 1 && !llvm::is_contained(first.next, part.pieces[0])) {
      LoopClosure closure;
      closure[{first.from, first.to}].Add(first.map);
      return closure;
    }
    if (llvm::all_of(pieces, [](const LoopPiece* piece) { return piece->from == piece->to; })) {
      OperandIndexingSet maps;
      for (const LoopPiece* piece : pieces) maps.Add(piece->map);
      std::optional<OperandIndexingSet> powers = PowersOf(maps);
      if (!powers) return std::nullopt;
      return LoopClosure{{{first.from, first.from}, *std::move(powers)}};
    }
    return CloseLeafByLeaf(pieces);
  }

  // All powers but none of maps from a leaf to itself: of fewer maps that say the same, as answers are
  // written, where no law knows them as they are.
  static std::optional<OperandIndexingSet> PowersOf(const OperandIndexingSet& maps) {
    std::optional<OperandIndexingSet> powers = AllPowersOf(maps);
    if (powers || maps.size() < 2) return powers;
    OperandIndexingSet fewer = maps;
    WriteAnswer(&fewer);
    if (fewer.size() >= maps.size()) return std::nullopt;
    return AllPowersOf(std::move(fewer));
  }

  // What the next three give is the same for equal sets: layers of a model have the same maps from leaf to leaf, so
  // that each is found once for all of them, and takes steps once. nullopt if there are too many maps.
  // References stay.
  const std::optional<OperandIndexingSet>& Composed(const OperandIndexingSet& first,
                                                    const OperandIndexingSet& second) {
    const auto [known, is_new] = composed_.try_emplace({first, second});
    if (!is_new) return known->second;
    OperandIndexingSet composed;
    if (ComposeAll(first, second, &composed)) known->second = std::move(composed);
    return known->second;
  }
  const std::optional<OperandIndexingSet>& United(const OperandIndexingSet& a,
                                                  const OperandIndexingSet& b) {
    const auto [known, is_new] = united_.try_emplace({a, b});
    if (!is_new) return known->second;
    OperandIndexingSet both = a;
    both.Add(b);
    if (Bound(&both)) known->second = std::move(both);
    return known->second;
  }
  // All powers of maps from a leaf to itself.
  const std::optional<OperandIndexingSet>& AllPowers(const OperandIndexingSet& maps) {
    const auto [known, is_new] = powers_.try_emplace(maps);
    if (!is_new) return known->second;
    std::optional<OperandIndexingSet> powers = PowersOf(maps);
    if (powers && Bound(&*powers)) known->second = *std::move(powers);
    return known->second;
  }

  // Kleene's algorithm: ways between all leaves that pass through the first leaf, through the first
  // two, and so on.
  std::optional<LoopClosure> CloseLeafByLeaf(const std::vector<const LoopPiece*>& pieces) {
    if (IsOff(Engine::kLeafByLeaf)) return std::nullopt;
    LoopClosure ways;
    std::map<int64_t, size_t> to_itself;
    for (const LoopPiece* piece : pieces) {
      ways[{piece->from, piece->to}].Add(piece->map);
      to_itself[piece->from] += piece->from == piece->to ? 1 : 0;
    }
    if (to_itself.size() > kMaxLeavesOfPart) return std::nullopt;
    // Leaves that lead to themselves in the fewest ways come first.
    std::vector<std::pair<size_t, int64_t>> order;
    for (const auto& [leaf, count] : to_itself) order.push_back({count, leaf});
    llvm::sort(order);
    for (const auto& [count, through] : order) {
      const auto self = ways.find({through, through});
      if (self != ways.end()) {
        const std::optional<OperandIndexingSet>& powers = AllPowers(self->second);
        if (!powers) return std::nullopt;
        self->second = *powers;
      }
      for (const bool is_first : {true, false}) {
        // First what continues from the leaf, after any of its powers; then what reaches it.
        LoopClosure longer;
        for (const auto& [ends, maps] : ways) {
          if (is_first) {
            if (ends.first != through || ends.second == through || self == ways.end()) continue;
            const std::optional<OperandIndexingSet>& after = Composed(self->second, maps);
            if (!after) return std::nullopt;
            longer[ends] = *after;
            continue;
          }
          if (ends.second != through || ends.first == through) continue;
          for (const auto& [next_ends, next_maps] : ways) {
            if (next_ends.first != through) continue;
            const std::optional<OperandIndexingSet>& both = Composed(maps, next_maps);
            if (!both) return std::nullopt;
            longer[{ends.first, next_ends.second}] = *both;
          }
        }
        for (const auto& [ends, maps] : longer) {
          const std::optional<OperandIndexingSet>& united = United(ways[ends], maps);
          if (!united) return std::nullopt;
          ways[ends] = *united;
        }
      }
    }
    std::erase_if(ways, [](const auto& way) { return way.second.empty(); });
    return ways;
  }

  const LoopSteps& body_;
  LoopGraph& graph_;
  // The parts and leaves where what arrives comes from several parts.
  std::set<std::pair<size_t, int64_t>> joined_;
  // The leaves to which iterations were followed.
  absl::node_hash_map<std::pair<OperandIndexingSet, std::vector<bool>>, OperandIndexingSet>
      what_matters_;
  using TwoSets = std::pair<OperandIndexingSet, OperandIndexingSet>;
  absl::node_hash_map<TwoSets, std::optional<OperandIndexingSet>> composed_;
  absl::node_hash_map<TwoSets, std::optional<OperandIndexingSet>> united_;
  absl::node_hash_map<OperandIndexingSet, std::optional<OperandIndexingSet>> powers_;
  StepBudget budget_{kMaxComposedForAnswer};
};

// The graph of all pieces, in which values that iterations compute may have any value.
LoopGraph& GraphOf(const LoopSteps& body) {
  std::optional<LoopGraph>& graph = body.memo().graph;
  if (!graph) {
    graph = MakeLoopGraph(body, PiecesOf(body, [&](int64_t leaf) -> const LeafSets& {
                            return body.TimedStepsOf(leaf);
                          }));
  }
  return *graph;
}

// What ways from `start`, timed, lead to at the end.
std::optional<LeafSets> AllAtEnd(const LoopBody& body, const LeafSets& start) {
  const LoopEnds ends(body);
  ClosedLoop loop(body, GraphOf(body));
  const std::optional<LeafSets> places = loop.Through(start);
  if (!places) return std::nullopt;
  LeafSets at_end = ends.AtEnd(*places);
  SharpenByValues(
      body, start, *places,
      [&](const LeafSets& from, LoopGraph& steady) {
        return ClosedLoop(body, steady).Through(from);
      },
      &at_end);
  return at_end;
}

}  // namespace

std::optional<LeafSets> AllWays(const LoopSteps& steps, const LeafSets& start) {
  return ClosedLoop(steps, GraphOf(steps)).Through(start);
}

std::optional<LeafSets> AllIterationsInClosedForm(const LoopBody& body, const LeafSets& start) {
  const LoopEnds ends(body);
  LeafSets timed;
  for (const auto& [leaf, set] : start) {
    timed[leaf] = ends.Start(set, body.is_forward() && body.PassesThrough(leaf));
  }
  return AllAtEnd(body, timed);
}

std::optional<LeafSets> ReadByConditionInClosedForm(const LoopBody& body) {
  const LoopEnds ends(body);
  LeafSets start;
  for (const IndexingEntry& entry :
       body.build().ReadOf(body.Called(*body.loop().while_condition()), 0)) {
    const OperandIndexingSet timed = body.TimedCondition(entry.indexing, /*to_state=*/true);
    // What is the same at all times is read from what the loop begins with.
    bool depends_on_time = !IsStill(body, entry.operand_leaf);
    OperandIndexingSet at_beginning;
    for (const OperandIndexing& map : timed) {
      at_beginning.Add(DropTime(map, Interval::All(), 1, &depends_on_time));
    }
    start[entry.operand_leaf] =
        depends_on_time ? ends.FromAnyTime(timed) : ends.AtTime(at_beginning, 0);
  }
  return AllAtEnd(body, start);
}

std::optional<OperandIndexingSet> ReachOfConditionInClosedForm(const LoopBody& body,
                                                               const LeafSets& start) {
  const LoopEnds ends(body);
  LeafSets timed;
  for (const auto& [leaf, set] : start) {
    timed[leaf] = ends.Start(set, body.PassesThrough(leaf));
  }
  const std::optional<LeafSets> places = AllWays(body, timed);
  if (!places) return std::nullopt;
  const HloComputation& condition = *body.loop().while_condition();
  OperandIndexingSet reached;
  for (const auto& [leaf, set] : *places) {
    if (body.build().options.computations->LeavesReached(condition, {0, leaf}).empty()) continue;
    for (const IndexingEntry& entry : body.build().ReachOf(body.Called(condition), {0, leaf})) {
      const std::optional<OperandIndexingSet> to_condition =
          ends.BeforeEnd(set, body.TimedCondition(entry.indexing, /*to_state=*/false));
      if (!to_condition) return std::nullopt;
      reached.Add(*to_condition);
    }
  }
  reached.Simplify();
  return reached;
}

}  // namespace xla_indexing::internal
