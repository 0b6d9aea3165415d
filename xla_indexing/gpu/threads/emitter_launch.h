// Thread mappings of the kernels that XLA's GPU backend makes of fusions (rules 4, 5, 7 and 9 of
// gpu/fusion_mapping.h).
#ifndef XLA_INDEXING_GPU_THREADS_EMITTER_LAUNCH_H_
#define XLA_INDEXING_GPU_THREADS_EMITTER_LAUNCH_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/gpu/threads/emitter.h"
#include "xla_indexing/gpu/threads/emitter_hero.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

// Rule 4, for threads that go over an array of this shape.
enum class Vectors { kWhereTheyPay, kNone };
absl::StatusOr<LoopOptions> EmitterLoop(const HloComputation& computation, const Shape& shape,
                                        Vectors vectors, const EmitterOptions& options);

// The threads of a tiled transpose on the side of its operand, over an array of its operand's
// dimensions, and on the side of its result.
absl::StatusOr<ThreadMapping> TransposeReads(const JoinedTranspose& transpose, const Shape& shape,
                                             mlir::MLIRContext* context);
absl::StatusOr<ThreadMapping> TransposeWrites(const JoinedTranspose& transpose, const Shape& shape,
                                              mlir::MLIRContext* context);

// The threads of a reduction.
struct ReductionLaunch {
  JoinedReduction reduction;
  int64_t threads = 32;  // of a row
  int64_t rows = 32;     // of a block
  int64_t vector_width = 1;
  // How many threads come after one another in a column, where columns are gone over as one row.
  int64_t threads_per_column = 0;
};
ReductionLaunch EmitterReduction(const HloComputation& computation, const HloInstruction& hero,
                                 const JoinedReduction& reduction, const EmitterOptions& options);
// The mapping to what is reduced, an array with as many elements as the operand of the hero.
absl::StatusOr<ThreadMapping> ReductionReads(const ReductionLaunch& launch, const Shape& shape,
                                             mlir::MLIRContext* context);
// The mapping of the threads that have a result to the leaf of the hero.
absl::StatusOr<ThreadMapping> ReductionWrites(const ReductionLaunch& launch,
                                              const HloInstruction& hero, int64_t leaf,
                                              mlir::MLIRContext* context);

// The threads that go over the largest piece of a concatenate, for each piece those that have an
// element of it.
absl::StatusOr<llvm::SmallVector<ThreadMapping, 4>> ConcatenateMappings(
    const HloComputation& computation, const HloInstruction& concatenate,
    const EmitterOptions& options, mlir::MLIRContext* context);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_THREADS_EMITTER_LAUNCH_H_
