#include "python/src/map_program.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"

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
  for (size_t step = begin; step < end; ++step) {
    const Step& s = steps_[step];
    const int64_t* const a = columns + s.left * kBlock;
    const int64_t* const b = columns + s.right * kBlock;
    const int64_t c = s.constant;
    int64_t* const out = columns + (num_variables_ + step) * kBlock;
    switch (s.op) {
      case Op::kConstant:
        std::fill_n(out, count, c);
        break;
      case Op::kAdd:
        for (size_t i = 0; i < count; ++i) {
          has_overflowed[i] |= __builtin_add_overflow(a[i], b[i], &out[i]);
        }
        break;
      case Op::kAddConstant:
        for (size_t i = 0; i < count; ++i) {
          has_overflowed[i] |= __builtin_add_overflow(a[i], c, &out[i]);
        }
        break;
      case Op::kMultiply:
        for (size_t i = 0; i < count; ++i) {
          has_overflowed[i] |= __builtin_mul_overflow(a[i], b[i], &out[i]);
        }
        break;
      case Op::kMultiplyConstant:
        for (size_t i = 0; i < count; ++i) {
          has_overflowed[i] |= __builtin_mul_overflow(a[i], c, &out[i]);
        }
        break;
      case Op::kFloorDiv:
        if (const int shift = LogTwo(c); shift >= 0) {
          for (size_t i = 0; i < count; ++i) out[i] = a[i] >> shift;
        } else {
          for (size_t i = 0; i < count; ++i) out[i] = a[i] / c - (a[i] % c < 0 ? 1 : 0);
        }
        break;
      case Op::kMod:
        if (LogTwo(c) >= 0) {
          for (size_t i = 0; i < count; ++i) out[i] = a[i] & (c - 1);
        } else {
          for (size_t i = 0; i < count; ++i) {
            const int64_t rest = a[i] % c;
            out[i] = rest < 0 ? rest + c : rest;
          }
        }
        break;
    }
  }
}

absl::Status MapProgram::Run(size_t num_rows, absl::Span<const Source> sources, int64_t max_points,
                             absl::FunctionRef<void(const Block&)> visit) const {
  // The variables that take all values of their intervals, and how many points each row has.
  std::vector<int> free_variables;
  int64_t points_of_row = 1;
  for (int v = 0; v < num_variables_; ++v) {
    if (sources[v].values != nullptr) continue;
    free_variables.push_back(v);
    if (intervals_[v].IsEmpty()) {
      points_of_row = 0;
      continue;
    }
    if (!intervals_[v].IsFinite()) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the points of an infinite interval, ", intervals_[v].ToString(), ", cannot be listed"));
    }
    const std::optional<int64_t> size = intervals_[v].Size();
    if (!size || __builtin_mul_overflow(points_of_row, *size, &points_of_row))
      points_of_row = INT64_MAX;
  }
  if (points_of_row == 0 || num_rows == 0) return absl::OkStatus();
  if (static_cast<uint64_t>(num_rows) > static_cast<uint64_t>(max_points / points_of_row)) {
    return absl::ResourceExhaustedError(
        absl::StrCat("there are more than ", max_points, " points"));
  }

  const size_t num_columns = num_variables_ + steps_.size();
  const auto columns = std::make_unique<int64_t[]>(num_columns * kBlock);
  std::vector<uint8_t> is_inside(kBlock);
  std::vector<uint8_t> has_overflowed(kBlock);
  std::vector<size_t> rows(kBlock);
  Block block;
  block.rows = rows.data();
  block.is_inside = is_inside.data();
  for (int v = 0; v < num_variables_; ++v) block.variables.push_back(&columns[v * kBlock]);
  for (const int result : results_) block.results.push_back(&columns[result * kBlock]);

  std::vector<int64_t> odometer;
  for (const int v : free_variables) odometer.push_back(intervals_[v].lower());
  size_t row = 0;
  while (row < num_rows) {
    size_t count = 0;
    for (; count < kBlock && row < num_rows; ++count) {
      rows[count] = row;
      for (size_t f = 0; f < free_variables.size(); ++f) {
        columns[free_variables[f] * kBlock + count] = odometer[f];
      }
      // On to the next point, and after the last of this row to the next row.
      size_t f = free_variables.size();
      for (; f > 0; --f) {
        const Interval& interval = intervals_[free_variables[f - 1]];
        if (odometer[f - 1] < interval.upper()) {
          ++odometer[f - 1];
          break;
        }
        odometer[f - 1] = interval.lower();
      }
      if (f == 0) ++row;
    }
    for (int v = 0; v < num_variables_; ++v) {
      const Source& source = sources[v];
      if (source.values == nullptr) continue;
      int64_t* const column = &columns[v * kBlock];
      for (size_t i = 0; i < count; ++i) column[i] = source.values[rows[i] * source.stride];
    }

    std::fill_n(is_inside.begin(), count, 1);
    std::fill_n(has_overflowed.begin(), count, 0);
    for (int v = 0; v < num_variables_; ++v) {
      if (sources[v].values == nullptr) continue;
      KeepInside(intervals_[v], &columns[v * kBlock], count, is_inside.data());
    }
    RunSteps(0, first_of_results_, count, columns.get(), has_overflowed.data());
    for (size_t i = 0; i < count; ++i) {
      if (has_overflowed[i] != 0 && is_inside[i] != 0) return OverflowError(rows[i]);
    }
    for (const Bound& constraint : constraints_) {
      KeepInside(constraint.interval, &columns[constraint.column * kBlock], count,
                 is_inside.data());
    }
    std::fill_n(has_overflowed.begin(), count, 0);
    RunSteps(first_of_results_, steps_.size(), count, columns.get(), has_overflowed.data());
    for (size_t i = 0; i < count; ++i) {
      if (has_overflowed[i] != 0 && is_inside[i] != 0) return OverflowError(rows[i]);
    }
    block.count = count;
    visit(block);
  }
  return absl::OkStatus();
}

}  // namespace xla_indexing::python
