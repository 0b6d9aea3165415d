#include "xla_indexing/tiling/kernel/tile_graph.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/count/count_image.h"
#include "xla_indexing/map/count/count_points.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/map/text/affine_text.h"
#include "xla_indexing/map/variable_names.h"
#include "xla_indexing/query/utilization/utilization.h"

namespace xla_indexing {
namespace {

using internal::CountBetween;
using internal::CountOf;
using internal::CountUpTo;
using internal::Int128;
using internal::kInt64Max;

// Sums and products of numbers that are at least 0; past int64, its largest value.
int64_t Times(int64_t a, int64_t b) {
  return static_cast<int64_t>(std::min<Int128>(Int128{a} * b, kInt64Max));
}
int64_t Plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(std::min<Int128>(Int128{a} + b, kInt64Max));
}

bool IsLoaded(const TileNode& node) { return node.array->opcode == HloOpcode::kParameter; }

// c * k + b with one tile index k.
struct TileStep {
  int dim = 0;
  int64_t step = 0;
  int64_t begin = 0;
};

std::optional<TileStep> ProgressOf(mlir::AffineExpr expr) {
  TileStep progress;
  if (const auto sum = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expr);
      sum && sum.getKind() == mlir::AffineExprKind::Add) {
    const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(sum.getRHS());
    if (!constant) return std::nullopt;
    progress.begin = constant.getValue();
    expr = sum.getLHS();
  }
  progress.step = 1;
  if (const auto product = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expr);
      product && product.getKind() == mlir::AffineExprKind::Mul) {
    const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(product.getRHS());
    if (!constant) return std::nullopt;
    progress.step = constant.getValue();
    expr = product.getLHS();
  }
  const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr);
  if (!dim) return std::nullopt;
  progress.dim = static_cast<int>(dim.getPosition());
  return progress;
}

// The elements of a tile in one dimension, as many as lie within the bounds.
int64_t NumWithin(int64_t begin, int64_t size, int64_t stride, const Interval& bounds) {
  if (size == 0 || bounds.IsEmpty()) return 0;
  const Int128 end = Int128{begin} + (Int128{size} - 1) * stride;
  Int128 low = std::min<Int128>(begin, end);
  Int128 high = std::max<Int128>(begin, end);
  const int64_t step = std::max<int64_t>(stride < 0 ? -stride : stride, 1);
  if (bounds.has_lower() && low < bounds.lower()) {
    low += (Int128{bounds.lower()} - low + step - 1) / step * step;
  }
  if (bounds.has_upper() && high > bounds.upper()) {
    high -= (high - bounds.upper() + step - 1) / step * step;
  }
  return low > high ? 0 : static_cast<int64_t>((high - low) / step + 1);
}

// Tiles whose elements are counted one by one.
constexpr int64_t kMaxPartialTiles = 64;

// The sum of NumWithin() over these tiles of a progress; nullopt if there are many that are partly
// within.
std::optional<int64_t> SumWithin(const TileStep& progress, const Interval& tiles, int64_t size,
                                 int64_t stride, const Interval& bounds) {
  if (!bounds.IsFinite() || !tiles.IsFinite() || progress.step == 0 || size < 1) {
    return std::nullopt;
  }
  if (tiles.IsEmpty()) return 0;
  const std::optional<int64_t> reach = internal::NarrowToInt64((Int128{size} - 1) * stride);
  if (!reach) return std::nullopt;
  // Tiles that are wholly within are those of an interval of indices.
  const Interval ends = Interval::Point(0).Union(Interval::Point(*reach));
  const Interval begins = bounds.IsEmpty()
                              ? bounds
                              : Interval::AtLeast(bounds.lower())
                                    .Sub(ends.lower())
                                    .Intersect(Interval::AtMost(bounds.upper()).Sub(ends.upper()));
  const Interval indices = begins.Sub(progress.begin).PreimageOfMul(progress.step).Intersect(tiles);
  const int64_t whole = indices.Size().value_or(0);
  if (Int128{tiles.upper()} - tiles.lower() + 1 - whole > kMaxPartialTiles) return std::nullopt;
  int64_t sum = Times(whole, size);
  for (int64_t k = tiles.lower(); k <= tiles.upper(); ++k) {
    if (whole > 0 && k == indices.lower()) k = indices.upper();
    if (whole > 0 && k == indices.upper()) continue;
    const std::optional<int64_t> begin =
        internal::NarrowToInt64(Int128{progress.step} * k + progress.begin);
    if (!begin) return std::nullopt;
    sum = Plus(sum, NumWithin(*begin, size, stride, bounds));
  }
  return sum;
}

