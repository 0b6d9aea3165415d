// `print-indexing FILE...`: the indexing maps of what the command line selects of HLO files.

#ifndef XLA_INDEXING_TOOLS_MODES_HLO_MODE_H_
#define XLA_INDEXING_TOOLS_MODES_HLO_MODE_H_

#include "xla_indexing/tools/input/command_line.h"

namespace xla_indexing {

// Prints modules in the order of the files, each when it is done as a whole. A file that cannot be
// read and a module that is not valid are reported, and the others go on. Returns the exit code: 1
// where an input was bad; 2 where names or numbers of the command line select nothing in any
// module.
int PrintHloIndexing(const CommandLine& line);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_MODES_HLO_MODE_H_
