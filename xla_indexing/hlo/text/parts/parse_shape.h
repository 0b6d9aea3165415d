// Reading of shapes and layouts.

#ifndef XLA_INDEXING_HLO_TEXT_PARTS_PARSE_SHAPE_H_
#define XLA_INDEXING_HLO_TEXT_PARTS_PARSE_SHAPE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

// Whether a shape stands at the cursor: `(`, `b(`, or the name of an element type and `[`.
bool ShapeFollows(Lexer& lexer);

// Reads a shape. A `{` after an array is its layout if an integer, `:` or `}` follows. `depth` is
// the nesting of what is being read.
bool ReadShape(Lexer& lexer, int depth, Shape* shape);

// Whether these are the numbers 0 to rank - 1, each once: what the order of a layout must be.
bool IsPermutation(absl::Span<const int64_t> dimensions, int64_t rank);

// What the entry computation takes and yields, `{(f32[4]{0}, s32[])->f32[4]{0}}`: the value of the
// header's attribute entry_computation_layout.
struct EntryLayout {
  std::vector<Shape> parameters;
  Shape result;
};
bool ReadEntryLayout(Lexer& lexer, EntryLayout* layout);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_TEXT_PARTS_PARSE_SHAPE_H_
