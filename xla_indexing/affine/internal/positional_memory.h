// What a positional algebra (affine/internal/positional.h) keeps while it works: its sources, and
// what indices, steps, cuts and joins have come to, each with a table to find it in. It is handed
// from one algebra of a thread to the next, since most of them serve a path or two.
#ifndef XLA_INDEXING_AFFINE_INTERNAL_POSITIONAL_MEMORY_H_
#define XLA_INDEXING_AFFINE_INTERNAL_POSITIONAL_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/internal/number.h"
#include "xla_indexing/affine/internal/object_pool.h"

namespace xla_indexing::internal {

// What digits are of (affine/internal/positional.h).
struct NumberSource {
  enum class Kind { kVariable, kRun, kLinear };
  Kind kind = Kind::kVariable;
  int variable = 0;  // its position
  Number number;     // of a run and a linear source
  int64_t factor = 1;
  int64_t offset = 0;
  int64_t modulus = 1;  // divides every value
  int64_t least = 0;    // of the values, 0 or more
  int64_t greatest = 0;
  size_t nodes = 1;       // occurrences of digits in it, those of its digits' sources counted
  int depth = 0;          // how deep sources nest in it
  bool is_moved = false;  // linear, or of digits of such sources
  uint32_t id = 0;        // in digits

  size_t hash = 0;
  NumberSource* next = nullptr;
};

// A number cut in two.
struct NumberParts {
  Number low;
  Number high;
};

// Indices and the position that they are known to be of. A reshape and its inverse cancel where
// digits do not join again, too.
struct LinearizedIndices {
  llvm::SmallVector<Number, 4> indices;
  Number position;
  size_t position_hash = 0;

  size_t hash = 0;  // of the indices
  LinearizedIndices* next = nullptr;
};
struct IndicesOfPosition {
  const LinearizedIndices* known = nullptr;
  size_t order = 0;  // of those of one position the first one made is taken

  size_t hash = 0;  // of the position
  IndicesOfPosition* next = nullptr;
};

// An affine step that was made of all values, so that its inverse gives back what there was before,
// in any chain.
struct MovedNumber {
  Number from;
  Number to;
  int64_t factor = 1;
  int64_t offset = 0;
  int64_t divisor = 1;
  size_t order = 0;  // likewise

  size_t hash = 0;  // of `to`
  MovedNumber* next = nullptr;
};

// What a source's digit is, cut at a radix.
struct DigitCut {
  Digit digit;  // not flipped
  int64_t radix = 1;
  NumberParts parts;

  size_t hash = 0;
  DigitCut* next = nullptr;
};

// What two digits of runs are together.
struct DigitJoin {
  Digit low;
  Digit high;
  std::optional<Number> joined;

  size_t hash = 0;
  DigitJoin* next = nullptr;
};

struct PositionalMemory {
  ObjectPool<NumberSource> sources;
  ObjectPool<LinearizedIndices> linearized;
  ObjectPool<IndicesOfPosition> positions;
  ObjectPool<MovedNumber> moved;
  ObjectPool<DigitCut> cuts;
  ObjectPool<DigitJoin> joins;
  HashedChains<NumberSource> source_table;
  HashedChains<LinearizedIndices> index_table;
  HashedChains<IndicesOfPosition> position_table;
  HashedChains<MovedNumber> moved_table;
  HashedChains<DigitCut> cut_table;
  HashedChains<DigitJoin> join_table;

  void Reset() {
    sources.Reset();
    linearized.Reset();
    positions.Reset();
    moved.Reset();
    cuts.Reset();
    joins.Reset();
    source_table.Clear();
    index_table.Clear();
    position_table.Clear();
    moved_table.Clear();
    cut_table.Clear();
    join_table.Clear();
  }
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_INTERNAL_POSITIONAL_MEMORY_H_
