#include "xla_indexing/query/equivalence/equivalence.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/box.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/sets/cover.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/map/sets/points.h"
#include "xla_indexing/ops/answers/binding_words.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/ops/values/fold_runtime.h"
#include "xla_indexing/query/equivalence/same_values.h"

namespace xla_indexing {
namespace {

using internal::Enumerate;
using internal::FirstPoint;
using internal::HasSymbol;
using internal::Joined;
using internal::NextPoint;
using internal::Point;
using internal::Points;
using internal::Substitute;
using internal::ValueNumbers;
using ::mlir::AffineExpr;

using LeafPair = std::tuple<int64_t, int64_t, int64_t>;  // output leaf, parameter, its leaf
using Entries = std::map<LeafPair, OperandIndexingSet>;

// What a runtime variable reads, in either computation: over dimensions alone.
struct RuntimeKey {
  int64_t value;
  int64_t leaf;
  llvm::SmallVector<AffineExpr, 2> element;
  ValueFunction function;
  const RuntimeVarIndexing* binding;  // one that reads it

  bool SameAs(const RuntimeKey& other) const {
    return value == other.value && leaf == other.leaf && element == other.element &&
           function == other.function;
  }
};

// The maps of one pair of leaves over the dimensions (d, rt), rt being all that either side reads.
class Relations {
 public:
  explicit Relations(const ValueNumbers& numbers) : numbers_(numbers) {}

  // False where a map cannot be written so; reason() says why.
  bool AddKeys(const OperandIndexingSet& set) {
    for (const OperandIndexing& indexing : set) {
      if (indexing.replica_map() != nullptr) return Fail("an element of another device is read");
      for (const RuntimeVarIndexing& binding : indexing.bindings()) {
        const std::optional<RuntimeKey> key = KeyOf(indexing.map(), binding);
        if (!key) return Fail("a runtime value is read for each value of a range variable");
        const auto same = [&](const RuntimeKey& other) { return other.SameAs(*key); };
        if (absl::c_none_of(keys_, same)) keys_.push_back(*key);
      }
    }
    return true;
  }

  std::optional<IndexingMap> Of(const OperandIndexing& indexing) {
    const IndexingMap& map = indexing.map();
    Variables dims(map.dims());
    for (const RuntimeKey& key : keys_) dims.push_back({key.binding->ValueRange(), {}});
    llvm::SmallVector<AffineExpr, 8> symbols(map.num_ranges());
    for (int i = 0; i < map.num_runtimes(); ++i) {
      const RuntimeKey own = *KeyOf(map, indexing.bindings()[i]);
      const auto it = absl::c_find_if(keys_, [&](const RuntimeKey& k) { return k.SameAs(own); });
      const size_t position = map.num_dims() + (it - keys_.begin());
      symbols.push_back(mlir::getAffineDimExpr(position, map.context()));
      dims[position].bounds = dims[position].bounds.Intersect(map.runtimes()[i].bounds);
    }
    llvm::SmallVector<AffineExpr, 4> results;
    for (const AffineExpr result : map.results())
      results.push_back(Substitute(result, {}, symbols));
    Constraints constraints;
    for (const Constraint& constraint : map.constraints()) {
      constraints.push_back({Substitute(constraint.expr, {}, symbols), constraint.interval});
    }
    const mlir::AffineMap affine_map =
        mlir::AffineMap::get(dims.size(), map.num_ranges(), results, map.context());
    IndexingMap relation(kPartsFit, affine_map, std::move(dims), Variables(map.ranges()), {},
                         std::move(constraints));
    relation.Simplify();
    return relation;
  }

  llvm::ArrayRef<RuntimeKey> keys() const { return keys_; }
  const std::string& reason() const { return reason_; }

  // Whether the variables can have any values together: one at most, read from a parameter.
  bool TakeAllValues() const {
    return keys_.empty() ||
           (keys_.size() == 1 && keys_[0].binding->instruction->opcode() == HloOpcode::kParameter);
  }

 private:
  bool Fail(absl::string_view reason) {
    reason_ = std::string(reason);
    return false;
  }

