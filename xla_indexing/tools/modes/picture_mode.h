// `print-indexing --picture=FILE.svg`: what one element of an instruction or computation reads.

#ifndef XLA_INDEXING_TOOLS_MODES_PICTURE_MODE_H_
#define XLA_INDEXING_TOOLS_MODES_PICTURE_MODE_H_

#include "xla_indexing/tools/input/command_line.h"

namespace xla_indexing {

// Draws the first thing that the command line selects in its file. Returns the exit code: 1 where the
// input is bad or the picture could not be made, 2 where names select nothing.
int DrawPicture(const CommandLine& line);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_MODES_PICTURE_MODE_H_
