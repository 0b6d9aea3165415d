#include "xla_indexing/hlo/text/parts/parse_literal.h"

#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/text/parts/float_format.h"
#include "xla_indexing/hlo/types/element_type.h"

namespace xla_indexing::internal {
namespace {

bool OutOfRange(Lexer& lexer, const char* start, absl::string_view text, ElementType type) {
  return lexer.FailAt(start, text, " is out of the range of ", ElementTypeName(type));
}

// The characters of a decimal number; which of them make one is left to from_chars.
absl::string_view NumberAt(Lexer& lexer) {
  const char* const start = lexer.position();
  const char* stop = start;
  lexer.ConsumeRaw('-');
  while (true) {
    const char c = lexer.PeekRaw();
    const bool exponent_sign = (c == '-' || c == '+') && (stop[0] == 'e' || stop[0] == 'E');
    if (!(c >= '0' && c <= '9') && c != '.' && c != 'e' && c != 'E' && !exponent_sign) break;
    stop = lexer.position();
    lexer.SetPosition(stop + 1);
  }
  const absl::string_view number = lexer.TextSince(start);
  lexer.SetPosition(start);
  return number;
}

bool ReadIntegerBits(Lexer& lexer, ElementType type, uint64_t* bits) {
  const char* const start = lexer.position();
  const absl::string_view text = NumberAt(lexer);
  const char* const end = text.data() + text.size();
  const bool negative = !text.empty() && text[0] == '-';
  uint64_t magnitude = 0;
  const auto [stop, error] = std::from_chars(text.data() + (negative ? 1 : 0), end, magnitude);
  if (error == std::errc::invalid_argument || stop != end) {
    return lexer.FailExpected("an integer of type ", ElementTypeName(type));
  }
  const int width = BitWidth(type);
  // Magnitudes up to `limit` are in range: 2^(width-1) below zero, one less above; 2^width - 1
  // without sign.
  uint64_t limit = ~uint64_t{0} >> (64 - width);
  if (IsSignedIntegral(type)) limit = (limit >> 1) + (negative ? 1 : 0);
  if (IsUnsignedIntegral(type) && negative) limit = 0;
  if (error != std::errc() || magnitude > limit) return OutOfRange(lexer, start, text, type);
  *bits = (negative ? ~magnitude + 1 : magnitude) & (~uint64_t{0} >> (64 - width));
  lexer.SetPosition(end);
  return true;
}

// `nan`, `inf` and `nan(0x7f)`, after the sign.
bool ReadNonFiniteBits(Lexer& lexer, ElementType type, const char* start, bool negative,
                       uint64_t* bits) {
  const absl::string_view word = lexer.ReadWord();
  std::optional<uint64_t> found;
  if (word == "inf") {
    found = EncodeInfinity(type, negative);
  } else if (word == "nan" && lexer.ConsumeRaw('(')) {
    uint64_t payload = 0;
    if (!lexer.Expect("0x")) return false;
    const char* const digits = lexer.position();
    while (std::isxdigit(static_cast<unsigned char>(lexer.PeekRaw())) != 0) {
      lexer.SetPosition(lexer.position() + 1);
    }
    const absl::string_view text = lexer.TextSince(digits);
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), payload, 16);
    if (text.empty()) return lexer.FailExpected("hexadecimal digits");
    if (!lexer.Expect(')')) return false;
    if (error == std::errc()) found = EncodeNanWithPayload(type, negative, payload);
  } else if (word == "nan") {
    found = EncodeNan(type, negative);
  } else {
    lexer.SetPosition(start);
    return lexer.FailExpected("a number of type ", ElementTypeName(type));
  }
  if (!found.has_value()) {
    return lexer.FailAt(start, ElementTypeName(type), " has no value '", lexer.TextSince(start),
                        "'");
  }
  *bits = *found;
  return true;
}

bool ReadFloatBits(Lexer& lexer, ElementType type, uint64_t* bits) {
  const char* const start = lexer.position();
  const absl::string_view text = NumberAt(lexer);
  const char* const end = text.data() + text.size();
  if (text.empty() || text == "-") {
    const bool negative = lexer.ConsumeRaw('-');
    return ReadNonFiniteBits(lexer, type, start, negative, bits);
  }
  if (type == ElementType::kF32) {
    // Read as it is, not through double, which would round twice.
    float value = 0;
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stop == end) {
      *bits = std::bit_cast<uint32_t>(value);
      lexer.SetPosition(end);
      return true;
    }
  }
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc::invalid_argument || stop != end) {
    return lexer.FailExpected("a number of type ", ElementTypeName(type));
  }
  // What is too small to be told from zero is also "out of range" to from_chars.
  if (error == std::errc::result_out_of_range)
    value = std::strtod(std::string(text).c_str(), nullptr);
  const std::optional<uint64_t> encoded =
      std::isfinite(value) ? EncodeFloat(type, value) : std::nullopt;
  if (!encoded.has_value()) return OutOfRange(lexer, start, text, type);
  *bits = *encoded;
  lexer.SetPosition(end);
  return true;
}

