// The steps of an operation that runs asynchronously: an async-start, any number of async-updates, and
// an async-done, which pass on a state
//
//   ((operands that are bound), result, and possibly context).
//
// A step may bind fewer operands than the computation has parameters: the start binds the first ones, and
// each update those that follow its state's. The result is there when all are bound; before, its place
// may be empty, `()`. Between two steps the state may go through tuples and barriers.
//
// Example, of which step b binds parameter 1:
//
//   a = ((f32[6]), f32[6], s32[]) async-start(x), calls=f
//   b = ((f32[6], f32[6]), f32[6], s32[]) async-update(a, y)
//   d = f32[6] async-done(b)

#ifndef XLA_INDEXING_HLO_MODEL_ASYNC_STEPS_H_
#define XLA_INDEXING_HLO_MODEL_ASYNC_STEPS_H_

#include <cstdint>

#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {

// The async-start or async-update whose state is the value of an instruction; null if that is not to
// be seen in its computation. An instruction that need not be valid may be given.
const HloInstruction* AsyncStepOf(const HloInstruction& state);

// The async-start that is the first of the steps up to the one whose state `state` is; null as above.
const HloInstruction* AsyncStartOf(const HloInstruction& state);

// The number of operands that are bound in a state of this shape.
int64_t BoundOperands(const Shape& state);

// The instruction that is bound to parameter `parameter` of the computation, which is one of those that
// are bound after `step`; null if its step is not to be seen.
const HloInstruction* AsyncOperand(const HloInstruction& step, int64_t parameter);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_MODEL_ASYNC_STEPS_H_
