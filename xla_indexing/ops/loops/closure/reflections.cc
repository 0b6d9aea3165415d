#include "xla_indexing/ops/loops/closure/reflections.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/box.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/ops/loops/body/timed_map.h"
#include "xla_indexing/ops/loops/closure/spreading.h"
#include "xla_indexing/ops/loops/closure/translations.h"
#include "xla_indexing/ops/unions/few_maps.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

constexpr size_t kMaxReflectedPieces = 16;
// Pieces from one point of a dimension, which may belong to T or to R.
constexpr size_t kMaxAmbiguous = 3;

// What is added to the points of a box.
struct AddedInBox {
  std::vector<Interval> box;
  std::vector<int64_t> step;
};

std::vector<Interval> BoundsOfDims(const OperandIndexing& map) {
  std::vector<Interval> box;
  for (const Variable& dim : map.map().dims()) box.push_back(dim.bounds);
  return box;
}

// The points of a box from which a step leads to points of it.
std::optional<std::vector<Interval>> StepsWithin(const std::vector<Interval>& box,
                                                 const std::vector<int64_t>& step) {
  std::vector<Interval> from = box;
  for (size_t i = 0; i < box.size(); ++i) {
    const std::optional<int64_t> back = CheckedSub(0, step[i]);
    if (!back) return std::nullopt;
    from[i] = from[i].Intersect(box[i].Add(*back));
  }
  return from;
}

// A map without time that adds constants; nothing for others.
std::optional<AddedInBox> AsAdded(const OperandIndexing& map) {
  if (map.IsUnknown() || map.map().num_symbols() > 0 || !map.map().constraints().empty()) {
    return std::nullopt;
  }
  AddedInBox added = {BoundsOfDims(map), {}};
  for (int i = 0; i < map.map().num_results(); ++i) {
    const AffineExpr result = map.map().results()[i];
    std::optional<int64_t> step =
        ConstantIn(Sub(result, mlir::getAffineDimExpr(i, map.map().context())));
    // A dimension of one value may be written as that value.
    const std::optional<int64_t> constant = ConstantIn(result);
    if (!step && constant && added.box[i].IsPoint()) {
      step = CheckedSub(*constant, added.box[i].lower());
    }
    if (!step) return std::nullopt;
    added.step.push_back(*step);
  }
  return added;
}

// The pieces without the time, which adds the same to it in each of them.
struct Untimed {
  Interval times;
  int64_t passed = 0;
  std::vector<OperandIndexing> maps;
};

std::optional<Untimed> WithoutTime(const OperandIndexingSet& pieces) {
  if (pieces.size() < 2 || pieces.size() > kMaxReflectedPieces) return std::nullopt;
  Untimed untimed;
  for (const OperandIndexing& piece : pieces) {
    if (piece.IsUnknown() || piece.replica_map() != nullptr) return std::nullopt;
    const IndexingMap& map = piece.map();
    if (map.num_symbols() > 0 || !map.constraints().empty() ||
        map.num_dims() != map.num_results()) {
      return std::nullopt;
    }
    const std::optional<int64_t> passed =
        ConstantIn(Sub(map.results()[0], mlir::getAffineDimExpr(0, map.context())));
    if (passed != 1 && passed != -1) return std::nullopt;
    bool depends_on_time = false;
    OperandIndexing plain = DropTime(piece, Interval::All(), 1, &depends_on_time);
    const Interval& times = map.dims()[0].bounds;
    if (depends_on_time || plain.map().num_symbols() > 0 ||
        NumPoints(BoundsOfDims(plain)).value_or(0) == 0) {
      return std::nullopt;
    }
    if (!untimed.maps.empty() && (times != untimed.times || passed != untimed.passed)) {
      return std::nullopt;
    }
    untimed.times = times;
    untimed.passed = *passed;
    untimed.maps.push_back(std::move(plain));
  }
  return untimed;
}

class Reflected {
 public:
  Reflected(const OperandIndexingSet& pieces, const Untimed& untimed)
      : untimed_(untimed), label_(pieces.label()) {}

