// Element types and constants of HLO in MLIR.
//
// Integers are signless, of 1 to 64 bits; the operations that are chosen say what is signed. A pred is
// an i1. Floats are f16, bf16, f32, f64, and those of 8 bits that have a zero.
//
// Example: `MlirElementType(ElementType::kU32, context)` is i32.
#ifndef XLA_INDEXING_LOWERING_ELEMENTS_ELEMENT_TYPES_H_
#define XLA_INDEXING_LOWERING_ELEMENTS_ELEMENT_TYPES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Types.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/literal.h"

namespace xla_indexing::internal {

// Unimplemented for complex numbers, f8e8m0fnu, which has no zero, and f4e2m1fn, which has no NaN.
absl::StatusOr<mlir::Type> MlirElementType(ElementType type, mlir::MLIRContext* context);

// The element of a literal at a row-major position. Errors as above, and for an elided literal.
absl::StatusOr<mlir::TypedAttr> MlirElement(const Literal& literal, int64_t position,
                                            mlir::MLIRContext* context);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_LOWERING_ELEMENTS_ELEMENT_TYPES_H_
