// Execution of graphs of tiles, to compare with the execution of the computation itself.
//
// Every element of every instruction has a number that follows from the numbers of all elements
// that it reads, and from nothing else: numbers of wrong, missing or doubled elements give another
// one. A contraction adds up the numbers of its steps, which come to it one tile at a time.

#ifndef XLA_INDEXING_TESTS_REFERENCE_JUDGE_TILE_EXECUTION_H_
#define XLA_INDEXING_TESTS_REFERENCE_JUDGE_TILE_EXECUTION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/execute/value.h"
#include "tests/reference/judge/dependence.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/tiling/kernel/tile_graph.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"

namespace xla_indexing::reference {

// An element of a leaf of an operand, by its row-major position.
struct ElementRead {
  int64_t operand = 0;
  int64_t leaf = 0;
  int64_t position = 0;

  friend auto operator<=>(const ElementRead& a, const ElementRead& b) = default;
};

// One step of a contraction: the values of its loops, and what it reads.
struct ContractionStep {
  std::vector<int64_t> loops;
  std::vector<ElementRead> reads;
};

// A computation with the numbers of all elements.
class NumberedComputation {
 public:
  // Errors where the reference cannot execute the computation.
  static absl::StatusOr<std::unique_ptr<NumberedComputation>> Create(
      const HloComputation& computation, uint64_t seed);

  const Execution& execution() const { return execution_; }
  // What an element reads that is not read step by step.
  const std::vector<ElementRead>& Reads(const HloInstruction& instruction, int64_t leaf,
                                        int64_t position) const;
  // The steps of an element of a dot, convolution, reduce or reduce-window. None for others.
  std::vector<ContractionStep> Steps(const HloInstruction& instruction, int64_t leaf,
                                     int64_t position) const;
  uint64_t Number(const HloInstruction& instruction, int64_t leaf, int64_t position) const;
  // The elements of parameters that an element of the root depends on.
  const Dependence& of_parameters() const { return of_parameters_; }

  // The number of what is read, without and with steps.
  static uint64_t Combine(const HloInstruction& instruction, int64_t leaf, uint64_t steps,
                          uint64_t reads);
  static uint64_t OfRead(const ElementRead& read, uint64_t number);

 private:
  NumberedComputation() = default;

  Execution execution_;
  Dependence of_parameters_;
  // By leaf and position.
  using ReadsOfLeaves = std::vector<std::vector<std::vector<ElementRead>>>;
  absl::flat_hash_map<const HloInstruction*, ReadsOfLeaves> reads_;
  absl::flat_hash_map<const HloInstruction*, std::vector<std::vector<uint64_t>>> numbers_;
};

// Runs a graph of the tiled computation: every program, every loop. OK where
//
//   - all elements of all roots are stored with their numbers, and what is exact has only elements
//     that can be computed;
//   - the tiles of a parameter in one program hold what its stored elements depend on;
//   - a load that is exact has nothing else, and everything in it is read before it is loaded anew;
//   - a load of something that is read through exact maps happens in no program that needs none of it,
//     but where a value that is known when the program runs is not the same in all of a tile;
//   - loads, stores, elements, bytes, and the sectors and lines of loads and stores are as many as the graph
//     says, and no more where that says that they depend on values that are known when the program runs, or
//     were not counted. The latter is an error.
absl::Status ExecuteTiles(const NumberedComputation& computation, const HloInstruction& root,
                          const TiledComputation& tiled, const TileGraph& graph);

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_JUDGE_TILE_EXECUTION_H_
