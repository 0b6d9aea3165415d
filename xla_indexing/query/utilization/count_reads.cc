#include "xla_indexing/query/utilization/count_reads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/box.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/count/count_image.h"
#include "xla_indexing/map/count/count_points.h"
#include "xla_indexing/map/expr/components.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/map/sets/domain.h"
#include "xla_indexing/ops/answers/parts/replica_map.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/ops/values/element_value.h"
#include "xla_indexing/query/utilization/determined_variables.h"
#include "xla_indexing/query/utilization/digit_shape.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// Runtime variables take all their values together where there are no more than this.
constexpr int64_t kMaxAssignments = 4096;
// The maps of which each pair is asked whether they have a point in common.
constexpr size_t kMaxDisjointMaps = 16;

// What a runtime variable of a map depends on.
struct Runtime {
  RuntimeVarIndexing binding;
  Interval bounds;
  llvm::SmallBitVector depends_on;  // by dimension, then range variable
  // No value of the tensor is outside the variable's interval, no element outside the tensor.
  bool is_certain = true;

  bool IsFixed() const { return depends_on.none(); }
  bool DependsOnRanges(int num_dims) const { return depends_on.find_next(num_dims - 1) >= 0; }
};

// What is counted: elements of the operand, or pairs of an element of the output and one of these.
enum class Counted : uint8_t { kElements, kPairs };

// A map and its runtime variables, the last symbols of the map.
class Access {
 public:
  Access(const OperandIndexing& indexing, Counted counted)
      : map_(MapOf(indexing)), counted_(counted), is_of_one_device_(!indexing.replica_map()) {
    for (int i = 0; i < indexing.map().num_runtimes(); ++i) AddRuntime(indexing, i);
    // A constraint goes with each variable that is moved.
    while (llvm::any_of(Constraints(map_.constraints()),
                        [&](const Constraint& constraint) { return MoveVariable(constraint); })) {
    }
  }

  const IndexingMap& map() const { return map_; }
  llvm::ArrayRef<Runtime> runtimes() const { return runtimes_; }
  int num_runtimes() const { return static_cast<int>(runtimes_.size()); }
  bool IsCertain() const {
    return llvm::all_of(runtimes_, [](const Runtime& runtime) { return runtime.is_certain; });
  }
  // Whether the map still mentions runtime variable i.
  bool IsUsed(int i) const {
    const int symbol = map_.num_ranges() + i;
    return llvm::any_of(map_.results(), [&](AffineExpr e) { return HasSymbol(e, symbol); }) ||
           llvm::any_of(map_.constraints(),
                        [&](const Constraint& c) { return HasSymbol(c.expr, symbol); });
  }
  // The most that there is to count, whatever the values are.
  Interval Most() const {
    if (!is_of_one_device_) return Interval::AtLeast(0);
    return DeterminedVariables(map_, ReadAt()).MostValues(counted_ == Counted::kPairs);
  }

  // Whether runtime variable i only moves the results: they are sums g(d, s) + h(rt).
  bool OnlyMoves(int i) const {
    const int first_runtime = map_.num_dims() + map_.num_ranges();
    const auto is_runtime = [&](int variable) { return variable >= first_runtime; };
    const auto has = [&](AffineExpr expr) { return HasSymbol(expr, map_.num_ranges() + i); };
    if (llvm::any_of(map_.constraints(), [&](const Constraint& c) { return has(c.expr); })) {
      return false;
    }
    return llvm::all_of(map_.results(), [&](AffineExpr result) {
      const LinearSum sum = LinearSum::FromExpr(result);
      return sum.valid() && llvm::all_of(sum.terms(), [&](const Term& term) {
               return !has(term.atom) ||
                      llvm::all_of(VariablesOf(term.atom, map_.num_dims()), is_runtime);
             });
    });
  }

  // The map at values of the runtime variables; none stays a variable.
  std::optional<IndexingMap> At(llvm::ArrayRef<std::optional<int64_t>> values) const {
    llvm::SmallVector<AffineExpr, 8> symbols(map_.num_ranges());
    for (const std::optional<int64_t>& value : values) {
      symbols.push_back(value ? Constant(*value, map_.context()) : AffineExpr());
    }
    absl::StatusOr<IndexingMap> at = map_.Substitute({}, symbols);
    if (!at.ok()) return std::nullopt;
    // Constraints that have become constants, or speak of one variable, are looked at anew.
    return IndexingMap(kPartsFit, at->affine_map(), Variables(at->dims()), Variables(at->ranges()),
                       Variables(at->runtimes()), Constraints(at->constraints()));
  }