// The product of two counts; what does not fit int64 has no upper end.
Interval Product(const Interval& a, const Interval& b) {
  const Interval least = CountOf(Int128{a.lower()} * b.lower());
  return a.has_upper() && b.has_upper()
             ? CountBetween(least, CountOf(Int128{a.upper()} * b.upper()))
             : Interval::AtLeast(least.lower());
}

bool HasRuntimes(mlir::AffineExpr expr, const IndexingMap& map) {
  for (int i = map.num_ranges(); i < map.num_symbols(); ++i) {
    if (internal::HasSymbol(expr, i)) return true;
  }
  return false;
}

// Whether a domain is not the same for all values of its runtime variables.
bool DependsOn(const std::vector<TileRuntime>& runtimes, const IndexingMap& domain) {
  for (const auto [variable, runtime] : llvm::zip(domain.runtimes(), runtimes)) {
    if (!runtime.values.IsSubsetOf(variable.bounds)) return true;
  }
  return llvm::any_of(domain.constraints(), [&](const Constraint& constraint) {
    return HasRuntimes(constraint.expr, domain);
  });
}

// The bytes of an array; INT64_MAX where they do not fit, or have no bound.
int64_t BytesOfArray(const Shape& array) {
  const absl::StatusOr<int64_t> count = array.ElementCount();
  const Interval bytes =
      count.ok() ? BytesOf(Interval::Point(*count), array) : Interval::AtLeast(0);
  return bytes.has_upper() ? bytes.upper() : kInt64Max;
}

// The steps of one count.
constexpr int64_t kMaxStepsOfCount = int64_t{1} << 14;

}  // namespace

int64_t MaskedTile::NumElements() const {
  int64_t count = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    int64_t size = sizes[i];
    const std::optional<int64_t> there = bounds[i].Size();
    if (there) size = std::min(size, *there);
    count = Times(count, size);
  }
  return count;
}

bool operator==(const MaskedTile& a, const MaskedTile& b) {
  return a.sizes == b.sizes && a.strides == b.strides && a.bounds == b.bounds &&
         a.moved_bounds == b.moved_bounds && a.offsets == b.offsets &&
         a.runtime_offsets == b.runtime_offsets && a.runtimes == b.runtimes &&
         a.devices == b.devices;
}

absl::string_view NameOf(TileCombiner::Neutral neutral) {
  switch (neutral) {
    case TileCombiner::Neutral::kZero:
      return "zero";
    case TileCombiner::Neutral::kOne:
      return "one";
    case TileCombiner::Neutral::kLowest:
      return "lowest";
    case TileCombiner::Neutral::kGreatest:
      return "greatest";
    case TileCombiner::Neutral::kAllOnes:
      return "all ones";
  }
  return "";
}

bool TileGraph::IsExact() const {
  return llvm::all_of(nodes_, [](const TileNode& node) { return node.is_exact; });
}

llvm::SmallVector<int, 4> TileGraph::DimsAround(const TileNode& node) const {
  llvm::SmallVector<int, 4> dims;
  for (int region = node.region; region >= 0; region = regions_[region].parent) {
    dims.append(regions_[region].dims.begin(), regions_[region].dims.end());
  }
  return dims;
}

const IndexingMap* TileGraph::BoxOf(const TileNode& node) const {
  if (node.domains.size() != 1) return nullptr;
  const IndexingMap& domain = domains_[node.domains[0]];
  const bool is_box = domain.num_ranges() == 0 && domain.constraints().empty();
  return is_box && !DependsOn(tile(node).runtimes, domain) ? &domain : nullptr;
}

bool TileGraph::DependsOnRuntimes(const TileNode& node) const {
  return llvm::any_of(node.domains,
                      [&](int i) { return DependsOn(tile(node).runtimes, domains_[i]); });
}

bool TileGraph::NeverRuns(const TileNode& node) const {
  return llvm::any_of(DimsAround(node), [&](int dim) { return num_tiles_[dim] == 0; });
}

