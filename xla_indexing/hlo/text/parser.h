// Parsing of HLO text.
//
// A text may hold several modules, separated by lines `// -----`. Each piece between them is
//   - a module, with or without its header `HloModule name, ...` (without one it is named
//     `module_<entry>`); without ENTRY the last computation is the entry, without ROOT the last
//     instruction is the root. Computations with signatures and neither header nor ENTRY are
//     refused: they are cut off from their module;
//   - or the instructions of one computation without anything around them;
//   - or one instruction, whose operands may be given by their shapes alone: `add(f32[4], f32[4])`
//     gets the parameters that it reads;
//   - or nothing but comments and blanks, which gives no module and no error.
// The shape of a result may be left out where it follows from the operands; it is inferred.
//
// The text is read once, in linear time. Nothing is aborted on: whatever the text is, the result is
// a module or an error whose message shows the place,
//
//   FILE:LINE:COLUMN: error: what was expected
//   <the source line>
//      ^
//
// and reading continues with the next piece. A module that parses is well formed (names, parameters
// and called computations resolve, element counts fit 64 bits) but not verified: the first question
// about it does that, and is an error if it is not valid (hlo/verify/verifier.h).
//
// An opcode that is not known is no error where the shape of the result is given: the instruction keeps
// its spelling, and may read all of its operands (HloOpcode::kUnknown). Attributes that are not known are
// kept as they were written.
//
// Some spellings are shorthand, and the parsed module has the long form: an instruction nested as
// an operand stands before its user, `%p#0` is a get-tuple-element, `custom-call-start(...)` is an
// async-start that calls a computation of its own.
//
// Example:
//
//   for (auto& module : ParseModules({"m.hlo", "ENTRY e { ROOT p = f32[4] parameter(0) }"})) {
//     if (!module.ok()) { std::cerr << module.status().message() << "\n"; continue; }
//     (*module)->name();  // "module_e"
//   }

#ifndef XLA_INDEXING_HLO_TEXT_PARSER_H_
#define XLA_INDEXING_HLO_TEXT_PARSER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {

// The modules of a text, in order, or the first error of each piece that has one. The modules share
// the text. At most 2^31 bytes are read.
std::vector<absl::StatusOr<std::unique_ptr<HloModule>>> ParseModules(SourceText source);

// The one module of a text; an error if it holds none or several.
absl::StatusOr<std::unique_ptr<HloModule>> ParseModule(absl::string_view text,
                                                       absl::string_view filename = "<string>");

// The one module of a text, if the verifier accepts it (hlo/verify/verifier.h): what the analysis asks of
// a module. An error names the place, and the instruction and the numbers.
absl::StatusOr<std::unique_ptr<HloModule>> ParseAndVerifyModule(
    absl::string_view text, absl::string_view filename = "<string>");

// The shape that `text` spells, and nothing after it. Errors name the column (1-based, bytes).
absl::StatusOr<Shape> ParseShape(absl::string_view text);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_TEXT_PARSER_H_
