// The values that lie in buffers: which leaves of instructions are one value, and who reads it.
//
// A leaf of an instruction is a value of its own, but for those that are another name of a leaf of an
// operand, through which the *origin* of a leaf is found:
//
//   bitcast, domain, opt-barrier, add-dependency    the same leaf of the operand
//   tuple, get-tuple-element                        the leaf that it puts there, or takes out
//   call                                            what the called computation hands on
//   while                                           the leaves that the body hands on as they are
//   copy-start, async-start                         in the leaves of their operands, the operands
//   copy-done, async-update, async-done, ..-done    what the ..-start before them makes
//
// A conditional yields a value of its own, into which a branch that hands on its operand copies it. So do
// calls that are nested deeper than anyone writes.
//
// A value is read by the instructions that have a name of it as an operand and are not only names
// themselves. What an asynchronous operation reads, it reads until it is done: its ..-done is a reader,
// too.
//
// Example: of `b = bitcast(c)`, `n = negate(b)`, the readers of c are {n}.
#ifndef XLA_INDEXING_QUERY_IN_PLACE_BUFFER_VALUES_H_
#define XLA_INDEXING_QUERY_IN_PLACE_BUFFER_VALUES_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/query/in_place/buffer_value.h"

namespace xla_indexing::internal {

// Whether an instruction only gives leaves of its operands other names, and reads nothing.
bool IsOnlyAName(const HloInstruction& instruction);

// The ..-start of an asynchronous operation, given it or what follows it; any other instruction itself.
const HloInstruction& StartOf(const HloInstruction& instruction);

class BufferValues {
 public:
  // Keeps a reference.
  explicit BufferValues(const HloComputation& computation) : BufferValues(computation, 0) {}

  const HloComputation& computation() const { return computation_; }
  // The values of a computation that an instruction of this one calls.
  BufferValues& In(const HloComputation& called);

  BufferValue OriginOf(BufferValue value);
  // The origin of a leaf of the root.
  BufferValue OriginOfOutput(int64_t leaf);
  // The first leaf of the root that is this value; nullopt if it is no output.
  std::optional<int64_t> OutputOf(const BufferValue& value);
  // In the order of the computation, each once.
  const std::vector<const HloInstruction*>& ReadersOf(const BufferValue& value);
  // Whether a leaf of the first parameter is read, or handed on as another leaf.
  bool IsRead(int64_t leaf);

 private:
  BufferValues(const HloComputation& computation, int depth)
      : computation_(computation), depth_(depth) {}

  // The operand's leaf that a leaf of an instruction is; nullopt if it is a value of its own.
  std::optional<BufferValue> HandedOn(const BufferValue& value);
  std::optional<BufferValue> HandedOnByCall(const BufferValue& value);

  const HloComputation& computation_;
  const int depth_;  // of the calls that lead here
  std::optional<std::map<BufferValue, std::vector<const HloInstruction*>>> readers_;
  std::vector<BufferValue> outputs_;  // the origins of the root's leaves
  absl::flat_hash_map<const HloComputation*, std::unique_ptr<BufferValues>> called_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_IN_PLACE_BUFFER_VALUES_H_
