// Reshapes and affine steps that a chain of reindexings has taken, so that their inverses give back
// what there was before. Most cancel by the form of numbers; these also do where digits do not join
// again.
#ifndef XLA_INDEXING_AFFINE_MIXED_RADIX_KNOWN_STEPS_H_
#define XLA_INDEXING_AFFINE_MIXED_RADIX_KNOWN_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_set.h"
#include "absl/container/node_hash_map.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/expr/object_arena.h"
#include "xla_indexing/affine/mixed_radix/number.h"
#include "xla_indexing/affine/mixed_radix/number_sources.h"

namespace xla_indexing::internal {

// A position, and indices that are known to be of it, in the order in which they were found.
struct KnownPosition {
  using Indices = llvm::SmallVector<Number, 4>;

  // The first of these sizes; null if there are none.
  const Indices* FindIndices(llvm::ArrayRef<int64_t> sizes) const;

  Number position;
  llvm::SmallVector<const Indices*, 2> indices;
};

// x becomes (factor * x + offset) / divisor.
struct AffineStep {
  int64_t factor = 1;
  int64_t offset = 0;
  int64_t divisor = 1;
};

class KnownSteps {
 public:
  // What is known of these indices; null if there is nothing.
  KnownPosition* FindPosition(llvm::ArrayRef<Number> indices) const;
  // What is known of the position; nothing at first.
  KnownPosition* PositionOf(const Number& position);
  // Adds indices to a position, if nothing is known of them yet. What is said of either has to be said
  // of both (SayAllOf): then they are known in any chain that comes there.
  void Add(llvm::ArrayRef<Number> indices, KnownPosition* position);

  // Remembers an affine step, which has to be one of all values and to keep what is said of them: then
  // its inverse gives back what there was before, in any chain.
  void Add(const AffineStep& step, const Number& from, const Number& to);
  // What the first step to `number` was made of that `inverse` undoes, or its reverse. The result
  // has `size` values.
  std::optional<Number> Undo(const NumberSources& sources, const Number& number,
                             const AffineStep& inverse, int64_t size) const;

  void Clear();

 private:
  struct KnownIndices {
    KnownPosition::Indices indices;
    KnownPosition* position;
  };
  struct HashOfIndices {
    using is_transparent = void;
    size_t operator()(llvm::ArrayRef<Number> indices) const { return HashOf(indices); }
    size_t operator()(const KnownIndices* known) const { return HashOf(known->indices); }
  };
  struct EqualIndices {
    using is_transparent = void;
    static llvm::ArrayRef<Number> Of(llvm::ArrayRef<Number> indices) { return indices; }
    static llvm::ArrayRef<Number> Of(const KnownIndices* known) { return known->indices; }
    template <typename T, typename U>
    bool operator()(const T& a, const U& b) const {
      return Of(a) == Of(b);
    }
  };

  ObjectArena<KnownIndices> storage_;
  absl::flat_hash_set<const KnownIndices*, HashOfIndices, EqualIndices> by_indices_;
  absl::node_hash_map<Number, KnownPosition, HashOfNumber> positions_;
  // Steps by what they have led to, in the order in which they were taken.
  struct KnownStep {
    AffineStep step;
    Number from;
  };
  absl::node_hash_map<Number, llvm::SmallVector<KnownStep, 1>, HashOfNumber> steps_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_MIXED_RADIX_KNOWN_STEPS_H_
