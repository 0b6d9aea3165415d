#include "python/src/map_program.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/base/question_budget.h"

namespace xla_indexing::python {
namespace {

// The exponent of a power of two, or -1.
int LogTwo(int64_t value) {
  return value > 0 && (value & (value - 1)) == 0 ? __builtin_ctzll(value) : -1;
}

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

template <typename Right>
void AddColumns(const int64_t* left, Right right, size_t count, int64_t* out, uint8_t* overflowed) {
  for (size_t i = 0; i < count; ++i) {
    overflowed[i] |= __builtin_add_overflow(left[i], right(i), &out[i]) ? 1 : 0;
  }
}

template <typename Right>
void MultiplyColumns(const int64_t* left, Right right, size_t count, int64_t* out,
                     uint8_t* overflowed) {
  for (size_t i = 0; i < count; ++i) {
    overflowed[i] |= __builtin_mul_overflow(left[i], right(i), &out[i]) ? 1 : 0;
  }
}

// Rounded down, by a divisor of at least 1.
void FloorDivideColumn(const int64_t* left, int64_t divisor, size_t count, int64_t* out) {
  if (const int shift = LogTwo(divisor); shift >= 0) {
    for (size_t i = 0; i < count; ++i) out[i] = left[i] >> shift;
    return;
  }
  for (size_t i = 0; i < count; ++i) out[i] = left[i] / divisor - (left[i] % divisor < 0 ? 1 : 0);
}

// The remainder in [0, divisor - 1].
void ModuloColumn(const int64_t* left, int64_t divisor, size_t count, int64_t* out) {
  if (LogTwo(divisor) >= 0) {
    for (size_t i = 0; i < count; ++i) out[i] = left[i] & (divisor - 1);
    return;
  }
  for (size_t i = 0; i < count; ++i) {
    const int64_t rest = left[i] % divisor;
    out[i] = rest < 0 ? rest + divisor : rest;
  }
}

absl::Status OverflowError(size_t row) {
  return absl::OutOfRangeError(absl::StrCat("row ", row, ": a number does not fit 64 bits"));
}

}  // namespace

MapProgram::MapProgram(const IndexingMap& map)
    : num_dims_(map.num_dims()), num_variables_(map.num_dims() + map.num_symbols()) {
  for (const Variable& dim : map.dims()) intervals_.push_back(dim.bounds);
  for (const Variable& symbol : map.symbols()) intervals_.push_back(symbol.bounds);
  for (const Constraint& constraint : map.constraints()) {
    constraints_.push_back({Compile(constraint.expr), constraint.interval});
  }
  first_of_results_ = steps_.size();
  for (const mlir::AffineExpr result : map.results()) results_.push_back(Compile(result));
  columns_.clear();
}

int MapProgram::AddStep(const Step& step) {
  steps_.push_back(step);
  return num_variables_ + static_cast<int>(steps_.size()) - 1;
}

// Expressions nest at most 256 deep (map/indexing_map.h, Verify).
int MapProgram::Compile(mlir::AffineExpr expr) {
  if (const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr)) {
    return static_cast<int>(dim.getPosition());
  }
  if (const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(expr)) {
    return num_dims_ + static_cast<int>(symbol.getPosition());
  }
  const void* const key = expr.getAsOpaquePointer();
  if (const auto found = columns_.find(key); found != columns_.end()) return found->second;
  int column = 0;
  if (const auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr)) {
    column = AddStep({Op::kConstant, 0, 0, constant.getValue()});
  } else {
    const auto binary = llvm::cast<mlir::AffineBinaryOpExpr>(expr);
    const auto right = llvm::dyn_cast<mlir::AffineConstantExpr>(binary.getRHS());
    const int left = Compile(binary.getLHS());
    Op op = Op::kAdd;
    switch (expr.getKind()) {
      case mlir::AffineExprKind::Mul:
        op = right ? Op::kMultiplyConstant : Op::kMultiply;
        break;
      case mlir::AffineExprKind::FloorDiv:
        op = Op::kFloorDiv;
        break;
      case mlir::AffineExprKind::Mod:
        op = Op::kMod;
        break;
      default:
        op = right ? Op::kAddConstant : Op::kAdd;
    }
    column = right ? AddStep({op, left, 0, right.getValue()})
                   : AddStep({op, left, Compile(binary.getRHS()), 0});
  }
  columns_.emplace(key, column);
  return column;
}

void MapProgram::RunSteps(size_t begin, size_t end, size_t count, int64_t* columns,
                          uint8_t* has_overflowed) const {
  for (size_t i = begin; i < end; ++i) {
    const Step& step = steps_[i];
    const int64_t* const left = columns + step.left * kBlock;
    const int64_t* const right = columns + step.right * kBlock;
    int64_t* const out = columns + (num_variables_ + i) * kBlock;
    switch (step.op) {
      case Op::kConstant:
        std::fill_n(out, count, step.constant);
        break;
      case Op::kAdd:
        AddColumns(left, [right](size_t row) { return right[row]; }, count, out, has_overflowed);
        break;
      case Op::kAddConstant:
        AddColumns(left, [&step](size_t) { return step.constant; }, count, out, has_overflowed);
        break;
      case Op::kMultiply:
        MultiplyColumns(
            left, [right](size_t row) { return right[row]; }, count, out, has_overflowed);
        break;
      case Op::kMultiplyConstant:
        MultiplyColumns(
            left, [&step](size_t) { return step.constant; }, count, out, has_overflowed);
        break;
      case Op::kFloorDiv:
        FloorDivideColumn(left, step.constant, count, out);
        break;
      case Op::kMod:
        ModuloColumn(left, step.constant, count, out);
        break;
    }
  }
}

