// A picture of what one element of a result reads, as SVG, for a document.
//
// The element in the middle of the result's first array is marked. Beside it stand the operands, as
// grids in which the elements that it reads are filled, a colour and a letter for each map; below
// them the maps. Of arrays with more than two dimensions the last two are drawn, at the marked (or at
// the first filled) element; of large arrays a square is several elements, and its caption says how
// many. Runtime variables have their least values, which is said below the arrays.
//
// Errors. InvalidArgument for a target whose result has no array with elements; those of indexing
// (fusion/hlo_indexer.h).
#ifndef XLA_INDEXING_REPORT_PICTURE_H_
#define XLA_INDEXING_REPORT_PICTURE_H_

#include <string>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"

namespace xla_indexing {

absl::StatusOr<std::string> PictureOf(IndexingTarget target, mlir::MLIRContext* context);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_REPORT_PICTURE_H_
