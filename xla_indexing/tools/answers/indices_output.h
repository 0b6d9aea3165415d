// `--query=indices`: what gathers and scatters are, and `--emit=hlo` with it: the module in which
// they are written so. docs/command-line.md describes both.
//
//   Indices of g: strided slice, reverse: (d0) -> (d0 * -2 + 7), domain: d0 in [0, 3]
//     sorted: no: an index vector is less than one before it
//     in bounds: yes: every window is inside the operand
#ifndef XLA_INDEXING_TOOLS_ANSWERS_INDICES_OUTPUT_H_
#define XLA_INDEXING_TOOLS_ANSWERS_INDICES_OUTPUT_H_

#include <string>
#include <vector>

#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/query/index_structure/index_structure.h"
#include "xla_indexing/report/write/json_writer.h"
#include "xla_indexing/tools/input/command_line.h"
#include "xla_indexing/tools/input/subject.h"

namespace xla_indexing {

// Those of the instruction, or of what it calls, with the indices that are computed for it.
std::vector<InstructionIndices> ReportIndices(const Subject& subject, mlir::MLIRContext* context);

// Lines.
void AppendIndices(const InstructionIndices& indices, std::string* out);
// The fields of an object.
void WriteIndices(const InstructionIndices& indices, internal::JsonWriter* json);

// Prints the modules of the files as HLO text; where the query is for indices, rewritten. Returns the exit code.
int PrintRewrittenModules(const CommandLine& line);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_ANSWERS_INDICES_OUTPUT_H_
