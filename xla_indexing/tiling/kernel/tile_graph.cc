#include "xla_indexing/tiling/kernel/tile_graph.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/text/affine_text.h"
#include "xla_indexing/map/variable_names.h"
#include "xla_indexing/query/utilization/utilization.h"

namespace xla_indexing {
namespace {

using internal::Int128;
using internal::kInt64Max;

// Sums and products of numbers that are at least 0; past int64, its largest value.
int64_t Times(int64_t a, int64_t b) {
  return static_cast<int64_t>(std::min<Int128>(Int128{a} * b, kInt64Max));
}
int64_t Plus(int64_t a, int64_t b) {
  return static_cast<int64_t>(std::min<Int128>(Int128{a} + b, kInt64Max));
}

bool IsLoaded(const TileNode& node) { return node.instruction->opcode() == HloOpcode::kParameter; }

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

// The sum of NumWithin() over the tiles of a progress; none where there are many that are partly
// within, or tiles overlap so that what is counted twice is loaded twice.
std::optional<int64_t> SumWithin(const TileStep& progress, int64_t num_tiles, int64_t size,
                                 int64_t stride, const Interval& bounds) {
  if (!bounds.IsFinite() || progress.step == 0 || size < 1) return std::nullopt;
  const std::optional<int64_t> reach = internal::NarrowToInt64((Int128{size} - 1) * stride);
  if (!reach) return std::nullopt;
  // Tiles that are wholly within are those of an interval of indices.
  const Interval ends = Interval::Point(0).Union(Interval::Point(*reach));
  const Interval begins = Interval::AtLeast(bounds.lower())
                              .Sub(ends.lower())
                              .Intersect(Interval::AtMost(bounds.upper()).Sub(ends.upper()));
  const Interval indices = begins.Sub(progress.begin)
                               .PreimageOfMul(progress.step)
                               .Intersect(Interval::OfSize(num_tiles));
  const int64_t first = indices.IsEmpty() ? 0 : indices.lower();
  const int64_t last = indices.IsEmpty() ? -1 : indices.upper();
  const int64_t whole = std::max<int64_t>(last - first + 1, 0);
  if (num_tiles - whole > kMaxPartialTiles) return std::nullopt;
  int64_t sum = Times(whole, size);
  for (int64_t k = 0; k < num_tiles; ++k) {
    if (whole > 0 && k == first) k = last + 1;
    if (k >= num_tiles) break;
    const std::optional<int64_t> begin =
        internal::NarrowToInt64(Int128{progress.step} * k + progress.begin);
    if (!begin) return std::nullopt;
    sum = Plus(sum, NumWithin(*begin, size, stride, bounds));
  }
  return sum;
}

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

bool TileGraph::IsExact() const {
  return llvm::all_of(nodes_, [](const TileNode& node) { return node.is_exact; });
}

int64_t TileGraph::NumExecutions(const TileNode& node) const {
  const std::vector<Interval> active = ActiveTiles(node);
  int64_t count = 1;
  for (int region = node.region; region >= 0; region = regions_[region].parent) {
    for (const int dim : regions_[region].dims) {
      count = Times(count, active[dim].Size().value_or(kInt64Max));
    }
  }
  return count;
}

int64_t TileGraph::BytesOf(const TileNode& node) const {
  const Interval bytes = xla_indexing::BytesOf(Interval::Point(tile(node).NumElements()),
                                               node.instruction->shape().Leaf(node.leaf));
  return bytes.has_upper() ? bytes.upper() : kInt64Max;
}

int64_t TileGraph::MovedElements(const TileNode& node) const {
  const MaskedTile& own = tile(node);
  // Dimensions of the array that move with a dimension of the space each, and with no other's, are
  // counted for themselves; other dimensions of the space count as often as they run.
  llvm::SmallBitVector counted(space_->num_dims());
  int64_t elements = 1;
  for (size_t i = 0; i < own.sizes.size(); ++i) {
    const mlir::AffineExpr offset = own.offsets.results()[i];
    const std::optional<TileStep> progress = ProgressOf(offset);
    std::optional<int64_t> sum;
    if (progress && !counted.test(progress->dim)) {
      sum = SumWithin(*progress, num_tiles_[progress->dim], own.sizes[i], own.strides[i],
                      own.bounds[i]);
    }
    if (sum) {
      counted.set(progress->dim);
      elements = Times(elements, *sum);
      continue;
    }
    const std::optional<int64_t> there = own.bounds[i].Size();
    elements = Times(elements, there ? std::min(own.sizes[i], *there) : own.sizes[i]);
  }
  for (int region = node.region; region >= 0; region = regions_[region].parent) {
    for (const auto [dim, trips] : llvm::zip(regions_[region].dims, regions_[region].trip_counts)) {
      if (!counted.test(dim)) elements = Times(elements, trips);
    }
  }
  return elements;
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
      const TileNode& node = nodes_[step.index];
      if (IsLoaded(node)) loaded = Plus(loaded, BytesOf(node));
      if (node.loop >= 0) accumulated = Plus(accumulated, BytesOf(node));
    }
    resident[i] = Plus(loaded, std::max(Plus(accumulated, inner), stored[i]));
  }
  return resident;
}

