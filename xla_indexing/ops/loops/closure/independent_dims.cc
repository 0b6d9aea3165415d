#include "xla_indexing/ops/loops/closure/independent_dims.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/exactness.h"
#include "xla_indexing/ops/loops/body/timed_map.h"
#include "xla_indexing/ops/unions/few_maps.h"
#include "xla_indexing/ops/unions/few_ranges.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

constexpr size_t kMaxPieces = 16;
constexpr size_t kMaxJoined = 64;

// Dimensions of the maps, in ascending order and without the time.
using Dims = std::vector<int>;

// Which variables of maps from a leaf to itself have to do with one another: the dimensions, which are
// those of all maps, and of each map its range variables.
class Ties {
 public:
  explicit Ties(const OperandIndexingSet& pieces) {
    num_dims_ = pieces.maps()[0].map().num_dims();
    size_t variables = num_dims_;
    for (const OperandIndexing& piece : pieces) {
      first_range_.push_back(static_cast<int>(variables));
      variables += piece.map().num_ranges();
    }
    group_.resize(variables);
    std::iota(group_.begin(), group_.end(), 0);
    for (size_t i = 0; i < first_range_.size(); ++i) TieVariablesOf(pieces.maps()[i].map(), i);
  }

  // The groups of dimensions that are tied to one another.
  std::vector<Dims> Groups() const {
    std::vector<Dims> groups;
    std::vector<int> names;
    for (int dim = 1; dim < num_dims_; ++dim) {
      const auto known = llvm::find(names, group_[dim]);
      if (known == names.end()) {
        names.push_back(group_[dim]);
        groups.push_back({dim});
      } else {
        groups[known - names.begin()].push_back(dim);
      }
    }
    return groups;
  }

  // Whether these dimensions, whole groups, are tied to a range variable of a map, or to what an
  // expression of it mentions besides the time.
  bool AreTiedToRange(const Dims& dims, size_t piece, int range) const {
    return AreTied(dims, first_range_[piece] + range);
  }
  bool AreTiedTo(const Dims& dims, size_t piece, AffineExpr expr) const {
    return llvm::any_of(VariablesOf(expr, num_dims_), [&](int variable) {
      return variable != 0 && AreTied(dims, At(variable, piece));
    });
  }
  // Whether a range variable of a map is tied to any dimension.
  bool IsTied(size_t piece, int range) const {
    const int group = group_[first_range_[piece] + range];
    return llvm::is_contained(llvm::ArrayRef(group_).take_front(num_dims_), group);
  }

 private:
  int At(int variable, size_t piece) const {
    return variable < num_dims_ ? variable : first_range_[piece] + variable - num_dims_;
  }
  bool AreTied(const Dims& dims, int variable) const {
    return llvm::any_of(dims, [&](int dim) { return group_[dim] == group_[variable]; });
  }

  void Tie(int a, int b) {
    const int from = group_[a];
    const int to = group_[b];
    for (int& group : group_) {
      if (group == from) group = to;
    }
  }

  void TieVariablesOf(const IndexingMap& map, size_t piece) {
    const auto tie_all = [&](AffineExpr expr, std::optional<int> first) {
      for (const int variable : VariablesOf(expr, num_dims_)) {
        if (variable == 0) continue;
        if (first) Tie(At(variable, piece), *first);
        if (!first) first = At(variable, piece);
      }
    };
    for (int i = 1; i < map.num_results(); ++i) tie_all(map.results()[i], i);
    for (const Constraint& constraint : map.constraints()) tie_all(constraint.expr, std::nullopt);
  }

  int num_dims_ = 0;
  std::vector<int> first_range_;
  std::vector<int> group_;
};

// Whether maps are such as are divided: each says how many iterations it takes, and reads nothing from
// elsewhere.
bool MayBeDivided(const OperandIndexingSet& pieces) {
  if (pieces.empty() || pieces.size() > kMaxPieces) return false;
  return llvm::all_of(pieces, [](const OperandIndexing& piece) {
    if (piece.IsUnknown() || !piece.bindings().empty() || piece.replica_map() != nullptr) {
      return false;
    }
    const IndexingMap& map = piece.map();
    if (map.num_dims() < 3 || map.num_results() != map.num_dims()) return false;
    const auto passed = ConstantIn(Sub(map.results()[0], mlir::getAffineDimExpr(0, map.context())));
    return passed && *passed != 0;
  });
}

