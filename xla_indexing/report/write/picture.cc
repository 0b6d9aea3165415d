#include "xla_indexing/report/write/picture.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <numeric>
#include <random>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/common_maps.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/binding_words.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/report/write/picture_svg.h"

namespace xla_indexing {
namespace {

using internal::PicturedArray;
using internal::PicturedSet;
using Element = std::vector<int64_t>;

constexpr int64_t kMostPoints = int64_t{1} << 20;  // of one map
constexpr size_t kMostArrays = 24;                 // next to the first

// A map with the values of its runtime variables.
struct PicturedMap {
  const IndexingMap& map;
  Element runtimes;
};

PicturedMap WithRuntimes(const IndexingMap& map, const PictureOptions& options) {
  if (options.runtimes && static_cast<int>(options.runtimes->size()) == map.num_runtimes()) {
    return {map, *options.runtimes};
  }
  PicturedMap pictured = {map, {}};
  for (const Variable& runtime : map.runtimes()) {
    const int64_t low = runtime.bounds.has_lower() ? runtime.bounds.lower() : 0;
    const int64_t high =
        runtime.bounds.has_upper() ? runtime.bounds.upper() : std::max<int64_t>(low, 0);
    pictured.runtimes.push_back(std::midpoint(low, high));
  }
  return pictured;
}

// `rt0 = 3 of [0, 6]`, a text for each runtime variable.
std::vector<std::string> RuntimesInWords(const PicturedMap& pictured) {
  const std::vector<std::string> names = TextPartsOf(pictured.map).runtimes;
  std::vector<std::string> words;
  for (size_t i = 0; i < pictured.runtimes.size(); ++i) {
    words.push_back(absl::StrCat(names[i], " = ", pictured.runtimes[i], " of ",
                                 pictured.map.runtimes()[i].bounds.ToString()));
  }
  return words;
}

// The map at one point of its dimensions; nullopt if that is not in the domain.
std::optional<IndexingMap> AtElement(const PicturedMap& pictured, const Element& element) {
  IndexingMap map = pictured.map;
  for (int i = 0; i < map.num_dims(); ++i) {
    if (!map.dims()[i].bounds.Contains(element[i])) return std::nullopt;
    map.mutable_dim(i).bounds = Interval::Point(element[i]);
  }
  for (int i = 0; i < map.num_runtimes(); ++i) {
    if (!map.runtimes()[i].bounds.Contains(pictured.runtimes[i])) return std::nullopt;
    map.mutable_runtime(i).bounds = Interval::Point(pictured.runtimes[i]);
  }
  map.Simplify();
  if (map.IsKnownEmpty()) return std::nullopt;
  return map;
}

absl::StatusOr<PicturedSet> ResultsAt(const PicturedMap& pictured, const Element& element) {
  PicturedSet set;
  const std::optional<IndexingMap> map = AtElement(pictured, element);
  if (!map) return set;
  std::vector<llvm::SmallVector<int64_t, 4>> found;
  const absl::Status status = map->ForEachPoint(
      kMostPoints, [&](llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t>,
                       llvm::ArrayRef<int64_t> results) { found.emplace_back(results); });
  if (!status.ok()) return status;
  absl::c_sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  set.count = static_cast<int64_t>(found.size());
  for (const auto& indices : found) absl::c_copy(indices, std::back_inserter(set.indices));
  return set;
}

std::string ElementText(const Element& element) {
  return absl::StrCat("element (", absl::StrJoin(element, ", "), ")");
}

// The element that is asked for, or one near the middle at which as many of the maps as possible have results.
absl::StatusOr<Element> ChooseElement(absl::Span<const PicturedMap> maps, const Element& sizes,
                                      const std::optional<Element>& asked) {
  if (asked) {
    const bool is_there =
        asked->size() == sizes.size() &&
        std::equal(asked->begin(), asked->end(), sizes.begin(),
                   [](int64_t index, int64_t size) { return index >= 0 && index < size; });
    if (is_there) return *asked;
    return absl::InvalidArgumentError(absl::StrCat("the element [", absl::StrJoin(*asked, ", "),
                                                   "] is not one of an array of [",
                                                   absl::StrJoin(sizes, ", "), "]"));
  }
  if (absl::c_any_of(sizes, [](int64_t size) { return size < 1; })) {
    return absl::InvalidArgumentError(
        absl::StrCat("an array of [", absl::StrJoin(sizes, ", "), "] has no element to choose"));
  }
  constexpr int kMostTried = 200;
  std::mt19937_64 random;  // the same numbers each time
  Element best;
  size_t best_count = 0;
  for (int i = 0; i < kMostTried; ++i) {
    Element element;
    for (const int64_t size : sizes) {
      const int64_t tried[] = {size / 2, size / 3, 0, size - 1};
      element.push_back(i < static_cast<int>(std::size(tried))
                            ? tried[i]
                            : static_cast<int64_t>(random() % static_cast<uint64_t>(size)));
    }
    const auto count = static_cast<size_t>(absl::c_count_if(
        maps, [&](const PicturedMap& map) { return AtElement(map, element).has_value(); }));
    if (i == 0 || count > best_count) {
      best = std::move(element);
      best_count = count;
    }
    if (best_count == maps.size()) break;
  }
  return best;
}

Picture Draw(absl::Span<const std::string> heading, const PicturedArray& start,
             absl::Span<const PicturedArray> ends, absl::Span<const std::string> given) {
  const auto title_of = [](std::string* out, const PicturedArray& end) {
    absl::StrAppend(out, end.title);
  };
  return {internal::DrawArrays(heading, start, ends, given),
          absl::StrCat(start.title, ": ", absl::StrJoin(ends, ", ", title_of))};
}

// The size of an array with indices in this interval.
absl::StatusOr<int64_t> SizeFor(const Interval& indices, absl::string_view name) {
  if (!indices.IsFinite() || indices.upper() == INT64_MAX) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, " has an interval without end, which no picture can show"));
  }
  return std::max<int64_t>(indices.upper() + 1, 1);
}

