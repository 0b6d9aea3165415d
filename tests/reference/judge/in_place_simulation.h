// A simulation of computing an output into the buffer of an operand, one element after the other, on
// bits that remember whether they still hold the operand.
#ifndef XLA_INDEXING_TESTS_REFERENCE_JUDGE_IN_PLACE_SIMULATION_H_
#define XLA_INDEXING_TESTS_REFERENCE_JUDGE_IN_PLACE_SIMULATION_H_

#include <cstdint>
#include <set>
#include <vector>

#include "absl/status/statusor.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/judge/dependence.h"
#include "tests/testing/random.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/query/in_place/in_place.h"

namespace xla_indexing::reference {

struct Bits {
  int64_t begin = 0;
  int64_t end = 0;

  bool Meets(const Bits& other) const { return begin < other.end && other.begin < end; }
};

// What every element of the output reads of the shared buffer, and which of them change it.
struct InPlaceTruth {
  Shape output = Shape::Array(ElementType::kF32, {});
  Shape operand_shape = output;
  std::vector<Bits> written;  // by element of the output
  std::vector<bool> changes;  // likewise
  // By element: the elements of the operand that leaves of equal sizes read.
  std::vector<std::vector<int64_t>> reads;
  std::set<int64_t> read_from_outside;  // by leaves of other sizes
  std::vector<Bits> operand;
  std::vector<int64_t> iteration;  // of each element: those of one byte are one

  bool AreInConflict(int64_t writer, int64_t reader) const;
  bool HasOutsideConflict() const;
  // Whether some element is computed from what was overwritten, when elements are computed in this
  // order, those of one iteration together.
  bool IsCorrupted(const std::vector<int64_t>& order) const;
};

absl::StatusOr<InPlaceTruth> InPlaceTruthOf(const HloComputation& computation,
                                            const Execution& execution,
                                            const Dependence& dependence,
                                            const SharedBuffer& buffer);

// The elements in the order of these loops over all dimensions.
std::vector<int64_t> ElementsIn(const LoopOrder& loops, const Shape& array);

// Nests of loops that begin with these.
std::vector<LoopOrder> OrdersThatBeginWith(const LoopOrder& begin, int64_t rank, Random* random);

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_JUDGE_IN_PLACE_SIMULATION_H_
