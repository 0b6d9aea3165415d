// Checks that a module is what the rest of the library relies on.
//
// Questions about a module, or about anything in it, are errors unless it is valid: each calls
// VerifyModule() first. A module remembers what was found until it is changed, so that this
// costs something once. What is right in a module that is not valid is answered about the copy that
// SetErrorsAside() makes (hlo/transforms/set_aside.h).
//
// A module that verifies has an entry; names of computations, and of instructions in a computation,
// are unique; operands are instructions of the same computation that come before their user, and
// called computations come before their callers (so neither can go round in circles); parameters
// are numbered 0, 1, 2, .. without a gap; the entry takes and yields what the header's
// entry_computation_layout says; every shape has a number of elements that fits 64 bits; and every
// instruction has as many operands as its operation takes, attributes that fit them, and the shape
// that they give.
//
// Verifying takes time linear in the instructions, their shapes and their attributes, and does not
// recurse over instructions.
//
// Example:
//
//   absl::Status status = VerifyModule(*module);
//   // m.hlo:3:8: error: instruction 't' (transpose) has shape f32[2,3] but its operands and
//   // attributes give f32[3,2]
//   //   ROOT t = f32[2,3] transpose(p), dimensions={1,0}
//   //        ^

#ifndef XLA_INDEXING_HLO_VERIFY_VERIFIER_H_
#define XLA_INDEXING_HLO_VERIFY_VERIFIER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing {

struct VerificationError {
  // What is at fault; the last two are null if it is no one instruction, the last also where it
  // is no one computation.
  const HloModule* module = nullptr;
  const HloComputation* computation = nullptr;
  const HloInstruction* instruction = nullptr;
  // One sentence, which names the computation or instruction.
  std::string message;
  // Whether the instruction alone is at fault, its shape, attributes or operands, in a module that
  // otherwise hangs together. What is wrong in this way can be set aside
  // (hlo/transforms/set_aside.h).
  bool is_of_instruction_alone = false;

  // The message, or one in its place, with the place in the source text, the source line and a
  // caret, where the module was parsed; the message otherwise.
  std::string ToString() const { return ToString("error", message); }
  std::string ToString(absl::string_view severity, absl::string_view text) const;
};

// The first `max_errors` errors of a module, in its order; empty if it is valid.
std::vector<VerificationError> FindErrors(const HloModule& module, int64_t max_errors);

// What is not wrong, but not known either: the first `max_warnings` instructions whose opcodes are none
// that the library knows, in the module's order. Each is to be said as `ToString("warning", message)`.
// Such an instruction is treated as reading all of its operands.
std::vector<VerificationError> FindWarnings(const HloModule& module, int64_t max_warnings);

// InvalidArgument with the first error as `ToString` shows it, or OK. Takes no time where it is known
// (HloModule::verdict). May be called from several threads.
absl::Status VerifyModule(const HloModule& module);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_VERIFY_VERIFIER_H_
