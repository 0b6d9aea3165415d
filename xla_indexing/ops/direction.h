// The two directions in which a dependence between tensors is asked about.
#ifndef XLA_INDEXING_OPS_DIRECTION_H_
#define XLA_INDEXING_OPS_DIRECTION_H_

namespace xla_indexing {

enum class Direction {
  // From an element of a result to the elements of the operands that it is computed from.
  kOutputToInput,
  // From an element of an operand to the elements of the results that are computed from it.
  kInputToOutput,
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_OPS_DIRECTION_H_
