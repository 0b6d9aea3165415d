#include "tests/fuzz/text_mutator.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

// libFuzzer's, which programs that only run inputs again do not have.
extern "C" __attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t* data, size_t size,
                                                         size_t max_size);

namespace xla_indexing::fuzz {
namespace {

using Random = std::mt19937_64;

enum class Kind { kNumber, kWord, kString, kSpace, kOther };

struct Token {
  Kind kind = Kind::kOther;
  std::string text;

  bool Is(absl::string_view other) const { return text == other; }
};
using Tokens = std::vector<Token>;

bool IsWordCharacter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '%' ||
         c == '#';
}

Tokens Cut(absl::string_view text) {
  Tokens tokens;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin + 1;
    Kind kind = Kind::kOther;
    const char c = text[begin];
    if (absl::ascii_isdigit(c)) {
      kind = Kind::kNumber;
      while (end < text.size() && absl::ascii_isdigit(text[end])) ++end;
    } else if (IsWordCharacter(c)) {
      kind = Kind::kWord;
      // A minus is part of a word where letters follow, as in dynamic-slice.
      while (end < text.size() &&
             (IsWordCharacter(text[end]) ||
              (text[end] == '-' && end + 1 < text.size() && absl::ascii_isalpha(text[end + 1])))) {
        ++end;
      }
    } else if (c == '"') {
      kind = Kind::kString;
      end = std::min(text.find('"', end), text.size() - 1) + 1;
    } else if (absl::ascii_isspace(c)) {
      kind = Kind::kSpace;
    }
    tokens.push_back({kind, std::string(text.substr(begin, end - begin))});
    begin = end;
  }
  return tokens;
}

std::string Join(const Tokens& tokens) {
  return absl::StrJoin(tokens, "",
                       [](std::string* out, const Token& token) { out->append(token.text); });
}

size_t Pick(size_t count, Random& random) { return count == 0 ? 0 : random() % count; }

template <typename T>
const T& PickOf(const std::vector<T>& choices, Random& random) {
  return choices[Pick(choices.size(), random)];
}

std::vector<size_t> PlacesOf(const Tokens& tokens, Kind kind) {
  std::vector<size_t> places;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == kind) places.push_back(i);
  }
  return places;
}

std::string OtherNumber(const Token& number, const Tokens& tokens, Random& random) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kNumbers[] = {0,
                                  1,
                                  2,
                                  3,
                                  -1,
                                  7,
                                  8,
                                  127,
                                  128,
                                  kMax,
                                  kMax - 1,
                                  -kMax,
                                  std::numeric_limits<int64_t>::min(),
                                  int64_t{1} << 31,
                                  (int64_t{1} << 31) - 1,
                                  int64_t{1} << 32,
                                  int64_t{1} << 62,
                                  (int64_t{1} << 32) + 1};
  int64_t value = 0;
  const bool fits = absl::SimpleAtoi(number.text, &value);
  switch (random() % 8) {
    case 0:
      return absl::StrCat(kNumbers[random() % std::size(kNumbers)]);
    case 1:
      return absl::StrCat(kNumbers[random() % 9]);
    case 2:
    case 3:
      return tokens[PickOf(PlacesOf(tokens, Kind::kNumber), random)].text;
    case 4:
      return fits && value < kMax / 2 ? absl::StrCat(value * 2) : "2";
    case 5:
      return fits && value > 0 ? absl::StrCat(value - 1) : "0";
    case 6:
      return absl::StrCat(random() % 12);
    default:
      return fits && value < kMax ? absl::StrCat(value + 1) : "1";
  }
}

void ChangeNumber(Tokens* tokens, Random& random) {
  const std::vector<size_t> places = PlacesOf(*tokens, Kind::kNumber);
  if (places.empty()) return;
  const Token old = (*tokens)[PickOf(places, random)];
  const std::string changed = OtherNumber(old, *tokens, random);
  // Sizes that are to be equal stay equal where all of one value change.
  if (random() % 2 == 0) {
    for (const size_t place : places) {
      if ((*tokens)[place].Is(old.text)) (*tokens)[place].text = changed;
    }
  } else {
    (*tokens)[PickOf(places, random)].text = changed;
  }
}

// The first token from `i` on that is not space.
std::string NextText(const Tokens& tokens, size_t i) {
  while (i < tokens.size() && tokens[i].kind == Kind::kSpace) ++i;
  return i < tokens.size() ? tokens[i].text : "";
}

// What words are used in the same way as: those before this character.
char UseOf(const Tokens& tokens, size_t word) {
  const std::string next = NextText(tokens, word + 1);
  return next == "(" || next == "[" || next == "=" ? next[0] : ' ';
}

