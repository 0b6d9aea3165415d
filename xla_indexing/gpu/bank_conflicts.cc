#include "xla_indexing/gpu/bank_conflicts.h"

#include <bit>
#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/gpu/requests/count_requests.h"
#include "xla_indexing/gpu/requests/launch_access.h"
#include "xla_indexing/gpu/requests/launch_threads.h"
#include "xla_indexing/gpu/requests/request_meter.h"
#include "xla_indexing/hlo/memory/physical_layout.h"

namespace xla_indexing {
namespace {

using internal::BankMeter;
using internal::ByteLayout;
using internal::ByteLayoutOf;
using internal::CountRequests;
using internal::LaunchAccess;
using internal::LaunchAccessBuilder;
using internal::LaunchThreads;
using internal::RequestTotals;

absl::Status CheckPowerOfTwoUpTo(absl::string_view what, int64_t number, int64_t most) {
  if (number >= 1 && number <= most && std::has_single_bit(static_cast<uint64_t>(number))) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(what, " ", number, ", and should be a power of two from 1 to ", most));
}

}  // namespace

absl::Status BankOptions::Verify() const {
  if (warp_size != 32 && warp_size != 64) {
    return absl::InvalidArgumentError(
        absl::StrCat("the warp size is ", warp_size, ", and should be 32 or 64"));
  }
  absl::Status status = CheckPowerOfTwoUpTo("the number of banks is", banks, 1024);
  status.Update(CheckPowerOfTwoUpTo("the bytes of a word are", word_bytes, 64));
  if (!status.ok()) return status;
  constexpr int kMostBits = 16;
  const XorSwizzle& s = swizzle;
  if (s.bits < 0 || s.target < 0 || s.source < 0 || s.bits > kMostBits || s.source > kMostBits ||
      s.source + s.bits > kMostBits || (s.bits > 0 && s.target + s.bits > s.source)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a swizzle of ", s.bits, " bits from ", s.source, " into ", s.target,
                     ": they should not overlap, and end at ", kMostBits, " at most"));
  }
  return absl::OkStatus();
}

absl::StatusOr<BankConflicts> ComputeBankConflicts(const ThreadMapping& accesses,
                                                   const Shape& shared_array,
                                                   const BankOptions& options) {
  const QuestionBudget question;
  if (absl::Status status = options.Verify(); !status.ok()) return status;
  if (absl::Status status = accesses.VerifyFor(shared_array); !status.ok()) return status;
  const absl::StatusOr<ByteLayout> layout = ByteLayoutOf(shared_array);
  if (!layout.ok()) return layout.status();
  const llvm::SmallVector<int64_t, 4> sizes(shared_array.dimensions().begin(),
                                            shared_array.dimensions().end());
  const LaunchThreads threads(accesses, options.warp_size);
  LaunchAccessBuilder builder(accesses, threads, sizes);
  absl::StatusOr<LaunchAccess> access = builder.Build({*layout});
  if (!access.ok()) return access.status();
  const BankMeter meter(options.banks, options.word_bytes, options.swizzle);
  const RequestTotals totals = CountRequests(*std::move(access), meter, options.max_steps);
  BankConflicts result;
  result.requests = totals.requests.ToInterval();
  result.wavefronts = totals.units.ToInterval();
  result.least_wavefronts = totals.least.ToInterval();
  if (totals.worst) {
    result.worst = builder.RequestAt(*totals.worst);
    result.worst_wavefronts = totals.worst->cost.units;
  }
  return result;
}

}  // namespace xla_indexing
