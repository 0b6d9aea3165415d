// Scan along dimension k, of n steps t = 0, .., n-1 (is_reverse: n-1, .., 0):
//
//   (o_1[t], .., c_1', ..) = f(x_1[t], .., c_1, ..)
//
// where x[t] is the slice of the input x at t, o[t] that of the output o, and the carries begin
// with the last operands and end as the last results.
//
// From a leaf of one step to the operands (or from an operand to the leaves) f is composed with
// itself, a *level* for each step on the way. With u steps between the leaf's step and the last one
// on the way (u = t from output to input, n-1-t from input to output; n-1 for a carry),
//
//   the slice of step u - j is reached by what f has between leaves and slices after j levels of
//     carries,
//   the carry at the end of the way by what u levels have.
//
// Levels that are equal are one piece: a constraint on the difference of the two steps. A carry
// that keeps its place, as in cumulative sums, has one level, so that output d reads the inputs s_k
// <= d_k. Values inside f are of one step, and are taken for any of their values, over-approximate.
// Past kMaxLevels different levels, kMaxMapsOfLeaf maps of one leaf or kMaxComposedForLeaf composed
// for it, it is whole slices.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/ops/internal/builders.h"
#include "xla_indexing/ops/internal/leaf_relation.h"
#include "xla_indexing/ops/internal/other_devices.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

constexpr int64_t kMaxLevels = 64;
constexpr size_t kMaxMapsOfLeaf = 16;
constexpr size_t kMaxComposedForLeaf = 4096;

// What is found at the levels first, .., last.
struct LevelSpan {
  int64_t first;
  int64_t last;
  OperandIndexingSet set;
};

// By parameter of f (output to input) or element of its result (input to output).
using Level = std::map<int64_t, OperandIndexingSet>;

class Scan {
 public:
  // From result `start` to operands or, `forward`, from operand `start` to results.
  Scan(BuildContext& build, Direction direction, int64_t start)
      : build_(build),
        scan_(build.instruction),
        forward_(direction == Direction::kInputToOutput),
        start_(start),
        dim_(scan_.dimensions()[0]),
        steps_(scan_.operand(0)->shape().dimension(dim_)),
        is_flipped_(forward_ != scan_.GetBool(AttributeKey::kIsReverse)) {
    const int64_t carries = *scan_.GetInteger(AttributeKey::kNumCarries);
    inputs_ = scan_.operand_count() - carries;
    outputs_ = static_cast<int64_t>(scan_.shape().tuple_elements().size()) - carries;
  }

  void AddEntries() {
    FindPieces();
    for (const auto& [leaf, pieces] : pieces_) {
      const bool is_array = leaf < ArraysBehind();
      OperandIndexingSet set;
      for (const LevelSpan& piece : pieces) {
        // From one end to the other there are all steps.
        if (!is_array && !StartsFromSlice() && piece.last != steps_ - 1) continue;
        for (const OperandIndexing& map : piece.set) {
          set.Add(is_array ? ToSlice(map, piece) : ToCarry(map, piece));
        }
      }
      set.Simplify();
      forward_ ? build_.Add(leaf, start_, 0, std::move(set))
               : build_.Add(start_, leaf, 0, std::move(set));
    }
  }

 private:
  // How many leaves on the side of the start, and on the other, are slices of arrays; carries are
  // the others.
  int64_t ArraysHere() const { return forward_ ? inputs_ : outputs_; }
  int64_t ArraysBehind() const { return forward_ ? outputs_ : inputs_; }
  bool StartsFromSlice() const { return start_ < ArraysHere(); }

  const HloComputation& Function() const { return *scan_.to_apply(); }
  Shape Parameter(int64_t leaf) const { return Function().parameter(leaf)->shape(); }
  Shape Yielded(int64_t leaf) const { return Function().root_instruction()->shape().Leaf(leaf); }
  Shape Here(int64_t leaf) const { return forward_ ? Parameter(leaf) : Yielded(leaf); }
  Shape Behind(int64_t leaf) const { return forward_ ? Yielded(leaf) : Parameter(leaf); }

  // The sets behind one more application of f, from the leaves of `here`.
  Level Step(const Level& here) {
    Level behind;
    const CalledComputation called{scan_, Function(), std::nullopt};
    for (const auto& [leaf, set] : here) {
      const InstructionIndexing entries =
          forward_ ? build_.ReachOf(called, {leaf, 0}) : build_.ReadOf(called, leaf);
      for (const IndexingEntry& entry : entries) {
        const int64_t to = forward_ ? entry.output_leaf : entry.operand;
        composed_ += set.size() * entry.indexing.size();
        if (composed_ > kMaxComposedForLeaf) return behind;
        OperandIndexingSet step;
        for (const OperandIndexing& map : entry.indexing) step.Add(OfAnyStep(map));
        behind[to].Add(ComposeOrWiden(set, step, Here(start_), Behind(to), build_.mlir_context));
      }
    }
    std::erase_if(behind, [](const auto& entry) { return entry.second.empty(); });
    for (auto& [leaf, set] : behind) set.Simplify();
    return behind;
  }

