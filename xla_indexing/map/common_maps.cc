#include "xla_indexing/map/common_maps.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

using mlir::AffineExpr;

absl::Status NumberDoesNotFit(absl::string_view what) {
  return absl::OutOfRangeError(absl::StrCat(what, ": a number does not fit 64 bits"));
}

absl::Status CheckSizes(llvm::ArrayRef<int64_t> sizes) {
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("dimension ", i, " has the size ", sizes[i], ", which is negative"));
    }
  }
  return absl::OkStatus();
}

// Positions of variables or results that are there, each once.
absl::Status CheckPositions(absl::string_view what, llvm::ArrayRef<int> positions, int count,
                            bool may_repeat) {
  llvm::SmallVector<bool, 8> seen(count, false);
  for (const int position : positions) {
    if (position < 0 || position >= count) {
      return absl::InvalidArgumentError(
          absl::StrCat("there is no ", what, " ", position, " of ", count));
    }
    if (seen[position] && !may_repeat) {
      return absl::InvalidArgumentError(absl::StrCat(what, " ", position, " is named twice"));
    }
    seen[position] = true;
  }
  return absl::OkStatus();
}

// The map over other variables, where the old ones are the given expressions over them.
absl::StatusOr<IndexingMap> OverVariables(const IndexingMap& map, Variables dims, Variables ranges,
                                          Variables runtimes,
                                          llvm::ArrayRef<AffineExpr> dim_replacements,
                                          llvm::ArrayRef<AffineExpr> symbol_replacements) {
  const auto replaced = [&](AffineExpr e) {
    return internal::Substitute(e, dim_replacements, symbol_replacements);
  };
  llvm::SmallVector<AffineExpr, 4> results;
  for (const AffineExpr result : map.results()) {
    results.push_back(replaced(result));
    if (!results.back()) return NumberDoesNotFit("a result");
  }
  Constraints constraints;
  for (const Constraint& constraint : map.constraints()) {
    constraints.push_back({replaced(constraint.expr), constraint.interval});
    if (!constraints.back().expr) return NumberDoesNotFit("a constraint");
  }
  const mlir::AffineMap affine_map =
      mlir::AffineMap::get(dims.size(), ranges.size() + runtimes.size(), results, map.context());
  return IndexingMap::Create(affine_map, std::move(dims), std::move(ranges), std::move(runtimes),
                             std::move(constraints));
}

// The sizes of an array from the most major to the most minor dimension, and its indices likewise.
template <typename T>
llvm::SmallVector<T, 4> InMemoryOrder(llvm::ArrayRef<T> of_dimensions,
                                      llvm::ArrayRef<int64_t> minor_to_major) {
  llvm::SmallVector<T, 4> ordered;
  for (const int64_t dim : llvm::reverse(minor_to_major)) ordered.push_back(of_dimensions[dim]);
  return ordered;
}

absl::Status CheckArray(const ArrayInMemory& array) {
  if (absl::Status status = CheckSizes(array.sizes); !status.ok()) return status;
  const llvm::SmallVector<int, 8> dims(array.minor_to_major.begin(), array.minor_to_major.end());
  if (dims.size() != array.sizes.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "an order of ", dims.size(), " dimensions for an array of ", array.sizes.size()));
  }
  return CheckPositions("dimension", dims, static_cast<int>(array.sizes.size()), false);
}

absl::StatusOr<int64_t> ElementsOf(llvm::ArrayRef<int64_t> sizes) {
  if (llvm::is_contained(sizes, 0)) return 0;
  int64_t count = 1;
  for (const int64_t size : sizes) {
    if (__builtin_mul_overflow(count, size, &count)) return NumberDoesNotFit("a count of elements");
  }
  return count;
}

}  // namespace

absl::StatusOr<IndexingMap> CreateIdentityMap(llvm::ArrayRef<int64_t> sizes,
                                              mlir::MLIRContext* context) {
  return IndexingMap::FromTensorSizes(
      mlir::AffineMap::getMultiDimIdentityMap(sizes.size(), context), sizes);
}