  // The values at which variables that only move the results may be left out of a count.
  std::optional<int64_t> SomeValue(int i) const {
    const Interval& bounds = runtimes_[i].bounds;
    if (bounds.has_lower()) return bounds.lower();
    if (bounds.has_upper()) return bounds.upper();
    return bounds.IsEmpty() ? std::nullopt : std::optional<int64_t>(0);
  }

 private:
  // The map with what its replica map says of range variables: some reader there is.
  static IndexingMap MapOf(const OperandIndexing& indexing) {
    const IndexingMap& map = indexing.map();
    const ReplicaMap* replicas = indexing.replica_map();
    if (replicas == nullptr || replicas->constraints.empty()) return map;
    const int reader = map.num_ranges();
    llvm::SmallVector<AffineExpr, 8> dims(map.num_dims());
    dims.push_back(mlir::getAffineSymbolExpr(reader, map.context()));
    llvm::SmallVector<AffineExpr, 8> symbols(reader);
    for (int i = 0; i < map.num_runtimes(); ++i) {
      symbols.push_back(mlir::getAffineSymbolExpr(reader + 1 + i, map.context()));
    }
    llvm::SmallVector<AffineExpr, 4> results;
    for (const AffineExpr result : map.results()) {
      results.push_back(Substitute(result, dims, symbols));
    }
    Constraints constraints;
    for (const auto& list : {map.constraints(), llvm::ArrayRef(replicas->constraints)}) {
      for (const Constraint& constraint : list) {
        constraints.push_back({Substitute(constraint.expr, dims, symbols), constraint.interval});
      }
    }
    Variables ranges(map.ranges());
    ranges.push_back({replicas->readers, {}});
    const mlir::AffineMap affine_map =
        mlir::AffineMap::get(map.num_dims(), map.num_symbols() + 1, results, map.context());
    return IndexingMap(kPartsFit, affine_map, Variables(map.dims()), std::move(ranges),
                       Variables(map.runtimes()), std::move(constraints));
  }

  // Element expressions are those of the indexing, whose symbols are numbered without a reader.
  void AddRuntime(const OperandIndexing& indexing, int i) {
    const IndexingMap& map = indexing.map();
    Runtime runtime;
    runtime.binding = indexing.bindings()[i];
    runtime.bounds = map.runtimes()[i].bounds;
    // On which device something is read is as good as on which element.
    const bool is_remote = static_cast<bool>(runtime.binding.device);
    runtime.depends_on.resize(map_.num_dims() + map_.num_ranges(), is_remote);
    runtime.is_certain = runtime.binding.ValueRange().IsSubsetOf(runtime.bounds) ||
                         ValuesOfRuntime(indexing, i).IsSubsetOf(runtime.bounds);
    ExprSimplifier simplifier(map.context(), map.DimBounds(), map.SymbolBounds());
    const bool is_empty = map.IsKnownEmpty();
    const absl::Span<const int64_t> sizes = runtime.binding.shape().dimensions();
    const auto loops = static_cast<size_t>(runtime.binding.NumLoops());
    for (size_t e = 0; e < runtime.binding.element.size(); ++e) {
      const AffineExpr expr = runtime.binding.element[e];
      // A loop need not have an iteration of that number.
      if (is_empty || e < loops ||
          !simplifier.Range(expr).IsSubsetOf(Interval::OfSize(sizes[e - loops]))) {
        runtime.is_certain = false;
      }
      for (const int variable : VariablesOf(expr, map.num_dims())) {
        const int earlier = variable - map.num_dims() - map.num_ranges();
        if (earlier < 0) {
          runtime.depends_on.set(variable);
        } else {
          runtime.depends_on |= runtimes_[earlier].depends_on;
        }
      }
    }
    runtimes_.push_back(std::move(runtime));
  }

  std::vector<llvm::SmallBitVector> ReadAt() const {
    std::vector<llvm::SmallBitVector> read_at;
    read_at.reserve(runtimes_.size());
    for (const Runtime& runtime : runtimes_) read_at.push_back(runtime.depends_on);
    return read_at;
  }