  std::optional<RuntimeKey> KeyOf(const IndexingMap& map, const RuntimeVarIndexing& binding) const {
    if (!binding.call_path.empty() || binding.device || !numbers_.Has(*binding.instruction)) {
      return std::nullopt;
    }
    for (const AffineExpr expr : binding.element) {
      for (int i = 0; i < map.num_symbols(); ++i) {
        if (HasSymbol(expr, i)) return std::nullopt;
      }
    }
    return RuntimeKey{numbers_.NumberOf(*binding.instruction), binding.leaf, binding.element,
                      binding.value, &binding};
  }

  const ValueNumbers& numbers_;
  std::vector<RuntimeKey> keys_;
  std::string reason_;
};

// The maps of one side.
struct Side {
  std::vector<IndexingMap> all;
  std::vector<IndexingMap> exact;
};

std::optional<Side> SideOf(const OperandIndexingSet& set, Relations* relations) {
  Side side;
  for (const OperandIndexing& indexing : set) {
    std::optional<IndexingMap> map = relations->Of(indexing);
    if (!map) return std::nullopt;
    if (indexing.IsExact()) side.exact.push_back(*map);
    side.all.push_back(*std::move(map));
  }
  return side;
}

bool SameMaps(llvm::ArrayRef<IndexingMap> a, llvm::ArrayRef<IndexingMap> b) {
  const auto within = [](llvm::ArrayRef<IndexingMap> x, llvm::ArrayRef<IndexingMap> y) {
    return llvm::all_of(x, [&](const IndexingMap& map) { return llvm::is_contained(y, map); });
  };
  return within(a, b) && within(b, a);
}

// Whether all pairs of `a` are pairs of `b`.
Answer IsWithin(llvm::ArrayRef<IndexingMap> a, llvm::ArrayRef<IndexingMap> b, StepBudget* budget) {
  Answer within = Answer::kYes;
  for (const IndexingMap& map : a) {
    if (llvm::is_contained(b, map)) continue;
    within = And(within, IsCovered(map, b, budget));
    if (within == Answer::kNo) break;
  }
  return within;
}

// The pairs (rt, r) of an element of the output; none where there are more than steps are left.
std::optional<std::set<Point>> PairsAt(llvm::ArrayRef<IndexingMap> maps,
                                       llvm::ArrayRef<int64_t> element, StepBudget* budget) {
  std::set<Point> pairs;
  for (const IndexingMap& map : maps) {
    IndexingMap at = map;
    bool is_inside = true;
    for (const auto& [i, value] : llvm::enumerate(element)) {
      is_inside &= map.dims()[i].bounds.Contains(value);
      at.mutable_dim(static_cast<int>(i)).bounds = Interval::Point(value);
    }
    if (!is_inside || map.IsKnownEmpty()) continue;
    const std::optional<Points> points = Enumerate(at, budget, [&](auto dims, auto, auto results) {
      return Joined(dims.drop_front(element.size()), results);
    });
    if (!points) return std::nullopt;
    pairs.insert(points->set.begin(), points->set.end());
  }
  return pairs;
}

// Both sides, element by element.
struct Walk {
  Answer same = Answer::kUndecided;
  std::optional<PairOfOne> difference;
};

PairOfOne PairAt(llvm::ArrayRef<int64_t> element, llvm::ArrayRef<int64_t> values_and_results,
                 llvm::ArrayRef<RuntimeKey> keys, bool is_of_first) {
  PairOfOne pair;
  pair.is_of_first = is_of_first;
  pair.output_element.assign(element.begin(), element.end());
  for (const auto& [key, value] : llvm::zip(keys, values_and_results)) {
    pair.runtime_values.emplace_back(key.binding->YieldedBy(BeginOfPath(*key.binding)), value);
  }
  const llvm::ArrayRef<int64_t> results = values_and_results.drop_front(keys.size());
  pair.operand_element.assign(results.begin(), results.end());
  return pair;
}

// Compares the elements of the output one after the other. `may_differ` says whether a pair that
// one side alone has makes them different.
Walk CompareElementByElement(const Side& a, const Side& b, const Shape& output,
                             llvm::ArrayRef<RuntimeKey> keys, StepBudget* budget) {
  constexpr int64_t kStepsOfElement = 32;
  std::vector<Interval> elements;
  for (const int64_t size : output.dimensions()) elements.push_back(Interval::OfSize(size));
  std::vector<int64_t> element;
  if (!FirstPoint(elements, &element)) return {Answer::kYes, std::nullopt};
  do {
    if (!budget->Take(kStepsOfElement)) return {};
    const auto of_a = PairsAt(a.all, element, budget);
    const auto of_b = PairsAt(b.all, element, budget);
    if (!of_a || !of_b) return {};
    if (*of_a != *of_b) {
      std::vector<Point> different;
      absl::c_set_symmetric_difference(*of_a, *of_b, std::back_inserter(different));
      const bool is_of_first = of_a->contains(different[0]);
      Walk walk{Answer::kNo, PairAt(element, different[0], keys, is_of_first)};
      walk.difference->is_least = true;
      return walk;
    }
  } while (NextPoint(elements, absl::MakeSpan(element)));
  return {Answer::kYes, std::nullopt};
}

// Some pair of `a` that no map of `b` has.
std::optional<PairOfOne> FindPair(llvm::ArrayRef<IndexingMap> a, llvm::ArrayRef<IndexingMap> b,
                                  llvm::ArrayRef<RuntimeKey> keys, bool is_of_first,
                                  StepBudget* budget) {
  constexpr int kSamples = 64;
  for (const IndexingMap& map : a) {
    const auto num_dims = static_cast<size_t>(map.num_dims());
    for (const auto& point : SamplePoints(map, kSamples)) {
      const llvm::ArrayRef<int64_t> all = point;
      const llvm::ArrayRef<int64_t> dims = all.take_front(num_dims);
      const absl::StatusOr<bool> is_inside = map.Contains(dims, all.drop_front(num_dims));
      if (!is_inside.ok() || !*is_inside) continue;
      const auto results = map.Evaluate(dims, all.drop_front(num_dims));
      if (!results.ok()) continue;
      const bool is_missing = llvm::all_of(b, [&](const IndexingMap& other) {
        IndexingMap at = other;
        for (const auto& [i, value] : llvm::enumerate(dims)) {
          at.AddConstraint(kPartsFit, mlir::getAffineDimExpr(i, at.context()),
                           Interval::Point(value));
        }
        for (const auto& [result, value] : llvm::zip_equal(other.results(), *results)) {
          at.AddConstraint(kPartsFit, result, Interval::Point(value));
        }
        return DomainHasIntegerPoint(at, budget) == Answer::kNo;
      });
      if (!is_missing) continue;
      const size_t rank = num_dims - keys.size();
      const Point rest = Joined(dims.drop_front(rank), *results);
      return PairAt(dims.take_front(rank), rest, keys, is_of_first);
    }
  }
  return std::nullopt;
}

class LeafComparer {
 public:
  LeafComparer(const ValueNumbers& numbers, int64_t max_steps)
      : relations_(numbers), budget_(max_steps) {}

