// Custom calls that say by maps what they read, for what HLO has no operation for.
//
// The target is `indexing.maps`; the configuration is a list of maps, each for one of the call's operands:
//
//   backend_config="0: (d0, d1) -> (d0, d0 * 2 + d1), domain: d0 in [0, 7], d1 in [0, 2]"
//
// A map goes from the loops of the operation (its dimensions) to the indices of an element of the result and then to
// those of the element of the operand that it reads: here result[d0] reads operand[d0 * 2 + d1]. So both directions
// come of one description. Several maps, separated by `;`, are a union, also for one operand. Runtime variable k is
// the number in the k-th of the last operands, which are scalars.
//
// Example: absl::StatusOr<..> read = HloIndexer(&context, WithGivenMaps()).Index(call, direction);
#ifndef XLA_INDEXING_LINALG_GIVEN_MAPS_H_
#define XLA_INDEXING_LINALG_GIVEN_MAPS_H_

#include "xla_indexing/fusion/walk/fusion_options.h"

namespace xla_indexing {

inline constexpr char kGivenMapsTarget[] = "indexing.maps";

// The options, with the rule for these calls besides the library's own.
FusionOptions WithGivenMaps(FusionOptions options = {});

}  // namespace xla_indexing

#endif  // XLA_INDEXING_LINALG_GIVEN_MAPS_H_
