// `print-indexing --compare`: where two computations read their parameters differently.

#ifndef XLA_INDEXING_TOOLS_MODES_COMPARE_MODE_H_
#define XLA_INDEXING_TOOLS_MODES_COMPARE_MODE_H_

#include "xla_indexing/tools/input/command_line.h"

namespace xla_indexing {

// Returns the exit code: 0 where they read the same, 1 where they do not, 2 where an input is none
// or has no such computation, 3 where it was not decided.
int PrintComparison(const CommandLine& line);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_MODES_COMPARE_MODE_H_
