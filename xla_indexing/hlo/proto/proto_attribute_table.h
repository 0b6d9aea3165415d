// Where the message HloInstructionProto has the attributes of instructions.
//
// What an attribute is called in text and what kind of value it has says types/attribute.h; the kind
// says how messages have it, too. The table here adds, in the order of XLA's text, a row
//
//   {{Op::kDot, ...}, {Key::kLhsBatchDims, {3, "lhs_batch_dimensions"}, IfGiven}}
//
// for the opcodes that have it, the field (with its name where it is a message, or has another name than
// the attribute), and when it is written. A row of an attribute that is kept as text says how it is
// spelt besides, and has a name where there is no key. A row may be a message within, whose fields are
// rows of a table of their own. A new attribute is a row there, a row here, and a sample in
// tests/hlo/protos.

#ifndef XLA_INDEXING_HLO_PROTO_PROTO_ATTRIBUTE_TABLE_H_
#define XLA_INDEXING_HLO_PROTO_PROTO_ATTRIBUTE_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/proto/wire_format.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/opcode_set.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

// What messages refer to by numbers.
struct ProtoReferences {
  // The computations, and the instructions of the computation that is being read, by their ids;
  // those that were read before.
  absl::flat_hash_map<int64_t, const HloComputation*> computations;
  absl::flat_hash_map<int64_t, const HloInstruction*> instructions;
  // The strings that several instructions share, by their positions.
  std::vector<absl::string_view> payloads;
};

// What is known of an instruction before its attributes.
struct ProtoInstruction {
  const WireMessage& message;  // That of the instruction, or the one within that a row is about.
  HloOpcode opcode;
  const Shape& shape;
  absl::Span<const HloInstruction* const> operands;
  absl::Span<const HloComputation* const> called;
  const ProtoReferences& references;
};

struct AttributeField {
  // Whether the attribute is written.
  using Condition = bool (*)(const ProtoInstruction& instruction, ProtoField field);
  // The text of an attribute that is kept as text; it is not written where that is empty.
  using Spelling = std::string (*)(const ProtoInstruction& instruction, ProtoField field);
  // The same of the message in the field.
  using MessageSpelling = std::string (*)(const WireMessage& message);
  // Which of the computations that the instruction calls the attribute names, and how many it calls.
  struct Called {
    constexpr Called(size_t at, size_t of) : position(at), count(of) {}
    size_t position;
    size_t count;
  };

  // A value of the key's kind; written always where no condition is given.
  constexpr AttributeField(AttributeKey of, ProtoField in, Condition when = nullptr)
      : field(in), key(of), condition(when) {}
  constexpr AttributeField(AttributeKey of, Called which, Condition when = nullptr)
      : field({38, "called_computation_ids"}), key(of), condition(when), called(which) {}
  // A text, of an attribute with a key or of one with a name alone.
  constexpr AttributeField(AttributeKey of, ProtoField in, Spelling spell, Condition when = nullptr)
      : field(in), key(of), condition(when), spelling(spell) {}
  constexpr AttributeField(absl::string_view of, ProtoField in, Spelling spell,
                           Condition when = nullptr)
      : field(in), name(of), condition(when), spelling(spell) {}
  constexpr AttributeField(AttributeKey of, ProtoField in, MessageSpelling spell)
      : field(in), key(of), message_spelling(spell) {}
  constexpr AttributeField(absl::string_view of, ProtoField in, MessageSpelling spell)
      : field(in), name(of), message_spelling(spell) {}
  // A message, some fields of which are attributes.
  constexpr AttributeField(ProtoField in, absl::Span<const AttributeField> within)
      : field(in), fields(within) {}

  ProtoField field;
  AttributeKey key = AttributeKey::kOther;
  absl::string_view name;  // Only of kOther.
  Condition condition = nullptr;
  Spelling spelling = nullptr;
  MessageSpelling message_spelling = nullptr;
  Called called = {0, 0};
  absl::Span<const AttributeField> fields;
};

// A row of the table.
struct InstructionField {
  OpcodeSet opcodes;
  AttributeField field;
};

absl::Span<const InstructionField> InstructionFields();
// The positions of the rows of an opcode.
absl::Span<const uint8_t> RowsOf(HloOpcode opcode);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_PROTO_PROTO_ATTRIBUTE_TABLE_H_
