// Whatever a map says, the library's answers about it are true.
//
// An input is one or more lines of map text; the first two maps are looked at. The answers, normal
// form, composition, decisions, inverse, counts, boxes, projections, are compared with what the
// maps say point by point in mathematical integers (exact_map.h): at all points where these are
// few, at some of them otherwise. An answer that contradicts a point aborts, with both.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/fuzz/check_map_answers.h"
#include "tests/fuzz/exact_map.h"
#include "tests/fuzz/sampled_map.h"
#include "tests/fuzz/text_mutator.h"
#include "tests/map/random_map.h"
#include "tests/testing/random.h"
#include "xla_indexing/affine/rule_trace.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decide.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/map/sets/project.h"
#include "xla_indexing/map/text/text.h"

namespace xla_indexing::fuzz {
namespace {

using internal::Int128;
using internal::KnownVariables;
using internal::Projected;
using internal::Projection;
using internal::ProjectOntoResults;

// Checks that both have the same results at the same points.
void CheckSameFunction(absl::string_view law, const SampledMap& subject, const IndexingMap& other,
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
  for (const Point& point : SomePoints(other, kSampledPoints / 4, random)) check(point);
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

IndexingMap CheckSimplify(const SampledMap& subject, Random& random, mlir::MLIRContext* context) {
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

// Checks that both have the same sets of results for the same (d, rt).
void CheckSameRelation(absl::string_view law, const SampledMap& subject, const IndexingMap& other,
                       Random& random) {
  if (!subject.all) return;
  const SampledMap other_subject(other, random);
  const std::optional<PairsOfMap> pairs = PairsOf(subject);
  const std::optional<PairsOfMap> others = PairsOf(other_subject);
  if (pairs && others && *pairs != *others) Contradiction(law, TextOf(subject.map), TextOf(other));
}

void CheckRewriting(const SampledMap& subject, Random& random) {
  IndexingMap used = subject.map;
  used.RemoveUnusedSymbols();
  if (used.num_runtimes() == subject.map.num_runtimes()) {
    CheckSameRelation("without unused symbols", subject, used, random);
  }
  CheckSameFunction("range variables as dimensions", subject,
                    subject.map.ConvertRangeVariablesToDimensions(), random);
  IndexingMap fewer = subject.map;
  StepBudget budget(kStepsOfQuestion);
  DropImpliedConstraints(&fewer, &budget);
  CheckSameFunction("without implied constraints", subject, fewer, random);
  // Range variables are eliminated, joined and renumbered.
  IndexingMap relation = subject.map;
  relation.Simplify();
  CheckSameRelation("simplified as a relation", subject, relation, random);
}

void CheckEvaluation(const SampledMap& subject) {
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
  const absl::Status status = map.ForEachPoint(kMostPoints, visit);
  if (status.ok() && visited != *subject.all) Contradiction("ForEachPoint()", TextOf(map), "");
}

void CheckProjection(const SampledMap& subject, KnownVariables known, Random& random) {
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
  const SampledMap set_subject(set, random);
  for (const Point& point : set_subject.points) check(point);
  for (const Point& point : set_subject.candidates) check(point);
}

void CheckHulls(const SampledMap& subject) {
  for (int i = 0; i < subject.map.num_results(); ++i) {
    StepBudget budget(kStepsOfQuestion);
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

// { d -> r : exists m with d -> m in `first` and m -> r in `second` }.
void CheckComposition(const SampledMap& first, const SampledMap& second, Random& random,
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
  for (const Point& point : SomePoints(*composed, kSampledPoints, random)) check(point);
  // Points that both maps have.
  for (size_t i = 0; i < kSampledPoints && !first.points.empty() && !second.points.empty(); ++i) {
    const llvm::ArrayRef<int64_t> from = first.points[random() % first.points.size()];
    const llvm::ArrayRef<int64_t> on = second.points[random() % second.points.size()];
    check(Concat({from.take_front(a.num_dims()), on.slice(b.num_dims(), b.num_ranges()),
                  from.slice(a.num_dims(), a.num_ranges()), on.take_back(b.num_runtimes()),
                  from.take_back(a.num_runtimes())}));
  }
}

void CheckInput(absl::string_view text) {
  // Uniqued expressions are never freed: a context for each input.
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Random random(text.size());
  std::vector<SampledMap> subjects;
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
  for (const SampledMap& subject : subjects) {
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
