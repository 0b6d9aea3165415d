// `print-indexing --report`: what every kernel of the modules moves, and what of it is wasted.

#ifndef XLA_INDEXING_TOOLS_MODES_REPORT_MODE_H_
#define XLA_INDEXING_TOOLS_MODES_REPORT_MODE_H_

#include "xla_indexing/tools/input/command_line.h"

namespace xla_indexing {

// Prints tables, or writes the file that the command line names. A file that cannot be read and a
// module that is not valid are reported, and the others go on. Where standard error is a terminal
// and the report takes over a second, a line there says how far it is. Returns the exit code: 1
// where an input was bad or the file could not be written.
int PrintReport(const CommandLine& line);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_MODES_REPORT_MODE_H_
