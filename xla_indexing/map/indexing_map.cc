#include "xla_indexing/map/indexing_map.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"

namespace xla_indexing {
namespace {

using internal::Constant;
using internal::SummandLess;
using ::llvm::dyn_cast;
using ::mlir::AffineExpr;

bool ConstraintLess(const Constraint& a, const Constraint& b) {
  return SummandLess(a.expr, b.expr);
}

Variables VariablesOfSizes(llvm::ArrayRef<int64_t> sizes) {
  Variables variables;
  for (const int64_t size : sizes) variables.push_back({Interval::OfSize(size), {}});
  return variables;
}

bool AnyEmpty(llvm::ArrayRef<Variable> variables) {
  return llvm::any_of(variables, [](const Variable& v) { return v.bounds.IsEmpty(); });
}

bool SameBounds(llvm::ArrayRef<Variable> a, llvm::ArrayRef<Variable> b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Variable& x, const Variable& y) { return x.bounds == y.bounds; });
}

absl::Status VerifyNumbers(mlir::AffineMap affine_map, size_t num_dims, size_t num_ranges,
                           size_t num_runtimes) {
  if (!affine_map) return absl::InvalidArgumentError("the map has no affine map");
  if (affine_map.getNumDims() != num_dims) {
    return absl::InvalidArgumentError(absl::StrCat("the affine map has ", affine_map.getNumDims(),
                                                   " dimensions, the map has ", num_dims,
                                                   " dimension variables"));
  }
  if (affine_map.getNumSymbols() != num_ranges + num_runtimes) {
    return absl::InvalidArgumentError(
        absl::StrCat("the affine map has ", affine_map.getNumSymbols(), " symbols, the map has ",
                     num_ranges, " range variables and ", num_runtimes, " runtime variables"));
  }
  return absl::OkStatus();
}

llvm::SmallVector<Interval, 4> BoundsOf(llvm::ArrayRef<Variable> variables) {
  llvm::SmallVector<Interval, 4> bounds;
  for (const Variable& variable : variables) bounds.push_back(variable.bounds);
  return bounds;
}

}  // namespace

VariableName::VariableName(mlir::StringAttr name) : attribute_(name.getAsOpaquePointer()) {}

llvm::StringRef VariableName::text() const {
  if (attribute_ == nullptr) return {};
  // MLIR's attributes are pointers, and their text is where the context keeps it.
  return mlir::cast<mlir::StringAttr>(mlir::Attribute::getFromOpaquePointer(attribute_)).getValue();
}

IndexingMap::IndexingMap(mlir::MLIRContext* context) {
  SetAffineMap(mlir::AffineMap::get(context));
}

void IndexingMap::SetAffineMap(mlir::AffineMap affine_map) {
  affine_map_ = affine_map.getAsOpaquePointer();
  results_ = affine_map.getResults();
}

mlir::AffineMap IndexingMap::affine_map() const {
  return mlir::AffineMap::getFromOpaquePointer(affine_map_);
}

mlir::MLIRContext* IndexingMap::context() const { return affine_map().getContext(); }

// Callers give all parts away, whichever of them is kept as it is.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
IndexingMap::IndexingMap(PartsFit, mlir::AffineMap affine_map, Variables dims, Variables ranges,
                         // NOLINTNEXTLINE(performance-unnecessary-value-param)
                         Variables runtimes, Constraints constraints)
    : variables_(std::move(dims)),
      num_dims_(static_cast<int>(variables_.size())),
      num_ranges_(static_cast<int>(ranges.size())) {
  variables_.append(ranges);
  variables_.append(runtimes);
  Check(affine_map && affine_map.getNumDims() == static_cast<unsigned>(num_dims_) &&
            affine_map.getNumInputs() == variables_.size(),
        "IndexingMap: the affine map has other numbers of variables");
  SetAffineMap(affine_map);
  if (!constraints.empty()) SetConstraints(std::move(constraints));
}

// NOLINTNEXTLINE(performance-unnecessary-value-param)
absl::StatusOr<IndexingMap> IndexingMap::Create(mlir::AffineMap affine_map, Variables dims,
                                                Variables ranges, Variables runtimes,
                                                Constraints constraints) {
  absl::Status status = VerifyNumbers(affine_map, dims.size(), ranges.size(), runtimes.size());
  if (!status.ok()) return status;
  // The given constraints are verified here, because those that hold everywhere are not kept.
  for (const Constraint& constraint : constraints) {
    status = VerifyExpr(constraint.expr, static_cast<int>(dims.size()),
                        static_cast<int>(ranges.size() + runtimes.size()), affine_map.getContext());
    if (!status.ok()) return status;
  }
  IndexingMap map(kPartsFit, affine_map, std::move(dims), std::move(ranges), std::move(runtimes),
                  std::move(constraints));
  status = map.Verify();
  if (!status.ok()) return status;
  return map;
}

void IndexingMap::SetConstraints(Constraints constraints) {
  constraints_ = std::move(constraints);
  if (constraints_.empty()) return;
  // Constraints that always hold are dropped, those on one expression are merged, and the rest are
  // sorted.
  llvm::SmallDenseMap<AffineExpr, size_t, 8> index_of;
  size_t kept = 0;
  for (const Constraint constraint : constraints_) {
    if (!constraint.expr || AbsorbConstraint(constraint)) continue;
    const auto [it, inserted] = index_of.try_emplace(constraint.expr, kept);
    if (inserted) {
      constraints_[kept++] = constraint;
    } else {
      Interval& interval = constraints_[it->second].interval;
      interval = interval.Intersect(constraint.interval);
    }
  }
  constraints_.truncate(kept);
  llvm::sort(constraints_, ConstraintLess);
}

