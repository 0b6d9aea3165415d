// What shape inference is made of, one rule for each opcode; not for users of the
// library (see shape_inference.h and verifier.h).
//
// A rule says what the result's shape is (`infer`), or, where operands and attributes leave it
// open, what a given shape must satisfy (`check`), or both: then `infer` gives the usual shape and
// `check` accepts the other ones that occur. Rules rely on the number of operands that opcode.h
// names; everything else they check themselves.
//
// The families of operations are in shape_inference_<family>.cc, in the order of this header.

#ifndef XLA_INDEXING_HLO_VERIFY_FRAME_SHAPE_INFERENCE_RULES_H_
#define XLA_INDEXING_HLO_VERIFY_FRAME_SHAPE_INFERENCE_RULES_H_

#include <cstdint>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal::shape_rules {

// A shape that a rule found: one that the module has already, or a new one. Shapes of tuples can be
// large, and most rules pass on the shape of an operand.
class InferredShape {
 public:
  // NOLINTBEGIN(google-explicit-constructor): a rule returns either.
  InferredShape(const Shape* shape) : shape_(shape) {}
  InferredShape(Shape shape) : shape_(std::move(shape)) {}
  // NOLINTEND(google-explicit-constructor)

  const Shape& operator*() const {
    const auto* const* borrowed = std::get_if<const Shape*>(&shape_);
    return borrowed != nullptr ? **borrowed : std::get<Shape>(shape_);
  }
  const Shape* operator->() const { return &**this; }

 private:
  std::variant<const Shape*, Shape> shape_;
};

using Result = absl::StatusOr<InferredShape>;

// How far the shape that an instruction has must be the inferred one. Layouts are never compared,
// and a dimension may be dynamic in one of the two shapes only. An operation that computes its
// result or moves elements may give it in another floating point type than its operands have, as
// programs of mixed precision do; only what passes a value on keeps its type.
enum class Agreement : uint8_t {
  kSameValue,       // The operation passes a value on: all types and sizes, and layouts are kept.
  kExact,           // All types and sizes.
  kFloatPrecision,  // All sizes; a floating point type may be another floating point type.
  kElementType,     // All sizes; the element type is the instruction's to choose.
};

struct ShapeRule {
  Result (*infer)(const HloInstruction& instruction) = nullptr;
  // For an instruction that has a shape. Where this is null, that shape must agree with the
  // inferred one.
  absl::Status (*check)(const HloInstruction& instruction) = nullptr;
  Agreement agreement = Agreement::kFloatPrecision;
};

// The rule of an opcode.
ShapeRule RuleFor(HloOpcode opcode);

// elementwise: operations that work on each element by itself.
Result InferUnary(const HloInstruction& i);
Result InferBinary(const HloInstruction& i);
Result InferCompare(const HloInstruction& i);
Result InferComplex(const HloInstruction& i);
Result InferSelect(const HloInstruction& i);
Result InferClamp(const HloInstruction& i);
Result InferCopy(const HloInstruction& i);
absl::Status CheckConvert(const HloInstruction& i);
absl::Status CheckStochasticConvert(const HloInstruction& i);

// reinterpretation: another shape for the same elements or bits, and arrays from nothing.
absl::Status CheckReshape(const HloInstruction& i);
absl::Status CheckDynamicReshape(const HloInstruction& i);
absl::Status CheckBitcast(const HloInstruction& i);
absl::Status CheckBitcastConvert(const HloInstruction& i);
absl::Status CheckBroadcast(const HloInstruction& i);
absl::Status CheckIota(const HloInstruction& i);
Result InferConstant(const HloInstruction& i);
Result InferGetDimensionSize(const HloInstruction& i);
Result InferSetDimensionSize(const HloInstruction& i);

// movement: elements at other places.
Result InferTranspose(const HloInstruction& i);
Result InferReverse(const HloInstruction& i);
Result InferSlice(const HloInstruction& i);
Result InferDynamicSlice(const HloInstruction& i);
Result InferDynamicUpdateSlice(const HloInstruction& i);
Result InferPad(const HloInstruction& i);
Result InferConcatenate(const HloInstruction& i);

