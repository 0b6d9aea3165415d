#include "tests/reference/judge/dependence.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/execute/value.h"
#include "tests/testing/random.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing::reference {
namespace {

// Operands every element of which is a source of its own, and the way back from a source's number.
class NumberedOperands {
 public:
  explicit NumberedOperands(const DeviceOperands& operands) {
    for (const std::vector<const Value*>& device_operands : operands) Number(device_operands);
  }

  DeviceOperands Values() const {
    DeviceOperands pointers;
    for (const std::vector<Value>& values : values_) pointers.push_back(Pointers(values));
    return pointers;
  }

  // The relation that the sources in the devices' results say.
  Dependence Read(const std::vector<Value>& results) const {
    Dependence dependence;
    const std::vector<Value>& operands = values_.front();
    for (size_t leaf = 0; leaf < results.front().size(); ++leaf) {
      for (size_t operand = 0; operand < operands.size(); ++operand) {
        for (size_t j = 0; j < operands[operand].size(); ++j) {
          dependence[{static_cast<int64_t>(leaf), static_cast<int64_t>(operand),
                      static_cast<int64_t>(j)}] = {};
        }
      }
    }
    for (size_t device = 0; device < results.size(); ++device) {
      for (size_t leaf = 0; leaf < results[device].size(); ++leaf) {
        const std::vector<Element>& elements = results[device][leaf].elements();
        for (size_t i = 0; i < elements.size(); ++i) {
          const auto position = static_cast<int64_t>(device * elements.size() + i);
          elements[i].sources.ForEach([&](int64_t number) {
            const Source& source = sources_[number];
            dependence[{static_cast<int64_t>(leaf), source.operand, source.leaf}].emplace_back(
                position, source.position);
          });
        }
      }
    }
    // Sources are numbered device by device, so that those of one element are in order.
    return dependence;
  }

 private:
  struct Source {
    int64_t operand;
    int64_t leaf;
    int64_t position;
  };

  void Number(const std::vector<const Value*>& operands) {
    const size_t device = values_.size();
    std::vector<Value>& values = values_.emplace_back();
    for (size_t operand = 0; operand < operands.size(); ++operand) {
      Value& value = values.emplace_back(*operands[operand]);
      for (size_t leaf = 0; leaf < value.size(); ++leaf) {
        std::vector<Element>& elements = value[leaf].elements();
        for (size_t i = 0; i < elements.size(); ++i) {
          elements[i].sources.Clear();
          elements[i].sources.Add(static_cast<int64_t>(sources_.size()));
          sources_.push_back({static_cast<int64_t>(operand), static_cast<int64_t>(leaf),
                              static_cast<int64_t>(device * elements.size() + i)});
        }
      }
    }
  }

  std::vector<std::vector<Value>> values_;  // by device, then operand
  std::vector<Source> sources_;
};

}  // namespace

Relation Converse(const Relation& relation) {
  Relation converse;
  for (const auto& [output, operand] : relation) converse.emplace_back(operand, output);
  absl::c_sort(converse);
  return converse;
}

absl::StatusOr<Dependence> DependenceOfInstruction(const HloInstruction& instruction,
                                                   const Devices& devices) {
  DeviceOperands values;
  for (size_t p = 0; p < devices.count(); ++p) {
    values.push_back(OperandValues(instruction, devices[p]));
  }
  const NumberedOperands operands(values);
  if (instruction.operand_count() == 0) {
    return operands.Read(std::vector<Value>(devices.count(), MakeValue(instruction.shape())));
  }
  if (devices.count() == 1) {
    absl::StatusOr<Value> result =
        ExecuteInstruction(instruction, operands.Values()[0], devices[0]);
    if (!result.ok()) return result.status();
    return operands.Read({*std::move(result)});
  }
  absl::StatusOr<std::vector<Value>> results =
      ExecuteInstructionOnDevices(instruction, operands.Values(), devices);
  if (!results.ok()) return results.status();
  return operands.Read(*results);
}

absl::StatusOr<Dependence> DependenceOf(
    Operands operands, absl::FunctionRef<absl::StatusOr<Value>(Operands numbered)> compute) {
  const NumberedOperands numbered(
      DeviceOperands{std::vector<const Value*>(operands.begin(), operands.end())});
  absl::StatusOr<Value> result = compute(numbered.Values()[0]);
  if (!result.ok()) return result.status();
  return numbered.Read({*std::move(result)});
}

absl::StatusOr<Dependence> DependenceOfComputation(const HloComputation& computation,
                                                   Operands arguments, uint64_t seed,
                                                   const ExecutionOptions& options) {
  return DependenceOf(arguments, [&](Operands numbered) -> absl::StatusOr<Value> {
    absl::StatusOr<Execution> execution = Execute(computation, numbered, seed, options);
    if (!execution.ok()) return execution.status();
    return execution->ValueOf(computation.root_instruction());
  });
}

absl::StatusOr<Dependence> DependenceOfComputation(const HloComputation& computation,
                                                   const DeviceOperands& arguments,
                                                   const std::vector<uint64_t>& seeds,
                                                   const ExecutionOptions& options) {
  const NumberedOperands operands(arguments);
  absl::StatusOr<std::vector<Execution>> executions =
      ExecuteOnDevices(computation, operands.Values(), seeds, options);
  if (!executions.ok()) return executions.status();
  std::vector<Value> results;
  for (const Execution& execution : *executions) {
    results.push_back(execution.ValueOf(computation.root_instruction()));
  }
  return operands.Read(results);
}

std::vector<Value> RandomArguments(const HloComputation& computation, uint64_t seed) {
  std::vector<Value> arguments;
  for (const HloInstruction* parameter : computation.parameters()) {
    Value& argument = arguments.emplace_back(MakeValue(parameter->shape()));
    FillIntegers(MixBits(seed) + arguments.size(), &argument);
  }
  return arguments;
}

std::vector<const Value*> Pointers(const std::vector<Value>& values) {
  std::vector<const Value*> pointers;
  pointers.reserve(values.size());
  for (const Value& value : values) pointers.push_back(&value);
  return pointers;
}

}  // namespace xla_indexing::reference
