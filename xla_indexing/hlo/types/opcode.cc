#include "xla_indexing/hlo/types/opcode.h"

#include <array>
#include <cstddef>
#include <optional>

#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
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
  const auto opcode = static_cast<HloOpcode>(*position);
  if (opcode == HloOpcode::kUnknown) return std::nullopt;
  return opcode;
}

std::optional<AsyncStep> AsyncStepFromName(absl::string_view name) {
  struct Suffix {
    absl::string_view suffix;
    HloOpcode step;
  };
  constexpr Suffix kSuffixes[] = {{"-start", HloOpcode::kAsyncStart},
                                  {"-update", HloOpcode::kAsyncUpdate},
                                  {"-done", HloOpcode::kAsyncDone}};
  if (OpcodeFromName(name).has_value()) return std::nullopt;
  for (const Suffix& suffix : kSuffixes) {
    absl::string_view wrapped = name;
    if (!absl::ConsumeSuffix(&wrapped, suffix.suffix)) continue;
    const std::optional<HloOpcode> opcode = OpcodeFromName(wrapped);
    // What stands in the parentheses of these is no operand.
    if (!opcode || *opcode == HloOpcode::kConstant || *opcode == HloOpcode::kParameter) continue;
    return AsyncStep{suffix.step, *opcode};
  }
  return std::nullopt;
}

std::optional<int> OpcodeArity(HloOpcode opcode) {
  const int arity = OpcodePropertiesOf(opcode).arity;
  if (arity < 0) return std::nullopt;
  return arity;
}

bool IsOpaque(HloOpcode opcode) {
  return opcode == HloOpcode::kCustomCall || opcode == HloOpcode::kUnknown;
}

bool IsElementwise(HloOpcode opcode) { return OpcodePropertiesOf(opcode).elementwise; }

}  // namespace xla_indexing
