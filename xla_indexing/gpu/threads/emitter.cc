#include "xla_indexing/gpu/threads/emitter.h"

#include "absl/strings/str_cat.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing {

absl::string_view EmitterKindName(EmitterKind kind) {
  switch (kind) {
    case EmitterKind::kLoop:
      return "loop";
    case EmitterKind::kTranspose:
      return "transpose";
    case EmitterKind::kReduction:
      return "reduction";
    case EmitterKind::kConcatenate:
      return "concatenate";
    case EmitterKind::kInPlaceUpdate:
      return "in-place update";
    case EmitterKind::kScatter:
      return "scatter";
  }
  return "";
}

absl::Status EmitterOptions::Verify() const {
  if (warp_size != 32 && warp_size != 64) {
    return absl::InvalidArgumentError(
        absl::StrCat("the warp size is ", warp_size, ", and should be 32 or 64"));
  }
  if (core_count < 1 || threads_per_core < 1 ||
      !internal::CheckedMul(core_count, threads_per_core)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a GPU of ", core_count, " cores with ", threads_per_core,
        " threads each: both should be at least 1, and the threads no more than int64 counts"));
  }
  return absl::OkStatus();
}

}  // namespace xla_indexing