// What a map does to some dimensions, at its times or (`at_all_times`) whenever there is an iteration;
// with its time go the conditions that are tied to no dimension. Nothing where that passes a bound.
std::optional<OperandIndexing> PartOf(const LoopSteps& body, const OperandIndexing& piece, size_t i,
                                      const Ties& ties, const Dims& dims, bool at_all_times) {
  const IndexingMap& map = piece.map();
  mlir::MLIRContext* context = map.context();
  llvm::SmallVector<AffineExpr, 4> for_dims(map.num_dims());
  llvm::SmallVector<AffineExpr, 4> for_symbols(map.num_symbols());
  for_dims[0] = mlir::getAffineDimExpr(0, context);
  const Interval times = body.Times();
  Variables part_dims = {map.dims()[0]};
  if (at_all_times) {
    part_dims[0].bounds = times.Intersect(body.is_forward() ? times.Sub(1) : times.Add(1));
  }
  llvm::SmallVector<AffineExpr, 4> results = {map.results()[0]};
  for (const int dim : dims) {
    for_dims[dim] = mlir::getAffineDimExpr(part_dims.size(), context);
    part_dims.push_back(map.dims()[dim]);
  }
  Variables ranges;
  for (int range = 0; range < map.num_ranges(); ++range) {
    if (!ties.AreTiedToRange(dims, i, range) && (at_all_times || ties.IsTied(i, range))) continue;
    for_symbols[range] = mlir::getAffineSymbolExpr(ranges.size(), context);
    ranges.push_back(map.ranges()[range]);
  }
  for (const int dim : dims)
    results.push_back(Substitute(map.results()[dim], for_dims, for_symbols));
  Constraints constraints;
  for (const Constraint& constraint : map.constraints()) {
    const auto is_other = [&](int variable) {
      if (variable == 0) return false;
      return variable < map.num_dims() ? !for_dims[variable]
                                       : !for_symbols[variable - map.num_dims()];
    };
    const llvm::SmallVector<int, 4> variables = VariablesOf(constraint.expr, map.num_dims());
    if (llvm::any_of(variables, is_other)) continue;
    if (at_all_times && !ties.AreTiedTo(dims, i, constraint.expr)) continue;
    constraints.push_back(
        {Substitute(constraint.expr, for_dims, for_symbols), constraint.interval});
  }
  if (llvm::is_contained(results, AffineExpr()) ||
      llvm::any_of(constraints, [](const Constraint& constraint) { return !constraint.expr; })) {
    return std::nullopt;
  }
  const auto affine_map = mlir::AffineMap::get(part_dims.size(), ranges.size(), results, context);
  OperandIndexing part(kPartsFit,
                       IndexingMap(kPartsFit, affine_map, std::move(part_dims), std::move(ranges),
                                   {}, std::move(constraints)),
                       {}, piece.label());
  part.Simplify();
  return part;
}

// A leaf with some of its dimensions, at which nothing is to be looked but its shape.
class PartOfLeaf : public LoopSteps {
 public:
  PartOfLeaf(const LoopSteps& body, int64_t leaf, const Dims& dims)
      : LoopSteps(body.loop(),
                  body.is_forward() ? Direction::kInputToOutput : Direction::kOutputToInput,
                  body.memo()),
        counts_(body.Counts()) {
    std::vector<int64_t> sizes;
    for (const int dim : dims) sizes.push_back(body.Leaf(leaf).dimension(dim - 1));
    shape_ = Shape::Array(body.Leaf(leaf).element_type(), sizes);
  }

  Interval Counts() const override { return counts_; }
  int64_t LeafCount() const override { return 1; }
  const Shape& Leaf(int64_t) const override { return shape_; }
  bool PassesThrough(int64_t) const override { return false; }
  const LeafSets& TimedStepsOf(int64_t) const override { return none_; }

 private:
  Interval counts_;
  Shape shape_ = Shape::Token();
  LeafSets none_;
};

// A map of some dimensions.
struct Part {
  const OperandIndexing& indexing;
  const Dims& dims;
};

