// `print-indexing --emit=mlir [--computation=NAME] [--tile_sizes=..] FILE...`: the ENTRY of each module, or that
// computation, as a function of MLIR that computes it, tile by tile where sizes are given.

#ifndef XLA_INDEXING_TOOLS_EMIT_MLIR_MODE_H_
#define XLA_INDEXING_TOOLS_EMIT_MLIR_MODE_H_

#include "xla_indexing/tools/input/command_line.h"

namespace xla_indexing {

// Prints what EmitFusion (lowering/emit_fusion.h) or EmitTiles makes, in the order of the files. An input that is bad,
// or has an instruction that is not lowered, is reported, and the others go on. Returns the exit code: 1
// where there was one.
int PrintMlir(const CommandLine& line);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_EMIT_MLIR_MODE_H_
