#include "xla_indexing/hlo/text/parser.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/base/diagnostic.h"
#include "xla_indexing/hlo/text/module_parser.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/text/parts/parse_shape.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing {
namespace {

using internal::Lexer;
using internal::ModuleParser;
using internal::ReadShape;

constexpr absl::string_view kSeparator = "// -----";
constexpr absl::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr size_t kMaxTextBytes = size_t{1} << 31;

// The end of the piece that begins at `begin`: the beginning of the next separator that starts a
// line, or the end of the text.
size_t PieceEnd(absl::string_view text, size_t begin) {
  for (size_t at = text.find(kSeparator, begin); at != text.npos;
       at = text.find(kSeparator, at + 1)) {
    size_t line = at;
    while (line > begin && (text[line - 1] == ' ' || text[line - 1] == '\t')) --line;
    if (line == 0 || text[line - 1] == '\n' || line == begin) return at;
  }
  return text.size();
}

}  // namespace

std::vector<absl::StatusOr<std::unique_ptr<HloModule>>> ParseModules(SourceText source) {
  std::vector<absl::StatusOr<std::unique_ptr<HloModule>>> modules;
  if (source.text.size() > kMaxTextBytes) {
    modules.push_back(absl::InvalidArgumentError(
        absl::StrCat(source.filename, ": error: the text is larger than 2^31 bytes")));
    return modules;
  }
  // Places count from what follows a byte order mark, as editors do.
  if (absl::StartsWith(source.text, kByteOrderMark)) source.text.erase(0, kByteOrderMark.size());
  const auto shared = std::make_shared<const SourceText>(std::move(source));
  const absl::string_view text = shared->text;
  // Lines are counted for errors alone, and those of a text of many errors once: `line` is the line
  // of the first byte that is not counted.
  int64_t line = 1;
  size_t counted = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = PieceEnd(text, begin);
    Lexer lexer(text.substr(begin, end - begin), begin);
    std::unique_ptr<HloModule> module = ModuleParser(lexer, shared).Parse();
    if (lexer.failed()) {
      const size_t offset = lexer.error_offset();
      line += std::count(text.begin() + counted, text.begin() + begin, '\n');
      counted = begin;
      SourcePosition position = PositionAt(text.substr(begin), offset - begin);
      position.line += line - 1;
      modules.push_back(absl::InvalidArgumentError(
          FormatDiagnostic(shared->filename, text, offset, position, lexer.error_message())));
    } else if (module != nullptr) {
      modules.push_back(std::move(module));
    }
    // The next piece begins after the separator's line.
    const size_t newline = text.find('\n', end);
    const size_t next = newline == text.npos ? text.size() : newline + 1;
    begin = next;
  }
  return modules;
}

absl::StatusOr<std::unique_ptr<HloModule>> ParseModule(absl::string_view text,
                                                       absl::string_view filename) {
  auto modules = ParseModules({std::string(filename), std::string(text)});
  if (modules.size() != 1) {
    return absl::InvalidArgumentError(
        absl::StrCat(filename, ": error: expected one module, found ", modules.size()));
  }
  return std::move(modules[0]);
}

absl::StatusOr<std::unique_ptr<HloModule>> ParseAndVerifyModule(absl::string_view text,
                                                                absl::string_view filename) {
  auto module = ParseModule(text, filename);
  if (!module.ok()) return module;
  if (absl::Status status = VerifyModule(**module); !status.ok()) return status;
  return module;
}

absl::StatusOr<Shape> ParseShape(absl::string_view text) {
  Lexer lexer(text);
  Shape shape;
  if (ReadShape(lexer, 0, &shape) && !lexer.AtEnd()) lexer.FailExpected("the end of the shape");
  if (!lexer.failed()) return shape;
  return absl::InvalidArgumentError(
      absl::StrCat("column ", lexer.error_offset() + 1, ": ", lexer.error_message()));
}

}  // namespace xla_indexing
