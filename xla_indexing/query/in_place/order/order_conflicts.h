// Whether what some iterations write is read by others in an order in which it must not be.
//
// Mathematics. Iterations are points of a space of coordinates. A relation w(f) has the iterations
// that write where iteration f reads. An iteration reads before it writes, so it never disturbs
// itself; a *conflict* is a pair (f, w(f)) of different iterations, and an order of iterations is
// safe where in every conflict f comes before w(f). Coordinates are of three kinds:
//
//   loop        one of a nest of loops, each run through upwards or downwards
//   parallel    iterations that differ in it run in any order
//   together    iterations that differ in it alone are one: all read before any writes
//
// With  e = w(f)  and for each coordinate  D_i = e_i - f_i,  the pairs with certain signs of some D_i
// form a *cell*, and all questions are whether cells are empty (map/sets/domain.h):
//
//   any order          no cell  D_i >= 1  or  D_i <= -1  of a loop or parallel coordinate i
//   this loop order    no cell  D_i = 0 for the loops outside of k,  D_k <= -1  (up; >= 1 for down)
//   some loop order    a loop with one sign alone is taken as the next one, and D_k = 0 asked of the
//                      rest. Any loop that can be the next one may be: what is a safe order of more
//                      conflicts is one of fewer. So there is no going back, and where no loop can
//                      be the next one, no order is safe.
//
// Example, w(f) = f - 1 on f in [1, 3]: D = -1, so the loop runs downwards.
#ifndef XLA_INDEXING_QUERY_IN_PLACE_ORDER_ORDER_CONFLICTS_H_
#define XLA_INDEXING_QUERY_IN_PLACE_ORDER_ORDER_CONFLICTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/query/in_place/order/loop_order.h"

namespace xla_indexing::internal {

enum class CoordinateKind : uint8_t { kLoop, kParallel, kTogether };

struct ConflictRelation {
  OperandIndexing writers;  // from coordinates to coordinates
  // Why pairs of it may be none in any run of the program; empty where each is one in some run.
  std::string why_not_certain;
  // Why not all values of its runtime variables occur (free_values.h); empty where all do.
  std::string why_not_free;
  // The readers are no iterations of this space: each pair is a conflict in every order.
  bool is_outside = false;
};

// A sign of D_i.
struct SignedDifference {
  int coordinate = 0;
  int sign = 0;
};
using ConflictCell = llvm::SmallVector<SignedDifference, 4>;

struct FoundOrder {
  Answer is_safe = Answer::kUndecided;
  // The loops that matter; the others may run in any order inside of them.
  LoopOrder loops;
};

class OrderConflicts {
 public:
  // Keeps the budget.
  OrderConflicts(std::vector<ConflictRelation> relations, std::vector<CoordinateKind> kinds,
                 StepBudget* budget);

  size_t num_relations() const { return relations_.size(); }
  const ConflictRelation& relation(size_t i) const { return relations_[i]; }
  // The cells that have to be empty for an order; without loops, for all orders.
  std::vector<ConflictCell> CellsOf(const LoopOrder& loops) const;

  // Whether no order has a conflict.
  Answer IsSafeInAnyOrder();
  // Whether this order of loops, the others inside of them in any order, has none.
  Answer IsSafeIn(const LoopOrder& loops);
  FoundOrder FindOrder();

  // The first relation and cell that have a conflict in `loops` for certain; an empty cell, all of the
  // relation, where its readers are outside.
  std::optional<std::pair<size_t, ConflictCell>> FindConflict(const LoopOrder& loops);

  // Why a question was not decided, as far as that is known.
  const std::string& why_undecided() const { return why_undecided_; }

 private:
  Answer HasConflict(const ConflictCell& cell);
  Answer HasConflict(size_t relation, const ConflictCell& cell);

  std::vector<ConflictRelation> relations_;
  std::vector<std::optional<IndexingMap>> differences_;
  std::vector<CoordinateKind> kinds_;
  StepBudget* budget_;
  std::string why_undecided_;
};

// The relation restricted to a cell. Nothing if an expression cannot be written.
std::optional<IndexingMap> RestrictTo(const ConflictCell& cell, const IndexingMap& relation);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_IN_PLACE_ORDER_ORDER_CONFLICTS_H_
