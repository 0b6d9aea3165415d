// Builds the instructions of a computation: shapes are inferred, operands and attributes checked,
// and operations on each element broadcast their operands implicitly.
//
// HLO itself broadcasts nothing. Where the operands of a binary or ternary operation, or of a map,
// differ in shape, the builder lines them up by numpy's or XLA's rule (hlo/build/broadcast_dimensions.h)
// and puts explicit instructions before the operation, in one of two styles. f32[10,1], to become
// f32[6,8,10,5] as its dimensions {2,3}:
//
//   direct    r = f32[10] reshape(p)
//             b = f32[6,8,10,5] broadcast(r), dimensions={2}
//
//   promoted  i = f32[10,1] broadcast(p), dimensions={0,1}
//             r = f32[10] reshape(i)
//             c = f32[10,5] broadcast(r), dimensions={0}
//             b = f32[6,8,10,5] broadcast(c), dimensions={2,3}
//
// Direct: dimensions of size 1 that grow are reshaped away, and one broadcast makes the result.
// Promoted: an operand with such dimensions is first broadcast to its own shape, and then to the
// result's sizes at its own rank; the dimensions that it lacks are added last. An operand that has
// the result's shape is not changed.
//
// Every attribute that the parser knows can be given, with the kind of value that
// hlo/types/attribute.h names; other attributes are given as text. Shapes are inferred. A call that
// returns an error leaves the computation unchanged.
//
// Errors. InvalidArgument, naming the instruction, operands, dimensions and sizes; Unimplemented
// where the shape of an operation must be given and is not.
//
// Example, the module of hlo/model/module.h's with a broadcast in it:
//
//   HloModule module("m");
//   HloBuilder builder(module.AddComputation("main"));
//   const auto p = builder.AddParameter(0, Shape::Array(ElementType::kF32, {10, 1}), "p");
//   const auto q = builder.AddParameter(1, Shape::Array(ElementType::kF32, {1, 5}), "q");
//   const auto sum = builder.Add(HloOpcode::kAdd, {*p, *q});  // f32[10,5]
//   const absl::Status status = CheckBuiltModule(module);
//
// Source: "Deprecate explicit shape promotion in PyTorch/XLA", whose listings have both styles.

