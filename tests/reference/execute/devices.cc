#include "tests/reference/execute/devices.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/execute/value.h"
#include "tests/testing/random.h"
#include "xla_indexing/hlo/devices/collective.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::reference {
namespace {

using internal::IsCollective;

// The computation that an instruction calls once, with its operands as they are.
const HloComputation* CalledComputation(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kFusion) return instruction.calls();
  if (instruction.opcode() == HloOpcode::kCall) return instruction.to_apply();
  return nullptr;
}

std::vector<uint64_t> SeedsOf(const HloInstruction& instruction, const Devices& devices) {
  std::vector<uint64_t> seeds;
  for (size_t p = 0; p < devices.count(); ++p) {
    seeds.push_back(
        MixBits(devices[p].seed ^ MixBits(instruction.index_in_computation() + 0x1234)));
  }
  return seeds;
}

// The values of an instruction, and the executions of the computations that it calls.
absl::StatusOr<std::vector<Value>> ExecuteStep(const HloInstruction& instruction,
                                               const DeviceOperands& operands,
                                               const Devices& devices,
                                               std::vector<Execution::Calls>* calls) {
  const std::vector<uint64_t> seeds = SeedsOf(instruction, devices);
  calls->resize(devices.count());
  std::vector<Value> values;
  if (const HloComputation* computation = CalledComputation(instruction)) {
    absl::StatusOr<std::vector<Execution>> inner =
        ExecuteOnDevices(*computation, operands, seeds, devices[0].options);
    if (!inner.ok()) return inner.status();
    for (size_t p = 0; p < devices.count(); ++p) {
      values.push_back((*inner)[p].ValueOf(computation->root_instruction()));
      if (absl::Status status = SetShape(instruction, &values[p]); !status.ok()) return status;
      (*calls)[p][{&instruction, computation}] =
          std::make_unique<Execution>(std::move((*inner)[p]));
    }
    return values;
  }
  if (IsCollective(instruction.opcode())) {
    values = ExecuteCollective(instruction, operands);
    for (size_t p = 0; p < devices.count(); ++p) {
      if (absl::Status status = SetShape(instruction, &values[p]); !status.ok()) return status;
      FillIntegers(seeds[p], &values[p]);
    }
    return values;
  }
  for (size_t p = 0; p < devices.count(); ++p) {
    absl::StatusOr<Value> value =
        ExecuteInstruction(instruction, operands[p], devices[p], &(*calls)[p]);
    if (!value.ok()) return value.status();
    values.push_back(*std::move(value));
  }
  return values;
}

}  // namespace

std::vector<Devices> Devices::Called(const HloInstruction* caller,
                                     const HloComputation* computation) const {
  Devices together;
  for (const Execution* execution : executions_) {
    const auto call = execution->calls.find({caller, computation});
    if (call != execution->calls.end()) together.executions_.push_back(call->second.get());
  }
  if (together.count() == 0) return {};
  if (together.count() == count()) return {together};
  std::vector<Devices> alone;
  for (const Execution* execution : together.executions_) alone.push_back(Devices(*execution));
  return alone;
}

int64_t DeviceCount(const HloModule& module) {
  return module.replica_count() * module.num_partitions();
}

absl::StatusOr<std::vector<Execution>> ExecuteOnDevices(const HloComputation& computation,
                                                        const DeviceOperands& arguments,
                                                        const std::vector<uint64_t>& seeds,
                                                        const ExecutionOptions& options) {
  std::vector<Execution> executions(seeds.size());
  for (size_t p = 0; p < seeds.size(); ++p) {
    executions[p].seed = seeds[p];
    executions[p].options = options;
  }
  for (const HloInstruction* instruction : computation.instructions()) {
    if (instruction->opcode() == HloOpcode::kParameter) {
      for (size_t p = 0; p < seeds.size(); ++p) {
        Value& value = executions[p].values[instruction];
        value = *arguments[p][instruction->parameter_number()];
        if (absl::Status status = SetShape(*instruction, &value); !status.ok()) return status;
      }
      continue;
    }
    DeviceOperands operands;
    for (const Execution& execution : executions) {
      operands.push_back(OperandValues(*instruction, execution));
    }
    std::vector<Execution::Calls> calls;
    absl::StatusOr<std::vector<Value>> values =
        ExecuteStep(*instruction, operands, Devices(executions), &calls);
    if (!values.ok()) return values.status();
    for (size_t p = 0; p < seeds.size(); ++p) {
      executions[p].values.emplace(instruction, std::move((*values)[p]));
      executions[p].calls.merge(std::move(calls[p]));
    }
  }
  return executions;
}

absl::StatusOr<std::vector<Value>> ExecuteInstructionOnDevices(const HloInstruction& instruction,
                                                               const DeviceOperands& operands,
                                                               const Devices& devices) {
  std::vector<Execution::Calls> calls;
  return ExecuteStep(instruction, operands, devices, &calls);
}

}  // namespace xla_indexing::reference
