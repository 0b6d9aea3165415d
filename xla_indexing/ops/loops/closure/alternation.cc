#include "xla_indexing/ops/loops/closure/alternation.h"

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/ops/answers/coalesce.h"
#include "xla_indexing/ops/loops/body/timed_map.h"
#include "xla_indexing/ops/loops/closure/spreading.h"
#include "xla_indexing/ops/loops/closure/translations.h"
#include "xla_indexing/ops/unions/few_maps.h"

namespace xla_indexing::internal {
namespace {

constexpr size_t kMaxLetters = 16;
constexpr size_t kMaxLengthOfWord = 6;
constexpr size_t kMaxWords = 64;

struct Letter {
  OperandIndexingSet maps;
  bool is_closed;
};

struct Word {
  OperandIndexing map;
  size_t last_letter;
};

// All powers of one piece; nothing where there is no closed form.
std::optional<OperandIndexingSet> PowersOf(const OperandIndexing& piece) {
  const std::optional<OperandIndexing> twice = ComposeTimed(piece, piece);
  if (!twice) return std::nullopt;
  return twice->IsKnownEmpty() ? OperandIndexingSet(piece) : ClosePiece(piece);
}

}  // namespace

std::optional<OperandIndexingSet> CloseByAlternation(const std::vector<OperandIndexing>& pieces) {
  if (IsOff(Engine::kAlternation)) return std::nullopt;
  std::vector<Letter> letters;
  std::optional<Spread> spread = SpreadWithinBox(pieces);
  if (spread) letters.push_back({std::move(spread->powers), /*is_closed=*/true});
  const std::vector<OperandIndexing>& others = spread ? spread->others : pieces;
  if (others.size() > kMaxLetters) return std::nullopt;
  for (const OperandIndexing& piece : others) {
    std::optional<OperandIndexingSet> powers = PowersOf(piece);
    const bool is_closed = powers.has_value();
    letters.push_back({is_closed ? *std::move(powers) : OperandIndexingSet(piece), is_closed});
  }
  std::vector<Word> words;
  for (size_t letter = 0; letter < letters.size(); ++letter) {
    for (const OperandIndexing& map : letters[letter].maps) words.push_back({map, letter});
  }
  // Words are appended behind those that they continue.
  size_t begin = 0;
  for (size_t length = 1; begin < words.size(); ++length) {
    if (length > kMaxLengthOfWord) return std::nullopt;
    const size_t end = words.size();
    for (; begin < end; ++begin) {
      for (size_t letter = 0; letter < letters.size(); ++letter) {
        if (letter == words[begin].last_letter && letters[letter].is_closed) continue;
        for (const OperandIndexing& map : letters[letter].maps) {
          std::optional<OperandIndexing> longer = ComposeTimed(words[begin].map, map);
          if (!longer || words.size() > kMaxWords) return std::nullopt;
          const auto covers = [&](const Word& word) { return Covers(word.map, *longer); };
          if (longer->IsKnownEmpty() || absl::c_any_of(words, covers)) continue;
          words.push_back({*std::move(longer), letter});
        }
      }
    }
  }
  OperandIndexingSet closure;
  for (Word& word : words) closure.Add(std::move(word.map));
  WriteWithFewMaps(&closure);
  return closure;
}

}  // namespace xla_indexing::internal
