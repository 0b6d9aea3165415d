#include "xla_indexing/ops/loops/closure/powers.h"

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
constexpr int kMaxPeriod = 6;
constexpr size_t kMaxMapsOfPeriod = 16;

struct Letter {
  OperandIndexingSet maps;
  bool is_closed;
};

struct Word {
  OperandIndexing map;
  size_t last_letter;
};

// Steps within a box together, and each other piece; nullopt if these are too many.
std::optional<std::vector<Letter>> LettersOf(const OperandIndexingSet& maps) {
  const std::vector<OperandIndexing> pieces(maps.begin(), maps.end());
  std::vector<Letter> letters;
  std::optional<Spread> spread = SpreadWithinBox(pieces);
  if (spread) letters.push_back({std::move(spread->powers), /*is_closed=*/true});
  const std::vector<OperandIndexing>& others = spread ? spread->others : pieces;
  if (others.size() > kMaxLetters) return std::nullopt;
  for (const OperandIndexing& piece : others) {
    std::optional<OperandIndexing> powers = CloseTranslation(piece);
    const bool is_closed = powers.has_value();
    letters.push_back({OperandIndexingSet(is_closed ? *std::move(powers) : piece), is_closed});
  }
  if (IsOff(Engine::kWords) && letters.size() > 1) return std::nullopt;
  return letters;
}

// All powers but none of pieces, by the law of words.
std::optional<OperandIndexingSet> CloseByWords(const OperandIndexingSet& maps) {
  const std::optional<std::vector<Letter>> known = LettersOf(maps);
  if (!known) return std::nullopt;
  const std::vector<Letter>& letters = *known;
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

}  // namespace

std::optional<OperandIndexingSet> AllPowersOf(OperandIndexingSet maps) {
  CoalesceMaps(&maps);
  OperandIndexingSet before;
  OperandIndexingSet power = maps;
  const int most = IsOff(Engine::kPeriods) ? 1 : kMaxPeriod;
  for (int period = 1; period <= most; ++period) {
    if (power.empty()) return before;
    if (std::optional<OperandIndexingSet> closed = CloseByWords(power)) {
      if (period == 1) return closed;
      OperandIndexingSet all = before;
      all.Add(*closed);
      if (!AddComposed(*closed, before, &all)) return std::nullopt;
      WriteWithFewMaps(&all);
      if (all.size() <= kMaxMapsOfPeriod) return all;
    }
    before.Add(power);
    OperandIndexingSet next;
    if (!AddComposed(power, maps, &next)) return std::nullopt;
    if (next.size() > 1) WriteWithFewMaps(&next);
    if (next.size() > kMaxMapsOfPeriod) return std::nullopt;
    power = std::move(next);
  }
  return std::nullopt;
}

}  // namespace xla_indexing::internal