  // Simplifies a constraint v + L in [a, b], where L is a combination of runtime variables that do
  // not depend on v: v' = v + L becomes the variable, if v' - L is in v's interval for all v' in
  // [a, b]. Where v is a dimension and pairs are counted, the other dimensions and the element of the
  // operand have to determine L. Returns whether that was done.
  bool MoveVariable(const Constraint& constraint) {
    const LinearSum sum = LinearSum::FromExpr(constraint.expr);
    const int first_runtime = map_.num_dims() + map_.num_ranges();
    std::optional<int> moved;
    LinearSum rest(sum.constant());
    for (const Term& term : sum.terms()) {
      const llvm::SmallVector<int, 4> variables = VariablesOf(term.atom, map_.num_dims());
      const bool is_variable = term.atom.getKind() == mlir::AffineExprKind::DimId ||
                               term.atom.getKind() == mlir::AffineExprKind::SymbolId;
      if (!is_variable) return false;
      if (variables[0] >= first_runtime) {
        rest.AddTerm(term.atom, term.coefficient);
      } else if (!moved && term.coefficient == 1) {
        moved = variables[0];
      } else {
        return false;
      }
    }
    if (!sum.valid() || !moved || rest.IsConstant() || !constraint.interval.IsFinite()) {
      return false;
    }
    const bool is_dim = *moved < map_.num_dims();
    for (const Runtime& runtime : runtimes_) {
      if (runtime.depends_on[*moved]) return false;
    }
    if (is_dim && counted_ == Counted::kPairs) {
      llvm::SmallBitVector others(first_runtime);
      others.set(0, map_.num_dims());
      others.reset(*moved);
      llvm::SmallBitVector needed(first_runtime);
      for (const Term& term : rest.terms()) {
        needed |= runtimes_[VariablesOf(term.atom, map_.num_dims())[0] - first_runtime].depends_on;
      }
      if (!DeterminedVariables(map_, ReadAt()).ResultsDetermine(std::move(others), needed)) {
        return false;
      }
    }
    const AffineExpr offset = rest.ToExpr(map_.context());
    const Interval& bounds = BoundsOf(map_, *moved);
    ExprSimplifier simplifier(map_.context(), map_.DimBounds(), map_.SymbolBounds());
    if (!offset || !constraint.interval.Sub(simplifier.Range(offset)).IsSubsetOf(bounds)) {
      return false;
    }
    llvm::SmallVector<AffineExpr, 8> dims(map_.num_dims());
    llvm::SmallVector<AffineExpr, 8> symbols(map_.num_symbols());
    const int position = is_dim ? *moved : *moved - map_.num_dims();
    const AffineExpr variable = is_dim ? mlir::getAffineDimExpr(position, map_.context())
                                       : mlir::getAffineSymbolExpr(position, map_.context());
    (is_dim ? dims : symbols)[position] = Sub(variable, offset);
    // The constraint is one on the variable now, and becomes its interval.
    IndexingMap unbounded = map_;
    (is_dim ? unbounded.mutable_dim(position) : unbounded.mutable_range(position)).bounds =
        Interval::All();
    absl::StatusOr<IndexingMap> substituted = unbounded.Substitute(dims, symbols);
    if (!substituted.ok()) return false;
    map_ = *std::move(substituted);
    return true;
  }

  IndexingMap map_;
  const Counted counted_;
  // Values differ from device to device.
  const bool is_of_one_device_;
  std::vector<Runtime> runtimes_;
};

// The map without the runtime variables that `is_free(i)`; nullopt if others are left.
template <typename IsFree>
std::optional<IndexingMap> WithoutRuntimes(const Access& access, IsFree is_free) {
  llvm::SmallVector<std::optional<int64_t>, 4> values;
  for (int i = 0; i < access.num_runtimes(); ++i) {
    if (access.IsUsed(i) && (!access.OnlyMoves(i) || !is_free(access.runtimes()[i]))) {
      return std::nullopt;
    }
    values.push_back(access.SomeValue(i));
    if (!values.back()) return std::nullopt;
  }
  return access.At(values);
}

// The different bindings of several maps, whose values are not known.
struct Unknowns {
  std::vector<RuntimeVarIndexing> bindings;
  std::vector<llvm::SmallVector<size_t, 4>> of_access;  // by runtime variable
};

