// Whether values may lie in one buffer, one after the other.
//
// A buffer holds one value (buffer_values.h) after the other. The law of what may overwrite what is in
// in_place_aliases.h. About a while it is a question about its body, in which each leaf of the root
// overwrites that leaf of the parameter. Its condition reads before the body writes.
//
// What may not lie in one buffer is decided before: other memory spaces, and more bytes than it has.
//
// One order has to do for all values that are overwritten in a computation. So what all aliases demand
// are edges, in addition to those from operands to users: from each reader of v to w, and from v to w. An order
// exists where no edge is on a circle.
//
// The value before that of an output of the header, from which its buffer came, is
//
//   of a while             the same leaf of its operand, since what it carries has one buffer
//   of a stated alias      the operand that `output_to_operand_aliasing` names
//   of anything else       what aliases of instructions have put last into the parameter's buffer, or
//                          the parameter, whatever the writer reads
//
// An output that is another parameter, or a constant, is copied at the end, when everything has been
// read. A while that carries a value and is not asked about reads it: what it changes is its own copy.
//
// Example, w = while((i, p)) with a body whose root is (i + 1, dynamic-update-slice(p, x, i)): the
// writer of output 1 is the update in the body.
#ifndef XLA_INDEXING_QUERY_IN_PLACE_BUFFER_WRITERS_H_
#define XLA_INDEXING_QUERY_IN_PLACE_BUFFER_WRITERS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/query/in_place/buffer_value.h"
#include "xla_indexing/query/in_place/buffer_values.h"
#include "xla_indexing/query/in_place/in_place_answer.h"

namespace xla_indexing::internal {

struct WriterSafety {
  InPlaceSafety safety;
  // The writer that is not safe, or else one that needs an order, or else the last; null if nothing
  // is written.
  const HloInstruction* writer = nullptr;
};

// Value `written` lies where value `before` was.
struct Overwrite {
  BufferValue written;  // without an instruction: a copy at the end
  BufferValue before;

  friend bool operator==(const Overwrite& a, const Overwrite& b) = default;
};

class BufferWriters {
 public:
  // Keeps references. Aliases that instructions state are demanded.
  BufferWriters(const HloComputation& computation, HloIndexers* indexers);
  // The body of a while, whose root's leaves may overwrite the same leaves of its parameter.
  static std::unique_ptr<BufferWriters> OfBody(const HloComputation& body, HloIndexers* indexers);

  BufferValues& values() { return values_; }
  // The buffer of a parameter's leaf may be overwritten.
  void Donate(const BufferValue& parameter) { donated_.insert(parameter); }

  // What overwrites what, in the order of time, where an output lies in the buffer of a parameter's leaf.
  std::vector<Overwrite> OfOutput(int64_t output_leaf, const BufferValue& parameter);
  // The same where one value lies in the buffer of another.
  std::vector<Overwrite> OfValue(const BufferValue& value, const BufferValue& before);
  // All that is demanded has to hold in one order. Before any check.
  void Demand(const std::vector<Overwrite>& overwrites);

  // The answer about all of them together.
  WriterSafety Check(const std::vector<Overwrite>& overwrites);
  // Whether the body, which is that of `loop`, may write what the loop carries as this leaf into the
  // buffer of the same leaf of the loop's operand, where it already is.
  WriterSafety CheckCarried(const HloInstruction& loop, int64_t leaf);
  // `Check` with these demanded in addition to the others, for this answer only.
  WriterSafety CheckBeside(const std::vector<Overwrite>& overwrites);

 private:
  // The value before, in the same buffer; nullopt if the value does not say.
  std::optional<BufferValue> ValueBefore(const BufferValue& value);
  // `next` overwrites `value`, and what stated aliases put into the buffer after that.
  void AppendOver(const BufferValue& value, const BufferValue& next,
                  std::vector<Overwrite>* overwrites) const;

  bool IsScheduled() const { return computation_.parent()->is_scheduled(); }
  bool IsComputedFrom(const HloInstruction& reader, const HloInstruction& writer) const;
  // By instruction: those on a common circle of what is demanded have one number.
  const std::vector<int>& Circles();

  WriterSafety CheckOne(const Overwrite& overwrite);
  // Why the value may not be overwritten by anything; empty where it may.
  std::optional<InPlaceSafety> WhyNotOverwritten(const BufferValue& before,
                                                 const HloInstruction& writer);
  // Why an instruction that makes the value, or reads it, does not come before the one that overwrites it.
  std::optional<InPlaceSafety> WhyNoOrder(const HloInstruction& first, const BufferValue& before,
                                          const HloInstruction& writer);
  // Whether what the writer reads of the value itself is read in time.
  WriterSafety CheckWhile(const BufferValue& written, const BufferValue& before);
  InPlaceSafety CheckAlone(const BufferValue& written, const BufferValue& before);

  const HloComputation& computation_;
  HloIndexers& indexers_;
  BufferValues values_;
  std::set<BufferValue> donated_;
  std::map<BufferValue, BufferValue> stated_before_;
  std::multimap<BufferValue, BufferValue> stated_after_;
  std::vector<Overwrite> demanded_;
  std::optional<std::vector<int>> circles_;
  absl::flat_hash_map<const HloInstruction*, std::unique_ptr<BufferWriters>> in_body_;
  // Each instruction that writes, as a computation of its own.
  absl::flat_hash_map<const HloInstruction*, absl::StatusOr<FusionView>> views_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_IN_PLACE_BUFFER_WRITERS_H_