  // The closure with those pieces for R that are said to be it.
  std::optional<OperandIndexingSet> Close(const OperandIndexingSet& pieces,
                                          const std::vector<bool>& turns) {
    std::vector<const OperandIndexing*> moving;
    std::vector<const OperandIndexing*> turning;
    OperandIndexingSet reflection;
    for (size_t i = 0; i < turns.size(); ++i) {
      (turns[i] ? turning : moving).push_back(&untimed_.maps[i]);
      if (turns[i]) reflection.Add(pieces.maps()[i]);
    }
    if (moving.empty() || turning.empty() || !FindBox(turning)) return std::nullopt;
    StepPoints moved;
    StepPoints moved_either_way;
    for (const OperandIndexing* move : moving) {
      if (!AddSteps(*move, &moved)) return std::nullopt;
      for (const OperandIndexing* before : turning) {
        const std::optional<OperandIndexing> turned = ComposeTimed(*before, *move);
        if (!turned) return std::nullopt;
        if (turned->IsKnownEmpty()) continue;
        for (const OperandIndexing* after : turning) {
          const std::optional<OperandIndexing> back = ComposeTimed(*turned, *after);
          if (!back || !AddSteps(*back, &moved_either_way)) return std::nullopt;
        }
      }
    }
    if (!AreWhole(moved) || !AreWhole(moved_either_way)) return std::nullopt;
    moved_either_way.insert(moved.begin(), moved.end());
    if (!NoBorderStops(moved_either_way)) return std::nullopt;
    const std::optional<OperandIndexingSet> straight = PowersOfSteps(moved);
    const std::optional<OperandIndexingSet> either_way = PowersOfSteps(moved_either_way);
    if (!straight || !either_way) return std::nullopt;
    OperandIndexingSet closure = *straight;
    OperandIndexingSet odd = reflection;
    if (!AddComposed(*either_way, reflection, &odd)) return std::nullopt;
    closure.Add(odd);
    if (!AddComposed(odd, reflection, &closure)) return std::nullopt;
    WriteWithFewMaps(&closure);
    return closure;
  }

 private:
  // Steps, and how many points they lead from.
  using StepPoints = std::map<std::vector<int64_t>, Int128>;

  // The box in which R ; R = 1; false where there is none.
  bool FindBox(const std::vector<const OperandIndexing*>& turning) {
    box_ = BoundsOfDims(*turning[0]);
    Int128 points = 0;
    for (const OperandIndexing* map : turning) {
      const std::vector<Interval> box = BoundsOfDims(*map);
      for (size_t i = 0; i < box.size(); ++i) box_[i] = box_[i].Union(box[i]);
      const std::optional<int64_t> count = NumPoints(box);
      if (!count) return false;
      points += *count;
    }
    const std::optional<int64_t> all = NumPoints(box_);
    if (!all || points != *all) return false;
    Int128 returned = 0;
    for (const OperandIndexing* first : turning) {
      for (const OperandIndexing* second : turning) {
        const std::optional<OperandIndexing> twice = ComposeTimed(*first, *second);
        if (!twice) return false;
        if (twice->IsKnownEmpty()) continue;
        const std::optional<AddedInBox> added = AsAdded(*twice);
        if (!added || absl::c_any_of(added->step, [](int64_t c) { return c != 0; })) return false;
        returned += NumPoints(added->box).value_or(0);
      }
    }
    return returned == *all;
  }

  // Adds what a map, which adds constants within the box, adds.
  bool AddSteps(const OperandIndexing& map, StepPoints* steps) const {
    if (map.IsKnownEmpty()) return true;
    const std::optional<AddedInBox> added = AsAdded(map);
    if (!added) return false;
    const std::optional<std::vector<Interval>> within = StepsWithin(box_, added->step);
    const std::optional<int64_t> points = NumPoints(added->box);
    if (!within || !points) return false;
    for (size_t i = 0; i < added->box.size(); ++i) {
      if (!added->box[i].IsSubsetOf((*within)[i])) return false;
    }
    (*steps)[added->step] += *points;
    return true;
  }

  // Whether steps lead from all points of the box from which they stay in it.
  bool AreWhole(const StepPoints& steps) const {
    return absl::c_all_of(steps, [&](const auto& step) {
      return NumPoints(*StepsWithin(box_, step.first)) == step.second;
    });
  }

