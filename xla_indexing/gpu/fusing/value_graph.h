// The values that a computation makes as a graph in which calls are inlined: what decides on fusions
// (gpu/fusing/kernel_merger.h) goes over.
//
//   roles    memory   something that is in memory before a kernel could read it: a parameter, a large
//                     constant, an element of a tuple; and whatever no kernel of an emitter makes: a
//                     library call, a sort, a loop, a collective
//            free     costs nothing wherever it is: a scalar constant, a bitcast, a reshape or transpose
//                     that leaves every element in its place in memory
//            fusible  an operation that an emitter can make a part of a kernel
//
// A value that is never used is left out, unless something happens where it is made. Of values that are
// the same operation of the same operands, the first stands for all. Where the argument of an inlined
// call has another layout than its parameter there is a copy. A dot whose only reader is a transpose that
// exchanges its rows and columns is written in the layout in which the transpose is free.
//
// Example, `c = call(p), to_apply=square`, `square = { q; m = multiply(q, q) }`: the values p and m, and m
// is what c is.
#ifndef XLA_INDEXING_GPU_FUSING_VALUE_GRAPH_H_
#define XLA_INDEXING_GPU_FUSING_VALUE_GRAPH_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

// Which calls of a module are inlined: those of at most 20,000 instructions, nested at most 64 deep, until
// the module has grown by 500,000.
class InlinedCalls {
 public:
  explicit InlinedCalls(const HloModule& module);
  bool Has(const HloInstruction& call) const { return calls_.contains(&call); }

 private:
  absl::flat_hash_set<const HloInstruction*> calls_;
};

enum class ValueRole : uint8_t { kMemory, kFree, kFusible };

struct Value {
  const HloInstruction* instruction = nullptr;
  absl::InlinedVector<int, 2> operands;  // positions in the graph
  ValueRole role = ValueRole::kMemory;
  bool is_relayout =
      false;             // a copy to the layout of the instruction, a parameter of an inlined call
  int64_t elements = 0;  // of an array
  int64_t bytes = 0;
  std::optional<Shape> in_layout =
      std::nullopt;  // where it has another layout than the instruction

  HloOpcode opcode() const { return is_relayout ? HloOpcode::kCopy : instruction->opcode(); }
  const Shape& shape() const { return in_layout ? *in_layout : instruction->shape(); }
};

struct ValueGraph {
  ValueGraph(const HloComputation& computation, const InlinedCalls& inlined);

  // The value that a free one has under another name; -1 for a constant.
  int Behind(int value) const;

  std::vector<Value> values;  // operands before their users; the parameters first
  int root = 0;

 private:
  void ChooseLayoutsOfDots();
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_FUSING_VALUE_GRAPH_H_
