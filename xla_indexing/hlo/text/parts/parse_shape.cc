#include "xla_indexing/hlo/text/parts/parse_shape.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {
namespace {

bool ReadElementType(Lexer& lexer, ElementType* type) {
  const char* const start = lexer.NextPosition();
  const absl::string_view word = lexer.ReadWord();
  const std::optional<ElementType> found = ElementTypeFromName(word);
  if (!found.has_value()) {
    lexer.SetPosition(start);
    return lexer.FailExpected("an element type");
  }
  *type = *found;
  return true;
}

// `[2,<=3,?]`.
bool ReadDimensions(Lexer& lexer, Shape* shape) {
  return lexer.ReadList('[', ']', [&] {
    if (lexer.Consume('?')) {
      shape->AddDimension(Shape::kUnboundedSize, /*is_dynamic=*/true);
      return true;
    }
    const bool is_bound = lexer.Consume("<=");
    const char* const start = lexer.NextPosition();
    int64_t size = 0;
    if (!lexer.ReadInteger("the size of a dimension", &size)) return false;
    if (size < 0) return lexer.FailAt(start, "the size of a dimension is negative");
    shape->AddDimension(size, is_bound);
    return true;
  });
}

// `(n)` after a letter of a layout.
bool ReadParenthesized(Lexer& lexer, absl::string_view what, int64_t* value) {
  return lexer.Expect('(') && lexer.ReadInteger(what, value) && lexer.Expect(')');
}

bool ReadTile(Lexer& lexer, Tile* tile) {
  return lexer.ReadList('(', ')', [&] {
    int64_t size = Tile::kCombineDimension;
    if (!lexer.Consume('*')) {
      const char* const start = lexer.NextPosition();
      if (!lexer.ReadInteger("the size of a tile", &size)) return false;
      if (size < 0) return lexer.FailAt(start, "the size of a tile is negative");
    }
    tile->dimensions.push_back(size);
    return true;
  });
}

bool ReadSplitConfig(Lexer& lexer, SplitConfig* split) {
  const auto read_index = [&] {
    return lexer.ReadInteger("a split index", &split->split_indices.emplace_back());
  };
  return lexer.Expect('(') && lexer.ReadInteger("a dimension", &split->dimension) &&
         lexer.Expect(':') && lexer.ReadSeparated(read_index) && lexer.Expect(')');
}

bool ReadDimLevels(Lexer& lexer, std::string* levels) {
  if (!lexer.Expect('(')) return false;
  const char* const start = lexer.position();
  while (lexer.PeekRaw() != ')') {
    const char c = lexer.PeekRaw();
    if (absl::string_view("DCSHL+~, ").find(c) == absl::string_view::npos || c == '\0') {
      return lexer.FailExpected("the level of a dimension (D, C, S, H or L, with + or ~)");
    }
    lexer.SetPosition(lexer.position() + 1);
  }
  *levels = std::string(lexer.TextSince(start));
  return lexer.Expect(')');
}

// What stands after the colon of a layout, in the order in which HLO text has it.
bool ReadLayoutDetails(Lexer& lexer, int depth, Layout* layout) {
  if (lexer.Consume('D') && !ReadDimLevels(lexer, &layout->dim_levels)) return false;
  if (lexer.Consume('T')) {
    do {
      if (!ReadTile(lexer, &layout->tiles.emplace_back())) return false;
    } while (lexer.Peek() == '(');
  }
  if (lexer.Consume('L') &&
      !ReadParenthesized(lexer, "an alignment", &layout->tail_padding_alignment)) {
    return false;
  }
  if (lexer.Consume('#') &&
      (!lexer.Expect('(') || !ReadElementType(lexer, &layout->index_type) || !lexer.Expect(')'))) {
    return false;
  }
  if (lexer.Consume('*') && (!lexer.Expect('(') || !ReadElementType(lexer, &layout->pointer_type) ||
                             !lexer.Expect(')'))) {
    return false;
  }
  if (lexer.Consume('E') &&
      !ReadParenthesized(lexer, "a number of bits", &layout->element_size_in_bits)) {
    return false;
  }
  if (lexer.Peek() == 'S' && lexer.PeekRaw(1) != 'C') {
    lexer.Consume('S');
    if (!ReadParenthesized(lexer, "a memory space", &layout->memory_space)) return false;
  }
  if (lexer.Consume("SC")) {
    do {
      if (!ReadSplitConfig(lexer, &layout->split_configs.emplace_back())) return false;
    } while (lexer.Peek() == '(');
  }
  if (lexer.Consume('P')) {
    Shape physical_shape;
    if (!lexer.Expect('(') || !ReadShape(lexer, depth + 1, &physical_shape) || !lexer.Expect(')')) {
      return false;
    }
    layout->physical_shape = std::make_shared<const Shape>(std::move(physical_shape));
  }
  return !lexer.Consume('M') || ReadParenthesized(lexer, "a number of bytes",
                                                  &layout->dynamic_shape_metadata_prefix_bytes);
}

bool ReadLayout(Lexer& lexer, int depth, Shape* shape) {
  const char* const start = lexer.position();
  Layout layout;
  if (!lexer.Expect('{')) return false;
  const char next = lexer.Peek();
  const auto read_dimension = [&] {
    return lexer.ReadInteger("a dimension", &layout.minor_to_major.emplace_back());
  };
  if (next != '}' && next != ':' && !lexer.ReadSeparated(read_dimension)) return false;
  if (lexer.Consume(':') && !ReadLayoutDetails(lexer, depth, &layout)) return false;
  if (!lexer.Expect('}')) return false;
  const auto rank = static_cast<int64_t>(layout.minor_to_major.size());
  if (rank != shape->rank()) {
    return lexer.FailAt(start, "this layout has ", rank, " dimensions, its array ",
                        shape->ToString(), " has ", shape->rank());
  }
  if (!IsPermutation(layout.minor_to_major, rank)) {
    return lexer.FailAt(start, "this layout is no permutation of the dimensions 0 to ", rank - 1);
  }
  shape->SetLayout(std::move(layout));
  return true;
}

// `b(f32[4,16])` or the tuple `(f32[2], s32[])`, the cursor being on the opening parenthesis.
bool ReadElements(Lexer& lexer, int depth, std::vector<Shape>* elements) {
  return lexer.ReadList('(', ')',
                        [&] { return ReadShape(lexer, depth + 1, &elements->emplace_back()); });
}

}  // namespace

