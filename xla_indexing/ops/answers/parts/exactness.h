// How much is known from an answer of the analysis.
//
//   exact              the set named is the set of elements read (or reached), for every content of
//                      the tensors that runtime variables are read from
//   over-approximate   the set named contains every element read (or reached), and perhaps more
//   unknown            nothing is said
//
// Exactness is that of the operation's defining formula: every element that the formula names
// counts as read, whether or not its value can change the result.
//
// Example: Exactness() of a transpose is kExact; an opcode without a builder is kOverApproximate
// with the reason "whole operand: sort is not analysed".

#ifndef XLA_INDEXING_OPS_ANSWERS_PARTS_EXACTNESS_H_
#define XLA_INDEXING_OPS_ANSWERS_PARTS_EXACTNESS_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "xla_indexing/base/cpp20.h"

namespace xla_indexing {

// Labels, from the strongest to the weakest.
enum class Exactness : uint8_t { kExact, kOverApproximate, kUnknown };

// `exact`, `over-approximate`, `unknown`.
absl::string_view ExactnessName(Exactness exactness);

struct ExactnessLabel {
  static ExactnessLabel Exact() { return {}; }
  static ExactnessLabel OverApproximate(std::string reason) {
    return {Exactness::kOverApproximate, std::move(reason)};
  }
  static ExactnessLabel Unknown(std::string reason) {
    return {Exactness::kUnknown, std::move(reason)};
  }

  bool IsExact() const { return exactness == Exactness::kExact; }

  // The label of one step after another: the weaker of the two, and the first where both are
  // equally weak.
  static ExactnessLabel Weaker(const ExactnessLabel& a, const ExactnessLabel& b);

  Exactness exactness = Exactness::kExact;
  std::string reason;  // Empty where exact.

  friend bool operator==(const ExactnessLabel& a, const ExactnessLabel& b) = default;
  template <typename H>
  friend H AbslHashValue(H h, const ExactnessLabel& label) {
    return H::combine(std::move(h), label.exactness, label.reason);
  }
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_OPS_ANSWERS_PARTS_EXACTNESS_H_
