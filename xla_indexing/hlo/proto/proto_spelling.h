// What HLO text writes for parts of a module that the model keeps as text: metadata, shardings,
// groups of devices, configurations. Each function gives the spelling of one protocol buffer, as
// XLA prints it but for comments within. What is malformed fails at the message's source.

#ifndef XLA_INDEXING_HLO_PROTO_PROTO_SPELLING_H_
#define XLA_INDEXING_HLO_PROTO_PROTO_SPELLING_H_

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/proto/wire_format.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

// Fails where a value is none that text can have: one that begins with a brace must end with its partner.
void CheckReadsBack(absl::string_view text, ProtoSource& source);

// What `spell(const WireMessage&)` gives for each message of a repeated field, with `separator` between.
template <typename Spell>
std::string SpellEach(const WireMessage& message, ProtoField field, absl::string_view separator,
                      Spell spell) {
  std::string text;
  message.Messages(field, [&](const WireMessage& element, int64_t i) {
    absl::StrAppend(&text, i > 0 ? separator : "", spell(element));
  });
  return text;
}

// `{op_name="jit(f)/add" stack_frame_id=3}`; empty where there is nothing in it.
std::string SpellMetadata(const WireMessage& op_metadata);

// `{devices=[2,2]<=[4]}`, `{{replicated}, {maximal device=0}}`.
std::string SpellSharding(const WireMessage& op_sharding);

// `{{0,1},{2,3}}`, `[2,4]<=[8]`, `mesh['x'=2,'y'=4] {'x'}`: the groups of a collective, in whichever
// of an instruction's fields they are.
std::string SpellReplicaGroups(const WireMessage& instruction);

// `{{0,1},{1,0}}`.
std::string SpellSourceTargetPairs(const WireMessage& instruction);

// `{{0}: (1, {})}`: which part of the result is which part of an operand.
std::string SpellOutputToOperandAliasing(const WireMessage& instruction);

// `{a="1",b={c=2}}`, sorted by name; empty where there is nothing in it.
std::string SpellFrontendAttributes(const WireMessage& frontend_attributes);

// A dictionary as it is, everything else as a string: `{"a":[1]}`, `"opaque"`.
std::string SpellConfig(absl::string_view config);

// `{({"a" {0}}, {"b"})}`: which value of the program before each array of a result of `shape` was.
std::string SpellOriginalValue(const WireMessage& original_value, const Shape& shape);

// `{ {0}: (0, {}, may-alias) }`; empty where there is nothing in it.
std::string SpellInputOutputAlias(const WireMessage& input_output_alias);

// `{ (0, {1}) }`; empty where there is nothing in it.
std::string SpellBufferDonor(const WireMessage& buffer_donor);

// `f32[4]{0}`.
std::string SpellShape(const WireMessage& shape);

// `{(f32[4]{0}, s32[])->f32[4]{0}}`.
std::string SpellProgramShape(const WireMessage& program_shape);

// The tables FileNames, FunctionNames, FileLocations and StackFrames; empty where there are no
// frames.
std::string SpellStackFrameTables(const WireMessage& stack_frame_index);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_PROTO_PROTO_SPELLING_H_
