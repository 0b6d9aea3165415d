#include "xla_indexing/gpu/threads/emitter_launch.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/gpu/threads/mapping_builder.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// Tiles of transposes, and of columns, whatever the size of a warp.
constexpr int64_t kTile = 32;
constexpr int64_t kThreadsPerBlockTarget = 256;

// Whether a kernel with these instructions does better without vectors.
bool MayPreventVectors(const HloComputation& computation) {
  constexpr int64_t kMaxPieces = 10;
  return absl::c_any_of(computation.instructions(), [](const HloInstruction* instruction) {
    switch (instruction->opcode()) {
      case HloOpcode::kReduceWindow:
      case HloOpcode::kSort:
      case HloOpcode::kDot:
      case HloOpcode::kSine:
      case HloOpcode::kCosine:
      case HloOpcode::kTan:
      case HloOpcode::kPower:
      case HloOpcode::kAtan2:
        return true;
      case HloOpcode::kConcatenate:
        return instruction->operand_count() > kMaxPieces;
      case HloOpcode::kReduce:
        return instruction->shape().LeafCount() > 1;
      default:
        return false;
    }
  });
}

// The bits of the smallest type among the arrays of a shape, no more than `bits`.
int64_t SmallestBits(const Shape& shape, int64_t bits) {
  for (const Shape* leaf : shape.Leaves()) {
    if (leaf->IsArray()) bits = std::min<int64_t>(bits, BitWidth(leaf->element_type()));
  }
  return bits;
}

constexpr int64_t kNoInputs = std::numeric_limits<int64_t>::max();

int64_t SmallestInputBits(const HloComputation& computation) {
  int64_t bits = kNoInputs;
  for (const HloInstruction* parameter : computation.parameters()) {
    bits = SmallestBits(parameter->shape(), bits);
  }
  return bits;
}

// How many elements a thread of a reduction reads at once.
int64_t VectorWidth(const HloComputation& computation, const HloInstruction& hero,
                    int64_t minor_size, int64_t threads) {
  if (minor_size % 2 != 0 || threads > minor_size / 2) return 1;
  if (absl::c_any_of(hero.operands(), [](const HloInstruction* operand) {
        return IsComplex(operand->shape().element_type());
      })) {
    return 1;
  }
  const int64_t bits = SmallestInputBits(computation);
  if (bits >= 64) return 1;
  if (bits >= 32 || threads > minor_size / 4) return 2;
  return minor_size % 4 == 0 ? 4 : 2;
}

// The threads of rows of which several share a warp; nullopt if that is not done.
std::optional<ReductionLaunch> SeveralRowsToAWarp(const HloComputation& computation,
                                                  const JoinedReduction& reduction,
                                                  const EmitterOptions& options) {
  const int64_t row = reduction.minor;
  if (!std::has_single_bit(static_cast<uint64_t>(row))) return std::nullopt;
  const int64_t output = SmallestBits(computation.root_instruction()->shape(), kNoInputs);
  const int64_t input = SmallestInputBits(computation);
  const int64_t smallest = std::max<int64_t>(std::min(input, output), 1);
  const int64_t largest = input == kNoInputs ? output : std::max(input, output);
  // A power of two, also where that is not of a type's bits.
  int64_t width = std::max<int64_t>(64 / smallest, 1);
  if (largest >= 32) width = std::min(width, std::max<int64_t>(128 / largest, 1));
  width =
      static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::min<int64_t>(row, width))));
  const auto rows_at = [&](int64_t vector_width) {
    const int64_t at_once = std::max<int64_t>(kThreadsPerBlockTarget * vector_width / row, 1);
    return std::min(reduction.middle, at_once);
  };
  if (row > options.warp_size * width) return std::nullopt;
  while (width > 1 && CeilDiv(reduction.middle, rows_at(width)) < options.core_count) width /= 2;
  if (row > options.warp_size * width) return std::nullopt;
  return ReductionLaunch{reduction, row / width, rows_at(width), width, 0};
}

// A mapping followed by a map to another array that needs nothing but the element.
absl::StatusOr<ThreadMapping> Through(ThreadMapping mapping, const IndexingMap& map) {
  absl::StatusOr<IndexingMap> composed = ComposeIndexingMaps(mapping.map, map);
  if (!composed.ok()) return composed.status();
  composed->Simplify({.keep_variables = true});
  mapping.map = *std::move(composed);
  return mapping;
}

