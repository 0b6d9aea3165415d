#include "xla_indexing/map/count/progression_of_values.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/congruence.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

// {first + i * stride : i < count}, count and stride >= 1, where all of it fits int64.
std::optional<Progression> ProgressionFrom(Int128 first, Int128 count, Int128 stride) {
  if (count == 1) stride = 1;
  const std::optional<int64_t> narrow_first = NarrowToInt64(first);
  const std::optional<int64_t> narrow_stride = NarrowToInt64(stride);
  if (!narrow_first || !narrow_stride || count > (Int128{1} << 64)) return std::nullopt;
  // The product is below 2^127 - 2^64.
  const std::optional<int64_t> last = NarrowToInt64(first + (count - 1) * stride);
  if (!last) return std::nullopt;
  return Progression::Of(Interval::Closed(*narrow_first, *last),
                         Congruence::Of(*narrow_first, *narrow_stride));
}

Int128 CountOf(const Progression& values) { return *values.Count(); }

std::optional<Progression> Scaled(const Progression& values, int64_t factor) {
  const Int128 first = Int128{factor > 0 ? values.first() : values.last()} * factor;
  const Int128 stride = Int128{values.step()} * factor;
  return ProgressionFrom(first, CountOf(values), stride < 0 ? -stride : stride);
}

// The sum of independent values.
std::optional<Progression> SumOf(int64_t constant, llvm::MutableArrayRef<Progression> terms) {
  llvm::sort(terms, [](const Progression& a, const Progression& b) {
    return std::pair(a.step(), CountOf(a)) < std::pair(b.step(), CountOf(b));
  });
  Int128 first = constant;
  Int128 count = 1;
  Int128 stride = 1;
  for (const Progression& term : terms) {
    first += term.first();
    if (term.interval.IsPoint()) continue;
    if (count == 1) {
      stride = term.stride();
      count = CountOf(term);
      continue;
    }
    if (term.stride() % stride != 0 || term.stride() / stride > count) return std::nullopt;
    count += term.stride() / stride * (CountOf(term) - 1);
  }
  return ProgressionFrom(first, count, stride);
}

std::optional<Progression> Quotients(const Progression& values, int64_t divisor) {
  const int64_t first = FloorDiv(values.first(), divisor);
  if (values.step() <= divisor) {
    return ProgressionFrom(first, Int128{FloorDiv(values.last(), divisor)} - first + 1, 1);
  }
  if (values.step() % divisor != 0) return std::nullopt;
  return ProgressionFrom(first, CountOf(values), values.step() / divisor);
}

std::optional<Progression> Remainders(const Progression& values, int64_t divisor) {
  const int64_t step = Gcd(values.step(), divisor);
  if (CountOf(values) >= divisor / step) {
    return ProgressionFrom(FloorMod(values.first(), step), divisor / step, step);
  }
  if (FloorDiv(values.first(), divisor) != FloorDiv(values.last(), divisor)) return std::nullopt;
  return ProgressionFrom(FloorMod(values.first(), divisor), CountOf(values), values.step());
}

class Evaluation {
 public:
  explicit Evaluation(llvm::function_ref<std::optional<Progression>(AffineExpr variable)> values_of)
      : values_of_(values_of) {}

  std::optional<Progression> Of(AffineExpr expr) {
    const LinearSum sum = LinearSum::FromExpr(expr);
    if (!sum.valid()) return std::nullopt;
    llvm::SmallVector<Progression, 4> terms;
    for (const Term& term : sum.terms()) {
      const std::optional<Progression> values = OfAtom(term.atom);
      if (!values) return std::nullopt;
      const std::optional<Progression> scaled = Scaled(*values, term.coefficient);
      if (!scaled) return std::nullopt;
      terms.push_back(*scaled);
    }
    return SumOf(sum.constant(), terms);
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