absl::StatusOr<AffineExpr> LinearizeShape(llvm::ArrayRef<int64_t> sizes,
                                          llvm::ArrayRef<AffineExpr> indices,
                                          mlir::MLIRContext* context) {
  if (absl::Status status = CheckSizes(sizes); !status.ok()) return status;
  if (sizes.size() != indices.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(indices.size(), " indices for an array of rank ", sizes.size()));
  }
  if (llvm::is_contained(sizes, 0)) return internal::Constant(0, context);
  AffineExpr linear = internal::Constant(0, context);
  for (size_t i = 0; i < sizes.size(); ++i) {
    linear = internal::Add(internal::Scale(linear, sizes[i]), indices[i]);
  }
  if (!linear) return NumberDoesNotFit("a position");
  return linear;
}

absl::StatusOr<llvm::SmallVector<AffineExpr, 4>> DelinearizeIndex(llvm::ArrayRef<int64_t> sizes,
                                                                  AffineExpr linear) {
  if (absl::Status status = CheckSizes(sizes); !status.ok()) return status;
  llvm::SmallVector<AffineExpr, 4> indices(sizes.size(),
                                           internal::Constant(0, linear.getContext()));
  if (llvm::is_contained(sizes, 0)) return indices;
  // The major-most dimension other than 1 needs no mod: all that is left is its index.
  size_t first = 0;
  while (first < sizes.size() && sizes[first] == 1) ++first;
  int64_t divisor = 1;
  for (size_t i = sizes.size(); i > first; --i) {
    const int64_t size = sizes[i - 1];
    if (size > 1) {
      const AffineExpr quotient = internal::FloorDiv(linear, divisor);
      indices[i - 1] = i - 1 == first ? quotient : internal::Mod(quotient, size);
      if (!indices[i - 1]) return NumberDoesNotFit("an index");
    }
    if (i - 1 > first && __builtin_mul_overflow(divisor, size, &divisor)) {
      return NumberDoesNotFit("a stride");
    }
  }
  return indices;
}

absl::StatusOr<IndexingMap> GetBitcastMap(const ArrayInMemory& from, const ArrayInMemory& to,
                                          mlir::MLIRContext* context) {
  for (const ArrayInMemory* array : {&from, &to}) {
    if (absl::Status status = CheckArray(*array); !status.ok()) return status;
  }
  const absl::StatusOr<int64_t> from_count = ElementsOf(from.sizes);
  const absl::StatusOr<int64_t> to_count = ElementsOf(to.sizes);
  if (!from_count.ok()) return from_count.status();
  if (!to_count.ok()) return to_count.status();
  if (*from_count != *to_count) {
    return absl::InvalidArgumentError(absl::StrCat("arrays of ", *from_count, " and ", *to_count,
                                                   " elements are no bitcast of each other"));
  }
  llvm::SmallVector<AffineExpr, 4> dims;
  for (size_t i = 0; i < from.sizes.size(); ++i) {
    dims.push_back(mlir::getAffineDimExpr(i, context));
  }
  const absl::StatusOr<AffineExpr> linear =
      LinearizeShape(InMemoryOrder(from.sizes, from.minor_to_major),
                     InMemoryOrder(llvm::ArrayRef<AffineExpr>(dims), from.minor_to_major), context);
  if (!linear.ok()) return linear.status();
  const auto indices = DelinearizeIndex(InMemoryOrder(to.sizes, to.minor_to_major), *linear);
  if (!indices.ok()) return indices.status();
  llvm::SmallVector<AffineExpr, 4> results(to.sizes.size());
  for (size_t i = 0; i < indices->size(); ++i) {
    results[to.minor_to_major[indices->size() - 1 - i]] = (*indices)[i];
  }
  absl::StatusOr<IndexingMap> map = IndexingMap::FromTensorSizes(
      mlir::AffineMap::get(from.sizes.size(), 0, results, context), from.sizes);
  if (map.ok()) map->Simplify();
  return map;
}

absl::StatusOr<IndexingMap> SelectResults(const IndexingMap& map, llvm::ArrayRef<int> results) {
  if (absl::Status status = CheckPositions("result", results, map.num_results(), true);
      !status.ok()) {
    return status;
  }
  llvm::SmallVector<AffineExpr, 4> selected;
  for (const int result : results) selected.push_back(map.results()[result]);
  return IndexingMap(
      kPartsFit, mlir::AffineMap::get(map.num_dims(), map.num_symbols(), selected, map.context()),
      Variables(map.dims()), Variables(map.ranges()), Variables(map.runtimes()),
      Constraints(map.constraints()));
}

