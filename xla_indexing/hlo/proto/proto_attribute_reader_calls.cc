#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/proto/proto_attribute_reader.h"
#include "xla_indexing/hlo/proto/proto_fields_shape.h"
#include "xla_indexing/hlo/proto/proto_literal.h"
#include "xla_indexing/hlo/proto/proto_shape.h"
#include "xla_indexing/hlo/proto/proto_spelling.h"
#include "xla_indexing/hlo/proto/wire_format.h"
#include "xla_indexing/hlo/text/printer.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::internal {

void ProtoAttributeReader::ReadChannel() {
  if (message_.Integer(Field::kChannelId) > 0) {
    AddInteger(AttributeKey::kChannelId, message_, Field::kChannelId);
  }
}

void ProtoAttributeReader::ReadCollective() {
  ReadChannel();
  AddText(AttributeKey::kReplicaGroups, SpellReplicaGroups(message_));
  AddFlag(AttributeKey::kConstrainLayout, message_, Field::kConstrainLayout);
  const bool scatters = opcode_ == HloOpcode::kReduceScatter;
  if (scatters) AddFlag(AttributeKey::kUseGlobalDeviceIds, message_, Field::kUseGlobalDeviceIds);
  AddIntegersIfAny(AttributeKey::kDimensions, message_, Field::kDimensions);
  if (!scatters) AddFlag(AttributeKey::kUseGlobalDeviceIds, message_, Field::kUseGlobalDeviceIds);
}

void ProtoAttributeReader::ReadCollectivePermute() {
  ReadChannel();
  AddText(AttributeKey::kSourceTargetPairs, SpellSourceTargetPairs(message_));
  AddIntegersIfAny(AttributeKey::kSliceSizes, message_, Field::kDynamicSliceSizes);
}

// An unknown opcode has its spelling, and attributes that several known opcodes have.
void ProtoAttributeReader::ReadUnknown() {
  Add(AttributeKey::kUnknownOpcode, arena_.CopyString(message_.Bytes(Field::kOpcode)));
  ReadChannel();
  if (message_.Has(Field::kReplicaGroups) || message_.Has(Field::kCollectiveDeviceList) ||
      message_.Has(Field::kIotaCollectiveDeviceList) ||
      message_.Has(Field::kMeshAxesReplicaGroupList)) {
    AddText(AttributeKey::kReplicaGroups, SpellReplicaGroups(message_));
  }
  if (message_.Has(Field::kSourceTargetPairs)) {
    AddText(AttributeKey::kSourceTargetPairs, SpellSourceTargetPairs(message_));
  }
  AddIntegersIfAny(AttributeKey::kDimensions, message_, Field::kDimensions);
}

void ProtoAttributeReader::ReadCustomCall() {
  ReadWindow();
  ReadConvolutionDimensions();
  AddCount(AttributeKey::kFeatureGroupCount, Field::kFeatureGroupCount);
  AddCount(AttributeKey::kBatchGroupCount, Field::kBatchGroupCount);
  ReadPrecision();
  if (const int64_t padding = message_.Integer(Field::kPaddingType); padding != 0) {
    AddText("padding_type",
            Name(padding, {"PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"}, "type of padding"));
  }
  Add(AttributeKey::kCustomCallTarget, arena_.CopyString(message_.Bytes(Field::kCustomCallTarget)));
  if (message_.Bool(Field::kConstrainLayout)) {
    std::string shapes;
    message_.Messages(Field::kOperandShapesWithLayout, "operand_shapes_with_layout",
                      [&](const WireMessage& shape, int64_t i) {
                        if (i > 0) shapes += ", ";
                        ReadShapeProto(shape).AppendTo(&shapes);
                      });
    AddText("operand_layout_constraints", absl::StrCat("{", shapes, "}"));
  }
  if (message_.Bool(Field::kCustomCallHasSideEffect)) {
    AddText("custom_call_has_side_effect", "true");
  }
  message_.Message(Field::kLiteral, "literal", [&](const WireMessage& message) {
    Shape shape;
    message.Message(proto::Literal::kShape, "shape",
                    [&](const WireMessage& of_shape) { shape = ReadShapeProto(of_shape); });
    if (source_.failed()) return;
    std::string text = absl::StrCat(shape.ToString(), " ");
    PrintLiteral(ReadLiteralProto(message, shape), &text);
    AddText("literal", text);
  });
  if (message_.Has(Field::kOutputOperandAliasing)) {
    AddText(AttributeKey::kOutputToOperandAliasing, SpellOutputToOperandAliasing(message_));
  }
  if (const int64_t schedule = message_.Integer(Field::kCustomCallSchedule); schedule != 0) {
    AddText("schedule",
            Name(schedule, {"SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"}, "schedule"));
  }
  constexpr int64_t kOriginalVersion = 1;
  if (const int64_t version = message_.Integer(Field::kCustomCallApiVersion);
      version != kOriginalVersion) {
    AddText("api_version",
            Name(version,
                 {"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
                  "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"},
                 "version of an interface"));
  }
}

