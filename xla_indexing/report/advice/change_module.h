// Copies of a module in which one thing is as somebody was advised to have it. What they compute is equal.
//
// Errors: InvalidArgument where the copy does not verify.
#ifndef XLA_INDEXING_REPORT_ADVICE_CHANGE_MODULE_H_
#define XLA_INDEXING_REPORT_ADVICE_CHANGE_MODULE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/query/in_place/buffer_value.h"

namespace xla_indexing::internal {

// Leaves of parameters of the entry are donated to leaves of its result, in addition to the aliases that are stated.
using DonationPair = std::pair<BufferValue, int64_t>;
absl::StatusOr<std::unique_ptr<HloModule>> WithDonations(const HloModule& module,
                                                         const std::vector<DonationPair>& pairs);

// Whether a parameter of the entry may lie in memory in another order and nothing else change: it is an
// array that only operations read whose results do not depend on where its elements lie.
bool MayHaveAnyLayout(const HloInstruction& parameter);
// The dimension becomes the minor one, the others keep their order. `parameter` is one that may.
absl::StatusOr<std::unique_ptr<HloModule>> WithMinorDimension(const HloInstruction& parameter,
                                                              int64_t dimension);

// The parameter of the entry that a kernel transposes, and does nothing else, and the axes that its result
// has in turn; nullopt if there is none, or it may not lie in memory as that result does: it is donated,
// or the result is one of the entry.
struct TransposedArgument {
  const HloInstruction* parameter;
  std::vector<int64_t> axes;
};
std::optional<TransposedArgument> ArgumentTransposedBy(const HloInstruction& kernel);
// The parameters of such kernels, each of another one, lie so, and the kernels are bitcasts.
absl::StatusOr<std::unique_ptr<HloModule>> WithTransposed(
    const std::vector<const HloInstruction*>& kernels);

// An instruction inside of a fusion, which is an array and not its root, has a kernel of its own. No other
// instruction calls the fusion's computation.
absl::StatusOr<std::unique_ptr<HloModule>> WithOwnKernel(const HloInstruction& fusion,
                                                         const HloInstruction& inside);

// The only reader of a kernel that moves an array into another order, if it is a fusion that could read that array
// itself, and nothing is written over the array before; null otherwise.
const HloInstruction* MayTakeIn(const HloInstruction& movement);
// That fusion takes it in.
absl::StatusOr<std::unique_ptr<HloModule>> WithFolded(const HloInstruction& movement);

// Whether two fusions of arrays of one size, the first of which comes earlier, can be one kernel
// with two results: all that the later one reads is there when the earlier one is computed, and
// neither writes in place.
bool MayBeOneKernel(const HloInstruction& first, const HloInstruction& second);
// They are one.
absl::StatusOr<std::unique_ptr<HloModule>> WithOneKernel(const HloInstruction& first,
                                                         const HloInstruction& second);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_ADVICE_CHANGE_MODULE_H_
