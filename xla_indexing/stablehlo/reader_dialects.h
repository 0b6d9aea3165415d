// The dialects of the reader: they let MLIR's own parser read the pretty form of StableHLO, CHLO,
// MHLO, as far as it is that of StableHLO, and Shardy. Functions are read by MLIR's dialect for them.
//
// No operation of the four is registered. They are read by Dialect::getParseOperationHook, one
// grammar for all of them,
//
//   op @name ( %a, %b ) LT, %c[1:5], key = value, .. {attributes} : types
//
// and with the few forms that are their own: while, reduce, scan, constants. They get the names that
// the generic form has for their attributes; where the value is a list or a word it stays the text
// that it is, which types_and_attributes.h reads. Attributes `#stablehlo.gather<..>` and types
// `!stablehlo.token` are opaque.
//
// The dialects belong in a context of their own: one that has the real ones must not load them.
//
// Source: the assembly formats of StablehloOps.td, ChloOps.td and Shardy's ops.td.

#ifndef XLA_INDEXING_STABLEHLO_READER_DIALECTS_H_
#define XLA_INDEXING_STABLEHLO_READER_DIALECTS_H_

#include "mlir/IR/DialectRegistry.h"

namespace xla_indexing::internal {

void RegisterReaderDialects(mlir::DialectRegistry* registry);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_STABLEHLO_READER_DIALECTS_H_
