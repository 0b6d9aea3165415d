// A picture of what one element of a result reads, as SVG, for a document.
//
// The element in the middle of a leaf of the result is marked, of the first array with elements
// where none is given. Beside it stand the operands, as grids in which the elements that it reads
// are filled, a colour and a letter for each map; below them the maps. Of arrays with more than two
// dimensions the last two are drawn, at the marked (or at the first filled) element; of large
// arrays a square is several elements, and its caption says how many. Runtime variables have their
// least values, which is said below the arrays, with what they are.
//
// Errors. InvalidArgument for a target whose result has no such leaf, or none with elements; those
// of indexing (fusion/hlo_indexer.h).
#ifndef XLA_INDEXING_REPORT_WRITE_PICTURE_H_
#define XLA_INDEXING_REPORT_WRITE_PICTURE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"

namespace xla_indexing {

absl::StatusOr<std::string> PictureOf(IndexingTarget target, mlir::MLIRContext* context,
                                      std::optional<int64_t> output_leaf = std::nullopt);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_REPORT_WRITE_PICTURE_H_
