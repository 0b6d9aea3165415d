// Literals out of their protocol buffers.

#ifndef XLA_INDEXING_HLO_PROTO_PROTO_LITERAL_H_
#define XLA_INDEXING_HLO_PROTO_PROTO_LITERAL_H_

#include "xla_indexing/hlo/proto/wire_format.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

// The value that a LiteralProto holds, as one of `shape`, which must be the literal's but for
// layouts. A LiteralProto lists the elements in the order in which its own layout has them in
// memory, each in as many bytes as it needs. Fails at the message's source where there are too few
// or too many of them.
Literal ReadLiteralProto(const WireMessage& message, const Shape& shape);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_PROTO_PROTO_LITERAL_H_