// The binding with other symbols in its element, so that bindings of two maps that are read at equal values
// are equal; nullopt where a number is too large.
std::optional<RuntimeVarIndexing> WithSymbols(RuntimeVarIndexing binding,
                                              llvm::ArrayRef<AffineExpr> symbols) {
  for (AffineExpr& index : binding.element) {
    index = Substitute(index, {}, symbols);
    if (!index) return std::nullopt;
  }
  return binding;
}

// Nullopt if a value differs from point to point, or there are too many together.
std::optional<Unknowns> UnknownsOf(llvm::ArrayRef<Access> accesses) {
  Unknowns unknowns;
  int64_t assignments = 1;
  for (const Access& access : accesses) {
    llvm::SmallVector<size_t, 4>& numbers = unknowns.of_access.emplace_back();
    // The values that elements of later ones mention have the numbers of their bindings.
    llvm::SmallVector<AffineExpr, 4> symbols;
    for (int i = 0; i < access.map().num_ranges(); ++i) {
      symbols.push_back(mlir::getAffineSymbolExpr(i, access.map().context()));
    }
    for (const Runtime& runtime : access.runtimes()) {
      if (!runtime.IsFixed()) return std::nullopt;
      const auto binding = WithSymbols(runtime.binding, symbols);
      if (!binding) return std::nullopt;
      const auto it = llvm::find(unknowns.bindings, *binding);
      numbers.push_back(it - unknowns.bindings.begin());
      symbols.push_back(mlir::getAffineSymbolExpr(numbers.back(), access.map().context()));
      if (it != unknowns.bindings.end()) continue;
      // An element outside its tensor is outside for all values.
      const bool may_be_outside =
          runtime.binding.ValueRange().IsSubsetOf(runtime.bounds) && !runtime.is_certain;
      const std::optional<int64_t> size = runtime.binding.ValueRange().Size();
      if (!size || may_be_outside) return std::nullopt;
      const std::optional<int64_t> product = CheckedMul(assignments, *size);
      if (!product || *product > kMaxAssignments) return std::nullopt;
      assignments = *product;
      unknowns.bindings.push_back(*binding);
    }
  }
  return unknowns;
}

// The least and the most of `count(maps)` over all values; nullopt if that is not found out.
template <typename Count>
std::optional<Interval> OverAllValues(llvm::ArrayRef<Access> accesses, StepBudget* budget,
                                      Count count) {
  const std::optional<Unknowns> unknowns = UnknownsOf(accesses);
  if (!unknowns) return std::nullopt;
  llvm::SmallVector<Interval, 4> ranges;
  for (const RuntimeVarIndexing& binding : unknowns->bindings) {
    ranges.push_back(binding.ValueRange());
  }
  llvm::SmallVector<int64_t, 4> values;
  if (!FirstPoint(ranges, &values)) return std::nullopt;
  Interval counts = Interval::Empty();
  do {
    if (!budget->Take(kStepsOfQuestion)) return std::nullopt;
    std::vector<IndexingMap> maps;
    for (const auto& [access, numbers] : llvm::zip_equal(accesses, unknowns->of_access)) {
      llvm::SmallVector<std::optional<int64_t>, 4> own;
      bool is_inside = true;
      for (const auto& [number, runtime] : llvm::zip_equal(numbers, access.runtimes())) {
        own.push_back(values[number]);
        is_inside &= runtime.bounds.Contains(values[number]);
      }
      if (!is_inside) continue;
      std::optional<IndexingMap> map = access.At(own);
      if (!map) return std::nullopt;
      maps.push_back(*std::move(map));
    }
    counts = counts.Union(count(maps));
  } while (NextPoint(ranges, absl::MakeSpan(values)));
  return counts;
}

// Whether some constraint mentions runtime variables or what they depend on.
bool ValuesRestrictTheDomain(const Access& access) {
  const IndexingMap& map = access.map();
  return llvm::any_of(map.constraints(), [&](const Constraint& constraint) {
    return llvm::any_of(VariablesOf(constraint.expr, map.num_dims()), [&](int variable) {
      if (variable >= map.num_dims() + map.num_ranges()) return true;
      for (int i = 0; i < access.num_runtimes(); ++i) {
        if (access.IsUsed(i) && access.runtimes()[i].depends_on.test(variable)) return true;
      }
      return false;
    });
  });
}

