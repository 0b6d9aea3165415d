#include "xla_indexing/ops/rules/arithmetic/contraction.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/rules/frame/builders.h"
#include "xla_indexing/ops/rules/frame/loop_nest.h"
#include "xla_indexing/ops/values/fold_runtime.h"

namespace xla_indexing::internal {
namespace {

// The loop of a nest that each loop of the contraction is; kNoLoop where the operand does not
// depend on it.
constexpr Loop kNoLoop = -1;
using NestLoops = llvm::SmallVector<Loop, 2>;

LoopNests NestsOf(const BuildContext& build, int64_t output_leaf, int64_t operand) {
  return IndexingOfOpcode(build.instruction.opcode()).nests(build, output_leaf, operand);
}

// The loops that run over these axes of a nest's operand.
NestLoops LoopsOfAxes(const LoopNest& nest, absl::Span<const int64_t> axes) {
  NestLoops loops;
  for (const int64_t axis : axes) {
    const bool is_there = axis < static_cast<int64_t>(nest.operand.size());
    loops.push_back(is_there ? nest.operand[axis].loop : kNoLoop);
  }
  return loops;
}

llvm::SmallVector<int64_t, 4> ReducedDimensions(const HloInstruction& reduce) {
  llvm::SmallVector<int64_t, 4> dims(reduce.dimensions().begin(), reduce.dimensions().end());
  llvm::sort(dims);
  return dims;
}

// Input features, then spatial dimensions of the kernel.
llvm::SmallVector<int64_t, 4> KernelAxes(const HloInstruction& convolution) {
  const ConvolutionDimensionNumbers& dims = *convolution.convolution_dimension_numbers();
  llvm::SmallVector<int64_t, 4> axes = {dims.kernel_input_feature};
  axes.append(dims.kernel_spatial.begin(), dims.kernel_spatial.end());
  return axes;
}

bool IsRaggedInLoops(const HloInstruction& dot) {
  return dot.opcode() == HloOpcode::kRaggedDot &&
         !absl::c_linear_search(dot.dot_dimension_numbers().lhs_batch_dims,
                                dot.GetIntegers(AttributeKey::kLhsRaggedDims).front());
}

NestLoops LoopsOfNest(const BuildContext& build, int64_t output_leaf, int64_t operand,
                      const LoopNest& nest) {
  const HloInstruction& instruction = build.instruction;
  switch (instruction.opcode()) {
    case HloOpcode::kRaggedDot:
      // One numbering of loops for all operands, of which the sizes are the third.
      if (IsRaggedInLoops(instruction)) {
        return LoopsOfAxes(NestsOf(build, output_leaf, 0).front(),
                           instruction.dot_dimension_numbers().lhs_contracting_dims);
      }
      [[fallthrough]];
    case HloOpcode::kDot:
    case HloOpcode::kScaledDot: {
      const DotDimensionNumbers numbers = instruction.dot_dimension_numbers();
      return LoopsOfAxes(
          nest, operand % 2 == 0 ? numbers.lhs_contracting_dims : numbers.rhs_contracting_dims);
    }
    case HloOpcode::kConvolution: {
      const LoopNest kernel = NestsOf(build, output_leaf, 1).front();
      const NestLoops loops = LoopsOfAxes(kernel, KernelAxes(instruction));
      // A whole operand is read in loops of its own.
      return nest.loops == kernel.loops ? loops : NestLoops(loops.size(), kNoLoop);
    }
    case HloOpcode::kReduce: {
      const llvm::SmallVector<int64_t, 4> dims = ReducedDimensions(instruction);
      if (operand < instruction.operand_count() / 2) return LoopsOfAxes(nest, dims);
      return NestLoops(dims.size(), kNoLoop);
    }
    case HloOpcode::kReduceWindow: {
      NestLoops loops;
      for (int64_t k = 0; k < build.Output(output_leaf).rank(); ++k) {
        const bool is_read = operand < instruction.operand_count() / 2 &&
                             nest.operand[k].kind == NestAxis::Kind::kOnWindow;
        loops.push_back(is_read ? nest.operand[k].inner : kNoLoop);
      }
      return loops;
    }
    default:
      return {};
  }
}

// A map from the result, as one from its step space in which nothing depends on the steps.
OperandIndexing AtAnyStep(const OperandIndexing& indexing, llvm::ArrayRef<int64_t> loops) {
  if (indexing.IsUnknown()) return indexing;
  const IndexingMap& map = indexing.map();
  Variables dims(map.dims());
  // An operand that is read although there is no step is read at one step.
  for (const int64_t size : loops) {
    dims.push_back({Interval::OfSize(std::max<int64_t>(size, 1)), {}});
  }
  const auto affine_map =
      mlir::AffineMap::get(dims.size(), map.num_symbols(), map.results(), map.context());
  OperandIndexing widened(
      kPartsFit,
      IndexingMap(kPartsFit, affine_map, std::move(dims), Variables(map.ranges()),
                  Variables(map.runtimes()), Constraints(map.constraints())),
      RuntimeVarIndexings(indexing.bindings().begin(), indexing.bindings().end()),
      indexing.label());
  if (indexing.replica_map() != nullptr) widened.SetReplicaMap(kPartsFit, *indexing.replica_map());
  return widened;
}

// What a step of a scan reads: where a map's one range variable is the index along the scanned
// dimension, the step is its value.
OperandIndexing ScanStep(const HloInstruction& scan, const OperandIndexing& indexing,
                         int64_t steps) {
  const IndexingMap& map = indexing.map();
  const int64_t dim = scan.dimensions().front();
  const bool has_step = !indexing.IsUnknown() && map.num_symbols() == 1 && map.num_ranges() == 1 &&
                        indexing.replica_map() == nullptr && dim < map.num_results() &&
                        map.results()[dim] == mlir::getAffineSymbolExpr(0, map.context()) &&
                        map.ranges()[0].bounds.IsSubsetOf(Interval::OfSize(steps));
  if (!has_step) return AtAnyStep(indexing, {steps});
  return OperandIndexing(kPartsFit, map.ConvertRangeVariablesToDimensions(), {}, indexing.label());
}

}  // namespace

llvm::SmallVector<int64_t, 2> ContractionLoops(const HloInstruction& instruction) {
  llvm::SmallVector<int64_t, 2> sizes;
  switch (instruction.opcode()) {
    case HloOpcode::kDot:
    case HloOpcode::kScaledDot:
    case HloOpcode::kRaggedDot:
      for (const int64_t dim : instruction.dot_dimension_numbers().lhs_contracting_dims) {
        sizes.push_back(instruction.operand(0)->shape().dimension(dim));
      }
      break;
    case HloOpcode::kConvolution:
      for (const int64_t axis : KernelAxes(instruction)) {
        sizes.push_back(instruction.operand(1)->shape().dimension(axis));
      }
      break;
    case HloOpcode::kReduce:
      for (const int64_t dim : ReducedDimensions(instruction)) {
        sizes.push_back(instruction.operand(0)->shape().dimension(dim));
      }
      break;
    case HloOpcode::kReduceWindow:
      for (const WindowDimension& window : WindowOf(instruction)) sizes.push_back(window.size);
      break;
    case HloOpcode::kScan:
      sizes.push_back(instruction.operand(0)->shape().dimension(instruction.dimensions().front()));
      break;
    default:
      break;
  }
  // The size of what has no bound is negative.
  const auto has_end = [](int64_t size) { return size >= 0; };
  const auto is_bounded = [&](const Shape& shape) {
    return !shape.IsArray() || llvm::all_of(shape.dimensions(), has_end);
  };
  const bool all_end = llvm::all_of(sizes, has_end) && is_bounded(instruction.shape()) &&
                       llvm::all_of(instruction.operands(), [&](const HloInstruction* operand) {
                         return is_bounded(operand->shape());
                       });
  return all_end ? sizes : llvm::SmallVector<int64_t, 2>();
}

InstructionIndexing ContractionSteps(const HloInstruction& instruction,
                                     const InstructionIndexing& entries, mlir::MLIRContext* context,
                                     const IndexingOptions& options) {
  const llvm::SmallVector<int64_t, 2> sizes = ContractionLoops(instruction);
  const BuildContext build{instruction, context, options};
  InstructionIndexing steps;
  for (const IndexingEntry& entry : entries) {
    OperandIndexingSet maps;
    if (instruction.opcode() == HloOpcode::kScan) {
      for (const OperandIndexing& map : entry.indexing) {
        AddUnlessEmpty(ScanStep(instruction, map, sizes.front()), &maps);
      }
    } else {
      for (const LoopNest& nest : NestsOf(build, entry.output_leaf, entry.operand)) {
        if (nest.IsEmpty()) continue;
        const NestLoops loops = LoopsOfNest(build, entry.output_leaf, entry.operand, nest);
        // Loops that the operand does not depend on are added to the nest, with a step at least.
        LoopNest with_all = nest;
        NestLoops all;
        for (size_t k = 0; k < sizes.size(); ++k) {
          all.push_back(loops[k] == kNoLoop ? with_all.AddLoop(std::max<int64_t>(sizes[k], 1))
                                            : loops[k]);
        }
        AddUnlessEmpty(LoopStepToInputOfNest(with_all, all, build.Output(entry.output_leaf),
                                             build.Operand(entry.operand), context),
                       &maps);
      }
    }
    if (options.fold_runtime_variables && HasRuntimeVariables(maps)) {
      maps = FoldRuntimeVariables(maps);
    }
    maps.Simplify();
    if (maps.empty()) continue;
    steps.push_back({entry.output_leaf, entry.operand, entry.operand_leaf, std::move(maps)});
  }
  return steps;
}

}  // namespace xla_indexing::internal
