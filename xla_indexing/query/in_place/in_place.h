// Whether the output of a fusion may be written into the buffer of one of its parameters.
//
// Mathematics. The computation is done element by element of the output: element f reads what its
// indexing maps name, then is written to its place. Buffers are shared from their first byte on, so
// that element e of the output lies where bits position(e) * width of the layout lie, and so does
// an element of the parameter. With
//
//   reads(f)    elements of the parameter that element f, of any leaf of the output, reads
//   place(r)    elements of the output that share bits with element r of the parameter
//   changed     elements of the output that are not just what is in their places
//
// a conflict is a pair (f, e) with e in place(reads(f)), e changed and e != f. In a safe order f
// comes before e in every conflict. Leaves of the output of equal sizes are computed together, all
// elements with one index at once; what reads for a leaf of other sizes is in conflict with every
// element that it meets. Elements narrower than a byte are written byte by byte, those of one byte
// at once.
//
//   any order        there is no conflict: safe in parallel
//   in an order      a nest of loops, each upwards or downwards, is safe
//   unsafe           no nest of loops over the output's dimensions is
//   undecided        with the reason: maps that are not exact, values that are computed, layouts
//                    that are not known, questions that take too many steps
//
// A while carries each leaf in one buffer, which its body writes: the answer about that leaf of its
// operand is that about the instructions of its body.
//
// "Safe" holds for all values of runtime variables. "Unsafe" is of elements that are read: by their
// definition operations read their operands whatever the values are. It is said where some values
// of the parameters that runtime variables are read from lead to conflicts; where one of them, say
// the start of an update, or the distance of two, decides, the values for which an order is right
// are a condition.
//
// Example, u = dynamic-update-slice(p, slice(p, [0:3]), 1) of s32[4]: element f in [1, 3] reads
// element f - 1, which it must before that is changed. Safe in the order d0 descending; upwards,
// element 1 is written before element 2 reads it.
//
// Errors. InvalidArgument for leaves that there are not, and for iterations that do not fit; those of
// fusion/fusion_view.h and fusion/hlo_indexer.h.
//
// Source: dependence analysis of loops (Allen and Kennedy, "Automatic Translation of Fortran
// Programs to Vector Form", 1987), for directions of dependences and the choice of loops from
// outside in.
#ifndef XLA_INDEXING_QUERY_IN_PLACE_IN_PLACE_H_
#define XLA_INDEXING_QUERY_IN_PLACE_IN_PLACE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/query/in_place/in_place_answer.h"

namespace xla_indexing {

// What a kernel that works in place has to write: elements of the output, as maps e -> e with the
// runtime variables that they depend on, and how many they are.
struct WrittenElements {
  OperandIndexingSet elements;
  Interval count;
  int64_t of = 0;  // elements of the output
};

struct SharedBuffer {
  int64_t output_leaf = 0;
  OperandLeaf operand;

  friend bool operator==(const SharedBuffer& a, const SharedBuffer& b) = default;
};

// Which pairs of leaves are asked about.
struct PairFilter {
  std::optional<int64_t> output_leaf = std::nullopt;
  std::optional<int64_t> operand = std::nullopt;  // all its leaves
  int64_t max_pairs = int64_t{1} << 20;
};

// As many outputs as possible in buffers of operands, all in one order.
struct BufferSharing {
  std::vector<SharedBuffer> shared;  // by output leaf
  LoopOrder order;                   // empty: any
};

class InPlaceAnalysis {
 public:
  // Operands are the parameters of a computation by their numbers, and the operands of an instruction,
  // a fusion or another, by theirs. Fusions and calls are looked through. The module and the context
  // have to outlive it.
  static absl::StatusOr<InPlaceAnalysis> OfComputation(const HloComputation& computation,
                                                       mlir::MLIRContext* context);
  static absl::StatusOr<InPlaceAnalysis> OfInstruction(const HloInstruction& instruction,
                                                       mlir::MLIRContext* context);
  // The same through indexers that are kept, for one target after another; they have to outlive it.
  static absl::StatusOr<InPlaceAnalysis> OfComputation(const HloComputation& computation,
                                                       HloIndexers& indexers);
  static absl::StatusOr<InPlaceAnalysis> OfInstruction(const HloInstruction& instruction,
                                                       HloIndexers& indexers);
  // Operands are the parameters of the view by their numbers.
  static absl::StatusOr<InPlaceAnalysis> OfView(FusionView view, HloIndexers& indexers);
  InPlaceAnalysis(InPlaceAnalysis&& other) noexcept;
  InPlaceAnalysis& operator=(InPlaceAnalysis&& other) noexcept;
  ~InPlaceAnalysis();

  // The pairs of leaves that are arrays with buffers of equally many bytes, at least one: first those
  // of an output leaf and the operands' leaf of the same number, all leaves of the operands counted, then
  // the others, each by output leaf, operand and its leaf; at most `max_pairs` of them.
  std::vector<SharedBuffer> Candidates(const PairFilter& filter = {}) const;
  // How many there are, whatever `max_pairs` is.
  int64_t CountCandidates(const PairFilter& filter = {}) const;
  bool IsCandidate(const SharedBuffer& buffer) const;

  absl::StatusOr<InPlaceSafety> Safety(const SharedBuffer& buffer);
  // In this order of loops: kInOrder, or kAnyOrder, where it is safe.
  absl::StatusOr<InPlaceSafety> SafetyIn(const SharedBuffer& buffer, const LoopOrder& order);
  // Under these iterations: kAnyOrder where they are safe, kUnsafe where not.
  absl::StatusOr<InPlaceSafety> SafetyUnder(const SharedBuffer& buffer,
                                            const IterationMap& iterations);
  absl::StatusOr<WrittenElements> Written(const SharedBuffer& buffer);
  // A maximum matching over the candidates that are safe: in any order, or, if there are more that
  // are safe in one order of loops, in that order.
  absl::StatusOr<BufferSharing> Share();

 private:
  class Impl;
  static absl::StatusOr<InPlaceAnalysis> Of(absl::StatusOr<FusionView> view,
                                            absl::Span<const HloInstruction* const> operands,
                                            std::shared_ptr<HloIndexers> indexers,
                                            const HloInstruction* loop = nullptr);
  static absl::StatusOr<InPlaceAnalysis> Of(const HloInstruction& instruction,
                                            std::shared_ptr<HloIndexers> indexers);
  explicit InPlaceAnalysis(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_QUERY_IN_PLACE_IN_PLACE_H_
