// `print-indexing --map=FILE`: indexing maps as text, one a line, each printed simplified.

#ifndef XLA_INDEXING_TOOLS_MODES_MAP_MODE_H_
#define XLA_INDEXING_TOOLS_MODES_MAP_MODE_H_

#include "xla_indexing/tools/input/command_line.h"

namespace xla_indexing {

// Blank lines are passed over. A line that is no map is reported with its place, and the others go
// on. Returns the exit code.
int PrintSimplifiedMaps(const CommandLine& line);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_MODES_MAP_MODE_H_