#ifndef XLA_INDEXING_HLO_BUILD_BUILDER_H_
#define XLA_INDEXING_HLO_BUILD_BUILDER_H_

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/build/broadcast_dimensions.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {

enum class BroadcastRule : uint8_t {
  kXla,    // Different ranks need broadcast_dimensions.
  kNumpy,  // The last dimensions belong together.
  kNone,   // Nothing is broadcast.
};

enum class BroadcastStyle : uint8_t { kDirect, kPromoted };

struct HloBuilderOptions {
  BroadcastRule rule = BroadcastRule::kXla;
  BroadcastStyle style = BroadcastStyle::kDirect;
  // Arrays without layout get the row-major one (constants keep their literal's), so that the
  // module prints as XLA prints it.
  bool row_major_layouts = false;
};

// What an instruction has in addition to its opcode and operands. Views are read during the call only.
struct InstructionDetails {
  // The name; empty for the opcode's spelling, with a number appended where that is taken.
  absl::string_view name = {};
  // Required where the shape does not follow from the operands; elsewhere it must agree with it.
  std::optional<Shape> shape = std::nullopt;
  std::vector<Attribute> attributes = {};
  // The list for XLA's broadcasting rule, where operands differ in rank.
  absl::Span<const int64_t> broadcast_dimensions = {};
};

// `key=value`, and `name=text` for an attribute without a key.
Attribute MakeAttribute(AttributeKey key, const AttributeValue& value);
Attribute MakeTextAttribute(absl::string_view name, absl::string_view text);

// Whether the operands of an operation are broadcast implicitly: elementwise operations of two or
// three operands, and map.
bool BroadcastsImplicitly(HloOpcode opcode);

class HloBuilder {
 public:
  // Adds to `computation`, in which other instructions may stand already. Computations that are
  // called must be complete and come before it in its module.
  explicit HloBuilder(HloComputation* computation, HloBuilderOptions options = {})
      : computation_(computation), options_(options) {}

  HloComputation* computation() const { return computation_; }

  absl::StatusOr<const HloInstruction*> AddParameter(int64_t number, const Shape& shape,
                                                     absl::string_view name = {},
                                                     absl::Span<const Attribute> attributes = {});
  absl::StatusOr<const HloInstruction*> AddConstant(const Literal& literal,
                                                    absl::string_view name = {},
                                                    absl::Span<const Attribute> attributes = {});
  // Adds any other operation. Operands are instructions of this computation.
  absl::StatusOr<const HloInstruction*> Add(HloOpcode opcode,
                                            absl::Span<const HloInstruction* const> operands,
                                            const InstructionDetails& details = {});
  absl::StatusOr<const HloInstruction*> Add(HloOpcode opcode,
                                            std::initializer_list<const HloInstruction*> operands,
                                            const InstructionDetails& details = {}) {
    return Add(opcode, absl::MakeConstSpan(operands.begin(), operands.size()), details);
  }

  // The operands brought to the shape of the result of an operation that broadcasts them, each in
  // its own element type.
  absl::StatusOr<std::vector<const HloInstruction*>> Broadcast(
      absl::Span<const HloInstruction* const> operands,
      absl::Span<const int64_t> broadcast_dimensions = {});

  // Marks the root; without this call it is the last instruction.
  absl::Status SetRoot(const HloInstruction* root);

 private:
  using Instructions = std::vector<const HloInstruction*>;

  absl::Status CheckOperands(absl::string_view what,
                             absl::Span<const HloInstruction* const> operands) const;
  // Returns the requested name, or a new one where it is empty.
  absl::StatusOr<std::string> NameFor(HloOpcode opcode, absl::string_view name);
  bool IsTaken(absl::string_view name) const;
  // Checks shape and attributes of an instruction without operands, and returns its name like
  // NameFor.
  absl::StatusOr<std::string> CheckLeaf(HloOpcode opcode, const Shape& shape,
                                        absl::string_view name,
                                        absl::Span<const Attribute> attributes);
  absl::Status SetAttributes(absl::Span<const Attribute> attributes, HloInstruction* instruction);
  absl::Status CheckReferences(const Attribute& attribute, const HloInstruction& user) const;

  // Makes an instruction and appends it to the pending ones.
  absl::StatusOr<const HloInstruction*> Make(HloOpcode opcode,
                                             absl::Span<const HloInstruction* const> operands,
                                             const InstructionDetails& details);
  // Adds the pending instructions to the computation.
  void AddPending();

  absl::StatusOr<ImplicitBroadcast> LineUp(absl::Span<const HloInstruction* const> operands,
                                           absl::Span<const int64_t> broadcast_dimensions) const;
  // Makes the operands explicit, each in the shape of the result.
  absl::StatusOr<Instructions> MakeAllExplicit(absl::Span<const HloInstruction* const> operands,
                                               absl::Span<const int64_t> broadcast_dimensions);
  // An operand whose dimensions are these of the result, in the shape of the result.
  absl::StatusOr<const HloInstruction*> MakeExplicit(const HloInstruction* operand,
                                                     const Shape& result,
                                                     absl::Span<const int64_t> dimensions);
  absl::StatusOr<const HloInstruction*> MakeBroadcast(const HloInstruction* operand,
                                                      const Shape& shape,
                                                      absl::Span<const int64_t> dimensions);

  HloComputation* computation_;
  HloBuilderOptions options_;
  // How many names were made from each opcode.
  std::map<HloOpcode, int64_t> name_counts_;
  std::vector<HloInstruction*> pending_;
  // The name reserved for the instruction that the pending ones are made for.
  absl::string_view reserved_name_;
};

// Checks that a built module verifies and that its text reads back as an equal module. Attributes
// that are given as text are not checked before.
absl::Status CheckBuiltModule(const HloModule& module);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_BUILD_BUILDER_H_
