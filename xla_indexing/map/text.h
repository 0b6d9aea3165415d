// Indexing maps as text.
//
//   map         = variables "->" "(" [ sum { "," sum } ] ")" [ "," "domain" ":" domain ]
//               | "KNOWN" "EMPTY" variables "->" INTEGER "results"
//   variables   = "(" names ")" [ "[" names "]" ] [ "{" names "}" ]      dimension, range, runtime
//   domain      = every variable "in" interval, in order, then every constraint sum "in" interval;
//                 all separated by ","
//   interval    = "[" lower "," upper "]"    integers; "-inf" and "inf" for infinite ends
//   sum         = term { ( "+" | "-" ) term }
//   term        = factor { ( "*" | "floordiv" | "ceildiv" | "mod" ) factor }   from left to right
//   factor      = { "-" } ( INTEGER | name | "(" sum ")" )
//
// A minus before a factor binds tightest: `-d0 floordiv 2` is `(-d0) floordiv 2`.
// White space, line ends included, may stand between any two of these. Names are described in
// map/variable_names.h. A map without variables has no domain. `ceildiv` is read as
// -((-e) floordiv m). The printer writes one line and leaves out empty `[]` and `{}`; what it
// writes for a map that Verify() accepts, and whose expressions affine/build.h made, reads back as
// an equal map.
//
// Refused, with the place: what the grammar does not have, variables that are not declared or are
// declared twice, a variable without interval, an interval whose ends are in the wrong order,
// products of two variables, divisors that are below 1 or not constant, numbers that do not fit
// int64 (in the text or when the text is put in order), nesting over 256, more than 4,096 terms in
// one expression (at all levels of nesting together), lists of more than 65,536.
//
// Example: (d0)[s0] -> (s0, d0 floordiv 2), domain: d0 in [0, 9], s0 in [0, 3], d0 + s0 in [0, 10]

#ifndef XLA_INDEXING_MAP_TEXT_H_
#define XLA_INDEXING_MAP_TEXT_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {

// Where and why a text is not a map.
struct MapParseError {
  size_t offset = 0;  // in bytes from the start of the text
  std::string message;
};

// The map that fills the whole text. The status is InvalidArgument with the message
// `LINE:COLUMN: what is wrong`; where `error` is given, it gets the same in parts, for
// FormatDiagnostic.
absl::StatusOr<IndexingMap> ParseIndexingMap(absl::string_view text, mlir::MLIRContext* context,
                                             MapParseError* error = nullptr);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_MAP_TEXT_H_
