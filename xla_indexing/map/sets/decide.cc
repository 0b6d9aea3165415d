#include "xla_indexing/map/sets/decide.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/map/sets/points.h"
#include "xla_indexing/map/sets/project.h"

namespace xla_indexing {
namespace {

using internal::Enumerate;
using internal::Joined;
using internal::Point;
using internal::Points;
using internal::Projected;
using internal::ProjectOntoResults;
using internal::Substitute;
using ::mlir::AffineExpr;

constexpr int kSamples = 24;

absl::Status CheckNumbers(const IndexingMap& a, const IndexingMap& b) {
  for (const IndexingMap* map : {&a, &b}) {
    if (absl::Status status = map->Verify(); !status.ok()) return status;
  }
  if (a.context() != b.context()) {
    return absl::InvalidArgumentError(
        absl::StrCat("maps of two MLIRContexts: ", a.ToString(), " and ", b.ToString()));
  }
  if (a.num_dims() == b.num_dims() && a.num_results() == b.num_results() &&
      a.num_runtimes() == b.num_runtimes()) {
    return absl::OkStatus();
  }
  const auto numbers = [](const IndexingMap& map) {
    return absl::StrCat(map.num_dims(), " dimensions, ", map.num_results(), " results and ",
                        map.num_runtimes(), " runtime variables");
  };
  return absl::InvalidArgumentError(
      absl::StrCat("a map of ", numbers(a), " and one of ", numbers(b)));
}

// --- Functions

// Whether one point tells two functions apart; kUndecided where a number does not fit.
Answer DifferAt(const IndexingMap& a, const IndexingMap& b, llvm::ArrayRef<int64_t> dims,
                llvm::ArrayRef<int64_t> symbols) {
  const absl::StatusOr<bool> in_a = a.Contains(dims, symbols);
  const absl::StatusOr<bool> in_b = b.Contains(dims, symbols);
  if (!in_a.ok() || !in_b.ok()) return Answer::kUndecided;
  if (*in_a != *in_b) return Answer::kYes;
  if (!*in_a) return Answer::kNo;
  const auto a_results = a.Evaluate(dims, symbols);
  const auto b_results = b.Evaluate(dims, symbols);
  if (!a_results.ok() || !b_results.ok()) return Answer::kUndecided;
  return AnswerOf(*a_results != *b_results);
}

bool SamplesDiffer(const IndexingMap& a, const IndexingMap& b, StepBudget* budget) {
  for (const IndexingMap* map : {&a, &b}) {
    for (const auto& point : SamplePoints(*map, kSamples)) {
      if (!budget->Take(1)) return false;
      const llvm::ArrayRef<int64_t> all = point;
      if (DifferAt(a, b, all.take_front(a.num_dims()), all.drop_front(a.num_dims())) ==
          Answer::kYes) {
        return true;
      }
    }
  }
  return false;
}

// The graph of a function: every (d, s, rt, r).
std::optional<Points> GraphOf(const IndexingMap& map, StepBudget* budget) {
  return Enumerate(map, budget, [](auto... lists) { return Joined(lists...); });
}

Answer SameSimplified(const IndexingMap& a, const IndexingMap& b, StepBudget* budget) {
  if (a == b) return Answer::kYes;
  if (SamplesDiffer(a, b, budget)) return Answer::kNo;
  const Answer there = DomainWithin(a, b, budget);
  const Answer back = DomainWithin(b, a, budget);
  const Answer same = And(And(there, back), SameResultsOn(a, b, budget));
  if (same != Answer::kUndecided) return same;
  const std::optional<Points> a_graph = GraphOf(a, budget);
  if (!a_graph) return Answer::kUndecided;
  const std::optional<Points> b_graph = GraphOf(b, budget);
  if (!b_graph) return Answer::kUndecided;
  return AnswerOf(a_graph->set == b_graph->set);
}

// --- Relations

// Over the dimensions (d, rt), with the projection onto (d, rt, r).
std::optional<Projected> RelationOf(const IndexingMap& map) {
  return ProjectOntoResults(map, {.dims = true, .runtimes = true});
}

// Whether all pairs of `a` are in the set of `b`: at every point of `a`, with its results for the
// dimensions that stand for results.
Answer WithinExplicit(const IndexingMap& a, const IndexingMap& b_set, StepBudget* budget) {
  llvm::SmallVector<AffineExpr, 8> replacements(a.num_dims());
  replacements.append(a.results().begin(), a.results().end());
  Constraints constraints;
  for (auto [result, dim] : llvm::zip_equal(a.results(), b_set.dims().drop_front(a.num_dims()))) {
    constraints.push_back({result, dim.bounds});
  }
  for (const Constraint& constraint : b_set.constraints()) {
    constraints.push_back({Substitute(constraint.expr, replacements, {}), constraint.interval});
    if (!constraints.back().expr) return Answer::kUndecided;
  }
  Variables dims(b_set.dims().take_front(a.num_dims()));
  const mlir::AffineMap no_results =
      mlir::AffineMap::get(a.num_dims(), a.num_ranges(), a.context());
  const IndexingMap pulled_back(kPartsFit, no_results, std::move(dims), Variables(a.ranges()), {},
                                std::move(constraints));
  return DomainWithin(a, pulled_back, budget);
}

// Whether the relation has the pair dims -> results.
Answer HasPair(const Projected& relation, llvm::ArrayRef<int64_t> dims,
               llvm::ArrayRef<int64_t> results, StepBudget* budget) {
  if (relation.projection && relation.projection->IsExplicit()) {
    const absl::StatusOr<bool> contains =
        relation.projection->set.Contains(Joined(dims, results), {});
    if (contains.ok()) return AnswerOf(*contains);
  }
  IndexingMap at_pair = relation.map;
  for (auto [i, value] : llvm::enumerate(dims)) {
    at_pair.AddConstraint(kPartsFit, mlir::getAffineDimExpr(i, at_pair.context()),
                          Interval::Point(value));
  }
  for (auto [result, value] : llvm::zip_equal(relation.map.results(), results)) {
    at_pair.AddConstraint(kPartsFit, result, Interval::Point(value));
  }
  return DomainHasIntegerPoint(at_pair, budget);
}

bool SampledPairIsMissing(const Projected& a, const Projected& b, StepBudget* budget) {
  for (const auto& point : SamplePoints(a.map, kSamples)) {
    if (!budget->Take(1)) return false;
    const llvm::ArrayRef<int64_t> all = point;
    const llvm::ArrayRef<int64_t> dims = all.take_front(a.map.num_dims());
    const llvm::ArrayRef<int64_t> ranges = all.drop_front(a.map.num_dims());
    const absl::StatusOr<bool> contains = a.map.Contains(dims, ranges);
    if (!contains.ok() || !*contains) continue;
    const auto results = a.map.Evaluate(dims, ranges);
    if (results.ok() && HasPair(b, dims, *results, budget) == Answer::kNo) return true;
  }
  return false;
}

// The pairs of two relations: every (d, rt, r).
std::optional<std::pair<Points, Points>> PairsOf(const IndexingMap& a, const IndexingMap& b,
                                                 StepBudget* budget) {
  const auto pairs_of = [&](const IndexingMap& map) {
    return Enumerate(map, budget,
                     [](auto dims, auto, auto results) { return Joined(dims, results); });
  };
  std::optional<Points> a_pairs = pairs_of(a);
  if (!a_pairs) return std::nullopt;
  std::optional<Points> b_pairs = pairs_of(b);
  if (!b_pairs) return std::nullopt;
  return std::pair(*std::move(a_pairs), *std::move(b_pairs));
}

bool IsSubset(const Points& a, const Points& b) {
  return llvm::all_of(a.set, [&](const Point& point) { return b.set.contains(point); });
}

bool WrittenTheSame(const Projected& a, const Projected& b) {
  return a.map == b.map || (a.projection && b.projection && a.projection->set == b.projection->set);
}

// Without enumeration.
Answer WithinSymbolically(const Projected& a, const Projected& b, StepBudget* budget) {
  if (a.map.IsKnownEmpty()) return Answer::kYes;
  if (SampledPairIsMissing(a, b, budget)) return Answer::kNo;
  if (!b.projection || !b.projection->IsExplicit()) {
    return DomainHasIntegerPoint(a.map, budget) == Answer::kNo ? Answer::kYes : Answer::kUndecided;
  }
  return WithinExplicit(a.map, b.projection->set, budget);
}

}  // namespace

absl::StatusOr<Decision> IsEmptyDomain(const IndexingMap& map, int64_t max_steps) {
  const QuestionBudget question;
  if (absl::Status status = map.Verify(); !status.ok()) return status;
  StepBudget budget(max_steps);
  return budget.Decide(Not(DomainHasIntegerPoint(map, &budget)));
}

absl::StatusOr<Decision> SameFunction(const IndexingMap& a, const IndexingMap& b,
                                      int64_t max_steps) {
  const QuestionBudget question;
  if (absl::Status status = CheckNumbers(a, b); !status.ok()) return status;
  if (a.num_ranges() != b.num_ranges()) {
    return absl::InvalidArgumentError(absl::StrCat("a function of ", a.num_ranges(),
                                                   " range variables and one of ", b.num_ranges()));
  }
  StepBudget budget(max_steps);
  IndexingMap a_form = a;
  IndexingMap b_form = b;
  a_form.Simplify({.keep_variables = true});
  b_form.Simplify({.keep_variables = true});
  return budget.Decide(SameSimplified(a_form, b_form, &budget));
}

namespace {

// Asks a question about the relations of two maps: first `symbolically`, and where that leaves it
// undecided by comparing all pairs.
template <typename Symbolically, typename ByPairs>
absl::StatusOr<Decision> AskAboutRelations(const IndexingMap& a, const IndexingMap& b,
                                           int64_t max_steps, Symbolically symbolically,
                                           ByPairs by_pairs) {
  const QuestionBudget question;
  if (absl::Status status = CheckNumbers(a, b); !status.ok()) return status;
  StepBudget budget(max_steps);
  const std::optional<Projected> of_a = RelationOf(a);
  const std::optional<Projected> of_b = RelationOf(b);
  if (!of_a || !of_b) return budget.Decide(Answer::kUndecided);
  if (WrittenTheSame(*of_a, *of_b)) return budget.Decide(true);
  const Answer answer = symbolically(*of_a, *of_b, &budget);
  if (answer != Answer::kUndecided) return budget.Decide(answer);
  const auto pairs = PairsOf(of_a->map, of_b->map, &budget);
  if (!pairs) return budget.Decide(Answer::kUndecided);
  return budget.Decide(by_pairs(pairs->first, pairs->second));
}

}  // namespace

absl::StatusOr<Decision> IsSubrelation(const IndexingMap& a, const IndexingMap& b,
                                       int64_t max_steps) {
  return AskAboutRelations(a, b, max_steps, WithinSymbolically, IsSubset);
}

absl::StatusOr<Decision> SameRelation(const IndexingMap& a, const IndexingMap& b,
                                      int64_t max_steps) {
  return AskAboutRelations(
      a, b, max_steps,
      [](const Projected& one, const Projected& other, StepBudget* budget) {
        const Answer within = WithinSymbolically(one, other, budget);
        return within == Answer::kNo ? within : And(within, WithinSymbolically(other, one, budget));
      },
      [](const Points& one, const Points& other) { return one.set == other.set; });
}

}  // namespace xla_indexing
