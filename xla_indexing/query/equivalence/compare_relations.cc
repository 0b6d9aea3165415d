#include "xla_indexing/query/equivalence/compare_relations.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/box.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/cover.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/map/sets/points.h"
#include "xla_indexing/ops/answers/binding_words.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/exactness.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/ops/answers/parts/value_function.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// What a runtime variable reads, in either computation: an element over dimensions alone, of which
// the indices that depend on other variables are left out.
struct RuntimeKey {
  int64_t value;
  int64_t leaf;
  llvm::SmallVector<std::optional<AffineExpr>, 2> element;
  ValueFunction function;
  int occurrence;                     // in one map, of those that are alike but for this
  const RuntimeVarIndexing* binding;  // one that reads it

  bool IsLike(const RuntimeKey& other) const {
    return value == other.value && leaf == other.leaf && element == other.element &&
           function == other.function;
  }
  bool SameAs(const RuntimeKey& other) const {
    return IsLike(other) && occurrence == other.occurrence;
  }
  // Whether the two are of different elements, whatever the dimensions are.
  bool IsApartFrom(const RuntimeKey& other) const {
    if (binding->instruction != other.binding->instruction || leaf != other.leaf) return true;
    return llvm::any_of(llvm::zip(element, other.element), [](const auto& indices) {
      const auto& [x, y] = indices;
      if (!x || !y) return false;
      const auto constant_x = llvm::dyn_cast<mlir::AffineConstantExpr>(*x);
      const auto constant_y = llvm::dyn_cast<mlir::AffineConstantExpr>(*y);
      return constant_x && constant_y && constant_x.getValue() != constant_y.getValue();
    });
  }
};

// The maps of one pair of leaves over the dimensions (d, rt), rt being all that either side reads.
//
// A value that is read for each value of a range variable is many values. Let v be the contents of
// the arrays, and e(d, s) the element that is read. A side reads { r = f(d, s, v(e(d, s))) }.
//
//   Of(.., Elements::kAsTheyAre)  has e as dimensions too: { (d, e, rt) -> f(d, s, rt), e = e(d, s) }.
//                                 Where these are equal, what is read is equal, for all v.
//   Of(.., Elements::kAllAlike)   leaves e out: what is read for the v that are rt everywhere. Where
//                                 these differ, so does what is read.
enum class Elements : uint8_t { kAsTheyAre, kAllAlike };

class Relations {
 public:
  explicit Relations(ValueNumbers& numbers) : numbers_(numbers) {}

  // False where a map cannot be written so; reason() says why.
  bool AddKeys(const OperandIndexingSet& set) {
    for (const OperandIndexing& indexing : set) {
      if (indexing.replica_map() != nullptr) return Fail("an element of another device is read");
      const std::optional<std::vector<RuntimeKey>> of_map = KeysOf(indexing);
      if (!of_map) return false;
      for (const RuntimeKey& key : *of_map) {
        const auto same = [&](const RuntimeKey& other) { return other.SameAs(key); };
        if (absl::c_none_of(keys_, same)) keys_.push_back(key);
      }
    }
    return true;
  }

