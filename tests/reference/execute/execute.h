// Execution of computations on arrays with sources.
//
// Every integer and predicate element of every instruction gets a concrete value. Where the
// definitions of operations.h and integers.h do not give one (an integer converted from a float, a
// sum of many), the element gets an arbitrary value that depends on `seed` and its place alone, so
// that executing again gives the same; or on the operands and its place alone, where these are
// integers, so that iterations of a loop make the same of the same operands.

#ifndef XLA_INDEXING_TESTS_REFERENCE_EXECUTE_EXECUTE_H_
#define XLA_INDEXING_TESTS_REFERENCE_EXECUTE_EXECUTE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tests/reference/execute/operations.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing::reference {

struct ExecutionOptions {
  // Whether a scatter drops windows that are partly outside as a whole, as HLO has it, or element
  // by element, as StableHLO has it.
  bool drops_whole_windows = true;
  // Whether fixed values decide what an element is computed from: of a select with a fixed predicate
  // the value that it takes, and nothing of what is combined with a fixed integer that alone decides
  // the result.
  bool decides = false;
  // All integers decide as scalars do, those of arrays of data too.
  bool data_decides = false;
  // Whether an arbitrary value depends on the operation and the sources of the element, and not on the
  // instruction: two modules that compute the same by other instructions have equal values.
  bool values_of_sources = false;
};

// The values of a computation's instructions, and the executions of the computations that they
// call.
struct Execution {
  // Caller and computation; of the last run where it runs several times. A conditional runs all its
  // branches, the one that is chosen last.
  using Call = std::pair<const HloInstruction*, const HloComputation*>;
  using Calls = absl::flat_hash_map<Call, std::unique_ptr<Execution>>;

  absl::flat_hash_map<const HloInstruction*, Value> values;
  Calls calls;
  // How often the caller has run the computation, and the runs of the body of a while before this.
  int64_t runs = 1;
  std::vector<std::unique_ptr<Execution>> earlier;
  uint64_t seed = 0;
  ExecutionOptions options;

  const Value& ValueOf(const HloInstruction* instruction) const { return values.at(instruction); }
};

// Executes a computation on the values of its parameters, by number. Unimplemented, naming the
// opcode, for operations that have no definition in operations.h.
absl::StatusOr<Execution> Execute(const HloComputation& computation, Operands arguments,
                                  uint64_t seed, const ExecutionOptions& options = {});

// Executes one instruction of an executed computation on other operands, such as the same ones with
// new sources. Not for parameters. `calls` gets the executions of computations that are called.
absl::StatusOr<Value> ExecuteInstruction(const HloInstruction& instruction, Operands operands,
                                         const Execution& execution,
                                         Execution::Calls* calls = nullptr);

// The operands' values of an instruction of an executed computation.
std::vector<const Value*> OperandValues(const HloInstruction& instruction,
                                        const Execution& execution);

// Gives the arrays of an instruction's value, which may be handed on from an operand, the layouts
// of its shape. Unimplemented where they are not the arrays of that shape: operations.h does not
// define the operation in this form.
absl::Status SetShape(const HloInstruction& instruction, Value* value);

// Arbitrary values for the integer elements that have none: small ones around the bounds of small
// arrays for the most part, seldom the least and greatest of the type.
void FillIntegers(uint64_t seed, Value* value);

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_EXECUTE_EXECUTE_H_
