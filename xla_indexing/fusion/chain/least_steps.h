// How many steps a walk over a computation takes at least, from where its paths have come to.
//
// Mathematics. Of an array, paths from one start have come to *all* elements or to *some* at least;
// of an array of one element, to all. What follows for the other side of an instruction:
//
//                                     output to input         input to output
//   elementwise, reshape, transpose,
//   reverse, broadcast, reduce, dot   as many                 as many
//   concatenate                       of all, all             some
//   slice, dynamic-slice of operand   some                    of all, all
//   dynamic-update-slice of update    of all, all             some
//   its operand, if it is larger      of all, some            of all, some
//   offsets of these two              all                     all
//
// So one pass over the computation, which composes nothing, finds arrays that the walk reaches, and
// every operand through which it does is a step. Small computations that are called are passed over
// where they are called.
//
// Example: from some of `a` in  b = negate(a), c = slice(b), ROOT d = add(b, c)  a walk to the root
// takes three steps at least: to b, from b to c, and from b to d. What becomes of c is not known.
#ifndef XLA_INDEXING_FUSION_CHAIN_LEAST_STEPS_H_
#define XLA_INDEXING_FUSION_CHAIN_LEAST_STEPS_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing::internal {

// Of an array, in ascending order.
enum class Reached : uint8_t { kNothing, kSome, kAll };

// Whether a walk steps through the computation that an instruction calls.
using StepsThrough = llvm::function_ref<bool(const HloInstruction&)>;

// From paths that have come to so much of the arrays at each position, which becomes what they come
// to on the way; counts no further where there are more steps than `enough`.
int64_t LeastSteps(const HloComputation& computation, Direction direction, int64_t enough,
                   StepsThrough steps_through, std::vector<Reached>* reached);

// What is reached on the other side of an instruction and one of its operands, arrays both.
Reached ReachedThrough(const HloInstruction& instruction, int64_t operand, Direction direction,
                       Reached from);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_FUSION_CHAIN_LEAST_STEPS_H_
