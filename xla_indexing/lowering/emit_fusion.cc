#include "xla_indexing/lowering/emit_fusion.h"

#include <cstddef>
#include <cstdint>
#include <numeric>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "llvm/ADT/STLExtras.h"
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
using internal::ElementPlace;
using internal::ElementReader;
using mlir::Value;

// Emits a computation where the frame's builder inserts.
class ComputationEmitter {
 public:
  ComputationEmitter(const HloComputation& computation, internal::FunctionFrame& frame)
      : original_(computation),
        frame_(frame),
        builder_(frame.builder()),
        loc_(frame.loc()),
        reader_(builder_, loc_) {}

  // Reads the leaves of the parameters in `arguments`, and writes those of the result to `results`. A result
  // that is an argument has to be what the computation passes on of it.
  absl::Status Emit(const MlirValues& arguments, const MlirValues& results) {
    const absl::StatusOr<FusionView> view = FusionView::OfComputation(original_);
    if (!view.ok()) return view.status();
    if (absl::Status status = internal::PlaceParameters(original_, *view, arguments, &reader_);
        !status.ok()) {
      return status;
    }
    const HloComputation& computation = view->computation();
    const internal::MemoryPlan plan(computation);
    const HloInstruction* root = computation.root_instruction();
    PlaceResults(*root, plan, results);
    for (const HloInstruction* instruction : computation.instructions()) {
      if (!plan.IsInMemory(*instruction)) continue;
      if (absl::Status status = EmitInMemory(*instruction); !status.ok()) {
        return internal::Named(*instruction, status);
      }
    }
    for (int64_t leaf = 0; leaf < root->shape().LeafCount(); ++leaf) {
      const ArrayValue array = ComputedBy({root, leaf});
      if (reader_.MemoryOf(array) == results[leaf]) continue;
      if (absl::Status status = EmitCopy(array, results[leaf]); !status.ok()) {
        return internal::Named(*array.instruction, status);
      }
    }
    for (const Value temporary : temporaries_) {
      mlir::memref::DeallocOp::create(builder_, loc_, temporary);
    }
    return absl::OkStatus();
  }

 private:
  // What is computed as a result is written there at once; the others are copied.
  void PlaceResults(const HloInstruction& root, const internal::MemoryPlan& plan,
                    const MlirValues& results) {
    for (int64_t leaf = 0; leaf < root.shape().LeafCount(); ++leaf) {
      const ArrayValue array = ComputedBy({&root, leaf});
      const bool is_computed = plan.IsInMemory(*array.instruction) &&
                               array.instruction->opcode() != HloOpcode::kConstant;
      if (is_computed && !reader_.MemoryOf(array)) reader_.SetMemory(array, results[leaf]);
    }
  }

  absl::Status EmitInMemory(const HloInstruction& instruction) {
    if (instruction.opcode() == HloOpcode::kParameter) return absl::OkStatus();
    if (instruction.opcode() == HloOpcode::kConstant) {
      const absl::StatusOr<Value> memory = frame_.AddConstant(instruction);
      if (memory.ok()) reader_.SetMemory({&instruction, 0}, *memory);
      return memory.status();
    }
    MlirValues memory;
    for (int64_t leaf = 0; leaf < instruction.shape().LeafCount(); ++leaf) {
      Value array = reader_.MemoryOf({&instruction, leaf});
      if (!array) {
        const absl::StatusOr<Value> temporary = Allocate(instruction.shape().Leaf(leaf));
        if (!temporary.ok()) return temporary.status();
        array = *temporary;
        reader_.SetMemory({&instruction, leaf}, array);
      }
      memory.push_back(array);
    }
    if (memory.empty()) return internal::NotLoweredInstruction(instruction);
    if (instruction.opcode() == HloOpcode::kScatter) return EmitScatter(instruction, memory);
    const Shape& shape = instruction.shape().Leaf(0);
    if (internal::IsSumOfMany(instruction)) {
      return EmitNest(shape, memory, [&](const ElementPlace& place) {
        return reader_.ReadSum(instruction, place);
      });
    }
    if (memory.size() > 1) return internal::NotLoweredInstruction(instruction);
    return EmitNest(shape, memory, [&](const ElementPlace& place) -> absl::StatusOr<MlirValues> {
      const absl::StatusOr<Value> value = reader_.Compute(instruction, place);
      if (!value.ok()) return value.status();
      return MlirValues({*value});
    });
  }

  // The updates, one after another, on what is there.
  absl::Status EmitScatter(const HloInstruction& scatter, const MlirValues& memory) {
    const auto count = static_cast<int64_t>(memory.size());
    for (int64_t i = 0; i < count; ++i) {
      if (absl::Status status = EmitCopy({scatter.operand(i), 0}, memory[i]); !status.ok()) {
        return status;
      }
    }
    return EmitNest(scatter.operand(count + 1)->shape(), {},
                    [&](const ElementPlace& place) -> absl::StatusOr<MlirValues> {
                      const absl::Status status = reader_.EmitUpdate(scatter, place, memory);
                      if (!status.ok()) return status;
                      return MlirValues();
                    });
  }

  // For as long as the computation runs.
  absl::StatusOr<Value> Allocate(Shape shape) {
    shape.ClearLayout();
    const absl::StatusOr<mlir::MemRefType> type =
        internal::MemoryType(shape, builder_.getContext());
    if (!type.ok()) return type.status();
    temporaries_.push_back(mlir::memref::AllocOp::create(builder_, loc_, *type));
    return temporaries_.back();
  }

  absl::Status EmitCopy(const ArrayValue& array, Value to) {
    return EmitNest(array.shape(), to,
                    [&](const ElementPlace& place) -> absl::StatusOr<MlirValues> {
                      const absl::StatusOr<Value> value = reader_.Read(array, place);
                      if (!value.ok()) return value.status();
                      return MlirValues({*value});
                    });
  }

  // Loops over an array's elements, which stores what `compute` gives, one for each memory.
  absl::Status EmitNest(
      const Shape& shape, mlir::ValueRange memory,
      absl::FunctionRef<absl::StatusOr<MlirValues>(const ElementPlace&)> compute) {
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

  const HloComputation& original_;
  internal::FunctionFrame& frame_;
  mlir::OpBuilder& builder_;
  mlir::Location loc_;
  ElementReader reader_;
  MlirValues temporaries_;
};

}  // namespace

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> EmitFusion(const HloComputation& computation,
                                                             mlir::MLIRContext* context) {
  internal::FunctionFrame frame(computation, context);
  if (absl::Status status = frame.Begin(); !status.ok()) return status;
  if (absl::Status status =
          ComputationEmitter(computation, frame).Emit(frame.arguments(), frame.results());
      !status.ok()) {
    return status;
  }
  return frame.Finish();
}

}  // namespace xla_indexing
