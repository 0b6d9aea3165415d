#include "xla_indexing/hlo/types/opcode.h"

#include <array>
#include <cstddef>
#include <optional>

#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/types/name_index.h"

namespace xla_indexing {
namespace {

using internal::NameIndex;

struct OpcodeProperties {
  absl::string_view name;
  int arity;
  bool elementwise;
};

constexpr std::array<OpcodeProperties, kOpcodeCount> kOpcodes = {{
#define XLA_INDEXING_PROPERTIES(enumerator, name, arity, elementwise) {name, arity, elementwise},
    XLA_INDEXING_OPCODES(XLA_INDEXING_PROPERTIES)
#undef XLA_INDEXING_PROPERTIES
}};

constexpr NameIndex kOpcodeNames([] {
  std::array<absl::string_view, kOpcodeCount> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kOpcodes[i].name;
  return names;
}());

const OpcodeProperties& OpcodePropertiesOf(HloOpcode opcode) {
  return kOpcodes[static_cast<size_t>(opcode)];
}

}  // namespace

absl::string_view OpcodeName(HloOpcode opcode) { return OpcodePropertiesOf(opcode).name; }

std::optional<HloOpcode> OpcodeFromName(absl::string_view name) {
  const std::optional<size_t> position = kOpcodeNames.Find(name);
  if (!position.has_value()) return std::nullopt;
  return static_cast<HloOpcode>(*position);
}

std::optional<int> OpcodeArity(HloOpcode opcode) {
  const int arity = OpcodePropertiesOf(opcode).arity;
  if (arity < 0) return std::nullopt;
  return arity;
}

bool IsElementwise(HloOpcode opcode) { return OpcodePropertiesOf(opcode).elementwise; }

}  // namespace xla_indexing
