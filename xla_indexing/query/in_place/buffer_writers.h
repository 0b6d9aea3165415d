// What writes into the buffer of a parameter of a computation where an output shares it, and whether
// every other reader of what it overwrites comes before.
//
// Mathematics. A buffer holds one value after the other: the parameter, then what each *writer* makes,
// the last of which is the output. They are found from the output back. Tuples, their elements, bitcasts
// and carried values that the body of a while returns as they are hand a value on: it stays one value.
// The value before that of a writer is
//
//   of a while             the same leaf of its operand, since what it carries has one buffer
//   of a stated alias      the operand that `output_to_operand_aliasing` names
//   of anything else       the parameter, whatever the writer reads
//
// Each writer has to come after all other readers of the value before it: in a module with a schedule
// in the order of its instructions, otherwise in some order, so that none of them may be computed from
// the writer. What the writer reads itself is a question about it alone (query/in_place/in_place.h); about a
// while, the same question as this one about its body, of the leaf of the root and that of the
// parameter. Its condition reads before the body writes.
//
// An output that is another parameter is copied at the end, when everything has been read.
//
// A while that carries the parameter and is no writer reads it: what it changes is its own copy.
//
// Example, w = while((i, p)) with a body whose root is (i + 1, dynamic-update-slice(p, x, i)): the
// writer of output 1 is the update in the body.
#ifndef XLA_INDEXING_QUERY_IN_PLACE_BUFFER_WRITERS_H_
#define XLA_INDEXING_QUERY_IN_PLACE_BUFFER_WRITERS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/query/in_place/in_place_answer.h"

namespace xla_indexing::internal {

struct WriterSafety {
  InPlaceSafety safety;
  // The writer that is not safe, or else one that needs an order, or else the last; null where nothing
  // is written.
  const HloInstruction* writer = nullptr;
};

class BufferWriters {
 public:
  // Keeps references. Instructions run in their order where the module is scheduled.
  BufferWriters(const HloComputation& computation, bool is_scheduled, HloIndexers* indexers);
  ~BufferWriters();

  WriterSafety Check(int64_t output_leaf, int64_t parameter, int64_t parameter_leaf);

 private:
  struct ValueLeaf {
    const HloInstruction* instruction = nullptr;
    int64_t leaf = 0;

    friend auto operator<=>(const ValueLeaf& a, const ValueLeaf& b) = default;
  };

  // The operand's leaf that a leaf of an instruction is; none where it is a value of its own.
  std::optional<ValueLeaf> HandedOn(const ValueLeaf& value);
  ValueLeaf OriginOf(ValueLeaf value);
  // The value before, in the same buffer; none where the value does not say.
  std::optional<ValueLeaf> ValueBefore(const ValueLeaf& value);
  // The instructions that read a value, but for those that hand it on.
  const std::vector<const HloInstruction*>& ReadersOf(const ValueLeaf& value);
  bool IsComputedFrom(const HloInstruction& reader, const HloInstruction& writer);
  // Whether a carried value is read in the loop, or behind it.
  bool IsCarriedRead(const HloInstruction& loop, int64_t leaf);
  BufferWriters& InBodyOf(const HloInstruction& loop);

  // One writer, and the value that it overwrites.
  WriterSafety CheckWriter(const ValueLeaf& written, const ValueLeaf& before);
  WriterSafety CheckWhile(const ValueLeaf& written, const ValueLeaf& before);
  InPlaceSafety CheckAlone(const ValueLeaf& written, const ValueLeaf& before);

  const HloComputation& computation_;
  const bool is_scheduled_;
  HloIndexers& indexers_;
  std::optional<std::map<ValueLeaf, std::vector<const HloInstruction*>>> readers_;
  absl::flat_hash_map<const HloInstruction*, absl::flat_hash_set<const HloInstruction*>>
      computed_from_;
  absl::flat_hash_map<const HloInstruction*, std::unique_ptr<BufferWriters>> in_body_;
};

// Whether the body of a while may write what it carries as this leaf into the buffer of its operand's
// leaf, in which it is.
WriterSafety SafetyOfCarried(const HloInstruction& loop, int64_t leaf, bool is_scheduled,
                             mlir::MLIRContext* context);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_QUERY_IN_PLACE_BUFFER_WRITERS_H_