  // The dimensions after those of the map are the values of the keys, then the left out indices.
  std::optional<IndexingMap> Of(const OperandIndexing& indexing, Elements elements) {
    const IndexingMap& map = indexing.map();
    Variables dims(map.dims());
    for (const RuntimeKey& key : keys_) dims.push_back({key.binding->ValueRange(), {}});
    llvm::SmallVector<int64_t, 4> first_index(keys_.size());
    if (elements == Elements::kAsTheyAre) {
      for (const auto& [k, key] : llvm::enumerate(keys_)) {
        first_index[k] = dims.size();
        for (size_t i = 0; i < key.element.size(); ++i) {
          if (!key.element[i]) dims.push_back({IndicesOf(key, i), {}});
        }
      }
    }
    const std::vector<RuntimeKey> own = *KeysOf(indexing);
    llvm::SmallVector<AffineExpr, 8> symbols(map.num_ranges());
    llvm::SmallVector<size_t, 4> key_of_runtime;
    for (int i = 0; i < map.num_runtimes(); ++i) {
      const auto it = absl::c_find_if(keys_, [&](const RuntimeKey& k) { return k.SameAs(own[i]); });
      key_of_runtime.push_back(it - keys_.begin());
      const size_t position = map.num_dims() + key_of_runtime.back();
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
    for (int i = 0; i < map.num_runtimes(); ++i) {
      int64_t position = first_index[key_of_runtime[i]];
      for (const auto& [k, index] : llvm::enumerate(own[i].element)) {
        if (index) continue;
        const AffineExpr read = Substitute(indexing.bindings()[i].element[k], {}, symbols);
        if (elements == Elements::kAllAlike) {
          constraints.push_back({read, IndicesOf(own[i], k)});
          continue;
        }
        const AffineExpr dim = mlir::getAffineDimExpr(position++, map.context());
        constraints.push_back({Sub(read, dim), Interval::Point(0)});
      }
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

  // Whether some value is read for each value of a range variable.
  bool ReadsMany() const {
    return llvm::any_of(keys_, [](const RuntimeKey& key) {
      return llvm::any_of(key.element, [](const auto& index) { return !index; });
    });
  }

  // Whether the variables can have any values together: elements of parameters, no two the same.
  bool TakeAllValues() const {
    for (size_t i = 0; i < keys_.size(); ++i) {
      const RuntimeVarIndexing& binding = *keys_[i].binding;
      if (!binding.call_path.empty() || binding.instruction->opcode() != HloOpcode::kParameter) {
        return false;
      }
      for (size_t j = 0; j < i; ++j) {
        if (!keys_[i].IsApartFrom(keys_[j])) return false;
      }
    }
    return true;
  }

 private:
  bool Fail(absl::string_view reason) {
    reason_ = std::string(reason);
    return false;
  }

  // The values that a left out index may have; some, so that the other side is there too.
  static Interval IndicesOf(const RuntimeKey& key, size_t i) {
    const int64_t loops = key.binding->NumLoops();
    if (static_cast<int64_t>(i) < loops) return Interval::AtLeast(0);
    const int64_t size = key.binding->shape().dimension(static_cast<int64_t>(i) - loops);
    return size == Shape::kUnboundedSize ? Interval::AtLeast(0)
                                         : Interval::OfSize(std::max<int64_t>(size, 1));
  }

  std::optional<std::vector<RuntimeKey>> KeysOf(const OperandIndexing& indexing) {
    const IndexingMap& map = indexing.map();
    std::vector<RuntimeKey> keys;
    for (const RuntimeVarIndexing& binding : indexing.bindings()) {
      const std::optional<int64_t> number =
          binding.device ? std::nullopt
                         : numbers_.NumberOf(binding.call_path, *binding.instruction);
      if (!number) {
        Fail(absl::StrCat("the value of ", binding.instruction->name(),
                          " may differ each time it is computed"));
        return std::nullopt;
      }
      RuntimeKey key{*number, binding.leaf, {}, binding.value, 0, &binding};
      for (const AffineExpr index : binding.element) {
        bool is_over_dims = true;
        for (int i = 0; i < map.num_symbols(); ++i) is_over_dims &= !HasSymbol(index, i);
        key.element.push_back(is_over_dims ? std::optional(index) : std::nullopt);
      }
      key.occurrence = static_cast<int>(
          absl::c_count_if(keys, [&](const RuntimeKey& other) { return other.IsLike(key); }));
      keys.push_back(std::move(key));
    }
    return keys;
  }

  ValueNumbers& numbers_;
  std::vector<RuntimeKey> keys_;
  std::string reason_;
};

// The maps of one side.
struct Side {
  std::vector<IndexingMap> all;
  std::vector<IndexingMap> exact;
};

std::optional<Side> SideOf(const OperandIndexingSet& set, Elements elements, Relations* relations) {
  Side side;
  for (const OperandIndexing& indexing : set) {
    std::optional<IndexingMap> map = relations->Of(indexing, elements);
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

// The pairs (rt, r) of an element of the output; nullopt if there are more than steps are left.
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

class RelationComparer {
 public:
  RelationComparer(ValueNumbers& numbers, int64_t max_steps)
      : relations_(numbers), budget_(max_steps) {}

  // Fills in the answer, the difference and the reason.
  void Compare(const OperandIndexingSet& a, const OperandIndexingSet& b, const Shape& output,
               LeafComparison* comparison) {
    for (const OperandIndexingSet* set : {&a, &b}) {
      if (set->label().exactness == Exactness::kUnknown) {
        comparison->reason = absl::StrCat("unknown: ", set->label().reason);
        return;
      }
    }
    if (!relations_.AddKeys(a) || !relations_.AddKeys(b)) {
      comparison->reason = relations_.reason();
      return;
    }
    const bool is_exact = a.label().IsExact() && b.label().IsExact();
    if (is_exact && relations_.ReadsMany()) {
      const std::optional<Side> of_a = SideOf(a, Elements::kAsTheyAre, &relations_);
      const std::optional<Side> of_b = SideOf(b, Elements::kAsTheyAre, &relations_);
      if (of_a && of_b && AreCovered(*of_a, *of_b) == Answer::kYes) {
        comparison->same = Answer::kYes;
        return;
      }
    }
    const std::optional<Side> of_a = SideOf(a, Elements::kAllAlike, &relations_);
    const std::optional<Side> of_b = SideOf(b, Elements::kAllAlike, &relations_);
    if (!of_a || !of_b) {
      comparison->reason = "a map cannot be written over the values that are read";
      return;
    }
    if (is_exact) {
      CompareExact(*of_a, *of_b, output, comparison);
    } else {
      const OperandIndexingSet& weaker = a.label().IsExact() ? b : a;
      comparison->reason = absl::StrCat("over-approximate: ", weaker.label().reason);
      FindExactDifference(*of_a, *of_b, comparison);
    }
    if (comparison->same == Answer::kYes && relations_.ReadsMany()) {
      comparison->same = Answer::kUndecided;
      comparison->reason = "it may differ with the values that are read";
    }
    if (comparison->same == Answer::kNo && !relations_.TakeAllValues()) {
      comparison->same = Answer::kUndecided;
      comparison->difference.reset();
      comparison->reason = "it differs for runtime values that there may not be";
    }
  }

 private:
  Answer AreCovered(const Side& a, const Side& b) {
    if (SameMaps(a.all, b.all)) return Answer::kYes;
    const Answer there = IsWithin(a.all, b.all, &budget_);
    return And(there, IsWithin(b.all, a.all, &budget_));
  }

  void CompareExact(const Side& a, const Side& b, const Shape& output, LeafComparison* comparison) {
    const Answer same = AreCovered(a, b);
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

}  // namespace

void CompareRelations(const OperandIndexingSet& a, const OperandIndexingSet& b, const Shape& output,
                      ValueNumbers& numbers, int64_t max_steps, LeafComparison* comparison) {
  RelationComparer(numbers, max_steps).Compare(a, b, output, comparison);
}

}  // namespace xla_indexing::internal
