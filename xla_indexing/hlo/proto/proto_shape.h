// Shapes out of their protocol buffers.

#ifndef XLA_INDEXING_HLO_PROTO_PROTO_SHAPE_H_
#define XLA_INDEXING_HLO_PROTO_PROTO_SHAPE_H_

#include "xla_indexing/hlo/proto/wire_format.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

// The shape that a ShapeProto says; the empty tuple, and a failure at the message's source, where
// it says none: an element type that HLO text has no name for, a size that is negative, a layout
// that is no permutation, more elements than 64 bits count. A scalar's layout that says nothing is
// left out, as in text.
Shape ReadShapeProto(const WireMessage& message);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_PROTO_PROTO_SHAPE_H_
