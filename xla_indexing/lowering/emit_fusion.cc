#include "xla_indexing/lowering/emit_fusion.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "mlir/IR/Verifier.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/lowering/elements/element_types.h"
#include "xla_indexing/lowering/fusion/element_reader.h"
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

absl::Status Named(const HloInstruction& instruction, const absl::Status& status) {
  const std::string name = absl::StrCat(instruction.name(), ": ");
  if (status.ok() || status.message().substr(0, name.size()) == name) return status;
  return absl::Status(status.code(), absl::StrCat(name, status.message()));
}

// The memory of an array: its layout as strides.
absl::StatusOr<mlir::MemRefType> MemoryType(const Shape& shape, mlir::MLIRContext* context) {
  const absl::StatusOr<mlir::Type> element =
      internal::MlirElementType(shape.element_type(), context);
  if (!element.ok()) return element.status();
  const Layout layout = shape.LayoutOrRowMajor();
  if (!shape.IsStatic() || !layout.tiles.empty() || layout.element_size_in_bits != 0) {
    return absl::UnimplementedError(
        absl::StrCat("arrays like ", shape.ToString(), " are not lowered"));
  }
  const llvm::ArrayRef<int64_t> sizes(shape.dimensions().data(), shape.dimensions().size());
  if (const absl::StatusOr<int64_t> count = shape.ElementCount(); !count.ok()) {
    return count.status();
  }
  if (layout.minor_to_major == RowMajorLayout(shape.rank()).minor_to_major) {
    return mlir::MemRefType::get(sizes, *element);
  }
  llvm::SmallVector<int64_t, 4> strides(sizes.size());
  int64_t stride = 1;
  for (const int64_t dim : layout.minor_to_major) {
    strides[dim] = stride;
    stride *= std::max<int64_t>(sizes[dim], 1);
  }
  return mlir::MemRefType::get(sizes, *element,
                               mlir::StridedLayoutAttr::get(context, /*offset=*/0, strides));
}

class FusionEmitter {
 public:
  FusionEmitter(const HloComputation& original, const FusionView& view, mlir::MLIRContext* context)
      : original_(original),
        view_(view),
        computation_(view.computation()),
        plan_(computation_),
        context_(context),
        builder_(context),
        loc_(builder_.getUnknownLoc()),
        reader_(builder_, loc_) {}

  absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> Emit() {
    module_ = mlir::ModuleOp::create(loc_, std::string(original_.name()));
    if (absl::Status status = EmitFunction(); !status.ok()) return status;
    if (absl::Status status = PlaceParameters(); !status.ok()) return status;
    PlaceResults();
    for (const HloInstruction* instruction : computation_.instructions()) {
      if (absl::Status status = EmitInMemory(*instruction); !status.ok()) {
        return Named(*instruction, status);
      }
    }
    const HloInstruction* root = computation_.root_instruction();
    for (int64_t leaf = 0; leaf < root->shape().LeafCount(); ++leaf) {
      const ArrayValue array = ComputedBy({root, leaf});
      if (reader_.MemoryOf(array) == results_[leaf]) continue;
      if (absl::Status status = EmitCopy(array, results_[leaf]); !status.ok()) {
        return Named(*array.instruction, status);
      }
    }
    for (const Value temporary : temporaries_) {
      mlir::memref::DeallocOp::create(builder_, loc_, temporary);
    }
    mlir::func::ReturnOp::create(builder_, loc_);
    ShareConstants();
    if (mlir::failed(mlir::verify(*module_))) {
      return absl::InternalError(absl::StrCat(original_.name(), ": what was made does not verify"));
    }
    return std::move(module_);
  }

 private:
  // A function without a body yet, and its arguments.
  absl::Status EmitFunction() {
    llvm::SmallVector<mlir::Type, 8> types;
    const auto add = [&](const HloInstruction& instruction) {
      for (const Shape* leaf : instruction.shape().Leaves()) {
        const absl::StatusOr<mlir::MemRefType> type = MemoryType(*leaf, context_);
        if (!type.ok()) return Named(instruction, type.status());
        types.push_back(*type);
      }
      return absl::OkStatus();
    };
    for (const HloInstruction* parameter : original_.parameters()) {
      if (absl::Status status = add(*parameter); !status.ok()) return status;
    }
    const size_t first_result = types.size();
    if (absl::Status status = add(*original_.root_instruction()); !status.ok()) return status;
    builder_.setInsertionPointToEnd(module_->getBody());
    auto function = mlir::func::FuncOp::create(builder_, loc_, std::string(original_.name()),
                                               builder_.getFunctionType(types, {}));
    mlir::Block* body = function.addEntryBlock();
    builder_.setInsertionPointToStart(body);
    parameters_.assign(body->args_begin(), body->args_begin() + first_result);
    results_.assign(body->args_begin() + first_result, body->args_end());
    return absl::OkStatus();
  }

  // The parameters of the view are leaves of those of the computation.
  absl::Status PlaceParameters() {
    for (const HloInstruction* parameter : computation_.parameters()) {
      const ArrayValue outside = ComputedBy({view_.operand(parameter->parameter_number()), 0});
      if (outside.instruction->opcode() != HloOpcode::kParameter) {
        return internal::NotLoweredInstruction(*outside.instruction);
      }
      int64_t leaf = outside.leaf;
      for (int64_t i = 0; i < outside.instruction->parameter_number(); ++i) {
        leaf += original_.parameter(i)->shape().LeafCount();
      }
      for (int64_t i = 0; i < parameter->shape().LeafCount(); ++i) {
        reader_.SetMemory({parameter, i}, parameters_[leaf + i]);
      }
    }
    return absl::OkStatus();
  }

