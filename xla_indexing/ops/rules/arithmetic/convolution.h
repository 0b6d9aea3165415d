// The three tensors of a convolution, any two of which are related by its loops
// (ops/rules/frame/loop_nest.h): the gradient with respect to one is a sum of products of the other
// two.

#ifndef XLA_INDEXING_OPS_RULES_ARITHMETIC_CONVOLUTION_H_
#define XLA_INDEXING_OPS_RULES_ARITHMETIC_CONVOLUTION_H_

#include <cstdint>

#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/rules/frame/loop_nest.h"

namespace xla_indexing::internal {

enum class ConvolutionTensor : uint8_t { kInput, kKernel, kOutput };

// The nest with the axes of `from` as those of the result and the axes of `to` as the operand's: an
// element of one and an element of the other are related where some product has both.
LoopNest ConvolutionNest(const HloInstruction& convolution, ConvolutionTensor from,
                         ConvolutionTensor to);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_RULES_ARITHMETIC_CONVOLUTION_H_