  OperandIndexing OfAnyStep(OperandIndexing map) const {
    if (map.bindings().empty()) return map;
    map.Weaken(ExactnessLabel::OverApproximate(absl::StrCat(
        "values that differ from step to step of ", scan_.name(), " are taken for any")));
    map = WithRanges(map,
                     std::vector<std::optional<Interval>>(map.bindings().size(), Interval::All()));
    map.Simplify();
    return map;
  }

  void FindPieces() {
    // Nothing is done with the carries.
    if (steps_ == 0) {
      if (StartsFromSlice()) return;
      const int64_t carry = ArraysBehind() + start_ - ArraysHere();
      pieces_[carry].push_back(
          {-1, -1, OperandIndexingSet(IdentityIndexing(Here(start_), build_.mlir_context))});
      return;
    }
    Level here;
    here[start_].Add(IdentityIndexing(Here(start_), build_.mlir_context));
    for (int64_t level = 0; level < steps_; ++level) {
      Level behind = Step(here);
      if (level >= kMaxLevels || TooMany(behind)) {
        AddWholeSlices(level);
        return;
      }
      // Renumbers the leaves as those from which the next step starts.
      Level next;
      for (const auto& [leaf, set] : behind) {
        if (leaf >= ArraysBehind()) next[leaf - ArraysBehind() + ArraysHere()] = set;
      }
      const int64_t last = next == here ? steps_ - 1 : level;
      for (auto& [leaf, set] : behind) AddPiece(leaf, {level, last, std::move(set)});
      if (next.empty() || last > level) return;
      here = std::move(next);
    }
  }

  bool TooMany(const Level& level) const {
    if (composed_ > kMaxComposedForLeaf) return true;
    for (const auto& [leaf, set] : level) {
      if (set.size() > kMaxMapsOfLeaf) return true;
    }
    return false;
  }

  void AddPiece(int64_t leaf, LevelSpan piece) {
    std::vector<LevelSpan>& pieces = pieces_[leaf];
    if (!pieces.empty() && pieces.back().last + 1 == piece.first &&
        pieces.back().set == piece.set) {
      pieces.back().last = piece.last;
    } else {
      pieces.push_back(std::move(piece));
    }
  }

  void AddWholeSlices(int64_t level) {
    const std::optional<int64_t> devices = DevicesAcrossWhich(Function());
    const int64_t count = forward_ ? scan_.shape().LeafCount() : scan_.operand_count();
    for (int64_t leaf = 0; leaf < count; ++leaf) {
      OperandIndexing whole = WholeTensorIndexing(
          Here(start_), Behind(leaf),
          absl::StrCat("whole slices: the maps of ", scan_.name(), " are too many"),
          build_.mlir_context);
      if (devices) {
        whole = OnAnyDevice(whole, Interval::OfSize(*devices), Interval::OfSize(*devices));
      }
      AddPiece(leaf, {level, steps_ - 1, OperandIndexingSet(std::move(whole))});
    }
  }

  // A step counted from the end of the way, for a step of the dimension, and the other way round.
  Interval Flipped(int64_t first, int64_t last) const {
    return is_flipped_ ? Interval::Closed(steps_ - 1 - last, steps_ - 1 - first)
                       : Interval::Closed(first, last);
  }

  OperandIndexing ToCarry(const OperandIndexing& map, const LevelSpan& piece) const {
    if (!StartsFromSlice()) return map;
    return Lift(map, Flipped(piece.first, piece.last), nullptr, std::nullopt, {});
  }

  OperandIndexing ToSlice(const OperandIndexing& map, const LevelSpan& piece) const {
    mlir::MLIRContext* context = build_.mlir_context;
    if (!StartsFromSlice()) {
      const Interval steps = Flipped(steps_ - 1 - piece.last, steps_ - 1 - piece.first);
      if (steps.IsPoint()) {
        return Lift(map, std::nullopt, Constant(steps.lower(), context), std::nullopt, {});
      }
      return Lift(map, std::nullopt, NewRange(map), steps, {});
    }
    const AffineExpr step = mlir::getAffineDimExpr(dim_, context);
    const Interval from = Flipped(piece.first, steps_ - 1);
    if (piece.first == piece.last) {
      return Lift(map, from, Add(step, Constant(is_flipped_ ? piece.first : -piece.first, context)),
                  std::nullopt, {});
    }
    const AffineExpr other = NewRange(map);
    const AffineExpr difference = is_flipped_ ? Sub(other, step) : Sub(step, other);
    return Lift(map, from, other, Interval::OfSize(steps_),
                {{difference, Interval::Closed(piece.first, piece.last)}});
  }

