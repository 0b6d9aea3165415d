// One question about one leaf of an output and one of a parameter: whether they may share a buffer.
//
// Reads of the parameter, the places of what is read (buffers/buffer_places.h) and the parts of the output
// that change (buffers/changed_parts.h), one after the other, are relations from iterations to those that
// must not come before them (order_conflicts.h). in_place.h has the mathematics.
#ifndef XLA_INDEXING_QUERY_IN_PLACE_IN_PLACE_QUESTION_H_
#define XLA_INDEXING_QUERY_IN_PLACE_IN_PLACE_QUESTION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/query/in_place/buffers/changed_parts.h"
#include "xla_indexing/query/in_place/in_place_answer.h"

namespace xla_indexing::internal {

struct InPlaceQuestion {
  struct Read {
    int64_t output_leaf;
    OperandIndexing map;
  };

  SharedLeaves leaves;
  std::vector<Read> reads = {};
  // From an element of the parameter to those of the output at its place.
  std::optional<OperandIndexing> place = std::nullopt;
  std::vector<ChangedPart> parts = {};
  // What is answered whatever the maps are; otherwise the other fields are known.
  std::optional<InPlaceSafety> answer = std::nullopt;
};

// `reads` are the maps, exact where they can be, from outputs to the leaf of the parameter. Errors are
// those of fusion/hlo_indexer.h.
absl::StatusOr<InPlaceQuestion> AskInPlace(const SharedLeaves& leaves,
                                           absl::Span<const IndexingEntry* const> reads,
                                           HloIndexers* indexers);

// The answer where elements are computed one by one: in this order of loops, or in one that is looked for.
InPlaceSafety Decide(const InPlaceQuestion& question, const std::optional<LoopOrder>& order);
// The answer where these iterations run. InvalidArgument where they do not lead to elements of the output.
absl::StatusOr<InPlaceSafety> DecideUnder(const InPlaceQuestion& question,
                                          const IterationMap& iterations);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_IN_PLACE_IN_PLACE_QUESTION_H_
