#include "xla_indexing/lowering/elements/element_types.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/Support/Casting.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "xla_indexing/base/status_macros.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/literal.h"

namespace xla_indexing::internal {
namespace {

template <typename T>
mlir::Type Get(mlir::MLIRContext* context) {
  return T::get(context);
}
constexpr std::pair<ElementType, mlir::Type (*)(mlir::MLIRContext*)> kFloatTypes[] = {
    {ElementType::kF8E3M4, Get<mlir::Float8E3M4Type>},
    {ElementType::kF8E4M3, Get<mlir::Float8E4M3Type>},
    {ElementType::kF8E4M3B11FNUZ, Get<mlir::Float8E4M3B11FNUZType>},
    {ElementType::kF8E4M3FN, Get<mlir::Float8E4M3FNType>},
    {ElementType::kF8E4M3FNUZ, Get<mlir::Float8E4M3FNUZType>},
    {ElementType::kF8E5M2, Get<mlir::Float8E5M2Type>},
    {ElementType::kF8E5M2FNUZ, Get<mlir::Float8E5M2FNUZType>},
    {ElementType::kF16, Get<mlir::Float16Type>},
    {ElementType::kBF16, Get<mlir::BFloat16Type>},
    {ElementType::kF32, Get<mlir::Float32Type>},
    {ElementType::kF64, Get<mlir::Float64Type>}};

}  // namespace

absl::Status NotLoweredInstruction(const HloInstruction& instruction) {
  return absl::UnimplementedError(absl::StrCat(instruction.name(), ": ", instruction.opcode_name(),
                                               " is not lowered in this form"));
}

absl::StatusOr<mlir::Type> MlirElementType(ElementType type, mlir::MLIRContext* context) {
  if (IsPred(type)) return mlir::IntegerType::get(context, 1);
  if (IsIntegral(type)) return mlir::IntegerType::get(context, BitWidth(type));
  if (IsComplex(type)) {
    XLA_INDEXING_ASSIGN_OR_RETURN(const mlir::Type part,
                                  MlirElementType(ComplexComponentType(type), context));
    return mlir::ComplexType::get(part);
  }
  for (const auto& [float_type, get] : kFloatTypes) {
    if (float_type == type) return get(context);
  }
  return absl::UnimplementedError(
      absl::StrCat("elements of type ", ElementTypeName(type), " are not lowered"));
}

absl::StatusOr<mlir::Attribute> MlirElement(const Literal& literal, int64_t position,
                                            mlir::MLIRContext* context) {
  const ElementType element_type = literal.shape().element_type();
  XLA_INDEXING_ASSIGN_OR_RETURN(const mlir::Type type,
                                MlirElementType(ComplexComponentType(element_type), context));
  if (literal.IsElided()) return absl::InvalidArgumentError("the values of a constant are elided");
  const auto part = [&](int number) -> mlir::Attribute {
    const llvm::APInt bits(type.getIntOrFloatBitWidth(), literal.BitsAt(position, number),
                           /*isSigned=*/false, /*implicitTrunc=*/true);
    const auto float_type = llvm::dyn_cast<mlir::FloatType>(type);
    if (!float_type) return mlir::IntegerAttr::get(type, bits);
    return mlir::FloatAttr::get(float_type, llvm::APFloat(float_type.getFloatSemantics(), bits));
  };
  if (!IsComplex(element_type)) return part(0);
  return mlir::ArrayAttr::get(context, {part(0), part(1)});
}

mlir::Value EmitConstant(mlir::ImplicitLocOpBuilder& builder, mlir::Attribute element) {
  const auto parts = llvm::dyn_cast<mlir::ArrayAttr>(element);
  if (!parts) return mlir::arith::ConstantOp::create(builder, llvm::cast<mlir::TypedAttr>(element));
  const mlir::Type part = llvm::cast<mlir::TypedAttr>(parts[0]).getType();
  return mlir::complex::ConstantOp::create(builder, mlir::ComplexType::get(part), parts);
}

mlir::Value EmitZero(mlir::ImplicitLocOpBuilder& builder, mlir::Type type) {
  const auto complex = llvm::dyn_cast<mlir::ComplexType>(type);
  if (!complex) return EmitConstant(builder, builder.getZeroAttr(type));
  const mlir::Attribute zero = builder.getZeroAttr(complex.getElementType());
  return EmitConstant(builder, builder.getArrayAttr({zero, zero}));
}

}  // namespace xla_indexing::internal