Interval TileGraph::CountPairs(const TileNode& node, bool of_elements) const {
  const MaskedTile& own = tile(node);
  const llvm::SmallVector<int, 4> around = DimsAround(node);
  std::vector<int64_t> sizes;
  for (const int dim : around) sizes.push_back(std::max<int64_t>(num_tiles_[dim], 1));
  const size_t rank = of_elements ? own.sizes.size() : 0;
  for (size_t i = 0; i < rank; ++i) {
    const Interval& bounds = own.bounds[i];
    if (bounds.IsEmpty()) {
      sizes.push_back(1);
      continue;
    }
    if (!bounds.IsFinite() || bounds.upper() == kInt64Max) return Interval::AtLeast(0);
    sizes.push_back(bounds.upper() + 1);
  }
  std::vector<IndexingMap> pairs;
  for (const int number : node.domains) {
    const IndexingMap& domain = domains_[number];
    mlir::MLIRContext* context = domain.context();
    llvm::SmallVector<mlir::AffineExpr, 8> results;
    for (const int dim : around) results.push_back(mlir::getAffineDimExpr(dim, context));
    // The place in the tile comes after the dimensions.
    Variables dims(domain.dims());
    for (size_t i = 0; i < rank; ++i) {
      const mlir::AffineExpr place = mlir::getAffineDimExpr(dims.size(), context);
      dims.push_back({Interval::OfSize(own.sizes[i]), {}});
      results.push_back(
          internal::Add(own.offsets.results()[i], internal::Scale(place, own.strides[i])));
      if (!results.back()) return Interval::AtLeast(0);
    }
    const auto affine_map =
        mlir::AffineMap::get(dims.size(), domain.num_symbols(), results, context);
    IndexingMap& map =
        pairs.emplace_back(kPartsFit, affine_map, std::move(dims), Variables(domain.ranges()),
                           Variables(domain.runtimes()), Constraints(domain.constraints()));
    for (size_t i = 0; i < rank; ++i) {
      map.AddConstraint(kPartsFit, results[around.size() + i], own.bounds[i]);
    }
  }
  StepBudget budget(kMaxStepsOfCount);
  return CountUnionOfImages(pairs, sizes, &budget);
}

Interval TileGraph::NumExecutions(const TileNode& node) const {
  if (NeverRuns(node)) return Interval::Point(0);
  Interval count = Interval::Point(1);
  if (const IndexingMap* box = BoxOf(node)) {
    if (box->IsKnownEmpty()) return Interval::Point(0);
    for (const int dim : DimsAround(node)) {
      count = Product(count, CountOf(box->dims()[dim].bounds));
    }
    return count;
  }
  const QuestionBudget question;
  for (const int dim : DimsAround(node)) count = Product(count, Interval::Point(num_tiles_[dim]));
  count = CountUpTo(count).Intersect(CountPairs(node, /*of_elements=*/false));
  return DependsOnRuntimes(node) ? CountUpTo(count) : count;
}

int64_t TileGraph::BytesOf(const TileNode& node) const {
  const Interval bytes =
      xla_indexing::BytesOf(Interval::Point(elements_of_tiles_[node.tile]), node.array->shape);
  return bytes.has_upper() ? bytes.upper() : kInt64Max;
}

std::optional<int64_t> TileGraph::NumElementsByDim(const TileNode& node) const {
  const IndexingMap* box = BoxOf(node);
  if (box == nullptr) return std::nullopt;
  if (box->IsKnownEmpty()) return 0;
  const MaskedTile& own = tile(node);
  llvm::SmallBitVector counted(space_->num_dims());
  int64_t elements = 1;
  for (size_t i = 0; i < own.sizes.size(); ++i) {
    const mlir::AffineExpr offset = own.offsets.results()[i];
    if (const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(offset)) {
      elements = Times(elements,
                       NumWithin(constant.getValue(), own.sizes[i], own.strides[i], own.bounds[i]));
      continue;
    }
    const std::optional<TileStep> progress = ProgressOf(offset);
    if (!progress || counted.test(progress->dim)) return std::nullopt;
    const std::optional<int64_t> sum = SumWithin(*progress, box->dims()[progress->dim].bounds,
                                                 own.sizes[i], own.strides[i], own.bounds[i]);
    if (!sum) return std::nullopt;
    counted.set(progress->dim);
    elements = Times(elements, *sum);
  }
  for (const int dim : DimsAround(node)) {
    if (counted.test(dim)) continue;
    elements = Times(elements, box->dims()[dim].bounds.Size().value_or(kInt64Max));
  }
  return elements;
}

