// The values of a variable between two carries.
//
// Mathematics. Let v be the only variable, beside the inner ones, that is in divisions. A division
// of a dividend D by m has the quotient q for all lanes where all values of D are in
// [q*m, q*m + m - 1]; then  D floordiv m = q  and  D mod m = D - q*m.  As long as v stays where all
// divisions with it have the quotients that they have, forms are linear in v: the lanes lie as they
// do at the first value, and all of them are moved by the same number of bits each time. A
// constraint is in such a sum, too: it goes on to hold for all lanes, or for none, until its end
// comes. A value at which a division carries within the warp, or a constraint holds for some lanes
// only, is a stretch by itself, unless v moves neither.
//
// Example. A(v, lane) = 32 * ((32*v + lane) mod 700 + 1000 * floor((32*v + lane) / 700)): v = 0 to
// 20 have no carry and are one stretch, along which A grows by 1024. v = 21 begins at 672 and
// carries after 28 lanes.
#ifndef XLA_INDEXING_GPU_REQUESTS_STRETCH_H_
#define XLA_INDEXING_GPU_REQUESTS_STRETCH_H_

#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/gpu/requests/launch_variables.h"

namespace xla_indexing::internal {

struct Stretch {
  int variable = -1;      // none for a stretch of one request
  int64_t length = 1;     // in values
  int64_t slope = 0;      // by which the address grows with each, up to multiples of the modulus
  bool is_active = true;  // Some lane may be.
  llvm::SmallVector<int, 4> open;  // the constraints that may hold for some lanes only
};

// The stretch from the value on that the variable is narrowed to, as if there were values without
// end. Ranges are as AccessProgram::UpdateRanges leaves them; `used` are the steps that count, and
// `open` the constraints that may not hold.
Stretch StretchAt(const LaunchAccess& access, int variable, llvm::ArrayRef<bool> used,
                  llvm::ArrayRef<int> open, int64_t modulus);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_GPU_REQUESTS_STRETCH_H_