absl::StatusOr<IndexingMap> IndexingMap::FromTensorSizes(mlir::AffineMap affine_map,
                                                         llvm::ArrayRef<int64_t> dim_sizes,
                                                         llvm::ArrayRef<int64_t> range_sizes) {
  for (const llvm::ArrayRef<int64_t> sizes : {dim_sizes, range_sizes}) {
    for (const auto& [i, size] : llvm::enumerate(sizes)) {
      if (size >= 0) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("the size of ", sizes.data() == dim_sizes.data() ? "dimension " : "range ",
                       i, " is ", size));
    }
  }
  return Create(affine_map, VariablesOfSizes(dim_sizes), VariablesOfSizes(range_sizes), {});
}

llvm::SmallVector<Interval, 4> IndexingMap::DimBounds() const { return BoundsOf(dims()); }

llvm::SmallVector<Interval, 4> IndexingMap::SymbolBounds() const { return BoundsOf(symbols()); }

Variable* IndexingMap::FindVariable(AffineExpr expr) {
  if (auto dim = dyn_cast<mlir::AffineDimExpr>(expr)) {
    const auto position = static_cast<int>(dim.getPosition());
    return position < num_dims() ? &variables_[position] : nullptr;
  }
  if (auto symbol = dyn_cast<mlir::AffineSymbolExpr>(expr)) {
    const auto position = static_cast<int>(symbol.getPosition());
    return position < num_symbols() ? &variables_[num_dims_ + position] : nullptr;
  }
  return nullptr;
}

bool IndexingMap::AbsorbConstraint(const Constraint& constraint) {
  if (constraint.interval.IsAll()) return true;
  if (auto constant = dyn_cast<mlir::AffineConstantExpr>(constraint.expr)) {
    return constraint.interval.Contains(constant.getValue());
  }
  Variable* variable = FindVariable(constraint.expr);
  if (variable == nullptr) return false;
  variable->bounds = variable->bounds.Intersect(constraint.interval);
  return true;
}

absl::Status IndexingMap::AddConstraint(AffineExpr expr, Interval interval) {
  absl::Status status = VerifyExpr(expr, num_dims(), num_symbols(), context());
  if (status.ok()) AddConstraint(kPartsFit, expr, interval);
  return status;
}

void IndexingMap::AddConstraint(PartsFit, AffineExpr expr, Interval interval) {
  Check(static_cast<bool>(expr), "IndexingMap::AddConstraint() of a null expression");
  const Constraint constraint = {expr, interval};
  if (AbsorbConstraint(constraint)) return;
  for (Constraint& present : constraints_) {
    if (present.expr != expr) continue;
    present.interval = present.interval.Intersect(interval);
    return;
  }
  constraints_.insert(llvm::upper_bound(constraints_, constraint, ConstraintLess), constraint);
}

bool IndexingMap::IsKnownEmpty() const {
  return AnyEmpty(variables_) || llvm::any_of(constraints_, [](const Constraint& constraint) {
           if (constraint.interval.IsEmpty()) return true;
           // A constant that is kept as a constraint is outside its interval.
           return constraint.expr.getKind() == mlir::AffineExprKind::Constant;
         });
}

IndexingMap IndexingMap::MakeEmpty(mlir::MLIRContext* context, int num_dims, int num_ranges,
                                   int num_runtimes, int num_results) {
  llvm::SmallVector<AffineExpr, 4> results(num_results, Constant(0, context));
  const auto empty = [](int count) { return Variables(count, Variable{Interval::Empty(), {}}); };
  Constraints constraints;
  if (num_dims + num_ranges + num_runtimes == 0) {
    constraints.push_back({Constant(0, context), Interval::Empty()});
  }
  return IndexingMap(
      kPartsFit, mlir::AffineMap::get(num_dims, num_ranges + num_runtimes, results, context),
      empty(num_dims), empty(num_ranges), empty(num_runtimes), std::move(constraints));
}

bool operator==(const IndexingMap& a, const IndexingMap& b) {
  if (a.affine_map_ == b.affine_map_ && a.num_dims_ == b.num_dims_ &&
      a.num_ranges_ == b.num_ranges_ && SameBounds(a.variables_, b.variables_) &&
      a.constraints_ == b.constraints_) {
    return true;
  }
  return a.context() == b.context() && a.num_dims() == b.num_dims() &&
         a.num_results() == b.num_results() && a.IsKnownEmpty() && b.IsKnownEmpty();
}

llvm::hash_code hash_value(const IndexingMap& map) {
  if (map.IsKnownEmpty()) return llvm::hash_combine(map.num_dims(), map.num_results());
  llvm::hash_code hash = llvm::hash_combine(map.affine_map_, map.num_dims(), map.num_ranges());
  const auto add = [&](const Interval& interval) {
    hash = llvm::hash_combine(hash, absl::Hash<Interval>()(interval));
  };
  for (const Variable& variable : map.variables_) add(variable.bounds);
  for (const Constraint& constraint : map.constraints_) {
    hash = llvm::hash_combine(hash, constraint.expr);
    add(constraint.interval);
  }
  return hash;
}

}  // namespace xla_indexing