// gather: gather and scatter.
Result InferGather(const HloInstruction& i);
Result InferScatter(const HloInstruction& i);

// reduction: reduce and what else applies a function of scalars along dimensions.
Result InferReduce(const HloInstruction& i);
Result InferReduceWindow(const HloInstruction& i);
Result InferSelectAndScatter(const HloInstruction& i);
Result InferMap(const HloInstruction& i);
Result InferSort(const HloInstruction& i);
Result InferScan(const HloInstruction& i);
Result InferTopk(const HloInstruction& i);

// contraction: sums of products.
Result InferDot(const HloInstruction& i);
Result InferRaggedDot(const HloInstruction& i);
Result InferScaledDot(const HloInstruction& i);
Result InferConvolution(const HloInstruction& i);

// numeric: linear algebra, Fourier transforms, batch normalization, random numbers.
Result InferCholesky(const HloInstruction& i);
Result InferTriangularSolve(const HloInstruction& i);
Result InferFft(const HloInstruction& i);
Result InferBatchNormTraining(const HloInstruction& i);
Result InferBatchNormInference(const HloInstruction& i);
Result InferBatchNormGrad(const HloInstruction& i);
absl::Status CheckRng(const HloInstruction& i);
absl::Status CheckRngBitGenerator(const HloInstruction& i);
Result InferRngGetAndUpdateState(const HloInstruction& i);

// collective: across replicas and partitions.
absl::Status CheckAllGather(const HloInstruction& i);
absl::Status CheckAllGatherStart(const HloInstruction& i);
absl::Status CheckReduceScatter(const HloInstruction& i);
Result InferAllReduce(const HloInstruction& i);
absl::Status CheckAllReduceStart(const HloInstruction& i);
Result InferAllReduceDone(const HloInstruction& i);
Result InferAllToAll(const HloInstruction& i);
Result InferRaggedAllToAll(const HloInstruction& i);
Result InferCollectiveBroadcast(const HloInstruction& i);
Result InferCollectiveReduce(const HloInstruction& i);
Result InferCollectivePermute(const HloInstruction& i);
Result InferCollectivePermuteStart(const HloInstruction& i);
absl::Status CheckCollectivePermuteStart(const HloInstruction& i);
Result InferCollectiveDone(const HloInstruction& i);
Result InferDeviceId(const HloInstruction& i);

// control: calls, tuples, tokens, and transfers between memories and hosts.
Result InferCall(const HloInstruction& i);
Result InferWhile(const HloInstruction& i);
Result InferConditional(const HloInstruction& i);
absl::Status CheckAsyncStart(const HloInstruction& i);
Result InferAsyncStart(const HloInstruction& i);
absl::Status CheckAsyncUpdate(const HloInstruction& i);
Result InferAsyncUpdate(const HloInstruction& i);
Result InferAsyncDone(const HloInstruction& i);
Result InferTuple(const HloInstruction& i);
absl::Status CheckTuple(const HloInstruction& i);
Result InferGetTupleElement(const HloInstruction& i);
Result InferOperand(const HloInstruction& i);
Result InferAfterAll(const HloInstruction& i);
Result InferAddDependency(const HloInstruction& i);
Result InferCopyStart(const HloInstruction& i);
absl::Status CheckCopyStart(const HloInstruction& i);
Result InferCopyDone(const HloInstruction& i);
Result InferSend(const HloInstruction& i);
Result InferSendDone(const HloInstruction& i);
absl::Status CheckRecv(const HloInstruction& i);
Result InferRecvDone(const HloInstruction& i);
absl::Status CheckRecvDone(const HloInstruction& i);
absl::Status CheckInfeed(const HloInstruction& i);
Result InferOutfeed(const HloInstruction& i);
absl::Status CheckParameter(const HloInstruction& i);
absl::Status CheckCustomCall(const HloInstruction& i);
absl::Status CheckUnknown(const HloInstruction& i);

}  // namespace xla_indexing::internal::shape_rules

#endif  // XLA_INDEXING_HLO_VERIFY_FRAME_SHAPE_INFERENCE_RULES_H_