bool IsPermutation(absl::Span<const int64_t> dimensions, int64_t rank) {
  if (static_cast<int64_t>(dimensions.size()) != rank) return false;
  absl::InlinedVector<bool, 8> seen(rank, false);
  for (const int64_t dimension : dimensions) {
    if (dimension < 0 || dimension >= rank || seen[dimension]) return false;
    seen[dimension] = true;
  }
  return true;
}

bool ShapeFollows(Lexer& lexer) {
  if (lexer.Peek() == '(') return true;
  const char* const start = lexer.position();
  const absl::string_view word = lexer.ReadWord();
  const char next = lexer.PeekRaw();
  // After space only an element type can go on as a shape: anything may be the name of an opcode.
  const bool is_spaced_array =
      next != '[' && lexer.Peek() == '[' && ElementTypeFromName(word).has_value();
  lexer.SetPosition(start);
  if (next == '[') return !word.empty();
  return is_spaced_array || (next == '(' && word == "b");
}

bool ReadShape(Lexer& lexer, int depth, Shape* shape) {
  const char first = lexer.Peek();
  const char* const start = lexer.position();
  if (depth > kMaxParseDepth) {
    return lexer.Fail("shapes are nested more than ", kMaxParseDepth, " deep");
  }
  const bool is_buffer = first == 'b' && lexer.PeekRaw(1) == '(';
  if (is_buffer) lexer.Consume('b');
  if (is_buffer || first == '(') {
    std::vector<Shape> elements;
    if (!ReadElements(lexer, depth, &elements)) return false;
    if (!is_buffer) {
      *shape = Shape::Tuple(std::move(elements));
      return true;
    }
    if (elements.size() != 1 || !elements[0].IsArray()) {
      return lexer.FailAt(start, "a buffer holds one array");
    }
    *shape = Shape::Buffer(std::move(elements[0]));
    return true;
  }
  ElementType type = ElementType::kTuple;
  if (!ReadElementType(lexer, &type)) return false;
  *shape = Shape::Array(type, {});
  if (!ReadDimensions(lexer, shape)) return false;
  if (!IsArrayType(type)) {
    if (shape->rank() != 0) {
      return lexer.FailAt(start, ElementTypeName(type), " has no dimensions");
    }
    // A token may be printed with the empty layout of a scalar, which says nothing.
    if (lexer.Peek() == '{' && lexer.PeekSecond() == '}')
      return lexer.Expect("{") && lexer.Expect('}');
    return true;
  }
  if (!shape->HasUnboundedDimension()) {
    const absl::StatusOr<int64_t> count = shape->ElementCount();
    if (!count.ok()) return lexer.FailAt(start, count.status().message());
  }
  if (lexer.Peek() != '{') return true;
  const char second = lexer.PeekSecond();
  if (second != ':' && second != '}' && (second < '0' || second > '9')) return true;
  return ReadLayout(lexer, depth, shape);
}

bool ReadEntryLayout(Lexer& lexer, EntryLayout* layout) {
  return lexer.Expect('{') && ReadElements(lexer, 0, &layout->parameters) && lexer.Expect("->") &&
         ReadShape(lexer, 0, &layout->result) && lexer.Expect('}');
}

}  // namespace xla_indexing::internal
