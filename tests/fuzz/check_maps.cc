#include "tests/fuzz/check_maps.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "tests/fuzz/asked.h"
#include "tests/fuzz/exact_map.h"
#include "tests/fuzz/text_mutator.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::fuzz {
namespace {

// Whether the maps are maps between these arrays, and their text is read back.
void CheckEachMap(const Asked& asked, const OperandIndexingSet& maps, const Ends& ends,
                  Random& random) {
  if (maps.empty()) Fail(asked, "an entry has maps", "");
  for (const OperandIndexing& indexing : maps) {
    if (indexing.IsUnknown()) {
      if (indexing.label().reason.empty()) Fail(asked, "what is unknown has a reason", "");
      continue;
    }
    const IndexingMap& map = indexing.map();
    const std::string text = map.ToString();
    if (const absl::Status status = map.Verify(); !status.ok()) {
      Fail(asked, "a map verifies", text, status.message());
    }
    if (map.num_dims() != ends.from.rank() || map.num_results() != ends.to.rank() ||
        indexing.bindings().size() != static_cast<size_t>(map.num_runtimes())) {
      Fail(asked, "a map is one between its arrays", text);
    }
    const absl::StatusOr<IndexingMap> again = ParseIndexingMap(text, asked.context);
    if (!again.ok() || !(*again == map)) {
      Fail(asked, "the text of a map is read as the map", text,
           again.ok() ? again->ToString() : std::string(again.status().message()));
    }
    for (const Point& point : SomePoints(map, kSamples * 2, random)) {
      if (IsInDomain(map, point) != true) continue;
      bool is_read = true;
      for (const RuntimeVarIndexing& binding : indexing.bindings()) {
        is_read &= binding.device || ElementOf(binding, map.num_dims(), point);
      }
      const llvm::ArrayRef<int64_t> dims =
          llvm::ArrayRef<int64_t>(point).take_front(map.num_dims());
      const std::optional<Point> results = ResultsAt(map, point);
      if (!is_read) continue;
      if (!IsInside(ends.from, dims) || (results && !IsInside(ends.to, *results))) {
        Fail(asked, absl::StrCat("a map stays in its arrays, at ", PointText(point)),
             indexing.ToString(),
             absl::StrCat("from ", ends.from.ToString(), " to ", ends.to.ToString()));
      }
    }
  }
}

// Whether one set names, of some elements, no more than the other.
void CheckPart(const Asked& asked, absl::string_view law, const OperandIndexingSet& part,
               const OperandIndexingSet& whole, const Ends& ends, Random& random) {
  for (const Point& element : SomeElements(ends.from, random)) {
    const std::optional<std::set<Point>> reads = ReadsOf(part, element);
    const std::optional<std::set<Point>> all = ReadsOf(whole, element);
    if (!reads || !all) continue;
    for (const Point& read : *reads) {
      if (all->contains(read)) continue;
      Fail(asked, absl::StrCat(law, ": ", PointText(element), " -> ", PointText(read)),
           TextOf(part), TextOf(whole));
    }
  }
}

void CheckSimplified(const Asked& asked, const OperandIndexingSet& maps, const Ends& ends,
                     Random& random) {
  OperandIndexingSet simplified = maps;
  simplified.Simplify();
  if (!simplified.empty()) CheckEachMap(asked, simplified, ends, random);
  CheckPart(asked, "simplified names all", maps, simplified, ends, random);
  CheckPart(asked, "simplified names no more", simplified, maps, ends, random);
  OperandIndexingSet uncovered = simplified;
  uncovered.DropSubsumed(ends.to);
  CheckPart(asked, "maps that others cover", simplified, uncovered, ends, random);
}

const OperandIndexingSet& SetOf(const InstructionIndexing& entries, const IndexingEntry& leaves) {
  static const OperandIndexingSet* const nothing = new OperandIndexingSet();
  for (const IndexingEntry& entry : entries) {
    if (std::tie(entry.output_leaf, entry.operand, entry.operand_leaf) ==
        std::tie(leaves.output_leaf, leaves.operand, leaves.operand_leaf)) {
      return entry.indexing;
    }
  }
  return *nothing;
}

// Whether the pairs of an exact set are those of the set for the other direction.
void CheckConverse(const Asked& asked, const OperandIndexingSet& maps,
                   const OperandIndexingSet& back, const Ends& ends, Random& random) {
  if (!maps.label().IsExact() || !ReadsParametersOnly(maps) || !ReadsParametersOnly(back)) return;
  for (const Point& element : SomeElements(ends.from, random)) {
    const std::optional<std::set<Point>> reads = ReadsOf(maps, element);
    if (!reads) continue;
    size_t followed = 0;
    for (const Point& read : *reads) {
      if (++followed > kSamples) break;
      const std::optional<std::set<Point>> users = ReadsOf(back, read);
      if (!users || users->contains(element)) continue;
      Fail(asked,
           absl::StrCat("both directions have ", PointText(element), " -> ", PointText(read)),
           TextOf(maps), TextOf(back));
    }
  }
}

// Whether what is said to be exact is part of what is said by default, and the other way round.
void CheckExact(const Asked& asked, const OperandIndexingSet& exact,
                const OperandIndexingSet& usual, const Ends& ends, Random& random) {
  if (!ReadsParametersOnly(exact) || !ReadsParametersOnly(usual)) return;
  if (exact.label().IsExact()) {
    CheckPart(asked, "exact is part of the usual", exact, usual, ends, random);
  }
  if (usual.label().IsExact()) {
    CheckPart(asked, "the usual is exact", usual, exact, ends, random);
  }
}

}  // namespace

void CheckMaps(const Asked& asked, const Answers& answers, Random& random) {
  for (const bool forward : {false, true}) {
    size_t count = 0;
    for (const bool exact : {false, true}) {
      for (const IndexingEntry& entry : answers[forward][exact]) {
        if (++count > kMaxEntries) break;
        const Ends ends = EndsOf(asked, entry, forward);
        CheckEachMap(asked, entry.indexing, ends, random);
        CheckSimplified(asked, entry.indexing, ends, random);
        CheckConverse(asked, entry.indexing, SetOf(answers[!forward][exact], entry), ends, random);
        if (exact) {
          CheckExact(asked, entry.indexing, SetOf(answers[forward][false], entry), ends, random);
        }
      }
    }
  }
}

}  // namespace xla_indexing::fuzz
