// The two directions in which a dependence between tensors is asked about.
//
// Example, the transpose of f32[2,3]:
//
//   kOutputToInput   (d0, d1) -> (d1, d0), domain: d0 in [0, 2], d1 in [0, 1]
//   kInputToOutput   (d0, d1) -> (d1, d0), domain: d0 in [0, 1], d1 in [0, 2]
#ifndef XLA_INDEXING_OPS_ANSWERS_PARTS_DIRECTION_H_
#define XLA_INDEXING_OPS_ANSWERS_PARTS_DIRECTION_H_

#include "xla_indexing/base/cpp20.h"

namespace xla_indexing {

enum class Direction {
  // From an element of a result to the elements of the operands that it is computed from.
  kOutputToInput,
  // From an element of an operand to the elements of the results that are computed from it.
  kInputToOutput,
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_OPS_ANSWERS_PARTS_DIRECTION_H_
