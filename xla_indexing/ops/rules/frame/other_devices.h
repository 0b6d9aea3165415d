// Whether a computation stays on its device.

#ifndef XLA_INDEXING_OPS_RULES_FRAME_OTHER_DEVICES_H_
#define XLA_INDEXING_OPS_RULES_FRAME_OTHER_DEVICES_H_

#include <cstdint>
#include <optional>

#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing::internal {

// The number of devices that operations across replicas may lead to, in the computation or in those
// that it calls; nullopt if there are no such operations.
std::optional<int64_t> DevicesAcrossWhich(const HloComputation& computation);

// Whether the opcode is not known and the instruction may be across replicas: there are several devices, or
// it has attributes that only such operations have.
bool MayBeAcrossReplicas(const HloInstruction& instruction);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_RULES_FRAME_OTHER_DEVICES_H_
