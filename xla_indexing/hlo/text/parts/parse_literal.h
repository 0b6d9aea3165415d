// Reading of literals.

#ifndef XLA_INDEXING_HLO_TEXT_PARTS_PARSE_LITERAL_H_
#define XLA_INDEXING_HLO_TEXT_PARTS_PARSE_LITERAL_H_

#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

// Reads the value of a literal of the given shape: `42`, `{{1, 2}, {3, 4}}`, `(1, -inf)` (a complex
// number or a tuple, as the shape says), `{...}` (elided). One value alone stands for an array that
// holds it everywhere.
bool ReadLiteral(Lexer& lexer, const Shape& shape, int depth, Literal* literal);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_TEXT_PARTS_PARSE_LITERAL_H_
