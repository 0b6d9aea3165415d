#include "xla_indexing/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace xla_indexing {

void CheckFailed(const char* message) {
  std::fprintf(stderr, "xla_indexing: check failed: %s\n", message);
  std::abort();
}

}  // namespace xla_indexing
