#include "xla_indexing/stablehlo/op_attributes.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {
namespace {

constexpr size_t kMaxInts = size_t{1} << 20;
constexpr int kMaxAttributeDepth = 8;
constexpr int kMaxPrintedParts = 1 << 12;

bool IsOpening(char c) { return c == '[' || c == '<' || c == '{' || c == '('; }
bool IsClosing(char c) { return c == ']' || c == '>' || c == '}' || c == ')'; }

// `[[0, 1], [2, 3]]`, `?`, `true`, `3 : i64`, `array<i64: 1, 0>`, `unit`.
bool AddIntsOfText(absl::string_view text, std::vector<int64_t>* ints) {
  text = absl::StripAsciiWhitespace(text);
  if (absl::ConsumePrefix(&text, "array<")) {
    const size_t colon = text.find(':');
    text = colon == absl::string_view::npos ? "" : absl::StripSuffix(text.substr(colon + 1), ">");
  }
  text = text.substr(0, text.find(':'));
  for (const absl::string_view word :
       absl::StrSplit(text, absl::ByAnyChar(" ,[]\n\t"), absl::SkipEmpty())) {
    int64_t number = 0;
    if (ints->size() >= kMaxInts) return false;
    if (word == "?") {
      ints->push_back(Shape::kUnboundedSize);
    } else if (word == "true" || word == "false" || word == "unit") {
      ints->push_back(word == "false" ? 0 : 1);
    } else if (absl::SimpleAtoi(word, &number)) {
      ints->push_back(number);
    } else {
      return false;
    }
  }
  return true;
}

bool AddInts(mlir::Attribute attribute, int depth, std::vector<int64_t>* ints) {
  if (depth > kMaxAttributeDepth || ints->size() >= kMaxInts) return false;
  if (auto array = mlir::dyn_cast<mlir::ArrayAttr>(attribute)) {
    return llvm::all_of(array, [&](mlir::Attribute of) { return AddInts(of, depth + 1, ints); });
  }
  auto dense = mlir::dyn_cast<mlir::DenseIntElementsAttr>(attribute);
  if (!dense) return AddIntsOfText(AttributeText(attribute), ints);
  // The product may wrap around where a splat claims to be large.
  size_t count = 1;
  for (const int64_t size : dense.getType().getShape()) {
    if (size < 0 || (size > 0 && count > kMaxInts / static_cast<size_t>(size))) return false;
    count *= static_cast<size_t>(size);
  }
  for (const llvm::APInt& value : dense.getValues<llvm::APInt>()) {
    if (value.getSignificantBits() > 64) return false;
    ints->push_back(value.getBitWidth() == 1 ? static_cast<int64_t>(value.getZExtValue())
                                             : value.getSExtValue());
  }
  return true;
}

// Takes from `budget` what an attribute has. One may name the same array twice, and so on: its text
// is then much longer than that which it was read from.
bool IsWithin(mlir::Attribute attribute, int depth, int* budget) {
  if (--*budget < 0 || depth > kMaxAttributeDepth) return false;
  if (auto array = mlir::dyn_cast<mlir::ArrayAttr>(attribute)) {
    return llvm::all_of(array, [&](mlir::Attribute of) { return IsWithin(of, depth + 1, budget); });
  }
  auto dictionary = mlir::dyn_cast<mlir::DictionaryAttr>(attribute);
  return !dictionary || llvm::all_of(dictionary, [&](mlir::NamedAttribute of) {
    return IsWithin(of.getValue(), depth + 1, budget);
  });
}

}  // namespace

std::optional<absl::string_view> AttributePart(absl::string_view text, absl::string_view key) {
  const size_t open = text.find('<');
  if (open == absl::string_view::npos) return std::nullopt;
  text = absl::StripSuffix(text.substr(open + 1), ">");
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && IsOpening(text[i])) ++depth;
    // Not the end of an arrow.
    if (i < text.size() && IsClosing(text[i]) && (i == 0 || text[i - 1] != '-')) --depth;
    if (i < text.size() && (depth > 0 || text[i] != ',')) continue;
    absl::string_view part = absl::StripAsciiWhitespace(text.substr(begin, i - begin));
    begin = i + 1;
    if (!absl::ConsumePrefix(&part, key)) continue;
    part = absl::StripLeadingAsciiWhitespace(part);
    if (part.empty()) return "true";
    if (absl::ConsumePrefix(&part, "=")) return absl::StripLeadingAsciiWhitespace(part);
  }
  return std::nullopt;
}

std::string AttributeText(mlir::Attribute attribute) {
  if (auto text = mlir::dyn_cast_or_null<mlir::StringAttr>(attribute)) return text.str();
  if (auto opaque = mlir::dyn_cast_or_null<mlir::OpaqueAttr>(attribute)) {
    return opaque.getAttrData().str();
  }
  int budget = kMaxPrintedParts;
  if (attribute == nullptr || !IsWithin(attribute, 0, &budget)) return "";
  // `#stablehlo.kind<..>` or `#stablehlo<kind WORD>`. Builtin attributes begin otherwise.
  std::string printed;
  llvm::raw_string_ostream stream(printed);
  attribute.print(stream);
  if (printed.empty() || printed[0] != '#') return printed;
  const size_t end = printed.find_first_of(".<");
  if (end == std::string::npos) return printed;
  if (printed[end] == '.') return printed.substr(end + 1);
  return printed.substr(end + 1, printed.size() - end - 2);
}

std::string ShardyText(absl::string_view kind, mlir::Attribute attribute) {
  const std::string text = AttributeText(attribute);
  if (absl::StartsWith(text, kind)) return absl::StrCat("#sdy.", text);
  if (absl::StartsWith(text, "<")) return absl::StrCat("#sdy.", kind, text);
  return absl::StrCat("#sdy.", kind, "<", text, ">");
}

std::optional<std::vector<int64_t>> AttributeInts(mlir::Attribute attribute) {
  std::vector<int64_t> ints;
  return AddInts(attribute, 0, &ints) ? std::optional(ints) : std::nullopt;
}

std::optional<std::vector<int64_t>> IntsOfText(absl::string_view text) {
  std::vector<int64_t> ints;
  return AddIntsOfText(text, &ints) ? std::optional(ints) : std::nullopt;
}

}  // namespace xla_indexing::internal
