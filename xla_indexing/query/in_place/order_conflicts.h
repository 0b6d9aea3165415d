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
//                      be the next one, no order is safe. So where conflicts are undecided, an
//                      order that avoids them, too, is safe, and none is where those that are
//                      certain leave none.
//
// Readers that are no iterations of the space, *outside* of it, are in conflict with all that they meet,
// in every order: their cell is the empty one.
//
// Values. A conflict counts for certain where the runtime variables of the relation can have its values:
// a parameter of the program has any contents, and an element of one says nothing of another. So they
// can, where each variable is of an element of a parameter, perhaps moved (slices, transposes, ..), and
// those of one element are equal. Elements of one parameter that are moved in different ways count as
// one. What is computed, p + q, may not have them.
//
// Example, w(f) = f - 1 on f in [1, 3]: D = -1, so the loop runs downwards.
#ifndef XLA_INDEXING_QUERY_IN_PLACE_ORDER_CONFLICTS_H_
#define XLA_INDEXING_QUERY_IN_PLACE_ORDER_CONFLICTS_H_

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/query/in_place/in_place_answer.h"

namespace xla_indexing::internal {

enum class CoordinateKind : uint8_t { kLoop, kParallel, kTogether };

struct ConflictRelation {
  // From coordinates of the reader to those of the writer; further results behind them do not count.
  OperandIndexing writers;
  // Why pairs of it may be none in any run of the program; empty where each is one in some run.
  std::string why_not_certain;
  bool is_outside = false;
};

// A sign of D_i.
struct SignedDifference {
  int coordinate = 0;
  int sign = 0;

  friend auto operator<=>(const SignedDifference& a, const SignedDifference& b) = default;
};
using ConflictCell = std::vector<SignedDifference>;

struct FoundOrder {
  Answer is_safe = Answer::kUndecided;
  // The loops that matter; the others may run in any order inside of them.
  LoopOrder loops;
};

// A point of a relation's domain: dimensions, then symbols.
struct FoundConflict {
  size_t relation = 0;
  llvm::SmallVector<int64_t, 8> point;
};

class OrderConflicts {
 public:
  // Keeps the budget.
  OrderConflicts(std::vector<ConflictRelation> relations, std::vector<CoordinateKind> kinds,
                 StepBudget* budget);

  const std::vector<ConflictRelation>& relations() const { return relations_; }
  // The cells that have to be empty for an order; without loops, for all orders.
  std::vector<ConflictCell> CellsOf(const LoopOrder& loops) const;
  // The domain of a relation in a cell; nullopt where a number is too large.
  std::optional<IndexingMap> DomainIn(const ConflictCell& cell, size_t relation) const;

  // Whether this order of loops, the others inside of them in any order, has no conflict.
  Answer IsSafeIn(const LoopOrder& loops);
  Answer IsSafeInAnyOrder() { return IsSafeIn({}); }
  FoundOrder FindOrder();

  // The least conflict, for certain, of the first relation and cell that have one in `loops`.
  std::optional<FoundConflict> FindConflict(const LoopOrder& loops);

  // Why a question was not decided, as far as that is known.
  const std::string& why_undecided() const { return why_undecided_; }

 private:
  // An order of the loops that matter in which no cell has a conflict with one of these answers.
  std::optional<LoopOrder> OrderWithout(std::initializer_list<Answer> conflicts);
  Answer HasConflict(const ConflictCell& cell);
  Answer HasConflict(size_t relation, const ConflictCell& cell);
  Answer FindOut(size_t relation, const ConflictCell& cell);

  std::vector<ConflictRelation> relations_;
  std::vector<std::optional<IndexingMap>> differences_;
  std::vector<CoordinateKind> kinds_;
  StepBudget* budget_;
  std::map<std::pair<size_t, ConflictCell>, Answer> known_;
  std::string why_undecided_;
};

// The values of expressions over the variables of a map at a point; empty where one is too large.
std::vector<int64_t> ValuesAt(const OperandIndexing& indexing,
                              llvm::ArrayRef<mlir::AffineExpr> expressions,
                              llvm::ArrayRef<int64_t> point);

// Conditions on runtime variables under which an order is safe, variables before differences.
//
// Law. Let F be a runtime variable, or the difference of two, each one value for all elements. If every
// conflict of an order has F, and U is the least interval that contains the values of F in all of them,
// the order is safe wherever F is outside of U. A condition that implies another is left out.
//
// Example, p[10:20] becomes the elements of p from `start` on, of f32[100]: a conflict has start in
// [1, 19] but 10, so that any order is safe where start >= 20 or start <= 0; the loop upwards has none
// where start <= 10.
std::vector<RuntimeCondition> ConditionsOf(const OrderConflicts& conflicts, const LoopOrder& order,
                                           const HloComputation* analysed, StepBudget* budget);

// What yields a runtime variable, and the element where that has dimensions: `indices{2,0}`.
std::string NameOfValue(const RuntimeVarIndexing& binding, llvm::ArrayRef<int64_t> element,
                        const HloComputation* analysed);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_IN_PLACE_ORDER_CONFLICTS_H_
