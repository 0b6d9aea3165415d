#include "tests/reference/dependence.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "tests/reference/execute.h"
#include "tests/reference/value.h"
#include "tests/testing/random.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/instruction.h"

namespace xla_indexing::reference {
namespace {

// Operands every element of which is a source of its own, and the way back from a source's number.
class NumberedOperands {
 public:
  explicit NumberedOperands(Operands operands) {
    for (size_t operand = 0; operand < operands.size(); ++operand) {
      Value& value = values_.emplace_back(*operands[operand]);
      for (size_t leaf = 0; leaf < value.size(); ++leaf) {
        std::vector<Element>& elements = value[leaf].elements();
        for (size_t position = 0; position < elements.size(); ++position) {
          elements[position].sources.Clear();
          elements[position].sources.Add(static_cast<int64_t>(sources_.size()));
          sources_.push_back({static_cast<int64_t>(operand), static_cast<int64_t>(leaf),
                              static_cast<int64_t>(position)});
        }
      }
    }
  }

  const std::vector<Value>& values() const { return values_; }

  // The relation that the sources in `result` say.
  Dependence Read(const Value& result) const {
    Dependence dependence;
    for (size_t leaf = 0; leaf < result.size(); ++leaf) {
      const int64_t output_leaf = static_cast<int64_t>(leaf);
      for (size_t operand = 0; operand < values_.size(); ++operand) {
        for (size_t j = 0; j < values_[operand].size(); ++j) {
          dependence[{output_leaf, static_cast<int64_t>(operand), static_cast<int64_t>(j)}] = {};
        }
      }
      const std::vector<Element>& elements = result[leaf].elements();
      for (size_t position = 0; position < elements.size(); ++position) {
        elements[position].sources.ForEach([&](int64_t number) {
          const Source& source = sources_[number];
          dependence[{output_leaf, source.operand, source.leaf}].emplace_back(
              static_cast<int64_t>(position), source.position);
        });
      }
    }
    return dependence;
  }

 private:
  struct Source {
    int64_t operand;
    int64_t leaf;
    int64_t position;
  };

  std::vector<Value> values_;
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
                                                   const Execution& execution) {
  const NumberedOperands operands(OperandValues(instruction, execution));
  absl::StatusOr<Value> result =
      instruction.operand_count() == 0
          ? MakeValue(instruction.shape())
          : ExecuteInstruction(instruction, Pointers(operands.values()), execution);
  if (!result.ok()) return result.status();
  return operands.Read(*result);
}

absl::StatusOr<Dependence> DependenceOfComputation(const HloComputation& computation,
                                                   Operands arguments, uint64_t seed,
                                                   const ExecutionOptions& options) {
  const NumberedOperands operands(arguments);
  absl::StatusOr<Execution> execution =
      Execute(computation, Pointers(operands.values()), seed, options);
  if (!execution.ok()) return execution.status();
  return operands.Read(execution->ValueOf(computation.root_instruction()));
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
