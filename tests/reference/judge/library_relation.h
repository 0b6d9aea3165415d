// The library's answers as relations between elements, and their comparison with the reference.
//
// An indexing map is enumerated point by point: for every value of its dimension and range
// variables each runtime variable gets the value that its binding reads in an execution, after its
// value function; the point counts if it is in the map's domain. On several devices every device is
// a reader.

#ifndef XLA_INDEXING_TESTS_REFERENCE_JUDGE_LIBRARY_RELATION_H_
#define XLA_INDEXING_TESTS_REFERENCE_JUDGE_LIBRARY_RELATION_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tests/reference/execute/devices.h"
#include "tests/reference/judge/dependence.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing::reference {

// The two arrays that a map goes between.
struct MapEnds {
  const Shape& from;
  const Shape& to;
};

// Pairs (element of `from`, element of `to`) of a map whose bindings speak of `devices`. An error
// where the map is not what a map between these arrays can be: other numbers of dimensions or
// results, a point or a result outside its array or the devices, an infinite variable, a binding
// that names nothing. ResourceExhausted where it has more than `max_points` points of dimension and
// range variables. On several devices elements are numbered as in Relation.
inline constexpr int64_t kMaxPoints = int64_t{1} << 24;
absl::StatusOr<Relation> RelationOf(const OperandIndexing& indexing, const MapEnds& ends,
                                    const Devices& devices, int64_t max_points = kMaxPoints);

// Whether an answer of the library agrees with the true relation of pairs (element of `from`,
// element of `to`):
//   - the union of the maps is the relation if all maps are exact, and contains it if none is
//     unknown;
//   - each map that is exact is contained in the relation;
//   - no two maps have a pair in common, where they are to be disjoint.
// Otherwise an error that names the first pair that is wrong, and the map.
enum class Overlap { kAllowed, kNone };
absl::Status CheckMaps(const OperandIndexingSet& maps, const Relation& truth, const MapEnds& ends,
                       const Devices& devices, Overlap overlap = Overlap::kAllowed,
                       int64_t max_points = kMaxPoints);

// Whether the entries agree with the dependence of an instruction's (or a computation's root's)
// leaves on the operands' (or parameters'). An entry that is missing stands for the empty relation.
// Where `max_points` is given, entries with a map of more points are passed over.
absl::Status CheckEntries(const InstructionIndexing& entries, Direction direction,
                          const Dependence& truth, const Shape& result,
                          absl::Span<const HloInstruction* const> operands, const Devices& devices,
                          Overlap overlap = Overlap::kAllowed,
                          std::optional<int64_t> max_points = std::nullopt);

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_JUDGE_LIBRARY_RELATION_H_
