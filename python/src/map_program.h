// A map's results and domain as a flat program that is run on columns of points.
//
// Mathematics. A point is a value for each variable of the map: dimensions, range variables, runtime variables.
// For many points at once, each subexpression is a column with a value for each point. The program is a list of
// operations on columns, every different subexpression once, constraints before results.
//
// Numbers are checked: a value past int64 of a constraint, for a point within all intervals, or of a result, for
// a point of the domain, is an error.
//
// Example: (d0, d1) -> (d0 * 8 + d1) is two operations, `c2 = c0 * 8; c3 = c2 + c1`, with c3 the result.
//
// A program reads the map it was made of no more, uses no context and may be run by several threads, each with
// columns of its own.
#ifndef PYTHON_SRC_MAP_PROGRAM_H_
#define PYTHON_SRC_MAP_PROGRAM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing::python {

class MapProgram {
 public:
  // Points are worked on in blocks of up to so many.
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

  // Gives `visit` all points of `num_rows` rows, rows in order. InvalidArgument for a variable without values
  // whose interval is infinite, ResourceExhausted for more than `max_points` points, OutOfRange for a number past
  // int64.
  absl::Status Run(size_t num_rows, absl::Span<const Source> sources, int64_t max_points,
                   absl::FunctionRef<void(const Block&)> visit) const;

 private:
  enum class Op : uint8_t {
    kConstant,
    kAdd,
    kAddConstant,
    kMultiply,
    kMultiplyConstant,
    kFloorDiv,
    kMod
  };
  struct Step {
    Op op;
    int left = 0;
    int right = 0;
    int64_t constant = 0;
  };

  class Points;

  int Compile(mlir::AffineExpr expr);
  int AddStep(const Step& step);
  // Runs steps [begin, end) on the columns, which lie one after the other. `has_overflowed` is set for points at
  // which a number did not fit.
  void RunSteps(size_t begin, size_t end, size_t count, int64_t* columns,
                uint8_t* has_overflowed) const;

  struct Bound {
    int column = 0;
    Interval interval;
  };

  int num_dims_;
  int num_variables_;
  std::vector<Interval> intervals_;  // of the variables
  std::vector<Step> steps_;          // step i makes column num_variables_ + i
  size_t first_of_results_ = 0;      // the steps before are what constraints need
  std::vector<Bound> constraints_;
  std::vector<int> results_;
  absl::flat_hash_map<const void*, int> columns_;  // of expressions, while it is compiled
};

}  // namespace xla_indexing::python

#endif  // PYTHON_SRC_MAP_PROGRAM_H_
