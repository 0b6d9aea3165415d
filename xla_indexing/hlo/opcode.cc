#include "xla_indexing/hlo/opcode.h"

#include <array>
#include <cstddef>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"

namespace xla_indexing {
namespace {

struct OpcodeProperties {
  absl::string_view name;
  int arity;
  bool elementwise;
};

constexpr std::array<OpcodeProperties, kOpcodeCount> kProperties = {{
#define XLA_INDEXING_PROPERTIES(enumerator, name, arity, elementwise) {name, arity, elementwise},
    XLA_INDEXING_OPCODES(XLA_INDEXING_PROPERTIES)
#undef XLA_INDEXING_PROPERTIES
}};

const OpcodeProperties& PropertiesOf(HloOpcode opcode) {
  return kProperties[static_cast<size_t>(opcode)];
}

}  // namespace

absl::string_view OpcodeName(HloOpcode opcode) { return PropertiesOf(opcode).name; }

std::optional<HloOpcode> OpcodeFromName(absl::string_view name) {
  static const auto* const kByName = [] {
    auto* by_name = new absl::flat_hash_map<absl::string_view, HloOpcode>();
    for (size_t i = 0; i < kProperties.size(); ++i) {
      by_name->emplace(kProperties[i].name, static_cast<HloOpcode>(i));
    }
    return by_name;
  }();
  const auto it = kByName->find(name);
  if (it == kByName->end()) return std::nullopt;
  return it->second;
}

std::optional<int> OpcodeArity(HloOpcode opcode) {
  const int arity = PropertiesOf(opcode).arity;
  if (arity < 0) return std::nullopt;
  return arity;
}

bool IsElementwise(HloOpcode opcode) { return PropertiesOf(opcode).elementwise; }

}  // namespace xla_indexing
