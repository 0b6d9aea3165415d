// Emits an element of an array, in the body of a loop: loads it where the array is in memory, and
// computes it of elements of operands where it is not.
#ifndef XLA_INDEXING_LOWERING_FUSION_ELEMENT_READER_H_
#define XLA_INDEXING_LOWERING_FUSION_ELEMENT_READER_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"
#include "mlir/IR/ValueRange.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/lowering/fusion/memory_plan.h"
#include "xla_indexing/lowering/index/apply_indexing.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

// Which element of an array: the map, which has no symbols, at these values of its dimensions, which
// are in its domain.
struct ElementPlace {
  IndexingMap map;
  MlirValues values;
};

absl::Status NotLoweredInstruction(const HloInstruction& instruction);

class ElementReader {
 public:
  ElementReader(mlir::OpBuilder& builder, mlir::Location loc) : builder_(builder), loc_(loc) {}

  // Where an array lies.
  void SetMemory(const ArrayValue& array, mlir::Value memory) { memory_[array] = memory; }
  mlir::Value MemoryOf(const ArrayValue& array) const {
    const auto found = memory_.find(array);
    return found == memory_.end() ? mlir::Value() : found->second;
  }

  absl::StatusOr<mlir::Value> Read(ArrayValue array, const ElementPlace& place);
  // An element of a result that is a sum of many, one for each leaf; by loops.
  absl::StatusOr<MlirValues> ReadSum(const HloInstruction& instruction, const ElementPlace& place);

 private:
  absl::StatusOr<InstructionIndexing> MapsOf(const HloInstruction& instruction);
  absl::StatusOr<mlir::Value> Compute(const HloInstruction& instruction, const ElementPlace& place);
  absl::StatusOr<mlir::Value> ReadMoved(const HloInstruction& instruction,
                                        const ElementPlace& place);
  absl::StatusOr<mlir::Value> ReadOneOf(const HloInstruction& instruction,
                                        const ElementPlace& place);
  absl::StatusOr<mlir::Value> ReadOperand(const HloInstruction& instruction, int64_t operand,
                                          const ElementPlace& place);
  absl::StatusOr<mlir::Value> ReadScalar(const HloInstruction& scalar);
  absl::StatusOr<mlir::Value> ReadIota(const HloInstruction& iota, const ElementPlace& place);
  absl::StatusOr<mlir::Value> ReadConstant(const HloInstruction& constant);
  absl::StatusOr<mlir::Value> ReadIndex(const OperandIndexing& indexing, int runtime,
                                        const ElementPlace& place);
  // The place in the operand that a place in the result leads to. `known` gets what is known of its
  // dimensions: the domain of `place`, and what values the indices that are read can have.
  absl::StatusOr<ElementPlace> Follow(const OperandIndexing& indexing, const ElementPlace& place,
                                      IndexingMap* known);
  absl::StatusOr<mlir::Value> EmitMoved(const HloInstruction& instruction, mlir::Value value,
                                        ElementType from);
  // What `then` emits where `holds`, and `otherwise` elsewhere.
  absl::StatusOr<MlirValues> EmitIf(mlir::Value holds, mlir::ValueRange otherwise,
                                    absl::FunctionRef<absl::StatusOr<MlirValues>()> then);

  mlir::OpBuilder& builder_;
  mlir::Location loc_;
  absl::flat_hash_map<ArrayValue, mlir::Value> memory_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_LOWERING_FUSION_ELEMENT_READER_H_
