// Files that are compressed by gzip, as dumps of large modules are.
//
// Source: RFC 1952, by zlib.

#ifndef XLA_INDEXING_TOOLS_INPUT_GZIP_H_
#define XLA_INDEXING_TOOLS_INPUT_GZIP_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace xla_indexing {

// Whether bytes begin as those of gzip do, 1f 8b, which no text and no message of HLO does.
bool IsGzip(absl::string_view bytes);

// What `bytes` were before gzip compressed them, in one piece or several. InvalidArgument, saying
// why, where they are damaged, cut off or followed by anything else, or where that has more than
// `max_bytes`.
absl::StatusOr<std::string> Gunzip(absl::string_view bytes, size_t max_bytes);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_INPUT_GZIP_H_
