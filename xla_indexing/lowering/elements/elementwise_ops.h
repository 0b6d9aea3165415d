// Operations on single elements as operations of `arith`, `math`, `complex` and `scf`.
//
// What HLO defines holds where `arith` leaves it open: x / 0 of integers is -1 (all ones) and the
// remainder is x; the least integer by -1 is itself; bits that are shifted out by the width or more
// are all gone; a float that becomes an integer is clamped to its type, and NaN becomes 0. Maximum and
// minimum of floats pass NaN on.
//
// Floats of several types are computed with in a type that holds all of them and the result, and those
// of less than 16 bits in f32; the result is rounded to its type.
//
// Example, s32 add(a, b): `arith.addi %a, %b : i32`; u32 divide(a, b): `arith.divui` under selects.
//
// Errors. Unimplemented, naming the instruction, for opcodes and types that are not lowered.
#ifndef XLA_INDEXING_LOWERING_ELEMENTS_ELEMENTWISE_OPS_H_
#define XLA_INDEXING_LOWERING_ELEMENTS_ELEMENTWISE_OPS_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Types.h"
#include "mlir/IR/Value.h"
#include "mlir/IR/ValueRange.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::internal {

// Whether EmitElementwise knows the opcode.
bool IsLoweredElementwise(const HloInstruction& instruction);

// An element of an elementwise instruction from the elements of its operands.
absl::StatusOr<mlir::Value> EmitElementwise(mlir::ImplicitLocOpBuilder& builder,
                                            const HloInstruction& instruction,
                                            mlir::ValueRange operands);

// A binary operation of the class of a type, as a value of `result`; floats of any types are computed
// with in one that holds all three.
mlir::Value EmitBinary(mlir::ImplicitLocOpBuilder& builder, HloOpcode opcode, ElementType type,
                       mlir::Value a, mlir::Value b, mlir::Type result);

// A float as one of another type; anything else as it is.
mlir::Value EmitFloatAs(mlir::ImplicitLocOpBuilder& builder, mlir::Value value, mlir::Type type);

// A comparison, in the total order of floats; null if the type has no order.
mlir::Value EmitOrder(mlir::ImplicitLocOpBuilder& builder, absl::string_view direction,
                      ElementType type, mlir::Value a, mlir::Value b);

// An element of a bitcast or bitcast-convert to another type of the same width.
absl::StatusOr<mlir::Value> EmitBitcast(mlir::ImplicitLocOpBuilder& builder,
                                        const HloInstruction& instruction, mlir::Value value);

// An element as an integer of the width that its type has in memory, and back.
mlir::Value EmitBits(mlir::ImplicitLocOpBuilder& builder, mlir::Value value, ElementType type);
absl::StatusOr<mlir::Value> EmitFromBits(mlir::ImplicitLocOpBuilder& builder, mlir::Value bits,
                                         ElementType type);

// An element as one of another type.
absl::StatusOr<mlir::Value> EmitConvert(mlir::ImplicitLocOpBuilder& builder, mlir::Value value,
                                        ElementType from, ElementType to);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_LOWERING_ELEMENTS_ELEMENTWISE_OPS_H_
