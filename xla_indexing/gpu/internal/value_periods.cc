#include "xla_indexing/gpu/internal/value_periods.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {
namespace {

// After how many values nothing that is counted changes but for a number that is added to the
// address, here modulo the modulus.
std::optional<Shift> ShiftOf(const LaunchAccess& access, int variable,
                             llvm::ArrayRef<int> constraints, int64_t modulus,
                             llvm::SmallVectorImpl<int64_t>* periods) {
  const FormAlgebra& forms = access.algebra;
  const std::optional<Shift> address = forms.ShiftOf(access.address, variable, periods);
  if (!address) return std::nullopt;
  std::optional<int64_t> period = address->period;
  const auto join = [&](int64_t other) {
    if (period) period = CheckedMul(*period / Gcd(*period, other), other);
  };
  for (const Form& key : access.keys) {
    const std::optional<Shift> shift = forms.ShiftOf(key, variable);
    if (!shift) return std::nullopt;
    join(shift->period);
  }
  for (const int i : constraints) {
    const std::optional<Shift> shift = forms.ShiftOf(access.constraints[i].form, variable, periods);
    if (!shift || shift->change != 0) return std::nullopt;
    join(shift->period);
  }
  if (!period) return std::nullopt;
  const int64_t times = FloorMod(*period / address->period, modulus);
  return Shift{*period, FloorMod(FloorMod(address->change, modulus) * times, modulus)};
}

}  // namespace

std::optional<int64_t> PeriodOf(const LaunchAccess& access, int variable,
                                llvm::ArrayRef<int> constraints, int64_t modulus) {
  const std::optional<Shift> shift =
      ShiftOf(access, variable, constraints, modulus, /*periods=*/nullptr);
  if (!shift) return std::nullopt;
  return CheckedMul(shift->period, modulus / Gcd(modulus, shift->change));
}

ValuePeriod NarrowToPeriod(LaunchAccess* launch, int variable, llvm::ArrayRef<int> open,
                           int64_t modulus, int64_t* steps) {
  LaunchAccess& access = *launch;
  FormAlgebra& forms = access.algebra;
  const ValueRange values = forms.range(variable);
  const auto narrow = [&](int64_t length) {
    forms.Narrow(variable, {values.lower, values.lower + length - 1});
    forms.UpdateDivisionRanges();
  };
  llvm::SmallVector<int64_t, 8> lengths;
  const std::optional<Shift> shift = ShiftOf(access, variable, open, modulus, &lengths);
  if (!shift) return {values.Size()};
  llvm::sort(lengths);
  const int64_t longest = std::min(shift->period, values.Size());
  for (const int64_t length : lengths) {
    if (length >= longest) break;
    const int64_t num_moves = CeilDiv(longest, length);
    if (shift->period % length != 0 || num_moves > *steps) continue;
    narrow(length);
    const auto moves_by = [&](const Form& form) { return forms.MoveOf(form, variable); };
    if (!moves_by(access.address) ||
        !llvm::all_of(open, [&](int i) { return moves_by(access.constraints[i].form) == 0; })) {
      continue;
    }
    *steps -= num_moves;
    ValuePeriod period{length, {}, shift->change};
    llvm::SmallVector<int64_t, 80> at(FormAlgebra::kMaxVariables + forms.divisions().size());
    for (int v = 0; v < forms.num_variables(); ++v) at[v] = forms.range(v).lower;
    const int64_t first = forms.ValueAt(access.address, at);
    for (int64_t u = 0; u < num_moves; ++u) {
      at[variable] = values.lower + u * length;
      period.moves.push_back(FloorMod(forms.ValueAt(access.address, at) - first, modulus));
    }
    return period;
  }
  narrow(longest);
  return {longest, {0}, shift->change};
}

}  // namespace xla_indexing::internal