void ChangeWord(const Vocabulary& vocabulary, Tokens* tokens, Random& random) {
  const std::vector<size_t> places = PlacesOf(*tokens, Kind::kWord);
  if (places.empty()) return;
  const size_t place = PickOf(places, random);
  const char use = UseOf(*tokens, place);
  const std::vector<std::string>& words = use == '('   ? vocabulary.before_parenthesis
                                          : use == '[' ? vocabulary.before_bracket
                                                       : vocabulary.others;
  if (!words.empty() && random() % 2 == 0) {
    (*tokens)[place].text = PickOf(words, random);
    return;
  }
  std::vector<size_t> same;
  for (const size_t other : places) {
    if (UseOf(*tokens, other) == use) same.push_back(other);
  }
  (*tokens)[place].text = (*tokens)[PickOf(same, random)].text;
}

struct Span {
  size_t begin = 0;
  size_t end = 0;
};

// From `begin` to the next comma, closing bracket or line end outside brackets.
Span ElementAt(const Tokens& tokens, size_t begin) {
  int depth = 0;
  for (size_t i = begin; i < tokens.size(); ++i) {
    const std::string& text = tokens[i].text;
    if (text == "(" || text == "[" || text == "{") ++depth;
    if (text == ")" || text == "]" || text == "}") --depth;
    if (depth < 0 || (depth == 0 && (text == "," || text == "\n"))) return {begin, i};
  }
  return {begin, tokens.size()};
}

// The elements of all lists.
std::vector<Span> ElementsOf(const Tokens& tokens) {
  std::vector<Span> elements;
  for (size_t i = 0; i < tokens.size(); ++i) {
    const std::string& text = tokens[i].text;
    if (text == "," || text == "(" || text == "[" || text == "{") {
      elements.push_back(ElementAt(tokens, i + 1));
    }
  }
  return elements;
}

Tokens Slice(const Tokens& tokens, Span span) {
  return {tokens.begin() + static_cast<ptrdiff_t>(span.begin),
          tokens.begin() + static_cast<ptrdiff_t>(span.end)};
}

void Replace(Span span, const Tokens& by, Tokens* tokens) {
  const auto begin = tokens->begin() + static_cast<ptrdiff_t>(span.begin);
  tokens->insert(tokens->erase(begin, begin + static_cast<ptrdiff_t>(span.end - span.begin)),
                 by.begin(), by.end());
}

// Leaves out an element and a comma beside it.
void RemoveElement(Span element, Tokens* tokens) {
  if (element.begin > 0 && (*tokens)[element.begin - 1].Is(",")) {
    --element.begin;
  } else if (element.end < tokens->size() && (*tokens)[element.end].Is(",")) {
    ++element.end;
  }
  Replace(element, {}, tokens);
}

void AppendElement(Span element, const Tokens& what, Tokens* tokens) {
  Tokens added = {{Kind::kOther, ","}};
  added.insert(added.end(), what.begin(), what.end());
  Replace({element.end, element.end}, added, tokens);
}

void ChangeList(Tokens* tokens, Random& random) {
  const std::vector<Span> elements = ElementsOf(*tokens);
  if (elements.empty()) return;
  const Span element = PickOf(elements, random);
  switch (random() % 4) {
    case 0:
      RemoveElement(element, tokens);
      break;
    case 1:
      AppendElement(element, Slice(*tokens, element), tokens);
      break;
    case 2:
      AppendElement(element, Slice(*tokens, PickOf(elements, random)), tokens);
      break;
    default:
      Replace(element, Slice(*tokens, PickOf(elements, random)), tokens);
      break;
  }
}

// The values of `key=`, or with key empty all `key=value`.
std::vector<Span> AttributesOf(const Tokens& tokens, absl::string_view key) {
  std::vector<Span> attributes;
  for (size_t i = 0; i + 1 < tokens.size(); ++i) {
    if (tokens[i].kind != Kind::kWord || !tokens[i + 1].Is("=")) continue;
    if (key.empty()) attributes.push_back(ElementAt(tokens, i));
    if (tokens[i].Is(key)) attributes.push_back(ElementAt(tokens, i + 2));
  }
  return attributes;
}

void ChangeAttribute(Tokens* tokens, Random& random) {
  const std::vector<Span> attributes = AttributesOf(*tokens, "");
  if (attributes.empty()) return;
  const Span attribute = PickOf(attributes, random);
  const Span other = PickOf(attributes, random);
  switch (random() % 4) {
    case 0:
      RemoveElement(attribute, tokens);
      break;
    case 1:
      AppendElement(other, Slice(*tokens, attribute), tokens);
      break;
    case 2: {
      const std::string key = (*tokens)[attribute.begin].text;
      const Tokens value = Slice(*tokens, PickOf(AttributesOf(*tokens, key), random));
      Replace({attribute.begin + 2, attribute.end}, value, tokens);
      break;
    }
    default:
      Replace(attribute, Slice(*tokens, other), tokens);
      break;
  }
}

