// The shape of an instruction's result, from its opcode, operands and attributes.
//
// The result follows from the definition of each operation. It carries no layout, but where the
// definition passes a value on as it is (get-tuple-element, tuple, copy-done and the like) the
// leaves keep the operands' layouts. Callers that compare with a given shape ignore layouts.
//
// Example: for `t = transpose(p), dimensions={1,0}` with `p = f32[2,3] parameter(0)` it is
// f32[3,2].

#ifndef XLA_INDEXING_HLO_VERIFY_SHAPE_INFERENCE_H_
#define XLA_INDEXING_HLO_VERIFY_SHAPE_INFERENCE_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

// The shape of `instruction`'s result. The instruction's own shape is not read (`has_shape()` may
// be false); its opcode, operands (with shapes), attributes and called computations are.
//
// Errors: InvalidArgument, naming the instruction and the numbers, where operands or attributes do
// not fit the operation (wrong operand count, sizes that do not agree, a missing attribute);
// Unimplemented, naming the opcode, where the operands and attributes do not determine the shape
// (parameter, iota, reshape, bitcast, broadcast, custom-call, rng, infeed, recv, ...): HLO text
// must give it there.
absl::StatusOr<Shape> InferShape(const HloInstruction& instruction);

// Checks the operands and attributes of an instruction that has a shape, and that shape against
// them: it is the inferred one, or, where they leave it open, one that they allow (a reshape keeps
// the number of elements, a broadcast the sizes of the operand's dimensions, ...).
//
// Layouts are not compared, nor whether a dimension is static or bounded, and an unbounded
// dimension agrees with any size. A floating point result of arithmetic may have another precision
// than its operands, and that of a dot or a convolution any element type. See verifier.h for what
// is checked of whole modules.
//
// Errors: InvalidArgument, as `add.3: add of f32[2,3] and f32[3,2]: shapes differ` or
// `instruction 't' (transpose) has shape f32[2,3] but its operands and attributes give f32[3,2]`.
absl::Status CheckShape(const HloInstruction& instruction);

// An error where a dimension of an array in `shape` is negative, where its elements are so many
// that their number does not fit 64 bits, or where its layout is not one of an array of its rank.
absl::Status CheckIsValid(const Shape& shape);

// The largest tuple shape that is inferred: without a bound, twenty lines that each double a tuple
// make a shape of a million arrays. Shapes that are given have no such bound.
inline constexpr int64_t kMostTupleNodes = int64_t{1} << 16;

// The levels of a shape, 1 for an array. Takes its nodes off `*nodes_left`, and stops below 0.
int64_t CountLevels(const Shape& shape, int64_t* nodes_left);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_VERIFY_SHAPE_INFERENCE_H_
