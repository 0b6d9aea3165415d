// Custom calls of libraries that do what an operation of HLO does.
//
//   __cublas$gemm, __cublas$lt$matmul   a dot with the dot_dimension_numbers of the call's
//                     gemm_backend_config; with beta other than 0 plus operand 2 in place; with an
//                     epilogue that adds a bias plus the last operand along the last dimension
//   __cudnn$convForward                 a convolution with the call's window, dim_labels and group
//                     counts; operands: input, kernel
//   __cudnn$convBackwardInput, __cudnn$convBackwardFilter
//                     its gradients: window and labels are those of the convolution, operands the
//                     gradient of its result and the kernel, or the input and that gradient
//
// The maps of result leaf 0 are those of the operation. The other leaves are room for the library's
// work, of which nothing is specified: they read nothing. A call that does not fit the operation by
// the rules of hlo/verify/shape_inference.h, or whose configuration names more (scales, auxiliary
// outputs), is not spoken of.
//
// Source: XLA's GPU backend (gemm_backend_config, cuDNN convolution calls).

#ifndef XLA_INDEXING_OPS_RULES_CUSTOM_CALLS_LIBRARY_CALLS_H_
#define XLA_INDEXING_OPS_RULES_CUSTOM_CALLS_LIBRARY_CALLS_H_

#include "xla_indexing/ops/rules/custom_calls/custom_call_registry.h"

namespace xla_indexing::internal {

void AddLibraryCallRules(CustomCallRegistry* registry);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_RULES_CUSTOM_CALLS_LIBRARY_CALLS_H_
