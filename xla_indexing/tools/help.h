// What print-indexing says about itself.

#ifndef XLA_INDEXING_TOOLS_HELP_H_
#define XLA_INDEXING_TOOLS_HELP_H_

#include "absl/strings/string_view.h"

namespace xla_indexing {

// The text of `--help`: every flag, how to read a map, examples.
absl::string_view HelpText();

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_HELP_H_
