// Attributes of instructions out of their protocol buffers.

#ifndef XLA_INDEXING_HLO_INTERNAL_PROTO_ATTRIBUTES_H_
#define XLA_INDEXING_HLO_INTERNAL_PROTO_ATTRIBUTES_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/attribute.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/hlo/internal/arena.h"
#include "xla_indexing/hlo/internal/wire_format.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/hlo/shape.h"

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
  const WireMessage& message;
  HloOpcode opcode;
  const Shape& shape;
  absl::Span<const HloInstruction* const> operands;
};

using AttributeList = absl::InlinedVector<Attribute, 8>;

// The attributes that HLO text gives the instruction, in the order in which XLA prints them. Values
// lie in `arena`. Fails at the message's source where a value is none that text could have, or
// refers to what was not read before.
AttributeList ReadProtoAttributes(const ProtoInstruction& instruction,
                                  const ProtoReferences& references, Arena& arena);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_INTERNAL_PROTO_ATTRIBUTES_H_