  // What is computed as a result is written there at once; the others are copied.
  void PlaceResults() {
    const HloInstruction* root = computation_.root_instruction();
    for (int64_t leaf = 0; leaf < root->shape().LeafCount(); ++leaf) {
      const ArrayValue array = ComputedBy({root, leaf});
      const bool is_computed = plan_.IsInMemory(*array.instruction) &&
                               array.instruction->opcode() != HloOpcode::kConstant;
      if (is_computed && !reader_.MemoryOf(array)) reader_.SetMemory(array, results_[leaf]);
    }
  }

  absl::Status EmitInMemory(const HloInstruction& instruction) {
    if (!plan_.IsInMemory(instruction) || instruction.opcode() == HloOpcode::kParameter) {
      return absl::OkStatus();
    }
    if (instruction.opcode() == HloOpcode::kConstant) return EmitConstantArray(instruction);
    MlirValues memory;
    for (int64_t leaf = 0; leaf < instruction.shape().LeafCount(); ++leaf) {
      Value array = reader_.MemoryOf({&instruction, leaf});
      if (!array) {
        Shape shape = instruction.shape().Leaf(leaf);
        shape.ClearLayout();
        const absl::StatusOr<mlir::MemRefType> type = MemoryType(shape, context_);
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
    const absl::StatusOr<IndexingMap> elements = CreateIdentityMap(sizes, context_);
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

  // Each constant once, at the beginning of the function; none that is not used.
  void ShareConstants() {
    mlir::Block* body = builder_.getInsertionBlock();
    llvm::MapVector<mlir::Attribute, llvm::SmallVector<mlir::arith::ConstantOp, 4>> constants;
    body->walk([&](mlir::arith::ConstantOp op) { constants[op.getValue()].push_back(op); });
    builder_.setInsertionPointToStart(body);
    for (auto& [value, ops] : constants) {
      const auto is_used = [](mlir::arith::ConstantOp op) { return !op->use_empty(); };
      if (llvm::any_of(ops, is_used)) {
        const Value shared =
            mlir::arith::ConstantOp::create(builder_, loc_, ops.front().getValue());
        for (mlir::arith::ConstantOp op : ops) op.replaceAllUsesWith(shared);
      }
    }
    for (auto& [value, ops] : constants) {
      for (mlir::arith::ConstantOp op : ops) op.erase();
    }
  }

  // A global of the module.
  absl::Status EmitConstantArray(const HloInstruction& constant) {
    const Literal* literal = constant.literal();
    if (literal == nullptr || !constant.shape().IsArray()) {
      return internal::NotLoweredInstruction(constant);
    }
    Shape shape = constant.shape();
    shape.ClearLayout();
    const absl::StatusOr<mlir::MemRefType> type = MemoryType(shape, context_);
    if (!type.ok()) return type.status();
    if (literal->IsElided()) return absl::InvalidArgumentError("the values are elided");
    const bool is_splat = literal->IsSplat() && literal->ElementCount() > 0;
    const int64_t count = is_splat ? 1 : literal->ElementCount();
    std::vector<mlir::Attribute> elements;
    for (int64_t i = 0; i < count; ++i) {
      const auto element = internal::MlirElement(*literal, i, context_);
      if (!element.ok()) return element.status();
      elements.push_back(*element);
    }
    const auto values = mlir::DenseElementsAttr::get(
        mlir::RankedTensorType::get(type->getShape(), type->getElementType()), elements);
    const std::string name = absl::StrCat("constant_", constant_count_++);
    {
      const mlir::OpBuilder::InsertionGuard back(builder_);
      builder_.setInsertionPointToStart(module_->getBody());
      mlir::memref::GlobalOp::create(builder_, loc_, name, builder_.getStringAttr("private"), *type,
                                     values, /*constant=*/true, /*alignment=*/nullptr);
    }
    reader_.SetMemory({&constant, 0},
                      mlir::memref::GetGlobalOp::create(builder_, loc_, *type, name));
    return absl::OkStatus();
  }

  const HloComputation& original_;
  const FusionView& view_;
  const HloComputation& computation_;
  const internal::MemoryPlan plan_;
  mlir::MLIRContext* context_;
  mlir::OpBuilder builder_;
  mlir::Location loc_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  ElementReader reader_;
  MlirValues parameters_;  // by leaf of the computation's parameters
  MlirValues results_;
  MlirValues temporaries_;
  int constant_count_ = 0;
};

}  // namespace

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> EmitFusion(const HloComputation& computation,
                                                             mlir::MLIRContext* context) {
  context
      ->loadDialect<mlir::affine::AffineDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect,
                    mlir::math::MathDialect, mlir::memref::MemRefDialect, mlir::scf::SCFDialect>();
  const absl::StatusOr<FusionView> view = FusionView::OfComputation(computation);
  if (!view.ok()) return view.status();
  return FusionEmitter(computation, *view, context).Emit();
}

}  // namespace xla_indexing
