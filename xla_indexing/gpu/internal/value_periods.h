// After how many values of a variable addresses repeat.
//
// Mathematics. Let v have values from a on, with some constraints. A *shift* of P and c is
//
//   A(v + P) = A(v) + c,   and no constraint changes,
//
// whatever v and the other variables are. It is read off the forms (FormAlgebra::ShiftOf). A part R
// of P is a *period* of the values from a on, if with v = a + t + R*u, t in [0, R - 1],
//
//   A(v) = A(a + t) + g(u),   g(u) = g(u mod U) + c * (u floordiv U),   U = P / R
//
// and no constraint changes. Side condition: FormAlgebra::MoveOf of each form, for v in
// [a, a + R - 1], and 0 for constraints. The values g(0), .., g(U - 1) are then those of the
// address at one point of the others.
//
// Example. Images of 14 rows of 14 elements, 384 channels, and the address of a weight of the
// channel, A = 288 * ((e floordiv 196) mod 384), with e = 32*v + lane: R = 49 warps are 8 images,
// and P = 2352 are all channels. g(u) = 8 * 288 * u for u < U = 48, and c = 0.
#ifndef XLA_INDEXING_GPU_INTERNAL_VALUE_PERIODS_H_
#define XLA_INDEXING_GPU_INTERNAL_VALUE_PERIODS_H_

#include <cstdint>
#include <optional>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/gpu/internal/launch_variables.h"

namespace xla_indexing::internal {

// Residues modulo the meter's modulus.
struct ValuePeriod {
  int64_t length = 1;                      // R
  llvm::SmallVector<int64_t, 1> moves{0};  // g(u) for u in [0, U - 1], or as many as come up
  int64_t change = 0;                      // c
};

// The number of values after which nothing that is counted changes: P times the number of
// repetitions that take c to a multiple of the modulus. None where it cannot be read off the forms.
// `constraints` are those that do not hold everywhere; the modulus is a power of two.
std::optional<int64_t> PeriodOf(const LaunchAccess& access, int variable,
                                llvm::ArrayRef<int> constraints, int64_t modulus);

// The shortest period that is found; all values where there is none. Leaves the variable narrowed
// to its first values, and divisions with their ranges for these. Each of the moves takes a step.
ValuePeriod NarrowToPeriod(LaunchAccess* access, int variable, llvm::ArrayRef<int> constraints,
                           int64_t modulus, int64_t* steps);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_INTERNAL_VALUE_PERIODS_H_
