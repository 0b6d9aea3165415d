// Execution on several devices: all devices of a module execute the same instructions, those across
// replicas together.
//
// Device p is partition p mod num_partitions of replica p floordiv num_partitions (its flattened
// id). The counts are those of the module's header.

#ifndef XLA_INDEXING_TESTS_REFERENCE_EXECUTE_DEVICES_H_
#define XLA_INDEXING_TESTS_REFERENCE_EXECUTE_DEVICES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing::reference {

// The executions of one computation, by flattened id. One execution alone is that of one device.
class Devices {
 public:
  Devices(const Execution& only) : executions_({&only}) {}  // NOLINT: converts.
  explicit Devices(const std::vector<Execution>& executions) {
    for (const Execution& execution : executions) executions_.push_back(&execution);
  }

  size_t count() const { return executions_.size(); }
  const Execution& operator[](size_t device) const { return *executions_[device]; }

  // The executions of a computation that an instruction calls: all devices together where all of
  // them call it; otherwise (a branch that some take) each of those that do, alone.
  std::vector<Devices> Called(const HloInstruction* caller,
                              const HloComputation* computation) const;

 private:
  Devices() = default;

  absl::InlinedVector<const Execution*, 1> executions_;
};

// Operands or arguments of every device.
using DeviceOperands = std::vector<std::vector<const Value*>>;

int64_t DeviceCount(const HloModule& module);

// Arbitrary values depend on the seeds, one for each device.
absl::StatusOr<std::vector<Execution>> ExecuteOnDevices(const HloComputation& computation,
                                                        const DeviceOperands& arguments,
                                                        const std::vector<uint64_t>& seeds,
                                                        const ExecutionOptions& options = {});

// ExecuteInstruction on every device.
absl::StatusOr<std::vector<Value>> ExecuteInstructionOnDevices(const HloInstruction& instruction,
                                                               const DeviceOperands& operands,
                                                               const Devices& devices);

// collective.cc: the results of an operation across replicas, from its operands on every device.
std::vector<Value> ExecuteCollective(const HloInstruction& instruction,
                                     const DeviceOperands& operands);

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_EXECUTE_DEVICES_H_
