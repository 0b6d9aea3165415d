// What print-indexing does when it runs out of memory.

#ifndef XLA_INDEXING_TOOLS_OUT_OF_MEMORY_H_
#define XLA_INDEXING_TOOLS_OUT_OF_MEMORY_H_

namespace xla_indexing {

// From here on, a failed allocation, of this program or of MLIR, ends the process with a message on
// standard error and exit code `exit_code`; what was written before is printed. The same happens
// when a container is asked to be larger than any memory, or a thread cannot be started. To be
// called once.
void EndWhenOutOfMemory(int exit_code);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_OUT_OF_MEMORY_H_
