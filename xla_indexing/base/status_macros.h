// Errors that a function hands on.
//
// Example:
//
//   XLA_INDEXING_RETURN_IF_ERROR(Check(module));
//   XLA_INDEXING_ASSIGN_OR_RETURN(const IndexingMap map, ParseIndexingMap(text));

#ifndef XLA_INDEXING_BASE_STATUS_MACROS_H_
#define XLA_INDEXING_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"

// Returns from the function with the status of an expression unless it is OK.
#define XLA_INDEXING_RETURN_IF_ERROR(...)                                    \
  do {                                                                       \
    if (absl::Status status_ = (__VA_ARGS__); !status_.ok()) return status_; \
  } while (false)

// Declares a variable with the value of an absl::StatusOr, or assigns it to one that there is, or returns
// from the function with the status.
#define XLA_INDEXING_ASSIGN_OR_RETURN(declaration, ...)                                  \
  XLA_INDEXING_ASSIGN_OR_RETURN_BY(XLA_INDEXING_JOIN(status_or_, __LINE__), declaration, \
                                   __VA_ARGS__)

// Parts of the above.
#define XLA_INDEXING_ASSIGN_OR_RETURN_BY(status_or, declaration, ...) \
  auto status_or = (__VA_ARGS__);                                     \
  if (!status_or.ok()) return std::move(status_or).status();          \
  declaration = *std::move(status_or)
#define XLA_INDEXING_JOIN(a, b) XLA_INDEXING_JOIN_EXPANDED(a, b)
#define XLA_INDEXING_JOIN_EXPANDED(a, b) a##b

#endif  // XLA_INDEXING_BASE_STATUS_MACROS_H_
