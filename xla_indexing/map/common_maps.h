// The maps, and changes of a map, that every user of maps writes: identities, reshapes, some of the
// results, and variables that become variables of another kind.
//
// Sizes are those of arrays, in elements; indices are row-major but for GetBitcastMap. An array with
// a size of 0 has no elements: its maps have an empty domain, and expressions about it are 0.
//
// Example, f32[2,3]:
//
//   LinearizeShape({2, 3}, {d0, d1})   // d0 * 3 + d1
//   DelinearizeIndex({2, 3}, d0)       // (d0 floordiv 3, d0 mod 3)
//
// Errors. InvalidArgument for negative sizes, lists of unequal lengths and positions that are not
// there; OutOfRange where a number does not fit int64.
//
// Source: the helpers of these names in XLA's indexing analysis.
#ifndef XLA_INDEXING_MAP_COMMON_MAPS_H_
#define XLA_INDEXING_MAP_COMMON_MAPS_H_

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {

// (d0, d1, ..) -> (d0, d1, ..), d_i in [0, sizes[i] - 1].
absl::StatusOr<IndexingMap> CreateIdentityMap(llvm::ArrayRef<int64_t> sizes,
                                              mlir::MLIRContext* context);

// The position of the element at `indices`, one for each size: sum_i indices[i] * (the product of
// the sizes after i).
absl::StatusOr<mlir::AffineExpr> LinearizeShape(llvm::ArrayRef<int64_t> sizes,
                                                llvm::ArrayRef<mlir::AffineExpr> indices,
                                                mlir::MLIRContext* context);

// The indices of the element at position `linear`, which is in [0, product of the sizes - 1].
absl::StatusOr<llvm::SmallVector<mlir::AffineExpr, 4>> DelinearizeIndex(
    llvm::ArrayRef<int64_t> sizes, mlir::AffineExpr linear);

// An array in memory: its sizes, and its dimensions from the most minor to the most major.
struct ArrayInMemory {
  llvm::ArrayRef<int64_t> sizes;
  llvm::ArrayRef<int64_t> minor_to_major;
};
// From an element of `from` to the element of `to` in the same place of memory; both have equally
// many elements. Simplified.
absl::StatusOr<IndexingMap> GetBitcastMap(const ArrayInMemory& from, const ArrayInMemory& to,
                                          mlir::MLIRContext* context);

// The map to these results alone, in this order.
absl::StatusOr<IndexingMap> SelectResults(const IndexingMap& map, llvm::ArrayRef<int> results);

// Range variables `ranges`, in this order, become further dimensions after the existing ones. The
// others stay, in their order.
absl::StatusOr<IndexingMap> RangesToDimensions(const IndexingMap& map, llvm::ArrayRef<int> ranges);
// Dimensions `dims`, in this order, become further range variables after the existing ones.
absl::StatusOr<IndexingMap> DimensionsToRanges(const IndexingMap& map, llvm::ArrayRef<int> dims);
// All runtime variables become further dimensions after the existing ones, in their order.
absl::StatusOr<IndexingMap> RuntimesToDimensions(const IndexingMap& map);
// Runtime variable i has the value values[i]. Where that is not in its interval the domain is empty.
absl::StatusOr<IndexingMap> RuntimesToConstants(const IndexingMap& map,
                                                llvm::ArrayRef<int64_t> values);

// Whether a constraint other than its interval mentions symbol number `symbol`.
bool IsSymbolConstrained(const IndexingMap& map, int symbol);
// The map without constraint number `constraint`, or with another one in its place.
absl::StatusOr<IndexingMap> ReplaceConstraint(const IndexingMap& map, int constraint,
                                              const std::optional<Constraint>& other);

// The map without the dimensions that neither results nor constraints use, as a function of those that are left, which
// `kept` names. An empty interval of one that is dropped is not: such a dimension stays.
absl::StatusOr<IndexingMap> WithoutUnusedDimensions(const IndexingMap& map,
                                                    llvm::SmallVectorImpl<int>* kept);

// The converse relation { r -> d : d -> r }, simplified: dimensions are the results, results the dimensions, which become
// range variables. Runtime variables stay.
absl::StatusOr<IndexingMap> Converse(const IndexingMap& map);

// An interval that contains every value of `expr`, over the map's variables, at the points of the
// domain, and perhaps more: what the intervals of the variables and each constraint by itself say.
// Empty where the domain is known to be.
Interval RangeOf(const IndexingMap& map, mlir::AffineExpr expr);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_MAP_COMMON_MAPS_H_
