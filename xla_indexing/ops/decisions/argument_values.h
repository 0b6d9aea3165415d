// The arrays that runtime variables are read from, computed from arguments that are given.
//
// What a computation computes from them, from constants and iotas alone is computed whole: elementwise
// operations, what moves elements, reductions, windows, gathers, scatters, calls and loops; up to 2^27
// elements in all.
//
// Example, of gather(p, add(i, 1)) with i: s32[2]:
//
//   const auto values = ArgumentValues::Create(entry, {nullptr, literal_of_i});
//   values->ArrayOf(indexing.bindings()[0], &context)->IntegerAt(0)    // i[0] + 1
//
// Errors. InvalidArgument for an argument whose element type or dimensions are not those of its parameter.
#ifndef XLA_INDEXING_OPS_DECISIONS_ARGUMENT_VALUES_H_
#define XLA_INDEXING_OPS_DECISIONS_ARGUMENT_VALUES_H_

#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"

namespace xla_indexing {

namespace internal {
class ValueOrigins;
}  // namespace internal

class ArgumentValues {
 public:
  // Arguments by the number of the parameter; null if it is not given. The computation outlives this.
  static absl::StatusOr<ArgumentValues> Create(
      const HloComputation& computation, std::vector<std::shared_ptr<const Literal>> arguments);
  ~ArgumentValues();
  ArgumentValues(ArgumentValues&& other) noexcept;
  ArgumentValues& operator=(ArgumentValues&& other) noexcept;

  // The array that a runtime variable of a map of the computation is an element of. Null if it is not known,
  // or is computed in the iterations of a loop. It lives as long as this.
  const Literal* ArrayOf(const RuntimeVarIndexing& variable, mlir::MLIRContext* context);

 private:
  ArgumentValues();

  std::unique_ptr<internal::ValueOrigins> origins_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_OPS_DECISIONS_ARGUMENT_VALUES_H_
