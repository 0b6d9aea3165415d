// What the leaves of a loop's state have in common in one direction, computed once for all of them.
#ifndef XLA_INDEXING_OPS_LOOPS_BODY_LOOP_MEMO_H_
#define XLA_INDEXING_OPS_LOOPS_BODY_LOOP_MEMO_H_

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/ops/loops/body/alike_unions.h"

namespace xla_indexing::internal {

// The maps between one array and the leaves of the loop's state.
using LeafSets = std::map<int64_t, OperandIndexingSet>;

// A timed map (ops/loops/body/loop_body.h) of an iteration between two leaves.
struct LoopPiece {
  int64_t from = 0;
  int64_t to = 0;
  OperandIndexing map;
  // The pieces that can be next, and the part of the graph that it is in.
  std::vector<int> next = {};
  int part = 0;
};

// By the leaves from and to which maps lead.
using LoopClosure = std::map<std::pair<int64_t, int64_t>, OperandIndexingSet>;

// Pieces that lead to one another, and what any number of them but none is; nothing if there is
// no closed form.
struct LoopPart {
  std::vector<int> pieces = {};
  bool is_solved = false;
  std::optional<LoopClosure> closure = std::nullopt;
};

// Parts stand before those that they lead to.
struct LoopGraph {
  std::vector<LoopPiece> pieces;
  std::vector<LoopPart> parts;
};

// What becomes of values that iterations compute: elements of an array over the iterations, all of
// them, or those that are not functions of the iteration's number and of what the loop begins with.
enum class StepValues : uint8_t { kOfIterations, kOfBeginning };

// The pieces of a loop by whether they depend on values that iterations compute: those that do not
// as a graph, and from each leaf those that do.
struct ValuedLoop {
  // Whether there is a piece that depends on values at all.
  bool has_values = false;
  LoopGraph steady;
  std::map<int64_t, LeafSets> changing;
  // Any number of steady pieces, and of all, from each leaf to the end; nullopt if that has no
  // closed form.
  std::map<int64_t, std::optional<LeafSets>> steady_to_end;
  std::map<int64_t, std::optional<LeafSets>> any_to_end;
  // Compositions for all answers about the loop.
  StepBudget budget{1 << 17};
};

struct LoopMemo {
  // The leaves that the body does not return unchanged.
  std::optional<std::vector<int64_t>> changed;
  // The body's entries of a leaf, and the leaves that they can be about.
  std::map<int64_t, InstructionIndexing> entries;
  std::map<int64_t, std::vector<int64_t>> leaves;
  // Where an iteration leads from a leaf, with the time, and how these maps lead to one another.
  std::map<int64_t, LeafSets> timed_steps;
  AlikeUnions written;
  std::optional<LoopGraph> graph;
  // The steps with what iterations compute as runtime variables, and how they lead to one another.
  std::map<std::pair<StepValues, int64_t>, LeafSets> valued_steps;
  AlikeUnions joined;
  // What these variables are read from, one of those that have one value.
  std::vector<RuntimeVarIndexing> values;
  std::map<StepValues, ValuedLoop> valued;
  std::optional<LeafSets> read_by_condition;
  // Whether it matters how often the loop runs.
  std::optional<bool> depends_on_count;
  // The leaves that the condition reads wholly (ops/loops/whole_leaves.h); from output to input.
  std::optional<std::map<int64_t, int64_t>> whole_leaves;
  // What leads through the condition between two leaves that are not one, by their dimensions and the
  // time at which the condition reads all of one.
  std::map<std::tuple<absl::Span<const int64_t>, absl::Span<const int64_t>, int64_t>,
           OperandIndexingSet>
      through_condition;
  // The leaves from which iterations, or none, lead to the condition.
  std::optional<std::vector<bool>> lead_to_condition;
  // Whether the body has operations across replicas.
  std::optional<bool> has_devices;
  std::optional<bool> is_beyond_closing;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_BODY_LOOP_MEMO_H_
