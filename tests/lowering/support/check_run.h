// Emitted functions, run in this process, against the values that their operations define.
//
// Integers are equal. Floats are within 4 units in the last place by default: both sides do the same
// operations of the same precision in the same order, and differ only in functions such as exp, which
// LLVM may compute otherwise than libm. Of a complex number the units are those of its absolute value.
#ifndef XLA_INDEXING_TESTS_LOWERING_SUPPORT_CHECK_RUN_H_
#define XLA_INDEXING_TESTS_LOWERING_SUPPORT_CHECK_RUN_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing {

using EmitFunction = absl::FunctionRef<absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>>(
    const HloComputation& computation, mlir::MLIRContext* context)>;

enum class RandomFloats {
  kAll,       // also infinities, NaN, numbers whose sums are rounded
  kQuarters,  // small multiples of 1/4, sums and products of which are exact in any order
};

// Runs the entry of a module on random arguments and compares: floats within `ulps`. Unimplemented where
// one of the sides does not know it.
absl::Status CheckRun(const std::string& text, uint64_t seed, EmitFunction emit,
                      RandomFloats floats, int64_t ulps = 4);

// The opcodes of random modules that are lowered.
std::vector<HloOpcode> LoweredOpcodes();

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_LOWERING_SUPPORT_CHECK_RUN_H_