  bool NoBorderStops(const StepPoints& steps) const {
    const std::vector<int64_t> still(box_.size(), 0);
    if (steps.contains(still)) return true;
    size_t moved = 0;
    size_t going_round = 0;
    for (size_t i = 0; i < box_.size(); ++i) {
      bool moves = false;
      bool goes_round = false;
      for (const auto& [step, points] : steps) {
        moves = moves || step[i] != 0;
        for (const auto& [other, other_points] : steps) {
          goes_round = goes_round || CheckedSub(step[i], other[i]) == box_[i].Size();
        }
      }
      moved += moves ? 1 : 0;
      going_round += moves && goes_round ? 1 : 0;
    }
    return (moved == 1 || moved == going_round) && absl::c_all_of(steps, [&](const auto& step) {
             std::vector<int64_t> back = step.first;
             for (int64_t& c : back) c = -c;
             return steps.contains(back);
           });
  }

  // All powers but none of such steps, each in one iteration.
  std::optional<OperandIndexingSet> PowersOfSteps(const StepPoints& steps) const {
    mlir::MLIRContext* context = untimed_.maps[0].map().context();
    std::vector<OperandIndexing> maps;
    for (const auto& [step, points] : steps) {
      const std::vector<Interval> within = *StepsWithin(box_, step);
      Variables dims = {{untimed_.times, {}}};
      llvm::SmallVector<AffineExpr, 4> results = {
          Add(mlir::getAffineDimExpr(0, context), Constant(untimed_.passed, context))};
      for (size_t i = 0; i < box_.size(); ++i) {
        dims.push_back({within[i], {}});
        results.push_back(Add(mlir::getAffineDimExpr(i + 1, context), Constant(step[i], context)));
      }
      if (llvm::is_contained(results, AffineExpr())) return std::nullopt;
      const mlir::AffineMap affine_map = mlir::AffineMap::get(dims.size(), 0, results, context);
      maps.emplace_back(kPartsFit, IndexingMap(kPartsFit, affine_map, std::move(dims), {}, {}, {}),
                        RuntimeVarIndexings(), label_);
    }
    if (maps.size() == 1) return ClosePiece(maps[0]);
    std::optional<Spread> spread = SpreadWithinBox(maps);
    if (!spread || !spread->others.empty()) return std::nullopt;
    return std::move(spread->powers);
  }

  const Untimed& untimed_;
  const ExactnessLabel label_;
  std::vector<Interval> box_;
};

}  // namespace

std::optional<OperandIndexingSet> CloseReflected(const OperandIndexingSet& pieces) {
  const std::optional<Untimed> untimed = WithoutTime(pieces);
  if (!untimed) return std::nullopt;
  std::vector<bool> turns;
  std::vector<size_t> ambiguous;
  bool moves = false;
  for (const OperandIndexing& map : untimed->maps) {
    const std::optional<AddedInBox> added = AsAdded(map);
    turns.push_back(!added);
    if (!added) continue;
    moves = moves || absl::c_any_of(added->step, [](int64_t c) { return c != 0; });
    for (size_t i = 0; i < added->box.size(); ++i) {
      const bool is_point = added->box[i].IsPoint();
      if (!is_point || absl::c_all_of(untimed->maps, [&](const OperandIndexing& other) {
            return other.map().dims()[static_cast<int>(i)].bounds == added->box[i];
          })) {
        continue;
      }
      ambiguous.push_back(turns.size() - 1);
      break;
    }
  }
  if (!moves || ambiguous.size() > kMaxAmbiguous) return std::nullopt;
  for (size_t choice = 0; choice < size_t{1} << ambiguous.size(); ++choice) {
    for (size_t i = 0; i < ambiguous.size(); ++i) turns[ambiguous[i]] = ((choice >> i) & 1) != 0;
    std::optional<OperandIndexingSet> closure = Reflected(pieces, *untimed).Close(pieces, turns);
    if (closure) return closure;
  }
  return std::nullopt;
}

}  // namespace xla_indexing::internal
