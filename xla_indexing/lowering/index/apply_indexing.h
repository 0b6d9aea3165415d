// Indexing maps as operations of MLIR: results of a map, and whether a point is in its domain.
//
// Arguments are one value for each dimension and one for each symbol (range variables, then runtime
// variables), all of one type: index, i32 or i64. Index is taken to have 64 bits. MLIR's folders are
// used as operations are made, so that constant arguments give constants. For kAffine, arguments have to be
// dimensions and symbols as the dialect `affine` wants them where the builder inserts.
//
// Example, of the map (d0, d1) -> (d0 * 4 + d1), domain: d0 in [0, 7], d1 in [0, 3]:
//
//   builder.getContext()->loadDialect<mlir::arith::ArithDialect>();
//   ApplyIndexing(builder, loc, map, {i, j}, {});
//
//     %0 = arith.muli %i, %c4 overflow<nsw, nuw> : index
//     %1 = arith.addi %0, %j overflow<nsw, nuw> : index
//
// The dialect `arith` (and `affine`, for kAffine) has to be loaded in the context, which is the map's.
//
// Errors. InvalidArgument for arguments that are not those of the map, or of another type;
// OutOfRange, with the expression and its range, where a number on the way need not fit the type.
#ifndef XLA_INDEXING_LOWERING_INDEX_APPLY_INDEXING_H_
#define XLA_INDEXING_LOWERING_INDEX_APPLY_INDEXING_H_

#include "absl/status/statusor.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Types.h"
#include "mlir/IR/Value.h"
#include "mlir/IR/ValueRange.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {

using MlirValues = llvm::SmallVector<mlir::Value, 4>;

enum class IndexArithmetic {
  kArith,   // operations of `arith`, with nsw and nuw where the domain proves them
  kAffine,  // one affine.apply for each result; of type index
};

// The results of the map at the arguments, which have to be in its domain: elsewhere the values mean
// nothing, and may be poison. Without variables, the values are of type index.
absl::StatusOr<MlirValues> ApplyIndexing(mlir::OpBuilder& builder, mlir::Location loc,
                                         const IndexingMap& map, mlir::ValueRange dims,
                                         mlir::ValueRange symbols,
                                         IndexArithmetic arithmetic = IndexArithmetic::kArith);

// Whether the arguments are in the domain, an i1. What is known of them is said by `known`, a map over
// the same variables, in whose domain they are: comparisons that its intervals and constraints decide
// are left out. Null: they may be any numbers of their type. Constraints are computed of arguments that
// are clamped to the map's intervals, so that no argument makes them overflow.
absl::StatusOr<mlir::Value> CheckDomain(mlir::OpBuilder& builder, mlir::Location loc,
                                        const IndexingMap& map, mlir::ValueRange dims,
                                        mlir::ValueRange symbols,
                                        const IndexingMap* known = nullptr);

// i32 where every number on the way to the map's results and constraints, at the points of its
// intervals, is one of 32 bits; i64 where it is one of 64 bits; else OutOfRange.
absl::StatusOr<mlir::Type> NarrowestIndexType(const IndexingMap& map);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_LOWERING_INDEX_APPLY_INDEXING_H_