std::vector<std::string> Lines(absl::string_view text) { return absl::StrSplit(text, '\n'); }

std::string JoinLines(const std::vector<std::string>& lines) { return absl::StrJoin(lines, "\n"); }

std::string ChangeLines(absl::string_view text, Random& random) {
  std::vector<std::string> lines = Lines(text);
  const size_t line = Pick(lines.size(), random);
  const size_t other = Pick(lines.size(), random);
  switch (random() % 4) {
    case 0:
      lines.erase(lines.begin() + static_cast<ptrdiff_t>(line));
      break;
    case 1:
      std::swap(lines[line], lines[other]);
      break;
    case 2:
      lines[line] = lines[other];
      break;
    default: {
      // A copy under another name.
      Tokens copy = Cut(lines[line]);
      for (Token& token : copy) {
        if (token.kind != Kind::kWord || token.Is("ROOT")) continue;
        absl::StrAppend(&token.text, "_", random() % 10);
        break;
      }
      lines.insert(lines.begin() + static_cast<ptrdiff_t>(line), Join(copy));
      break;
    }
  }
  return JoinLines(lines);
}

// Leaves out what stands between `=` and the word before a parenthesis: of one line, or of all but
// those of parameters and constants.
std::string RemoveShapes(absl::string_view text, Random& random) {
  std::vector<std::string> lines = Lines(text);
  const bool all = random() % 2 == 0;
  const size_t only = Pick(lines.size(), random);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (!all && i != only) continue;
    const size_t equals = lines[i].find(" = ");
    if (equals == std::string::npos) continue;
    const Tokens tokens = Cut(lines[i]);
    size_t length = 0;
    for (size_t t = 0; t < tokens.size(); length += tokens[t].text.size(), ++t) {
      if (length < equals + 3 || tokens[t].kind != Kind::kWord || UseOf(tokens, t) != '(') continue;
      if (!tokens[t].Is("parameter") && !tokens[t].Is("constant")) {
        lines[i].erase(equals + 3, length - equals - 3);
      }
      break;
    }
  }
  return JoinLines(lines);
}

std::string ChangedOnce(absl::string_view text, const Vocabulary& vocabulary, Random& random) {
  Tokens tokens = Cut(text);
  switch (random() % 16) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
      ChangeNumber(&tokens, random);
      break;
    case 5:
    case 6:
    case 7:
      ChangeWord(vocabulary, &tokens, random);
      break;
    case 8:
    case 9:
    case 10:
      ChangeList(&tokens, random);
      break;
    case 11:
    case 12:
      ChangeAttribute(&tokens, random);
      break;
    case 13:
      return RemoveShapes(text, random);
    default:
      return ChangeLines(text, random);
  }
  return Join(tokens);
}

size_t CopyOut(absl::string_view text, uint8_t* out, size_t max_size) {
  const size_t size = std::min(text.size(), max_size);
  std::memcpy(out, text.data(), size);
  return size;
}

absl::string_view TextOf(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace

std::string MutateText(absl::string_view text, const Vocabulary& vocabulary,
                       std::mt19937_64& random) {
  std::string changed(text);
  for (size_t i = random() % 4 + 1; i > 0; --i) changed = ChangedOnce(changed, vocabulary, random);
  return changed;
}

std::string CrossTexts(absl::string_view a, absl::string_view b, std::mt19937_64& random) {
  std::vector<std::string> lines = Lines(a);
  const std::vector<std::string> others = Lines(b);
  const size_t begin = Pick(others.size(), random);
  const size_t count = std::min<size_t>(random() % 4 + 1, others.size() - begin);
  lines.insert(lines.begin() + static_cast<ptrdiff_t>(Pick(lines.size() + 1, random)),
               others.begin() + static_cast<ptrdiff_t>(begin),
               others.begin() + static_cast<ptrdiff_t>(begin + count));
  return JoinLines(lines);
}

size_t MutateInPlace(uint8_t* data, size_t size, size_t max_size, unsigned seed,
                     const Vocabulary& vocabulary) {
  std::mt19937_64 random(seed);
  if (LLVMFuzzerMutate != nullptr && random() % 16 == 0) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  const std::string text(TextOf(data, size));
  for (int attempt = 0; attempt < 8; ++attempt) {
    const std::string changed = MutateText(text, vocabulary, random);
    if (changed.size() <= max_size && changed != text) return CopyOut(changed, data, max_size);
  }
  return CopyOut(text, data, max_size);
}

size_t CrossInPlace(const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size, uint8_t* out,
                    size_t max_size, unsigned seed) {
  std::mt19937_64 random(seed);
  return CopyOut(CrossTexts(TextOf(a, a_size), TextOf(b, b_size), random), out, max_size);
}

}  // namespace xla_indexing::fuzz
