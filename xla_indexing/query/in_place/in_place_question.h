// One question about one leaf of an output and one of a parameter: whether they may share a buffer.
//
// Reads of the parameter, the places of what is read (buffer_places.h) and the parts of the output that
// change (changed_parts.h), one after the other, are relations from iterations (iteration_space.h) to
// those that must not come before them (order_conflicts.h). in_place.h has the mathematics.
#ifndef XLA_INDEXING_QUERY_IN_PLACE_IN_PLACE_QUESTION_H_
#define XLA_INDEXING_QUERY_IN_PLACE_IN_PLACE_QUESTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/query/in_place/buffers/changed_parts.h"
#include "xla_indexing/query/in_place/in_place_answer.h"
#include "xla_indexing/query/in_place/iteration_space.h"
#include "xla_indexing/query/in_place/order/loop_order.h"
#include "xla_indexing/query/in_place/order/order_conflicts.h"

namespace xla_indexing::internal {

class InPlaceQuestion {
 public:
  // Keeps references to the computation and to the indexer, which is asked for exact maps.
  InPlaceQuestion(const SharedLeaves& leaves, HloIndexer* indexer, mlir::MLIRContext* context);

  // Takes the maps, exact where they can be, from outputs to the leaf of the parameter. Called first;
  // errors are those of fusion/hlo_indexer.h.
  absl::Status Prepare(absl::Span<const IndexingEntry* const> reads);
  // The parts that change; empty if `doubt` says why they are not known.
  const std::vector<ChangedPart>& parts() const { return parts_; }
  const std::string& doubt() const { return doubt_; }

  // The answer where elements are computed one by one.
  absl::StatusOr<InPlaceSafety> Decide();
  // The answer where elements are computed in one order, or iterations run.
  absl::StatusOr<InPlaceSafety> DecideIn(const LoopOrder& order);
  absl::StatusOr<InPlaceSafety> DecideUnder(const IterationMap& iterations);

 private:
  struct Read {
    int64_t output_leaf;
    OperandIndexing map;
  };

  void Doubt(std::string why) {
    if (doubt_.empty()) doubt_ = std::move(why);
  }
  InPlaceSafety Undecided() const;

  bool IsOfSizesOfOutput(int64_t leaf) const;
  bool IsOutside(size_t read) const { return !IsOfSizesOfOutput(reads_[read].output_leaf); }
  // Whether every element reads the element in its own place alone.
  bool ReadsInPlaceOnly() const;
  absl::Status SetSpaceOfElements();
  absl::Status SetSpace(absl::StatusOr<IterationSpace> space);

  // The conflicts between iterations of the space.
  void BuildConflicts();
  // Whether one map makes every order unsafe, whatever all others read, which are then left out.
  bool IsDecidedByOne();
  // Adds the conflicts through one map with one part, if there are any.
  absl::Status AddRelation(size_t read, size_t part, std::vector<ConflictRelation>* relations);
  // From iterations that read, through one map, to those that change one part of what is read;
  // `with_operand` adds the element of the operand to the results.
  absl::StatusOr<OperandIndexing> Chain(size_t read, size_t part, bool with_operand) const;

  InPlaceSafety DecideOrder();
  InPlaceSafety DecideOneOrder(const LoopOrder& order);
  std::optional<InPlaceConflict> ConflictIn(const LoopOrder& order);
  std::optional<InPlaceConflict> AnyConflict();
  // Conditions for any order and, where none is safe for all values, for that of memory up and down.
  std::vector<RuntimeCondition> Conditions(bool is_unsafe);

  const SharedLeaves leaves_;
  HloIndexer& indexer_;
  mlir::MLIRContext* context_;
  StepBudget budget_;
  std::string doubt_;
  std::optional<OperandIndexing> place_;
  std::vector<ChangedPart> parts_;
  std::vector<Read> reads_;
  IterationSpace space_;
  std::vector<std::pair<size_t, size_t>> sources_;  // read and part of each relation
  std::optional<OrderConflicts> conflicts_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_IN_PLACE_IN_PLACE_QUESTION_H_
