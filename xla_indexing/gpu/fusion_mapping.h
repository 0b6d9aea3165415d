// The kernel that XLA's GPU backend would make of a fusion: which instruction it is built around,
// its *hero*, which elements each thread computes, and so what memory costs.
//
// A computation is taken as one fusion: that of a FusionView (fusion/fusion_view.h), in which
// producer and consumer need not be fused in the module, or the body of a fusion.
//
// Threads go over *arrays*, the values of some instructions of the computation. They compute the
// elements of a *read array* from the parameters, and the elements of a root from a *write array*:
//
//   kind                        read array                       write array
//   loop                        the root                         the root
//   transpose                   what is transposed               the transposed
//   reduction                   what is reduced                  the reduced
//   concatenate                 each of the pieces               each of the pieces
//   in-place update             the update                       the update
//   scatter                     the updates                      the updates
//
// Between them values are exchanged, through shared memory or lane by lane. An element that is
// computed has a thread in each of its arrays' mappings.
//
// The rules. They are those of the emitters of XLA's GPU backend (hlo_fusion_analysis.cc,
// ir_emission_utils.cc, reduction_utils.cc, launch_dimensions.cc and codegen/emitters/ of
// openxla/xla), of which a release may have others. W is the size of a warp; sizes 1 are left out.
//
//   1. Trivial instructions: elementwise ones, and bitcasts, reshapes and transposes that leave the
//      elements in their places in memory. Simplified: a reshape does where both layouts are
//      row-major.
//   2. Hero: above a root through trivial instructions with one operand and one user; further,
//      through ones with up to three operands, if there is just one transpose, or else just one
//      concatenate. Where neither that nor a reduce is found, the root itself.
//   3. Kind: reduction where some hero is a reduce of rows or columns (rule 6); else transpose
//      where some hero is a tiled transpose (rule 5); in both, all such heroes are of one form, and
//      the other roots have as many elements as what they read; else, with one root, scatter, or
//      concatenate of up to four pieces; else in-place update where all roots are (rule 8); else
//      loop. Simplified: several slices of one array are a loop.
//   4. Loop: a thread has `unroll` neighbouring elements, read and written as a vector; 4, 2 or 1,
//      the most that divides the number of elements, where the GPU has no more threads than there
//      are elements and nothing prevents vectors (sort, dot, reduce-window, sine, cosine, tangent,
//      power, atan2, a concatenate of more than ten, a reduce of several values); else 1, or
//      as many as fill a byte. Blocks of 4 W threads, or as many as there are. Simplified: no
//      limit on the blocks of the first dimension.
//   5. Tiled transpose: with equal neighbours in both orders joined, the minor dimension changes,
//      and both minor sizes are at least 16, or at least 8 with a product of at least 8192. Tiles
//      of 32 x 32 in blocks of 128 threads, read along the operand's minor dimension and written
//      along the result's. Where the minor dimension stays and has at most 8 bytes, it is one
//      element of such tiles, if 16 bytes are contiguous on both sides with the next dimension. A
//      copy between layouts is such a transpose. Simplified: elements of less than 4 bytes are
//      moved one by one, and have no other rule.
//   6. Reductions: with neighbours joined, of [K, R] or [R, K, R] rows, of [R, K] or [K, R, K]
//      columns (K kept, R reduced, in the order of memory). A row is worth it where it has at least
//      W elements, or divides W; a column of c elements and a row of r of the kept ones is not
//      where c < W, or c < 2 W and r < W, or c < 4 W and r < 8, or c < 8 W and r < 3. Simplified:
//      whether the sums of one result race is not asked, roots that are disjoint are not put in
//      blocks of their own, and a row is gone through by one block.
//   7. Threads of reductions. Several rows to a warp where the row is a power of two of at most
//      W v elements: v per thread, 64 bits of the smallest type at most, 128 of the largest where
//      that is 4 bytes or more, fewer while there are fewer blocks than cores; 256 threads a block.
//      Other rows: ceil(r / 16) threads, rounded up to 32, at most 1024, and rows up to 256 threads
//      where these are at most 128. Columns: 32 x 32 threads. Columns of which W is a multiple:
//      128 threads go over them as over one row, fewer so that no column has more than 32. Vectors:
//      1 where the minor size is odd or less than twice the threads, for complex numbers, and for
//      inputs of 8 bytes and more; 2 for those of 4 bytes, and where the size is less than 4 times
//      the threads or no multiple of 4; else 4. The results are written by the first thread of each
//      row, by the first lane of a warp for each column.
//   8. In-place update: a root is, through bitcasts, a dynamic-update-slice whose operand is,
//      through bitcasts, a parameter that nothing else reads, but dynamic-slices of what is updated, from
//      which elementwise operations compute the update. Threads go over the update, without
//      vectors; the rest is not touched. Simplified: the buffers are taken to be the same.
//   9. Concatenate: threads go over the largest piece as over the output of a loop, and do for each
//      piece what is in it. The vectors of rule 4, as far as they divide what is contiguous in each.
//  10. Scatter: threads go over the updates, without vectors. Simplified: XLA may give a warp a
//      slice.
//
// Example, f = exp(s), where s is the sum of each row of x^2 and x = f32[4096,1024]: kind reduction,
// hero the reduce; 64 threads a row and 4 rows a block go over x^2, 2 elements at once, and thread 0
// of each row computes and writes the exponential.
//
// Errors. InvalidArgument for options out of bounds, computations without a root, sizes without a
// bound; ResourceExhausted for more than 4096 arrays of the result, and where the budget of the
// question (base/question_budget.h) is spent; those of thread mappings
// (gpu/threads/thread_mapping.h) and of indexing (fusion/hlo_indexer.h).
#ifndef XLA_INDEXING_GPU_FUSION_MAPPING_H_
#define XLA_INDEXING_GPU_FUSION_MAPPING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/fusion/walk/fusion_options.h"
#include "xla_indexing/gpu/coalescing.h"
#include "xla_indexing/gpu/threads/emitter.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing {

// An array and the threads that go over it.
struct ThreadedArray {
  const HloInstruction* instruction = nullptr;  // of the computation
  int64_t leaf = 0;
  ThreadMapping mapping;

  const Shape& shape() const { return instruction->shape().Leaf(leaf); }
};

// One array of the result. A root that is a tuple has those that it is made of.
struct RootMapping {
  int64_t output_leaf = 0;  // of the computation
  const HloInstruction* root = nullptr;
  int64_t root_leaf = 0;
  const HloInstruction* hero = nullptr;
  std::vector<ThreadedArray> reads;
  std::vector<ThreadedArray> writes;
  // The parameter that an in-place update or a scatter changes some elements of; null for other kernels.
  const HloInstruction* updated = nullptr;
};

struct FusionMapping {
  const HloComputation* computation = nullptr;
  EmitterKind kind = EmitterKind::kLoop;
  std::vector<RootMapping> roots;  // by output leaf; at least one
  size_t main_root = 0;            // whose hero decided on the kind

  const HloInstruction& hero() const { return *roots[main_root].hero; }
  // What the threads read for the hero, the first array where there are several.
  const ThreadedArray& array() const { return roots[main_root].reads.front(); }
};

// The computation has to outlive the mapping.
absl::StatusOr<FusionMapping> MappingForFusion(const HloComputation& computation,
                                               mlir::MLIRContext* context,
                                               const EmitterOptions& options = {});

// What the threads of one array read of a parameter, or write of an output.
struct ThreadAccess {
  enum class Kind : uint8_t { kRead, kWrite } kind = Kind::kRead;
  int64_t number = 0;  // of the parameter; 0 for the result
  int64_t leaf = 0;
  ThreadedArray array;
  const Shape* accessed = nullptr;  // of the parameter or the result
  // From elements of the array to those that are accessed.
  OperandIndexingSet indexing;
};

struct FusionAccesses {
  // Reads by parameter and leaf, then writes by output leaf; what several roots read in the same
  // way through threads that are the same is read once before values are exchanged, and once after.
  std::vector<ThreadAccess> accesses;
  // The instructions that runtime variables of the maps are bound to are in these.
  std::vector<std::shared_ptr<const FusionView>> views;
};

// All accesses of a mapping. What an in-place update or a scatter changes is written, not read.
absl::StatusOr<FusionAccesses> AccessesOf(const FusionMapping& mapping, mlir::MLIRContext* context,
                                          const FusionOptions& options = {});
// The same through an indexer that is kept, for one mapping after another.
absl::StatusOr<FusionAccesses> AccessesOf(const FusionMapping& mapping, HloIndexers& indexers);

// The maps of an access from thread and block coordinates to the elements that are accessed: mapping
// and indexing composed and simplified. Range variables are the loops and vectors of the threads and
// those of the indexing, numbered in the order in which the results use them.
absl::StatusOr<OperandIndexingSet> FromThreads(const ThreadAccess& access);

struct AccessCoalescing {
  ThreadAccess access;
  // For each map of the access.
  std::vector<Coalescing> coalescing;
};

struct FusionCoalescing {
  FusionMapping mapping;
  std::vector<AccessCoalescing> accesses;
  std::vector<std::shared_ptr<const FusionView>> views;

  // The sectors of 32 bytes that all accesses move.
  Interval Sectors() const;
};

// What the memory accesses of a fusion cost: its mapping, its accesses and their coalescing.
absl::StatusOr<FusionCoalescing> CoalescingOfFusion(const HloComputation& computation,
                                                    mlir::MLIRContext* context,
                                                    const EmitterOptions& emitter = {},
                                                    const CoalescingOptions& coalescing = {},
                                                    const FusionOptions& options = {});
// The same through indexers that are kept, for one fusion after another.
absl::StatusOr<FusionCoalescing> CoalescingOfFusion(const HloComputation& computation,
                                                    HloIndexers& indexers,
                                                    const EmitterOptions& emitter = {},
                                                    const CoalescingOptions& coalescing = {});

}  // namespace xla_indexing

#endif  // XLA_INDEXING_GPU_FUSION_MAPPING_H_
