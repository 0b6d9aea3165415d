// Whatever a map says, the library's answers about it are true.
//
// An input is one or more lines of map text; the first two maps are looked at. The answers, normal
// form, composition, decisions, inverse, counts, boxes, projections, are compared with what the
// maps say point by point in mathematical integers (exact_map.h): at all points where these are
// few, at some of them otherwise. An answer that contradicts a point aborts, with both.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
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
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/fuzz/exact_map.h"
#include "tests/fuzz/text_mutator.h"
#include "tests/map/random_map.h"
#include "xla_indexing/affine/rule_trace.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/map/bijection.h"
#include "xla_indexing/map/count_image.h"
#include "xla_indexing/map/decide.h"
#include "xla_indexing/map/decision.h"
#include "xla_indexing/map/domain.h"
#include "xla_indexing/map/image.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/internal/count_points.h"
#include "xla_indexing/map/internal/project.h"
#include "xla_indexing/map/inverse.h"
#include "xla_indexing/map/text.h"

namespace xla_indexing::fuzz {
namespace {

using internal::CountPoints;
using internal::Int128;
using internal::KnownVariables;
using internal::NarrowToInt64;
using internal::Projected;
using internal::Projection;
using internal::ProjectOntoResults;

constexpr int64_t kSteps = 1 << 12;  // of each question
constexpr size_t kMaxPoints = 2048;  // that are taken one by one
constexpr size_t kSamples = 48;

std::string TextOf(const IndexingMap& map) { return map.ToString(); }

template <typename T>
bool IsOk(const absl::StatusOr<T>& answer) {
  if (answer.ok()) return true;
  if (answer.status().message().empty()) Contradiction("an error has a message", "");
  return false;
}

// A map with points that are looked at.
struct Subject {
  explicit Subject(IndexingMap subject, Random& random)
      : map(std::move(subject)), all(AllPoints(map, kMaxPoints)) {
    if (all) points = *all;
    for (const Point& point : SomePoints(map, kSamples, random)) {
      candidates.push_back(point);
      if (!all && IsInDomain(map, point) == true) points.push_back(point);
    }
    std::sort(points.begin(), points.end());
    points.erase(std::unique(points.begin(), points.end()), points.end());
  }

  Point DimsOf(const Point& point) const { return {point.begin(), point.begin() + map.num_dims()}; }
  Point RuntimesOf(const Point& point) const {
    return {point.end() - map.num_runtimes(), point.end()};
  }

