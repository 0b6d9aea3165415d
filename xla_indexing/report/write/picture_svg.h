// Arrays side by side as SVG: sets of elements of some arrays, each set in a colour.
//
// A square stands for an element, or for several where a dimension has more than 32 of them; then it is filled
// as a whole only where all of its elements are in the set. Of more than two dimensions two are
// drawn, those along which the sets extend; where the others are cut is said below the array.
//
// The SVG has no scripts and refers to nothing outside of it. It has colours for light and for dark
// pages, and says in words what it shows. Titles and notes may be any bytes: what is not UTF-8, and
// what cannot be seen, is shown as U+FFFD.
#ifndef XLA_INDEXING_REPORT_WRITE_PICTURE_SVG_H_
#define XLA_INDEXING_REPORT_WRITE_PICTURE_SVG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"

namespace xla_indexing::internal {

struct PicturedSet {
  std::string legend;  // empty: none
  int64_t count = 0;
  std::vector<int64_t> indices;  // of `count` distinct elements, one after another
};

struct PicturedArray {
  std::string title;
  std::vector<int64_t> sizes;
  std::vector<std::string> axes = {};  // names of its dimensions
  std::vector<PicturedSet> sets = {};
  std::vector<std::string> notes = {};
  bool is_unknown = false;  // there may be more elements than those of the sets
};

// `start` with its one element, and `ends` to the right of it; `heading` and `given` are lines above.
std::string DrawArrays(absl::Span<const std::string> heading, const PicturedArray& start,
                       absl::Span<const PicturedArray> ends, absl::Span<const std::string> given);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_WRITE_PICTURE_SVG_H_