// The only map of the answer, from the first operand to a leaf of the result. The indexer is asked
// once, about all leaves, so that it makes no tables for questions that do not come.
absl::StatusOr<IndexingMap> MapToResult(const HloInstruction& instruction, int64_t leaf,
                                        mlir::MLIRContext* context) {
  const absl::StatusOr<SharedIndexing> entries =
      HloIndexer(context).Index(instruction, Direction::kInputToOutput);
  if (!entries.ok()) return entries.status();
  for (const IndexingEntry& entry : **entries) {
    if (entry.operand == 0 && entry.operand_leaf == 0 && entry.output_leaf == leaf &&
        entry.indexing.size() == 1) {
      return entry.indexing.begin()->map();
    }
  }
  return absl::InternalError("a reduction and a bitcast have one map");
}

// A mapping to an array of these sizes, row-major, as one to the same memory with this shape.
absl::StatusOr<ThreadMapping> Reinterpret(ThreadMapping mapping, llvm::ArrayRef<int64_t> sizes,
                                          const Shape& shape, mlir::MLIRContext* context) {
  HloModule module("reinterpret");
  HloComputation* computation = module.AddComputation("main");
  const HloInstruction* joined = computation->AddParameter(
      0, "joined",
      Shape::Array(shape.element_type(), absl::MakeConstSpan(sizes.data(), sizes.size())));
  const HloInstruction* bitcast =
      computation->AddInstruction(HloOpcode::kBitcast, "shaped", shape, {joined});
  const absl::StatusOr<IndexingMap> map = MapToResult(*bitcast, 0, context);
  if (!map.ok()) return map.status();
  return Through(std::move(mapping), *map);
}

// A mapping whose threads access, instead of one element, that many along a further dimension.
ThreadMapping WithMinorDimension(ThreadMapping mapping, int64_t size) {
  const IndexingMap& map = mapping.map;
  mlir::MLIRContext* context = map.context();
  Variables ranges(map.ranges());
  ranges.push_back({Interval::OfSize(size), mlir::StringAttr::get(context, "vec")});
  llvm::SmallVector<AffineExpr, 4> results(map.results());
  results.push_back(mlir::getAffineSymbolExpr(map.num_ranges(), context));
  mapping.vector_ranges.push_back(map.num_ranges());
  mapping.map =
      IndexingMap(kPartsFit, mlir::AffineMap::get(map.num_dims(), ranges.size(), results, context),
                  Variables(map.dims()), ranges, {}, Constraints(map.constraints()));
  return mapping;
}

// Tiles of an array of these sizes, with the lanes along its minor dimension, or along the one
// before it where threads have the whole minor dimension.
absl::StatusOr<ThreadMapping> TransposeSide(llvm::ArrayRef<int64_t> sizes, int64_t rows_dimension,
                                            bool keeps_minor, const Shape& shape,
                                            llvm::ArrayRef<int64_t> block_order,
                                            mlir::MLIRContext* context) {
  constexpr int64_t kRowsAtOnce = 4;
  const size_t rank = sizes.size() - (keeps_minor ? 1 : 0);
  const Shape joined = Shape::Array(shape.element_type(), absl::MakeConstSpan(sizes.data(), rank));
  absl::StatusOr<ThreadMapping> mapping =
      TiledTranspose(joined,
                     {.lanes = static_cast<int64_t>(rank) - 1,
                      .rows = rows_dimension,
                      .threads_per_row = kTile,
                      .rows_per_block = kRowsAtOnce,
                      .block_order = {block_order.begin(), block_order.end()}},
                     context);
  if (!mapping.ok()) return mapping;
  if (keeps_minor) mapping = WithMinorDimension(*std::move(mapping), sizes.back());
  return Reinterpret(*std::move(mapping), sizes, shape, context);
}

}  // namespace

absl::StatusOr<LoopOptions> EmitterLoop(const HloComputation& computation, const Shape& shape,
                                        Vectors vectors, const EmitterOptions& options) {
  const absl::StatusOr<int64_t> elements = NumElements(shape);
  if (!elements.ok()) return elements.status();
  int64_t unroll = 1;
  if (vectors == Vectors::kWhereTheyPay) {
    if (*elements >= options.core_count * options.threads_per_core &&
        !MayPreventVectors(computation)) {
      for (unroll = 4; *elements % unroll != 0;) unroll /= 2;
    }
    const int64_t bits = SmallestBits(computation.root_instruction()->shape(), 8);
    unroll = std::max<int64_t>(unroll, 8 / std::max<int64_t>(bits, 1));
  }
  const int64_t threads = std::clamp<int64_t>(CeilDiv(*elements, unroll), 1, 4 * options.warp_size);
  return LoopOptions{threads, unroll, unroll};
}