  LeafComparison Compare(const LeafPair& leaves, const OperandIndexingSet& a,
                         const OperandIndexingSet& b, const Shape& output) {
    LeafComparison comparison;
    std::tie(comparison.output_leaf, comparison.parameter, comparison.parameter_leaf) = leaves;
    for (const OperandIndexingSet* set : {&a, &b}) {
      if (set->label().exactness == Exactness::kUnknown) {
        comparison.reason = absl::StrCat("unknown: ", set->label().reason);
        return comparison;
      }
    }
    if (!relations_.AddKeys(a) || !relations_.AddKeys(b)) {
      comparison.reason = relations_.reason();
      return comparison;
    }
    const std::optional<Side> of_a = SideOf(a, &relations_);
    const std::optional<Side> of_b = SideOf(b, &relations_);
    if (!of_a || !of_b) {
      comparison.reason = "a map cannot be written over the values that are read";
      return comparison;
    }
    if (a.label().IsExact() && b.label().IsExact()) {
      CompareExact(*of_a, *of_b, output, &comparison);
    } else {
      const OperandIndexingSet& weaker = a.label().IsExact() ? b : a;
      comparison.reason = absl::StrCat("over-approximate: ", weaker.label().reason);
      FindExactDifference(*of_a, *of_b, &comparison);
    }
    if (comparison.same == Answer::kNo && !relations_.TakeAllValues()) {
      comparison.same = Answer::kUndecided;
      comparison.difference.reset();
      comparison.reason = "it differs for runtime values that there may not be";
    }
    return comparison;
  }

