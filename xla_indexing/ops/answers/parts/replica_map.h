// The device whose operand is read: what an indexing map of an operation across replicas says
// in addition to the index.
//
// A module runs on many devices, each with an operand of its own. The map of an all-gather, say,
// names an element, and its replica map the device on which that element is read, as a function of
// the device that asks for it: the *reader*, by its flattened id. From input to output the reader
// is the device that has the operand, and the device named the one whose result it goes to.
//
// A replica map is over the variables of its owner (an OperandIndexing), whose intervals and
// constraints hold for it too, and one more dimension, after the owner's dimensions: the reader. It
// says only what the owner does not:
//
//   readers       the interval of that dimension
//   device        the device whose operand is read
//   constraints   those that mention the reader
//
// What depends on the reader in the index itself (its position in its group) is a range variable of
// the owner that a constraint here ties to the reader.
//
// Example, reduce-scatter of f32[16] to f32[4] in groups of 4 of 8 devices: of device p the element
// d0 reads, on every device of its group, the element d0 + 4 * (p mod 4).
//
//   (d0)[s0, s1] -> (d0 + s0 * 4), domain: d0 in [0, 3], s0 in [0, 3], s1 in [0, 3]
//     replica: (d0, d1)[s0, s1] -> (s1 + (d1 floordiv 4) * 4), domain: .., d1 in [0, 7], ..,
//              d1 mod 4 - s0 in [0, 0]

#ifndef XLA_INDEXING_OPS_ANSWERS_PARTS_REPLICA_MAP_H_
#define XLA_INDEXING_OPS_ANSWERS_PARTS_REPLICA_MAP_H_

#include <cstddef>
#include <utility>

#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {

struct ReplicaMap {
  Interval readers = Interval::All();
  mlir::AffineExpr device;
  Constraints constraints;

  friend bool operator==(const ReplicaMap& a, const ReplicaMap& b) {
    return a.readers == b.readers && a.device == b.device && a.constraints == b.constraints;
  }
  template <typename H>
  friend H AbslHashValue(H h, const ReplicaMap& map) {
    h = H::combine(std::move(h), map.readers, static_cast<size_t>(hash_value(map.device)));
    for (const Constraint& constraint : map.constraints) {
      h = H::combine(std::move(h), static_cast<size_t>(hash_value(constraint.expr)),
                     constraint.interval);
    }
    return h;
  }
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_OPS_ANSWERS_PARTS_REPLICA_MAP_H_