// Reads one element and stores it.
bool ReadElement(Lexer& lexer, ElementType type, int64_t position, Literal* literal) {
  const char first = lexer.Peek();
  uint64_t bits = 0;
  if (IsIntegral(type)) {
    if (!ReadIntegerBits(lexer, type, &bits)) return false;
  } else if (IsPred(type)) {
    bool value = false;
    if (!lexer.ReadBool(&value)) return false;
    bits = value ? 1 : 0;
  } else if (IsComplex(type)) {
    const ElementType part = ComplexComponentType(type);
    const bool both = first == '(';
    if (both) lexer.Consume('(');
    lexer.SkipSpace();
    if (!ReadFloatBits(lexer, part, &bits)) return false;
    if (both) {
      uint64_t imaginary = 0;
      if (!lexer.Expect(',')) return false;
      lexer.SkipSpace();
      if (!ReadFloatBits(lexer, part, &imaginary) || !lexer.Expect(')')) return false;
      literal->SetBits(position, imaginary, 1);
    }
  } else if (!ReadFloatBits(lexer, type, &bits)) {
    return false;
  }
  literal->SetBits(position, bits);
  return true;
}

// `{{1, 2}, {3, 4}}`: nested as the array has dimensions, without recursion.
bool ReadArray(Lexer& lexer, Literal* literal) {
  const Shape& shape = literal->shape();
  const int64_t rank = shape.rank();
  // An array without elements may be written `{}` whatever its rank.
  if (literal->ElementCount() == 0 && lexer.Peek() == '{' && lexer.PeekSecond() == '}') {
    return lexer.Expect('{') && lexer.Expect('}');
  }
  // How many parts of each dimension have been read where the cursor is.
  std::vector<int64_t> counts(rank, 0);
  int64_t level = 0;  // The number of braces open.
  int64_t position = 0;
  while (true) {
    if (level == rank) {
      if (!ReadElement(lexer, shape.element_type(), position++, literal)) return false;
    } else {
      if (!lexer.Expect('{')) return false;
      counts[level] = 0;
      ++level;
      // Goes down to the first element, unless this dimension has none.
      if (shape.dimension(level - 1) != 0) continue;
    }
    // Closes the braces that are full.
    while (true) {
      if (level == 0) return true;
      const int64_t size = shape.dimension(level - 1);
      if (size != 0 && ++counts[level - 1] < size) {
        if (!lexer.Expect(',')) return false;
        break;
      }
      if (lexer.Peek() != '}') {
        return lexer.FailExpected("'}' after ", size, " elements of dimension ", level - 1);
      }
      lexer.Consume('}');
      --level;
    }
  }
}

}  // namespace

bool ReadLiteral(Lexer& lexer, const Shape& shape, int depth, Literal* literal) {
  if (depth > kMaxParseDepth) {
    return lexer.Fail("literals are nested more than ", kMaxParseDepth, " deep");
  }
  const char* const start = lexer.NextPosition();
  if (lexer.Peek() == '{' && lexer.PeekSecond() == '.') {
    lexer.Consume('{');
    if (!lexer.Expect("...") || !lexer.Expect('}')) return false;
    *literal = Literal::Elided(shape);
    return true;
  }
  if (shape.IsTuple()) {
    std::vector<Literal> elements;
    elements.reserve(shape.tuple_elements().size());
    if (!lexer.Expect('(')) return false;
    for (const Shape& element : shape.tuple_elements()) {
      if (!elements.empty() && !lexer.Expect(',')) return false;
      if (!ReadLiteral(lexer, element, depth + 1, &elements.emplace_back())) return false;
    }
    if (!lexer.Expect(')')) return false;
    *literal = Literal::Tuple(std::move(elements));
    return true;
  }
  if (shape.IsToken()) {
    if (!lexer.Expect("token")) return false;
    *literal = Literal::Elided(shape);
    return true;
  }
  // One value for an array of any shape is that value everywhere.
  if (shape.rank() > 0 && shape.IsArray() && lexer.Peek() != '{') {
    absl::StatusOr<Literal> splat = Literal::Splat(shape);
    if (!splat.ok()) return lexer.FailAt(start, splat.status().message());
    *literal = *std::move(splat);
    if (!ReadElement(lexer, shape.element_type(), 0, literal)) return false;
    // An array without elements does not keep the value, since no element has it.
    if (literal->ElementCount() == 0) *literal = *Literal::Zeros(shape);
    return true;
  }
  // An array of few characters cannot have many elements; its memory is not reserved on its word.
  if (const absl::StatusOr<int64_t> count = shape.ElementCount();
      count.ok() && *count > static_cast<int64_t>(lexer.Remaining())) {
    return lexer.FailAt(start, "this literal has fewer elements than its shape, ",
                        shape.ToString());
  }
  absl::StatusOr<Literal> zeros = Literal::Zeros(shape);
  if (!zeros.ok()) return lexer.FailAt(start, zeros.status().message());
  *literal = *std::move(zeros);
  return ReadArray(lexer, literal);
}

}  // namespace xla_indexing::internal
