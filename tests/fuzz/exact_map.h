// Indexing maps evaluated in mathematical integers, for the fuzzers: what the library's answers are
// checked against. Nothing here uses the library's own evaluation, intervals' arithmetic or
// simplifier.
//
// Mathematics. Values are 128-bit integers; a value that does not fit is none, and what depends on
// it is not checked. A *point* of a map is the values of its dimensions, range variables and
// runtime variables, in this order, each an int64 as intervals' ends are.
//
// Example: of (d0)[s0] -> (d0 * 4 + s0), d0 in [0, 9], s0 in [0, 3], d0 + s0 in [0, 5], the point
// (2, 3) has the result 11 and is in the domain, (4, 3) is not in it.

#ifndef XLA_INDEXING_TESTS_FUZZ_EXACT_MAP_H_
#define XLA_INDEXING_TESTS_FUZZ_EXACT_MAP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "llvm/ADT/ArrayRef.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::fuzz {

using Random = std::mt19937_64;
using Point = std::vector<int64_t>;

// Reports a contradiction and aborts.
[[noreturn]] void Contradiction(absl::string_view law, absl::string_view first,
                                absl::string_view second = "");

// `(1, 2)`.
std::string PointText(llvm::ArrayRef<int64_t> point);

bool IsIn(const Interval& interval, internal::Int128 value);

// The value of an expression over `num_dims` dimensions and then symbols.
std::optional<internal::Int128> ValueOf(mlir::AffineExpr expr, int num_dims,
                                        llvm::ArrayRef<int64_t> point);

// Whether the point is in the domain.
std::optional<bool> IsInDomain(const IndexingMap& map, llvm::ArrayRef<int64_t> point);

// The results at a point. None where one does not fit int64.
std::optional<Point> ResultsAt(const IndexingMap& map, llvm::ArrayRef<int64_t> point);

// Whether each result is equal, past int64 or not.
std::optional<bool> HaveEqualResults(const IndexingMap& a, const IndexingMap& b,
                                     llvm::ArrayRef<int64_t> point);

// Intervals of the variables of a map, in the order of a point's values.
std::vector<Interval> BoundsOf(const IndexingMap& map);

// All points of a box. None where there are more than `max_points`, or an infinite number.
std::optional<std::vector<Point>> AllPointsOf(llvm::ArrayRef<Interval> box, size_t max_points);

// All points of the domain; none where the candidates are too many or one was not evaluated.
std::optional<std::vector<Point>> AllPoints(const IndexingMap& map, size_t max_points);

// A random value: an end of the interval, a number beside it (perhaps outside), or one in between.
int64_t SomeValue(const Interval& interval, Random& random);

// Points near the domain: a value for each variable, moved, where constraints do not hold, to where
// they may. Many are in the domain; of the others many miss it by little.
std::vector<Point> SomePoints(const IndexingMap& map, size_t count, Random& random);

}  // namespace xla_indexing::fuzz

#endif  // XLA_INDEXING_TESTS_FUZZ_EXACT_MAP_H_
