// The function that a computation becomes, while it is being emitted: its arguments, and the memory of
// constants.
//
// Arguments are memrefs, one for each leaf of each parameter, then one for each leaf of the result;
// layouts are strides.
//
// Example, of f32[2,3]{0,1} parameter(0) and a result f32[3]:
//   func.func @e(%arg0: memref<2x3xf32, strided<[1, 2]>>, %arg1: memref<3xf32>)
//
// Errors. Unimplemented, naming the instruction, for element types, layouts and shapes that are not
// lowered.
#ifndef XLA_INDEXING_LOWERING_FUSION_FUNCTION_FRAME_H_
#define XLA_INDEXING_LOWERING_FUSION_FUNCTION_FRAME_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/lowering/fusion/element_reader.h"
#include "xla_indexing/lowering/index/apply_indexing.h"

namespace xla_indexing::internal {

// The error with the instruction's name in front.
absl::Status Named(const HloInstruction& instruction, const absl::Status& status);

// The memory of an array: its layout as strides.
absl::StatusOr<mlir::MemRefType> MemoryType(const Shape& shape, mlir::MLIRContext* context);

// Gives the parameters of a view of all of a computation their memory, which is that of the leaves
// of the computation's parameters.
absl::Status PlaceParameters(const HloComputation& computation, const FusionView& view,
                             const MlirValues& arguments, ElementReader* reader);

class FunctionFrame {
 public:
  // Loads the dialects that functions are made of.
  FunctionFrame(const HloComputation& computation, mlir::MLIRContext* context);

  absl::Status Begin();
  // The memory of a constant: a global of the module.
  absl::StatusOr<mlir::Value> AddConstant(const HloInstruction& constant);
  // Ends the function. Each constant that is used is there once, at its beginning.
  absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> Finish();

  mlir::ImplicitLocOpBuilder& builder() { return builder_; }
  // The memory of each leaf of the parameters, and of each leaf of the result.
  const MlirValues& arguments() const { return arguments_; }
  const MlirValues& results() const { return results_; }

 private:
  void ShareConstants();

  const HloComputation& computation_;
  mlir::ImplicitLocOpBuilder builder_;
  mlir::OwningOpRef<mlir::ModuleOp> module_;
  MlirValues arguments_;
  MlirValues results_;
  int constant_count_ = 0;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_LOWERING_FUSION_FUNCTION_FRAME_H_
