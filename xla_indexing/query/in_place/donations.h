// Which parameters of the entry give their buffers to results, and which could.
//
// A parameter's leaf is
//
//   aliased      donated, and a result is written into its buffer
//   copied       donated, and a result has its buffer, but is copied there, or what was there is copied before
//   unused       donated, and no result has its buffer
//   possible     not donated; a result of equal shape may be written into it: after everything that
//                reads it, or in an order that reads each element in time (query/in_place/in_place_aliases.h)
//   impossible   not donated, and no result of equal shape may be
//   undecided
//
// Each `possible` is for this donation alone, in addition to those that are stated. Results that are parameters,
// constants, or in the buffer of another parameter need none.
//
// Example: ENTRY e { p = f32[4] parameter(0)  ROOT n = f32[4] negate(p) }: possible, result 0.
#ifndef XLA_INDEXING_QUERY_IN_PLACE_DONATIONS_H_
#define XLA_INDEXING_QUERY_IN_PLACE_DONATIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/query/in_place/buffer_value.h"

namespace xla_indexing {

enum class DonationAnswer : uint8_t {
  kAliased,
  kCopied,
  kUnused,
  kPossible,
  kImpossible,
  kUndecided,
};
// `aliased`, `copied`, ..
absl::string_view DonationAnswerName(DonationAnswer answer);

struct Donation {
  BufferValue parameter;
  DonationAnswer answer = DonationAnswer::kUndecided;
  std::vector<int64_t> output_leaves;  // that are, or may be, in its buffer
  std::string why;
  int64_t bytes = 0;  // of the buffer
};

// One for each array of the entry's parameters, in their order. InvalidArgument for a module that does not
// verify.
absl::StatusOr<std::vector<Donation>> CheckDonations(const HloModule& module,
                                                     mlir::MLIRContext* context);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_QUERY_IN_PLACE_DONATIONS_H_
