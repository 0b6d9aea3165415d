#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/box.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/map/expr/expr_program.h"
#include "xla_indexing/map/indexing_map.h"

namespace xla_indexing {
namespace {

using internal::ExprProgram;
using internal::FirstPoint;
using internal::Int128;
using internal::NextPoint;

absl::Status CheckPoint(const IndexingMap& map, llvm::ArrayRef<int64_t> dims,
                        llvm::ArrayRef<int64_t> symbols) {
  if (static_cast<int>(dims.size()) == map.num_dims() &&
      static_cast<int>(symbols.size()) == map.num_symbols()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("a point of ", dims.size(), " dimensions and ",
                                                 symbols.size(), " symbols for a map of ",
                                                 map.num_dims(), " and ", map.num_symbols()));
}

ExprProgram ConstraintProgram(const IndexingMap& map) {
  llvm::SmallVector<mlir::AffineExpr, 4> exprs;
  for (const Constraint& constraint : map.constraints()) exprs.push_back(constraint.expr);
  return ExprProgram(exprs);
}

// Whether the values that `program` has computed satisfy the constraints.
bool Satisfied(const IndexingMap& map, const ExprProgram& program,
               const ExprProgram::Workspace& values) {
  for (int i = 0; i < program.num_results(); ++i) {
    if (!map.constraints()[i].interval.Contains(program.Result(values, i))) return false;
  }
  return true;
}

void CopyResults(const ExprProgram& program, const ExprProgram::Workspace& values,
                 llvm::SmallVectorImpl<int64_t>* results) {
  results->resize_for_overwrite(program.num_results());
  for (int i = 0; i < program.num_results(); ++i) (*results)[i] = program.Result(values, i);
}

}  // namespace

absl::StatusOr<bool> IndexingMap::Contains(llvm::ArrayRef<int64_t> dims,
                                           llvm::ArrayRef<int64_t> symbols) const {
  if (absl::Status status = CheckPoint(*this, dims, symbols); !status.ok()) return status;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!variables_[i].bounds.Contains(dims[i])) return false;
  }
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (!symbol(static_cast<int>(i)).bounds.Contains(symbols[i])) return false;
  }
  if (constraints_.empty()) return true;
  const ExprProgram program = ConstraintProgram(*this);
  ExprProgram::Workspace values;
  absl::Status status = program.Evaluate(dims, symbols, &values);
  if (!status.ok()) return status;
  return Satisfied(*this, program, values);
}

absl::StatusOr<llvm::SmallVector<int64_t, 4>> IndexingMap::Evaluate(
    llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> symbols) const {
  if (absl::Status status = CheckPoint(*this, dims, symbols); !status.ok()) return status;
  const ExprProgram program(results());
  ExprProgram::Workspace values;
  absl::Status status = program.Evaluate(dims, symbols, &values);
  if (!status.ok()) return status;
  llvm::SmallVector<int64_t, 4> result;
  CopyResults(program, values, &result);
  return result;
}

absl::Status IndexingMap::ForEachPoint(
    int64_t max_points,
    llvm::function_ref<void(llvm::ArrayRef<int64_t> dims, llvm::ArrayRef<int64_t> symbols,
                            llvm::ArrayRef<int64_t> results)>
        visit) const {
  if (IsKnownEmpty()) return absl::OkStatus();
  llvm::SmallVector<Interval, 8> bounds(DimBounds());
  bounds.append(SymbolBounds());
  Int128 candidates = 1;
  for (const Interval& interval : bounds) {
    if (!interval.IsFinite()) {
      return absl::FailedPreconditionError(absl::StrCat("a variable has the infinite interval ",
                                                        interval.ToString(),
                                                        "; only finite domains can be enumerated"));
    }
    candidates *= Int128{interval.upper()} - interval.lower() + 1;
    if (candidates > max_points) {
      return absl::ResourceExhaustedError(
          absl::StrCat("the variables have more than ", max_points, " points"));
    }
  }

  const ExprProgram constraint_program = ConstraintProgram(*this);
  const ExprProgram result_program(results());
  ExprProgram::Workspace values;
  llvm::SmallVector<int64_t, 8> point;
  FirstPoint(bounds, &point);
  const llvm::ArrayRef<int64_t> dims = llvm::ArrayRef(point).take_front(num_dims_);
  const llvm::ArrayRef<int64_t> symbols = llvm::ArrayRef(point).drop_front(num_dims_);
  llvm::SmallVector<int64_t, 4> result;
  do {
    absl::Status status = constraint_program.Evaluate(dims, symbols, &values);
    if (!status.ok()) return status;
    if (Satisfied(*this, constraint_program, values)) {
      status = result_program.Evaluate(dims, symbols, &values);
      if (!status.ok()) return status;
      CopyResults(result_program, values, &result);
      visit(dims, symbols, result);
    }
  } while (NextPoint(bounds, absl::MakeSpan(point)));
  return absl::OkStatus();
}

}  // namespace xla_indexing