absl::StatusOr<IndexingMap> RangesToDimensions(const IndexingMap& map, llvm::ArrayRef<int> ranges) {
  if (absl::Status status = CheckPositions("range variable", ranges, map.num_ranges(), false);
      !status.ok()) {
    return status;
  }
  Variables dims(map.dims());
  llvm::SmallVector<AffineExpr, 4> symbols(map.num_symbols());
  for (const int range : ranges) {
    symbols[range] = mlir::getAffineDimExpr(dims.size(), map.context());
    dims.push_back(map.ranges()[range]);
  }
  Variables others;
  for (int range = 0; range < map.num_ranges(); ++range) {
    if (symbols[range]) continue;
    symbols[range] = mlir::getAffineSymbolExpr(others.size(), map.context());
    others.push_back(map.ranges()[range]);
  }
  for (int i = 0; i < map.num_runtimes(); ++i) {
    symbols[map.num_ranges() + i] = mlir::getAffineSymbolExpr(others.size() + i, map.context());
  }
  return OverVariables(map, std::move(dims), std::move(others), Variables(map.runtimes()), {},
                       symbols);
}

absl::StatusOr<IndexingMap> DimensionsToRanges(const IndexingMap& map, llvm::ArrayRef<int> dims) {
  if (absl::Status status = CheckPositions("dimension", dims, map.num_dims(), false);
      !status.ok()) {
    return status;
  }
  Variables ranges(map.ranges());
  llvm::SmallVector<AffineExpr, 4> dim_replacements(map.num_dims());
  for (const int dim : dims) {
    dim_replacements[dim] = mlir::getAffineSymbolExpr(ranges.size(), map.context());
    ranges.push_back(map.dims()[dim]);
  }
  Variables others;
  for (int dim = 0; dim < map.num_dims(); ++dim) {
    if (dim_replacements[dim]) continue;
    dim_replacements[dim] = mlir::getAffineDimExpr(others.size(), map.context());
    others.push_back(map.dims()[dim]);
  }
  llvm::SmallVector<AffineExpr, 4> symbols(map.num_symbols());
  for (int i = 0; i < map.num_symbols(); ++i) {
    const size_t moved = i < map.num_ranges() ? 0 : dims.size();
    symbols[i] = mlir::getAffineSymbolExpr(i + moved, map.context());
  }
  return OverVariables(map, std::move(others), std::move(ranges), Variables(map.runtimes()),
                       dim_replacements, symbols);
}

absl::StatusOr<IndexingMap> RuntimesToDimensions(const IndexingMap& map) {
  Variables dims(map.dims());
  llvm::SmallVector<AffineExpr, 4> symbols(map.num_symbols());
  for (int i = 0; i < map.num_runtimes(); ++i) {
    symbols[map.num_ranges() + i] = mlir::getAffineDimExpr(dims.size(), map.context());
    dims.push_back(map.runtimes()[i]);
  }
  return OverVariables(map, std::move(dims), Variables(map.ranges()), {}, {}, symbols);
}

absl::StatusOr<IndexingMap> RuntimesToConstants(const IndexingMap& map,
                                                llvm::ArrayRef<int64_t> values) {
  if (values.size() != map.runtimes().size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(values.size(), " values for ", map.num_runtimes(), " runtime variables"));
  }
  llvm::SmallVector<AffineExpr, 4> symbols(map.num_symbols());
  for (size_t i = 0; i < values.size(); ++i) {
    if (!map.runtimes()[i].bounds.Contains(values[i])) {
      return IndexingMap::MakeEmpty(map.context(), map.num_dims(), map.num_ranges(), 0,
                                    map.num_results());
    }
    symbols[map.num_ranges() + i] = internal::Constant(values[i], map.context());
  }
  return OverVariables(map, Variables(map.dims()), Variables(map.ranges()), {}, {}, symbols);
}

bool IsSymbolConstrained(const IndexingMap& map, int symbol) {
  return llvm::any_of(map.constraints(), [&](const Constraint& constraint) {
    return constraint.expr.isFunctionOfSymbol(symbol);
  });
}

