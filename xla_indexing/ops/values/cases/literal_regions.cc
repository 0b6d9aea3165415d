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

RunsOfRow FindRuns(const Literal& literal, int64_t row, int64_t columns) {
  RunsOfRow runs;
  for (int64_t column = 0; column < columns; ++column) {
    const uint64_t bits = literal.BitsAt(row * columns + column);
    if (runs.empty() || runs.back().bits != bits) runs.push_back({bits, column});
    runs.back().end = column + 1;
    if (runs.size() > kMaxValueCases) break;
  }
  return runs;
}

// Nothing if they have too many runs.
std::optional<std::vector<RowBlock>> FindBlocks(const Literal& literal, int64_t rows,
                                                int64_t columns) {
  std::vector<RowBlock> blocks;
  size_t regions = 0;
  for (int64_t row = 0; row < rows; ++row) {
    RunsOfRow runs = FindRuns(literal, row, columns);
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
  // The dimensions with more than one element, of which there are two.
  llvm::SmallVector<size_t, 2> varying;
  for (size_t k = 0; k < index.size(); ++k) {
    if (literal.shape().dimension(static_cast<int64_t>(k)) > 1) varying.push_back(k);
    if (variables.HasUnknown(index[k])) return std::nullopt;
  }
  if (varying.size() != 2) return std::nullopt;
  // So many elements are compared in the time of a step (base/question_budget.h).
  constexpr int64_t kElementsOfStep = 256;
  if (!QuestionBudget::Spend(literal.ElementCount() / kElementsOfStep)) return std::nullopt;
  const int64_t rows = literal.shape().dimension(static_cast<int64_t>(varying[0]));
  const int64_t columns = literal.shape().dimension(static_cast<int64_t>(varying[1]));
  const std::optional<std::vector<RowBlock>> blocks = FindBlocks(literal, rows, columns);
  if (!blocks) return std::nullopt;
  const AffineExpr row = index[varying[0]];
  const AffineExpr column = index[varying[1]];
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
      const int64_t position = block.first * columns + block.runs[i].end - 1;
      const std::optional<ValueCases> value =
          ValueAt(literal, position, std::move(where), variables);
      if (!value) return std::nullopt;
      llvm::append_range(cases, *value);
    }
  }
  return cases;
}

}  // namespace xla_indexing::internal