// The map where the range variables (and dimensions) that runtime variables depend on have one
// value, and so have they: some of what is read, whatever the values. Nullopt if that is not so.
std::optional<IndexingMap> AtOnePlace(const Access& access, bool fix_dims) {
  if (!access.IsCertain() || ValuesRestrictTheDomain(access)) return std::nullopt;
  llvm::SmallVector<std::optional<int64_t>, 4> values;
  const IndexingMap& map = access.map();
  for (int i = 0; i < access.num_runtimes(); ++i) {
    if (!access.OnlyMoves(i)) return std::nullopt;
    values.push_back(access.SomeValue(i));
    if (!values.back()) return std::nullopt;
  }
  std::optional<IndexingMap> at = access.At(values);
  if (!at) return std::nullopt;
  for (int i = 0; i < access.num_runtimes(); ++i) {
    if (!access.IsUsed(i)) continue;
    for (int v = fix_dims ? 0 : map.num_dims(); v < map.num_dims() + map.num_ranges(); ++v) {
      if (!access.runtimes()[i].depends_on.test(v)) continue;
      Interval& bounds = v < map.num_dims() ? at->mutable_dim(v).bounds
                                            : at->mutable_range(v - map.num_dims()).bounds;
      if (!bounds.has_lower()) return std::nullopt;
      bounds = Interval::Point(bounds.lower());
    }
  }
  return at;
}

// Bounds on the number of elements that one map reads where neither a closed form nor a few values
// say it.
Interval BoundElements(const Access& access, StepBudget* budget) {
  Interval least = Interval::Point(0);
  if (const auto map = AtOnePlace(access, /*fix_dims=*/true)) least = CountImage(*map, budget);
  return CountBetween(least, CountImage(access.map(), budget)).Intersect(CountUpTo(access.Most()));
}

Interval ElementsOf(const Access& access, StepBudget* budget) {
  const auto is_fixed = [](const Runtime& runtime) { return runtime.IsFixed(); };
  if (const auto map = WithoutRuntimes(access, is_fixed)) {
    const Interval count = CountImage(*map, budget);
    return access.IsCertain() ? count : CountUpTo(count);
  }
  const auto over_values = OverAllValues({access}, budget, [&](llvm::ArrayRef<IndexingMap> maps) {
    return maps.empty() ? Interval::Point(0) : CountImage(maps[0], budget);
  });
  return over_values ? *over_values : BoundElements(access, budget);
}

// The reads of one map that has the same number of them whatever the values.
std::optional<Interval> ReadsWhateverTheValues(const Access& access, StepBudget* budget) {
  if (!access.IsCertain()) return std::nullopt;
  const auto map = WithoutRuntimes(access, [&](const Runtime& runtime) {
    return !runtime.DependsOnRanges(access.map().num_dims());
  });
  if (!map) return std::nullopt;
  return CountPairs(*map, budget);
}

// Bounds on the reads of one map: what is read with the values of one place, and the most.
Interval BoundReads(const Access& access, StepBudget* budget) {
  Interval least = Interval::Point(0);
  if (const auto some = AtOnePlace(access, /*fix_dims=*/false)) least = CountPairs(*some, budget);
  return CountBetween(least, CountPairs(access.map(), budget)).Intersect(CountUpTo(access.Most()));
}

// Whether a map takes floors or remainders of dimensions.
bool TakesDigits(const IndexingMap& map) {
  const auto is_variable = [](const Term& term) { return IsVariable(term.atom); };
  const auto takes = [&](AffineExpr e) {
    return !llvm::all_of(LinearSum::FromExpr(e).terms(), is_variable);
  };
  return llvm::any_of(map.results(), takes) ||
         llvm::any_of(map.constraints(), [&](const Constraint& c) { return takes(c.expr); });
}

// The map from an output of these sizes with its dimensions in digits, where there are any.
OperandIndexing InDigits(const OperandIndexing& indexing, const std::vector<int64_t>& sizes) {
  const std::optional<DigitShape> digits = CommonDigits({indexing}, sizes);
  std::optional<OperandIndexing> from;
  if (digits) from = FromDigits(indexing, *digits);
  return from ? *std::move(from) : indexing;
}

