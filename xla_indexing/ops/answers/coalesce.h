// Maps with their bindings as pieces of a union (map/union/coalesce.h).
//
// The piece of a map has the reader of its replica map as one more dimension, and as results the
// indices of the map, the device, and what its runtime variables are bound to: the indices of the
// elements, and their devices. Runtime variables are the same where these are, and what is read.
//
// Example: (d0, d1)[s0] -> (d0, s0) over an array of 4 by 8, s0 in [0, 7], covers
// (d0, d1) -> (d0, d1) and (d0, d1)[s0] -> (d0, s0 * 2), s0 in [0, 3]: x + f(x) reads of x what f
// reads of it if f reads rows.
#ifndef XLA_INDEXING_OPS_ANSWERS_COALESCE_H_
#define XLA_INDEXING_OPS_ANSWERS_COALESCE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/union/coalesce.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

// A map that is compared with others, simplified.
class UnionMember {
 public:
  // With `to`, the shape of the array that it leads to, pairs outside of it do not count.
  explicit UnionMember(OperandIndexing map, const Shape* to = nullptr);
  const OperandIndexing& map() const { return map_; }

  // Whether every pair of the other one is one of this, as far as that is seen: whatever values runtime
  // variables have, those of this one are some of those of the other.
  bool Covers(UnionMember& other);

  // Both as one map, where that is found: of one label, read from the same arrays.
  std::optional<OperandIndexing> Coalesced(UnionMember& other, Witness witness);

 private:
  // Made when they are asked for.
  const Piece& piece();
  Facts& facts();

  OperandIndexing map_;
  const Shape* to_;
  std::optional<Piece> piece_;
  std::unique_ptr<Facts> facts_;
};

inline bool Covers(const OperandIndexing& a, const OperandIndexing& b) {
  UnionMember of_a(a);
  UnionMember of_b(b);
  return of_a.Covers(of_b);
}

// Leaves out maps that others cover; of two that cover each other the exact one stays. Leaves them as
// they are where the question's budget is spent. `to` as above.
void DropCovered(const Shape* to, std::vector<OperandIndexing>* maps);

// Replaces two maps by one as long as there are two, and the question's budget, or `max_steps` of it,
// lasts.
void CoalesceAll(Witness witness, int64_t max_steps, std::vector<OperandIndexing>* maps);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_ANSWERS_COALESCE_H_
