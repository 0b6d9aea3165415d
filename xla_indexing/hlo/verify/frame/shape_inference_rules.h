// What shape inference is made of, one rule for each opcode; not for users of the
// library (see shape_inference.h and verifier.h).
//
// A rule says what the result's shape is (`infer`), or, where operands and attributes leave it
// open, what a given shape must satisfy (`check`), or both: then `infer` gives the usual shape and
// `check` accepts the other ones that occur. Rules rely on the number of operands that opcode.h
// names; everything else they check themselves.

#ifndef XLA_INDEXING_HLO_VERIFY_FRAME_SHAPE_INFERENCE_RULES_H_
#define XLA_INDEXING_HLO_VERIFY_FRAME_SHAPE_INFERENCE_RULES_H_

#include <cstdint>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
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

struct OpcodeRule {
  HloOpcode opcode;
  ShapeRule rule;
};

// The rule of an opcode.
const ShapeRule& RuleFor(HloOpcode opcode);

// The rules of families of operations, each at the end of its shape_inference_<family>.cc. Every opcode has
// one rule there, but those elementwise ones that have what most of their number of operands have.
using OpcodeRules = absl::Span<const OpcodeRule>;
OpcodeRules ElementwiseRules();
OpcodeRules ReinterpretationRules();
OpcodeRules MovementRules();
OpcodeRules GatherRules();
OpcodeRules ReductionRules();
OpcodeRules ContractionRules();
OpcodeRules NumericRules();
OpcodeRules CollectiveRules();
OpcodeRules ControlRules();
Result InferUnary(const HloInstruction& i);
Result InferBinary(const HloInstruction& i);

}  // namespace xla_indexing::internal::shape_rules

#endif  // XLA_INDEXING_HLO_VERIFY_FRAME_SHAPE_INFERENCE_RULES_H_