bool TileGraph::IsMasked(const TileNode& node, int64_t dim) const {
  const MaskedTile& own = tile(node);
  const Interval& bounds = own.bounds[dim];
  if (bounds != Interval::OfSize(node.array->shape.dimension(dim))) return true;
  const mlir::AffineExpr offset = own.offsets.results()[dim];
  const std::optional<TileStep> progress = ProgressOf(offset);
  if (!progress) {
    return !llvm::isa<mlir::AffineConstantExpr>(offset) || own.strides[dim] != 1 ||
           bounds.Size() != own.sizes[dim];
  }
  const Int128 last = Int128{progress->step} * (num_tiles_[progress->dim] - 1) + progress->begin +
                      Int128{own.sizes[dim] - 1} * own.strides[dim];
  return progress->step <= 0 || progress->begin < 0 || !bounds.has_upper() || last > bounds.upper();
}

Interval TileGraph::NumElements(const TileNode& node) const {
  if (NeverRuns(node)) return Interval::Point(0);
  if (const std::optional<int64_t> elements = NumElementsByDim(node)) return CountOf(*elements);
  const QuestionBudget question;
  const MaskedTile& own = tile(node);
  const Interval most =
      Product(NumExecutions(node), CountOf(Int128{elements_of_tiles_[node.tile]}));
  const bool is_moved = llvm::any_of(own.offsets.results(), [&](mlir::AffineExpr offset) {
    return HasRuntimes(offset, own.offsets);
  });
  if (is_moved) return CountUpTo(most);
  const Interval count = CountUpTo(most).Intersect(CountPairs(node, /*of_elements=*/true));
  return DependsOnRuntimes(node) ? CountUpTo(count) : count;
}

std::vector<int64_t> TileGraph::ResidentBytes() const {
  std::vector<int64_t> stored(regions_.size(), 0);
  for (const TileStore& store : stores_) {
    const TileNode& node = nodes_[store.node];
    if (!IsLoaded(node)) stored[node.region] = Plus(stored[node.region], BytesOf(node));
  }
  // Regions come before those within them.
  std::vector<int64_t> resident(regions_.size(), 0);
  for (size_t i = regions_.size(); i-- > 0;) {
    int64_t loaded = 0;
    int64_t accumulated = 0;
    int64_t inner = 0;
    for (const TileRegion::Step& step : regions_[i].steps) {
      if (step.is_region) {
        inner = std::max(inner, resident[step.index]);
        continue;
      }
      if (step.is_accumulation) continue;
      const TileNode& node = nodes_[step.index];
      if (IsLoaded(node)) loaded = Plus(loaded, BytesOf(node));
      if (node.loop >= 0) accumulated = Plus(accumulated, BytesOf(node));
    }
    resident[i] = Plus(loaded, std::max(Plus(accumulated, inner), stored[i]));
  }
  return resident;
}

TileCost TileGraph::MeasureMoves() const {
  TileCost cost;
  const auto add = [&](const Interval& count, int64_t* sum) {
    *sum = Plus(*sum, count.has_upper() ? count.upper() : kInt64Max);
    cost.is_exact = cost.is_exact && count.IsPoint();
  };
  const auto add_moves = [&](int number, bool is_store) {
    const TileNode& node = nodes_[number];
    TileAccess& access = cost.accesses.emplace_back();
    access = {number, is_store, node.instruction, node.leaf};
    add(xla_indexing::BytesOf(NumElements(node), node.array->shape), &access.bytes);
    cost.moved_bytes = Plus(cost.moved_bytes, access.bytes);
    access.array_bytes = BytesOfArray(node.array->shape);
    add(NumExecutions(node), is_store ? &cost.num_stores : &cost.num_loads);
  };
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (IsLoaded(nodes_[i])) add_moves(static_cast<int>(i), /*is_store=*/false);
  }
  for (const TileStore& store : stores_) add_moves(store.node, /*is_store=*/true);
  const std::vector<int64_t> resident = ResidentBytes();
  for (size_t i = 0; i < regions_.size(); ++i) {
    if (regions_[i].parent >= 0) continue;
    int64_t programs = 1;
    for (const int64_t trips : regions_[i].trip_counts) programs = Times(programs, trips);
    cost.num_programs = Plus(cost.num_programs, programs);
    cost.resident_bytes = std::max(cost.resident_bytes, resident[i]);
  }
  return cost;
}