// The map from the output as one dimension: (d0) -> (d0 floordiv 6, d0 mod 6) to [2, 6], and on.
std::optional<OperandIndexing> FromOneDimension(const OperandIndexing& indexing,
                                                const std::vector<int64_t>& sizes) {
  mlir::MLIRContext* context = indexing.map().context();
  llvm::SmallVector<AffineExpr, 4> indices(sizes.size());
  int64_t weight = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    const AffineExpr position = mlir::getAffineDimExpr(0, context);
    const AffineExpr from_weight = weight > 0 ? FloorDiv(position, weight) : AffineExpr();
    if (!from_weight || sizes[i] <= 0) return std::nullopt;
    indices[i] = i == 0 ? from_weight : Mod(from_weight, sizes[i]);
    const std::optional<int64_t> next = CheckedMul(weight, sizes[i]);
    if (!indices[i] || !next) return std::nullopt;
    weight = *next;
  }
  const IndexingMap to_output(kPartsFit, mlir::AffineMap::get(1, 0, indices, context),
                              {{Interval::OfSize(weight), {}}}, {}, {}, {});
  auto composed = ComposeOperandIndexing(OperandIndexing(kPartsFit, to_output), indexing);
  if (!composed.ok()) return std::nullopt;
  composed->Simplify();
  return InDigits(*composed, {weight});
}

// The map from an output whose dimensions are those digits of which the map takes floors and
// remainders, so that it has a variable for each: the result of a scatter may be reshaped. Elements of
// the output keep their number.
OperandIndexing FromDigitsOf(const OperandIndexing& indexing, const Shape& output) {
  if (!TakesDigits(indexing.map())) return indexing;
  const std::vector<int64_t> sizes(output.dimensions().begin(), output.dimensions().end());
  OperandIndexing in_digits = InDigits(indexing, sizes);
  if (!TakesDigits(in_digits.map())) return in_digits;
  std::optional<OperandIndexing> from_one = FromOneDimension(indexing, sizes);
  return from_one && !TakesDigits(from_one->map()) ? *std::move(from_one) : in_digits;
}

// Whether no element of the output reads through both maps, which have no range variables, whatever
// the values: equal bindings are one value.
bool AreDisjoint(const OperandIndexing& a, const OperandIndexing& b, StepBudget* budget) {
  if (a.replica_map() != nullptr || b.replica_map() != nullptr) return false;
  const IndexingMap& first = a.map();
  const IndexingMap& second = b.map();
  Variables dims(first.dims());
  for (int i = 0; i < first.num_dims(); ++i) {
    dims[i].bounds = dims[i].bounds.Intersect(second.dims()[i].bounds);
    if (dims[i].bounds.IsEmpty()) return true;
  }
  Variables runtimes(first.runtimes());
  llvm::SmallVector<AffineExpr, 4> symbols_of_second;
  for (int i = 0; i < second.num_runtimes(); ++i) {
    const Interval& bounds = second.runtimes()[i].bounds;
    const auto binding = WithSymbols(b.bindings()[i], symbols_of_second);
    if (!binding) return false;
    auto same = static_cast<size_t>(llvm::find(a.bindings(), *binding) - a.bindings().begin());
    if (same < a.bindings().size()) {
      runtimes[same].bounds = runtimes[same].bounds.Intersect(bounds);
      if (runtimes[same].bounds.IsEmpty()) return true;
    } else {
      same = runtimes.size();
      runtimes.push_back({bounds, {}});
    }
    symbols_of_second.push_back(mlir::getAffineSymbolExpr(same, first.context()));
  }
  const auto no_results = mlir::AffineMap::get(dims.size(), runtimes.size(), first.context());
  IndexingMap both(kPartsFit, no_results, std::move(dims), {}, std::move(runtimes),
                   Constraints(first.constraints()));
  for (const Constraint& constraint : second.constraints()) {
    const AffineExpr expr = Substitute(constraint.expr, {}, symbols_of_second);
    if (!expr) return false;
    both.AddConstraint(kPartsFit, expr, constraint.interval);
  }
  return DomainHasIntegerPoint(both, budget) == Answer::kNo;
}

// Whether each element of the output reads one element through these maps together, or none.
bool ReadOneAtMost(llvm::ArrayRef<const OperandIndexing*> maps, StepBudget* budget) {
  if (maps.size() > kMaxDisjointMaps) return false;
  for (size_t i = 0; i < maps.size(); ++i) {
    if (maps[i]->IsUnknown() || maps[i]->map().num_ranges() > 0) return false;
    for (size_t k = 0; k < i; ++k) {
      if (!AreDisjoint(*maps[i], *maps[k], budget)) return false;
    }
  }
  return true;
}

bool HasUnboundedSize(const Shape& shape) { return !shape.ElementCount().ok(); }

}  // namespace

