// Sets of opcodes that are known when the program is compiled.
//
//   constexpr OpcodeSet kShifts = {HloOpcode::kShiftLeft, HloOpcode::kShiftRightLogical};
//   kShifts.Has(instruction.opcode());

#ifndef XLA_INDEXING_HLO_TYPES_OPCODE_SET_H_
#define XLA_INDEXING_HLO_TYPES_OPCODE_SET_H_

#include <array>
#include <cstddef>
#include <initializer_list>

#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::internal {

class OpcodeSet {
 public:
  constexpr OpcodeSet(std::initializer_list<HloOpcode> opcodes) {
    for (const HloOpcode opcode : opcodes) has_[static_cast<size_t>(opcode)] = true;
  }
  constexpr bool Has(HloOpcode opcode) const { return has_[static_cast<size_t>(opcode)]; }
  static constexpr OpcodeSet All() {
    OpcodeSet all = {};
    for (bool& has : all.has_) has = true;
    return all;
  }
  friend constexpr OpcodeSet operator|(OpcodeSet a, const OpcodeSet& b) {
    for (size_t i = 0; i < kOpcodeCount; ++i) a.has_[i] = a.has_[i] || b.has_[i];
    return a;
  }
  friend constexpr OpcodeSet operator-(OpcodeSet a, const OpcodeSet& b) {
    for (size_t i = 0; i < kOpcodeCount; ++i) a.has_[i] = a.has_[i] && !b.has_[i];
    return a;
  }

 private:
  std::array<bool, kOpcodeCount> has_ = {};
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_TYPES_OPCODE_SET_H_
