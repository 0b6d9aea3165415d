#include "xla_indexing/lowering/elements/element_types.h"

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/literal.h"

namespace xla_indexing::internal {

absl::StatusOr<mlir::Type> MlirElementType(ElementType type, mlir::MLIRContext* context) {
  if (IsPred(type)) return mlir::IntegerType::get(context, 1);
  if (IsIntegral(type) && BitWidth(type) >= 8) {
    return mlir::IntegerType::get(context, BitWidth(type));
  }
  switch (type) {
    case ElementType::kF16:
      return mlir::Float16Type::get(context);
    case ElementType::kBF16:
      return mlir::BFloat16Type::get(context);
    case ElementType::kF32:
      return mlir::Float32Type::get(context);
    case ElementType::kF64:
      return mlir::Float64Type::get(context);
    default:
      return absl::UnimplementedError(
          absl::StrCat("elements of type ", ElementTypeName(type), " are not lowered"));
  }
}

absl::StatusOr<mlir::TypedAttr> MlirElement(const Literal& literal, int64_t position,
                                            mlir::MLIRContext* context) {
  const absl::StatusOr<mlir::Type> type = MlirElementType(literal.shape().element_type(), context);
  if (!type.ok()) return type.status();
  if (literal.IsElided()) return absl::InvalidArgumentError("the values of a constant are elided");
  const llvm::APInt bits(type->getIntOrFloatBitWidth(), literal.BitsAt(position),
                         /*isSigned=*/false, /*implicitTrunc=*/true);
  if (const auto float_type = llvm::dyn_cast<mlir::FloatType>(*type)) {
    return mlir::FloatAttr::get(float_type, llvm::APFloat(float_type.getFloatSemantics(), bits));
  }
  return mlir::IntegerAttr::get(*type, bits);
}

}  // namespace xla_indexing::internal
