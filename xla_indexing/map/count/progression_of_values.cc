#include "xla_indexing/map/count/progression_of_values.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

std::optional<Progression> Quotients(const Progression& values, int64_t divisor) {
  const int64_t first = FloorDiv(values.first(), divisor);
  if (values.step() <= divisor) {
    return Progression::FromSteps(first, Int128{FloorDiv(values.last(), divisor)} - first + 1, 1);
  }
  if (values.step() % divisor != 0) return std::nullopt;
  return Progression::FromSteps(first, *values.Count(), values.step() / divisor);
}

std::optional<Progression> Remainders(const Progression& values, int64_t divisor) {
  const int64_t step = Gcd(values.step(), divisor);
  if (*values.Count() >= divisor / step) {
    return Progression::FromSteps(FloorMod(values.first(), step), divisor / step, step);
  }
  if (FloorDiv(values.first(), divisor) != FloorDiv(values.last(), divisor)) return std::nullopt;
  return Progression::FromSteps(FloorMod(values.first(), divisor), *values.Count(), values.step());
}

class Evaluation {
 public:
  explicit Evaluation(llvm::function_ref<std::optional<Progression>(AffineExpr variable)> values_of)
      : values_of_(values_of) {}

  std::optional<Progression> Of(AffineExpr expr) {
    const LinearSum sum = LinearSum::FromExpr(expr);
    if (!sum.valid()) return std::nullopt;
    std::vector<Progression> terms;
    for (const Term& term : sum.terms()) {
      const std::optional<Progression> values = OfAtom(term.atom);
      if (!values) return std::nullopt;
      const std::optional<Progression> scaled = ExactMul(*values, term.coefficient);
      if (!scaled) return std::nullopt;
      terms.push_back(*scaled);
    }
    return ExactSum(sum.constant(), terms);
  }

 private:
  std::optional<Progression> OfAtom(AffineExpr atom) {
    if (atom.getKind() == AffineExprKind::DimId || atom.getKind() == AffineExprKind::SymbolId) {
      if (llvm::is_contained(seen_, atom)) return std::nullopt;
      seen_.push_back(atom);
      return values_of_(atom);
    }
    const auto division = llvm::cast<mlir::AffineBinaryOpExpr>(atom);
    const std::optional<Progression> dividend = Of(division.getLHS());
    if (!dividend) return std::nullopt;
    const int64_t divisor = llvm::cast<mlir::AffineConstantExpr>(division.getRHS()).getValue();
    return atom.getKind() == AffineExprKind::Mod ? Remainders(*dividend, divisor)
                                                 : Quotients(*dividend, divisor);
  }

  llvm::function_ref<std::optional<Progression>(AffineExpr)> values_of_;
  llvm::SmallVector<AffineExpr, 4> seen_;
};

}  // namespace

std::optional<Progression> ProgressionOfValues(
    AffineExpr expr,
    llvm::function_ref<std::optional<Progression>(AffineExpr variable)> values_of) {
  return Evaluation(values_of).Of(expr);
}

}  // namespace xla_indexing::internal
