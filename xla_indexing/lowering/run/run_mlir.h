// Runs modules of MLIR in this process.
//
// It needs LLVM's compiler, so it is linked into the programs that run something and is in no component of the
// library. Code is not optimised before instructions are selected.
//
// Example: CompiledModule::Compile(**emitted)->Run("entry", arrays), arrays as EmitFusion says.
//
// Errors: Internal, with what LLVM says.
#ifndef XLA_INDEXING_LOWERING_RUN_RUN_MLIR_H_
#define XLA_INDEXING_LOWERING_RUN_RUN_MLIR_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

namespace xla_indexing {

// A context with the dialects and interfaces that lowering to LLVM needs.
std::unique_ptr<mlir::MLIRContext> MakeLoweringContext();

// An array in row-major or another order: bytes, sizes and strides in elements.
struct RunArray {
  std::vector<char> bytes;
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
};

class CompiledModule {
 public:
  // Lowers the module, which is changed, and compiles it.
  static absl::StatusOr<CompiledModule> Compile(mlir::ModuleOp module);

  // Calls a function of memrefs. Its loops end soon after `stop` becomes true; what it has written then
  // means nothing.
  absl::Status Run(const std::string& function, std::vector<RunArray>& arrays,
                   const std::atomic<bool>* stop = nullptr);
  // Calls a function of integers of 64 bits (i64 or index, or i32 and i1 in the lowest bits) with one
  // memref<?xi64> to write to as its last argument.
  absl::Status RunIntegers(const std::string& function, std::vector<int64_t> arguments,
                           std::vector<int64_t>* results);

 private:
  absl::Status Invoke(const std::string& function, std::vector<void*> arguments,
                      const std::atomic<bool>* stop);

  std::unique_ptr<mlir::ExecutionEngine> engine_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_LOWERING_RUN_RUN_MLIR_H_
