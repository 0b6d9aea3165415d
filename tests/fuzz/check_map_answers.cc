#include "tests/fuzz/check_map_answers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/fuzz/exact_map.h"
#include "tests/fuzz/sampled_map.h"
#include "tests/testing/random.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/count/count_image.h"
#include "xla_indexing/map/count/count_points.h"
#include "xla_indexing/map/count/image.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/bijection.h"
#include "xla_indexing/map/sets/decide.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/map/sets/inverse.h"

namespace xla_indexing::fuzz {
namespace {

using internal::CountPoints;
using internal::Int128;
using internal::NarrowToInt64;

// Whether two points (d, s) have one result for the same rt; none where it is not known.
std::optional<bool> IsInjectiveByPoints(const SampledMap& subject) {
  std::map<std::pair<Point, Point>, Point> seen;  // (rt, r) -> (d, s)
  for (const Point& point : subject.points) {
    const std::optional<Point> results = ResultsAt(subject.map, point);
    if (!results) return std::nullopt;
    if (!seen.insert({{subject.RuntimesOf(point), *results}, point}).second) return false;
  }
  if (!subject.all) return std::nullopt;
  return true;
}

// The results of all points; none where they are not all known.
std::optional<std::set<Point>> ImageOf(const SampledMap& subject) {
  if (!subject.all) return std::nullopt;
  std::set<Point> image;
  for (const Point& point : *subject.all) {
    const std::optional<Point> results = ResultsAt(subject.map, point);
    if (!results) return std::nullopt;
    image.insert(*results);
  }
  return image;
}

// The box that an image is; none where it is none.
std::optional<std::vector<StridedRange>> BoxOf(const std::set<Point>& image, int num_results) {
  std::vector<StridedRange> box;
  Int128 count = 1;
  for (int i = 0; i < num_results; ++i) {
    std::set<int64_t> values;
    for (const Point& point : image) values.insert(point[i]);
    StridedRange range{0, static_cast<int64_t>(values.size()), 1};
    if (!values.empty()) range.offset = *values.begin();
    if (values.size() > 1) {
      const Int128 stride = Int128{*std::next(values.begin())} - *values.begin();
      Int128 next = range.offset;
      for (const int64_t value : values) {
        if (value != next) return std::nullopt;
        next += stride;
      }
      if (!NarrowToInt64(stride)) return std::nullopt;
      range.stride = static_cast<int64_t>(stride);
    }
    count *= range.count;
    if (count > static_cast<Int128>(image.size())) return std::nullopt;
    box.push_back(range);
  }
  if (num_results > 0 && count != static_cast<Int128>(image.size())) return std::nullopt;
  return box;
}

std::string BoxText(llvm::ArrayRef<StridedRange> box) {
  return absl::StrJoin(box, " x ", [](std::string* out, const StridedRange& range) {
    absl::StrAppend(out, "{", range.offset, " + ", range.stride, "i : i < ", range.count, "}");
  });
}

}  // namespace

void CheckDecisions(const SampledMap& subject, const IndexingMap& simplified) {
  const IndexingMap& map = subject.map;
  std::optional<bool> is_empty;
  if (subject.all) is_empty = subject.all->empty();
  if (!subject.points.empty()) is_empty = false;
  CheckAnswer("empty", IsEmptyDomain(map, kStepsOfQuestion), is_empty, map);
  CheckAnswer("empty, simplified", IsEmptyDomain(simplified, kStepsOfQuestion), is_empty, map);
  CheckAnswer("the same function, simplified", SameFunction(map, simplified, kStepsOfQuestion),
              true, map);
  CheckAnswer("the same relation, simplified", SameRelation(simplified, map, kStepsOfQuestion),
              true, map);
  CheckAnswer("injective", IsInjective(map, kStepsOfQuestion), IsInjectiveByPoints(subject), map);
}

void CheckImage(const SampledMap& subject) {
  const IndexingMap& map = subject.map;
  const std::optional<std::set<Point>> image = ImageOf(subject);
  const absl::StatusOr<ImageBox> box = ImageAsBox(map, kStepsOfQuestion);
  if (IsOk(box) && image && map.num_results() > 0) {
    const auto expected = BoxOf(*image, map.num_results());
    CheckAnswer("the image is a box", box->is_box, expected.has_value(), map, BoxText(box->ranges));
    if (expected && box->is_box.IsYes() &&
        !std::equal(expected->begin(), expected->end(), box->ranges.begin(), box->ranges.end())) {
      Contradiction("the image as a box", TextOf(map),
                    absl::StrCat(BoxText(box->ranges), " and not ", BoxText(*expected)));
    }
  }
  if (box.ok() && box->is_box.IsYes()) {
    for (const Point& point : subject.points) {
      const std::optional<Point> results = ResultsAt(map, point);
      for (int i = 0; results && i < map.num_results(); ++i) {
        const StridedRange& range = box->ranges[i];
        const Int128 distance = Int128{(*results)[i]} - range.offset;
        if (range.count < 1 || distance < 0 || distance % range.stride != 0 ||
            distance / range.stride >= range.count) {
          Contradiction(absl::StrCat("the box has ", PointText(*results)), TextOf(map),
                        BoxText(box->ranges));
        }
      }
    }
  }
  if (!image) return;
  // Whether it is one-to-one onto the least box from 0 that has the image.
  llvm::SmallVector<int64_t, 4> sizes(map.num_results(), 0);
  bool fits = true;
  for (const Point& point : *image) {
    for (size_t i = 0; i < point.size(); ++i) {
      fits &= point[i] >= 0 && point[i] < 1000;
      if (fits) sizes[i] = std::max(sizes[i], point[i] + 1);
    }
  }
  if (!fits) return;
  int64_t volume = 1;
  for (const int64_t size : sizes) volume = std::min<int64_t>(volume * size, 1 << 20);
  const std::optional<bool> is_injective = IsInjectiveByPoints(subject);
  if (map.num_runtimes() == 0 && is_injective) {
    CheckAnswer("a bijection", IsBijectionOnto(map, sizes, kStepsOfQuestion),
                *is_injective && static_cast<int64_t>(image->size()) == volume, map,
                absl::StrJoin(sizes, ","));
  }
  StepBudget budget(kStepsOfQuestion);
  const Interval count = CountUnionOfImages({map, map}, sizes, &budget);
  if (!IsIn(count, static_cast<Int128>(image->size()))) {
    Contradiction(absl::StrCat("the image twice has ", image->size(), " elements"), TextOf(map),
                  count.ToString());
  }
}

void CheckCounts(const SampledMap& subject) {
  const IndexingMap& map = subject.map;
  const auto check = [&](absl::string_view what, const Interval& count, size_t least,
                         std::optional<size_t> exact) {
    if (exact ? IsIn(count, static_cast<Int128>(*exact))
              : !count.IsEmpty() &&
                    (!count.has_upper() || count.upper() >= static_cast<int64_t>(least))) {
      return;
    }
    Contradiction(absl::StrCat("there are ", exact.value_or(least), " ", what), TextOf(map),
                  count.ToString());
  };
  std::set<Point> results;
  std::set<std::pair<Point, Point>> pairs;
  for (const Point& point : subject.points) {
    const std::optional<Point> result = ResultsAt(map, point);
    if (!result) continue;
    results.insert(*result);
    pairs.insert({subject.DimsOf(point), *result});
  }
  const bool all = subject.all && ImageOf(subject);
  const auto known = [&](size_t count) {
    return all ? std::optional<size_t>(count) : std::nullopt;
  };
  StepBudget budget(kStepsOfQuestion);
  check("points", CountPoints(map, &budget), subject.points.size(),
        subject.all ? std::optional<size_t>(subject.points.size()) : std::nullopt);
  budget = StepBudget(kStepsOfQuestion);
  check("elements", CountImage(map, &budget), results.size(), known(results.size()));
  budget = StepBudget(kStepsOfQuestion);
  check("pairs", CountPairs(map, &budget), pairs.size(), known(pairs.size()));
}

void CheckInverse(const SampledMap& subject, Random& random, mlir::MLIRContext* context) {
  const IndexingMap& map = subject.map;
  const absl::StatusOr<IndexingMap> inverse = Inverse(map, kStepsOfQuestion);
  if (!IsOk(inverse)) {
    const std::optional<PairsOfMap> pairs = PairsOf(subject);
    if (!absl::IsFailedPrecondition(inverse.status()) || !pairs) return;
    std::map<std::pair<Point, Point>, Point> dims_of;  // (rt, r) -> d
    for (const auto& [key, results] : *pairs) {
      for (const Point& result : results) {
        const auto [it, is_new] = dims_of.insert({{key.second, result}, key.first});
        if (!is_new && it->second != key.first) return;
      }
    }
    Contradiction("two points have one result", TextOf(map), inverse.status().message());
  }
  if (const absl::Status status = inverse->Verify(); !status.ok()) {
    Contradiction("an inverse verifies", TextOf(map), status.message());
  }
  CheckText(*inverse, context);
  for (const Point& point : subject.points) {
    const std::optional<Point> results = ResultsAt(map, point);
    if (!results) continue;
    const Point there = Concat({*results, subject.RuntimesOf(point)});
    const std::optional<bool> is_in = IsInDomain(*inverse, there);
    const std::optional<Point> back = ResultsAt(*inverse, there);
    if (is_in == false || (back && *back != subject.DimsOf(point))) {
      Contradiction(absl::StrCat("the inverse at ", PointText(there), " is ",
                                 PointText(subject.DimsOf(point))),
                    TextOf(map), TextOf(*inverse));
    }
  }
  const std::optional<PairsOfMap> pairs = PairsOf(subject);
  if (!pairs) return;
  const SampledMap inverse_subject(*inverse, random);
  for (const Point& point : inverse_subject.points) {
    const std::optional<Point> dims = ResultsAt(*inverse, point);
    const Point results = inverse_subject.DimsOf(point);
    const auto it = dims ? pairs->find({*dims, inverse_subject.RuntimesOf(point)}) : pairs->end();
    if (it != pairs->end() && it->second.contains(results)) continue;
    Contradiction(absl::StrCat("the inverse has no point ", PointText(point)), TextOf(map),
                  TextOf(*inverse));
  }
}

void CheckPair(const SampledMap& a, const SampledMap& b) {
  const bool same_kind = a.map.num_dims() == b.map.num_dims() &&
                         a.map.num_results() == b.map.num_results() &&
                         a.map.num_runtimes() == b.map.num_runtimes();
  const absl::StatusOr<Decision> relation = SameRelation(a.map, b.map, kStepsOfQuestion);
  const absl::StatusOr<Decision> part = IsSubrelation(a.map, b.map, kStepsOfQuestion);
  const absl::StatusOr<Decision> function = SameFunction(a.map, b.map, kStepsOfQuestion);
  if (relation.ok() != same_kind || part.ok() != same_kind ||
      function.ok() != (same_kind && a.map.num_ranges() == b.map.num_ranges())) {
    Contradiction("maps that can be compared", TextOf(a.map), TextOf(b.map));
  }
  if (!same_kind) return;
  const std::string other = TextOf(b.map);
  const std::optional<PairsOfMap> pairs = PairsOf(a);
  const std::optional<PairsOfMap> others = PairsOf(b);
  if (pairs && others) {
    CheckAnswer("the same relation", relation, *pairs == *others, a.map, other);
    bool is_part = true;
    for (const auto& [key, results] : *pairs) {
      const auto it = others->find(key);
      is_part &= it != others->end() && std::includes(it->second.begin(), it->second.end(),
                                                      results.begin(), results.end());
    }
    CheckAnswer("a part of the relation", part, is_part, a.map, other);
  }
  if (!function.ok() || function->IsUndecided()) return;
  bool is_different = false;
  bool is_known = a.all && b.all;
  const auto look = [&](const Point& point) {
    const std::optional<bool> is_in = IsInDomain(a.map, point);
    const std::optional<bool> is_in_other = IsInDomain(b.map, point);
    if (!is_in || !is_in_other) {
      is_known = false;
    } else if (*is_in != *is_in_other) {
      is_different = true;
    } else if (*is_in) {
      const std::optional<bool> equal = HaveEqualResults(a.map, b.map, point);
      is_known &= equal.has_value();
      is_different |= equal == false;
    }
  };
  for (const SampledMap* subject : {&a, &b}) {
    for (const Point& point : subject->points) look(point);
    for (const Point& point : subject->candidates) look(point);
  }
  if (is_different || is_known) {
    CheckAnswer("the same function", function, !is_different, a.map, other);
  }
}

}  // namespace xla_indexing::fuzz
