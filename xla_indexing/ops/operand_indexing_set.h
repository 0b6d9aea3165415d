// The union of several indexing maps of one operand: what one leaf of an instruction's result reads
// of one leaf of one operand (or, the other way round, where that operand leaf goes).
//
// A set without maps means that nothing is read. A set never holds a map that is known to be empty.
// Maps may overlap.
//
// Example: p0 + transpose(p0) reads p0 through {(d0, d1) -> (d0, d1), (d0, d1) -> (d1, d0)}.

#ifndef XLA_INDEXING_OPS_OPERAND_INDEXING_SET_H_
#define XLA_INDEXING_OPS_OPERAND_INDEXING_SET_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "xla_indexing/hlo/shape.h"
#include "xla_indexing/ops/operand_indexing.h"

namespace xla_indexing {

class OperandIndexingSet {
 public:
  OperandIndexingSet() = default;
  explicit OperandIndexingSet(OperandIndexing indexing) { Add(std::move(indexing)); }

  // Adds a map as it is. One that is known to be empty is not added, nor one whose relation the set
  // has already; of two labels for one relation the stronger stays.
  void Add(OperandIndexing indexing);
  void Add(const OperandIndexingSet& other);

  const std::vector<OperandIndexing>& maps() const { return maps_; }
  bool empty() const { return maps_.empty(); }
  size_t size() const { return maps_.size(); }
  auto begin() const { return maps_.begin(); }
  auto end() const { return maps_.end(); }

  // The weakest label of the maps; exact without maps.
  ExactnessLabel label() const;

  // Simplifies every map, drops the empty ones and the duplicates, and makes one map of two that
  // differ in one interval only where those intervals touch or overlap, as long as the question's
  // budget lasts. Then sorts by text.
  void Simplify();

  // Drops the maps that others cover (ops/internal/covers.h), the same union; all lead to an array
  // of shape `to`. Not part of Simplify(): which ways something is read may be worth knowing even
  // where one contains another. Compares all pairs, as long as the question's budget lasts.
  void DropCovered(const Shape& to);

  // Equal maps in the same order. Simplified sets of one normal form compare equal.
  friend bool operator==(const OperandIndexingSet& a, const OperandIndexingSet& b) {
    return a.maps_ == b.maps_;
  }
  friend bool operator!=(const OperandIndexingSet& a, const OperandIndexingSet& b) {
    return !(a == b);
  }
  template <typename H>
  friend H AbslHashValue(H h, const OperandIndexingSet& set) {
    return H::combine(std::move(h), set.maps_);
  }

 private:
  // The map of the same relation, or null.
  OperandIndexing* Find(const OperandIndexing& indexing);
  // All maps, which are then none.
  std::vector<OperandIndexing> Take();

  std::vector<OperandIndexing> maps_;
  // Of as many maps, from the first on; of none while there are few.
  std::vector<size_t> hashes_;
};

// Every map of `first` composed with every map of `second`, empty results dropped; not simplified.
// Errors as ComposeOperandIndexing.
absl::StatusOr<OperandIndexingSet> ComposeOperandIndexingSets(const OperandIndexingSet& first,
                                                              const OperandIndexingSet& second);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_OPS_OPERAND_INDEXING_SET_H_
