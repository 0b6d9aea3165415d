// What is asked and answered about an output that overwrites an operand (query/in_place/in_place.h).
//
// Example, the update in query/in_place/in_place.h: the answer is kInOrder with the order d0 descending, and
// the conflict of the other order has writer {1}, reader {2}, operand {1} and byte 4.
#ifndef XLA_INDEXING_QUERY_IN_PLACE_IN_PLACE_ANSWER_H_
#define XLA_INDEXING_QUERY_IN_PLACE_IN_PLACE_ANSWER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {

// An order in which the elements of an array are computed: a nest of loops over its dimensions, the
// outermost first, each dimension at most once. Element f comes before element e where, in the outermost
// loop in which they differ, f comes first: with the smaller index, or with the greater one in a loop
// that runs downwards. Dimensions without a loop are inside of all loops, in any order.
//
// Example: {{1, true}} of f32[2,3] is column 2, column 1, column 0; the rows of each in any order.
struct DirectedLoop {
  int dimension = 0;
  bool is_descending = false;

  friend bool operator==(const DirectedLoop& a, const DirectedLoop& b) = default;
};
using LoopOrder = std::vector<DirectedLoop>;

// The iterations of a kernel, as a map to the elements that they compute: dimensions run in parallel,
// range variables are loops of each, upwards, the outermost first, and those in `together` the elements
// of one access, all read before any is written. Each element belongs to one iteration. A thread
// mapping is one (gpu/threads/thread_mapping.h), with its vector ranges together.
//
// Example: (d0)[s0, s1] -> (d0, s0 * 4 + s1), with s1 together, is a thread for each row, which reads
// and writes four elements at a time.
struct IterationMap {
  IndexingMap elements;
  llvm::SmallVector<int, 1> together = {};  // range variables
};

enum class InPlaceAnswer : uint8_t { kAnyOrder, kInOrder, kUnsafe, kUndecided };

// `any order`, `in order`, `unsafe`, `undecided`.
absl::string_view InPlaceAnswerName(InPlaceAnswer answer);

// Element `writer` of the output is written, which changes the place of element `operand` of the
// parameter, before element `reader`, of this or another leaf of the output, has read it.
struct InPlaceConflict {
  std::vector<int64_t> writer;
  std::optional<int64_t> reader_leaf;  // where it is another one
  std::vector<int64_t> reader;
  std::vector<int64_t> operand;
  int64_t byte = 0;  // the first that both have, from the beginning of the buffer
  // The elements that runtime variables are read from, `start` or `indices{2,0}`, and what they
  // contain in this conflict.
  std::vector<std::pair<std::string, int64_t>> runtime_values;

  // `element {1} is written before element {2} reads element {1} of the operand, at byte 4`.
  std::string ToString() const;
};

// An order is safe where a value is outside of an interval: the value as operations use it, a start
// after it is clamped.
struct RuntimeCondition {
  LoopOrder order;      // empty: any
  std::string runtime;  // what yields the value: one runtime variable, or the difference of two
  Interval values;      // all that it can have
  Interval unsafe;      // those that may be unsafe

  // `start >= 3`, `end - start <= 0 or end - start >= 5`.
  std::string ToString() const;
};

struct InPlaceSafety {
  InPlaceAnswer answer = InPlaceAnswer::kUndecided;
  LoopOrder order = {};  // of kInOrder: the loops that matter
  // For kUnsafe, but for what is unsafe by its size (`reason`); for kInOrder, a conflict of another
  // order, where one was found.
  std::optional<InPlaceConflict> conflict = std::nullopt;
  // Each by itself is enough for its order.
  std::vector<RuntimeCondition> conditions = {};
  std::string reason = "";  // of kUndecided, and of kUnsafe without a conflict

  bool IsSafe() const {
    return answer == InPlaceAnswer::kAnyOrder || answer == InPlaceAnswer::kInOrder;
  }
  // `any order`, `in order d1 descending; otherwise unsafe: ..`, `unsafe: ..`, `undecided: ..`.
  std::string ToString() const;

  static InPlaceSafety AnyOrder() { return {.answer = InPlaceAnswer::kAnyOrder}; }
  static InPlaceSafety Unsafe(std::string why) {
    return {.answer = InPlaceAnswer::kUnsafe, .reason = std::move(why)};
  }
  static InPlaceSafety Undecided(std::string why) { return {.reason = std::move(why)}; }
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_QUERY_IN_PLACE_IN_PLACE_ANSWER_H_
