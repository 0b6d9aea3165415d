// Shapes and constants of StableHLO as those of HLO.
//
//   tensor<2x?xbf16>                              bf16[2,?]
//   tensor<?x3xi1, #stablehlo.bounds<4, ?>>       pred[<=4,3]
//   tensor<4x!quant.uniform<i8:f32, 0.5:3>>       s8[4], what is stored
//   tuple<tensor<i32>, !stablehlo.token>          (s32[], token[])

#ifndef XLA_INDEXING_STABLEHLO_SHAPES_H_
#define XLA_INDEXING_STABLEHLO_SHAPES_H_

#include "absl/status/statusor.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

// An error where HLO has no such type.
absl::StatusOr<Shape> ShapeOfType(mlir::Type type);

// The value of a constant of that shape. One that is not in the program (a resource) is elided.
absl::StatusOr<Literal> LiteralOfAttribute(mlir::Attribute value, const Shape& shape);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_STABLEHLO_SHAPES_H_
