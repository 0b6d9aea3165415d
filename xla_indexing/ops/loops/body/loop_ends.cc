#include "xla_indexing/ops/loops/body/loop_ends.h"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/loops/body/timed_map.h"
#include "xla_indexing/ops/unions/few_maps.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

namespace {

Renaming NothingRenamed(const OperandIndexing& map) {
  Renaming renaming;
  renaming.dims = Variables(map.map().dims());
  renaming.ranges = Variables(map.map().ranges());
  for (int i = 0; i < map.map().num_runtimes(); ++i) renaming.runtimes.push_back(i);
  return renaming;
}

OperandIndexing WithResult(const OperandIndexing& map, AffineExpr result) {
  Renaming renaming = NothingRenamed(map);
  renaming.results_added.push_back(result);
  return Renamed(map, std::move(renaming));
}

void RenumberSymbols(const OperandIndexing& map, int ranges_added, Renaming* renaming) {
  const int num_ranges = map.map().num_ranges();
  for (int i = 0; i < map.map().num_symbols(); ++i) {
    renaming->for_symbols.push_back(
        mlir::getAffineSymbolExpr(i < num_ranges ? i : i + ranges_added, map.map().context()));
  }
}

OperandIndexing SecondDimensionToRange(const OperandIndexing& map) {
  Renaming renaming = NothingRenamed(map);
  mlir::MLIRContext* context = map.map().context();
  renaming.ranges.push_back(renaming.dims[1]);
  renaming.dims.erase(renaming.dims.begin() + 1);
  renaming.for_dims = {mlir::getAffineDimExpr(0, context),
                       mlir::getAffineSymbolExpr(map.map().num_ranges(), context)};
  for (int i = 2; i <= map.map().num_dims(); ++i) {
    renaming.for_dims.push_back(mlir::getAffineDimExpr(i - 1, context));
  }
  RenumberSymbols(map, 1, &renaming);
  return Renamed(map, std::move(renaming));
}

// `map` with a runtime variable that is the number of iterations of `loop` instead of its first
// dimension.
OperandIndexing FirstDimensionToIterations(const OperandIndexing& map, const HloInstruction& loop) {
  mlir::MLIRContext* context = map.map().context();
  const int num_ranges = map.map().num_ranges();
  Renaming renaming = NothingRenamed(map);
  renaming.iterations_of = &loop;
  renaming.iterations = renaming.dims[0];
  renaming.dims.erase(renaming.dims.begin());
  renaming.for_dims.push_back(mlir::getAffineSymbolExpr(num_ranges, context));
  // The dimension after the last stands for the reader in replica maps.
  for (int i = 0; i < map.map().num_dims(); ++i) {
    renaming.for_dims.push_back(mlir::getAffineDimExpr(i, context));
  }
  RenumberSymbols(map, 1, &renaming);
  return Renamed(map, std::move(renaming));
}

}  // namespace

OperandIndexingSet LoopEnds::Start(const OperandIndexingSet& set, bool at_any_time) const {
  OperandIndexingSet started;
  for (const OperandIndexing& map : set) {
    if (map.IsUnknown()) {
      started.Add(map);
      continue;
    }
    const AffineExpr begin = Constant(0, map.map().context());
    OperandIndexing with_number = body_.count() ? map : AddTime(map, Counts(), {});
    const AffineExpr time = body_.is_forward() ? begin : End(with_number);
    started.Add(at_any_time ? AtAnyTime(with_number) : WithResult(with_number, time));
  }
  started.Simplify();
  return started;
}

OperandIndexingSet LoopEnds::AtTime(const OperandIndexingSet& set, int64_t time) const {
  OperandIndexingSet timed;
  for (const OperandIndexing& map : set) {
    if (map.IsUnknown()) {
      timed.Add(map);
      continue;
    }
    timed.Add(WithResult(body_.count() ? map : AddTime(map, Counts(), {}),
                         Constant(time, map.map().context())));
  }
  timed.Simplify();
  return timed;
}

OperandIndexingSet LoopEnds::FromAnyTime(const OperandIndexingSet& timed) const {
  OperandIndexingSet result;
  for (const OperandIndexing& map : timed) {
    if (map.IsUnknown()) {
      result.Add(map);
      continue;
    }
    bool depends_on_time = false;
    if (body_.count()) {
      result.Add(DropTime(map, Interval::All(), 0, &depends_on_time));
      continue;
    }
    // With the number of iterations before the time.
    OperandIndexing with_number = AddTime(map, Counts(), {});
    const AffineExpr number = mlir::getAffineDimExpr(0, map.map().context());
    const AffineExpr time = mlir::getAffineDimExpr(1, map.map().context());
    if (!with_number.AddConstraint(Sub(number, time), Interval::AtLeast(0)).ok()) return {};
    result.Add(SecondDimensionToRange(with_number));
  }
  result.Simplify();
  return result;
}