// Goes through the points of all rows, and through all values of the variables that are not given.
class MapProgram::Points {
 public:
  // Errors as those of Run.
  static absl::StatusOr<Points> Create(const MapProgram& program, size_t num_rows,
                                       absl::Span<const Source> sources, int64_t max_points) {
    Points points(program, num_rows, sources);
    int64_t points_of_row = 1;
    for (const int v : points.free_) {
      const Interval& interval = program.intervals_[v];
      if (interval.IsEmpty()) {
        points.num_rows_ = 0;
        return points;
      }
      if (!interval.IsFinite()) {
        return absl::InvalidArgumentError(absl::StrCat("the points of an infinite interval, ",
                                                       interval.ToString(), ", cannot be listed"));
      }
      points.values_.push_back(interval.lower());
      const std::optional<int64_t> size = interval.Size();
      if (!size || __builtin_mul_overflow(points_of_row, *size, &points_of_row)) {
        points_of_row = INT64_MAX;
      }
    }
    if (num_rows > static_cast<uint64_t>(max_points / points_of_row)) {
      return absl::ResourceExhaustedError(
          absl::StrCat("there are more than ", max_points, " points"));
    }
    return points;
  }

  // Puts the next points into the columns of the variables, and their rows into `rows`. Returns how
  // many there are, 0 at the end.
  size_t Fill(int64_t* columns, size_t* rows) {
    size_t count = 0;
    for (; count < kBlock && row_ < num_rows_; ++count) {
      rows[count] = row_;
      for (size_t f = 0; f < free_.size(); ++f) columns[free_[f] * kBlock + count] = values_[f];
      Advance();
    }
    for (const int v : given_) {
      const Source& source = sources_[v];
      int64_t* const column = columns + v * kBlock;
      for (size_t i = 0; i < count; ++i) column[i] = source.values[rows[i] * source.stride];
    }
    return count;
  }

  // Clears the flags of the points of which a value that is given lies outside of its interval.
  void KeepWithinIntervals(const int64_t* columns, size_t count, uint8_t* flags) const {
    for (const int v : given_) {
      KeepInside(program_.intervals_[v], columns + v * kBlock, count, flags);
    }
  }

 private:
  Points(const MapProgram& program, size_t num_rows, absl::Span<const Source> sources)
      : program_(program), num_rows_(num_rows), sources_(sources) {
    for (int v = 0; v < program.num_variables_; ++v) {
      (sources[v].values == nullptr ? free_ : given_).push_back(v);
    }
  }

  // To the next point of the row, and after its last one to the next row.
  void Advance() {
    for (size_t f = free_.size(); f > 0; --f) {
      const Interval& interval = program_.intervals_[free_[f - 1]];
      if (values_[f - 1] < interval.upper()) {
        ++values_[f - 1];
        return;
      }
      values_[f - 1] = interval.lower();
    }
    ++row_;
  }

  const MapProgram& program_;
  size_t num_rows_;
  size_t row_ = 0;
  absl::Span<const Source> sources_;
  std::vector<int> given_;
  std::vector<int> free_;  // the last the fastest
  std::vector<int64_t> values_;
};

absl::Status MapProgram::Run(size_t num_rows, absl::Span<const Source> sources, int64_t max_points,
                             absl::FunctionRef<void(const Block&)> visit) const {
  absl::StatusOr<Points> points = Points::Create(*this, num_rows, sources, max_points);
  if (!points.ok()) return points.status();

  const auto columns = std::make_unique<int64_t[]>((num_variables_ + steps_.size()) * kBlock);
  std::vector<size_t> rows(kBlock);
  std::vector<uint8_t> is_inside(kBlock);
  Block block;
  block.rows = rows.data();
  block.is_inside = is_inside.data();
  for (int v = 0; v < num_variables_; ++v) block.variables.push_back(&columns[v * kBlock]);
  block.results.reserve(results_.size());
  for (const int result : results_) block.results.push_back(&columns[result * kBlock]);

  // Runs some steps; no number of a point that is inside may overflow.
  const auto run = [&](size_t begin, size_t end) -> absl::Status {
    std::vector<uint8_t> has_overflowed(block.count);
    RunSteps(begin, end, block.count, columns.get(), has_overflowed.data());
    for (size_t i = 0; i < block.count; ++i) {
      if (has_overflowed[i] != 0 && is_inside[i] != 0) return OverflowError(rows[i]);
    }
    return absl::OkStatus();
  };
  while ((block.count = points->Fill(columns.get(), rows.data())) > 0) {
    if (absl::Status status = QuestionBudget::CheckGoesOn(); !status.ok()) return status;
    std::fill_n(is_inside.begin(), block.count, 1);
    points->KeepWithinIntervals(columns.get(), block.count, is_inside.data());
    if (absl::Status status = run(0, first_of_results_); !status.ok()) return status;
    for (const Bound& constraint : constraints_) {
      KeepInside(constraint.interval, &columns[constraint.column * kBlock], block.count,
                 is_inside.data());
    }
    if (absl::Status status = run(first_of_results_, steps_.size()); !status.ok()) return status;
    visit(block);
  }
  return absl::OkStatus();
}

}  // namespace xla_indexing::python
