// `print-indexing --explain --output_element=I,.. --operand_element=I,..`: why an element of the result
// depends on an element of a parameter.

#ifndef XLA_INDEXING_TOOLS_MODES_EXPLAIN_MODE_H_
#define XLA_INDEXING_TOOLS_MODES_EXPLAIN_MODE_H_

#include "absl/status/statusor.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/query/explain/explain_dependence.h"
#include "xla_indexing/tools/input/command_line.h"

namespace xla_indexing {

// The answer to the command line's question about a computation.
absl::StatusOr<DependenceReport> Explain(const HloComputation& computation,
                                         const CommandLine& line);

// Returns the exit code: 0 where it depends on it, 1 where it does not, 2 where an input is none or has
// no such computation or element, 3 where it was not decided.
int PrintExplanation(const CommandLine& line);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_MODES_EXPLAIN_MODE_H_
