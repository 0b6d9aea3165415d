// The union of several indexing maps of one operand: what one leaf of an instruction's result reads
// of one leaf of one operand (or, the other way round, where that operand leaf goes).
//
// A set without maps means that nothing is read. A set never holds a map that is known to be empty.
// Maps may overlap.
//
// Example: p0 + transpose(p0) reads p0 through {(d0, d1) -> (d0, d1), (d0, d1) -> (d1, d0)}.

#ifndef XLA_INDEXING_OPS_ANSWERS_OPERAND_INDEXING_SET_H_
#define XLA_INDEXING_OPS_ANSWERS_OPERAND_INDEXING_SET_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/memory/positions_by_hash.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing {

class OperandIndexingSet {
 public:
  OperandIndexingSet() = default;
  explicit OperandIndexingSet(OperandIndexing indexing) { Add(std::move(indexing)); }

  // Adds a map as it is. A map that is known to be empty is not added, nor is one whose relation is
  // in the set already; of two labels for one relation the stronger is kept.
  void Add(OperandIndexing indexing);
  void Add(const OperandIndexingSet& other);

  absl::Span<const OperandIndexing> maps() const { return maps_; }
  bool empty() const { return maps_.empty(); }
  size_t size() const { return maps_.size(); }
  auto begin() const { return maps_.begin(); }
  auto end() const { return maps_.end(); }

  // The weakest label of the maps; exact without maps.
  ExactnessLabel label() const;

  // Simplifies every map, drops the empty ones and the duplicates, and makes one map of two of one
  // formula whose union is one, as long as the question's budget lasts. Then sorts
  // the maps by what they say; names do not count.
  void Simplify();

  // Drops the maps that others cover, so that the union stays equal; all maps map to an array of
  // shape `to`. This is not part of Simplify(), because the ways in which something is read may be
  // worth knowing even where one contains another. Compares all pairs, as long as the question's
  // budget lasts.
  void DropSubsumed(const Shape& to);

  // Equality of the maps in their order. Simplified sets of one normal form compare equal.
  friend bool operator==(const OperandIndexingSet& a, const OperandIndexingSet& b) {
    return a.maps_ == b.maps_;
  }
  friend bool operator!=(const OperandIndexingSet& a, const OperandIndexingSet& b) {
    return !(a == b);
  }
  template <typename H>
  friend H AbslHashValue(H h, const OperandIndexingSet& set) {
    return H::combine(std::move(h), set.maps());
  }

 private:
  using Maps = llvm::SmallVector<OperandIndexing, 1>;  // most sets have one

  // The map of the set with the same relation, or null.
  OperandIndexing* Find(const OperandIndexing& indexing);
  // Removes and returns all maps.
  Maps Take();

  Maps maps_;
  // Positions in `maps_`, all or the first of them; empty while there are few maps.
  internal::PositionsByHash positions_;
};

// Every map of `first` composed with every map of `second`, empty results dropped; not simplified.
// Errors as ComposeOperandIndexing.
absl::StatusOr<OperandIndexingSet> ComposeOperandIndexingSets(const OperandIndexingSet& first,
                                                              const OperandIndexingSet& second);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_OPS_ANSWERS_OPERAND_INDEXING_SET_H_
