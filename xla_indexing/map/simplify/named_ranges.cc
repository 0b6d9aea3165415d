#include "xla_indexing/map/simplify/named_ranges.h"

#include <cstddef>
#include <optional>

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/map/expr/expr_program.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/map/simplify/equalities.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// The range variable that an equality gives the value of as the last one of those that it has, when
// the others are known.
std::optional<NamedRange> NameGivenBy(const IndexingMap& map, int constraint,
                                      const llvm::BitVector& open) {
  const Constraint& equality = map.constraints()[constraint];
  llvm::BitVector used(map.num_ranges());
  MarkSymbols(equality.expr, &used);
  used &= open;
  if (used.count() != 1) return std::nullopt;
  const int range = used.find_first();
  const AffineExpr variable = mlir::getAffineSymbolExpr(range, map.context());
  LinearSum rest = LinearSum::FromExpr(equality.expr);
  const int64_t coefficient = rest.CoefficientOf(variable);
  if (!rest.valid() || (coefficient != 1 && coefficient != -1)) return std::nullopt;
  rest.RemoveTerm(variable);
  rest.SubtractConstant(equality.interval.lower());
  if (coefficient == 1) rest.Scale(-1);
  const AffineExpr value = rest.ToExpr(map.context());
  if (!value || HasSymbol(value, range)) return std::nullopt;
  return NamedRange{range, constraint, value};
}

}  // namespace

llvm::SmallVector<NamedRange, 0> NamedRangesOf(const IndexingMap& map) {
  llvm::SmallVector<NamedRange, 0> names;
  // Nearly no map has any.
  if (map.num_ranges() == 0 || llvm::none_of(map.constraints(), GivesName)) return names;
  llvm::SmallVector<int, 8> equalities;
  // Variables that may be names, and are not known to be yet.
  llvm::BitVector open(map.num_ranges());
  for (size_t i = 0; i < map.constraints().size(); ++i) {
    if (!IsEquality(map.constraints()[i])) continue;
    equalities.push_back(static_cast<int>(i));
    const LinearSum sum = LinearSum::FromExpr(map.constraints()[i].expr);
    for (int range = 0; range < map.num_ranges(); ++range) {
      const AffineExpr variable = mlir::getAffineSymbolExpr(range, map.context());
      if (sum.valid() && sum.CoefficientOf(variable) != 0) open.set(range);
    }
  }
  for (bool progress = true; progress;) {
    progress = false;
    llvm::erase_if(equalities, [&](int constraint) {
      const std::optional<NamedRange> name = NameGivenBy(map, constraint, open);
      if (!name) return false;
      names.push_back(*name);
      open.reset(name->range);
      progress = true;
      return true;
    });
  }
  return names;
}

absl::Status ComputeNames(llvm::ArrayRef<NamedRange> names, llvm::ArrayRef<int64_t> dims,
                          llvm::MutableArrayRef<int64_t> symbols) {
  for (const NamedRange& name : names) {
    const ExprProgram program(llvm::ArrayRef(name.value));
    ExprProgram::Workspace values;
    if (absl::Status status = program.Evaluate(dims, symbols, &values); !status.ok()) {
      return status;
    }
    symbols[name.range] = program.Result(values, 0);
  }
  return absl::OkStatus();
}

}  // namespace xla_indexing::internal