  IndexingMap map;
  std::optional<std::vector<Point>> all;  // of the domain, where they are few
  std::vector<Point> points;              // of the domain, all or some
  std::vector<Point> candidates;          // in the domain or near it
};

Point Concat(std::initializer_list<llvm::ArrayRef<int64_t>> parts) {
  Point all;
  for (const llvm::ArrayRef<int64_t> part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

// --- One map ---

void CheckText(const IndexingMap& map, mlir::MLIRContext* context) {
  const std::string text = map.ToString();
  const absl::StatusOr<IndexingMap> again = ParseIndexingMap(text, context);
  if (!again.ok()) Contradiction("printed text is read", text, again.status().message());
  if (!(*again == map)) Contradiction("printed text is the map", text, again->ToString());
}

// Checks that both have the same results at the same points.
void CheckSameFunction(absl::string_view law, const Subject& subject, const IndexingMap& other,
                       Random& random) {
  const IndexingMap& map = subject.map;
  const auto check = [&](const Point& point) {
    const std::optional<bool> is_in = IsInDomain(map, point);
    const std::optional<bool> is_in_other = IsInDomain(other, point);
    if (!is_in || !is_in_other) return;
    if (*is_in != *is_in_other) {
      Contradiction(absl::StrCat(law, ": the domain at ", PointText(point)), TextOf(map),
                    TextOf(other));
    }
    if (*is_in && HaveEqualResults(map, other, point) == false) {
      Contradiction(absl::StrCat(law, ": the results at ", PointText(point)), TextOf(map),
                    TextOf(other));
    }
  };
  for (const Point& point : subject.points) check(point);
  for (const Point& point : subject.candidates) check(point);
  for (const Point& point : SomePoints(other, kSamples / 4, random)) check(point);
}

// Whether it has few variables and all its numbers, but for ends that are infinite, are below 2^31:
// near the ends of int64 the forms of an expression are not all at hand.
bool HasSmallNumbers(const IndexingMap& map) {
  if (map.num_dims() + map.num_symbols() > 8) return false;
  const auto is_small = [](int64_t value) {
    return value > -(int64_t{1} << 31) && value < int64_t{1} << 31;
  };
  const auto has_small_ends = [&](const Interval& interval) {
    return interval.IsEmpty() || ((!interval.has_lower() || is_small(interval.lower())) &&
                                  (!interval.has_upper() || is_small(interval.upper())));
  };
  const auto has_small_constants = [&](mlir::AffineExpr expr) {
    bool small = true;
    expr.walk([&](mlir::AffineExpr part) {
      const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(part);
      small &= !constant || is_small(constant.getValue());
    });
    return small;
  };
  return llvm::all_of(BoundsOf(map), has_small_ends) &&
         llvm::all_of(map.results(), has_small_constants) &&
         llvm::all_of(map.constraints(), [&](const Constraint& constraint) {
           return has_small_ends(constraint.interval) && has_small_constants(constraint.expr);
         });
}

IndexingMap CheckSimplify(const Subject& subject, Random& random, mlir::MLIRContext* context) {
  IndexingMap simplified = subject.map;
  simplified.Simplify({.keep_variables = true});
  if (const absl::Status status = simplified.Verify(); !status.ok()) {
    Contradiction("a simplified map verifies", TextOf(subject.map), status.message());
  }
  CheckText(simplified, context);
  CheckSameFunction("simplified", subject, simplified, random);
  IndexingMap twice = simplified;
  twice.Simplify({.keep_variables = true});
  CheckSameFunction("simplified twice", subject, twice, random);
  if (HasSmallNumbers(subject.map) && HasSmallNumbers(simplified) && !(twice == simplified)) {
    Contradiction("what was simplified stays as it is",
                  absl::StrCat(TextOf(subject.map), "\n", TextOf(simplified)), TextOf(twice));
  }
  IndexingMap explained = subject.map;
  RuleTrace trace;
  explained.Simplify({.keep_variables = true, .trace = &trace});
  CheckSameFunction("simplified with a trace", subject, explained, random);
  return simplified;
}

// For each (d, rt) the results for some s; of a map whose points are all known.
using PairsOfMap = std::map<std::pair<Point, Point>, std::set<Point>>;

std::optional<PairsOfMap> PairsOf(const Subject& subject) {
  if (!subject.all) return std::nullopt;
  PairsOfMap pairs;
  for (const Point& point : *subject.all) {
    const std::optional<Point> results = ResultsAt(subject.map, point);
    if (!results) return std::nullopt;
    pairs[{subject.DimsOf(point), subject.RuntimesOf(point)}].insert(*results);
  }
  return pairs;
}

// Checks that both have the same sets of results for the same (d, rt).
void CheckSameRelation(absl::string_view law, const Subject& subject, const IndexingMap& other,
                       Random& random) {
  if (!subject.all) return;
  const Subject other_subject(other, random);
  const std::optional<PairsOfMap> pairs = PairsOf(subject);
  const std::optional<PairsOfMap> others = PairsOf(other_subject);
  if (pairs && others && *pairs != *others) Contradiction(law, TextOf(subject.map), TextOf(other));
}

void CheckRewriting(const Subject& subject, Random& random) {
  IndexingMap used = subject.map;
  used.RemoveUnusedSymbols();
  if (used.num_runtimes() == subject.map.num_runtimes()) {
    CheckSameRelation("without unused symbols", subject, used, random);
  }
  CheckSameFunction("range variables as dimensions", subject,
                    subject.map.ConvertRangeVariablesToDimensions(), random);
  IndexingMap fewer = subject.map;
  StepBudget budget(kSteps);
  DropImpliedConstraints(&fewer, &budget);
  CheckSameFunction("without implied constraints", subject, fewer, random);
  // Range variables are eliminated, joined and renumbered.
  IndexingMap relation = subject.map;
  relation.Simplify();
  CheckSameRelation("simplified as a relation", subject, relation, random);
}

void CheckEvaluation(const Subject& subject) {
  const IndexingMap& map = subject.map;
  const auto check = [&](const Point& point) {
    const llvm::ArrayRef<int64_t> values = point;
    const llvm::ArrayRef<int64_t> dims = values.take_front(map.num_dims());
    const llvm::ArrayRef<int64_t> symbols = values.drop_front(map.num_dims());
    const auto contains = map.Contains(dims, symbols);
    const auto results = map.Evaluate(dims, symbols);
    const std::optional<bool> is_in = IsInDomain(map, point);
    if (contains.ok() && is_in && *contains != *is_in) {
      Contradiction("Contains()", TextOf(map), PointText(point));
    }
    const std::optional<Point> expected = ResultsAt(map, point);
    if (results.ok() && expected && *expected != Point(results->begin(), results->end())) {
      Contradiction("Evaluate()", TextOf(map), PointText(point));
    }
  };
  for (const Point& point : subject.points) check(point);
  for (const Point& point : subject.candidates) check(point);
  if (!subject.all) return;
  std::vector<Point> visited;
  using Numbers = llvm::ArrayRef<int64_t>;
  const auto visit = [&](Numbers dims, Numbers symbols, Numbers) {
    visited.push_back(Concat({dims, symbols}));
  };
  const absl::Status status = map.ForEachPoint(kMaxPoints, visit);
  if (status.ok() && visited != *subject.all) Contradiction("ForEachPoint()", TextOf(map), "");
}

// An answer against one that is known, or only known not to be the opposite.
void CheckAnswer(absl::string_view question, const absl::StatusOr<Decision>& decision,
                 std::optional<bool> truth, const IndexingMap& map, absl::string_view other = "") {
  if (!IsOk(decision) || decision->IsUndecided() || !truth) return;
  if (decision->IsYes() != *truth) {
    Contradiction(absl::StrCat(question, decision->IsYes() ? ": yes" : ": no"), TextOf(map), other);
  }
}

// Whether two points (d, s) have one result for the same rt; none where it is not known.
std::optional<bool> IsInjectiveByPoints(const Subject& subject) {
  std::map<std::pair<Point, Point>, Point> seen;  // (rt, r) -> (d, s)
  for (const Point& point : subject.points) {
    const std::optional<Point> results = ResultsAt(subject.map, point);
    if (!results) return std::nullopt;
    if (!seen.insert({{subject.RuntimesOf(point), *results}, point}).second) return false;
  }
  if (!subject.all) return std::nullopt;
  return true;
}

void CheckDecisions(const Subject& subject, const IndexingMap& simplified) {
  const IndexingMap& map = subject.map;
  std::optional<bool> is_empty;
  if (subject.all) is_empty = subject.all->empty();
  if (!subject.points.empty()) is_empty = false;
  CheckAnswer("empty", IsEmptyDomain(map, kSteps), is_empty, map);
  CheckAnswer("empty, simplified", IsEmptyDomain(simplified, kSteps), is_empty, map);
  CheckAnswer("the same function, simplified", SameFunction(map, simplified, kSteps), true, map);
  CheckAnswer("the same relation, simplified", SameRelation(simplified, map, kSteps), true, map);
  CheckAnswer("injective", IsInjective(map, kSteps), IsInjectiveByPoints(subject), map);
}

// The results of all points; none where they are not all known.
std::optional<std::set<Point>> ImageOf(const Subject& subject) {
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

void CheckImage(const Subject& subject) {
  const IndexingMap& map = subject.map;
  const std::optional<std::set<Point>> image = ImageOf(subject);
  const absl::StatusOr<ImageBox> box = ImageAsBox(map, kSteps);
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
    CheckAnswer("a bijection", IsBijectionOnto(map, sizes, kSteps),
                *is_injective && static_cast<int64_t>(image->size()) == volume, map,
                absl::StrJoin(sizes, ","));
  }
  StepBudget budget(kSteps);
  const Interval count = CountUnionOfImages({map, map}, sizes, &budget);
  if (!IsIn(count, static_cast<Int128>(image->size()))) {
    Contradiction(absl::StrCat("the image twice has ", image->size(), " elements"), TextOf(map),
                  count.ToString());
  }
}

void CheckCounts(const Subject& subject) {
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
  StepBudget budget(kSteps);
  check("points", CountPoints(map, &budget), subject.points.size(),
        subject.all ? std::optional<size_t>(subject.points.size()) : std::nullopt);
  budget = StepBudget(kSteps);
  check("elements", CountImage(map, &budget), results.size(), known(results.size()));
  budget = StepBudget(kSteps);
  check("pairs", CountPairs(map, &budget), pairs.size(), known(pairs.size()));
}

void CheckInverse(const Subject& subject, Random& random, mlir::MLIRContext* context) {
  const IndexingMap& map = subject.map;
  const absl::StatusOr<IndexingMap> inverse = Inverse(map, kSteps);
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
  const Subject inverse_subject(*inverse, random);
  for (const Point& point : inverse_subject.points) {
    const std::optional<Point> dims = ResultsAt(*inverse, point);
    const Point results = inverse_subject.DimsOf(point);
    const auto it = dims ? pairs->find({*dims, inverse_subject.RuntimesOf(point)}) : pairs->end();
    if (it != pairs->end() && it->second.contains(results)) continue;
    Contradiction(absl::StrCat("the inverse has no point ", PointText(point)), TextOf(map),
                  TextOf(*inverse));
  }
}

void CheckProjection(const Subject& subject, KnownVariables known, Random& random) {
  const std::optional<Projected> projected = ProjectOntoResults(subject.map, known);
  if (!projected) return;
  const IndexingMap& map = projected->map;
  if (const absl::Status status = map.Verify(); !status.ok()) {
    Contradiction("the projected map verifies", TextOf(subject.map), status.message());
  }
  if (!projected->projection) return;
  const Projection& projection = *projected->projection;
  const IndexingMap& set = projection.set;
  if (!projection.IsExplicit() || !subject.all) return;
  // The pairs (k, r) of the map itself.
  std::set<Point> truth;
  for (const Point& point : *subject.all) {
    const std::optional<Point> results = ResultsAt(subject.map, point);
    if (!results) return;
    truth.insert(Concat({known.dims ? subject.DimsOf(point) : Point(),
                         known.runtimes ? subject.RuntimesOf(point) : Point(), *results}));
  }
  const auto check = [&](const Point& point) {
    const std::optional<bool> is_in = IsInDomain(set, point);
    if (is_in && *is_in != truth.contains(point)) {
      Contradiction(absl::StrCat("the projection has ", *is_in ? "" : "not ", PointText(point)),
                    TextOf(subject.map), TextOf(set));
    }
  };
  for (const Point& point : truth) check(point);
  const Subject set_subject(set, random);
  for (const Point& point : set_subject.points) check(point);
  for (const Point& point : set_subject.candidates) check(point);
}

void CheckHulls(const Subject& subject) {
  for (int i = 0; i < subject.map.num_results(); ++i) {
    StepBudget budget(kSteps);
    const mlir::AffineExpr result = subject.map.results()[i];
    const Interval hull = HullOver(subject.map, result, Interval::All(), &budget);
    for (const Point& point : subject.points) {
      const std::optional<Int128> value = ValueOf(result, subject.map.num_dims(), point);
      if (value && !IsIn(hull, *value)) {
        Contradiction(absl::StrCat("result ", i, " at ", PointText(point), " is in the hull"),
                      TextOf(subject.map), hull.ToString());
      }
    }
  }
}

// --- Two maps ---

// { d -> r : exists m with d -> m in `first` and m -> r in `second` }.
void CheckComposition(const Subject& first, const Subject& second, Random& random,
                      mlir::MLIRContext* context) {
  const IndexingMap& a = first.map;
  const IndexingMap& b = second.map;
  const absl::StatusOr<IndexingMap> composed = ComposeIndexingMaps(a, b);
  if (a.num_results() != b.num_dims()) {
    if (composed.ok()) Contradiction("maps that do not fit are composed", TextOf(a), TextOf(b));
    return;
  }
  if (!IsOk(composed)) return;
  if (const absl::Status status = composed->Verify(); !status.ok()) {
    Contradiction("a composition verifies", TextOf(a), TextOf(b));
  }
  CheckText(*composed, context);
  IndexingMap simplified = *composed;
  simplified.Simplify({.keep_variables = true});
  const auto check = [&](const Point& point) {
    llvm::ArrayRef<int64_t> rest = point;
    const auto take = [&](int count) {
      const llvm::ArrayRef<int64_t> part = rest.take_front(count);
      rest = rest.drop_front(count);
      return part;
    };
    const auto dims = take(a.num_dims());
    const auto b_ranges = take(b.num_ranges());
    const auto a_ranges = take(a.num_ranges());
    const auto b_runtimes = take(b.num_runtimes());
    const auto a_runtimes = take(a.num_runtimes());
    const Point from = Concat({dims, a_ranges, a_runtimes});
    const std::optional<Point> between = ResultsAt(a, from);
    const std::optional<bool> is_in_a = IsInDomain(a, from);
    if (!between || !is_in_a) return;
    const Point on = Concat({*between, b_ranges, b_runtimes});
    const std::optional<bool> is_in_b = IsInDomain(b, on);
    const std::optional<bool> is_in = IsInDomain(*composed, point);
    if (!is_in_b || !is_in) return;
    const auto fail = [&](absl::string_view what) {
      Contradiction(absl::StrCat(what, " of the composition at ", PointText(point)),
                    absl::StrCat(TextOf(a), "\n", TextOf(b)),
                    absl::StrCat(TextOf(*composed), "\n", TextOf(simplified)));
    };
    if (*is_in != (*is_in_a && *is_in_b)) fail("the domain");
    const std::optional<bool> is_in_simplified = IsInDomain(simplified, point);
    if (is_in_simplified && *is_in_simplified != *is_in) fail("the simplified domain");
    if (!*is_in) return;
    const std::optional<Point> results = ResultsAt(*composed, point);
    const std::optional<Point> expected = ResultsAt(b, on);
    if (results && expected && *results != *expected) fail("the results");
    if (HaveEqualResults(*composed, simplified, point) == false) fail("the simplified results");
  };
  for (const Point& point : SomePoints(*composed, kSamples, random)) check(point);
  // Points that both maps have.
  for (size_t i = 0; i < kSamples && !first.points.empty() && !second.points.empty(); ++i) {
    const llvm::ArrayRef<int64_t> from = first.points[random() % first.points.size()];
    const llvm::ArrayRef<int64_t> on = second.points[random() % second.points.size()];
    check(Concat({from.take_front(a.num_dims()), on.slice(b.num_dims(), b.num_ranges()),
                  from.slice(a.num_dims(), a.num_ranges()), on.take_back(b.num_runtimes()),
                  from.take_back(a.num_runtimes())}));
  }
}

void CheckPair(const Subject& a, const Subject& b) {
  const bool same_kind = a.map.num_dims() == b.map.num_dims() &&
                         a.map.num_results() == b.map.num_results() &&
                         a.map.num_runtimes() == b.map.num_runtimes();
  const absl::StatusOr<Decision> relation = SameRelation(a.map, b.map, kSteps);
  const absl::StatusOr<Decision> part = IsSubrelation(a.map, b.map, kSteps);
  const absl::StatusOr<Decision> function = SameFunction(a.map, b.map, kSteps);
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
  for (const Subject* subject : {&a, &b}) {
    for (const Point& point : subject->points) look(point);
    for (const Point& point : subject->candidates) look(point);
  }
  if (is_different || is_known) {
    CheckAnswer("the same function", function, !is_different, a.map, other);
  }
}

void CheckInput(absl::string_view text) {
  // Uniqued expressions are never freed: a context for each input.
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Random random(text.size());
  std::vector<Subject> subjects;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    MapParseError error;
    absl::StatusOr<IndexingMap> map = ParseIndexingMap(line, &context, &error);
    if (!map.ok()) {
      if (error.offset > line.size()) Contradiction("an error is in the text", line);
      continue;
    }
    if (const absl::Status status = map->Verify(); !status.ok()) {
      Contradiction("a map that is read verifies", line, status.message());
    }
    CheckText(*map, &context);
    subjects.emplace_back(*std::move(map), random);
    if (subjects.size() == 2) break;
  }
  for (const Subject& subject : subjects) {
    const IndexingMap simplified = CheckSimplify(subject, random, &context);
    CheckRewriting(subject, random);
    CheckEvaluation(subject);
    CheckDecisions(subject, simplified);
    CheckCounts(subject);
    CheckImage(subject);
    CheckInverse(subject, random, &context);
    for (const bool dims : {false, true}) {
      for (const bool runtimes : {false, true}) {
        CheckProjection(subject, {dims, runtimes}, random);
      }
    }
    CheckHulls(subject);
    if (subject.map.num_results() == subject.map.num_dims()) {
      CheckComposition(subject, subject, random, &context);
    }
  }
  if (subjects.size() == 2) {
    CheckComposition(subjects[0], subjects[1], random, &context);
    CheckPair(subjects[0], subjects[1]);
  }
}

const Vocabulary& Words() {
  static const Vocabulary* const words = new Vocabulary{
      {"floordiv", "mod", "ceildiv", "domain:"},
      {"in"},
      {"floordiv", "mod", "ceildiv", "d0", "d1", "s0", "s1", "rt0", "inf", "+", "*", "-"}};
  return *words;
}

}  // namespace
}  // namespace xla_indexing::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  // Some inputs begin as random maps.
  if (seed % 16 == 0) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    xla_indexing::RandomMaps maps(seed, &context);
    std::string text = maps.Map().ToString();
    if (seed % 32 == 0) text = absl::StrCat(text, "\n", maps.Map().ToString());
    const size_t length = std::min(text.size(), max_size);
    std::copy_n(text.begin(), length, data);
    return length;
  }
  return xla_indexing::fuzz::MutateInPlace(data, size, max_size, seed, xla_indexing::fuzz::Words());
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* a, size_t a_size, const uint8_t* b,
                                            size_t b_size, uint8_t* out, size_t max_size,
                                            unsigned seed) {
  return xla_indexing::fuzz::CrossInPlace(a, a_size, b, b_size, out, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  xla_indexing::fuzz::CheckInput({reinterpret_cast<const char*>(data), size});
  return 0;
}
