// The syntax of lists of devices: replica groups, source-target pairs and the tiles of shardings.
//
// Instructions keep them as text, which hlo/replica_groups.h takes apart. They are looked at while
// parsing so that a list that means nothing (a mesh without the axis that is asked for, an iota of
// another size than its tiles) is an error with its place and not a surprise to whoever reads it
// later.
//
//   devices=[2,2]0,1,2,3        a sharding's tiles and the device of each
//
// Devices are counted by 64 bits, so that the largest id that any list may name is 2^63 - 2.

#ifndef XLA_INDEXING_HLO_DEVICE_LISTS_H_
#define XLA_INDEXING_HLO_DEVICE_LISTS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/lexer.h"
#include "xla_indexing/hlo/replica_groups.h"

namespace xla_indexing {

// Reads replica groups; fails at the place of what is wrong.
bool ReadReplicaGroups(Lexer& lexer, ReplicaGroups* groups);

// Reads the pairs of a collective-permute.
bool ReadSourceTargetPairs(Lexer& lexer, std::vector<SourceTargetPair>* pairs);

// Fails at the place of what is wrong in the device lists and meshes within a sharding, whose text
// is a part of what the lexer reads. The cursor stays where it is.
bool CheckSharding(Lexer& lexer, absl::string_view text);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_DEVICE_LISTS_H_
