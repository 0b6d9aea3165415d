// The pass indexing-annotate: what the operations of functions on tensors read, as attributes.
//
//   indexing.reads     for each operand that is read: {operand, maps, elements, of, reads, exact}: the operand's number, the
//                      maps from an element of the result, the elements of the operand that are read, all of its elements,
//                      and how often any is read. Counts that are not known are left out; of several results, the
//                      first that reads the operand counts
//   indexing.in_place  the operands in whose buffers the results may be written, as [result, operand] pairs
//   indexing.sectors   the sectors of 32 bytes that the operation's kernel moves under the launch of XLA's GPU backend, at
//                      most (gpu/fusion_mapping.h)
//
// Operations are those of linalg/tensor_function.h; a function that cannot be imported gets a remark that says why.
//
// Example: linalg.transpose ins(%x : tensor<2x3xf32>) .. gets indexing.reads =
//   [{elements = 6, exact, maps = [#indexing.map<"(d0, d1) -> (d1, d0), .."], of = 6, operand = 0, reads = 6}]
#ifndef XLA_INDEXING_PLUGIN_ANNOTATE_PASS_H_
#define XLA_INDEXING_PLUGIN_ANNOTATE_PASS_H_

namespace xla_indexing {

void RegisterAnnotatePass();

}  // namespace xla_indexing

#endif  // XLA_INDEXING_PLUGIN_ANNOTATE_PASS_H_
