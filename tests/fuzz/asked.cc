#include "tests/fuzz/asked.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/ADT/ArrayRef.h"
#include "tests/fuzz/exact_map.h"
#include "tests/fuzz/text_mutator.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::fuzz {
using internal::Int128;
using internal::NarrowToInt64;

Ends EndsOf(const Asked& asked, const IndexingEntry& entry, bool forward) {
  const Shape& output = asked.result->shape().Leaf(entry.output_leaf);
  const Shape& operand = asked.operands()[entry.operand]->shape().Leaf(entry.operand_leaf);
  return forward ? Ends{operand, output} : Ends{output, operand};
}

void Fail(const Asked& asked, absl::string_view law, absl::string_view first,
          absl::string_view second) {
  Contradiction(absl::StrCat(law, "\n", asked.Name()), first, second);
}

bool IsInside(const Shape& array, llvm::ArrayRef<int64_t> element) {
  if (static_cast<int64_t>(element.size()) != array.rank()) return false;
  for (size_t i = 0; i < element.size(); ++i) {
    const auto dim = static_cast<int64_t>(i);
    if (element[i] < 0) return false;
    if (!array.IsUnboundedDimension(dim) && element[i] >= array.dimension(dim)) return false;
  }
  return true;
}

std::vector<Point> SomeElements(const Shape& array, Random& random) {
  std::vector<Interval> box;
  for (const int64_t size : array.dimensions()) {
    box.push_back(size == Shape::kUnboundedSize ? Interval::AtLeast(0) : Interval::OfSize(size));
    if (box.back().IsEmpty()) return {};
  }
  if (const auto all = AllPointsOf(box, kSamples)) return *all;
  std::vector<Point> elements;
  for (size_t i = 0; i < kSamples; ++i) {
    Point element;
    for (const Interval& interval : box) {
      int64_t value = SomeValue(interval, random);
      while (!interval.Contains(value)) value = SomeValue(interval, random);
      element.push_back(value);
    }
    elements.push_back(std::move(element));
  }
  return elements;
}

namespace {

// The most elements that an element is followed to.
constexpr size_t kMaxReads = 64;

// The arbitrary content of an element, always the same.
int64_t ContentOf(const RuntimeVarIndexing& binding, llvm::ArrayRef<int64_t> element) {
  uint64_t hash = 14695981039346656037ULL;
  const auto mix = [&](uint64_t value) { hash = (hash ^ value) * 1099511628211ULL; };
  for (const HloInstruction* caller : binding.call_path) {
    mix(reinterpret_cast<uintptr_t>(caller));
  }
  mix(reinterpret_cast<uintptr_t>(binding.instruction));
  mix(static_cast<uint64_t>(binding.leaf));
  for (const int64_t index : element) mix(static_cast<uint64_t>(index));
  hash ^= hash >> 29;
  const Interval values = ValuesOfElementType(binding.shape().element_type());
  Random random(hash);
  const int64_t value =
      random() % 8 == 0 ? SomeValue(values, random) : static_cast<int64_t>(random() % 24) - 4;
  if (values.has_lower() && value < values.lower()) return values.lower();
  if (values.has_upper() && value > values.upper()) return values.upper();
  return value;
}

}  // namespace

std::optional<Point> ElementOf(const RuntimeVarIndexing& binding, int num_dims,
                               llvm::ArrayRef<int64_t> point) {
  Point element;
  for (const mlir::AffineExpr expr : binding.element) {
    const std::optional<Int128> index = ValueOf(expr, num_dims, point);
    if (!index || !NarrowToInt64(*index)) return std::nullopt;
    element.push_back(static_cast<int64_t>(*index));
  }
  const auto loops = static_cast<std::ptrdiff_t>(binding.NumLoops());
  const Point index(element.begin() + loops, element.end());
  if (binding.device || !IsInside(binding.shape(), index)) return std::nullopt;
  if (std::any_of(element.begin(), element.begin() + loops, [](int64_t k) { return k < 0; })) {
    return std::nullopt;
  }
  return element;
}

std::optional<std::set<Point>> ReadsOf(const OperandIndexing& indexing, const Point& element) {
  const IndexingMap& map = indexing.map();
  if (indexing.IsUnknown() || indexing.replica_map() != nullptr) return std::nullopt;
  std::vector<Interval> ranges;
  for (const Variable& range : map.ranges()) ranges.push_back(range.bounds);
  const std::optional<std::vector<Point>> all = AllPointsOf(ranges, kMaxReads);
  if (!all) return std::nullopt;
  std::set<Point> reads;
  for (const Point& range_values : *all) {
    Point point = element;
    point.insert(point.end(), range_values.begin(), range_values.end());
    const size_t known = point.size();
    point.resize(known + map.num_runtimes(), 0);
    bool is_read = true;
    for (int i = 0; is_read && i < map.num_runtimes(); ++i) {
      const RuntimeVarIndexing& binding = indexing.bindings()[i];
      if (binding.device) return std::nullopt;
      const std::optional<Point> read = ElementOf(binding, map.num_dims(), point);
      is_read = read.has_value();
      if (is_read) point[known + i] = binding.value.Apply(ContentOf(binding, *read));
    }
    if (!is_read) continue;
    const std::optional<bool> is_in = IsInDomain(map, point);
    if (!is_in) return std::nullopt;
    if (!*is_in) continue;
    const std::optional<Point> results = ResultsAt(map, point);
    if (!results) return std::nullopt;
    reads.insert(*results);
  }
  return reads;
}

std::optional<std::set<Point>> ReadsOf(const OperandIndexingSet& maps, const Point& element) {
  std::set<Point> reads;
  for (const OperandIndexing& map : maps) {
    const std::optional<std::set<Point>> more = ReadsOf(map, element);
    if (!more || reads.size() > kMaxReads) return std::nullopt;
    reads.insert(more->begin(), more->end());
  }
  return reads;
}

bool ReadsParametersOnly(const OperandIndexingSet& maps) {
  for (const OperandIndexing& map : maps) {
    for (const RuntimeVarIndexing& binding : map.bindings()) {
      if (binding.instruction->opcode() != HloOpcode::kParameter || !binding.call_path.empty()) {
        return false;
      }
    }
  }
  return true;
}

std::string TextOf(const OperandIndexingSet& maps) {
  std::string text = maps.empty() ? "(nothing)" : "";
  for (const OperandIndexing& map : maps) absl::StrAppend(&text, map.ToString(), "\n");
  return text;
}

}  // namespace xla_indexing::fuzz
