// Functions on tensors of MLIR as modules of HLO: what there is for HLO is there for them.
//
// Each operation is a fusion of HLO's own operations, with the names, arrays and element types of the original:
//
//   a contraction of linalg     a dot of two operands, a transpose, and the sum with the initial value: where the body
//                               adds a product of these, permutations of the loops, and each summed loop is in both
//   another one                 its body at each point of its loops, a custom call that reads by the indexing maps
//                               (given_maps.h); a reduce over the loops that the result does not have; a transpose; what
//                               is reduced, with the initial value
//   tensor.extract_slice, insert_slice, expand_shape, collapse_shape, pad, concat, gather
//                               slice, dynamic-slice, dynamic-update-slice, reshape, pad, concatenate, gather
//   elementwise operations of arith and math
//                               a custom call with given maps
//   affine.load, affine.store   custom calls with given maps, whose runtime variables are the loop variables
//   tensor.empty, constants     custom calls that read nothing
//   all others                  custom calls that may read all of their operands, and what their regions capture
//
// So a result element of an operation of linalg reads, of each operand whose value its result depends on in the body,
// the elements { operand map(l) : result map(l) = element, l in the loops }. The body itself is not looked into
// further. Index values are scalars, s64[]: offsets that are values are runtime variables bound to them.
//
// Example:
//
//   absl::StatusOr<TensorFunction> function = TensorFunction::Create(func.getBody(), "f");
//   HloIndexers indexers(&context, WithGivenMaps());
//   ComputeUtilization(*function->InstructionOf(op), indexers);
//   function->ValueOf(*binding.instruction);    // what a runtime variable is read from
//
// Maps are read with the options of WithGivenMaps(). A value is an instruction, and for a single operation a parameter.
//
// Errors, with the operation's name: Unimplemented for sizes that are not static, types that HLO does not have, several
// blocks, bodies of linalg that read tensors, results of linalg whose map is no projected permutation, slices that
// are inserted with strides. The MLIR has to verify.
#ifndef XLA_INDEXING_LINALG_TENSOR_FUNCTION_H_
#define XLA_INDEXING_LINALG_TENSOR_FUNCTION_H_

#include <memory>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Region.h"
#include "mlir/IR/Value.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/linalg/given_maps.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing {

class TensorFunction {
 public:
  // The body of a function, of one block. Parameters are its arguments, those of types that HLO has; the result is what
  // it returns.
  static absl::StatusOr<TensorFunction> Create(mlir::Region& body, absl::string_view name);
  // One operation. Parameters are the different values that it reads, in the order of its operands and then of
  // what its regions capture; the result is its result, for affine.store the memory after it.
  static absl::StatusOr<TensorFunction> OfOperation(mlir::Operation* operation);

  const HloModule& module() const { return *module_; }
  const HloComputation& computation() const { return *module_->entry_computation(); }

  // The fusion that an operation is, or null.
  const HloInstruction* InstructionOf(mlir::Operation* operation) const {
    return of_operations_.lookup(operation);
  }
  // The instruction that has a value, or null.
  const HloInstruction* InstructionOf(mlir::Value value) const { return of_values_.lookup(value); }
  // The value that an instruction of the computation has, or null.
  mlir::Value ValueOf(const HloInstruction& instruction) const {
    return values_.lookup(&instruction);
  }

 private:
  friend class TensorFunctionBuilder;

  std::unique_ptr<HloModule> module_;
  llvm::DenseMap<mlir::Operation*, const HloInstruction*> of_operations_;
  llvm::DenseMap<mlir::Value, const HloInstruction*> of_values_;
  llvm::DenseMap<const HloInstruction*, mlir::Value> values_;
};

// The maps of one operation between its results and the values that it reads. Entries name results (as output leaves)
// and parameters of the function.
struct OpIndexing {
  TensorFunction function;
  SharedIndexing entries;

  mlir::Value OperandOf(const IndexingEntry& entry) const {
    return function.ValueOf(*function.computation().parameter(entry.operand));
  }
};
absl::StatusOr<OpIndexing> IndexingOf(mlir::Operation* operation, Direction direction);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_LINALG_TENSOR_FUNCTION_H_
