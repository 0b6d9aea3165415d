#include "tests/map/isl_judge.h"

#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/ilp.h>
#include <isl/local_space.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/val.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"

// isl loses some memory of a question that it gives up.
extern "C" const char* __lsan_default_suppressions();   // NOLINT(bugprone-reserved-identifier)
extern "C" const char* __lsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
  return "leak:libisl";
}

namespace xla_indexing {
namespace {

std::optional<bool> ToOptional(isl_bool answer) {
  if (answer == isl_bool_error) return std::nullopt;
  return answer == isl_bool_true;
}

// Gives isl all its steps for what comes next, and forgets that it gave up before.
void BeginQuestion(isl_ctx* context) {
  isl_ctx_reset_error(context);
  isl_ctx_reset_operations(context);
}

// Affine expressions over the dimensions of a set, from those of a map.
class IslExprs {
 public:
  IslExprs(isl_ctx* context, const IslJudge::Places& places)
      : context_(context),
        places_(places),
        space_(isl_space_set_alloc(context, 0, places.num_dimensions)) {}
  ~IslExprs() { isl_space_free(space_); }
  IslExprs(const IslExprs&) = delete;
  IslExprs& operator=(const IslExprs&) = delete;

  isl_set* Universe() const { return isl_set_universe(isl_space_copy(space_)); }

  isl_aff* Variable(int dimension) const {
    return isl_aff_var_on_domain(isl_local_space_from_space(isl_space_copy(space_)), isl_dim_set,
                                 dimension);
  }

  isl_aff* Constant(int64_t value) const {
    return isl_aff_val_on_domain(isl_local_space_from_space(isl_space_copy(space_)), Value(value));
  }

  isl_aff* Expr(mlir::AffineExpr expr) const {
    if (const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr)) {
      return Constant(constant.getValue());
    }
    if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr)) {
      return Variable(places_.dims[dim.getPosition()]);
    }
    if (const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(expr)) {
      const size_t position = symbol.getPosition();
      const size_t num_ranges = places_.ranges.size();
      return Variable(position < num_ranges ? places_.ranges[position]
                                            : places_.runtimes[position - num_ranges]);
    }
    const auto binary = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
    isl_aff* const left = Expr(binary.getLHS());
    if (expr.getKind() == mlir::AffineExprKind::Add) {
      return isl_aff_add(left, Expr(binary.getRHS()));
    }
    // Multiples, quotients and remainders are by a constant, which is on the right.
    const int64_t number = llvm::cast<mlir::AffineConstantExpr>(binary.getRHS()).getValue();
    switch (expr.getKind()) {
      case mlir::AffineExprKind::Mul:
        return isl_aff_scale_val(left, Value(number));
      case mlir::AffineExprKind::Mod:
        return isl_aff_mod_val(left, Value(number));
      case mlir::AffineExprKind::FloorDiv:
        return isl_aff_floor(isl_aff_scale_down_val(left, Value(number)));
      default:
        isl_aff_free(left);
        return nullptr;
    }
  }

  // The points of the set where expr is in the interval.
  isl_set* Restrict(isl_set* set, isl_aff* expr, Interval interval) const {
    if (interval.IsEmpty()) {
      isl_aff_free(expr);
      isl_set_free(set);
      return isl_set_empty(isl_space_copy(space_));
    }
    if (interval.has_lower()) {
      isl_basic_set* const above =
          isl_aff_ge_basic_set(isl_aff_copy(expr), Constant(interval.lower()));
      set = isl_set_intersect(set, isl_set_from_basic_set(above));
    }
    if (interval.has_upper()) {
      isl_basic_set* const below =
          isl_aff_ge_basic_set(Constant(interval.upper()), isl_aff_copy(expr));
      set = isl_set_intersect(set, isl_set_from_basic_set(below));
    }
    isl_aff_free(expr);
    return set;
  }

  // The points where expr is 0.
  isl_set* RestrictToZero(isl_set* set, isl_aff* expr) const {
    return isl_set_intersect(set, isl_set_from_basic_set(isl_aff_zero_basic_set(expr)));
  }

 private:
  isl_val* Value(int64_t value) const { return isl_val_int_from_si(context_, value); }

  isl_ctx* context_;
  const IslJudge::Places& places_;
  isl_space* space_;
};

