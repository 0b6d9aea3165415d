// Computations on scalars, such as reducers, inlined as operations on single elements.
#ifndef XLA_INDEXING_LOWERING_ELEMENTS_SCALAR_COMPUTATION_H_
#define XLA_INDEXING_LOWERING_ELEMENTS_SCALAR_COMPUTATION_H_

#include "absl/status/statusor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "mlir/IR/ValueRange.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/lowering/index/apply_indexing.h"

namespace xla_indexing::internal {

// arguments[0] + arguments[1] * arguments[2], a step of a dot or convolution: the sum is of its element
// type, the factors of those of its operands, and become that.
absl::StatusOr<MlirValues> EmitMultiplyAdd(mlir::ImplicitLocOpBuilder& builder,
                                           const HloInstruction& product,
                                           mlir::ValueRange arguments);

// An element of an elementwise instruction or of a map, from those of its operands.
absl::StatusOr<mlir::Value> EmitElement(mlir::ImplicitLocOpBuilder& builder,
                                        const HloInstruction& instruction,
                                        mlir::ValueRange operands);

// The leaves of the result of a computation on scalars, such as a reducer, which is inlined.
absl::StatusOr<MlirValues> EmitScalarComputation(mlir::ImplicitLocOpBuilder& builder,
                                                 const HloComputation& computation,
                                                 mlir::ValueRange arguments);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_LOWERING_ELEMENTS_SCALAR_COMPUTATION_H_