// What does the one to its dimensions and the other to the others, where both lead to one time.
std::optional<OperandIndexing> Together(const Part& a, const Part& b) {
  mlir::MLIRContext* context = a.indexing.map().context();
  const size_t num_dims = 1 + a.dims.size() + b.dims.size();
  Variables dims(num_dims);
  dims[0].bounds = a.indexing.map().dims()[0].bounds.Intersect(b.indexing.map().dims()[0].bounds);
  Variables ranges;
  llvm::SmallVector<AffineExpr, 4> results(num_dims);
  Constraints constraints;
  bool fits = true;
  for (const Part& part : {a, b}) {
    const IndexingMap& map = part.indexing.map();
    llvm::SmallVector<AffineExpr, 4> for_dims = {mlir::getAffineDimExpr(0, context)};
    llvm::SmallVector<AffineExpr, 4> for_symbols;
    for (const auto [i, dim] : llvm::enumerate(part.dims)) {
      for_dims.push_back(mlir::getAffineDimExpr(dim, context));
      dims[dim] = map.dims()[static_cast<int>(i) + 1];
    }
    for (const Variable& range : map.ranges()) {
      for_symbols.push_back(mlir::getAffineSymbolExpr(ranges.size(), context));
      ranges.push_back(range);
    }
    const auto substituted = [&](AffineExpr expr) {
      const AffineExpr result = Substitute(expr, for_dims, for_symbols);
      fits = fits && static_cast<bool>(result);
      return result;
    };
    for (const auto [i, dim] : llvm::enumerate(part.dims)) {
      results[dim] = substituted(map.results()[i + 1]);
    }
    for (const Constraint& constraint : map.constraints()) {
      constraints.push_back({substituted(constraint.expr), constraint.interval});
    }
    const AffineExpr time = substituted(map.results()[0]);
    if (!results[0]) {
      results[0] = time;
    } else if (fits) {
      constraints.push_back({Sub(results[0], time), Interval::Point(0)});
      fits = static_cast<bool>(constraints.back().expr);
    }
  }
  if (!fits) return std::nullopt;
  const auto affine_map = mlir::AffineMap::get(num_dims, ranges.size(), results, context);
  OperandIndexing together(kPartsFit,
                           IndexingMap(kPartsFit, affine_map, std::move(dims), std::move(ranges),
                                       {}, std::move(constraints)),
                           {}, a.indexing.label());
  together.Weaken(b.indexing.label());
  together.Simplify();
  return WithSumsJoined(std::move(together));
}

// The maps divided into what all do to some dimensions and what each does to the others.
struct Division {
  Dims dims;
  OperandIndexing all;
  Dims other_dims;
  OperandIndexingSet each;
};

std::optional<Division> DivideAt(const LoopSteps& body, const OperandIndexingSet& pieces,
                                 const Ties& ties, const Dims& dims) {
  std::optional<OperandIndexing> all;
  Dims other_dims;
  for (int dim = 1; dim < pieces.maps()[0].map().num_dims(); ++dim) {
    if (!llvm::is_contained(dims, dim)) other_dims.push_back(dim);
  }
  OperandIndexingSet each;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const OperandIndexing& piece = pieces.maps()[i];
    const auto common = PartOf(body, piece, i, ties, dims, /*at_all_times=*/false);
    const auto other = PartOf(body, piece, i, ties, other_dims, /*at_all_times=*/true);
    if (!common || !other || (all && *all != *common)) return std::nullopt;
    all = common;
    each.Add(*other);
  }
  each.Simplify();
  return Division{dims, *std::move(all), std::move(other_dims), std::move(each)};
}

}  // namespace

std::optional<OperandIndexingSet> CloseIndependent(
    const LoopSteps& body, int64_t leaf, const OperandIndexingSet& pieces,
    llvm::function_ref<std::optional<OperandIndexingSet>(const LoopSteps& steps,
                                                         const OperandIndexingSet& maps)>
        close) {
  if (!MayBeDivided(pieces)) return std::nullopt;
  const Ties ties(pieces);
  const std::vector<Dims> groups = ties.Groups();
  if (groups.size() < 2) return std::nullopt;
  for (const Dims& group : groups) {
    const std::optional<Division> division = DivideAt(body, pieces, ties, group);
    if (!division) continue;
    const auto all = close(PartOfLeaf(body, leaf, group), OperandIndexingSet(division->all));
    if (!all) continue;
    const auto each = close(PartOfLeaf(body, leaf, division->other_dims), division->each);
    if (!each) continue;
    if (all->size() * each->size() > kMaxJoined) continue;
    OperandIndexingSet powers;
    for (const OperandIndexing& a : *all) {
      for (const OperandIndexing& b : *each) {
        std::optional<OperandIndexing> together =
            Together({a, division->dims}, {b, division->other_dims});
        if (!together) return std::nullopt;
        if (!together->IsKnownEmpty()) powers.Add(*std::move(together));
      }
    }
    if (powers.size() > 1) WriteWithFewMaps(&powers);
    return powers;
  }
  return std::nullopt;
}

}  // namespace xla_indexing::internal
