// HLO text of modules, computations and instructions.
//
// The output parses back to an equal module. Names are printed with `%`, operands by their names,
// the typed attributes in one canonical form each and all others as they were written, in their
// order.
//
// Example: the instruction `n = f32[4] negate(p)` is printed as `%n = f32[4] negate(%p)`.

#ifndef XLA_INDEXING_HLO_TEXT_PRINTER_H_
#define XLA_INDEXING_HLO_TEXT_PRINTER_H_

#include <string>

#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/literal.h"

namespace xla_indexing {

// Each appends to `*text`.
void PrintModule(const HloModule& module, std::string* text);
// With the braces and what comes before and after them; `ENTRY` where it is the module's entry.
void PrintComputation(const HloComputation& computation, std::string* text);
// One line, `%n = f32[4] negate(%p)`, without a line end.
void PrintInstruction(const HloInstruction& instruction, std::string* text);
// The value without its shape: `{{1, 2}, {3, 4}}`.
void PrintLiteral(const Literal& literal, std::string* text);
// `"..."` with escapes for what cannot stand in a string.
void PrintString(absl::string_view value, std::string* text);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_TEXT_PRINTER_H_