std::vector<int> Numbers(int begin, int count) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), begin);
  return numbers;
}

// The least (greatest) value of a set of numbers that is finite; none where isl gave up.
std::optional<int64_t> EndOf(isl_set* set, bool greatest) {
  IslJudge::Places places;
  places.num_dimensions = 1;
  isl_aff* const number = IslExprs(isl_set_get_ctx(set), places).Variable(0);
  isl_val* const value = greatest ? isl_set_max_val(set, number) : isl_set_min_val(set, number);
  isl_aff_free(number);
  const bool is_integer = isl_val_is_int(value) == isl_bool_true;
  const int64_t end = is_integer ? isl_val_get_num_si(value) : 0;
  isl_val_free(value);
  return is_integer ? std::optional<int64_t>(end) : std::nullopt;
}

}  // namespace

IslSet::IslSet(std::shared_ptr<isl_ctx> context, isl_set* set)
    : context_(std::move(context)), set_(set, isl_set_free) {}

isl_set* IslSet::Copy() const { return isl_set_copy(set_.get()); }

int IslSet::NumDimensions() const {
  return set_ ? static_cast<int>(isl_set_dim(set_.get(), isl_dim_set)) : 0;
}

std::optional<bool> IslSet::IsEmpty() const {
  BeginQuestion(context_.get());
  return ToOptional(isl_set_is_empty(set_.get()));
}

std::optional<bool> IslSet::Equals(const IslSet& other) const {
  BeginQuestion(context_.get());
  return ToOptional(isl_set_is_equal(set_.get(), other.set_.get()));
}

std::optional<bool> IslSet::IsSubsetOf(const IslSet& other) const {
  BeginQuestion(context_.get());
  return ToOptional(isl_set_is_subset(set_.get(), other.set_.get()));
}

IslSet IslSet::Intersect(const IslSet& other) const {
  BeginQuestion(context_.get());
  return {context_, isl_set_intersect(Copy(), other.Copy())};
}

IslSet IslSet::Union(const IslSet& other) const {
  BeginQuestion(context_.get());
  return {context_, isl_set_union(Copy(), other.Copy())};
}

std::optional<bool> IslSet::IsOneBasicSet() const {
  BeginQuestion(context_.get());
  isl_set* coalesced = isl_set_coalesce(Copy());
  if (coalesced == nullptr) return std::nullopt;
  const auto pieces = isl_set_n_basic_set(coalesced);
  isl_set_free(coalesced);
  return pieces == 1;
}

IslSet IslSet::TransitiveClosure(bool* is_exact) const {
  BeginQuestion(context_.get());
  *is_exact = false;
  if (set_ == nullptr) return *this;
  const auto half = static_cast<unsigned>(NumDimensions() / 2);
  isl_map* relation = isl_map_from_domain(Copy());
  relation = isl_map_move_dims(relation, isl_dim_out, 0, isl_dim_in, half, half);
  isl_bool exact = isl_bool_error;
  isl_map* closure = isl_map_transitive_closure(relation, &exact);
  *is_exact = exact == isl_bool_true;
  closure = isl_map_move_dims(closure, isl_dim_in, half, isl_dim_out, 0, half);
  return {context_, isl_map_domain(closure)};
}

IslSet IslSet::ProjectOnto(llvm::ArrayRef<int> dimensions) const {
  BeginQuestion(context_.get());
  isl_set* projection = Copy();
  for (int i = NumDimensions() - 1; i >= 0; --i) {
    if (llvm::is_contained(dimensions, i)) continue;
    projection = isl_set_project_out(projection, isl_dim_set, i, 1);
  }
  return {context_, projection};
}