 private:
  void CompareExact(const Side& a, const Side& b, const Shape& output, LeafComparison* comparison) {
    if (SameMaps(a.all, b.all)) {
      comparison->same = Answer::kYes;
      return;
    }
    const Answer there = IsWithin(a.all, b.all, &budget_);
    const Answer same = And(there, IsWithin(b.all, a.all, &budget_));
    if (same == Answer::kYes) {
      comparison->same = Answer::kYes;
      return;
    }
    Walk walk = CompareElementByElement(a, b, output, relations_.keys(), &budget_);
    if (walk.same != Answer::kUndecided) {
      comparison->same = walk.same;
      comparison->difference = std::move(walk.difference);
      return;
    }
    StepBudget samples(kDefaultSteps);
    comparison->difference = FindPair(a.all, b.all, relations_.keys(), true, &samples);
    if (!comparison->difference) {
      comparison->difference = FindPair(b.all, a.all, relations_.keys(), false, &samples);
    }
    if (comparison->difference || same == Answer::kNo) {
      comparison->same = Answer::kNo;
    } else {
      comparison->reason = "not decided within the steps";
    }
  }

  void FindExactDifference(const Side& a, const Side& b, LeafComparison* comparison) {
    StepBudget samples(kDefaultSteps);
    comparison->difference = FindPair(a.exact, b.all, relations_.keys(), true, &samples);
    if (!comparison->difference) {
      comparison->difference = FindPair(b.exact, a.all, relations_.keys(), false, &samples);
    }
    if (comparison->difference) comparison->same = Answer::kNo;
  }

