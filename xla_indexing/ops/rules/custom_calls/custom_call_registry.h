// Rules for custom calls, by their target.
//
// A custom call does not say what it reads: without a rule every element of every result reads
// every element of every operand, over-approximate. A rule gives the maps instead. The default
// registry has rules for the targets in docs/operations.md. A program adds its own rules to a copy
// of it and passes that in the options, so that nothing shared changes.
//
// Example, a call that reverses its operand:
//
//   CustomCallRegistry registry = CustomCallRegistry::Default();
//   registry.Add("flip", {.output_to_input = Flip, .input_to_output = Flip});
//   IndexingOptions options;
//   options.custom_calls = &registry;
//
// where Flip(const CustomCallLeaf& leaf) returns one entry with the map (d0) -> (n - 1 - d0).

#ifndef XLA_INDEXING_OPS_RULES_CUSTOM_CALLS_CUSTOM_CALL_REGISTRY_H_
#define XLA_INDEXING_OPS_RULES_CUSTOM_CALLS_CUSTOM_CALL_REGISTRY_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/indexing_entry.h"

namespace xla_indexing {

// What a rule is asked about: one leaf of the result (output to input; `operand` is -1) or one leaf
// of one operand.
struct CustomCallLeaf {
  const HloInstruction& instruction;
  int64_t operand = -1;
  int64_t leaf = 0;
  mlir::MLIRContext* context;
};

struct CustomCallRule {
  // The entries of the leaf; nullopt if the rule does not cover this call, which is then read
  // whole. The two directions have to be converse relations.
  using Builder =
      std::function<absl::StatusOr<std::optional<InstructionIndexing>>(const CustomCallLeaf& leaf)>;

  Builder output_to_input;
  Builder input_to_output;
};

class CustomCallRegistry {
 public:
  // A registry without rules.
  CustomCallRegistry() = default;

  // The library's own rules.
  static const CustomCallRegistry& Default();

  // Adds a rule, or replaces the rule for that target.
  void Add(absl::string_view target, CustomCallRule rule);
  // The rule for a target; null if there is none.
  const CustomCallRule* Find(absl::string_view target) const;

 private:
  std::map<std::string, CustomCallRule, std::less<>> rules_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_OPS_RULES_CUSTOM_CALLS_CUSTOM_CALL_REGISTRY_H_
