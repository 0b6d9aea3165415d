#include "xla_indexing/map/internal/residue_value.h"

#include <cstdint>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/internal/build.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {

using ::mlir::AffineExpr;

void ResidueValue::Know(int64_t c, int64_t g, AffineExpr value) {
  const int64_t divisor = Gcd(c, g);
  const int64_t modulus = g / divisor;
  if (modulus > 1) residues_.push_back({c / divisor, modulus, value, divisor});
}

ResidueValue::Combined ResidueValue::Combine(llvm::function_ref<bool(int64_t)> suffices) const {
  // The residues that are needed are found before any expression is made.
  llvm::SmallVector<const Residue*, 2> needed;
  llvm::SmallVector<int64_t, 3> moduli = {1};
  for (const Residue& residue : residues_) {
    if (suffices(moduli.back())) break;
    const int64_t step = residue.modulus / Gcd(moduli.back(), residue.modulus);
    const std::optional<int64_t> lcm = CheckedMul(moduli.back(), step);
    if (step == 1 || !lcm) continue;
    needed.push_back(&residue);
    moduli.push_back(*lcm);
  }
  if (needed.empty() || !suffices(moduli.back())) return {};
  AffineExpr value = Constant(0, residues_.front().value.getContext());
  for (const auto& [residue, modulus] : llvm::zip(needed, moduli)) {
    const int64_t shared = Gcd(modulus, residue->modulus);
    const int64_t step = residue->modulus / shared;
    const AffineExpr other = Scale(FloorDiv(residue->value, residue->divisor),
                                   InverseModulo(residue->factor, residue->modulus));
    const AffineExpr multiple = Mod(
        Scale(FloorDiv(Sub(other, value), shared), InverseModulo(modulus / shared, step)), step);
    value = Add(value, Scale(multiple, modulus));
  }
  return {value, moduli.back()};
}

AffineExpr ResidueValue::In(const Interval& interval) const {
  const std::optional<int64_t> size = interval.Size();
  if (!size || *size == 0) return {};
  const Combined x = Combine([&](int64_t modulus) { return *size <= modulus; });
  if (!x.value) return {};
  const AffineExpr least = Constant(interval.lower(), x.value.getContext());
  return Add(least, Mod(Sub(x.value, least), x.modulus));
}

AffineExpr ResidueValue::Modulo(int64_t m) const {
  return Mod(Combine([&](int64_t modulus) { return modulus % m == 0; }).value, m);
}

}  // namespace xla_indexing::internal
