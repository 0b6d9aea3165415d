// The syntax of lists of devices: replica groups and the tiles of shardings.
//
// Both are kept as text. They are looked at while parsing so that a list that means nothing (a mesh
// without the axis that is asked for, an iota of another size than its tiles) is an error with its
// place and not a surprise to whoever reads it later.
//
//   {{0,1},{2,3}}               groups of devices, none of them twice
//   [2,4]<=[8]                  the devices 0 to 7 in the shape [2,4]: 2 groups of 4
//   [4,2]<=[2,4]T(1,0)          the same of shape [2,4], transposed, in the shape [4,2]
//   mesh['x'=2,'y'=4] {'x'}     the groups along an axis, or a part `'y':(2)2` of one, of a mesh
//   devices=[2,2]0,1,2,3        a sharding's tiles and the device of each

#ifndef XLA_INDEXING_HLO_DEVICE_LISTS_H_
#define XLA_INDEXING_HLO_DEVICE_LISTS_H_

#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/lexer.h"

namespace xla_indexing {

// Fails at the place of what is wrong in replica groups. `text` must be a part of what the lexer
// reads. The cursor stays where it is.
bool CheckReplicaGroups(Lexer& lexer, absl::string_view text);

// The same for the device lists and meshes within a sharding.
bool CheckSharding(Lexer& lexer, absl::string_view text);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_DEVICE_LISTS_H_