  Relations relations_;
  StepBudget budget_;
};

// The entries of one leaf of the result, or of all leaves.
absl::StatusOr<Entries> EntriesOf(const HloComputation& computation, HloIndexers& indexers,
                                  bool exact, std::optional<int64_t> output_leaf) {
  std::optional<OperandLeaf> from;
  if (output_leaf) from = OperandLeaf{0, *output_leaf};
  HloIndexer& indexer = exact ? indexers.exact() : indexers.usual();
  const absl::StatusOr<SharedIndexing> shared =
      indexer.Index(computation, Direction::kOutputToInput, from);
  if (!shared.ok()) return shared.status();
  InstructionIndexing entries = **shared;
  Entries by_leaves;
  bool is_exact = true;
  for (IndexingEntry& entry : entries) {
    is_exact &= entry.indexing.label().IsExact();
    // Equal values have equal bindings where data movement is all that is between them.
    internal::FoldOptions to_sources;
    to_sources.rebind_through_data_movement = true;
    if (internal::HasRuntimeVariables(entry.indexing)) {
      entry.indexing = internal::FoldRuntimeVariables(entry.indexing, to_sources);
      entry.indexing.Simplify();
    }
    by_leaves[{entry.output_leaf, entry.operand, entry.operand_leaf}] = std::move(entry.indexing);
  }
  if (is_exact || exact) return by_leaves;
  return EntriesOf(computation, indexers, /*exact=*/true, output_leaf);
}

int64_t ParameterLeaves(const HloComputation& computation) {
  int64_t leaves = 0;
  for (const HloInstruction* parameter : computation.parameters()) {
    leaves += parameter->shape().LeafCount();
  }
  return leaves;
}

// The leaves of the result that are compared by themselves, because the entries of all would be too
// many to have at once; or all of them together.
std::vector<std::optional<int64_t>> PartsOf(const HloComputation& computation) {
  const int64_t output_leaves = computation.root_instruction()->shape().LeafCount();
  if (output_leaves * ParameterLeaves(computation) <= kMaxComparedPairs) return {std::nullopt};
  std::vector<std::optional<int64_t>> leaves;
  leaves.reserve(output_leaves);
  for (int64_t leaf = 0; leaf < output_leaves; ++leaf) leaves.push_back(leaf);
  return leaves;
}

std::string ShapesDiffer(absl::string_view what, const Shape& a, const Shape& b) {
  const std::vector<const Shape*> of_a = a.Leaves();
  const std::vector<const Shape*> of_b = b.Leaves();
  bool same = of_a.size() == of_b.size();
  for (size_t i = 0; same && i < of_a.size(); ++i) same = SameDimensions(*of_a[i], *of_b[i]);
  if (same) return "";
  return absl::StrCat(what, " is ", a.ToStringWithoutLayout(), " in one and ",
                      b.ToStringWithoutLayout(), " in the other");
}

std::string SignaturesDiffer(const HloComputation& a, const HloComputation& b) {
  if (a.parameters().size() != b.parameters().size()) {
    return absl::StrCat("one has ", a.parameters().size(), " parameters, the other ",
                        b.parameters().size());
  }
  for (size_t i = 0; i < a.parameters().size(); ++i) {
    std::string difference = ShapesDiffer(absl::StrCat("parameter ", i), a.parameters()[i]->shape(),
                                          b.parameters()[i]->shape());
    if (!difference.empty()) return difference;
  }
  return ShapesDiffer("the result", a.root_instruction()->shape(), b.root_instruction()->shape());
}

}  // namespace

absl::StatusOr<EquivalenceReport> CompareReads(const HloComputation& a, const HloComputation& b,
                                               mlir::MLIRContext* context,
                                               const FusionOptions& options, int64_t max_steps) {
  const QuestionBudget question;
  EquivalenceReport report;
  report.difference = SignaturesDiffer(a, b);
  if (!report.difference.empty()) {
    report.same = Answer::kNo;
    return report;
  }
  HloIndexers indexers(context, options);
  const ValueNumbers numbers(a, b);
  const bool same_roots =
      numbers.NumberOf(*a.root_instruction()) == numbers.NumberOf(*b.root_instruction());
  report.same = Answer::kYes;
  const auto set_at = [](const Entries& entries, const LeafPair& leaves) {
    const auto it = entries.find(leaves);
    return it == entries.end() ? OperandIndexingSet() : it->second;
  };
  for (const std::optional<int64_t>& part : PartsOf(a)) {
    if (static_cast<int64_t>(report.leaves.size()) >= kMaxComparedPairs) {
      report.not_compared += ParameterLeaves(a);
      if (!same_roots && report.same == Answer::kYes) report.same = Answer::kUndecided;
      continue;
    }
    const absl::StatusOr<Entries> of_a = EntriesOf(a, indexers, options.indexing.exact, part);
    if (!of_a.ok()) return of_a.status();
    if (same_roots) {
      for (const auto& [leaves, set] : *of_a) {
        LeafComparison& comparison = report.leaves.emplace_back();
        std::tie(comparison.output_leaf, comparison.parameter, comparison.parameter_leaf) = leaves;
        comparison.same = Answer::kYes;
      }
      continue;
    }
    const absl::StatusOr<Entries> of_b = EntriesOf(b, indexers, options.indexing.exact, part);
    if (!of_b.ok()) return of_b.status();
    std::set<LeafPair> all_leaves;
    for (const Entries* entries : {&*of_a, &*of_b}) {
      for (const auto& [leaves, set] : *entries) all_leaves.insert(leaves);
    }
    for (const LeafPair& leaves : all_leaves) {
      const Shape& output = a.root_instruction()->shape().Leaf(std::get<0>(leaves));
      LeafComparison comparison =
          LeafComparer(numbers, max_steps)
              .Compare(leaves, set_at(*of_a, leaves), set_at(*of_b, leaves), output);
      if (comparison.same == Answer::kNo) report.same = Answer::kNo;
      if (comparison.same == Answer::kUndecided && report.same == Answer::kYes) {
        report.same = Answer::kUndecided;
      }
      report.leaves.push_back(std::move(comparison));
    }
  }
  return report;
}

}  // namespace xla_indexing
