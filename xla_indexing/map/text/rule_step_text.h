// Steps of the normal form as text: `before -> after  [rule]`.
#ifndef XLA_INDEXING_MAP_TEXT_RULE_STEP_TEXT_H_
#define XLA_INDEXING_MAP_TEXT_RULE_STEP_TEXT_H_

#include <string>

#include "xla_indexing/affine/rule_trace.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {

// With the names of the variables of `map`. Examples:
//
//   (d0 * 8 + d1) mod 8 -> d1  [(g*H + L) mod m = g*((H + t) mod (m/g)) + L - t*g]
//   d0 * 2 in [0, 9] -> d0 in [0, 4]  [normal form of the constraint]
std::string ToString(const RuleStep& step, const IndexingMap& map);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_MAP_TEXT_RULE_STEP_TEXT_H_
