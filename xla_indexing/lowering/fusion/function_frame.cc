#include "xla_indexing/lowering/fusion/function_frame.h"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Value.h"
#include "mlir/IR/Verifier.h"
#include "xla_indexing/base/status_macros.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/lowering/elements/element_types.h"
#include "xla_indexing/lowering/fusion/element_reader.h"
#include "xla_indexing/lowering/fusion/memory_plan.h"

namespace xla_indexing::internal {

using mlir::Value;

absl::Status Named(const HloInstruction& instruction, const absl::Status& status) {
  const std::string name = absl::StrCat(instruction.name(), ": ");
  if (status.ok() || status.message().substr(0, name.size()) == name) return status;
  return absl::Status(status.code(), absl::StrCat(name, status.message()));
}

absl::StatusOr<mlir::MemRefType> MemoryType(const Shape& shape, mlir::MLIRContext* context) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const mlir::Type element,
                                MlirElementType(shape.element_type(), context));
  const Layout layout = shape.LayoutOrRowMajor();
  // Elements of less than a byte are packed by what lays out memrefs, or not.
  const bool has_size = layout.element_size_in_bits == 0 ||
                        layout.element_size_in_bits == BitWidth(shape.element_type());
  if (!shape.IsStatic() || !layout.tiles.empty() || !has_size) {
    return absl::UnimplementedError(
        absl::StrCat("arrays like ", shape.ToString(), " are not lowered"));
  }
  const llvm::ArrayRef<int64_t> sizes(shape.dimensions().data(), shape.dimensions().size());
  if (const absl::StatusOr<int64_t> count = shape.ElementCount(); !count.ok()) {
    return count.status();
  }
  if (layout.minor_to_major == RowMajorLayout(shape.rank()).minor_to_major) {
    return mlir::MemRefType::get(sizes, element);
  }
  llvm::SmallVector<int64_t, 4> strides(sizes.size());
  int64_t stride = 1;
  for (const int64_t dim : layout.minor_to_major) {
    strides[dim] = stride;
    stride *= std::max<int64_t>(sizes[dim], 1);
  }
  return mlir::MemRefType::get(sizes, element,
                               mlir::StridedLayoutAttr::get(context, /*offset=*/0, strides));
}

// The parameters of the view are leaves of those of the computation.
absl::Status PlaceParameters(const HloComputation& computation, const FusionView& view,
                             const MlirValues& arguments, ElementReader* reader) {
  for (const HloInstruction* parameter : view.computation().parameters()) {
    const ArrayValue outside = ComputedBy({view.operand(parameter->parameter_number()), 0});
    if (outside.instruction->opcode() != HloOpcode::kParameter) {
      return NotLoweredInstruction(*outside.instruction);
    }
    int64_t leaf = outside.leaf;
    for (int64_t i = 0; i < outside.instruction->parameter_number(); ++i) {
      leaf += computation.parameter(i)->shape().LeafCount();
    }
    for (int64_t i = 0; i < parameter->shape().LeafCount(); ++i) {
      reader->SetMemory({parameter, i}, arguments[leaf + i]);
    }
  }
  return absl::OkStatus();
}

FunctionFrame::FunctionFrame(const HloComputation& computation, mlir::MLIRContext* context)
    : computation_(computation), builder_(mlir::UnknownLoc::get(context), context) {
  context
      ->loadDialect<mlir::affine::AffineDialect, mlir::arith::ArithDialect,
                    mlir::complex::ComplexDialect, mlir::func::FuncDialect, mlir::math::MathDialect,
                    mlir::memref::MemRefDialect, mlir::scf::SCFDialect>();
}

absl::Status FunctionFrame::Begin() {
  module_ = mlir::ModuleOp::create(builder_.getLoc(), std::string(computation_.name()));
  llvm::SmallVector<mlir::Type, 8> types;
  const auto add = [&](const HloInstruction& instruction) {
    for (const Shape* leaf : instruction.shape().Leaves()) {
      const absl::StatusOr<mlir::MemRefType> type = MemoryType(*leaf, builder_.getContext());
      if (!type.ok()) return Named(instruction, type.status());
      types.push_back(*type);
    }
    return absl::OkStatus();
  };
  for (const HloInstruction* parameter : computation_.parameters()) {
    XLA_INDEXING_RETURN_IF_ERROR(add(*parameter));
  }
  const size_t first_result = types.size();
  XLA_INDEXING_RETURN_IF_ERROR(add(*computation_.root_instruction()));
  builder_.setInsertionPointToEnd(module_->getBody());
  auto function = mlir::func::FuncOp::create(builder_, std::string(computation_.name()),
                                             builder_.getFunctionType(types, {}));
  mlir::Block* body = function.addEntryBlock();
  builder_.setInsertionPointToStart(body);
  arguments_.assign(body->args_begin(), body->args_begin() + first_result);
  results_.assign(body->args_begin() + first_result, body->args_end());
  return absl::OkStatus();
}

absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> FunctionFrame::Finish() {
  mlir::func::ReturnOp::create(builder_);
  ShareConstants();
  // The first complaint, at the place of an instruction.
  absl::Status status;
  const mlir::ScopedDiagnosticHandler handler(
      builder_.getContext(), [&](const mlir::Diagnostic& diagnostic) {
        const auto at = mlir::dyn_cast<mlir::NameLoc>(diagnostic.getLocation());
        status.Update(absl::UnimplementedError(
            absl::StrCat(at ? at.getName().str() : computation_.name(),
                         ": what it becomes does not verify: ", diagnostic.str())));
      });
  if (mlir::failed(mlir::verify(*module_))) return status;
  return std::move(module_);
}

// Each constant once, at the beginning of the function; none that is not used.
void FunctionFrame::ShareConstants() {
  mlir::Block* body = builder_.getInsertionBlock();
  llvm::MapVector<mlir::Attribute, llvm::SmallVector<mlir::Operation*, 4>> constants;
  body->walk([&](mlir::Operation* op) {
    if (op->hasTrait<mlir::OpTrait::ConstantLike>()) constants[op->getAttr("value")].push_back(op);
  });
  builder_.setInsertionPointToStart(body);
  for (auto& [value, ops] : constants) {
    const auto is_used = [](mlir::Operation* op) { return !op->use_empty(); };
    if (llvm::any_of(ops, is_used)) {
      const Value shared = EmitConstant(builder_, value);
      for (mlir::Operation* op : ops) op->getResult(0).replaceAllUsesWith(shared);
    }
  }
  for (auto& [value, ops] : constants) {
    for (mlir::Operation* op : ops) op->erase();
  }
}

absl::StatusOr<Value> FunctionFrame::AddConstant(const HloInstruction& constant) {
  const Literal* literal = constant.literal();
  if (literal == nullptr || !constant.shape().IsArray()) {
    return NotLoweredInstruction(constant);
  }
  Shape shape = constant.shape();
  shape.ClearLayout();
  XLA_INDEXING_ASSIGN_OR_RETURN(const mlir::MemRefType type,
                                MemoryType(shape, builder_.getContext()));
  if (literal->IsElided()) return absl::InvalidArgumentError("the values are elided");
  const bool is_splat = literal->IsSplat() && literal->ElementCount() > 0;
  const int64_t count = is_splat ? 1 : literal->ElementCount();
  std::vector<mlir::Attribute> elements;
  std::vector<std::complex<llvm::APFloat>> complex_elements;
  for (int64_t i = 0; i < count; ++i) {
    XLA_INDEXING_ASSIGN_OR_RETURN(const auto element,
                                  MlirElement(*literal, i, builder_.getContext()));
    elements.push_back(element);
    if (const auto parts = mlir::dyn_cast<mlir::ArrayAttr>(element)) {
      const auto part = [&](int number) {
        return mlir::cast<mlir::FloatAttr>(parts[number]).getValue();
      };
      complex_elements.emplace_back(part(0), part(1));
    }
  }
  const auto tensor = mlir::RankedTensorType::get(type.getShape(), type.getElementType());
  const auto values = IsComplex(shape.element_type())
                          ? mlir::DenseElementsAttr::get(tensor, complex_elements)
                          : mlir::DenseElementsAttr::get(tensor, elements);
  const std::string name = absl::StrCat("constant_", constant_count_++);
  {
    const mlir::OpBuilder::InsertionGuard back(builder_);
    builder_.setInsertionPointToStart(module_->getBody());
    mlir::memref::GlobalOp::create(builder_, name, builder_.getStringAttr("private"), type, values,
                                   /*constant=*/true, /*alignment=*/nullptr);
  }
  return mlir::memref::GetGlobalOp::create(builder_, type, name).getResult();
}

}  // namespace xla_indexing::internal
