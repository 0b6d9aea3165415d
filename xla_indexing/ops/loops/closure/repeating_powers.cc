#include "xla_indexing/ops/loops/closure/repeating_powers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/leaf_relation.h"
#include "xla_indexing/ops/loops/body/timed_map.h"
#include "xla_indexing/ops/unions/few_maps.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// Maps of one leaf, and compositions for one part.
constexpr size_t kMaxMapsOfPower = 16;
constexpr int64_t kMaxComposedForPart = 4096;
// How many powers there are until they must repeat themselves.
constexpr size_t kMaxPowers = 12;

// The numbers of iterations first, first + stride, .., which go on to `last` or without end.
struct PowerRange {
  size_t first;
  std::optional<size_t> last;
  size_t stride = 1;
};

// What a map does between leaves as a timed map that takes so many iterations.
OperandIndexing InSoManyIterations(const LoopSteps& body, const OperandIndexing& map,
                                   const PowerRange& numbers) {
  mlir::MLIRContext* context = map.map().context();
  const int64_t direction = body.is_forward() ? 1 : -1;
  const OperandIndexing timed = AddTime(map, body.Times(), {});
  Renaming renaming;
  renaming.dims = Variables(timed.map().dims());
  renaming.ranges = Variables(timed.map().ranges());
  AffineExpr passed = Constant(static_cast<int64_t>(numbers.first), context);
  const bool is_range = numbers.last != numbers.first;
  if (is_range) {
    const AffineExpr range = mlir::getAffineSymbolExpr(renaming.ranges.size(), context);
    const Interval values =
        numbers.last
            ? Interval::Closed(
                  0, static_cast<int64_t>((*numbers.last - numbers.first) / numbers.stride))
            : Interval::AtLeast(0);
    renaming.ranges.push_back({values, {}});
    passed = Add(passed, Scale(range, static_cast<int64_t>(numbers.stride)));
  }
  for (int i = 0; i < timed.map().num_ranges(); ++i) {
    renaming.for_symbols.push_back(mlir::getAffineSymbolExpr(i, context));
  }
  for (int i = 0; i < timed.map().num_runtimes(); ++i) {
    renaming.runtimes.push_back(i);
    renaming.for_symbols.push_back(mlir::getAffineSymbolExpr(renaming.ranges.size() + i, context));
  }
  const AffineExpr time = Add(mlir::getAffineDimExpr(0, context), Scale(passed, direction));
  renaming.results_added.push_back(time);
  renaming.constraints_added.push_back({time, body.Times()});
  return Renamed(timed, std::move(renaming));
}

// Powers of pieces that do not mention the time, from one leaf.
class TimelessPowers {
 public:
  TimelessPowers(const LoopSteps& body, const std::map<int64_t, LeafSets>& steps)
      : body_(body), steps_(steps) {}

  // Adds all powers from a leaf; false where they do not repeat themselves.
  bool AddFrom(int64_t leaf, LoopClosure* closure) {
    std::vector<LeafSets> powers = {steps_.at(leaf)};
    size_t repeated = 0;
    while (true) {
      std::optional<LeafSets> next = Next(powers.back());
      if (!next) return false;
      const auto same = llvm::find(powers, *next);
      if (same != powers.end()) {
        repeated = static_cast<size_t>(same - powers.begin());
        break;
      }
      if (powers.size() == kMaxPowers) return false;
      powers.push_back(*std::move(next));
    }
    // powers[repeated], .., come again and again.
    const size_t period = powers.size() - repeated;
    std::map<int64_t, std::vector<std::pair<OperandIndexing, std::vector<size_t>>>> reached;
    for (size_t i = 0; i < powers.size(); ++i) {
      for (const auto& [to, set] : powers[i]) {
        auto& maps = reached[to];
        for (const OperandIndexing& map : set) {
          auto same = llvm::find_if(maps, [&](const auto& known) { return known.first == map; });
          if (same == maps.end()) same = maps.insert(maps.end(), {map, {}});
          same->second.push_back(i);
        }
      }
    }
    for (const auto& [to, maps] : reached) {
      OperandIndexingSet& all = (*closure)[{leaf, to}];
      for (const auto& [map, at] : maps) {
        for (const PowerRange& range : RangesOf(at, repeated, period)) {
          all.Add(InSoManyIterations(body_, map, range));
        }
      }
      WriteWithFewMaps(&all);
    }
    return true;
  }

 private:
  // The numbers of iterations i + 1 for each i of `at`, in ascending order, where from `repeated`
  // on what is so for i is so for i + period.
  static std::vector<PowerRange> RangesOf(llvm::ArrayRef<size_t> at, size_t repeated,
                                          size_t period) {
    const size_t in_period = llvm::count_if(at, [&](size_t i) { return i >= repeated; });
    std::vector<PowerRange> ranges;
    for (size_t j = 0; j < at.size(); ++j) {
      const bool again = at[j] >= repeated;
      const bool follows = !ranges.empty() && ranges.back().last == at[j];
      if (follows && (!again || in_period == period)) {
        ranges.back().last = at[j] + 1;
      } else {
        ranges.push_back({at[j] + 1, at[j] + 1});
      }
      if (again && in_period < period) {
        ranges.back() = {at[j] + 1, std::nullopt, period};
      } else if (again && j + 1 == at.size()) {
        ranges.back().last = std::nullopt;
      }
    }
    return ranges;
  }

  std::optional<LeafSets> Next(const LeafSets& sets) {
    LeafSets next;
    for (const auto& [leaf, set] : sets) {
      const auto step = steps_.find(leaf);
      if (step == steps_.end()) continue;
      for (const auto& [to, maps] : step->second) {
        for (const OperandIndexing& first : set) {
          for (const OperandIndexing& second : maps) {
            if (!budget_.Take(1)) return std::nullopt;
            std::optional<OperandIndexing> composed = ComposeTimed(first, second);
            if (!composed) return std::nullopt;
            next[to].Add(*std::move(composed));
          }
        }
      }
    }
    std::erase_if(next, [](const auto& place) { return place.second.empty(); });
    for (auto& [leaf, set] : next) {
      set.Simplify();
      if (set.size() > 1) set.DropSubsumed(body_.Leaf(leaf));
      if (set.size() > kMaxMapsOfPower) return std::nullopt;
    }
    return next;
  }

  const LoopSteps& body_;
  const std::map<int64_t, LeafSets>& steps_;
  StepBudget budget_{kMaxComposedForPart};
};

}  // namespace

std::optional<LoopClosure> CloseRepeating(const LoopSteps& body,
                                          const std::vector<const LoopPiece*>& pieces) {
  if (IsOff(Engine::kRepeatingPowers)) return std::nullopt;
  std::map<int64_t, LeafSets> steps;
  for (const LoopPiece* piece : pieces) {
    if (!IsTimeless(body, piece->map)) return std::nullopt;
    bool depends_on_time = false;
    OperandIndexing step = DropTime(piece->map, Interval::All(), 1, &depends_on_time);
    step.Simplify();
    steps[piece->from][piece->to].Add(std::move(step));
  }
  for (auto& [leaf, sets] : steps) {
    for (auto& [to, set] : sets) {
      set.Simplify();
      if (set.size() > 1) set.DropSubsumed(body.Leaf(to));
    }
  }
  LoopClosure closure;
  TimelessPowers powers(body, steps);
  for (const auto& [leaf, sets] : steps) {
    if (!powers.AddFrom(leaf, &closure)) return std::nullopt;
  }
  return closure;
}

}  // namespace xla_indexing::internal
