#include "xla_indexing/ops/loops/closure/turns.h"

#include <optional>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/ops/loops/closure/alternation.h"
#include "xla_indexing/ops/loops/closure/periods.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// Whether each result is a dimension, turned round or not, and a constant; or only a constant, as
// where an array goes round.
bool Turns(const OperandIndexing& piece) {
  if (piece.IsUnknown() || piece.map().num_symbols() > 0 || piece.replica_map() != nullptr) {
    return false;
  }
  return llvm::all_of(piece.map().results(), [](AffineExpr result) {
    const LinearSum sum = LinearSum::FromExpr(result);
    return sum.valid() && (sum.terms().empty() ||
                           (sum.terms().size() == 1 &&
                            (sum.terms()[0].coefficient == 1 || sum.terms()[0].coefficient == -1) &&
                            llvm::isa<mlir::AffineDimExpr>(sum.terms()[0].atom)));
  });
}

// Whether such a map adds constants.
bool Moves(const OperandIndexing& piece) {
  const IndexingMap& map = piece.map();
  for (int i = 0; i < map.num_results(); ++i) {
    const AffineExpr result = map.results()[i];
    if (!ConstantIn(result) && !ConstantIn(Sub(result, mlir::getAffineDimExpr(i, map.context())))) {
      return false;
    }
  }
  return true;
}

}  // namespace

std::optional<OperandIndexingSet> CloseTurning(const OperandIndexingSet& pieces) {
  if (!llvm::all_of(pieces, Turns) || llvm::all_of(pieces, Moves)) return std::nullopt;
  return CloseByPeriod(
      pieces, [](const OperandIndexingSet& power) -> std::optional<OperandIndexingSet> {
        if (!llvm::all_of(power, Moves)) return std::nullopt;
        return CloseByAlternation(std::vector<OperandIndexing>(power.begin(), power.end()));
      });
}

}  // namespace xla_indexing::internal