  static AffineExpr NewRange(const OperandIndexing& map) {
    return mlir::getAffineSymbolExpr(map.map().num_ranges(), map.map().context());
  }

  // A map between slices or carries as one between arrays: with dimension dim_ in `steps` where the
  // start is a slice, with the result `index` where the end is one, with a range variable more in
  // `new_range`.
  OperandIndexing Lift(const OperandIndexing& indexing, const std::optional<Interval>& steps,
                       AffineExpr index, const std::optional<Interval>& new_range,
                       Constraints more) const {
    if (indexing.IsUnknown()) return indexing;
    const IndexingMap& map = indexing.map();
    // The dimension after the last stands for the reader in replica maps.
    llvm::SmallVector<AffineExpr, 8> renumbered;
    for (int i = 0; i <= map.num_dims(); ++i) {
      renumbered.push_back(mlir::getAffineDimExpr(steps && i >= dim_ ? i + 1 : i, map.context()));
    }
    // The reader comes last wherever the new dimension is.
    renumbered.back() = mlir::getAffineDimExpr(map.num_dims() + (steps ? 1 : 0), map.context());
    Variables dims(map.dims());
    if (steps) dims.insert(dims.begin() + dim_, Variable{*steps, {}});
    Variables ranges(map.ranges());
    if (new_range) ranges.push_back({*new_range, {}});
    llvm::SmallVector<AffineExpr, 8> symbols;
    for (int i = 0; i < map.num_symbols(); ++i) {
      symbols.push_back(mlir::getAffineSymbolExpr(i, map.context()));
    }
    const auto lifted = [&](AffineExpr expr) { return Substitute(expr, renumbered, symbols); };
    llvm::SmallVector<AffineExpr, 4> results;
    for (const AffineExpr result : map.results()) results.push_back(lifted(result));
    if (index) results.insert(results.begin() + dim_, index);
    Constraints constraints(map.constraints());
    for (Constraint& constraint : constraints) constraint.expr = lifted(constraint.expr);
    constraints.append(more.begin(), more.end());
    const mlir::AffineMap affine_map =
        mlir::AffineMap::get(dims.size(), ranges.size(), results, map.context());
    OperandIndexing result(kPartsFit,
                           IndexingMap(kPartsFit, affine_map, std::move(dims), std::move(ranges),
                                       {}, std::move(constraints)),
                           {}, indexing.label());
    if (indexing.replica_map() != nullptr) {
      ReplicaMap replica_map = *indexing.replica_map();
      replica_map.device = lifted(replica_map.device);
      for (Constraint& constraint : replica_map.constraints) {
        constraint.expr = lifted(constraint.expr);
      }
      result.SetReplicaMap(kPartsFit, std::move(replica_map));
    }
    return result;
  }

  BuildContext& build_;
  const HloInstruction& scan_;
  const bool forward_;
  const int64_t start_;
  const int64_t dim_;
  const int64_t steps_;
  // Whether steps on the way count down.
  const bool is_flipped_;
  int64_t inputs_ = 0;
  int64_t outputs_ = 0;
  size_t composed_ = 0;
  std::map<int64_t, std::vector<LevelSpan>> pieces_;
};

bool LooksIntoFunction(const BuildContext& build) {
  const Shape& first = build.instruction.operand(0)->shape();
  return build.options.computations != nullptr &&
         !first.IsUnboundedDimension(build.instruction.dimensions()[0]);
}

}  // namespace

void ScanOutputToInput(BuildContext& build, int64_t output_leaf) {
  if (LooksIntoFunction(build)) {
    Scan(build, Direction::kOutputToInput, output_leaf).AddEntries();
  } else {
    UnanalysedOutputToInput(build, output_leaf);
  }
}

void ScanInputToOutput(BuildContext& build, int64_t operand, int64_t operand_leaf) {
  if (LooksIntoFunction(build)) {
    Scan(build, Direction::kInputToOutput, operand).AddEntries();
  } else {
    UnanalysedInputToOutput(build, operand, operand_leaf);
  }
}

}  // namespace xla_indexing::internal
