// What the operations of a function on tensors read, which tiles are good for them, and which to fuse.
//
//   linalg_maps FILE
//
// For each operation of linalg in the first function of the file:
//
//   reads     the maps from an element of the result to the elements of each operand
//   used      how many elements of the operand are read, and how often each
//   tile      the sizes of tiles, of the result's dimensions and then of the reduced ones, that move the fewest bytes
//             with at most 48 KiB at a time
//   in place  the operand in whose buffer the result may be written
//
// and for each operation of linalg that reads another: the bytes that both move, apart and fused, each element read once.

#include <cstdint>
#include <cstdio>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/linalg/tensor_function.h"
#include "xla_indexing/query/in_place/in_place.h"
#include "xla_indexing/query/utilization/utilization.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"

namespace {

using namespace xla_indexing;  // NOLINT: an example.

absl::Status PrintReads(const HloInstruction& instruction, HloIndexers& indexers) {
  const auto entries = indexers.usual().IndexSimplified(instruction, Direction::kOutputToInput);
  if (!entries.ok()) return entries.status();
  const auto utilization = ComputeUtilization(instruction, indexers);
  if (!utilization.ok()) return utilization.status();
  for (const IndexingEntry& entry : **entries) {
    for (const OperandIndexing& map : entry.indexing) {
      std::printf("  reads %lld: %s\n", static_cast<long long>(entry.operand),
                  map.ToString().c_str());
    }
  }
  for (const OperandUtilization& operand : utilization->operands) {
    const Utilization& used = operand.utilization;
    std::printf("  used %lld: %s of %s elements, each %.0f times\n",
                static_cast<long long>(operand.operand), used.elements_read.ToString().c_str(),
                used.elements.ToString().c_str(), used.ReadsPerElement().value_or(0));
  }
  return absl::OkStatus();
}

absl::Status PrintTiles(const HloInstruction& instruction, mlir::MLIRContext* context) {
  const auto view = FusionView::OfFusion(instruction);
  if (!view.ok()) return view.status();
  const auto tiled = TiledComputation::Create(view->computation(), context, WithGivenMaps());
  if (!tiled.ok()) return tiled.status();
  TilingSearchOptions options;
  options.time = [](const TileCost& cost) { return static_cast<double>(cost.moved_bytes); };
  const TilingSearch search = tiled->FindTilings(options);
  if (search.tilings.empty()) return absl::OkStatus();
  const CostedTiling& best = search.tilings.front();
  std::printf("  tile: %s\n", absl::StrJoin(best.tiling.sizes, " x ").c_str());
  return absl::OkStatus();
}

absl::Status PrintInPlace(const HloInstruction& instruction, HloIndexers& indexers) {
  auto analysis = InPlaceAnalysis::OfInstruction(instruction, indexers);
  if (!analysis.ok()) return analysis.status();
  const auto sharing = analysis->Share();
  if (!sharing.ok()) return sharing.status();
  for (const SharedBuffer& shared : sharing->shared) {
    std::printf("  in place: operand %lld\n", static_cast<long long>(shared.operand.operand));
  }
  return absl::OkStatus();
}

// The bytes that a computation reads, each element once, and writes.
absl::StatusOr<int64_t> BytesOf(const absl::StatusOr<FusionView>& view, HloIndexers& indexers) {
  if (!view.ok()) return view.status();
  const auto utilization = ComputeUtilization(view->computation(), indexers);
  if (!utilization.ok()) return utilization.status();
  return utilization->total.bytes_read.upper() + utilization->total.bytes_written.upper();
}

absl::Status PrintFusion(const HloInstruction& producer, const HloInstruction& consumer,
                         HloIndexers& indexers) {
  const auto of_producer = BytesOf(FusionView::OfFusion(producer), indexers);
  const auto of_consumer = BytesOf(FusionView::OfFusion(consumer), indexers);
  const auto fused = BytesOf(FusionView::OfProducerConsumer(producer, consumer), indexers);
  for (const auto& bytes : {of_producer, of_consumer, fused}) {
    if (!bytes.ok()) return bytes.status();
  }
  const int64_t apart = *of_producer + *of_consumer;
  std::printf("%s into %s: %lld bytes apart, %lld fused: %s\n",
              std::string(producer.name()).c_str(), std::string(consumer.name()).c_str(),
              static_cast<long long>(apart), static_cast<long long>(*fused),
              *fused < apart ? "fuse" : "leave");
  return absl::OkStatus();
}

absl::Status Run(const char* file) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<mlir::arith::ArithDialect, mlir::func::FuncDialect,
                      mlir::linalg::LinalgDialect, mlir::tensor::TensorDialect>();
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(file, &context);
  if (!module) return absl::InvalidArgumentError("is not read");
  const auto functions = module->getOps<mlir::func::FuncOp>();
  if (functions.empty()) return absl::InvalidArgumentError("has no function");
  mlir::func::FuncOp func = *functions.begin();
  const auto function = TensorFunction::Create(func.getBody(), func.getName().str());
  if (!function.ok()) return function.status();

  HloIndexers indexers(&context, WithGivenMaps());
  absl::Status status;
  for (mlir::linalg::LinalgOp op : func.getOps<mlir::linalg::LinalgOp>()) {
    const HloInstruction& instruction = *function->InstructionOf(op);
    std::printf("%s\n", std::string(instruction.name()).c_str());
    status.Update(PrintReads(instruction, indexers));
    status.Update(PrintTiles(instruction, &context));
    status.Update(PrintInPlace(instruction, indexers));
  }
  for (mlir::linalg::LinalgOp op : func.getOps<mlir::linalg::LinalgOp>()) {
    for (const mlir::Value operand : op->getOperands()) {
      if (!mlir::isa_and_nonnull<mlir::linalg::LinalgOp>(operand.getDefiningOp())) continue;
      status.Update(
          PrintFusion(*function->InstructionOf(operand), *function->InstructionOf(op), indexers));
    }
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: linalg_maps FILE\n";
    return 2;
  }
  const absl::Status status = Run(argv[1]);
  if (!status.ok()) std::cerr << argv[1] << ": " << status.message() << "\n";
  return status.ok() ? 0 : 1;
}