absl::StatusOr<PictureSizes> SizesOf(const IndexingMap& map) {
  PictureSizes sizes;
  const MapTextParts parts = TextPartsOf(map);
  for (int i = 0; i < map.num_dims(); ++i) {
    const absl::StatusOr<int64_t> size = SizeFor(map.dims()[i].bounds, parts.dims[i]);
    if (!size.ok()) return size.status();
    sizes.dims.push_back(*size);
  }
  for (const mlir::AffineExpr result : map.results()) {
    const absl::StatusOr<int64_t> size = SizeFor(RangeOf(map, result), "a result");
    if (!size.ok()) return size.status();
    sizes.results.push_back(*size);
  }
  return sizes;
}

// The first line of a map's text, which has its results.
std::string ResultsText(const OperandIndexing& map) {
  const std::string text = map.MapToString();
  return text.substr(0, text.find(", domain: "));
}

std::string LeafTitle(absl::string_view name, const HloInstruction& instruction, int64_t leaf) {
  return instruction.shape().IsTuple() ? absl::StrCat(name, " leaf ", leaf) : std::string(name);
}

PicturedArray ArrayOf(absl::string_view name, const HloInstruction& instruction, int64_t leaf) {
  const Shape& shape = instruction.shape().Leaf(leaf);
  const std::string text = shape.ToString();
  return {absl::StrCat(LeafTitle(name, instruction, leaf), ": ", text.substr(0, text.find('{'))),
          Element(shape.dimensions().begin(), shape.dimensions().end())};
}

class EntriesPicture {
 public:
  EntriesPicture(const PictureSubject& subject, const PictureOptions& options)
      : subject_(subject), options_(options) {}

  absl::StatusOr<Picture> Make(absl::Span<const IndexingEntry* const> entries) {
    std::vector<PicturedMap> maps;
    for (const IndexingEntry* entry : entries) {
      for (const OperandIndexing& map : entry->indexing) {
        if (!map.IsUnknown()) maps.push_back(WithRuntimes(map.map(), options_));
      }
    }
    PicturedArray start = IsToInput() ? ResultOf(*entries[0]) : OperandOf(*entries[0]);
    absl::StatusOr<Element> element = ChooseElement(maps, start.sizes, options_.element);
    if (!element.ok()) return element.status();
    element_ = *std::move(element);
    start.sets = {{"", 1, element_}};
    if (!maps.empty()) start.axes = TextPartsOf(maps[0].map).dims;
    Say(ElementText(element_));
    std::vector<PicturedArray> ends;
    for (const IndexingEntry* entry : entries.first(std::min(entries.size(), kMostArrays))) {
      ends.push_back(EndOf(*entry));
    }
    if (entries.size() > kMostArrays) {
      Say(absl::StrCat(entries.size() - kMostArrays, " more arrays, which are not drawn"));
    }
    return Draw({}, start, ends, said_);
  }

 private:
  bool IsToInput() const { return subject_.direction == Direction::kOutputToInput; }
  PicturedArray ResultOf(const IndexingEntry& entry) const {
    return ArrayOf(subject_.result_name, subject_.result, entry.output_leaf);
  }
  PicturedArray OperandOf(const IndexingEntry& entry) const {
    return ArrayOf(subject_.operand_names[entry.operand], *subject_.operands[entry.operand],
                   entry.operand_leaf);
  }

  void Say(std::string text) {
    if (!absl::c_linear_search(said_, text)) said_.push_back(std::move(text));
  }

