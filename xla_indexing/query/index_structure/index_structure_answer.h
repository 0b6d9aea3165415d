// What is said of a gather or a scatter by query/index_structure/index_structure.h, which has the mathematics.
//
// Example, the gather of f32[10] at {7, 5, 3, 1}: `form` is kBox, `name` is
// `strided slice, reverse`, `sorted.holds` is kNo and `in_bounds.holds` kYes.
#ifndef XLA_INDEXING_QUERY_INDEX_STRUCTURE_INDEX_STRUCTURE_ANSWER_H_
#define XLA_INDEXING_QUERY_INDEX_STRUCTURE_INDEX_STRUCTURE_ANSWER_H_

#include <cstdint>
#include <string>

#include "xla_indexing/hlo/transforms/replace_indexed.h"
#include "xla_indexing/map/sets/decision.h"

namespace xla_indexing {

enum class IndexedForm : uint8_t {
  kUnrecognised,
  kBox,  // a chain of movements
  kDiagonal,
  kStencil,
  kConcatenation,  // of boxes
  kDynamicSlice,   // at one runtime start, or at one in each batch element
  kPad,            // a scatter into an array of one value
  kUpdate,         // a scatter that replaces boxes, or one in each batch element
  kAccumulation,   // a scatter that combines
};

struct IndexProperty {
  Answer holds = Answer::kUndecided;
  std::string reason;  // in one line
  // A condition under which an undecided property holds, such as `p in [0, 88]`; empty where none is
  // known.
  std::string where = {};
};

struct IndexStructure {
  IndexedForm form = IndexedForm::kUnrecognised;
  // `strided slice, reverse`; `concatenation of 2: slice; copy`; `unrecognised`.
  std::string name;
  std::string reason;
  // What an unrecognised one is under a condition, such as `dynamic-slice where p in [0, 88]`; empty
  // where no condition is known.
  std::string where;
  // Why there is no other operation for it, in one line, where it has a name and stays.
  std::string not_replaced;
  IndexProperty sorted;
  IndexProperty unique;  // of a scatter
  IndexProperty in_bounds;
  // What it can be replaced by, with the attributes that hold and are not there yet.
  IndexedReplacement replacement;

  bool IsReplaceable() const {
    return replacement.gather || replacement.scatter || replacement.is_sorted ||
           replacement.is_unique;
  }
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_QUERY_INDEX_STRUCTURE_INDEX_STRUCTURE_ANSWER_H_
