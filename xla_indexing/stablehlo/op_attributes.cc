#include "xla_indexing/stablehlo/op_attributes.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
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
constexpr size_t kShownText = 60;

llvm::StringRef ToRef(absl::string_view text) { return {text.data(), text.size()}; }

bool IsOpening(char c) { return c == '[' || c == '<' || c == '{' || c == '('; }
bool IsClosing(char c) { return c == ']' || c == '>' || c == '}' || c == ')'; }

// The value of `key = value` in `kind<key = value, ..>`; a key alone has the value `true`.
std::optional<absl::string_view> PartOf(absl::string_view text, absl::string_view key) {
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

// `[[0, 1], [2, 3]]`, `?`, `true`, `3 : i64`.
bool AddIntsOfText(absl::string_view text, std::vector<int64_t>* ints) {
  text = absl::StripAsciiWhitespace(text.substr(0, text.find(':')));
  size_t i = 0;
  while (i < text.size() && ints->size() < kMaxInts) {
    const char c = text[i];
    if (c == ' ' || c == ',' || c == '[' || c == ']' || c == '\n' || c == '\t') {
      ++i;
      continue;
    }
    size_t end = i;
    while (end < text.size() && (absl::ascii_isalnum(text[end]) || text[end] == '-')) ++end;
    const absl::string_view word = text.substr(i, end - i);
    int64_t number = 0;
    if (c == '?') {
      ints->push_back(Shape::kUnboundedSize);
      end = i + 1;
    } else if (word == "true" || word == "false") {
      ints->push_back(word == "true" ? 1 : 0);
    } else if (absl::SimpleAtoi(word, &number)) {
      ints->push_back(number);
    } else {
      return false;
    }
    i = end;
  }
  return i >= text.size();
}

// Takes from `budget` what an attribute has. One may name the same array twice, and so on: its text is then much
// longer than that which it was read from.
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

void OpAttributes::Fail(absl::string_view path, absl::string_view what) {
  if (error_.empty()) error_ = absl::StrCat(path, ": ", what);
}

void OpAttributes::Give(absl::string_view name, std::vector<int64_t> ints) {
  given_.emplace_back(name, std::move(ints));
}

mlir::Attribute OpAttributes::Find(absl::string_view name) const {
  return op_.getAttr(ToRef(name));
}

bool OpAttributes::Has(absl::string_view path) const {
  const size_t dot = path.find('.');
  const mlir::Attribute attribute = Find(path.substr(0, dot));
  if (attribute == nullptr || dot == absl::string_view::npos) return attribute != nullptr;
  return PartOf(AttributeText(attribute), path.substr(dot + 1)).has_value();
}

std::string OpAttributes::Text(absl::string_view path) const {
  const size_t dot = path.find('.');
  std::string text = AttributeText(Find(path.substr(0, dot)));
  if (dot == absl::string_view::npos) return text;
  return std::string(PartOf(text, path.substr(dot + 1)).value_or(""));
}

bool OpAttributes::AddInts(mlir::Attribute attribute, int depth, std::vector<int64_t>* ints) {
  if (depth > kMaxAttributeDepth || ints->size() >= kMaxInts) return false;
  if (auto integer = mlir::dyn_cast<mlir::IntegerAttr>(attribute)) {
    if (integer.getValue().getSignificantBits() > 64) return false;
    const bool is_bool = integer.getType().isInteger(1);
    ints->push_back(is_bool ? static_cast<int64_t>(!integer.getValue().isZero())
                            : integer.getValue().getSExtValue());
    return true;
  }
  if (mlir::isa<mlir::UnitAttr>(attribute)) {
    ints->push_back(1);
    return true;
  }
  if (auto array = mlir::dyn_cast<mlir::DenseI64ArrayAttr>(attribute)) {
    ints->insert(ints->end(), array.asArrayRef().begin(), array.asArrayRef().end());
    return ints->size() <= kMaxInts;
  }
  if (auto array = mlir::dyn_cast<mlir::DenseBoolArrayAttr>(attribute)) {
    ints->insert(ints->end(), array.asArrayRef().begin(), array.asArrayRef().end());
    return ints->size() <= kMaxInts;
  }
  if (auto dense = mlir::dyn_cast<mlir::DenseIntElementsAttr>(attribute)) {
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
  if (auto array = mlir::dyn_cast<mlir::ArrayAttr>(attribute)) {
    for (const mlir::Attribute element : array) {
      if (!AddInts(element, depth + 1, ints)) return false;
    }
    return true;
  }
  return mlir::isa<mlir::StringAttr>(attribute) && AddIntsOfText(AttributeText(attribute), ints);
}

std::vector<int64_t> OpAttributes::Ints(absl::string_view path) {
  for (const auto& [name, numbers] : given_) {
    if (name == path) return numbers;
  }
  std::vector<int64_t> ints;
  const size_t dot = path.find('.');
  const mlir::Attribute attribute = Find(path.substr(0, dot));
  if (attribute == nullptr) return ints;
  const bool is_good = dot == absl::string_view::npos ? AddInts(attribute, 0, &ints)
                                                      : AddIntsOfText(Text(path), &ints);
  if (!is_good) {
    Fail(path, absl::StrCat("numbers are expected, not '", Text(path).substr(0, kShownText), "'"));
  }
  return ints;
}

std::optional<int64_t> OpAttributes::Int(absl::string_view path) {
  if (!Has(path)) return std::nullopt;
  const std::vector<int64_t> ints = Ints(path);
  if (ints.size() == 1) return ints[0];
  Fail(path, absl::StrCat("one number is expected, not ", ints.size()));
  return std::nullopt;
}

bool OpAttributes::Bool(absl::string_view path) { return Int(path).value_or(0) != 0; }

std::string OpAttributes::Word(absl::string_view path) {
  const std::string text = Text(path);
  absl::string_view word = absl::StripAsciiWhitespace(text);
  const size_t space = word.find_last_of(' ');
  if (space != absl::string_view::npos) word = word.substr(space + 1);
  for (const char c : word) {
    if (absl::ascii_isalnum(c) || c == '_') continue;
    Fail(path, absl::StrCat("a word is expected, not '", text.substr(0, kShownText), "'"));
    return "";
  }
  return std::string(word);
}

}  // namespace xla_indexing::internal
