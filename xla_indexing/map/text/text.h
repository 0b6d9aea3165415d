// Indexing maps as text.
//
//   map         = variables "->" "(" [ sum { "," sum } ] ")" [ "," "domain" ":" domain ]
//               | "KNOWN" "EMPTY" variables "->" INTEGER "results"
//   variables   = "(" names ")" [ "[" names "]" ] [ "{" names "}" ]      dimension, range, runtime
//   domain      = every variable "in" interval, in order, then every constraint sum "in" interval;
//                 all separated by ","
//   interval    = "[" lower "," upper "]"    integers; "-inf" and "inf" for infinite ends; empty
//                                            where the lower end is above the upper one
//   sum         = term { ( "+" | "-" ) term }
//   term        = factor { ( "*" | "floordiv" | "ceildiv" | "mod" ) factor }   from left to right;
//                                            "/" and "floorDiv" are floordiv, "ceilDiv" is ceildiv
//   factor      = { "-" } ( INTEGER | name | "(" sum ")" | ( "min" | "max" ) "(" sum "," sum ")" )
//
// Divisors are constants other than 0. A negative one means e floordiv -m = (-e) floordiv m,
// likewise for ceildiv, and e mod -m = e + m * (e floordiv -m) = -((-e) mod m), which is in
// [-m + 1, 0].
//
// min(a, b) and max(a, b) split the map into two pieces, with the points where b - a >= 0 and those
// where b - a <= -1; in each piece they equal one of a and b. Pieces are disjoint and together have
// all points; a piece may be empty.
//
// A minus before a factor binds tightest: `-d0 floordiv 2` is `(-d0) floordiv 2`. White space, line
// ends included, may stand between any two of these. Names are identifiers. A map without variables
// has no domain. `ceildiv` is read as -((-e) floordiv m). The printer writes one line and leaves
// out empty `[]` and `{}`; what it writes for a map that Verify() accepts, reads back as an equal
// map.
//
// Refused, with the place of the error: what the grammar does not allow, variables that are not
// declared or are declared twice, a variable without interval, products and quotients of two
// variables, divisors of 0, numbers that do not fit int64 (in the text or when the text is put in
// order), nesting over 256, more than 4,096 terms in one expression (at all levels of nesting
// together), lists of more than 65,536, more than 64 pieces.
//
// Example: (d0)[s0] -> (s0, d0 floordiv 2), domain: d0 in [0, 9], s0 in [0, 3], d0 + s0 in [0, 10]

#ifndef XLA_INDEXING_MAP_TEXT_TEXT_H_
#define XLA_INDEXING_MAP_TEXT_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

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

// What the text of a map is put together from: the names of the variables, as they are printed, the
// results and the constrained expressions. Those of a map that is known to be empty are its parts
// as they are stored, which its text does not show. Example, of
// `(d0)[s0] -> (d0 + s0), domain: d0 in [0, 3], s0 in [0, 3], d0 + s0 in [0, 4]`:
//
//   dims {"d0"}, ranges {"s0"}, runtimes {}, results {"d0 + s0"}, constraints {"d0 + s0"}
struct MapTextParts {
  std::vector<std::string> dims;
  std::vector<std::string> ranges;
  std::vector<std::string> runtimes;
  std::vector<std::string> results;
  std::vector<std::string> constraints;
};
MapTextParts TextPartsOf(const IndexingMap& map);

inline constexpr size_t kMaxMapPieces = 64;

// The pieces of the map that fills the whole text; a single piece where it has no min and no max of
// expressions. ParseIndexingMap refuses a map of several pieces. Example:
//
//   (d0) -> (max(d0 - 2, 0)), domain: d0 in [0, 9]
//       (d0) -> (0), domain: d0 in [0, 9], -d0 + 2 in [0, inf]
//       (d0) -> (d0 - 2), domain: d0 in [0, 9], -d0 + 2 in [-inf, -1]
absl::StatusOr<std::vector<IndexingMap>> ParseIndexingMapPieces(absl::string_view text,
                                                                mlir::MLIRContext* context,
                                                                MapParseError* error = nullptr);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_MAP_TEXT_TEXT_H_
