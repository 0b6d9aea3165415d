#include "xla_indexing/tiling/kernel/tile_meter.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/gpu/bank_conflicts.h"
#include "xla_indexing/gpu/coalescing.h"
#include "xla_indexing/gpu/machine/element_work.h"
#include "xla_indexing/gpu/requests/count_requests.h"
#include "xla_indexing/gpu/requests/launch_access.h"
#include "xla_indexing/gpu/requests/launch_threads.h"
#include "xla_indexing/gpu/requests/request_meter.h"
#include "xla_indexing/gpu/requests/request_totals.h"
#include "xla_indexing/gpu/threads/mapping_builder.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"
#include "xla_indexing/hlo/memory/physical_layout.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/count/count_points.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/tiling/kernel/held_tiles.h"

namespace xla_indexing {
namespace internal {
namespace {

using ::mlir::AffineExpr;

int64_t SaturatingTimes(int64_t a, int64_t b) { return CheckedMul(a, b).value_or(kInt64Max); }
int64_t SaturatingPlus(int64_t a, int64_t b) { return CheckedAdd(a, b).value_or(kInt64Max); }
int64_t MostOf(const Interval& count) { return count.has_upper() ? count.upper() : kInt64Max; }

llvm::SmallVector<int, 4> DimsAround(const TileGraph& graph, const TileNode& node) {
  llvm::SmallVector<int, 4> dims;
  for (int region = node.region; region >= 0; region = graph.regions()[region].parent) {
    const std::vector<int>& own = graph.regions()[region].dims;
    dims.append(own.begin(), own.end());
  }
  return dims;
}

// How threads go over a tile.
struct TileThreads {
  llvm::ArrayRef<int64_t> sizes;  // of the tile
  llvm::ArrayRef<int64_t> order;  // all dimensions of more than one element, the fastest first
  int64_t num_threads = 1;
  int64_t width = 1;      // of an access
  bool is_vector = true;  // one access; otherwise one for each of its elements
};

// The places of a tile by thread and loop; null if a number does not fit int64.
llvm::SmallVector<AffineExpr, 4> PlacesOf(const TileThreads& threads, mlir::MLIRContext* context,
                                          MappingBuilder* builder) {
  int64_t total = 1;
  for (const int64_t size : threads.sizes) total = SaturatingTimes(total, size);
  const int64_t at_once = SaturatingTimes(threads.num_threads, threads.width);
  AffineExpr place = Scale(builder->Thread(threads.num_threads), threads.width);
  if (total > at_once) {
    place = Add(place, Scale(builder->Loop(CeilDiv(total, at_once)), at_once));
  }
  if (threads.width > 1) {
    place = Add(place,
                threads.is_vector ? builder->Vector(threads.width) : builder->Loop(threads.width));
  }
  if (total % at_once != 0) builder->Bound(place, total);
  llvm::SmallVector<AffineExpr, 4> places(threads.sizes.size(), Constant(0, context));
  if (place && total < kInt64Max) {
    Delinearize(place, threads.order,
                absl::MakeConstSpan(threads.sizes.data(), threads.sizes.size()), &places);
  } else {
    places.assign(threads.sizes.size(), AffineExpr());
  }
  return places;
}

// The dimensions of more than one element in the order in which they lie in memory, behind those of
// `first`.
llvm::SmallVector<int64_t, 4> OrderInMemory(const Shape& shape, llvm::ArrayRef<int64_t> sizes,
                                            llvm::ArrayRef<int64_t> first = {}) {
  llvm::SmallVector<int64_t, 4> order;
  const auto add = [&](int64_t dim) {
    if (dim < 0 || dim >= static_cast<int64_t>(sizes.size()) || sizes[dim] <= 1) return;
    if (!llvm::is_contained(order, dim)) order.push_back(dim);
  };
  for (const int64_t dim : first) add(dim);
  for (const int64_t dim : shape.LayoutOrRowMajor().minor_to_major) add(dim);
  return order;
}

// The greatest power of two of elements within the bytes that divides `size` and leaves no thread
// without elements.
int64_t WidthOf(int64_t bits, int64_t size, int64_t total, int64_t num_threads,
                int64_t vector_bytes) {
  int64_t width = 1;
  while (2 * width <= ThreadMapping::kMaxVectorWidth &&
         Int128{2} * width * bits <= Int128{8} * vector_bytes && size % (2 * width) == 0 &&
         total / num_threads >= 2 * width) {
    width *= 2;
  }
  return width;
}

int64_t NumElementsOf(llvm::ArrayRef<int64_t> sizes) {
  int64_t total = 1;
  for (const int64_t size : sizes) total = SaturatingTimes(total, size);
  return total;
}

// The requests of a launch that accesses an array through a mapping that fits it; nullopt where they have
// no addresses.
std::optional<RequestTotals> CountLaunch(const ThreadMapping& mapping, const Shape& array,
                                         int64_t warp_size, const RequestMeter& meter,
                                         int64_t max_steps) {
  const absl::StatusOr<ByteLayout> layout = ByteLayoutOf(array);
  if (!layout.ok()) return std::nullopt;
  const LaunchThreads threads(mapping, warp_size);
  const llvm::SmallVector<int64_t, 4> sizes(array.dimensions().begin(), array.dimensions().end());
  LaunchAccessBuilder accesses(mapping, threads, sizes);
  absl::StatusOr<LaunchAccess> access = accesses.Build({*layout});
  if (!access.ok()) return std::nullopt;
  return CountRequests(*std::move(access), meter, max_steps);
}

// Constrains a map to the tile indices of a domain, which are `indices`; false if that depends on the index
// of a loop that does not move the tile, or if a number does not fit int64.
bool KeepDomain(const IndexingMap& domain, absl::Span<const int64_t> num_tiles,
                llvm::ArrayRef<int> moving, llvm::ArrayRef<AffineExpr> indices, IndexingMap* map) {
  for (const Constraint& constraint : domain.constraints()) {
    for (int dim = 0; dim < domain.num_dims(); ++dim) {
      if (constraint.expr.isFunctionOfDim(dim) && num_tiles[dim] > 1 &&
          !llvm::is_contained(moving, dim)) {
        return false;
      }
    }
    const AffineExpr expr = Substitute(constraint.expr, indices, {});
    if (!expr) return false;
    map->AddConstraint(kPartsFit, expr, constraint.interval);
  }
  return true;
}

}  // namespace

TileMeter::TileMeter(const TileCostOptions& options) : options_(options) {
  CoalescingOptions memory;
  memory.warp_size = options.warp_size;
  memory.sector_bytes = options.sector_bytes;
  memory.line_bytes = options.line_bytes;
  const TileCostOptions usual;
  if (!memory.Verify().ok()) {
    options_.warp_size = usual.warp_size;
    options_.sector_bytes = usual.sector_bytes;
    options_.line_bytes = usual.line_bytes;
  }
  if (!BankOptions{.swizzle = options.swizzle}.Verify().ok()) options_.swizzle = usual.swizzle;
  if (options.num_threads < 1) options_.num_threads = usual.num_threads;
  options_.vector_bytes = std::max<int64_t>(options.vector_bytes, 1);
  options_.shared_padding = std::max<int64_t>(options.shared_padding, 0);
}

TileMeter::Order TileMeter::OrderOfAccess(const TileGraph& graph, const TileNode& node) const {
  const std::vector<int64_t> given = options_.order ? options_.order(node) : std::vector<int64_t>();
  return OrderInMemory(node.array->shape, graph.tile(node).sizes, given);
}

int64_t TileMeter::FewestSectors(const TileGraph& graph, const TileAccess& access) const {
  const TileNode& node = graph.nodes()[access.node];
  const MaskedTile& tile = graph.tile(node);
  const Shape& shape = node.array->shape;
  const int64_t fewest = CeilDiv(access.bytes, options_.sector_bytes);
  const int64_t bits = BitsOfElement(shape);
  const Layout layout = shape.LayoutOrRowMajor();
  if (bits % 8 != 0 || !layout.IsPlain()) return fewest;
  // A tile is runs of elements side by side, which begin multiples of `period` bytes apart: no more than
  // ceil(sector / period) of them begin in one sector, whatever the requests.
  int64_t run = bits / 8;
  for (const int64_t dim : layout.minor_to_major) {
    const int64_t array = shape.dimension(dim);
    if (array <= 1) continue;
    const int64_t size = std::min(tile.sizes[dim], array);
    if (size > 1 && tile.strides[dim] != 1) return fewest;
    const int64_t period = SaturatingTimes(array, run);
    run = SaturatingTimes(run, size);
    if (run >= options_.sector_bytes) return fewest;
    if (size < array) {
      return std::max(fewest, access.bytes / run / CeilDiv(options_.sector_bytes, period));
    }
  }
  return fewest;
}

TileMeter::Requests TileMeter::CountRequestsOf(const TileGraph& graph, const TileNode& node,
                                               llvm::ArrayRef<int> moving,
                                               const Order& order) const {
  const MaskedTile& tile = graph.tile(node);
  mlir::MLIRContext* const context = tile.offsets.context();
  const Shape& shape = node.array->shape;
  const bool is_moved = tile.offsets.num_symbols() > 0;
  if (is_moved && !shape.LayoutOrRowMajor().IsPlain()) return {};
  int64_t width = 1;
  if (!order.empty() && tile.strides[order[0]] == 1) {
    width = WidthOf(BitsOfElement(shape), Gcd(tile.sizes[order[0]], shape.dimension(order[0])),
                    NumElementsOf(tile.sizes), options_.num_threads, options_.vector_bytes);
  }
  MappingBuilder builder(context);
  const llvm::SmallVector<AffineExpr, 4> places =
      PlacesOf({tile.sizes, order, options_.num_threads, width}, context, &builder);
  // The tile indices, those of a box that has all domains, are loops: what is requested is the
  // same, and no index is a digit of another number.
  const TileGraph::Active active = graph.ActiveTiles(node);
  llvm::SmallVector<int64_t, 4> counts;
  for (const int dim : moving) counts.push_back(active.indices[dim].Size().value_or(0));
  if (llvm::is_contained(counts, 0)) return {Interval::Point(0), Interval::Point(0)};
  if (NumElementsOf(counts) == kInt64Max) return {};
  llvm::SmallVector<AffineExpr, 6> indices(tile.offsets.num_dims(), Constant(0, context));
  for (const auto [count, dim] : llvm::zip(counts, moving)) {
    const AffineExpr index = count > 1 ? builder.Loop(count) : Constant(0, context);
    indices[dim] = Add(index, Constant(active.indices[dim].lower(), context));
  }
  const llvm::SmallVector<AffineExpr, 6> runtimes(tile.offsets.num_symbols(), Constant(0, context));
  llvm::SmallVector<AffineExpr, 4> elements;
  for (size_t i = 0; i < tile.sizes.size(); ++i) {
    const AffineExpr offset = Substitute(tile.offsets.results()[i], indices, runtimes);
    const AffineExpr step = places[i] ? Scale(places[i], tile.strides[i]) : AffineExpr();
    elements.push_back(offset && step ? Add(offset, step) : AffineExpr());
  }
  absl::StatusOr<ThreadMapping> mapping = builder.Build(elements);
  if (!mapping.ok()) return {};
  for (size_t i = 0; i < tile.sizes.size(); ++i) {
    const size_t before = mapping->map.constraints().size();
    mapping->map.AddConstraint(kPartsFit, elements[i], tile.bounds[i]);
    // What is left out may not be where the tile is moved to.
    if (is_moved && mapping->map.constraints().size() != before) return {};
    if (tile.moved_bounds[i] != Interval::All()) {
      mapping->map.AddConstraint(kPartsFit, elements[i], tile.moved_bounds[i]);
    }
  }
  // Where it is not known which tiles are read, all of the box are.
  const IndexingMap& domain = graph.domains()[node.domains[0]];
  const bool is_exact = !is_moved && node.domains.size() == 1 && domain.num_ranges() == 0 &&
                        !graph.DependsOnRuntimes(node) &&
                        KeepDomain(domain, graph.num_tiles(), moving, indices, &mapping->map);
  const std::optional<RequestTotals> totals =
      CountLaunch(*mapping, shape, options_.warp_size,
                  SectorMeter(options_.sector_bytes, options_.line_bytes), kMaxStepsOfCount);
  if (!totals) return {};
  Requests requests = {totals->units.ToInterval(), totals->other.ToInterval()};
  for (Interval* const count : {&requests.sectors, &requests.lines}) {
    if (is_moved) *count = count->Mul(2);
    if (!is_exact) *count = CountUpTo(*count);
  }
  return requests;
}

TileMeter::Requests TileMeter::RequestsOf(const TileGraph& graph, const TileNode& node) {
  const MaskedTile& tile = graph.tile(node);
  const TileGraph::Active active = graph.ActiveTiles(node);
  const Order order = OrderOfAccess(graph, node);
  llvm::SmallVector<int, 4> moving;
  int64_t repeats = 1;
  // Indices that a domain leaves out count as those that move the tile.
  const auto limits = [&](int dim) {
    if (active.indices[dim] != Interval::OfSize(graph.num_tiles()[dim])) return true;
    return llvm::any_of(node.domains, [&](int number) {
      return llvm::any_of(graph.domains()[number].constraints(), [&](const Constraint& constraint) {
        return constraint.expr.isFunctionOfDim(dim);
      });
    });
  };
  for (const int dim : DimsAround(graph, node)) {
    const int64_t count = graph.num_tiles()[dim];
    if (count == 0) return {Interval::Point(0), Interval::Point(0)};
    if (count == 1) continue;
    if (tile.dims.test(dim) || limits(dim)) {
      moving.push_back(dim);
    } else {
      repeats = SaturatingTimes(repeats, count);
    }
  }
  const auto address = [](const void* pointer) {
    return static_cast<int64_t>(reinterpret_cast<uintptr_t>(pointer));
  };
  Key key = {address(node.array.get()), address(tile.offsets.affine_map().getAsOpaquePointer()),
             tile.offsets.num_symbols()};
  const auto add_interval = [&](const Interval& interval) {
    key.push_back(interval.has_lower() ? interval.lower() : kInt64Min);
    key.push_back(interval.has_upper() ? interval.upper() : kInt64Max);
  };
  for (size_t i = 0; i < tile.sizes.size(); ++i) {
    key.insert(key.end(), {tile.sizes[i], tile.strides[i]});
    add_interval(tile.bounds[i]);
    add_interval(tile.moved_bounds[i]);
  }
  key.insert(key.end(), order.begin(), order.end());
  for (const int dim : moving) {
    key.insert(key.end(), {-1, dim, graph.num_tiles()[dim]});
    add_interval(active.indices[dim]);
  }
  for (const int number : node.domains) {
    const IndexingMap& domain = graph.domains()[number];
    key.insert(key.end(), {-2, domain.num_ranges()});
    for (const Constraint& constraint : domain.constraints()) {
      key.push_back(address(constraint.expr.getAsOpaquePointer()));
      add_interval(constraint.interval);
    }
  }
  auto known = requests_.find(key);
  if (known == requests_.end()) {
    if (++num_counts_ > kMaxCounts) return {};
    known = requests_.try_emplace(key, CountRequestsOf(graph, node, moving, order)).first;
  }
  return {known->second.sectors.Mul(repeats), known->second.lines.Mul(repeats)};
}

TileMeter::Exchange TileMeter::ExchangeOf(const TileGraph& graph, const TileNode& node,
                                          const Order& from, const Order& to) {
  const MaskedTile& tile = graph.tile(node);
  const int64_t bits = BitsOfElement(node.array->shape);
  Key key = {bits};
  key.insert(key.end(), tile.sizes.begin(), tile.sizes.end());
  key.insert(key.end(), from.begin(), from.end());
  key.insert(key.end(), to.begin(), to.end());
  const auto known = exchanges_.find(key);
  if (known != exchanges_.end()) return known->second;
  Exchange sum;
  if (++num_counts_ > kMaxCounts) return {Interval::AtLeast(0), Interval::AtLeast(0)};
  // Row by row in the order in which it is written, with the padding behind each row.
  Shape shared = Shape::Array(node.array->shape.element_type(), tile.sizes);
  shared.SetDimension(from[0], SaturatingPlus(tile.sizes[from[0]], options_.shared_padding));
  Layout layout = RowMajorLayout(shared.rank());
  layout.minor_to_major.assign(from.begin(), from.end());
  for (int64_t dim = 0; dim < shared.rank(); ++dim) {
    if (!llvm::is_contained(from, dim)) layout.minor_to_major.push_back(dim);
  }
  shared.SetLayout(layout);
  const BankOptions banks;
  const BankMeter meter(banks.banks, banks.word_bytes, options_.swizzle);
  mlir::MLIRContext* const context = tile.offsets.context();
  for (const bool is_write : {true, false}) {
    const Order& order = is_write ? from : to;
    const int64_t width = WidthOf(bits, tile.sizes[order[0]], NumElementsOf(tile.sizes),
                                  options_.num_threads, options_.vector_bytes);
    MappingBuilder builder(context);
    const absl::StatusOr<ThreadMapping> mapping = builder.Build(
        PlacesOf({tile.sizes, order, options_.num_threads, width, is_write}, context, &builder));
    const std::optional<RequestTotals> totals =
        mapping.ok() ? CountLaunch(*mapping, shared, options_.warp_size, meter, kMaxStepsOfCount)
                     : std::nullopt;
    sum.wavefronts = sum.wavefronts.Add(totals ? totals->units.ToInterval() : Interval::AtLeast(0));
    sum.least = sum.least.Add(totals ? totals->least.ToInterval() : Interval::AtLeast(0));
  }
  exchanges_.try_emplace(std::move(key), sum);
  return sum;
}

namespace {

// The nodes of a graph, each after its operands.
std::vector<int> NodesInOrder(const TileGraph& graph) {
  std::vector<int> nodes;
  std::vector<std::pair<int, size_t>> open;  // regions, with the next step of each
  for (size_t root = 0; root < graph.regions().size(); ++root) {
    if (graph.regions()[root].parent >= 0) continue;
    open.emplace_back(static_cast<int>(root), 0);
    while (!open.empty()) {
      auto& [number, next] = open.back();
      const std::vector<TileRegion::Step>& steps = graph.regions()[number].steps;
      if (next == steps.size()) {
        open.pop_back();
        continue;
      }
      const TileRegion::Step step = steps[next++];
      if (step.is_region) {
        open.emplace_back(step.index, 0);
      } else if (!step.is_accumulation) {
        nodes.push_back(step.index);
      }
    }
  }
  return nodes;
}

}  // namespace

void TileMeter::AddExchanges(const TileGraph& graph, TileCost* cost) {
  int64_t exchanged_bytes = 0;
  const auto add = [&](const TileNode& node, const Order& from, const Order& to) {
    if (from == to || from.empty() || from.size() != to.size()) return;
    const Exchange one = ExchangeOf(graph, node, from, to);
    exchanged_bytes = std::max(exchanged_bytes, graph.BytesOf(node));
    const Interval times = graph.NumExecutions(node);
    cost->wavefronts =
        SaturatingPlus(cost->wavefronts, SaturatingTimes(MostOf(one.wavefronts), MostOf(times)));
    cost->least_wavefronts =
        SaturatingPlus(cost->least_wavefronts, SaturatingTimes(MostOf(one.least), MostOf(times)));
    cost->are_requests_exact &= one.wavefronts.IsPoint() && times.IsPoint();
  };
  // The order in which threads hold each node; nullopt where any will do.
  std::vector<std::optional<Order>> orders(graph.nodes().size());
  for (const int number : NodesInOrder(graph)) {
    const TileNode& node = graph.nodes()[number];
    std::optional<Order>& order = orders[number];
    const HloOpcode opcode = node.array->opcode;
    if (opcode == HloOpcode::kParameter) {
      order = OrderOfAccess(graph, node);
    } else if (opcode == HloOpcode::kTranspose && !node.operands.empty()) {
      const std::optional<Order>& operand = orders[node.operands[0].node];
      if (!operand) continue;
      order.emplace();
      for (const int64_t dim : *operand) {
        const auto to = llvm::find(node.array->permutation, dim);
        order->push_back(to - node.array->permutation.begin());
      }
    } else if (IsElementwise(opcode)) {
      for (const TileNode::Operand& operand : node.operands) {
        const std::optional<Order>& other = orders[operand.node];
        if (!other) continue;
        if (!order) order = other;
        add(graph.nodes()[operand.node], *other, *order);
      }
    } else if (opcode != HloOpcode::kBroadcast && !node.operands.empty()) {
      order = OrderInMemory(node.array->shape, graph.tile(node).sizes);
    }
  }
  for (const TileStore& store : graph.stores()) {
    const TileNode& node = graph.nodes()[store.node];
    if (orders[store.node]) add(node, *orders[store.node], OrderOfAccess(graph, node));
  }
  cost->shared_bytes = SaturatingPlus(cost->shared_bytes, exchanged_bytes);
}

namespace {

// What keeps the accumulators of loops in one pass right: in each step exp(old - new) of each
// maximum and a product for each element that it rescales, and after the loop the divisions.
void AddRescales(const TileGraph& graph, TileCost* cost) {
  const auto elements_of = [&](int node) {
    return static_cast<double>(MostOf(graph.NumElements(graph.nodes()[node])));
  };
  for (const TileRegion& region : graph.regions()) {
    llvm::SmallVector<int, 2> maxima;
    for (const TileRescale& rescale : region.rescales) {
      const double elements = elements_of(rescale.accumulator);
      if (rescale.kind == TileRescale::Kind::kDivisor) {
        cost->other_operations += elements;
        continue;
      }
      const auto steps = static_cast<double>(region.trip_counts[0]);
      cost->other_operations += steps * elements;
      if (llvm::is_contained(maxima, rescale.by)) continue;
      maxima.push_back(rescale.by);
      cost->transcendentals += steps * elements_of(rescale.by);
      cost->other_operations += steps * elements_of(rescale.by);
    }
  }
}

void AddWork(const TileGraph& graph, TileCost* cost) {
  // Nodes of one region with one tile are computed for as many elements.
  absl::flat_hash_map<std::tuple<int, int, int>, int64_t> known;
  for (const TileNode& node : graph.nodes()) {
    const ElementWork& work = node.array->work;
    // A division that passes its dividend on is done after the loop.
    if (work.IsNone() || node.passes_on) continue;
    int64_t elements = 0;
    if (node.domains.size() == 1) {
      const auto [entry, is_new] = known.try_emplace({node.tile, node.region, node.domains[0]}, 0);
      if (is_new) entry->second = MostOf(graph.NumElements(node));
      elements = entry->second;
    } else {
      elements = MostOf(graph.NumElements(node));
    }
    const auto times = static_cast<double>(elements);
    cost->elements = SaturatingPlus(cost->elements, elements);
    cost->multiply_adds += times * work.multiply_adds;
    cost->transcendentals += times * work.transcendentals;
    cost->other_operations += times * work.other_operations;
    if (work.multiply_adds > 0) cost->product_bits = std::min(cost->product_bits, work.bits);
  }
  AddRescales(graph, cost);
}

}  // namespace

TileCost TileMeter::MeasureWithoutRequests(const TileGraph& graph) const {
  const QuestionBudget question;
  TileCost cost = graph.MeasureMoves();
  for (TileAccess& access : cost.accesses) {
    access.sectors = Interval::Point(FewestSectors(graph, access));
    cost.sectors = SaturatingPlus(cost.sectors, access.sectors.upper());
  }
  AddWork(graph, &cost);
  const HeldBytes held = MostHeldBytes(graph, options_);
  cost.register_bytes = static_cast<int64_t>(std::min<Int128>(held[0], kInt64Max));
  cost.shared_bytes = static_cast<int64_t>(std::min<Int128>(held[1], kInt64Max));
  return cost;
}

void TileMeter::CountRequests(const TileGraph& graph, TileCost* cost) {
  const QuestionBudget question;
  cost->sectors = cost->lines = 0;
  for (TileAccess& access : cost->accesses) {
    const TileNode& node = graph.nodes()[access.node];
    const Requests requests = RequestsOf(graph, node);
    access.sectors = requests.sectors;
    access.lines = requests.lines;
    if (!requests.sectors.has_upper() || !requests.lines.has_upper()) {
      // No element is in more than these.
      const int64_t most =
          SaturatingTimes(MostOf(graph.NumElements(node)),
                          CeilDiv(BitsOfElement(node.array->shape), 8 * options_.sector_bytes) + 1);
      access.sectors = access.lines = Interval::Closed(0, most);
    }
    cost->sectors = SaturatingPlus(cost->sectors, MostOf(access.sectors));
    cost->lines = SaturatingPlus(cost->lines, MostOf(access.lines));
    cost->are_requests_exact &= access.sectors.IsPoint() && access.lines.IsPoint();
  }
  AddExchanges(graph, cost);
}

}  // namespace internal

TileCost TileGraph::Cost(const TileCostOptions& options) const {
  internal::TileMeter meter(options);
  TileCost cost = meter.MeasureWithoutRequests(*this);
  meter.CountRequests(*this, &cost);
  return cost;
}

}  // namespace xla_indexing
