// The syntax of lists of devices: replica groups, source-target pairs and the tiles of shardings.
//
// Instructions keep them as text, which hlo/replica_groups.h takes apart. They are looked at while
// parsing so that a list that means nothing (a mesh without the axis that is asked for, an iota of
// another size than its tiles) is an error with its place and not a surprise to whoever reads it
// later.
//
//   devices=[2,2]0,1,2,3        a sharding's tiles and the device of each

#ifndef XLA_INDEXING_HLO_DEVICE_LISTS_H_
#define XLA_INDEXING_HLO_DEVICE_LISTS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/lexer.h"
#include "xla_indexing/hlo/replica_groups.h"

namespace xla_indexing {

// Reads replica groups that end at the end of `text`, a part of what the lexer reads; fails at the
// place of what is wrong. The cursor stays where it is.
bool ReadReplicaGroups(Lexer& lexer, absl::string_view text, ReplicaGroups* groups);

// The same for the pairs of a collective-permute.
bool ReadSourceTargetPairs(Lexer& lexer, absl::string_view text,
                           std::vector<SourceTargetPair>* pairs);

// Fails at the place of what is wrong in the device lists and meshes within a sharding.
bool CheckSharding(Lexer& lexer, absl::string_view text);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_DEVICE_LISTS_H_
