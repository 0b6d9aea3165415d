// Random gathers and scatters of which it is known what they are, since they were made so: their indices
// are written by arithmetic, as programs write them.
#ifndef XLA_INDEXING_TESTS_REFERENCE_JUDGE_MADE_INDICES_H_
#define XLA_INDEXING_TESTS_REFERENCE_JUDGE_MADE_INDICES_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "xla_indexing/query/index_structure/index_structure.h"

namespace xla_indexing::reference {

// A gather from, or a scatter into, s32[sizes] with an index vector for every element: coordinate k is
// start + stride * (index along a dimension of the result).
struct MadeAccess {
  std::string text;
  std::set<std::string> parts;  // of the name that it has to have
  bool is_scatter = false;
};

MadeAccess MakeAccess(uint64_t seed, bool is_scatter);

// A module whose root is of one of the classes of indexing syntax: windows, concatenations, rotations,
// tables, scatters, batches, dynamic starts.
struct MadeClass {
  std::string text;
  std::string name;                // the class
  std::string contains;            // what its name has to contain
  std::vector<IndexedForm> forms;  // one of which it has to have
  bool is_in_bounds = true;
  bool stays = false;  // there is no other operation for it
};

// Consecutive seeds give all classes in turn.
MadeClass MakeClass(uint64_t seed);

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_JUDGE_MADE_INDICES_H_
