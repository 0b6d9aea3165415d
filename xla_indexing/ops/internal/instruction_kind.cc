#include "xla_indexing/ops/internal/instruction_kind.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <variant>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/attribute.h"
#include "xla_indexing/hlo/opcode.h"

namespace xla_indexing::internal {
namespace {

// Stands for all elementwise opcodes; no opcode has this value.
constexpr uint64_t kElementwise = ~uint64_t{0};

// Whether the maps of the opcode's instructions say nothing but what shapes and attributes say.
bool HasKinds(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAllGather:
    case HloOpcode::kAllReduce:
    case HloOpcode::kAllToAll:
    case HloOpcode::kBitcast:
    case HloOpcode::kBitcastConvert:
    case HloOpcode::kBroadcast:
    case HloOpcode::kCollectivePermute:
    case HloOpcode::kConcatenate:
    case HloOpcode::kConvolution:
    case HloOpcode::kCopy:
    case HloOpcode::kDot:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kPad:
    case HloOpcode::kReduce:
    case HloOpcode::kReduceScatter:
    case HloOpcode::kReduceWindow:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kSlice:
    case HloOpcode::kTranspose:
      return true;
    default:
      return false;
  }
}

bool IsIrrelevant(AttributeKey key) {
  switch (key) {
    case AttributeKey::kMetadata:
    case AttributeKey::kSharding:
    case AttributeKey::kFrontendAttributes:
    case AttributeKey::kBackendConfig:
    case AttributeKey::kControlPredecessors:
      return true;
    default:
      return false;
  }
}

template <typename Pointer>
uint64_t Address(Pointer pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

void AppendText(absl::string_view text, InstructionKind* kind) {
  kind->push_back(text.size());
  for (size_t i = 0; i < text.size(); i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + i, std::min(sizeof(word), text.size() - i));
    kind->push_back(word);
  }
}

// Spans of numbers, and of structs of nothing but numbers, by value.
template <typename T>
void AppendSpan(absl::Span<const T> values, InstructionKind* kind) {
  static_assert(sizeof(T) % sizeof(uint64_t) == 0 && std::has_unique_object_representations_v<T>);
  const size_t words = values.size() * sizeof(T) / sizeof(uint64_t);
  const size_t first = kind->size() + 1;
  kind->push_back(values.size());
  kind->resize(first + words);
  if (words > 0) std::memcpy(kind->data() + first, values.data(), words * sizeof(uint64_t));
}

struct AppendValue {
  InstructionKind* kind;

  void operator()(bool value) const { kind->push_back(value ? 1 : 0); }
  void operator()(int64_t value) const { kind->push_back(static_cast<uint64_t>(value)); }
  void operator()(absl::string_view text) const { AppendText(text, kind); }
  template <typename T>
  void operator()(absl::Span<const T> values) const {
    AppendSpan(values, kind);
  }
  // Windows, labels, literals and computations lie in the module; the same one is equal to itself.
  template <typename T>
  void operator()(const T* value) const {
    kind->push_back(Address(value));
  }
};

void AppendAttribute(const Attribute& attribute, InstructionKind* kind) {
  kind->push_back(static_cast<uint64_t>(attribute.key));
  // Channels are numbered one by one; what a collective does depends on whether it has one.
  if (attribute.key == AttributeKey::kChannelId) return;
  if (attribute.key == AttributeKey::kOther) AppendText(attribute.name, kind);
  std::visit(AppendValue{kind}, attribute.value);
}

}  // namespace

InstructionKind KindOf(const HloInstruction& instruction) {
  InstructionKind kind;
  const bool has_kinds = HasKinds(instruction.opcode());
  const bool is_elementwise = !has_kinds && IsElementwise(instruction.opcode());
  if (!has_kinds && !is_elementwise) return kind;
  kind.push_back(is_elementwise ? kElementwise : static_cast<uint64_t>(instruction.opcode()));
  kind.push_back(static_cast<uint64_t>(instruction.operand_count()));
  kind.push_back(Address(&instruction.shape()));
  for (const HloInstruction* operand : instruction.operands()) {
    kind.push_back(Address(&operand->shape()));
  }
  if (is_elementwise) return kind;
  for (const Attribute& attribute : instruction.attributes()) {
    if (!IsIrrelevant(attribute.key)) AppendAttribute(attribute, &kind);
  }
  return kind;
}

}  // namespace xla_indexing::internal
