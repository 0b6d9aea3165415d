#include "tests/fuzz/sampled_map.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/fuzz/exact_map.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing::fuzz {

Point Concat(std::initializer_list<llvm::ArrayRef<int64_t>> parts) {
  Point all;
  for (const llvm::ArrayRef<int64_t> part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

void CheckText(const IndexingMap& map, mlir::MLIRContext* context) {
  const std::string text = map.ToString();
  const absl::StatusOr<IndexingMap> again = ParseIndexingMap(text, context);
  if (!again.ok()) Contradiction("printed text is read", text, again.status().message());
  if (!(*again == map)) Contradiction("printed text is the map", text, again->ToString());
}

std::optional<PairsOfMap> PairsOf(const SampledMap& subject) {
  if (!subject.all) return std::nullopt;
  PairsOfMap pairs;
  for (const Point& point : *subject.all) {
    const std::optional<Point> results = ResultsAt(subject.map, point);
    if (!results) return std::nullopt;
    pairs[{subject.DimsOf(point), subject.RuntimesOf(point)}].insert(*results);
  }
  return pairs;
}

void CheckAnswer(absl::string_view question, const absl::StatusOr<Decision>& decision,
                 std::optional<bool> truth, const IndexingMap& map, absl::string_view other) {
  if (!IsOk(decision) || decision->IsUndecided() || !truth) return;
  if (decision->IsYes() != *truth) {
    Contradiction(absl::StrCat(question, decision->IsYes() ? ": yes" : ": no"), TextOf(map), other);
  }
}

}  // namespace xla_indexing::fuzz
