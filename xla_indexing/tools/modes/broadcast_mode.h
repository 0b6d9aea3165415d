// `print-indexing --broadcast SHAPE...`: the implicit broadcast of operands of these shapes.

#ifndef XLA_INDEXING_TOOLS_MODES_BROADCAST_MODE_H_
#define XLA_INDEXING_TOOLS_MODES_BROADCAST_MODE_H_

#include "xla_indexing/tools/input/command_line.h"

namespace xla_indexing {

// Prints the shape of the result, what must hold at run time, and for each operand its dimensions
// in the result and its maps; or, with --emit, the module in which the broadcast is explicit.
// Returns the exit code: 1 where the shapes do not go together, 2 where an argument is no shape.
int PrintBroadcast(const CommandLine& line);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_MODES_BROADCAST_MODE_H_
