#include "xla_indexing/ops/values/cases/literal_regions.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/ops/values/cases/float_values.h"
#include "xla_indexing/ops/values/cases/numbers.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// A run of equal values in a row: up to, but without, `end`.
struct LiteralRun {
  uint64_t bits;
  int64_t end;
};
using RunsOfRow = llvm::SmallVector<LiteralRun, 4>;

// Rows in [first, last] with the same values in their runs, of which run i ends at
// ends[i] + steps[i] * (row - first).
struct RowBlock {
  int64_t first;
  int64_t last;
  RunsOfRow runs;
  llvm::SmallVector<int64_t, 4> steps;

  bool Take(int64_t row, const RunsOfRow& next) {
    if (next.size() != runs.size()) return false;
    for (size_t i = 0; i < runs.size(); ++i) {
      if (next[i].bits != runs[i].bits) return false;
      const int64_t step = next[i].end - runs[i].end;
      if (row == first + 1) continue;
      if (step != steps[i] * (row - first)) return false;
    }
    if (row == first + 1) {
      for (size_t i = 0; i < runs.size(); ++i) steps[i] = next[i].end - runs[i].end;
    }
    last = row;
    return true;
  }
};

// The elements of a literal that differ, as rows and columns: those of two of its dimensions, at 0 in the
// others.
struct LiteralTable {
  const Literal& literal;
  int64_t rows;
  int64_t row_stride;
  int64_t columns;
  int64_t column_stride;

  int64_t PositionOf(int64_t row, int64_t column) const {
    return row * row_stride + column * column_stride;
  }
};

// Whether some element differs from the next one along a dimension of this size and stride.
bool VariesAlong(const Literal& literal, int64_t size, int64_t stride) {
  for (int64_t position = 0; position + stride < literal.ElementCount(); ++position) {
    const bool has_next = position / stride % size + 1 < size;
    if (has_next && literal.BitsAt(position) != literal.BitsAt(position + stride)) return true;
  }
  return false;
}

RunsOfRow FindRuns(const LiteralTable& table, int64_t row) {
  RunsOfRow runs;
  for (int64_t column = 0; column < table.columns; ++column) {
    const uint64_t bits = table.literal.BitsAt(table.PositionOf(row, column));
    if (runs.empty() || runs.back().bits != bits) runs.push_back({bits, column});
    runs.back().end = column + 1;
    if (runs.size() > kMaxValueCases) break;
  }
  return runs;
}

// Nothing if they have too many runs.
std::optional<std::vector<RowBlock>> FindBlocks(const LiteralTable& table) {
  std::vector<RowBlock> blocks;
  size_t regions = 0;
  for (int64_t row = 0; row < table.rows; ++row) {
    RunsOfRow runs = FindRuns(table, row);
    if (!blocks.empty() && blocks.back().Take(row, runs)) continue;
    regions += runs.size();
    if (regions > kMaxValueCases) return std::nullopt;
    llvm::SmallVector<int64_t, 4> steps(runs.size(), 0);
    blocks.push_back({row, row, std::move(runs), std::move(steps)});
  }
  return blocks;
}

std::optional<ValueCases> ValueAt(const Literal& literal, int64_t position, Constraints where,
                                  const ValueVariables& variables) {
  if (HoldsFloats(literal.shape().element_type())) {
    return FloatOfLiteral(literal, Constant(position, variables.context()), where, variables);
  }
  const std::optional<int64_t> number = literal.IntegerAt(position);
  if (!number) return std::nullopt;
  return ValueCases{{std::move(where), Constant(*number, variables.context())}};
}

}  // namespace

std::optional<ValueCases> RegionsOfLiteral(const Literal& literal, llvm::ArrayRef<AffineExpr> index,
                                           const Constraints& when,
                                           const ValueVariables& variables) {
  const ElementType type = literal.shape().element_type();
  if (literal.IsSplat() || !(HoldsIntegers(type) || HoldsFloats(type))) return std::nullopt;
  if (llvm::any_of(index, [&](AffineExpr expr) { return variables.HasUnknown(expr); })) {
    return std::nullopt;
  }
  // So many elements are compared in the time of a step (base/question_budget.h).
  constexpr int64_t kElementsOfStep = 256;
  const auto rank = static_cast<int64_t>(index.size());
  if (!QuestionBudget::Spend(rank * (literal.ElementCount() / kElementsOfStep)))
    return std::nullopt;
  // The dimensions along which elements differ, of which there are one or two, the last first.
  struct Axis {
    AffineExpr index;
    int64_t size;
    int64_t stride;
  };
  llvm::SmallVector<Axis, 2> axes;
  int64_t stride = 1;
  for (size_t k = index.size(); k-- > 0;) {
    const int64_t size = literal.shape().dimension(static_cast<int64_t>(k));
    if (size > 1 && VariesAlong(literal, size, stride)) axes.push_back({index[k], size, stride});
    stride *= size;
  }
  const bool is_list = axes.size() == 1 && index.size() == 1;
  if (axes.empty() || axes.size() > 2 || is_list) return std::nullopt;
  if (axes.size() == 1) axes.push_back({Constant(0, variables.context()), 1, 0});
  const LiteralTable table = {literal, axes[1].size, axes[1].stride, axes[0].size, axes[0].stride};
  const std::optional<std::vector<RowBlock>> blocks = FindBlocks(table);
  if (!blocks) return std::nullopt;
  const AffineExpr row = axes[1].index;
  const AffineExpr column = axes[0].index;
  ValueCases cases;
  for (const RowBlock& block : *blocks) {
    // column - (end + step * (row - first)) of the run before.
    AffineExpr before = column;
    for (size_t i = 0; i < block.runs.size(); ++i) {
      const int64_t step = block.steps[i];
      const AffineExpr after =
          Sub(column, Add(Scale(row, step),
                          Constant(block.runs[i].end - step * block.first, variables.context())));
      if (!after) return std::nullopt;
      Constraints where = when;
      if (blocks->size() > 1) where.push_back({row, Interval::Closed(block.first, block.last)});
      if (i > 0) where.push_back({before, Interval::AtLeast(0)});
      if (i + 1 < block.runs.size()) where.push_back({after, Interval::AtMost(-1)});
      before = after;
      const int64_t position = table.PositionOf(block.first, block.runs[i].end - 1);
      const std::optional<ValueCases> value =
          ValueAt(literal, position, std::move(where), variables);
      if (!value) return std::nullopt;
      llvm::append_range(cases, *value);
    }
  }
  return cases;
}

}  // namespace xla_indexing::internal
