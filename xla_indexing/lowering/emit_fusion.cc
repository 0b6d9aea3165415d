#include "xla_indexing/lowering/emit_fusion.h"

#include <cstddef>
#include <cstdint>
#include <numeric>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/lowering/fusion/element_reader.h"
#include "xla_indexing/lowering/fusion/function_frame.h"
#include "xla_indexing/lowering/fusion/memory_plan.h"
#include "xla_indexing/lowering/index/apply_indexing.h"
#include "xla_indexing/lowering/index/emit_loop_nest.h"
#include "xla_indexing/map/common_maps.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

using internal::ArrayValue;
using internal::ComputedBy;
using internal::ElementReader;
using mlir::Value;

class FusionEmitter {
 public:
  FusionEmitter(const HloComputation& original, const FusionView& view, mlir::MLIRContext* context)
      : computation_(view.computation()),
        plan_(computation_),
        frame_(original, view, context),
        builder_(frame_.builder()),
        loc_(frame_.loc()),
        reader_(frame_.reader()) {}

  absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> Emit() {
    if (absl::Status status = frame_.Begin(); !status.ok()) return status;
    PlaceResults();
    for (const HloInstruction* instruction : computation_.instructions()) {
      if (absl::Status status = EmitInMemory(*instruction); !status.ok()) {
        return internal::Named(*instruction, status);
      }
    }
    const HloInstruction* root = computation_.root_instruction();
    for (int64_t leaf = 0; leaf < root->shape().LeafCount(); ++leaf) {
      const ArrayValue array = ComputedBy({root, leaf});
      const Value result = frame_.results()[leaf];
      if (reader_.MemoryOf(array) == result) continue;
      if (absl::Status status = EmitCopy(array, result); !status.ok()) {
        return internal::Named(*array.instruction, status);
      }
    }
    for (const Value temporary : temporaries_) {
      mlir::memref::DeallocOp::create(builder_, loc_, temporary);
    }
    return frame_.Finish();
  }

 private:
  // What is computed as a result is written there at once; the others are copied.
  void PlaceResults() {
    const HloInstruction* root = computation_.root_instruction();
    for (int64_t leaf = 0; leaf < root->shape().LeafCount(); ++leaf) {
      const ArrayValue array = ComputedBy({root, leaf});
      const bool is_computed = plan_.IsInMemory(*array.instruction) &&
                               array.instruction->opcode() != HloOpcode::kConstant;
      if (is_computed && !reader_.MemoryOf(array)) reader_.SetMemory(array, frame_.results()[leaf]);
    }
  }

  absl::Status EmitInMemory(const HloInstruction& instruction) {
    if (!plan_.IsInMemory(instruction) || instruction.opcode() == HloOpcode::kParameter) {
      return absl::OkStatus();
    }
    if (instruction.opcode() == HloOpcode::kConstant) return frame_.AddConstant(instruction);
    MlirValues memory;
    for (int64_t leaf = 0; leaf < instruction.shape().LeafCount(); ++leaf) {
      Value array = reader_.MemoryOf({&instruction, leaf});
      if (!array) {
        Shape shape = instruction.shape().Leaf(leaf);
        shape.ClearLayout();
        const absl::StatusOr<mlir::MemRefType> type =
            internal::MemoryType(shape, builder_.getContext());
        if (!type.ok()) return type.status();
        array = mlir::memref::AllocOp::create(builder_, loc_, *type);
        temporaries_.push_back(array);
      }
      memory.push_back(array);
    }
    if (memory.empty()) return internal::NotLoweredInstruction(instruction);
    const Shape& shape = instruction.shape().Leaf(0);
    if (internal::IsSumOfMany(instruction)) {
      const absl::Status status = EmitNest(shape, memory, [&](const internal::ElementPlace& place) {
        return reader_.ReadSum(instruction, place);
      });
      if (!status.ok()) return status;
    } else {
      // Not in memory yet: it is computed, and not loaded.
      for (int64_t leaf = 0; leaf < instruction.shape().LeafCount(); ++leaf) {
        reader_.SetMemory({&instruction, leaf}, Value());
      }
      if (memory.size() > 1) return internal::NotLoweredInstruction(instruction);
      if (absl::Status status = EmitCopy({&instruction, 0}, memory.front()); !status.ok()) {
        return status;
      }
    }
    for (size_t leaf = 0; leaf < memory.size(); ++leaf) {
      reader_.SetMemory({&instruction, static_cast<int64_t>(leaf)}, memory[leaf]);
    }
    return absl::OkStatus();
  }

  absl::Status EmitCopy(const ArrayValue& array, Value to) {
    return EmitNest(array.shape(), to,
                    [&](const internal::ElementPlace& place) -> absl::StatusOr<MlirValues> {
                      const absl::StatusOr<Value> value = reader_.Read(array, place);
                      if (!value.ok()) return value.status();
                      return MlirValues({*value});
                    });
  }

  // Loops over an array's elements, which stores what `compute` gives, one for each memory.
  absl::Status EmitNest(
      const Shape& shape, mlir::ValueRange memory,
      absl::FunctionRef<absl::StatusOr<MlirValues>(const internal::ElementPlace&)> compute) {
    const llvm::ArrayRef<int64_t> sizes(shape.dimensions().data(), shape.dimensions().size());
    const absl::StatusOr<IndexingMap> elements = CreateIdentityMap(sizes, builder_.getContext());
    if (!elements.ok()) return elements.status();
    llvm::SmallVector<int, 4> all(sizes.size());
    std::iota(all.begin(), all.end(), 0);
    const absl::StatusOr<IndexingMap> loops = DimensionsToRanges(*elements, all);
    if (!loops.ok()) return loops.status();
    return EmitLoopNest(builder_, loc_, *loops, {}, {}, {},
                        [&](mlir::ValueRange ranges,
                            mlir::ValueRange /*carried*/) -> absl::StatusOr<MlirValues> {
                          const auto values = compute({*elements, MlirValues(ranges)});
                          if (!values.ok()) return values.status();
                          for (size_t i = 0; i < memory.size(); ++i) {
                            mlir::memref::StoreOp::create(builder_, loc_, (*values)[i], memory[i],
                                                          ranges);
                          }
                          return MlirValues();
                        })
        .status();
  }

  const HloComputation& computation_;
  const internal::MemoryPlan plan_;
  internal::FunctionFrame frame_;
  mlir::OpBuilder& builder_;
  mlir::Location loc_;
  ElementReader& reader_;
  MlirValues temporaries_;
};

}  // namespace

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> EmitFusion(const HloComputation& computation,
                                                             mlir::MLIRContext* context) {
  const absl::StatusOr<FusionView> view = FusionView::OfComputation(computation);
  if (!view.ok()) return view.status();
  return FusionEmitter(computation, *view, context).Emit();
}

}  // namespace xla_indexing
