// The syntax of lists of devices: replica groups, source-target pairs and the tiles of shardings.
//
// Instructions keep them as text, which hlo/types/replica_groups.h takes apart. They are looked at while
// parsing so that a list that means nothing (a mesh without the axis that is asked for, an iota of
// another size than its tiles) is an error with its place and not a surprise to whoever reads it
// later.
//
//   devices=[2,2]0,1,2,3        a sharding's tiles and the device of each
//
// Devices are counted by 64 bits, so that the largest id that any list may name is 2^63 - 2.

#ifndef XLA_INDEXING_HLO_DEVICES_DEVICE_LISTS_H_
#define XLA_INDEXING_HLO_DEVICES_DEVICE_LISTS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/types/replica_groups.h"

namespace xla_indexing::internal {

// Reads replica groups; fails at the place of what is wrong.
bool ReadReplicaGroups(Lexer& lexer, ReplicaGroups* groups);

// Reads the pairs of a collective-permute.
bool ReadSourceTargetPairs(Lexer& lexer, std::vector<SourceTargetPair>* pairs);

// Fails at the place of what is wrong in the device lists and meshes within a sharding, whose text
// is a part of what the lexer reads. The cursor stays where it is.
bool CheckSharding(Lexer& lexer, absl::string_view text);

// InvalidArgument where the text is none of these, with what is wrong. A group that is empty next to
// others, an id that is negative, 2^63 - 1 or in two places, sizes whose product is another than
// that of the groups, a permutation that is none, a mesh without an axis are errors. So the number
// of ids fits 64 bits, and so does one more than each of them.
absl::StatusOr<ReplicaGroups> ParseReplicaGroups(absl::string_view text);

// `{{0,1},{1,2}}`: device 0 sends to 1 and 1 to 2. No device sends or receives twice.
absl::StatusOr<std::vector<SourceTargetPair>> ParseSourceTargetPairs(absl::string_view text);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_DEVICES_DEVICE_LISTS_H_