// A set is a box exactly if it is the product of its projections onto single dimensions and each of
// them is a strided range, which its two least values and its greatest say.
std::optional<IslSet::Box> IslSet::AsBox() const {
  const std::optional<bool> is_empty = IsEmpty();
  if (!is_empty) return std::nullopt;
  const int num_dimensions = NumDimensions();
  if (*is_empty) {
    return Box{num_dimensions > 0, std::vector<StridedRange>(num_dimensions, StridedRange{})};
  }
  Box box{true, {}};
  IslJudge::Places places;
  places.num_dimensions = num_dimensions;
  const IslExprs exprs(context_.get(), places);
  IslSet product{context_, exprs.Universe()};
  for (int i = 0; i < num_dimensions; ++i) {
    const IslSet values = ProjectOnto({i});
    BeginQuestion(context_.get());
    if (!values.set_) return std::nullopt;
    const isl_bool is_finite = isl_set_is_bounded(values.set_.get());
    if (is_finite == isl_bool_error) return std::nullopt;
    if (is_finite == isl_bool_false) return Box{};
    const std::optional<int64_t> least = EndOf(values.set_.get(), false);
    const std::optional<int64_t> greatest = EndOf(values.set_.get(), true);
    if (!least || !greatest) return std::nullopt;
    StridedRange range{*least, 1, 1};
    if (*least < *greatest) {
      const IslSet others(context_,
                          isl_set_lower_bound_val(values.Copy(), isl_dim_set, 0,
                                                  isl_val_int_from_si(context_.get(), *least + 1)));
      const std::optional<int64_t> next = EndOf(others.set_.get(), false);
      if (!next) return std::nullopt;
      range.stride = *next - *least;
      range.count = (*greatest - *least) / range.stride + 1;
    }
    box.ranges.push_back(range);
    isl_set* factor =
        exprs.Restrict(product.Copy(), exprs.Variable(i), Interval::Closed(*least, *greatest));
    isl_aff* const offset = isl_aff_sub(exprs.Variable(i), exprs.Constant(*least));
    factor = exprs.RestrictToZero(
        factor, isl_aff_mod_val(offset, isl_val_int_from_si(context_.get(), range.stride)));
    product = IslSet(context_, factor);
  }
  const std::optional<bool> is_product = Equals(product);
  if (!is_product) return std::nullopt;
  return *is_product ? box : Box{};
}

IslJudge::IslJudge() : context_(isl_ctx_alloc(), isl_ctx_free) {
  isl_options_set_on_error(context_.get(), ISL_ON_ERROR_CONTINUE);
  isl_ctx_set_max_operations(context_.get(), kMaxOperations);
}

IslJudge::Places IslJudge::PlacesInOrder(const IndexingMap& map) {
  const int num_variables = map.num_dims() + map.num_symbols();
  return {.num_dimensions = num_variables + map.num_results(),
          .dims = Numbers(0, map.num_dims()),
          .ranges = Numbers(map.num_dims(), map.num_ranges()),
          .runtimes = Numbers(map.num_dims() + map.num_ranges(), map.num_runtimes()),
          .results = Numbers(num_variables, map.num_results())};
}

IslSet IslJudge::Graph(const IndexingMap& map, const Places& places) const {
  BeginQuestion(context_.get());
  const IslExprs exprs(context_.get(), places);
  isl_set* set = exprs.Universe();
  const auto restrict_variables = [&](const std::vector<int>& at,
                                      llvm::ArrayRef<Variable> variables) {
    for (size_t i = 0; i < at.size(); ++i) {
      set = exprs.Restrict(set, exprs.Variable(at[i]), variables[i].bounds);
    }
  };
  restrict_variables(places.dims, map.dims());
  restrict_variables(places.ranges, map.ranges());
  restrict_variables(places.runtimes, map.runtimes());
  for (const Constraint& constraint : map.constraints()) {
    set = exprs.Restrict(set, exprs.Expr(constraint.expr), constraint.interval);
  }
  for (int i = 0; i < map.num_results(); ++i) {
    isl_aff* const result = exprs.Variable(places.results[i]);
    set = exprs.RestrictToZero(set, isl_aff_sub(result, exprs.Expr(map.results()[i])));
  }
  return {context_, set};
}

IslSet IslJudge::Relation(const IndexingMap& map) const {
  const Places places = PlacesInOrder(map);
  std::vector<int> kept = places.dims;
  kept.insert(kept.end(), places.runtimes.begin(), places.runtimes.end());
  kept.insert(kept.end(), places.results.begin(), places.results.end());
  return Graph(map, places).ProjectOnto(kept);
}

IslSet IslJudge::Domain(const IndexingMap& map) const {
  return Graph(map).ProjectOnto(Numbers(0, map.num_dims() + map.num_symbols()));
}

IslSet IslJudge::Image(const IndexingMap& map) const {
  const Places places = PlacesInOrder(map);
  return Graph(map, places).ProjectOnto(places.results);
}

}  // namespace xla_indexing
