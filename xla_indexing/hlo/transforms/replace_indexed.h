// Gathers and scatters whose indices are known, written as the operations that move elements by
// their attributes.
//
// A gather becomes, for each of its pieces,
//
//   slice -> reverse -> reshape (without dimensions of one index) -> transpose -> broadcast
//
// of which the steps that do nothing are left out, and a concatenate of the pieces; a scatter that
// replaces a box becomes
//
//   updates -> transpose -> reshape -> dynamic-update-slice with constant starts.
//
// Who asks for it says which elements are read (query/index_structure.h finds them). Attributes that
// promise something of the indices can be added to those that stay.
//
// Example: gather of f32[10] with the indices {7, 5, 3, 1} becomes slice {[1:8:2]} and reverse.
#ifndef XLA_INDEXING_HLO_TRANSFORMS_REPLACE_INDEXED_H_
#define XLA_INDEXING_HLO_TRANSFORMS_REPLACE_INDEXED_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/hlo/module.h"

namespace xla_indexing {

// The indices start, start + stride, .. of one dimension of an operand, `count` of them, which stay
// inside it; they run along a dimension of the result, or are one index that runs along none.
struct MovedAxis {
  int64_t start = 0;
  int64_t count = 1;
  int64_t stride = 1;  // not 0; 1 where count is 1
  std::optional<int64_t> result_dim;

  friend bool operator==(const MovedAxis& a, const MovedAxis& b) = default;
};

// For each dimension of the operand; no two run along one dimension of the result. Along dimensions
// of the result that none runs along, elements repeat.
using MovedBox = std::vector<MovedAxis>;

// A gather: the boxes that follow one another along a dimension of the result, with their sizes
// along it.
struct MovedPieces {
  std::vector<MovedBox> boxes;
  int64_t dim = 0;
  std::vector<int64_t> sizes;  // of several boxes
};

// A scatter that replaces elements: where the updates go in the operand; `result_dim` is here the
// dimension of the updates, of which each is one or has size 1.
struct ReplacedBox {
  MovedBox box;  // with stride 1
};

struct IndexedReplacement {
  std::optional<MovedPieces> gather;
  std::optional<ReplacedBox> scatter;
  // Attributes to add, where the instruction stays.
  bool is_sorted = false;
  bool is_unique = false;
};

using IndexedReplacements = absl::flat_hash_map<const HloInstruction*, IndexedReplacement>;

// A copy of the module, which verifies, with these replacements. InvalidArgument where the copy does
// not verify.
absl::StatusOr<std::unique_ptr<HloModule>> ReplaceIndexed(const HloModule& module,
                                                          const IndexedReplacements& replacements);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_TRANSFORMS_REPLACE_INDEXED_H_
