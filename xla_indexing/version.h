// The version of the library, for the preprocessor. The build reads it from here, so that the
// package, `print-indexing --version` and the sources that users read all say the same.
//
// A version is MAJOR.MINOR.PATCH. Before 1.0.0 a new minor version may change interfaces, and a new
// patch version does not.
//
// Example:
//
//   #if XLA_INDEXING_VERSION_MAJOR == 0 && XLA_INDEXING_VERSION_MINOR < 2
//   #error "This pass needs xla_indexing 0.2."
//   #endif
#ifndef XLA_INDEXING_VERSION_H_
#define XLA_INDEXING_VERSION_H_

#include "xla_indexing/base/cpp20.h"

// Each a plain decimal number: CMakeLists.txt reads these three lines.
#define XLA_INDEXING_VERSION_MAJOR 0
#define XLA_INDEXING_VERSION_MINOR 1
#define XLA_INDEXING_VERSION_PATCH 0

// "0.1.0", made of the three numbers.
#define XLA_INDEXING_VERSION_STRING                                                            \
  XLA_INDEXING_INTERNAL_VERSION_STRING(XLA_INDEXING_VERSION_MAJOR, XLA_INDEXING_VERSION_MINOR, \
                                       XLA_INDEXING_VERSION_PATCH)

// Two steps, so that the arguments are replaced by their values before they become text.
#define XLA_INDEXING_INTERNAL_VERSION_STRING(major, minor, patch) \
  XLA_INDEXING_INTERNAL_JOIN_VERSION(major, minor, patch)
#define XLA_INDEXING_INTERNAL_JOIN_VERSION(major, minor, patch) #major "." #minor "." #patch

#endif  // XLA_INDEXING_VERSION_H_
