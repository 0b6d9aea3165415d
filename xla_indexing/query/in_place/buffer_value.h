// What lies in a buffer: a leaf of what an instruction yields.
#ifndef XLA_INDEXING_QUERY_IN_PLACE_BUFFER_VALUE_H_
#define XLA_INDEXING_QUERY_IN_PLACE_BUFFER_VALUE_H_

#include <compare>
#include <cstdint>

#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing {

struct BufferValue {
  const HloInstruction* instruction = nullptr;
  int64_t leaf = 0;

  friend auto operator<=>(const BufferValue& a, const BufferValue& b) = default;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_QUERY_IN_PLACE_BUFFER_VALUE_H_
