// Which results are memory that is there already, so that computing them moves nothing.
//
//   parameter, constant                  what is there before anything runs
//   tuple, get-tuple-element, bitcast    other names for their operands
//   opt-barrier, domain, add-dependency  their operands, of which something is said
//   after-all                            a token
//   ..-done, async-update                what the ..-start before them moves
//   while                                the leaves that its body passes through unchanged
//
// Example: tuple(a, b) of two arrays of a gigabyte reads and writes no byte.
#ifndef XLA_INDEXING_QUERY_ALIASES_H_
#define XLA_INDEXING_QUERY_ALIASES_H_

#include <vector>

#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing {

// Whether all leaves of the result are such memory whatever the operands are; no for every while.
bool IsAlias(const HloInstruction& instruction);

// Whether each leaf of the result is such an alias.
std::vector<bool> AliasedLeaves(const HloInstruction& instruction);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_QUERY_ALIASES_H_