absl::StatusOr<IndexingMap> ReplaceConstraint(const IndexingMap& map, int constraint,
                                              const std::optional<Constraint>& other) {
  const auto count = static_cast<int>(map.constraints().size());
  if (absl::Status status = CheckPositions("constraint", constraint, count, false); !status.ok()) {
    return status;
  }
  Constraints constraints(map.constraints());
  constraints.erase(constraints.begin() + constraint);
  if (other) constraints.push_back(*other);
  return IndexingMap::Create(map.affine_map(), Variables(map.dims()), Variables(map.ranges()),
                             Variables(map.runtimes()), std::move(constraints));
}

absl::StatusOr<IndexingMap> WithoutUnusedDimensions(const IndexingMap& map,
                                                    llvm::SmallVectorImpl<int>* kept) {
  llvm::SmallVector<bool, 8> is_used(map.num_dims(), false);
  const auto mark = [&](AffineExpr expr) {
    if (const auto dim = mlir::dyn_cast<mlir::AffineDimExpr>(expr))
      is_used[dim.getPosition()] = true;
  };
  for (const AffineExpr result : map.results()) result.walk(mark);
  for (const Constraint& constraint : map.constraints()) constraint.expr.walk(mark);
  Variables dims;
  llvm::SmallVector<AffineExpr, 4> replacements(map.num_dims());
  kept->clear();
  for (int i = 0; i < map.num_dims(); ++i) {
    if (!is_used[i] && !map.dims()[i].bounds.IsEmpty()) continue;
    replacements[i] = mlir::getAffineDimExpr(dims.size(), map.context());
    dims.push_back(map.dims()[i]);
    kept->push_back(i);
  }
  return OverVariables(map, std::move(dims), Variables(map.ranges()), Variables(map.runtimes()),
                       replacements, {});
}

absl::StatusOr<IndexingMap> Converse(const IndexingMap& map) {
  Variables dims;
  for (const AffineExpr result : map.results()) dims.push_back({RangeOf(map, result), {}});
  Variables ranges(map.dims());
  ranges.append(map.ranges().begin(), map.ranges().end());
  llvm::SmallVector<AffineExpr, 4> of_dims;
  for (int i = 0; i < map.num_dims(); ++i) {
    of_dims.push_back(mlir::getAffineSymbolExpr(i, map.context()));
  }
  llvm::SmallVector<AffineExpr, 4> symbols;
  for (int i = 0; i < map.num_symbols(); ++i) {
    symbols.push_back(mlir::getAffineSymbolExpr(map.num_dims() + i, map.context()));
  }
  const absl::StatusOr<IndexingMap> of_ranges = OverVariables(
      map, std::move(dims), std::move(ranges), Variables(map.runtimes()), of_dims, symbols);
  if (!of_ranges.ok()) return of_ranges;
  IndexingMap converse(
      kPartsFit,
      mlir::AffineMap::get(map.num_results(), of_ranges->num_symbols(), of_dims, map.context()),
      Variables(of_ranges->dims()), Variables(of_ranges->ranges()),
      Variables(of_ranges->runtimes()), Constraints(of_ranges->constraints()));
  for (int i = 0; i < map.num_results(); ++i) {
    const AffineExpr difference =
        internal::Sub(of_ranges->results()[i], mlir::getAffineDimExpr(i, map.context()));
    if (!difference) return NumberDoesNotFit("the converse of a map");
    converse.AddConstraint(kPartsFit, difference, Interval::Point(0));
  }
  converse.Simplify();
  return converse;
}

Interval RangeOf(const IndexingMap& map, AffineExpr expr) {
  if (map.IsKnownEmpty()) return Interval::Empty();
  internal::ExprSimplifier simplifier(map.context(), map.DimBounds(), map.SymbolBounds());
  Interval range = Interval::All();
  for (const Constraint& constraint : map.constraints()) {
    if (constraint.expr == expr) range = range.Intersect(constraint.interval);
    const auto sum = internal::LinearSum::FromExpr(constraint.expr);
    if (sum.valid()) simplifier.Assume(sum, constraint.interval);
  }
  return range.Intersect(simplifier.Range(expr));
}

}  // namespace xla_indexing