absl::StatusOr<ThreadMapping> TransposeReads(const JoinedTranspose& transpose, const Shape& shape,
                                             mlir::MLIRContext* context) {
  const bool keeps_minor = transpose.keeps_minor();
  const size_t lanes = transpose.permutation.size() - (keeps_minor ? 2 : 1);
  return TransposeSide(transpose.operand_sizes, transpose.permutation[lanes], keeps_minor, shape,
                       /*block_order=*/{}, context);
}

absl::StatusOr<ThreadMapping> TransposeWrites(const JoinedTranspose& transpose, const Shape& shape,
                                              mlir::MLIRContext* context) {
  const bool keeps_minor = transpose.keeps_minor();
  const auto rank = static_cast<int64_t>(transpose.permutation.size()) - (keeps_minor ? 1 : 0);
  // The dimension of the result that a dimension of the operand is.
  llvm::SmallVector<int64_t, 4> result_dimension(rank);
  for (int64_t i = 0; i < rank; ++i) result_dimension[transpose.permutation[i]] = i;
  // A block writes the tile that it has read.
  llvm::SmallVector<int64_t, 4> block_order =
      TilesInOrderOfLanes(rank, rank - 1, transpose.permutation[rank - 1]);
  for (int64_t& dimension : block_order) dimension = result_dimension[dimension];
  return TransposeSide(transpose.result_sizes(), result_dimension[rank - 1], keeps_minor, shape,
                       block_order, context);
}

ReductionLaunch EmitterReduction(const HloComputation& computation, const HloInstruction& hero,
                                 const JoinedReduction& reduction, const EmitterOptions& options) {
  ReductionLaunch launch{reduction};
  if (reduction.is_of_rows) {
    if (const auto several = SeveralRowsToAWarp(computation, reduction, options)) return *several;
    constexpr int64_t kElementsPerThread = 16;
    constexpr int64_t kMaxThreads = 1024;
    const int64_t warps = CeilDiv(CeilDiv(reduction.minor, kElementsPerThread), options.warp_size);
    launch.threads =
        std::min(kMaxThreads, CheckedMul(warps, options.warp_size).value_or(kMaxThreads));
    launch.rows = 1;
    if (launch.threads * 2 <= kThreadsPerBlockTarget) {
      launch.rows = std::min(reduction.middle, kThreadsPerBlockTarget / launch.threads);
    }
    launch.vector_width = VectorWidth(computation, hero, reduction.minor, launch.threads);
    return launch;
  }
  if (options.warp_size % reduction.minor != 0) {
    launch.vector_width = VectorWidth(computation, hero, reduction.minor, kTile);
    return launch;
  }
  constexpr int64_t kMostThreadsPerColumn = 32;
  launch.rows = 1;
  launch.threads = 128;
  launch.vector_width = VectorWidth(computation, hero, reduction.middle * reduction.minor, kTile);
  const auto per_column = [&] { return launch.vector_width * launch.threads / reduction.minor; };
  while (per_column() > kMostThreadsPerColumn && launch.vector_width > 1) launch.vector_width /= 2;
  if (per_column() > kMostThreadsPerColumn) {
    launch.threads /= per_column() / kMostThreadsPerColumn;
  }
  launch.threads_per_column = per_column();
  return launch;
}

absl::StatusOr<ThreadMapping> ReductionReads(const ReductionLaunch& launch, const Shape& shape,
                                             mlir::MLIRContext* context) {
  const JoinedReduction& reduction = launch.reduction;
  if (reduction.is_of_rows) {
    return RowReduction(shape,
                        {.row_length = reduction.minor,
                         .threads_per_row = launch.threads,
                         .rows_per_block = launch.rows,
                         .vector_width = launch.vector_width,
                         .batches = reduction.major},
                        context);
  }
  if (launch.threads_per_column > 0) {
    return RowReduction(shape,
                        {.row_length = reduction.middle * reduction.minor,
                         .threads_per_row = launch.threads,
                         .rows_per_block = 1,
                         .vector_width = launch.vector_width},
                        context);
  }
  return ColumnReduction(shape,
                         {.row_length = reduction.minor,
                          .threads_per_row = launch.threads,
                          .rows_per_block = launch.rows,
                          .vector_width = launch.vector_width,
                          .batches = reduction.major},
                         context);
}

