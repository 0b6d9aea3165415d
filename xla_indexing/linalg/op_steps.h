// The instructions that one operation of MLIR becomes, in a computation of their own.
#ifndef XLA_INDEXING_LINALG_OP_STEPS_H_
#define XLA_INDEXING_LINALG_OP_STEPS_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/MapVector.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/hlo/build/builder.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing::internal {

// The shape of the array that stands for a tensor, a memref or a scalar. An error where HLO has no such type,
// and for sizes that are not static.
absl::StatusOr<Shape> ShapeOfValues(mlir::Type type);

// Adds the computations of an operation to the end of a module, its own one last. After the first error nothing
// more is added: what is returned then is null.
class OpSteps {
 public:
  using Instruction = const HloInstruction*;
  using Instructions = std::vector<Instruction>;

  // `sums` are computations that add two numbers, by their type.
  OpSteps(HloModule* module, mlir::Operation* operation, std::string name,
          std::map<ElementType, const HloComputation*>* sums);

  // Adds the operation.
  absl::Status Import();

  const std::string& name() const { return name_; }
  HloComputation* computation() const { return computation_; }
  // What it reads, in the order of parameters.
  const llvm::MapVector<mlir::Value, Instruction>& inputs() const { return inputs_; }

 private:
  void ImportAccess();
  void ImportSlice();
  void ImportInsertSlice();
  void ImportTensorOp();
  void ImportElementwise();

  void Fail(absl::string_view why);
  Shape ShapeOf(mlir::Type type);
  // The parameter of a value, which is added.
  Instruction Input(mlir::Value value);
  Instruction Add(HloOpcode opcode, const Instructions& operands, std::vector<Attribute> attributes,
                  const Shape* shape = nullptr);
  Instruction Reshape(Instruction operand, const Shape& shape);
  Instruction CustomCall(absl::string_view target, const Instructions& operands, const Shape& shape,
                         absl::string_view config = {});
  // A function of elements: that of the result at a point of the loops, which are its dimensions, is computed from
  // those of the operands that their maps lead to.
  Instruction AtEachPoint(const Instructions& operands, llvm::ArrayRef<mlir::AffineMap> maps,
                          const Shape& shape);
  // A scalar for each offset. Empty if all are constants, which then are in `constants` if it is not null.
  Instructions Offsets(llvm::ArrayRef<mlir::OpFoldResult> offsets, std::vector<int64_t>* constants);
  // An array whose dimensions are these loops, with those in the order that is wanted.
  Instruction InOrder(Instruction values, llvm::ArrayRef<unsigned> loops,
                      llvm::ArrayRef<unsigned> wanted);
  // The sum of the products of two operands over the loops that the result, of shape `shape`, does not keep.
  // Null if that is no dot: a loop of one operand alone is summed over, or one is in no operand.
  Instruction Dot(const Instructions& operands, llvm::ArrayRef<mlir::AffineMap> maps,
                  llvm::ArrayRef<unsigned> kept, const Shape& shape);
  // The result of a linalg operation that starts with the init of this number.
  Instruction LinalgResult(unsigned result);

  HloModule* module_;
  mlir::Operation* op_;
  const std::string name_;
  HloComputation* computation_ = nullptr;
  std::map<ElementType, const HloComputation*>* sums_;
  llvm::MapVector<mlir::Value, Instruction> inputs_;
  Instructions results_;
  absl::Status status_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_LINALG_OP_STEPS_H_