TileCost TileGraph::Cost() const {
  TileCost cost;
  const auto bytes_of = [&](const TileNode& node) {
    const Interval bytes = xla_indexing::BytesOf(Interval::Point(MovedElements(node)),
                                                 node.instruction->shape().Leaf(node.leaf));
    return bytes.has_upper() ? bytes.upper() : kInt64Max;
  };
  for (const TileNode& node : nodes_) {
    if (!IsLoaded(node)) continue;
    cost.moved_bytes = Plus(cost.moved_bytes, bytes_of(node));
    cost.num_loads = Plus(cost.num_loads, NumExecutions(node));
  }
  for (const TileStore& store : stores_) {
    const TileNode& node = nodes_[store.node];
    cost.moved_bytes = Plus(cost.moved_bytes, bytes_of(node));
    cost.num_stores = Plus(cost.num_stores, NumExecutions(node));
  }
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

std::vector<Interval> TileGraph::ActiveTiles(const TileNode& node) const {
  std::vector<Interval> active;
  active.reserve(num_tiles_.size());
  for (const int64_t count : num_tiles_) active.push_back(Interval::OfSize(count));
  const MaskedTile& own = tile(node);
  for (size_t i = 0; i < own.sizes.size(); ++i) {
    const std::optional<TileStep> progress = ProgressOf(own.offsets.results()[i]);
    if (!progress || own.sizes[i] < 1) continue;
    const std::optional<int64_t> reach =
        internal::NarrowToInt64((Int128{own.sizes[i]} - 1) * own.strides[i]);
    if (!reach) continue;
    // Some element is within the bounds.
    const Interval ends = Interval::Point(0).Union(Interval::Point(*reach));
    Interval& range = active[progress->dim];
    range =
        range.Intersect(own.bounds[i].Sub(progress->begin).Sub(ends).PreimageOfMul(progress->step));
  }
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
        } else {
          AddNode(step.index, open.size());
        }
      }
    }
    return std::move(text_);
  }

 private:
  const std::string& NameOfDim(int dim) const { return graph_.space().dims()[dim].name; }
  void Indent(size_t depth) { text_.append(2 * depth, ' '); }

  void AddHeader(const TileRegion& region, size_t depth) {
    Indent(depth);
    text_.append(region.kind == TileRegion::Kind::kGrid ? "grid" : "loop");
    for (size_t i = 0; i < region.dims.size(); ++i) {
      absl::StrAppend(&text_, i == 0 ? " " : ", ", NameOfDim(region.dims[i]), ": ",
                      region.trip_counts[i]);
    }
    if (!region.accumulators.empty()) {
      absl::StrAppend(&text_, ", accumulates ",
                      graph_.nodes()[region.accumulators[0]].instruction->name());
    }
    text_.push_back('\n');
  }

  void AddNode(int number, size_t depth) {
    const TileNode& node = graph_.nodes()[number];
    const MaskedTile& tile = graph_.tile(node);
    Indent(depth);
    absl::StrAppend(&text_, node.instruction->name(),
                    node.instruction->shape().IsArray() ? "" : absl::StrCat("#", node.leaf), ": ",
                    OpcodeName(node.instruction->opcode()), ", offset ", OffsetText(tile),
                    ", size (", absl::StrJoin(tile.sizes, ", "), ")");
    if (llvm::any_of(tile.strides, [](int64_t stride) { return stride != 1; })) {
      absl::StrAppend(&text_, ", stride (", absl::StrJoin(tile.strides, ", "), ")");
    }
    AddMasks(node);
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
      if (IsWithoutMask(node, i)) continue;
      absl::StrAppend(&text_, ", dimension ", i, " within ", tile.bounds[i].ToString());
    }
    const std::vector<Interval> active = graph_.ActiveTiles(node);
    for (size_t i = 0; i < active.size(); ++i) {
      if (active[i] == Interval::OfSize(graph_.num_tiles()[i])) continue;
      absl::StrAppend(&text_, ", for ", NameOfDim(static_cast<int>(i)), " in ",
                      active[i].ToString());
    }
  }

  // Whether no tile goes beyond the array.
  bool IsWithoutMask(const TileNode& node, size_t i) const {
    const MaskedTile& tile = graph_.tile(node);
    const Interval& bounds = tile.bounds[i];
    const Shape& shape = node.instruction->shape().Leaf(node.leaf);
    if (bounds != Interval::OfSize(shape.dimension(static_cast<int64_t>(i)))) return false;
    const mlir::AffineExpr offset = tile.offsets.results()[i];
    const std::optional<TileStep> progress = ProgressOf(offset);
    if (!progress) {
      return llvm::isa<mlir::AffineConstantExpr>(offset) && tile.strides[i] == 1 &&
             bounds.Size() == tile.sizes[i];
    }
    const Int128 last = Int128{progress->step} * (graph_.num_tiles()[progress->dim] - 1) +
                        progress->begin + Int128{tile.sizes[i] - 1} * tile.strides[i];
    return progress->step > 0 && progress->begin >= 0 && bounds.has_upper() &&
           last <= bounds.upper();
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