void ProtoAttributeReader::ReadDomain() {
  std::string entry, exit;
  message_.Message(Field::kDomainEntrySharding, "domain_entry_sharding",
                   [&](const WireMessage& sharding) { entry = SpellSharding(sharding); });
  message_.Message(Field::kDomainExitSharding, "domain_exit_sharding",
                   [&](const WireMessage& sharding) { exit = SpellSharding(sharding); });
  // What a message calls the entry, on the operand's side, text calls the exit.
  AddText("domain", absl::StrCat("{kind=\"sharding\", entry=", exit.empty() ? "{}" : exit,
                                 ", exit=", entry.empty() ? "{}" : entry, "}"));
}

void ProtoAttributeReader::ReadCalledComputations() {
  std::vector<const HloComputation*> called;
  message_.ForEachVarint(Field::kCalledComputationIds, [&](uint64_t id) {
    const auto found = references_.computations.find(static_cast<int64_t>(id));
    if (found == references_.computations.end()) {
      source_.Fail(absl::StrCat("computation ", id, ", which this calls, does not come before it"));
      return;
    }
    called.push_back(found->second);
  });
  if (source_.failed() || called.empty()) return;
  const auto fails_unless = [&](size_t count) {
    if (called.size() == count) return false;
    source_.Fail(absl::StrCat("a ", OpcodeName(opcode_), " calls ", count, " computations, not ",
                              called.size()));
    return true;
  };
  switch (opcode_) {
    case HloOpcode::kWhile:
      if (fails_unless(2)) return;
      Add(AttributeKey::kCondition, called[1]);
      return Add(AttributeKey::kBody, called[0]);
    case HloOpcode::kSelectAndScatter:
      if (fails_unless(2)) return;
      Add(AttributeKey::kSelect, called[0]);
      return Add(AttributeKey::kScatter, called[1]);
    case HloOpcode::kConditional:
      if (!operands_.empty() && operands_[0]->shape().element_type() == ElementType::kPred) {
        if (fails_unless(2)) return;
        Add(AttributeKey::kTrueComputation, called[0]);
        return Add(AttributeKey::kFalseComputation, called[1]);
      }
      return Add(AttributeKey::kBranchComputations, Owned(called));
    case HloOpcode::kCustomCall:
    case HloOpcode::kUnknown:
      return Add(AttributeKey::kCalledComputations, Owned(called));
    // The others of its chain run the computation of their start.
    case HloOpcode::kAsyncUpdate:
    case HloOpcode::kAsyncDone:
      return;
    case HloOpcode::kFusion:
    case HloOpcode::kAsyncStart:
      if (fails_unless(1)) return;
      return Add(AttributeKey::kCalls, called[0]);
    default:
      if (fails_unless(1)) return;
      return Add(AttributeKey::kToApply, called[0]);
  }
}

}  // namespace xla_indexing::internal
