// Decides which values of a graph (gpu/fusing/value_graph.h) share a kernel.
//
// A fusible value is *written* or not. One that is not is computed anew in every kernel that needs it; so
// the kernel of a written value computes it from what is written or in memory. At first all are written.
//
//   1. Dots. A dot goes on with the only operation that reads its result, where that is elementwise and
//      writes no more: a bias, a narrowing. Nothing else follows it.
//   2. Producers. A written value p that only fusible values read becomes one that is not, where that
//      makes all kernels together faster; the value that saves most comes first:
//
//        saved  = time(p) - sum over the kernels c that read p of (time(c with p) - time(c))
//        time   = launch + t_memory + t_compute - 0.95 min(t_memory, t_compute)
//
//      where every element that is read is read from memory once, and again from a cache (a broadcast),
//      and p is computed as often as c reads it. Not where
//        - both reduce, 16 elements or more each, or p is the result of a reduction emitter and c is
//          not an operation of one operand on the sums, one by one: the emitter would be that of a loop
//          (gpu/fusion_mapping.h, rule 2);
//        - c updates p in place, or p is a scatter or has several arrays, or p reads elsewhere what c
//          updates in place;
//        - c is a dot, and p reads more than it makes or more than one array beside parameters;
//        - c would read and write more than 96 arrays, or be more than 10,000 operations, or choose
//          between operands (concatenate, pad) more than 10 times, where what is read in several
//          places is written down in each;
//        - more than 512 kernels read p.
//   3. Siblings. Kernels that read one array, and go over elements of equal sizes in the same way, become
//      one with several results; so does a kernel with one that reads its result element by element.
//      Kernels are joined that are equally far from the beginning, or the end, of the computation, or
//      follow one another directly: none of them waits for another through a third.
//
// Those are the rules of XLA's priority fusion and multi-output fusion for GPUs, with the figures of an
// H100, as far as they decide which arrays are in memory.
//
// Cost: at most 30 million steps, near to linear in the edges of the graph for programs; after that
// the rest stays as it is.
#ifndef XLA_INDEXING_GPU_FUSING_KERNEL_MERGER_H_
#define XLA_INDEXING_GPU_FUSING_KERNEL_MERGER_H_

#include <vector>

#include "xla_indexing/gpu/fusing/value_graph.h"

namespace xla_indexing::internal {

struct MergedKernels {
  std::vector<bool> is_written;           // by value; of fusible ones
  std::vector<std::vector<int>> kernels;  // the written values of each, in order
};

MergedKernels MergeKernels(const ValueGraph& graph);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_FUSING_KERNEL_MERGER_H_
