#include "xla_indexing/report/analysis/equal_kernels.h"

#include <cstdint>
#include <variant>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/text/printer.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing::internal {
namespace {

bool IsDescription(AttributeKey key) {
  switch (key) {
    case AttributeKey::kMetadata:
    case AttributeKey::kSharding:
    case AttributeKey::kFrontendAttributes:
    case AttributeKey::kControlPredecessors:
    case AttributeKey::kChannelId:
      return true;
    default:
      return false;
  }
}

// Whether maps of it have runtime variables.
bool IsIndexedByValues(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kDynamicUpdateSlice:
    case HloOpcode::kDynamicReshape:
    case HloOpcode::kGather:
    case HloOpcode::kScatter:
    case HloOpcode::kRaggedDot:
    case HloOpcode::kRaggedAllToAll:
    case HloOpcode::kCall:
    case HloOpcode::kWhile:
    case HloOpcode::kConditional:
    case HloOpcode::kCustomCall:
    case HloOpcode::kUnknown:
      return true;
    default:
      return false;
  }
}

class KernelWriter {
 public:
  void WriteComputation(const HloComputation& computation) {
    const auto [it, is_new] = computations_.try_emplace(&computation, computations_.size());
    absl::StrAppend(&text_, "{", it->second);
    if (is_new) {
      for (const HloInstruction* instruction : computation.instructions()) {
        WriteInstruction(*instruction);
        if (instruction->is_root()) text_.append(" root");
        text_.push_back('\n');
      }
    }
    text_.push_back('}');
  }

  void WriteInstruction(const HloInstruction& instruction) {
    absl::StrAppend(&text_, instruction.opcode_name(), " ", instruction.shape().ToString());
    for (const HloInstruction* operand : instruction.operands()) {
      absl::StrAppend(&text_, " ", operand->index_in_computation());
    }
    WriteAttributes(instruction);
  }

  void WriteAttributes(const HloInstruction& instruction) {
    for (const Attribute& attribute : instruction.attributes()) {
      if (IsDescription(attribute.key)) continue;
      absl::StrAppend(&text_, ",", attribute.name, "=");
      std::visit([&](const auto& value) { WriteValue(value); }, attribute.value);
    }
  }

  // What an operand is computed from; false where that is too much.
  bool WriteSource(const HloInstruction& instruction) {
    const auto [it, is_new] = sources_.try_emplace(&instruction, sources_.size());
    absl::StrAppend(&text_, "(", it->second);
    if (is_new) {
      if (sources_.size() > kMaxIndexSources) return false;
      absl::StrAppend(&text_, instruction.opcode_name(), " ", instruction.shape().ToString());
      // What is behind these is known to nobody.
      if (instruction.opcode() != HloOpcode::kParameter) {
        WriteAttributes(instruction);
        for (const HloInstruction* operand : instruction.operands()) {
          if (!WriteSource(*operand)) return false;
        }
      }
    }
    text_.push_back(')');
    return true;
  }

  std::string& text() { return text_; }

 private:
  void WriteValue(bool value) { text_.push_back(value ? '1' : '0'); }
  void WriteValue(int64_t value) { absl::StrAppend(&text_, value); }
  void WriteValue(absl::string_view value) { absl::StrAppend(&text_, value.size(), ":", value); }
  void WriteValue(const Window* value) { text_.append(value->ToString()); }
  void WriteValue(const ConvolutionDimensionNumbers* value) { text_.append(value->ToString()); }
  void WriteValue(const Literal* value) { PrintLiteral(*value, &text_); }
  void WriteValue(const HloComputation* value) { WriteComputation(*value); }
  void WriteValue(const HloInstruction* value) {
    absl::StrAppend(&text_, value->index_in_computation());
  }
  void WriteValue(const PaddingDimension& value) {
    absl::StrAppend(&text_, value.low, "_", value.high, "_", value.interior);
  }
  void WriteValue(const SliceRange& value) {
    absl::StrAppend(&text_, value.start, ":", value.limit, ":", value.stride);
  }
  template <typename T>
  void WriteValue(absl::Span<const T> values) {
    for (const T& value : values) {
      WriteValue(value);
      text_.push_back(';');
    }
  }

  std::string text_;
  absl::flat_hash_map<const HloComputation*, size_t> computations_;
  absl::flat_hash_map<const HloInstruction*, size_t> sources_;
};

}  // namespace

std::string KernelText(const HloInstruction& kernel, const FusionView& view) {
  KernelWriter writer;
  writer.WriteComputation(view.computation());
  absl::StrAppend(&writer.text(), kernel.opcode_name(), kernel.fusion_kind(),
                  kernel.custom_call_target());
  for (const HloInstruction* operand : kernel.operands()) {
    absl::StrAppend(&writer.text(), " ", view.ParameterOf(*operand).value_or(-1), " ",
                    operand->shape().ToString());
  }
  bool is_indexed = false;
  for (const HloInstruction* inside : view.computation().instructions()) {
    is_indexed = is_indexed || IsIndexedByValues(inside->opcode());
  }
  if (!is_indexed) return std::move(writer.text());
  for (const HloInstruction* operand : kernel.operands()) {
    const bool is_index =
        operand->shape().IsArray() && (IsIntegral(operand->shape().element_type()) ||
                                       operand->shape().element_type() == ElementType::kPred);
    if (!is_index && !operand->shape().IsTuple()) continue;
    writer.text().push_back('\n');
    if (!writer.WriteSource(*operand)) {
      absl::StrAppend(&writer.text(), "only ", kernel.parent()->index_in_module(), " ",
                      kernel.index_in_computation());
      break;
    }
  }
  return std::move(writer.text());
}

}  // namespace xla_indexing::internal
