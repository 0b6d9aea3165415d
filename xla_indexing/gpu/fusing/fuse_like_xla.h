// Fuses a module that no fusion pass has seen, as XLA's passes for GPUs would in the main.
//
// A dump before optimizations, and what JAX lowers, has an operation where the GPU runs a part of a
// kernel. The copy that is made here has a fusion for each kernel, so that whatever is asked about kernels
// (report/analysis/report_kernels.h, gpu/fusion_mapping.h) can be asked before XLA has compiled:
//
//   - where no pass has assigned layouts, as nothing that comes after it is there, all but the
//     parameters' are row-major: those that are stated are of how the module was built;
//   - calls are inlined, what is never used is left out, equal operations are done once;
//   - a reshape, transpose or copy that leaves every element in its place in memory is a bitcast
//     (arrays without layouts are row-major); a dot that only a transpose of its sides reads is written
//     in the layout in which that is one;
//   - in the entry and in what loops, branches and remaining calls run, each by itself, operations
//     share kernels by the rules of XLA's priority fusion and multi-output fusion. What a fusion, a
//     reduce, a sort or an asynchronous operation calls stays as it is.
//
// A fusion is named after its root, `ROOT_fusion`, and has its metadata. Its kind is kCustom where a dot
// is in it, kInput where a reduction, a transpose through shared memory or a scatter is, else kLoop.
// Control predecessors are left out.
//
// What XLA does besides is not done: other layouts are not assigned, nothing is simplified, a softmax is several
// kernels, small kernels that have nothing in common are not put together. docs/report.md compares the two.
//
// Example, `e = exponential(p)`, `r = reduce(e, zero)`, which is the root:
//
//   absl::StatusOr<std::unique_ptr<HloModule>> fused = FuseLikeXla(*module);
//   (*fused)->entry_computation()->root_instruction();  // r_fusion, kind=kInput, of e and r
//
// Cost: near to linear; 0.1 s for 20,000 instructions. Errors: InvalidArgument for a module that does not
// verify.
#ifndef XLA_INDEXING_GPU_FUSING_FUSE_LIKE_XLA_H_
#define XLA_INDEXING_GPU_FUSING_FUSE_LIKE_XLA_H_

#include <memory>

#include "absl/status/statusor.h"
#include "xla_indexing/hlo/model/module.h"

namespace xla_indexing {

absl::StatusOr<std::unique_ptr<HloModule>> FuseLikeXla(const HloModule& module);

// Whether layouts are stated that XLA will not keep, since it assigns its own to all but the
// parameters.
bool HasUnassignedLayouts(const HloModule& module);

// The module that FuseLikeXla begins with if there are such layouts: the same one in row-major
// ones. Null if FuseLikeXla keeps the layouts that the module states.
std::unique_ptr<HloModule> WithoutUnassignedLayouts(const HloModule& module);

// Whether some instruction is a fusion.
bool HasFusions(const HloModule& module);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_GPU_FUSING_FUSE_LIKE_XLA_H_
