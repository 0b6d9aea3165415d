#include "xla_indexing/map/count/strided_values.h"

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

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

// {offset + i * stride : i < count}, count >= 1, where all of it fits int64.
std::optional<StridedRange> RangeOf(Int128 offset, Int128 count, Int128 stride) {
  if (count == 1) stride = 1;
  const std::optional<int64_t> narrow_offset = NarrowToInt64(offset);
  const std::optional<int64_t> narrow_count = NarrowToInt64(count);
  const std::optional<int64_t> narrow_stride = NarrowToInt64(stride);
  if (!narrow_offset || !narrow_count || !narrow_stride) return std::nullopt;
  // The product is below 2^126.
  if (!NarrowToInt64(offset + (count - 1) * stride)) return std::nullopt;
  return StridedRange{*narrow_offset, *narrow_count, *narrow_stride};
}

std::optional<StridedRange> Scaled(const StridedRange& range, int64_t factor) {
  const Int128 first = Int128{factor > 0 ? range.offset : LastOf(range)} * factor;
  const Int128 stride = Int128{range.stride} * factor;
  return RangeOf(first, range.count, stride < 0 ? -stride : stride);
}

// The sum of independent values.
std::optional<StridedRange> SumOf(int64_t constant, llvm::MutableArrayRef<StridedRange> terms) {
  llvm::sort(terms, [](const StridedRange& a, const StridedRange& b) {
    return std::pair(a.stride, a.count) < std::pair(b.stride, b.count);
  });
  Int128 offset = constant;
  Int128 count = 1;
  Int128 stride = 1;
  for (const StridedRange& term : terms) {
    offset += term.offset;
    if (term.count == 1) continue;
    if (count == 1) {
      stride = term.stride;
      count = term.count;
      continue;
    }
    if (term.stride % stride != 0 || term.stride / stride > count) return std::nullopt;
    count += term.stride / stride * (term.count - 1);
  }
  return RangeOf(offset, count, stride);
}

std::optional<StridedRange> Quotients(const StridedRange& range, int64_t divisor) {
  const int64_t first = FloorDiv(range.offset, divisor);
  if (range.stride <= divisor) {
    return RangeOf(first, Int128{FloorDiv(LastOf(range), divisor)} - first + 1, 1);
  }
  if (range.stride % divisor != 0) return std::nullopt;
  return RangeOf(first, range.count, range.stride / divisor);
}

std::optional<StridedRange> Remainders(const StridedRange& range, int64_t divisor) {
  const int64_t step = Gcd(range.stride, divisor);
  if (range.count >= divisor / step) {
    return RangeOf(FloorMod(range.offset, step), divisor / step, step);
  }
  if (FloorDiv(range.offset, divisor) != FloorDiv(LastOf(range), divisor)) return std::nullopt;
  return RangeOf(FloorMod(range.offset, divisor), range.count, range.stride);
}

class Evaluation {
 public:
  explicit Evaluation(
      llvm::function_ref<std::optional<StridedRange>(AffineExpr variable)> values_of)
      : values_of_(values_of) {}

  std::optional<StridedRange> Of(AffineExpr expr) {
    const LinearSum sum = LinearSum::FromExpr(expr);
    if (!sum.valid()) return std::nullopt;
    llvm::SmallVector<StridedRange, 4> terms;
    for (const Term& term : sum.terms()) {
      const std::optional<StridedRange> values = OfAtom(term.atom);
      if (!values) return std::nullopt;
      const std::optional<StridedRange> scaled = Scaled(*values, term.coefficient);
      if (!scaled) return std::nullopt;
      terms.push_back(*scaled);
    }
    return SumOf(sum.constant(), terms);
  }

 private:
  std::optional<StridedRange> OfAtom(AffineExpr atom) {
    if (atom.getKind() == AffineExprKind::DimId || atom.getKind() == AffineExprKind::SymbolId) {
      if (llvm::is_contained(seen_, atom)) return std::nullopt;
      seen_.push_back(atom);
      return values_of_(atom);
    }
    const auto division = llvm::cast<mlir::AffineBinaryOpExpr>(atom);
    const std::optional<StridedRange> dividend = Of(division.getLHS());
    if (!dividend) return std::nullopt;
    const int64_t divisor = llvm::cast<mlir::AffineConstantExpr>(division.getRHS()).getValue();
    return atom.getKind() == AffineExprKind::Mod ? Remainders(*dividend, divisor)
                                                 : Quotients(*dividend, divisor);
  }

  llvm::function_ref<std::optional<StridedRange>(AffineExpr)> values_of_;
  llvm::SmallVector<AffineExpr, 4> seen_;
};

}  // namespace

StridedRange IntersectWith(const StridedRange& range, const Interval& interval) {
  if (range.count == 0) return {};
  const Interval inside = Interval::Closed(range.offset, LastOf(range)).Intersect(interval);
  if (inside.IsEmpty()) return {};
  // Steps from the first element; differences of two of its elements may be up to 2^64.
  const Int128 first = (Int128{inside.lower()} - range.offset + range.stride - 1) / range.stride;
  const Int128 last = (Int128{inside.upper()} - range.offset) / range.stride;
  if (first > last) return {};
  return *RangeOf(range.offset + first * range.stride, last - first + 1, range.stride);
}

std::optional<StridedRange> ElementsOf(const Congruence& residues, const Interval& interval) {
  const Interval ends = residues.Tighten(interval);
  if (ends.IsEmpty()) return StridedRange{};
  if (!ends.IsFinite()) return std::nullopt;
  const int64_t stride = std::max<int64_t>(residues.modulus(), 1);
  return RangeOf(ends.lower(), (Int128{ends.upper()} - ends.lower()) / stride + 1, stride);
}

std::optional<StridedRange> StridedValuesOf(
    AffineExpr expr,
    llvm::function_ref<std::optional<StridedRange>(AffineExpr variable)> values_of) {
  return Evaluation(values_of).Of(expr);
}

}  // namespace xla_indexing::internal