TileGraph::Active TileGraph::ActiveTiles(const TileNode& node) const {
  Active active;
  active.indices.assign(num_tiles_.size(), Interval::Empty());
  for (const int number : node.domains) {
    const IndexingMap& domain = domains_[number];
    if (domain.IsKnownEmpty()) continue;
    for (const auto [indices, dim] : llvm::zip(active.indices, domain.dims())) {
      indices = indices.Union(dim.bounds);
    }
  }
  active.is_all_active = BoxOf(node) != nullptr;
  return active;
}

namespace {

// The lines of a graph.
class GraphText {
 public:
  explicit GraphText(const TileGraph& graph) : graph_(graph) {}

  std::string Write() {
    // Regions that are being written, with the next step of each.
    std::vector<std::pair<int, size_t>> open;
    for (size_t root = 0; root < graph_.regions().size(); ++root) {
      if (graph_.regions()[root].parent >= 0) continue;
      AddHeader(graph_.regions()[root], 0);
      open.emplace_back(static_cast<int>(root), 0);
      while (!open.empty()) {
        const TileRegion& region = graph_.regions()[open.back().first];
        if (open.back().second == region.steps.size()) {
          open.pop_back();
          continue;
        }
        const TileRegion::Step step = region.steps[open.back().second++];
        if (step.is_region) {
          AddHeader(graph_.regions()[step.index], open.size());
          open.emplace_back(step.index, 0);
        } else if (step.is_accumulation) {
          AddAccumulation(region, step.index, open.size());
        } else {
          AddNode(step.index, open.size());
        }
      }
    }
    return std::move(text_);
  }

 private:
  const std::string& NameOfNode(int node) const { return graph_.nodes()[node].array->name; }
  const std::string& NameOfDim(int dim) const { return graph_.space().dims()[dim].name; }
  void Indent(size_t depth) { text_.append(2 * depth, ' '); }

  void AddHeader(const TileRegion& region, size_t depth) {
    Indent(depth);
    text_.append(region.kind == TileRegion::Kind::kGrid ? "grid" : "loop");
    for (size_t i = 0; i < region.dims.size(); ++i) {
      absl::StrAppend(&text_, i == 0 ? " " : ", ", NameOfDim(region.dims[i]), ": ",
                      region.trip_counts[i]);
    }
    // Those of one contraction are leaves of one instruction.
    const bool is_one_pass = llvm::any_of(
        region.steps, [](const TileRegion::Step& step) { return step.is_accumulation; });
    for (size_t i = 0; i < region.accumulators.size(); ++i) {
      if (i > 0 && !is_one_pass) break;
      absl::StrAppend(&text_, i == 0 ? ", accumulates " : ", ", NameOfNode(region.accumulators[i]));
    }
    text_.push_back('\n');
  }

  void AddAccumulation(const TileRegion& region, int number, size_t depth) {
    Indent(depth);
    absl::StrAppend(&text_, NameOfNode(number), ": ");
    for (const TileRescale& rescale : region.rescales) {
      if (rescale.accumulator != number || rescale.kind != TileRescale::Kind::kMaximum) continue;
      absl::StrAppend(&text_, "multiplied by exp(", NameOfNode(rescale.by), " before - ",
                      NameOfNode(rescale.by), "), then ");
    }
    text_.append("accumulates this step\n");
  }

  // What is done with an accumulator after its loop.
  void AddDivisor(int number) {
    const TileNode& node = graph_.nodes()[number];
    if (node.passes_on) text_.append("; without its divisor");
    if (node.loop < 0) return;
    for (const TileRescale& rescale : graph_.regions()[node.loop].rescales) {
      if (rescale.accumulator != number || rescale.kind != TileRescale::Kind::kDivisor) continue;
      absl::StrAppend(&text_, "; divided by ", NameOfNode(rescale.by));
    }
  }

