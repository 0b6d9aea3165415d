// The arrays of a value whose elements are known.
#ifndef XLA_INDEXING_OPS_VALUES_KNOWN_LEAVES_H_
#define XLA_INDEXING_OPS_VALUES_KNOWN_LEAVES_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "xla_indexing/hlo/types/literal.h"

namespace xla_indexing::internal {

// By leaf; null if the array is not known.
using KnownLeaves = std::vector<std::shared_ptr<const Literal>>;

// The most elements of an array that is computed if nobody says otherwise.
inline constexpr int64_t kMaxKnownElements = int64_t{1} << 18;

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_VALUES_KNOWN_LEAVES_H_
