// Factorization and solution of systems with triangular matrices, by the algorithms that solve
// them.

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "tests/reference/execute/operations.h"
#include "tests/reference/execute/value.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"

namespace xla_indexing::reference {
namespace {

// Calls `visit` for the index of the first element of every matrix of a batch.
void ForEachMatrix(const Array& array, absl::FunctionRef<void(const Index& first)> visit) {
  Index sizes(array.sizes().begin(), array.sizes().end());
  for (size_t d = sizes.size() - 2; d < sizes.size(); ++d) sizes[d] = sizes[d] == 0 ? 0 : 1;
  ForEachIndex(sizes, visit);
}

// The sources of an element of a matrix of a batch.
const SourceSet& At(const Array& array, Index first, int64_t row, int64_t column) {
  first[first.size() - 2] = row;
  first[first.size() - 1] = column;
  return array.at(first).sources;
}
SourceSet& At(Array& array, Index first, int64_t row, int64_t column) {
  first[first.size() - 2] = row;
  first[first.size() - 1] = column;
  return array.at(first).sources;
}

}  // namespace

// Column by column, the Cholesky-Banachiewicz algorithm:
//   L[j, j] = sqrt(A[j, j] - sum over k < j of L[j, k]^2)
//   L[i, j] = (A[i, j] - sum over k < j of L[i, k] L[j, k]) / L[j, j],   i > j,
// from the lower triangle of A alone; or all of this with rows and columns exchanged.
Array Cholesky(const HloInstruction& instruction, Operands operands) {
  const bool lower = instruction.GetBool(AttributeKey::kLower);
  const Array& a = operands[0]->front();
  const int64_t n = a.size(a.rank() - 1);
  Array result(instruction.shape());
  ForEachMatrix(a, [&](const Index& first) {
    const auto from = [&](int64_t i, int64_t j) -> const SourceSet& {
      return lower ? At(a, first, i, j) : At(a, first, j, i);
    };
    const auto factor = [&](int64_t i, int64_t j) -> SourceSet& {
      return lower ? At(result, first, i, j) : At(result, first, j, i);
    };
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = j; i < n; ++i) {
        SourceSet sources = from(i, j);
        for (int64_t k = 0; k < j; ++k) {
          sources.AddAll(factor(i, k));
          sources.AddAll(factor(j, k));
        }
        if (i > j) sources.AddAll(factor(j, j));
        factor(i, j) = sources;
      }
    }
  });
  return result;
}

// Solves op(A) X = B by substitution: from the first row down where op(A) is lower triangular, from
// the last row up where it is upper. X op(A) = B is that of the transposed matrices.
Array TriangularSolve(const HloInstruction& instruction, Operands operands) {
  const absl::string_view op = instruction.GetText(AttributeKey::kTransposeA);
  const bool transposes = op == "TRANSPOSE" || op == "ADJOINT";
  const bool left = instruction.GetBool(AttributeKey::kLeftSide);
  const bool unit_diagonal = instruction.GetBool(AttributeKey::kUnitDiagonal);
  const Array& a = operands[0]->front();
  const Array& b = operands[1]->front();
  const int64_t n = a.size(a.rank() - 1);
  const int64_t columns = b.size(b.rank() - (left ? 1 : 2));
  Array result(instruction.shape());
  ForEachMatrix(b, [&](const Index& first) {
    const auto matrix = [&](int64_t row, int64_t column) -> const SourceSet& {
      if (!left) std::swap(row, column);
      if (transposes) std::swap(row, column);
      return At(a, first, row, column);
    };
    const auto x = [&](int64_t row, int64_t column) -> SourceSet& {
      return left ? At(result, first, row, column) : At(result, first, column, row);
    };
    // Each exchange of rows and columns makes an upper matrix of a lower one.
    bool forward = instruction.GetBool(AttributeKey::kLower);
    if (!left) forward = !forward;
    if (transposes) forward = !forward;
    for (int64_t column = 0; column < columns; ++column) {
      for (int64_t step = 0; step < n; ++step) {
        const int64_t row = forward ? step : n - 1 - step;
        SourceSet sources = left ? At(b, first, row, column) : At(b, first, column, row);
        for (int64_t before = 0; before < step; ++before) {
          const int64_t solved = forward ? before : n - 1 - before;
          sources.AddAll(matrix(row, solved));
          sources.AddAll(x(solved, column));
        }
        if (!unit_diagonal) sources.AddAll(matrix(row, row));
        x(row, column) = sources;
      }
    }
  });
  return result;
}

}  // namespace xla_indexing::reference
