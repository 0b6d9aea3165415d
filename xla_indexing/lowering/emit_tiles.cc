#include "xla_indexing/lowering/emit_tiles.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/status_macros.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/lowering/elements/element_types.h"
#include "xla_indexing/lowering/elements/elementwise_ops.h"
#include "xla_indexing/lowering/fusion/element_reader.h"
#include "xla_indexing/lowering/fusion/function_frame.h"
#include "xla_indexing/lowering/fusion/memory_plan.h"
#include "xla_indexing/lowering/fusion/tile_placer.h"
#include "xla_indexing/lowering/index/apply_indexing.h"
#include "xla_indexing/lowering/index/emit_loop_nest.h"
#include "xla_indexing/map/common_maps.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/tiling/kernel/tile_graph.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"

namespace xla_indexing {
namespace {

using internal::ArrayValue;
using internal::ComputedBy;
using internal::ElementPlace;
using internal::ElementReader;
using internal::PlacedTile;
using internal::StepPlaces;
using internal::TileInMemory;
using mlir::AffineExpr;
using mlir::Value;

class TileEmitter {
 public:
  TileEmitter(const HloComputation& original, const FusionView& view, const TileGraph& graph,
              mlir::MLIRContext* context)
      : original_(original),
        view_(view),
        graph_(graph),
        frame_(original, context),
        builder_(frame_.builder()),
        reader_(builder_),
        placer_(graph, builder_, reader_),
        states_(graph.nodes().size(), PlacedTile(context)),
        num_uses_(graph.nodes().size()),
        is_running_(graph.regions().size()) {
    for (const TileNode& node : graph_.nodes()) {
      for (const TileNode::Operand& operand : node.operands) ++num_uses_[operand.node];
    }
  }

  absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> Emit() {
    XLA_INDEXING_RETURN_IF_ERROR(frame_.Begin());
    XLA_INDEXING_RETURN_IF_ERROR(
        internal::PlaceParameters(original_, view_, frame_.arguments(), &reader_));
    for (const HloInstruction* instruction : view_.computation().instructions()) {
      if (instruction->opcode() != HloOpcode::kConstant || internal::IsOfNothing(*instruction)) {
        continue;
      }
      const absl::StatusOr<Value> memory = frame_.AddConstant(*instruction);
      if (!memory.ok()) return internal::Named(*instruction, memory.status());
      reader_.SetMemory({instruction, 0}, *memory);
    }
    const Value zero = Index(0);
    indices_.assign(graph_.space().num_dims(), zero);
    for (size_t i = 0; i < graph_.regions().size(); ++i) {
      if (graph_.regions()[i].parent >= 0) continue;
      XLA_INDEXING_RETURN_IF_ERROR(EmitGrid(static_cast<int>(i)));
      indices_.assign(graph_.space().num_dims(), zero);
    }
    return frame_.Finish();
  }

 private:
  Value Index(int64_t value) { return mlir::arith::ConstantIndexOp::create(builder_, value); }

  // The programs of a grid.
  absl::Status EmitGrid(int number) {
    const TileRegion& region = graph_.regions()[number];
    const mlir::OpBuilder::InsertionGuard back(builder_);
    llvm::SmallVector<mlir::OpFoldResult, 4> trip_counts;
    for (const int64_t count : region.trip_counts) {
      trip_counts.push_back(builder_.getIndexAttr(count));
    }
    if (!trip_counts.empty()) {
      auto programs =
          mlir::scf::ForallOp::create(builder_, trip_counts, mlir::ValueRange(), std::nullopt);
      for (const auto [dim, index] : llvm::zip(region.dims, programs.getInductionVars())) {
        indices_[dim] = index;
      }
      builder_.setInsertionPointToStart(programs.getBody());
    }
    temporaries_.clear();
    XLA_INDEXING_RETURN_IF_ERROR(Allocate(number));
    XLA_INDEXING_RETURN_IF_ERROR(AllocateMaxima(number));
    XLA_INDEXING_RETURN_IF_ERROR(EmitSteps(number));
    for (const Value temporary : temporaries_) {
      mlir::memref::DeallocOp::create(builder_, temporary);
    }
    return absl::OkStatus();
  }

  int GridOf(int region) const {
    while (graph_.regions()[region].parent >= 0) region = graph_.regions()[region].parent;
    return region;
  }