  void AddNode(int number, size_t depth) {
    const TileNode& node = graph_.nodes()[number];
    const MaskedTile& tile = graph_.tile(node);
    Indent(depth);
    absl::StrAppend(&text_, node.array->name,
                    node.array->is_of_tuple ? absl::StrCat("#", node.leaf) : "", ": ",
                    node.array->opcode_name, ", offset ", OffsetText(tile), ", size (",
                    absl::StrJoin(tile.sizes, ", "), ")");
    if (llvm::any_of(tile.strides, [](int64_t stride) { return stride != 1; })) {
      absl::StrAppend(&text_, ", stride (", absl::StrJoin(tile.strides, ", "), ")");
    }
    AddMasks(node);
    AddDivisor(number);
    if (tile.devices) absl::StrAppend(&text_, ", devices ", tile.devices->ToString());
    if (!node.is_exact) text_.append("; reads less than that");
    AddStores(number);
    text_.push_back('\n');
  }

  // The results alone: the indices are those of the regions around.
  static std::string OffsetText(const MaskedTile& tile) {
    const internal::VariableNames names = internal::NamesOf(tile.offsets);
    std::string text;
    for (const mlir::AffineExpr offset : tile.offsets.results()) {
      text.append(text.empty() ? "(" : ", ");
      internal::AppendAffineExpr(offset, names.dims, names.symbols, &text);
    }
    return text.empty() ? "()" : text + ")";
  }

  // The bounds that some tile goes beyond, or that are not those of the array, and the tiles that
  // have something within them.
  void AddMasks(const TileNode& node) {
    const MaskedTile& tile = graph_.tile(node);
    for (size_t i = 0; i < tile.sizes.size(); ++i) {
      if (!graph_.IsMasked(node, static_cast<int64_t>(i))) continue;
      absl::StrAppend(&text_, ", dimension ", i, " within ", tile.bounds[i].ToString());
    }
    std::vector<std::string> domains;
    domains.reserve(node.domains.size());
    for (const int domain : node.domains) {
      domains.push_back(DomainText(tile, graph_.domains()[domain]));
      if (domains.back().empty()) return;
    }
    absl::StrAppend(&text_, ", for ", absl::StrJoin(domains, " or "));
  }

  // What a domain asks for; empty where it has all tile indices.
  std::string DomainText(const MaskedTile& tile, const IndexingMap& domain) const {
    const internal::VariableNames names = internal::NamesOf(domain);
    std::vector<std::string> parts;
    const auto add = [&](mlir::AffineExpr expr, const Interval& interval) {
      std::string& part = parts.emplace_back();
      internal::AppendAffineExpr(expr, names.dims, names.symbols, &part);
      absl::StrAppend(&part, " in ", interval.ToString());
    };
    for (int i = 0; i < domain.num_dims(); ++i) {
      const Interval& indices = domain.dims()[i].bounds;
      if (indices == Interval::OfSize(std::max<int64_t>(graph_.num_tiles()[i], 1))) continue;
      add(mlir::getAffineDimExpr(i, domain.context()), indices);
    }
    for (int i = 0; i < domain.num_runtimes(); ++i) {
      const Interval& values = domain.runtimes()[i].bounds;
      if (tile.runtimes[i].values.IsSubsetOf(values)) continue;
      add(mlir::getAffineSymbolExpr(domain.num_ranges() + i, domain.context()), values);
    }
    for (const Constraint& constraint : domain.constraints()) {
      add(constraint.expr, constraint.interval);
    }
    std::string text = absl::StrJoin(parts, " and ");
    for (int i = 0; i < domain.num_ranges(); ++i) {
      absl::StrAppend(&text, i == 0 ? " for some " : ", ", names.symbols[i], " in ",
                      domain.ranges()[i].bounds.ToString());
    }
    return text;
  }

  void AddStores(int number) {
    for (const TileStore& store : graph_.stores()) {
      if (store.node != number) continue;
      text_.append("; stored");
      for (size_t i = 0; i < store.repeated_dims.size(); ++i) {
        absl::StrAppend(&text_, i == 0 ? " again for each " : ", ",
                        NameOfDim(store.repeated_dims[i]));
      }
    }
  }

  const TileGraph& graph_;
  std::string text_;
};

}  // namespace

std::string TileGraph::ToString() const { return GraphText(*this).Write(); }

}  // namespace xla_indexing
