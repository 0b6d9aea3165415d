// The modules of an input, parsed and verified.

#ifndef XLA_INDEXING_TOOLS_READ_MODULES_H_
#define XLA_INDEXING_TOOLS_READ_MODULES_H_

#include <memory>
#include <string>
#include <vector>

#include "xla_indexing/hlo/module.h"

namespace xla_indexing {

struct ReadModule {
  std::unique_ptr<HloModule> module;  // Null if it is not valid.
  std::vector<std::string> errors;    // Messages with their places.
};

// A module, or errors, for each piece of the input, in order.
std::vector<ReadModule> ReadModules(SourceText source);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_READ_MODULES_H_