  // The memory of the tiles of a grid.
  absl::Status Allocate(int grid) {
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const TileNode& node = graph_.nodes()[i];
      if (GridOf(node.region) != grid || !HasTile(static_cast<int>(i))) continue;
      Value& memory = states_[i].tile.memory;
      if (!Accumulates(node)) {
        XLA_INDEXING_ASSIGN_OR_RETURN(memory, AllocateTile(node, node.leaf));
        continue;
      }
      // Accumulators are there for all leaves of a contraction, also for those that nothing reads.
      MlirValues& sums = sums_[FirstLeaf(static_cast<int>(i))];
      const int64_t num_leaves = node.instruction->shape().LeafCount();
      for (auto leaf = static_cast<int64_t>(sums.size()); leaf < num_leaves; ++leaf) {
        XLA_INDEXING_ASSIGN_OR_RETURN(const Value tile, AllocateTile(node, leaf));
        sums.push_back(tile);
      }
      memory = sums[node.leaf];
    }
    return absl::OkStatus();
  }

  // What belongs to the maxima of loops in one pass.
  absl::Status AllocateMaxima(int grid) {
    for (const auto [number, region] : llvm::enumerate(graph_.regions())) {
      if (GridOf(static_cast<int>(number)) != grid) continue;
      for (const TileRescale& rescale : region.rescales) {
        if (rescale.kind != TileRescale::Kind::kMaximum || maxima_.contains(rescale.by)) continue;
        const TileNode& node = graph_.nodes()[rescale.by];
        const ElementType type = node.instruction->shape().Leaf(node.leaf).element_type();
        XLA_INDEXING_ASSIGN_OR_RETURN(const Value finite, AllocateTile(node, type));
        // A sum is multiplied by many of them.
        XLA_INDEXING_ASSIGN_OR_RETURN(
            const Value factors,
            AllocateTile(node, BitWidth(type) < 32 ? ElementType::kF32 : type));
        maxima_[rescale.by] = {static_cast<int>(number), finite, factors};
      }
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Value> AllocateTile(const TileNode& node, int64_t leaf) {
    return AllocateTile(node, node.instruction->shape().Leaf(leaf).element_type());
  }
  absl::StatusOr<Value> AllocateTile(const TileNode& node, ElementType type) {
    const auto memory =
        internal::MemoryType(Shape::Array(type, graph_.tile(node).sizes), builder_.getContext());
    if (!memory.ok()) return internal::Named(*node.instruction, memory.status());
    temporaries_.push_back(mlir::memref::AllocOp::create(builder_, *memory));
    return temporaries_.back();
  }

  // Contractions, and sums over no dimension, as of a dot that multiplies each element with each.
  static bool Accumulates(const TileNode& node) {
    return node.IsContraction() || internal::IsSumOfMany(*node.instruction);
  }

  // Whether a node has memory of its own: what is only stored goes to the result at once.
  bool HasTile(int node) const {
    return !internal::IsOfNothing(*graph_.nodes()[node].instruction) &&
           (num_uses_[node] > 0 || Accumulates(graph_.nodes()[node]));
  }

  absl::Status EmitLoop(int number) {
    const TileRegion& region = graph_.regions()[number];
    auto loop =
        mlir::scf::ForOp::create(builder_, Index(0), Index(region.trip_counts.front()), Index(1));
    const mlir::OpBuilder::InsertionGuard back(builder_);
    builder_.setInsertionPointToStart(loop.getBody());
    const Value outside = std::exchange(indices_[region.dims.front()], loop.getInductionVar());
    is_running_[number] = true;
    absl::Status status = EmitSteps(number);
    is_running_[number] = false;
    indices_[region.dims.front()] = outside;
    return status;
  }

  // A contraction begins before its outermost loop, and takes its steps at the end of each iteration of the
  // innermost one, or where the graph says so.
  absl::Status EmitSteps(int number) {
    const TileRegion& region = graph_.regions()[number];
    bool takes_steps = true;
    for (const TileRegion::Step& step : region.steps) {
      if (step.is_region) {
        takes_steps &= graph_.regions()[step.index].accumulators != region.accumulators;
        XLA_INDEXING_RETURN_IF_ERROR(EmitInner(step.index));
        continue;
      }
      takes_steps &= !step.is_accumulation;
      XLA_INDEXING_RETURN_IF_ERROR(NamedAs(
          step.index, step.is_accumulation ? Accumulate(step.index) : EmitNode(step.index)));
    }
    for (const int node : region.accumulators) {
      if (!takes_steps || FirstLeaf(node) != node) continue;
      XLA_INDEXING_RETURN_IF_ERROR(NamedAs(node, Accumulate(node)));
    }
    return absl::OkStatus();
  }

  absl::Status EmitInner(int number) {
    for (const int node : graph_.regions()[number].accumulators) {
      if (graph_.nodes()[node].loop != number || FirstLeaf(node) != node) continue;
      XLA_INDEXING_RETURN_IF_ERROR(NamedAs(node, Begin(node)));
    }
    XLA_INDEXING_RETURN_IF_ERROR(EmitLoop(number));
    for (const auto kind : {TileRescale::Kind::kMaximum, TileRescale::Kind::kDivisor}) {
      for (const TileRescale& rescale : graph_.regions()[number].rescales) {
        if (rescale.kind != kind) continue;
        XLA_INDEXING_RETURN_IF_ERROR(NamedAs(rescale.accumulator, Finish(rescale)));
      }
    }
    return absl::OkStatus();
  }

  absl::Status NamedAs(int node, const absl::Status& status) const {
    return internal::Named(*graph_.nodes()[node].instruction, status);
  }

  absl::Status EmitNode(int number) {
    const TileNode& node = graph_.nodes()[number];
    if (!HasTile(number) && !IsStored(number)) return absl::OkStatus();
    if (!Accumulates(node)) {
      XLA_INDEXING_RETURN_IF_ERROR(placer_.Place(node, indices_, &states_[number]));
      return Compute(number);
    }
    // All leaves of one contraction are computed, and placed, with the first that is reached.
    const int first = FirstLeaf(number);
    if (node.loop < 0 && !states_[first].is_active) {
      XLA_INDEXING_RETURN_IF_ERROR(Begin(first));
      XLA_INDEXING_RETURN_IF_ERROR(Accumulate(first));
    }
    if (first != number) {
      const Value memory = states_[number].tile.memory;
      states_[number] = states_[first];
      states_[number].tile.memory = memory;
    }
    if (!IsStored(number)) return absl::OkStatus();
    return ForEachElement(number, [&](const ElementPlace& place, mlir::ValueRange position) {
      return StoreResults(
          number, place,
          mlir::memref::LoadOp::create(builder_, states_[number].tile.memory, position));
    });
  }

  // --- Tiles ---

  bool IsStored(int node) const {
    return llvm::any_of(graph_.stores(),
                        [&](const TileStore& store) { return store.node == node; });
  }

  // Emits something for each element of a node's tile, from its place and its position in the tile.
  absl::Status ForEachElement(
      int number, absl::FunctionRef<absl::Status(const ElementPlace&, mlir::ValueRange)> emit) {
    const PlacedTile& state = states_[number];
    llvm::SmallVector<int, 4> positions(state.elements.num_ranges());
    std::iota(positions.begin(), positions.end(), 0);
    XLA_INDEXING_ASSIGN_OR_RETURN(IndexingMap places,
                                  RangesToDimensions(state.elements, positions));
    const auto body = [&](mlir::ValueRange ranges, mlir::ValueRange) -> absl::StatusOr<MlirValues> {
      MlirValues values = state.tile.arguments;
      values.append(ranges.begin(), ranges.end());
      XLA_INDEXING_RETURN_IF_ERROR(emit({places, std::move(values)}, ranges));
      return MlirValues();
    };
    return EmitIf(builder_, builder_.getLoc(), state.is_active, {},
                  [&] {
                    return EmitLoopNest(builder_, builder_.getLoc(), state.elements,
                                        state.tile.arguments, {}, {}, body);
                  })
        .status();
  }

  // Reads of a node's instruction are from the tiles of the node's operands.
  void ReadOperandsOf(int number) {
    const TileNode& node = graph_.nodes()[number];
    ElementReader::Tiles tiles;
    absl::flat_hash_map<ArrayValue, std::vector<int>> operands;
    for (const TileNode::Operand& operand : node.operands) {
      const ArrayValue array =
          ComputedBy({node.instruction->operand(operand.operand), operand.leaf});
      std::vector<int>& known = operands[array];
      if (!HasTile(operand.node) || llvm::is_contained(known, operand.node)) continue;
      known.push_back(operand.node);
      tiles[array].push_back(states_[operand.node].tile);
      const auto maximum = maxima_.find(operand.node);
      if (maximum != maxima_.end() && is_running_[maximum->second.loop]) {
        tiles[array].back().memory = maximum->second.finite;
      }
    }
    // Which of several tiles has an element is known where each has all within its bounds. Otherwise a
    // parameter is read in its own memory.
    for (const auto& [array, known] : operands) {
      const auto is_filled = [&](int operand) { return IsFilled(graph_.nodes()[operand]); };
      if (known.size() > 1 && !llvm::all_of(known, is_filled)) tiles.erase(array);
    }
    reader_.ReadFromTiles(std::move(tiles), MayReadMore(node));
  }

  // Whether elements of a node may be computed that nothing reads, and whose operands are elsewhere.
  bool MayReadMore(const TileNode& node) const {
    return !node.is_exact || !graph_.ActiveTiles(node).is_all_active;
  }
  // Whether all elements of a tile within its bounds have their values.
  bool IsFilled(const TileNode& node) const {
    const MaskedTile& tile = graph_.tile(node);
    return !MayReadMore(node) && tile.runtimes.empty() &&
           llvm::all_of(tile.moved_bounds, [](const Interval& b) { return b.IsAll(); });
  }

  // --- Values ---

  absl::Status Compute(int number) {
    const TileNode& node = graph_.nodes()[number];
    ArrayValue array = ComputedBy({node.instruction, node.leaf});
    if (node.passes_on) {
      const TileNode::Operand& operand = node.operands.front();
      array = ComputedBy({node.instruction->operand(operand.operand), operand.leaf});
    }
    const bool is_load = array.instruction == node.instruction && reader_.MemoryOf(array);
    if (is_load) {
      reader_.ReadFromMemory();
    } else {
      ReadOperandsOf(number);
    }
    return ForEachElement(
        number, [&](const ElementPlace& place, mlir::ValueRange position) -> absl::Status {
          XLA_INDEXING_ASSIGN_OR_RETURN(const Value value,
                                        is_load || array.instruction != node.instruction
                                            ? reader_.Read(array, place)
                                            : reader_.Compute(*array.instruction, place));
          if (HasTile(number)) {
            mlir::memref::StoreOp::create(builder_, value, states_[number].tile.memory, position);
          }
          return StoreResults(number, place, value);
        });
  }

  // Stores an element where its node is a result, once for each tile.
  absl::Status StoreResults(int number, const ElementPlace& place, Value value) {
    for (const TileStore& store : graph_.stores()) {
      if (store.node != number) continue;
      XLA_INDEXING_ASSIGN_OR_RETURN(const MlirValues element, reader_.IndexOf(place));
      const Value result = frame_.results()[graph_.space().roots()[store.root].leaf];
      mlir::memref::StoreOp::create(builder_, value, result, element);
    }
    return absl::OkStatus();
  }

  // --- Contractions ---

  // The first node of those that are accumulated together: leaves of one contraction, with one tile.
  int FirstLeaf(int number) const {
    const TileNode& node = graph_.nodes()[number];
    for (int i = 0; i < number; ++i) {
      const TileNode& other = graph_.nodes()[i];
      if (other.instruction == node.instruction && other.region == node.region &&
          other.tile == node.tile && other.loop == node.loop) {
        return i;
      }
    }
    return number;
  }

  // What the node begins with, in the accumulators of all leaves.
  absl::Status Begin(int number) {
    const TileNode& node = graph_.nodes()[number];
    if (!internal::IsSumOfMany(*node.instruction)) {
      return internal::NotLoweredInstruction(*node.instruction);
    }
    XLA_INDEXING_RETURN_IF_ERROR(placer_.Place(node, indices_, &states_[number]));
    ReadOperandsOf(number);
    XLA_INDEXING_ASSIGN_OR_RETURN(const MlirValues inits, reader_.ReadInits(*node.instruction));
    return ForEachElement(number, [&](const ElementPlace&, mlir::ValueRange position) {
      StoreSums(number, inits, position);
      return absl::OkStatus();
    });
  }

  void StoreSums(int number, const MlirValues& sums, mlir::ValueRange position) {
    for (const auto [sum, memory] : llvm::zip(sums, sums_[number])) {
      mlir::memref::StoreOp::create(builder_, sum, memory, position);
    }
  }

  // The steps of the present tiles of the combined dimensions.
  absl::Status Accumulate(int number) {
    const TileNode& node = graph_.nodes()[number];
    const auto maximum = maxima_.find(number);
    return ForEachElement(
        number, [&](const ElementPlace& place, mlir::ValueRange position) -> absl::Status {
          XLA_INDEXING_ASSIGN_OR_RETURN(const StepPlaces steps, StepsOf(node, place));
          MlirValues sums;
          for (const Value memory : sums_[number]) {
            sums.push_back(mlir::memref::LoadOp::create(builder_, memory, position));
          }
          XLA_INDEXING_RETURN_IF_ERROR(Rescale(number, place, &sums));
          ReadOperandsOf(number);
          XLA_INDEXING_ASSIGN_OR_RETURN(const MlirValues next,
                                        reader_.AddSteps(*node.instruction, steps, sums));
          StoreSums(number, next, position);
          if (maximum != maxima_.end()) {
            StoreGrowth(maximum->second, sums.front(), next.front(), position);
          }
          return absl::OkStatus();
        });
  }

  // --- One pass (TileRescale) ---

  // Where a maximum is -inf, 0 is subtracted from what it is the maximum of.
  struct Maximum {
    int loop = 0;   // a region
    Value finite;   // the maximum so far, 0 for -inf
    Value factors;  // exp(the maximum before this step - finite)
  };

  // What is corrected is a float.
  Value Combine(HloOpcode opcode, Value a, Value b, mlir::Type result) {
    return internal::EmitBinary(builder_, opcode, ElementType::kF32, a, b, result);
  }

  Value IsMinusInfinity(Value value) {
    const auto type = llvm::cast<mlir::FloatType>(value.getType());
    const Value infinity = mlir::arith::ConstantFloatOp::create(
        builder_, type, llvm::APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true));
    return mlir::arith::CmpFOp::create(builder_, mlir::arith::CmpFPredicate::OEQ, value, infinity);
  }

  void StoreGrowth(const Maximum& maximum, Value before, Value now, mlir::ValueRange position) {
    const Value zero = internal::EmitZero(builder_, now.getType());
    const Value finite = mlir::arith::SelectOp::create(builder_, IsMinusInfinity(now), zero, now);
    const mlir::Type type =
        llvm::cast<mlir::MemRefType>(maximum.factors.getType()).getElementType();
    const Value growth = Combine(HloOpcode::kSubtract, before, finite, type);
    mlir::memref::StoreOp::create(builder_, finite, maximum.finite, position);
    mlir::memref::StoreOp::create(builder_, mlir::math::ExpOp::create(builder_, growth),
                                  maximum.factors, position);
  }

  // The element of an accumulator that another one is corrected by, in the same loop.
  absl::StatusOr<Value> ReadBy(const TileRescale& rescale, const ElementPlace& place,
                               Value memory) {
    const TileNode& by = graph_.nodes()[rescale.by];
    XLA_INDEXING_ASSIGN_OR_RETURN(IndexingMap element,
                                  ComposeIndexingMaps(place.map, rescale.elements));
    element.Simplify();
    const ArrayValue array = ComputedBy({by.instruction, by.leaf});
    TileInMemory tile = states_[rescale.by].tile;
    tile.memory = memory;
    ElementReader::Tiles tiles;
    tiles[array].push_back(std::move(tile));
    reader_.ReadFromTiles(std::move(tiles), MayReadMore(graph_.nodes()[rescale.accumulator]));
    return reader_.Read(array, {std::move(element), place.values});
  }

  // Multiplies the sums by how much the maximum has grown in this step.
  absl::Status Rescale(int number, const ElementPlace& place, MlirValues* sums) {
    const int loop = graph_.nodes()[number].loop;
    if (loop < 0) return absl::OkStatus();
    for (const TileRescale& rescale : graph_.regions()[loop].rescales) {
      if (rescale.accumulator != number || rescale.kind != TileRescale::Kind::kMaximum) continue;
      XLA_INDEXING_ASSIGN_OR_RETURN(const Value factor,
                                    ReadBy(rescale, place, maxima_[rescale.by].factors));
      for (Value& sum : *sums) {
        sum = Combine(HloOpcode::kMultiply, sum, factor, sum.getType());
      }
    }
    return absl::OkStatus();
  }

  // After the loop: sums of rows without any value are NaN, others are divided by their divisors.
  absl::Status Finish(const TileRescale& rescale) {
    const Value memory = states_[rescale.accumulator].tile.memory;
    return ForEachElement(
        rescale.accumulator,
        [&](const ElementPlace& place, mlir::ValueRange position) -> absl::Status {
          XLA_INDEXING_ASSIGN_OR_RETURN(const Value by,
                                        ReadBy(rescale, place, states_[rescale.by].tile.memory));
          Value sum = mlir::memref::LoadOp::create(builder_, memory, position);
          if (rescale.kind == TileRescale::Kind::kDivisor) {
            sum = Combine(HloOpcode::kDivide, sum, by, sum.getType());
          } else {
            const auto type = llvm::cast<mlir::FloatType>(sum.getType());
            const Value nan = mlir::arith::ConstantFloatOp::create(
                builder_, type, llvm::APFloat::getNaN(type.getFloatSemantics()));
            sum = mlir::arith::SelectOp::create(builder_, IsMinusInfinity(by), nan, sum);
          }
          mlir::memref::StoreOp::create(builder_, sum, memory, position);
          return absl::OkStatus();
        });
  }

  // Step j of tile k of a dimension with tiles of t is k * t + j.
  absl::StatusOr<StepPlaces> StepsOf(const TileNode& node, const ElementPlace& place) {
    mlir::MLIRContext* context = builder_.getContext();
    StepPlaces steps = {place, static_cast<int>(node.combined_dims.size())};
    Variables dims(place.map.dims());
    MlirValues values = place.values;
    llvm::SmallVector<AffineExpr, 8> points(place.map.results());
    // The tile indices that the node began with are not those of its loops.
    llvm::SmallVector<AffineExpr, 4> tile_of;
    for (const int dim : node.combined_dims) {
      if (dim < 0 || graph_.num_tiles()[dim] <= 1) {
        tile_of.push_back(mlir::getAffineConstantExpr(0, context));
        continue;
      }
      tile_of.push_back(mlir::getAffineDimExpr(dims.size(), context));
      dims.push_back({Interval::OfSize(graph_.num_tiles()[dim]), {}});
      values.push_back(indices_[dim]);
    }
    for (const auto [i, dim] : llvm::enumerate(node.combined_dims)) {
      const int64_t size =
          dim < 0 ? 1 : std::min(graph_.sizes()[dim], graph_.space().dims()[dim].size);
      const AffineExpr first = internal::Scale(tile_of[i], dim < 0 ? 1 : graph_.sizes()[dim]);
      const AffineExpr step =
          first ? internal::Add(first, mlir::getAffineDimExpr(dims.size(), context)) : first;
      if (!step) return absl::OutOfRangeError("a step exceeds 64 bits");
      points.push_back(step);
      dims.push_back({Interval::OfSize(size), {}});
    }
    const int num_dims = static_cast<int>(dims.size());
    steps.place = {IndexingMap(kPartsFit, mlir::AffineMap::get(num_dims, 0, points, context),
                               std::move(dims), {}, {}, Constraints(place.map.constraints())),
                   std::move(values)};
    return steps;
  }

  const HloComputation& original_;
  const FusionView& view_;
  const TileGraph& graph_;
  internal::FunctionFrame frame_;
  mlir::ImplicitLocOpBuilder& builder_;
  ElementReader reader_;
  internal::TilePlacer placer_;
  std::vector<PlacedTile> states_;             // by node
  std::vector<int> num_uses_;                  // by node: as an operand
  std::vector<bool> is_running_;               // by region: whether its body is emitted
  absl::flat_hash_map<int, MlirValues> sums_;  // by the first leaf of a contraction: accumulators
  absl::flat_hash_map<int, Maximum> maxima_;   // by node
  MlirValues indices_;      // the present tile indices, by dimension of the space
  MlirValues temporaries_;  // of this grid
};

}  // namespace

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> EmitTiles(const HloComputation& computation,
                                                            ChooseTiling choose,
                                                            mlir::MLIRContext* context,
                                                            TiledLoops loops) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const FusionView view, FusionView::OfComputation(computation));
  XLA_INDEXING_ASSIGN_OR_RETURN(const TiledComputation tiled,
                                TiledComputation::Create(view.computation(), context, {}, loops));
  XLA_INDEXING_ASSIGN_OR_RETURN(const Tiling tiling, choose(tiled));
  XLA_INDEXING_ASSIGN_OR_RETURN(const TileGraph graph, tiled.Instantiate(tiling));
  return TileEmitter(computation, view, graph, context).Emit();
}

}  // namespace xla_indexing