absl::StatusOr<ThreadMapping> ReductionWrites(const ReductionLaunch& launch,
                                              const HloInstruction& hero, int64_t leaf,
                                              mlir::MLIRContext* context) {
  const JoinedReduction& reduction = launch.reduction;
  const int64_t part = reduction.middle * reduction.minor;
  MappingBuilder builder(context);
  AffineExpr offset;  // of the first element that goes into the result
  if (reduction.is_of_rows) {
    builder.Bound(builder.Thread(launch.threads), 1);
    AffineExpr row = builder.Thread(launch.rows);
    row = Add(row, Scale(builder.Block(CeilDiv(reduction.middle, launch.rows)), launch.rows));
    if (reduction.middle % launch.rows != 0) builder.Bound(row, reduction.middle);
    offset = Scale(row, reduction.minor);
  } else if (launch.threads_per_column > 0) {
    const AffineExpr thread = builder.Thread(launch.threads);
    builder.Bound(Mod(thread, launch.threads_per_column), 1);
    AffineExpr row = Scale(builder.Block(reduction.major), part);
    AffineExpr number = thread;
    if (launch.vector_width > 1) {
      number = Add(number, Scale(builder.Loop(launch.vector_width), launch.threads));
    }
    offset = Add(row, FloorDiv(number, launch.threads_per_column));
  } else {
    builder.Bound(builder.Thread(launch.threads), 1);
    const int64_t columns = launch.threads * launch.vector_width;
    const int64_t blocks_per_row = CeilDiv(reduction.minor, columns);
    AffineExpr column = Scale(builder.Thread(launch.rows), launch.vector_width);
    // The launch has as many blocks as the reads: their number fits.
    const AffineExpr block = builder.Block(blocks_per_row * reduction.major);
    const bool has_batches = reduction.major > 1;
    column = Add(column, Scale(has_batches ? Mod(block, blocks_per_row) : block, columns));
    if (launch.vector_width > 1) column = Add(column, builder.Vector(launch.vector_width));
    if (reduction.minor % columns != 0) builder.Bound(column, reduction.minor);
    offset = column;
    if (has_batches) offset = Add(offset, Scale(FloorDiv(block, blocks_per_row), part));
  }
  absl::StatusOr<ThreadMapping> mapping = BuildLinear(hero.operand(0)->shape(), offset, &builder);
  if (!mapping.ok()) return mapping;
  const absl::StatusOr<IndexingMap> to_result = MapToResult(hero, leaf, context);
  if (!to_result.ok()) return to_result.status();
  return Through(*std::move(mapping), *to_result);
}

absl::StatusOr<llvm::SmallVector<ThreadMapping, 4>> ConcatenateMappings(
    const HloComputation& computation, const HloInstruction& concatenate,
    const EmitterOptions& options, mlir::MLIRContext* context) {
  const int64_t dim = concatenate.dimensions()[0];
  // The elements that are contiguous in the result and in each piece, as far as the dimensions go
  // row by row.
  const auto contiguous = [&](const Shape& shape) {
    int64_t elements = 1;
    for (int64_t d = dim; d < shape.rank(); ++d) elements *= shape.dimension(d);
    return elements;
  };
  const Shape* largest = &concatenate.operand(0)->shape();
  int64_t common = 0;
  for (const HloInstruction* piece : concatenate.operands()) {
    const absl::StatusOr<int64_t> elements = NumElements(piece->shape());
    if (!elements.ok()) return elements.status();
    if (piece->shape().dimension(dim) > largest->dimension(dim)) largest = &piece->shape();
    if (*elements > 0) common = std::gcd(common, contiguous(piece->shape()));
  }
  absl::StatusOr<LoopOptions> loop =
      EmitterLoop(computation, *largest, Vectors::kWhereTheyPay, options);
  if (!loop.ok()) return loop.status();
  const int64_t unroll = std::gcd(loop->vector_width, common);
  if (unroll != loop->vector_width) {
    loop->elements_per_thread = loop->vector_width = unroll;
    loop->threads_per_block = std::clamp<int64_t>(
        CeilDiv(NumElements(*largest).value_or(0), unroll), 1, 4 * options.warp_size);
  }
  const absl::StatusOr<ThreadMapping> of_largest = RowMajorLoop(*largest, *loop, context);
  if (!of_largest.ok()) return of_largest.status();
  llvm::SmallVector<ThreadMapping, 4> mappings;
  for (const HloInstruction* piece : concatenate.operands()) {
    ThreadMapping mapping = *of_largest;
    const int64_t size = piece->shape().dimension(dim);
    if (size < largest->dimension(dim)) {
      mapping.map.AddConstraint(kPartsFit, mapping.map.results()[dim], Interval::OfSize(size));
    }
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

}  // namespace xla_indexing::internal
