// `--query=coalescing --mapping=emitter`: the kernel that XLA would make of a subject
// (gpu/fusion_mapping.h), and how it is printed.

#ifndef XLA_INDEXING_TOOLS_ANSWERS_KERNEL_OUTPUT_H_
#define XLA_INDEXING_TOOLS_ANSWERS_KERNEL_OUTPUT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/report/write/json_writer.h"
#include "xla_indexing/tools/answers/report.h"
#include "xla_indexing/tools/input/command_line.h"
#include "xla_indexing/tools/input/subject.h"

namespace xla_indexing {

// What the threads of an array read of one operand's leaf, or write of one output leaf.
struct ReportedAccess {
  bool is_read = true;
  int64_t number = 0;  // of the operand
  int64_t leaf = 0;
  bool is_leaf_of_tuple = false;
  std::string array;  // the name of the instruction that the threads go over
  std::string thread_map;
  std::vector<ReportedMap> maps;  // with coalescing
};

struct ReportedKernel {
  std::string error;  // why nothing is known; empty where something is
  std::string kind;
  std::string hero;
  int64_t threads_per_block = 0;
  int64_t blocks = 0;
  std::vector<ReportedAccess> accesses;
};

// The kernel of a subject, of its accesses those that the command line asks for.
ReportedKernel ReportKernel(const Subject& subject, const CommandLine& line,
                            mlir::MLIRContext* context);

// Appends lines, each with a line feed after it.
void AppendKernel(const ReportedKernel& kernel, double factor, std::string* out);
// The fields of an object.
void WriteKernel(const Subject& subject, const ReportedKernel& kernel, internal::JsonWriter* json);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_ANSWERS_KERNEL_OUTPUT_H_
