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

#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/union/coalesce.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::internal {

// A map that is compared with others, simplified.
class UnionMember {
 public:
  // With `to`, the shape of the array that it maps to, pairs outside of it do not count.
  explicit UnionMember(OperandIndexing map, const Shape* to = nullptr);
  const OperandIndexing& map() const { return map_; }

  // Whether every pair of the other one is one of this, as far as that is seen: whatever values runtime
  // variables have, those of this one are some of those of the other.
  bool Covers(UnionMember& other);

  // Both as one map with the label of this one, where that is found: both are equally exact, and
  // their runtime variables are read from the same arrays.
  std::optional<OperandIndexing> Coalesced(UnionMember& other, Witness witness);

 private:
  // A pair of the map: dimensions, and what they map to, as far as that does not depend on runtime
  // variables.
  struct Pair {
    llvm::SmallVector<int64_t, 4> dims;
    llvm::SmallVector<std::optional<int64_t>, 4> results;
  };

  // Made when they are asked for.
  const Piece& piece();
  Facts& facts();
  // Where dimensions and ranges have their least values; nullopt if that is no point, or runtime variables
  // decide it.
  const std::optional<Pair>& least_pair();
  // False only if the pair is none of this map, whatever the bounds of its dimensions, and with `any_range`
  // those of its ranges: as is seen by the values of sums of variables.
  bool MayHave(const Pair& pair, bool any_range = false);

  OperandIndexing map_;
  const Shape* to_;
  std::optional<Piece> piece_;
  std::unique_ptr<Facts> facts_;
  std::optional<std::optional<Pair>> least_pair_;
  llvm::SmallVector<LinearSum, 4> results_;  // as sums
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
