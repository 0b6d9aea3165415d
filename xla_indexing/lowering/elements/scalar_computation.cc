#include "xla_indexing/lowering/elements/scalar_computation.h"

#include <cstdint>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/base/status_macros.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/lowering/elements/element_types.h"
#include "xla_indexing/lowering/elements/elementwise_ops.h"
#include "xla_indexing/lowering/index/apply_indexing.h"

namespace xla_indexing::internal {
namespace {

using mlir::Value;

// How deep calls may nest, and how many instructions may be inlined in all: a computation is inlined
// wherever it is called.
constexpr int kMaxCalls = 64;
constexpr int64_t kMaxInlined = 100'000;

struct Inlining {
  int depth = 0;
  int64_t inlined = 0;
};

absl::StatusOr<MlirValues> Inline(mlir::ImplicitLocOpBuilder& builder,
                                  const HloComputation& computation, mlir::ValueRange arguments,
                                  Inlining& inlining);

absl::StatusOr<MlirValues> InlineCall(mlir::ImplicitLocOpBuilder& builder,
                                      const HloInstruction& caller, const HloComputation& called,
                                      mlir::ValueRange operands, Inlining& inlining) {
  if (inlining.depth >= kMaxCalls) return NotLoweredInstruction(caller);
  ++inlining.depth;
  XLA_INDEXING_ASSIGN_OR_RETURN(auto values, Inline(builder, called, operands, inlining));
  --inlining.depth;
  return values;
}

absl::StatusOr<Value> ElementOf(mlir::ImplicitLocOpBuilder& builder,
                                const HloInstruction& instruction, mlir::ValueRange operands,
                                Inlining& inlining) {
  if (instruction.opcode() != HloOpcode::kMap) {
    return EmitElementwise(builder, instruction, operands);
  }
  XLA_INDEXING_ASSIGN_OR_RETURN(
      const mlir::Type type,
      MlirElementType(instruction.shape().element_type(), builder.getContext()));
  XLA_INDEXING_ASSIGN_OR_RETURN(
      const MlirValues values,
      InlineCall(builder, instruction, *instruction.to_apply(), operands, inlining));
  return EmitFloatAs(builder, values.front(), type);
}

absl::StatusOr<MlirValues> Inline(mlir::ImplicitLocOpBuilder& builder,
                                  const HloComputation& computation, mlir::ValueRange arguments,
                                  Inlining& inlining) {
  absl::flat_hash_map<const HloInstruction*, MlirValues> values;
  for (const HloInstruction* instruction : computation.instructions()) {
    if (++inlining.inlined > kMaxInlined) return NotLoweredInstruction(*instruction);
    MlirValues operands;
    for (const HloInstruction* operand : instruction->operands()) {
      operands.append(values[operand]);
    }
    MlirValues& result = values[instruction];
    const bool is_tuple = instruction->opcode() == HloOpcode::kTuple;
    if (!is_tuple && !(instruction->shape().IsArray() && instruction->shape().rank() == 0) &&
        instruction->inlined_computation() == nullptr) {
      return NotLoweredInstruction(*instruction);
    }
    if (is_tuple) {
      result = operands;
    } else if (instruction->opcode() == HloOpcode::kParameter) {
      XLA_INDEXING_ASSIGN_OR_RETURN(
          const auto type,
          MlirElementType(instruction->shape().element_type(), builder.getContext()));
      result.push_back(EmitFloatAs(builder, arguments[instruction->parameter_number()], type));
    } else if (instruction->opcode() == HloOpcode::kGetTupleElement) {
      const Shape& tuple = instruction->operand(0)->shape();
      result.push_back(operands[tuple.FirstLeafOfElement(instruction->tuple_index())]);
    } else if (instruction->opcode() == HloOpcode::kConstant) {
      XLA_INDEXING_ASSIGN_OR_RETURN(const auto element,
                                    MlirElement(*instruction->literal(), 0, builder.getContext()));
      result.push_back(EmitConstant(builder, element));
    } else if (const HloComputation* called = instruction->inlined_computation()) {
      XLA_INDEXING_ASSIGN_OR_RETURN(auto inlined,
                                    InlineCall(builder, *instruction, *called, operands, inlining));
      result = std::move(inlined);
    } else if (instruction->opcode() == HloOpcode::kCopy ||
               instruction->opcode() == HloOpcode::kReshape) {
      result = operands;
    } else {
      XLA_INDEXING_ASSIGN_OR_RETURN(const Value value,
                                    ElementOf(builder, *instruction, operands, inlining));
      result.push_back(value);
    }
  }
  return values[computation.root_instruction()];
}

}  // namespace

absl::StatusOr<MlirValues> EmitMultiplyAdd(mlir::ImplicitLocOpBuilder& builder,
                                           const HloInstruction& product,
                                           mlir::ValueRange arguments) {
  const ElementType type = product.shape().element_type();
  XLA_INDEXING_ASSIGN_OR_RETURN(const mlir::Type result,
                                MlirElementType(type, builder.getContext()));
  llvm::SmallVector<Value, 2> factors;
  for (const int i : {0, 1}) {
    XLA_INDEXING_ASSIGN_OR_RETURN(
        const Value factor,
        EmitConvert(builder, arguments[1 + i], product.operand(i)->shape().element_type(), type));
    factors.push_back(factor);
  }
  const Value multiplied =
      EmitBinary(builder, HloOpcode::kMultiply, type, factors[0], factors[1], result);
  return MlirValues({EmitBinary(builder, HloOpcode::kAdd, type, arguments[0], multiplied, result)});
}

absl::StatusOr<Value> EmitElement(mlir::ImplicitLocOpBuilder& builder,
                                  const HloInstruction& instruction, mlir::ValueRange operands) {
  Inlining inlining;
  return ElementOf(builder, instruction, operands, inlining);
}

absl::StatusOr<MlirValues> EmitScalarComputation(mlir::ImplicitLocOpBuilder& builder,
                                                 const HloComputation& computation,
                                                 mlir::ValueRange arguments) {
  Inlining inlining;
  return Inline(builder, computation, arguments, inlining);
}

}  // namespace xla_indexing::internal