Interval CountElements(const Shape& array) {
  const absl::StatusOr<int64_t> count = array.ElementCount();
  return count.ok() ? Interval::Point(*count) : Interval::AtLeast(0);
}

Interval CountElementsRead(llvm::ArrayRef<const OperandIndexing*> maps, const Shape& operand,
                           StepBudget* budget) {
  if (llvm::any_of(maps, [](const OperandIndexing* map) { return map->IsUnknown(); }) ||
      HasUnboundedSize(operand)) {
    return CountUpTo(CountElements(operand));
  }
  const llvm::SmallVector<int64_t, 4> sizes(operand.dimensions().begin(),
                                            operand.dimensions().end());
  std::vector<Access> exact;
  std::vector<IndexingMap> without_values;  // exact, and of no runtime variables
  std::vector<Access> all;
  for (const OperandIndexing* map : maps) {
    all.emplace_back(*map, Counted::kElements);
    if (!map->IsExact()) continue;
    exact.emplace_back(all.back());
    if (map->bindings().empty()) without_values.push_back(all.back().map());
  }
  if (without_values.size() == maps.size()) {
    return CountUnionOfImages(without_values, sizes, budget);
  }
  if (all.size() == 1 && exact.size() == 1) {
    return ElementsOf(all[0], budget).Intersect(CountUpTo(CountElements(operand)));
  }
  const Interval of_exact = CountUnionOfImages(without_values, sizes, budget);
  if (of_exact == CountElements(operand)) return of_exact;
  const auto over_values = [&](llvm::ArrayRef<Access> accesses) {
    return OverAllValues(accesses, budget, [&](llvm::ArrayRef<IndexingMap> at_values) {
      return CountUnionOfImages(at_values, sizes, budget);
    });
  };
  std::optional<Interval> most = over_values(all);
  if (exact.size() == all.size() && most) return *most;
  // The least of the exact maps, the most of all.
  Interval least = of_exact;
  Interval sum = Interval::Point(0);
  for (const Access& access : all) sum = sum.Add(ElementsOf(access, budget));
  if (const auto of_values = over_values(exact)) {
    least = *of_values;
  } else {
    for (const Access& access : exact) {
      const Interval count = ElementsOf(access, budget);
      least = Interval::AtLeast(std::max(least.lower(), count.lower()));
    }
  }
  if (!most) {
    std::vector<IndexingMap> free;
    free.reserve(all.size());
    for (const Access& access : all) free.push_back(access.map());
    most = CountUnionOfImages(free, sizes, budget);
  }
  return CountBetween(least, *most).Intersect(CountUpTo(sum));
}

Interval CountReads(llvm::ArrayRef<const OperandIndexing*> maps, const Shape& output,
                    const Shape& operand, StepBudget* budget) {
  const Interval all_pairs = CountElements(output).Mul(CountElements(operand));
  const bool has_no_size = HasUnboundedSize(operand) || HasUnboundedSize(output);
  Interval sum = Interval::Point(0);
  // Exact maps whose reads differ with values that they may share.
  std::vector<Access> with_values;
  for (const OperandIndexing* indexing : maps) {
    if (indexing->IsUnknown() || has_no_size) {
      sum = sum.Add(CountUpTo(all_pairs));
      continue;
    }
    const bool has_values = !indexing->bindings().empty();
    Access access(has_values ? FromDigitsOf(*indexing, output) : *indexing, Counted::kPairs);
    if (const std::optional<Interval> count = ReadsWhateverTheValues(access, budget)) {
      sum = sum.Add(indexing->IsExact() ? *count : CountUpTo(*count));
    } else if (indexing->IsExact()) {
      with_values.push_back(std::move(access));
    } else {
      sum = sum.Add(CountUpTo(BoundReads(access, budget)));
    }
  }
  if (with_values.empty()) return sum;
  const auto over_values =
      OverAllValues(with_values, budget, [&](llvm::ArrayRef<IndexingMap> at_values) {
        Interval reads = Interval::Point(0);
        for (const IndexingMap& map : at_values) reads = reads.Add(CountPairs(map, budget));
        return reads;
      });
  if (over_values) return sum.Add(*over_values);
  for (const Access& access : with_values) sum = sum.Add(BoundReads(access, budget));
  // Pieces of one relation, for some values each.
  if (ReadOneAtMost(maps, budget)) sum = sum.Intersect(CountUpTo(CountElements(output)));
  return sum;
}

}  // namespace xla_indexing::internal
