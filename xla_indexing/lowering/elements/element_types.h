// Element types and constants of HLO in MLIR.
//
// Integers are signless, of 1 to 64 bits; the operations that are chosen say what is signed. A pred is
// an i1. Floats are f16, bf16, f32, f64, and those of 8 bits that have a zero; complex numbers have
// parts of f32 and f64.
//
// Example: `MlirElementType(ElementType::kU32, context)` is i32.
#ifndef XLA_INDEXING_LOWERING_ELEMENTS_ELEMENT_TYPES_H_
#define XLA_INDEXING_LOWERING_ELEMENTS_ELEMENT_TYPES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Types.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/literal.h"

namespace xla_indexing::internal {

// Unimplemented: the instruction, by its name, is not lowered.
absl::Status NotLoweredInstruction(const HloInstruction& instruction);

// Unimplemented for f8e8m0fnu, which has no zero, and f4e2m1fn, which has no NaN.
absl::StatusOr<mlir::Type> MlirElementType(ElementType type, mlir::MLIRContext* context);

// The element of a literal at a row-major position; of a complex number an array of its parts. Errors
// as above, and for an elided literal.
absl::StatusOr<mlir::Attribute> MlirElement(const Literal& literal, int64_t position,
                                            mlir::MLIRContext* context);

// Such an element, and the 0 of an element type.
mlir::Value EmitConstant(mlir::ImplicitLocOpBuilder& builder, mlir::Attribute element);
mlir::Value EmitZero(mlir::ImplicitLocOpBuilder& builder, mlir::Type type);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_LOWERING_ELEMENTS_ELEMENT_TYPES_H_
