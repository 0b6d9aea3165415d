// Which bit of a parameter a bit of a computation's result is a copy of.
#ifndef XLA_INDEXING_TESTS_REFERENCE_EXECUTE_COPIED_VALUES_H_
#define XLA_INDEXING_TESTS_REFERENCE_EXECUTE_COPIED_VALUES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/reference/execute/execute.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::reference {

// A bit of a value.
struct Copied {
  int64_t parameter = -1;  // -1: it is computed
  int64_t leaf = 0;
  int64_t element = 0;
  int64_t part = 0;  // bits from the beginning of the element

  friend bool operator==(const Copied& a, const Copied& b) = default;
};
constexpr int64_t kPartBits = 1;
// The parts of all elements, one after the other.
using CopiedLeaves = std::vector<std::vector<Copied>>;

// The parts of one element; 0 for what is no array.
int64_t PartsOf(const Shape& array);

// By leaf of the root, in an execution of the computation.
absl::StatusOr<CopiedLeaves> CopiesOfRoot(const HloComputation& computation,
                                          const Execution& execution);

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_EXECUTE_COPIED_VALUES_H_