  PicturedArray EndOf(const IndexingEntry& entry) {
    PicturedArray end = IsToInput() ? OperandOf(entry) : ResultOf(entry);
    for (const OperandIndexing& map : entry.indexing) {
      if (map.IsUnknown()) {
        end.is_unknown = true;
        end.notes.push_back(absl::StrCat("unknown: ", map.label().reason));
        continue;
      }
      const PicturedMap pictured = WithRuntimes(map.map(), options_);
      absl::StatusOr<PicturedSet> set = ResultsAt(pictured, element_);
      if (!set.ok()) {
        end.is_unknown = true;
        end.notes.push_back(
            absl::StrCat("not drawn: ", ResultsText(map), ": ", set.status().message()));
        continue;
      }
      set->legend = ResultsText(map);
      end.sets.push_back(*std::move(set));
      std::vector<std::string> words = RuntimesInWords(pictured);
      for (size_t i = 0; i < words.size(); ++i) {
        Say(absl::StrCat(words[i], ": ", BindingInWords(map, static_cast<int>(i))));
      }
      if (!map.IsExact()) {
        end.notes.push_back(absl::StrCat("over-approximate: ", map.label().reason));
      }
    }
    return end;
  }

  const PictureSubject& subject_;
  const PictureOptions& options_;
  Element element_;
  std::vector<std::string> said_;  // above the arrays
};

}  // namespace

absl::StatusOr<Picture> PictureOfMap(const IndexingMap& map, const PictureOptions& options,
                                     const std::optional<PictureSizes>& sizes) {
  const QuestionBudget question;
  absl::StatusOr<PictureSizes> extent = sizes ? *sizes : SizesOf(map);
  if (!extent.ok()) return extent.status();
  if (static_cast<int>(extent->dims.size()) != map.num_dims() ||
      static_cast<int>(extent->results.size()) != map.num_results()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "sizes are of ", extent->dims.size(), " dimensions and ", extent->results.size(),
        " results, and the map has ", map.num_dims(), " and ", map.num_results()));
  }
  const PicturedMap pictured = WithRuntimes(map, options);
  const absl::StatusOr<Element> element = ChooseElement({pictured}, extent->dims, options.element);
  if (!element.ok()) return element.status();
  absl::StatusOr<PicturedSet> results = ResultsAt(pictured, *element);
  if (!results.ok()) return results.status();
  const MapTextParts parts = TextPartsOf(map);
  std::vector<std::string> given;
  for (size_t i = 0; i < element->size(); ++i) {
    given.push_back(absl::StrCat(parts.dims[i], " = ", (*element)[i]));
  }
  if (!given.empty()) given = {absl::StrJoin(given, ", ")};
  absl::c_move(RuntimesInWords(pictured), std::back_inserter(given));
  const PicturedArray start = {
      ElementText(*element), extent->dims, parts.dims, {{"", 1, *element}}, {}};
  const std::string count =
      results->count == 1 ? "1 element" : absl::StrCat(results->count, " elements");
  const PicturedArray end = {
      absl::StrCat(count, " that it maps to"), extent->results, {}, {*std::move(results)}, {}};
  return Draw({map.ToString()}, start, {end}, given);
}

absl::StatusOr<Picture> PictureOfEntries(const PictureSubject& subject,
                                         const InstructionIndexing& entries, OperandLeaf from,
                                         const PictureOptions& options) {
  const QuestionBudget question;
  std::vector<const IndexingEntry*> starting;
  for (const IndexingEntry& entry : entries) {
    const bool starts = subject.direction == Direction::kOutputToInput
                            ? entry.output_leaf == from.operand_leaf
                            : OperandLeaf{entry.operand, entry.operand_leaf} == from;
    if (starts) starting.push_back(&entry);
  }
  if (starting.empty()) {
    return absl::InvalidArgumentError("there is nothing to draw: no map starts from that array");
  }
  return EntriesPicture(subject, options).Make(starting);
}

absl::StatusOr<Picture> PictureOf(IndexingTarget target, mlir::MLIRContext* context,
                                  std::optional<int64_t> output_leaf) {
  const HloComputation* computation = target.computation();
  const HloInstruction& result =
      computation != nullptr ? *computation->root_instruction() : *target.instruction();
  const auto leaves = result.shape().Leaves();
  size_t leaf = output_leaf ? static_cast<size_t>(*output_leaf) : 0;
  while (!output_leaf && leaf < leaves.size() && !leaves[leaf]->HasElements()) ++leaf;
  if (leaf >= leaves.size() || !leaves[leaf]->HasElements()) {
    return absl::InvalidArgumentError(
        output_leaf ? absl::StrCat(result.name(), " has no leaf ", *output_leaf, " to draw")
                    : absl::StrCat(result.name(), " has no array with elements to draw"));
  }
  const absl::StatusOr<SharedIndexing> entries =
      HloIndexer(context).Index(target, Direction::kOutputToInput);
  if (!entries.ok()) return entries.status();
  PictureSubject subject = {result,
                            std::string(result.name()),
                            computation != nullptr ? computation->parameters() : result.operands(),
                            {}};
  for (const HloInstruction* operand : subject.operands) {
    subject.operand_names.emplace_back(operand->name());
  }
  return PictureOfEntries(subject, **entries, {0, static_cast<int64_t>(leaf)});
}

}  // namespace xla_indexing
