// Options for the maps of instructions, wherever they are asked for.
//
// Example: a pad of f32[4,6] by one element on each side reads the padding value in a border of four
// pieces. These are more than `few_pieces`: the default answer is one map, over-approximate, and the
// one with `exact` the four.
#ifndef XLA_INDEXING_OPS_ANSWERS_PARTS_INDEXING_OPTIONS_H_
#define XLA_INDEXING_OPS_ANSWERS_PARTS_INDEXING_OPTIONS_H_

#include <cstdint>
#include <string>

#include "xla_indexing/base/cpp20.h"

namespace xla_indexing {

namespace internal {
class ComputationIndexer;
class ValueOrigins;
}  // namespace internal

class CustomCallRegistry;

// What a scatter does with a window that is partly outside its operand.
enum class ScatterBounds {
  kWindow,   // Drops the whole window: HLO.
  kElement,  // Drops the elements that are outside: StableHLO.
};

// What an answer is about.
enum class Dependence : uint8_t {
  // The elements that the operation's formula names: what a kernel reads. A select reads both its
  // values.
  kReads,
  // The elements that can change the value. Where index arithmetic and constants decide the predicate
  // of a select, only the value that is chosen; not what is multiplied by an integer 0, is combined with
  // false by `and`, and the like.
  // In a computation that is called, parameters have the values that its callers pass, if these pass the same.
  kValues,
  // Likewise where all numbers that a program is given and computes are finite, less than 1e9 in size,
  // and not rounded to 0: 0 times x is 0, exp(-infinity) is 0, and constants of 1e9 and more are
  // infinite.
  kFiniteValues,
};

struct IndexingOptions {
  Dependence dependence = Dependence::kReads;
  // Asks for the tightest maps: where one map is larger than the set it stands for (the operand of
  // a dynamic-update-slice or of a scatter that replaces, the value of a pad), it is split into
  // disjoint exact pieces, however many.
  bool exact = false;
  // Without `exact`, it is split if there are no more pieces than this: what is before and after, and
  // between, in one dimension. With 0, it is one map that leaves nothing out.
  int few_pieces = 3;
  ScatterBounds scatter_bounds = ScatterBounds::kWindow;
  // Replaces runtime variables whose value the module fixes by expressions.
  bool fold_runtime_variables = true;
  // Gives the maps of called computations. Without it, an instruction that calls computations reads
  // its whole operands, over-approximate; a reason why it is missing is added to the label.
  internal::ComputationIndexer* computations = nullptr;
  std::string why_no_computations = {};
  // What is known of values for `dependence`, for who asks about one instruction after another.
  internal::ValueOrigins* origins = nullptr;
  // The rules for custom calls (ops/rules/custom_calls/custom_call_registry.h); null: the library's.
  const CustomCallRegistry* custom_calls = nullptr;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_OPS_ANSWERS_PARTS_INDEXING_OPTIONS_H_
