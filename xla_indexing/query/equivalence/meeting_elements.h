// Which elements of two parameters meet in a computation.
//
// Mathematics. Two elements u and v *meet* for an element d of the result where some instruction
// that d is computed from computes one element, or one step of one (ops/rules/arithmetic/contraction.h),
// from u by one operand and from v by another: a product of a dot, a sum of an add. Every element
// that is read meets itself. The relation is symmetric; (d) -> (u.., v..) has the parameter that
// comes first, and for one parameter both orders.
//
// What two computations read may be the same where what meets is not:
//
//   sum over k of a[k] * b[k]         reads all of a and b; a[k] meets b[k]
//   sum over k of a[k] * b[n - 1 - k] reads all of a and b; a[k] meets b[n - 1 - k]
//
// Where an instruction does not say which elements of its operands meet (a loop, a sort of several
// arrays), it says which of its own elements the result is computed from.
//
// Cost. Instructions times maps, up to kMaxMeetingMaps.

#ifndef XLA_INDEXING_QUERY_EQUIVALENCE_MEETING_ELEMENTS_H_
#define XLA_INDEXING_QUERY_EQUIVALENCE_MEETING_ELEMENTS_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/answers/parts/indexing_options.h"

namespace xla_indexing::internal {

inline constexpr int64_t kMaxMeetingMaps = int64_t{1} << 12;

struct MeetingElements {
  // Leaf of the result, and the leaves of the parameters, the first not after the second.
  using Place = std::tuple<int64_t, OperandLeaf, OperandLeaf>;
  std::map<Place, OperandIndexingSet> maps;
  // From a leaf of the result to the elements of a leaf of an instruction in which it is not known
  // what meets.
  struct Opaque {
    int64_t output_leaf;
    const HloInstruction* instruction;
    int64_t leaf;
    OperandIndexingSet maps;
  };
  std::vector<Opaque> opaque;
  // Why nothing is known; empty where something is.
  std::string failure;
};

// Calls are not looked into: fusion/fusion_view.h replaces them. Errors of HloIndexer.
absl::StatusOr<MeetingElements> FindMeetingElements(const HloComputation& computation,
                                                    HloIndexer& indexer, mlir::MLIRContext* context,
                                                    const IndexingOptions& options);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_EQUIVALENCE_MEETING_ELEMENTS_H_
