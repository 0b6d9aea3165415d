// Attributes of instructions out of their protocol buffers.

#ifndef XLA_INDEXING_HLO_PROTO_PROTO_ATTRIBUTE_READER_H_
#define XLA_INDEXING_HLO_PROTO_PROTO_ATTRIBUTE_READER_H_

#include "absl/container/inlined_vector.h"
#include "xla_indexing/hlo/model/arena.h"
#include "xla_indexing/hlo/proto/proto_attribute_table.h"
#include "xla_indexing/hlo/types/attribute.h"

namespace xla_indexing::internal {

using AttributeList = absl::InlinedVector<Attribute, 8>;

// The attributes that HLO text gives the instruction, in the order in which XLA prints them. Values
// lie in the arena. Fails at the message's source where a value is none that text could have, or
// refers to what was not read before.
AttributeList ReadAttributesProto(const ProtoInstruction& instruction, Arena& arena);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_PROTO_PROTO_ATTRIBUTE_READER_H_