LeafSets LoopEnds::BeforeNumber(const LeafSets& places) const {
  LeafSets end;
  for (const auto& [leaf, set] : places) {
    const bool at_any_time = !body_.is_forward() && body_.PassesThrough(leaf);
    OperandIndexingSet restricted;
    for (const OperandIndexing& map : set) {
      const AffineExpr last = body_.is_forward() ? End(map) : Constant(0, map.map().context());
      const AffineExpr missing = Sub(last, map.map().results()[0]);
      OperandIndexing at_end = map;
      if (!at_any_time && !at_end.AddConstraint(missing, Interval::Point(0)).ok()) return {};
      Renaming renaming = NothingRenamed(at_end);
      renaming.results_dropped = 1;
      restricted.Add(Renamed(at_end, std::move(renaming)));
    }
    WriteWithFewMaps(&restricted);
    end[leaf] = std::move(restricted);
  }
  std::erase_if(end, [](const auto& place) { return place.second.empty(); });
  return end;
}

LeafSets LoopEnds::WithoutNumber(LeafSets at_end) const {
  LeafSets end;
  for (auto& [leaf, set] : at_end) {
    WriteAnswer(&set);
    for (const OperandIndexing& map : set) end[leaf].Add(WithoutNumber(map));
    if (!body_.count()) WriteWithFewMaps(&end[leaf]);
    if (end[leaf].size() > 1) end[leaf].DropSubsumed(body_.Leaf(leaf));
  }
  std::erase_if(end, [](const auto& place) { return place.second.empty(); });
  return end;
}

OperandIndexing LoopEnds::AfterIterations(const OperandIndexing& map, int64_t least) const {
  const Interval enough = Counts().Intersect(Interval::AtLeast(least));
  return enough == Counts() ? map : WithoutNumber(AddTime(map, enough, {}));
}

std::optional<OperandIndexingSet> LoopEnds::BeforeEnd(const OperandIndexingSet& places,
                                                      const OperandIndexingSet& timed) const {
  OperandIndexingSet result;
  for (const OperandIndexing& map : places) {
    OperandIndexing restricted = map;
    const AffineExpr missing = Sub(End(map), map.map().results()[0]);
    if (!restricted.AddConstraint(missing, Interval::AtLeast(0)).ok()) return std::nullopt;
    for (const OperandIndexing& next : timed) {
      std::optional<OperandIndexing> composed = ComposeTimed(restricted, next);
      if (!composed) return std::nullopt;
      result.Add(*std::move(composed));
    }
  }
  WriteAnswer(&result);
  OperandIndexingSet without;
  for (const OperandIndexing& map : result) without.Add(WithoutNumber(map));
  without.Simplify();
  return without;
}

AffineExpr LoopEnds::End(const OperandIndexing& map) const {
  mlir::MLIRContext* context = map.map().context();
  return body_.count() ? Constant(*body_.count(), context) : mlir::getAffineDimExpr(0, context);
}

OperandIndexing LoopEnds::AtAnyTime(const OperandIndexing& map) const {
  Renaming renaming = NothingRenamed(map);
  const AffineExpr time = mlir::getAffineSymbolExpr(map.map().num_ranges(), map.map().context());
  renaming.ranges.push_back({body_.Times(), {}});
  RenumberSymbols(map, 1, &renaming);
  renaming.results_added.push_back(time);
  renaming.constraints_added.push_back({Sub(End(map), time), Interval::AtLeast(0)});
  return Renamed(map, std::move(renaming));
}

OperandIndexing LoopEnds::WithoutNumber(const OperandIndexing& map) const {
  if (body_.count() || map.IsUnknown()) return map;
  bool depends_on_number = map.map().dims()[0].bounds != Counts();
  OperandIndexing result = DropTime(map, Counts(), /*results_dropped=*/0, &depends_on_number);
  if (!depends_on_number) return result;
  result = FirstDimensionToIterations(map, body_.loop());
  result.Simplify();
  return result;
}

}  // namespace xla_indexing::internal
