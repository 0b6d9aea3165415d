// A map compiled for evaluation at many points.
//
// A point is a value for each variable of the map: dimensions, range variables, runtime variables. Points
// are worked on in blocks, in which each variable and each result is a column with a value for each
// point.
//
//   MapProgram program(map);  // (d0)[s0] -> (d0 * 8 + s0), d0 in [0, 9], s0 in [0, 7]
//   std::vector<int64_t> rows = {3, 5};
//   program.Run(2, {{rows.data(), 1}, {}}, 1000, [](const MapProgram::Block& block) {
//     // 16 points, 8 for each row: block.results[0] is 24, .., 31, 40, .., 47
//   });
//
// Errors. Numbers are checked: a value past int64 of a constraint at a point within all intervals, or of
// a result at a point of the domain, is an error.
//
// A program does not refer to the map that it was made of, uses no context, and may be run by several
// threads at a time.
#ifndef XLA_INDEXING_MAP_EXPR_MAP_PROGRAM_H_
#define XLA_INDEXING_MAP_EXPR_MAP_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {

namespace internal {
class ExprProgram;
}  // namespace internal

class MapProgram {
 public:
  // Points of a block, at most.
  static constexpr size_t kBlock = 512;

  explicit MapProgram(const IndexingMap& map);

  // Where the values of one variable come from: for point row r, `values[r * stride]`; or, without values, every
  // value of the variable's interval, for every row, the last such variable the fastest.
  struct Source {
    const int64_t* values = nullptr;
    size_t stride = 0;
  };

  // Some points, in order, and what is known of them.
  struct Block {
    size_t count = 0;
    const size_t* rows = nullptr;           // of each point
    std::vector<const int64_t*> variables;  // a column for each variable
    std::vector<const int64_t*> results;    // a column for each result
    const uint8_t* is_inside = nullptr;     // whether each point is in the domain
  };

  // Gives `visit` all points of `num_rows` rows, rows in order. `sources` has one for each variable.
  // InvalidArgument if it has not; FailedPrecondition for a variable without values whose interval is
  // infinite; ResourceExhausted for more than `max_points` points; OutOfRange for a number past int64, when
  // the points before it have been visited.
  absl::Status Run(size_t num_rows, absl::Span<const Source> sources, int64_t max_points,
                   absl::FunctionRef<void(const Block&)> visit) const;

 private:
  int num_variables() const { return static_cast<int>(intervals_.size()); }

  int num_dims_;
  std::vector<Interval> intervals_;  // of the variables
  std::vector<Interval> constraints_;
  int num_results_;
  // Constraints, then results.
  std::shared_ptr<const internal::ExprProgram> program_;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_MAP_EXPR_MAP_PROGRAM_H_
