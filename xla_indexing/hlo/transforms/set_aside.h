// Makes modules that the verifier refuses usable: a copy that verifies, in which everything that is
// wrong is set aside.
//
//   - A fusion or call whose operands have other shapes than the parameters of its computation gets
//     unknown values of the parameters' shapes as operands instead. So the fusion's maps are those
//     of its computation, and lead to the parameters.
//   - Any other instruction that is wrong becomes a custom call of its name, shape and operands, of
//     which nothing is known but why it was set aside (`WhyUnverified`).
//
// Everything else stays as it is, with its name. What holds of an instruction of the copy that is
// not set aside holds of the instruction of that name in the original; maps through one that is set
// aside are unknown.
//
// Example: `f = f32[4] fusion(a, b), calls=c` with b: f32[4] where parameter 1 of c is f32[]
// becomes
//
//   f.operand1 = f32[] custom-call(b), custom_call_target="xla_indexing.unverified: instruction .."
//   f = f32[4] fusion(a, f.operand1), calls=c

#ifndef XLA_INDEXING_HLO_TRANSFORMS_SET_ASIDE_H_
#define XLA_INDEXING_HLO_TRANSFORMS_SET_ASIDE_H_

#include <memory>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/verify/verifier.h"

namespace xla_indexing {

struct SetAside {
  // The error, which names an instruction of the original and concerns that instruction alone.
  VerificationError error;
  // Whether the instruction is a call whose operands have other shapes than the parameters; it can
  // then still be asked about.
  bool is_call = false;
};

struct ModuleWithErrorsAside {
  std::unique_ptr<HloModule> module;
  // What was set aside, in the order of the original; empty where the original verifies.
  std::vector<SetAside> set_aside;
};

// InvalidArgument with the first error that does not concern an instruction alone (hlo/verify/verifier.h).
// Takes time linear in the module.
absl::StatusOr<ModuleWithErrorsAside> SetErrorsAside(const HloModule& module);

// The error for which an instruction was set aside; nullopt if it was not.
std::optional<absl::string_view> WhyUnverified(const HloInstruction& instruction);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_TRANSFORMS_SET_ASIDE_H_
