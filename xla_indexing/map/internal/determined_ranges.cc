#include "xla_indexing/map/internal/determined_ranges.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/affine/internal/expr_size.h"
#include "xla_indexing/affine/internal/linear_sum.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/map/internal/expr_util.h"
#include "xla_indexing/map/internal/replace_variables.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// The value of a range variable, and that it is an integer.
struct Determined {
  int range;
  AffineExpr value;
  std::optional<Constraint> residue;
};

// The value of a range variable, the last one where there are several, that an equality gives.
std::optional<Determined> DeterminedBy(const Constraint& constraint, const IndexingMap& map,
                                       const DeterminedOptions& options) {
  if (!constraint.interval.IsPoint()) return std::nullopt;
  const LinearSum sum = LinearSum::FromExpr(constraint.expr);
  if (!sum.valid()) return std::nullopt;
  for (int range = map.num_ranges() - 1; range >= 0; --range) {
    const AffineExpr variable = mlir::getAffineSymbolExpr(range, map.context());
    const int64_t coefficient = sum.CoefficientOf(variable);
    if (coefficient == 0 || coefficient == kInt64Min) continue;
    const bool is_unit = coefficient == 1 || coefficient == -1;
    if (!is_unit && options.only_undivided) continue;
    LinearSum rest = sum;
    rest.RemoveTerm(variable);
    rest.SubtractConstant(constraint.interval.lower());
    if (coefficient > 0) rest.Scale(-1);
    const AffineExpr multiple = rest.ToExpr(map.context());
    const int64_t factor = coefficient < 0 ? -coefficient : coefficient;
    const AffineExpr value = multiple ? FloorDiv(multiple, factor) : AffineExpr();
    if (!value) continue;
    llvm::BitVector used(map.num_symbols());
    MarkSymbols(value, &used);
    const int last_used = used.find_last();
    if (used.test(range) || (last_used >= map.num_ranges() && !options.may_use_runtimes)) continue;
    Determined determined{range, value, std::nullopt};
    if (!is_unit) determined.residue = {Mod(multiple, factor), Interval::Point(0)};
    return determined;
  }
  return std::nullopt;
}

// None where a number does not fit int64 or a bound of affine/internal/build.h is passed.
std::optional<IndexingMap> Replace(const Determined& determined, const IndexingMap& map) {
  llvm::SmallVector<AffineExpr, 8> symbols(map.num_symbols());
  symbols[determined.range] = determined.value;
  std::optional<IndexingMap> replaced = ReplaceVariables(
      map, Variables(map.dims()), Variables(map.ranges()), Variables(map.runtimes()), {}, symbols);
  if (replaced) {
    replaced->AddConstraint(kPartsFit, determined.value, map.ranges()[determined.range].bounds);
    if (determined.residue) {
      replaced->AddConstraint(kPartsFit, determined.residue->expr, determined.residue->interval);
    }
  }
  return replaced;
}

// How often symbol `i` occurs in an expression.
int64_t Occurrences(AffineExpr expr, unsigned i) {
  int64_t count = 0;
  expr.walk([&](AffineExpr e) {
    const auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(e);
    if (symbol && symbol.getPosition() == i) ++count;
  });
  return count;
}

// Whether the variable is a name for something long that stands in many places: without it, the map
// would be longer by more than this many divisions.
bool IsShorterNamed(const Determined& determined, const IndexingMap& map) {
  constexpr int64_t kMaxMoreDivisions = 32;
  constexpr int64_t kFewDivisions = 2;
  const int64_t divisions = SizeOf(determined.value).divisions;
  if (divisions <= kFewDivisions) return false;
  int64_t occurrences = -1;  // besides that in the equality
  for (const AffineExpr result : map.results())
    occurrences += Occurrences(result, determined.range);
  for (const Constraint& constraint : map.constraints()) {
    occurrences += Occurrences(constraint.expr, determined.range);
  }
  return occurrences > 1 && divisions * (occurrences - 1) > kMaxMoreDivisions;
}

// Whether one of the first `count` results would come to depend on the last dimension.
bool TakesLastDim(const Determined& determined, const IndexingMap& map, int count) {
  if (!determined.value.isFunctionOfDim(map.num_dims() - 1)) return false;
  return llvm::any_of(map.results().take_front(count), [&](AffineExpr result) {
    return result.isFunctionOfSymbol(determined.range);
  });
}

}  // namespace

bool ReplaceDeterminedRanges(IndexingMap* map, const DeterminedOptions& options) {
  const std::optional<int> without_last_dim = options.without_last_dim;
  bool changed = false;
  // Each replacement leaves a variable without use.
  for (size_t i = 0; i < map->constraints().size();) {
    const std::optional<Determined> determined = DeterminedBy(map->constraints()[i], *map, options);
    std::optional<IndexingMap> replaced;
    if (determined && !IsShorterNamed(*determined, *map) &&
        !(without_last_dim && TakesLastDim(*determined, *map, *without_last_dim))) {
      replaced = Replace(*determined, *map);
    }
    if (!replaced) {
      ++i;
      continue;
    }
    *map = *std::move(replaced);
    changed = true;
    i = 0;
  }
  return changed;
}

}  // namespace xla_indexing::internal
