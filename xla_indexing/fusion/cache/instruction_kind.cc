#include "xla_indexing/fusion/cache/instruction_kind.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <variant>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::internal {
namespace {

// Stand for all elementwise opcodes, and for one instruction; no opcode has these values.
constexpr uint64_t kElementwise = ~uint64_t{0};
constexpr uint64_t kOwn = ~uint64_t{1};

// Whether the maps of the opcode's instructions depend on its attributes, and on no computations but
// those of IsIrrelevant.
bool ReadsAttributes(HloOpcode opcode) {
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
    case HloOpcode::kSelectAndScatter:
    case HloOpcode::kSlice:
    case HloOpcode::kSort:
    case HloOpcode::kTranspose:
      return true;
    default:
      return false;
  }
}

bool ReadsIndices(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kDynamicUpdateSlice:
    case HloOpcode::kGather:
    case HloOpcode::kScatter:
      return true;
    default:
      return false;
  }
}

bool IsIrrelevant(AttributeKey key) {
  switch (key) {
    // What two numbers are combined to is nothing to the places that they are read from.
    case AttributeKey::kSelect:
    case AttributeKey::kScatter:
    case AttributeKey::kToApply:
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

using Words = llvm::SmallVectorImpl<uint64_t>;

// Spans of numbers, and of structs of nothing but numbers, by value.
template <typename T>
void AppendSpan(absl::Span<const T> values, Words* kind) {
  static_assert(sizeof(T) % sizeof(uint64_t) == 0 && std::has_unique_object_representations_v<T>);
  const size_t words = values.size() * sizeof(T) / sizeof(uint64_t);
  const size_t first = kind->size() + 1;
  kind->push_back(values.size());
  kind->resize(first + words);
  if (words == 0) return;
  std::memcpy(kind->data() + first, static_cast<const void*>(values.data()),
              words * sizeof(uint64_t));
}

void AppendText(absl::string_view text, Words* kind) {
  const size_t first = kind->size() + 1;
  kind->push_back(text.size());
  kind->resize(first + (text.size() + sizeof(uint64_t) - 1) / sizeof(uint64_t));
  if (!text.empty()) std::memcpy(kind->data() + first, text.data(), text.size());
}

void AppendWindow(const Window& window, Words* kind) {
  kind->push_back(window.dimensions.size());
  for (const WindowDimension& d : window.dimensions) {
    for (const int64_t number : {d.size, d.stride, d.padding_low, d.padding_high, d.base_dilation,
                                 d.window_dilation, int64_t{d.window_reversal}}) {
      kind->push_back(static_cast<uint64_t>(number));
    }
  }
}

void AppendLabels(const ConvolutionDimensionNumbers& labels, Words* kind) {
  for (const int64_t number :
       {labels.input_batch, labels.input_feature, labels.kernel_input_feature,
        labels.kernel_output_feature, labels.output_batch, labels.output_feature, labels.input_rank,
        labels.kernel_rank, labels.output_rank}) {
    kind->push_back(static_cast<uint64_t>(number));
  }
  for (const auto* spatial :
       {&labels.input_spatial, &labels.kernel_spatial, &labels.output_spatial}) {
    AppendSpan(absl::Span<const int64_t>(*spatial), kind);
  }
}

struct AppendValue {
  Words* kind;

  void operator()(bool value) const { kind->push_back(value ? 1 : 0); }
  void operator()(int64_t value) const { kind->push_back(static_cast<uint64_t>(value)); }
  void operator()(absl::string_view text) const { AppendText(text, kind); }
  template <typename T>
  void operator()(absl::Span<const T> values) const {
    AppendSpan(values, kind);
  }
  void operator()(const Window* window) const { AppendWindow(*window, kind); }
  void operator()(const ConvolutionDimensionNumbers* labels) const { AppendLabels(*labels, kind); }
  // Literals and computations lie in the module; the same one is equal to itself.
  template <typename T>
  void operator()(const T* value) const {
    kind->push_back(Address(value));
  }
};

// Appends the shapes of the result and of the operands.
void AppendShapes(const HloInstruction& instruction, InstructionKind* kind) {
  kind->push_back(static_cast<uint64_t>(instruction.operand_count()));
  kind->push_back(Address(&instruction.shape()));
  for (const HloInstruction* operand : instruction.operands()) {
    kind->push_back(Address(&operand->shape()));
  }
}

}  // namespace

bool HasKind(HloOpcode opcode) {
  return ReadsAttributes(opcode) || ReadsIndices(opcode) || IsElementwise(opcode);
}

InstructionKind KindOf(const HloInstruction& instruction) {
  InstructionKind kind;
  const HloOpcode opcode = instruction.opcode();
  if (!HasKind(opcode) || ReadsIndices(opcode)) return kind;
  const bool reads_attributes = ReadsAttributes(opcode);
  kind.push_back(reads_attributes ? static_cast<uint64_t>(opcode) : kElementwise);
  AppendShapes(instruction, &kind);
  if (!reads_attributes) return kind;
  for (const Attribute& attribute : instruction.attributes()) {
    if (IsIrrelevant(attribute.key)) continue;
    kind.push_back(static_cast<uint64_t>(attribute.key));
    // Channels are numbered one by one; what a collective does depends on whether it has one.
    if (attribute.key == AttributeKey::kChannelId) continue;
    if (attribute.key == AttributeKey::kOther) AppendText(attribute.name, &kind);
    std::visit(AppendValue{&kind}, attribute.value);
  }
  return kind;
}

InstructionKind OwnKind(const HloInstruction& instruction) { return {kOwn, Address(&instruction)}; }

bool AreOfKind(const HloInstruction& instruction, const InstructionIndexing& entries) {
  return absl::c_none_of(entries, [&](const IndexingEntry& entry) {
    return absl::c_any_of(entry.indexing.maps(), [&](const OperandIndexing& map) {
      return !map.IsExact() && absl::StrContains(map.label().reason, instruction.name());
    });
  });
}

}  // namespace xla_indexing::internal
