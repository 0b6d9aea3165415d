#include "xla_indexing/ops/loops/body/iteration_values.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

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

  // The maps of from ; c ; S* to a leaf at the end, or (`then_any`) of from ; c ; A, one after
  // another; false where `each` says so of one, or there are too many.
  bool ForEachAtEnd(const LeafSets& from, int64_t to, bool then_any,
                    llvm::function_ref<bool(OperandIndexing map)> each) {
    for (const auto& [leaf, set] : from) {
      const auto pieces = loop_.changing.find(leaf);
      if (pieces == loop_.changing.end()) continue;
      for (const auto& [next, maps] : pieces->second) {
        const std::optional<LeafSets>& ends = ToEnd(next, then_any);
        if (!ends) return false;
        const auto rest = ends->find(to);
        if (rest == ends->end()) continue;
        for (const OperandIndexing& piece : maps) {
          if (!ForEachComposed(set, piece, rest->second, each)) return false;
        }
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

  // first ; piece ; last, where the number of iterations is known to `first` and `last` only if it is
  // their first dimension.
  bool ForEachComposed(const OperandIndexingSet& first, const OperandIndexing& piece,
                       const OperandIndexingSet& last,
                       llvm::function_ref<bool(OperandIndexing map)> each) {
    const auto compose = [&](const OperandIndexing& a, const OperandIndexing& b) {
      return budget_.Take(1) && loop_.budget.Take(1) ? ComposeTimed(a, b) : std::nullopt;
    };
    for (const OperandIndexing& a : first) {
      std::optional<OperandIndexing> begun = compose(a, piece);
      if (!begun) return false;
      if (begun->IsKnownEmpty()) continue;
      if (is_end_number_) begun = WithNumberAsResult(*begun);
      for (const OperandIndexing& b : last) {
        std::optional<OperandIndexing> all = compose(*begun, b);
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
  StepBudget budget_{kMaxValuedComposed};
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
  for (const int64_t leaf : open) {
    OperandIndexingSet& set = exact[leaf];
    const auto is_covered = [&](const OperandIndexing& map) {
      return llvm::any_of(set, [&](const OperandIndexing& known) { return Covers(known, map); });
    };
    const bool fits =
        ways.ForEachAtEnd(*steady, leaf, /*then_any=*/false, [&](OperandIndexing map) {
          if (!is_covered(map)) set.Add(std::move(map));
          return set.size() <= kMaxValuedMaps;
        });
    if (!fits) continue;
    WriteWithFewMaps(&set);
    if (!set.label().IsExact()) continue;
    if (!ways.ForEachAtEnd(*steady, leaf, /*then_any=*/true, is_covered) &&
        !ways.ForEachAtEnd(places, leaf, /*then_any=*/false, is_covered)) {
      continue;
    }
    at_end->erase(leaf);
    if (!set.empty()) (*at_end)[leaf] = ends.WithoutNumber({{leaf, std::move(set)}})[leaf];
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
