// What yields the value of a runtime variable of an indexing map.
//
// A runtime variable stands for a number that the program reads from a tensor while it runs. Its
// binding says which tensor (the call path, the instruction and the leaf of its result), which
// element (affine expressions over the dimensions, range variables and earlier runtime variables of
// the map that owns the variable), what is done to the value (the value function), and in programs
// of several devices on which of them:
//
//   rt = value_function(instruction#leaf[element(d, s, earlier rt)])
//
// This tuple is the variable's identity: two variables with equal bindings have the same value. The
// interval that the owner gives the variable is a restriction of the owner's domain like any other;
// a point at which the value lies outside it is not in the domain.
//
// Where the number of iterations of a while is not known, it is a runtime variable too: `instruction`
// is the while, and the value function says so.
//
// What the body of a while computes has a value in each iteration, which are one array: the first
// index of its elements is the number of the iteration, from 0. There is one such index for each
// while on the call path, the outermost first. A parameter of the body is what the iteration begins
// with.
//
// Example: in gather(operand, indices) with indices s32[1806,2], start j of the result element
// (d0, d1, d2, d3) is bound to {instruction: indices, leaf: 0, element: (d0, j), clamp [0, 26]}.
// The branch that iteration k of a loop takes is bound to {call path: the loop, instruction: the
// operand of the conditional in the body, leaf: 0, element: (k), in [0, 1], else 1}.

#ifndef XLA_INDEXING_OPS_ANSWERS_PARTS_RUNTIME_VAR_INDEXING_H_
#define XLA_INDEXING_OPS_ANSWERS_PARTS_RUNTIME_VAR_INDEXING_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/ops/answers/parts/value_function.h"

namespace xla_indexing {

struct RuntimeVarIndexing {
  // The callers on the way from the analysed computation to the one that `instruction` is in, the
  // outermost first; empty where it is in the analysed computation itself.
  llvm::SmallVector<const HloInstruction*, 1> call_path;
  const HloInstruction* instruction = nullptr;
  int64_t leaf = 0;
  // The numbers of iterations, one for each while on the call path, and then one expression for each
  // dimension of the leaf. Symbols are numbered as in the owner: its range variables, then its
  // runtime variables.
  llvm::SmallVector<mlir::AffineExpr, 2> element;
  ValueFunction value = ValueFunction::AsIs();
  // The device on which the element is read, where that is not the reader: over the variables of
  // the owner's replica map (ops/answers/parts/replica_map.h), which there is then. Null: the reader.
  mlir::AffineExpr device = {};

  // How often a while runs, which its result does not tell: an unsigned number that no element
  // holds, with the value function `iterations`.
  static RuntimeVarIndexing IterationsOf(const HloInstruction& loop);

  // The array that the element is of, in one iteration; u64[] for how often a while runs.
  const Shape& shape() const;
  // How many of the expressions of the element are numbers of iterations.
  int64_t NumLoops() const;
  // The values that the variable can have as far as the element type and the value function say.
  Interval ValueRange() const;

  // `instruction`, `instruction#leaf` for leaves other than 0, `computation/instruction` where it
  // is not in `analysed`, and the callers before that: `caller/computation/instruction`.
  std::string YieldedBy(const HloComputation* analysed) const;

  friend bool operator==(const RuntimeVarIndexing& a, const RuntimeVarIndexing& b) {
    return a.call_path == b.call_path && a.instruction == b.instruction && a.leaf == b.leaf &&
           a.element == b.element && a.value == b.value && a.device == b.device;
  }
  template <typename H>
  friend H AbslHashValue(H h, const RuntimeVarIndexing& binding) {
    h = H::combine(std::move(h), absl::MakeConstSpan(binding.call_path), binding.instruction,
                   binding.leaf, binding.value, binding.device.getAsOpaquePointer());
    for (const mlir::AffineExpr index : binding.element) {
      h = H::combine(std::move(h), index.getAsOpaquePointer());
    }
    return H::combine(std::move(h), binding.element.size());
  }
};

using RuntimeVarIndexings = std::vector<RuntimeVarIndexing>;

// Compares what two runtime variables are read from, but for the element: negative, zero or positive
// as `a` comes before, with or after `b`, by call path, position of the instruction in the module
// and leaf.
int CompareSources(const RuntimeVarIndexing& a, const RuntimeVarIndexing& b);

// The values that elements of this type have: [-128, 127] for s8, [0, 1] for pred; all integers for
// types that hold no integers, and [0, inf] for u64.
Interval ValuesOfElementType(ElementType type);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_OPS_ANSWERS_PARTS_RUNTIME_VAR_INDEXING_H_
