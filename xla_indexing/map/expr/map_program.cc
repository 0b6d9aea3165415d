#include "xla_indexing/map/expr/map_program.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/numbers/box.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/expr/expr_program.h"

namespace xla_indexing {
namespace {

using internal::ExprProgram;
using internal::Int128;
using internal::NextPoint;

constexpr size_t kBlock = MapProgram::kBlock;
using Source = MapProgram::Source;

// Clears the flags of the values outside of the interval.
void KeepInside(const Interval& interval, const int64_t* values, size_t count, uint8_t* flags) {
  if (interval.IsEmpty()) {
    std::fill_n(flags, count, 0);
    return;
  }
  if (interval.has_lower()) {
    const int64_t lower = interval.lower();
    for (size_t i = 0; i < count; ++i) flags[i] &= values[i] >= lower;
  }
  if (interval.has_upper()) {
    const int64_t upper = interval.upper();
    for (size_t i = 0; i < count; ++i) flags[i] &= values[i] <= upper;
  }
}

absl::Status OverflowError(size_t row) {
  return absl::OutOfRangeError(absl::StrCat("row ", row, ": a number does not fit 64 bits"));
}

// Goes through the points of all rows, and through all values of the variables that are not given.
class PointsOfRows {
 public:
  // Errors as those of Run.
  static absl::StatusOr<PointsOfRows> Create(absl::Span<const Interval> intervals, size_t num_rows,
                                             absl::Span<const Source> sources, int64_t max_points) {
    PointsOfRows points(intervals, num_rows, sources);
    const auto is_empty = [&](int v) { return intervals[v].IsEmpty(); };
    if (llvm::any_of(points.free_, is_empty)) points.num_rows_ = 0;
    Int128 count = points.num_rows_;
    for (const int v : points.free_) {
      const Interval& interval = intervals[v];
      if (count == 0) break;
      if (!interval.IsFinite()) {
        return absl::FailedPreconditionError(absl::StrCat(
            "the points of an infinite interval, ", interval.ToString(), ", cannot be listed"));
      }
      points.box_.push_back(interval);
      points.values_.push_back(interval.lower());
      count *= Int128{interval.upper()} - interval.lower() + 1;
      if (count > max_points) break;
    }
    if (count > max_points) {
      return absl::ResourceExhaustedError(
          absl::StrCat("there are more than ", max_points, " points"));
    }
    points.block_ = std::min(kBlock, static_cast<size_t>(count));
    return points;
  }

  // How many points are worked on at a time, at most.
  size_t block() const { return block_; }

  // Puts the next points into the columns of the variables, and their rows into `rows`. Returns how
  // many there are, 0 at the end.
  size_t Fill(int64_t* columns, size_t* rows) {
    size_t count = 0;
    for (; count < block_ && row_ < num_rows_; ++count) {
      rows[count] = row_;
      for (size_t f = 0; f < free_.size(); ++f) columns[free_[f] * block_ + count] = values_[f];
      if (!NextPoint(box_, absl::MakeSpan(values_))) ++row_;
    }
    for (const int v : given_) {
      const Source& source = sources_[v];
      int64_t* const column = columns + v * block_;
      for (size_t i = 0; i < count; ++i) column[i] = source.values[rows[i] * source.stride];
    }
    return count;
  }

  // Clears the flags of the points of which a value that is given lies outside of its interval.
  void KeepWithinIntervals(const int64_t* columns, size_t count, uint8_t* flags) const {
    for (const int v : given_) {
      KeepInside(intervals_[v], columns + v * block_, count, flags);
    }
  }

 private:
  PointsOfRows(absl::Span<const Interval> intervals, size_t num_rows,
               absl::Span<const Source> sources)
      : intervals_(intervals), num_rows_(num_rows), sources_(sources) {
    for (int v = 0; v < static_cast<int>(intervals.size()); ++v) {
      (sources[v].values == nullptr ? free_ : given_).push_back(v);
    }
  }

  absl::Span<const Interval> intervals_;
  size_t num_rows_;
  size_t row_ = 0;
  size_t block_ = 1;
  absl::Span<const Source> sources_;
  std::vector<int> given_;
  std::vector<int> free_;      // the last the fastest
  std::vector<Interval> box_;  // of those
  std::vector<int64_t> values_;
};

}  // namespace

MapProgram::MapProgram(const IndexingMap& map)
    : num_dims_(map.num_dims()), num_results_(map.num_results()) {
  for (const Variable& dim : map.dims()) intervals_.push_back(dim.bounds);
  for (const Variable& symbol : map.symbols()) intervals_.push_back(symbol.bounds);
  llvm::SmallVector<mlir::AffineExpr, 8> exprs;
  for (const Constraint& constraint : map.constraints()) {
    constraints_.push_back(constraint.interval);
    exprs.push_back(constraint.expr);
  }
  exprs.append(map.results().begin(), map.results().end());
  program_ = std::make_shared<const ExprProgram>(exprs);
}

absl::Status MapProgram::Run(size_t num_rows, absl::Span<const Source> sources, int64_t max_points,
                             absl::FunctionRef<void(const Block&)> visit) const {
  if (sources.size() != intervals_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat(sources.size(), " sources for ", intervals_.size(), " variables"));
  }
  absl::StatusOr<PointsOfRows> points =
      PointsOfRows::Create(intervals_, num_rows, sources, max_points);
  if (!points.ok()) return points.status();

  const size_t size = points->block();
  const auto variables = std::make_unique<int64_t[]>(intervals_.size() * size);
  std::vector<size_t> rows(size);
  std::vector<uint8_t> is_inside(size);
  Block block;
  block.rows = rows.data();
  block.is_inside = is_inside.data();
  for (size_t v = 0; v < intervals_.size(); ++v) {
    block.variables.push_back(&variables[v * size]);
  }
  const absl::Span<const int64_t* const> of_variables = block.variables;
  ExprProgram::Columns columns = program_->MakeColumns(size, of_variables.subspan(0, num_dims_),
                                                       of_variables.subspan(num_dims_));
  const auto num_constraints = static_cast<int>(constraints_.size());
  for (int i = 0; i < num_results_; ++i) {
    block.results.push_back(program_->Result(columns, num_constraints + i));
  }

  // Computes some expressions. Leaves the points before the first that is inside and has a number that
  // does not fit.
  absl::Status status;
  const auto evaluate = [&](int begin, int end) {
    std::vector<uint8_t> has_overflowed(block.count);
    program_->EvaluateColumns(begin, end, block.count, &columns, has_overflowed.data());
    for (size_t i = 0; i < block.count; ++i) {
      if (has_overflowed[i] == 0 || is_inside[i] == 0) continue;
      status = OverflowError(rows[i]);
      block.count = i;
    }
  };
  while (status.ok() && (block.count = points->Fill(variables.get(), rows.data())) > 0) {
    if (absl::Status goes_on = QuestionBudget::CheckGoesOn(); !goes_on.ok()) return goes_on;
    std::fill_n(is_inside.begin(), block.count, 1);
    points->KeepWithinIntervals(variables.get(), block.count, is_inside.data());
    evaluate(0, num_constraints);
    for (int i = 0; i < num_constraints; ++i) {
      KeepInside(constraints_[i], program_->Result(columns, i), block.count, is_inside.data());
    }
    evaluate(num_constraints, num_constraints + num_results_);
    visit(block);
  }
  return status;
}

}  // namespace xla_indexing
