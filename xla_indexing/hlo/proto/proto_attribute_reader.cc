#include "xla_indexing/hlo/proto/proto_attribute_reader.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/proto/proto_fields_device.h"
#include "xla_indexing/hlo/proto/proto_fields_instruction.h"
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
namespace {

// What a comparison compares as where nothing is said.
absl::string_view DefaultComparisonType(ElementType type) {
  if (IsSignedIntegral(type)) return "SIGNED";
  return IsUnsignedIntegral(type) || IsPred(type) ? "UNSIGNED" : "FLOAT";
}

}  // namespace

void ProtoAttributeReader::ReadOwn() {
  switch (opcode_) {
    case HloOpcode::kParameter:
      return ReadParameter();
    case HloOpcode::kConstant:
      return ReadConstant();
    case HloOpcode::kBroadcast:
    case HloOpcode::kConcatenate:
    case HloOpcode::kReverse:
    case HloOpcode::kReduce:
    case HloOpcode::kTranspose:
    case HloOpcode::kMap:
    case HloOpcode::kGetDimensionSize:
    case HloOpcode::kSetDimensionSize:
      return AddDimensions();
    case HloOpcode::kSort:
      AddDimensions();
      return AddFlag(AttributeKey::kIsStable, message_, Field::kIsStable);
    case HloOpcode::kScan:
      return ReadScan();
    case HloOpcode::kIota: {
      const std::vector<int64_t> dimensions = Integers(message_, Field::kDimensions);
      if (dimensions.size() != 1) {
        source_.Fail(absl::StrCat("an iota has one dimension, not ", dimensions.size()));
        return;
      }
      return Add(AttributeKey::kIotaDimension, dimensions[0]);
    }
    case HloOpcode::kReshape:
      if (const auto inferred = Integers(message_, Field::kDimensions); inferred.size() == 1) {
        AddText("inferred_dimension", absl::StrCat(inferred[0]));
      }
      return;
    case HloOpcode::kGetTupleElement:
      return AddInteger(AttributeKey::kIndex, message_, Field::kTupleIndex);
    case HloOpcode::kSlice:
      return ReadSlice();
    case HloOpcode::kDynamicSlice:
      return AddIntegers(AttributeKey::kDynamicSliceSizes, message_, Field::kDynamicSliceSizes);
    case HloOpcode::kPad:
      return ReadPadding();
    case HloOpcode::kReduceWindow:
    case HloOpcode::kSelectAndScatter:
      return ReadWindow();
    case HloOpcode::kConvolution:
      return ReadConvolution();
    case HloOpcode::kDot:
    case HloOpcode::kScaledDot:
      return ReadDot();
    case HloOpcode::kRaggedDot:
      return ReadRaggedDot();
    case HloOpcode::kGather:
      return ReadGather();
    case HloOpcode::kScatter:
      return ReadScatter();
    case HloOpcode::kCompare:
      return ReadCompare();
    case HloOpcode::kFft:
      return ReadFft();
    case HloOpcode::kTriangularSolve:
      return ReadTriangularSolve();
    case HloOpcode::kCholesky:
      return message_.Message(
          Field::kCholeskyOptions, "cholesky_options", [&](const WireMessage& options) {
            AddFlag(AttributeKey::kLower, options, proto::CholeskyOptions::kLower);
          });
    case HloOpcode::kReducePrecision:
      AddInteger(AttributeKey::kExponentBits, message_, Field::kExponentBits);
      return AddInteger(AttributeKey::kMantissaBits, message_, Field::kMantissaBits);
    case HloOpcode::kBatchNormGrad:
    case HloOpcode::kBatchNormInference:
    case HloOpcode::kBatchNormTraining:
      AddText("epsilon", absl::StrCat(message_.Float(Field::kEpsilon)));
      return AddInteger(AttributeKey::kFeatureIndex, message_, Field::kFeatureIndex);
    case HloOpcode::kRng:
      return AddText(AttributeKey::kDistribution,
                     Name(message_.Integer(Field::kDistribution),
                          {"rng_invalid", "rng_uniform", "rng_normal"}, "distribution"));
    case HloOpcode::kRngBitGenerator:
      return AddText(AttributeKey::kAlgorithm,
                     Name(message_.Integer(Field::kRngAlgorithm),
                          {"rng_default", "rng_three_fry", "rng_philox"}, "algorithm"));
    case HloOpcode::kRngGetAndUpdateState:
      return AddInteger(AttributeKey::kDelta, message_, Field::kDelta);
    case HloOpcode::kTopk:
      AddInteger(AttributeKey::kTopKCount, message_, Field::kK);
      Add(AttributeKey::kLargest, message_.Bool(Field::kLargest));
      return AddFlag(AttributeKey::kIsStable, message_, Field::kIsStable);
    case HloOpcode::kSend:
    case HloOpcode::kSendDone:
    case HloOpcode::kRecv:
    case HloOpcode::kRecvDone:
      ReadChannel();
      return AddFlag(AttributeKey::kIsHostTransfer, message_, Field::kIsHostTransfer);
    case HloOpcode::kAllGather:
    case HloOpcode::kAllGatherStart:
    case HloOpcode::kAllReduce:
    case HloOpcode::kAllReduceStart:
    case HloOpcode::kAllToAll:
    case HloOpcode::kRaggedAllToAll:
    case HloOpcode::kReduceScatter:
      return ReadCollective();
    case HloOpcode::kCollectiveBroadcast:
    case HloOpcode::kCollectiveReduce:
      ReadCollective();
      // The operand that says which device is the root has no result.
      if (static_cast<int64_t>(operands_.size()) > shape_.LeafCount()) {
        Add(AttributeKey::kHasDynamicRoot, true);
      }
      return;
    case HloOpcode::kCollectivePermute:
    case HloOpcode::kCollectivePermuteStart:
      return ReadCollectivePermute();
    case HloOpcode::kCustomCall:
      return ReadCustomCall();
    case HloOpcode::kFusion:
      return AddWord(AttributeKey::kFusionKind, message_.Bytes(Field::kFusionKind));
    case HloOpcode::kCopyStart:
      if (message_.Has(Field::kCrossProgramPrefetchIndex)) {
        AddText("cross_program_prefetch_index",
                absl::StrCat(message_.Integer(Field::kCrossProgramPrefetchIndex)));
      }
      return;
    case HloOpcode::kAsyncStart: {
      const absl::string_view thread = message_.Bytes(Field::kAsyncExecutionThread);
      if (!thread.empty() && thread != "main") {
        Add(AttributeKey::kAsyncExecutionThread, arena_.CopyString(thread));
      }
      return;
    }
    case HloOpcode::kInfeed:
      if (message_.Has(Field::kInfeedConfig)) {
        AddText("infeed_config", SpellConfig(message_.Bytes(Field::kInfeedConfig)));
      }
      return;
    case HloOpcode::kOutfeed:
      message_.Message(Field::kOutfeedShape, "outfeed_shape", [&](const WireMessage& shape) {
        AddText("outfeed_shape", ReadShapeProto(shape).ToString());
      });
      if (message_.Has(Field::kOutfeedConfig)) {
        AddText("outfeed_config", SpellConfig(message_.Bytes(Field::kOutfeedConfig)));
      }
      return;
    case HloOpcode::kDomain:
      return ReadDomain();
    case HloOpcode::kUnknown:
      return ReadUnknown();
    default:
      return;
  }
}

void ProtoAttributeReader::ReadParameter() {
  AddInteger(AttributeKey::kParameterNumber, message_, Field::kParameterNumber);
  message_.Message(
      Field::kParameterReplication, "parameter_replication", [&](const WireMessage& replication) {
        const std::vector<int64_t> leaves =
            Integers(replication, proto::ParameterReplication::kReplicatedAtLeafBuffers);
        if (leaves.empty()) return;
        AddText("parameter_replication",
                absl::StrCat("{",
                             absl::StrJoin(leaves, ",",
                                           [](std::string* out, int64_t is_replicated) {
                                             absl::StrAppend(out,
                                                             is_replicated != 0 ? "true" : "false");
                                           }),
                             "}"));
      });
}

// A constant without its value is one whose value was left out when the message was written.
void ProtoAttributeReader::ReadConstant() {
  Literal value = Literal::Elided(shape_);
  message_.Message(Field::kLiteral, "literal",
                   [&](const WireMessage& literal) { value = ReadLiteralProto(literal, shape_); });
  const Literal* owned = arena_.New<Literal>(std::move(value));
  Add(AttributeKey::kConstantValue, owned);
}

void ProtoAttributeReader::ReadScan() {
  AddDimensions();
  AddInteger(AttributeKey::kNumCarries, message_, Field::kNumCarries);
  AddFlag(AttributeKey::kIsReverse, message_, Field::kIsReverse);
  const int64_t associative = message_.Integer(Field::kIsAssociative);
  if (associative != 0) {
    AddText("is_associative", Name(associative, {"unspecified", "true", "false"}, "answer"));
  }
}

void ProtoAttributeReader::ReadCompare() {
  AddWord(AttributeKey::kDirection, message_.Bytes(Field::kComparisonDirection));
  const absl::string_view type = message_.Bytes(Field::kComparisonType);
  if (type.empty()) return;
  const bool is_default = !operands_.empty() && operands_[0]->shape().IsArray() &&
                          type == DefaultComparisonType(operands_[0]->shape().element_type());
  if (!is_default) AddWord(AttributeKey::kComparisonType, type);
}

void ProtoAttributeReader::ReadFft() {
  AddText(AttributeKey::kFftType,
          Name(message_.Integer(Field::kFftType), {"FFT", "IFFT", "RFFT", "IRFFT"}, "type of FFT"));
  AddIntegers(AttributeKey::kFftLength, message_, Field::kFftLength);
}

void ProtoAttributeReader::ReadTriangularSolve() {
  message_.Message(
      Field::kTriangularSolveOptions, "triangular_solve_options", [&](const WireMessage& options) {
        using Options = proto::TriangularSolveOptions;
        AddFlag(AttributeKey::kLeftSide, options, Options::kLeftSide);
        AddFlag(AttributeKey::kLower, options, Options::kLower);
        AddFlag(AttributeKey::kUnitDiagonal, options, Options::kUnitDiagonal);
        const int64_t transpose = options.Integer(Options::kTransposeA);
        if (transpose == 0) return;
        AddText(AttributeKey::kTransposeA,
                Name(transpose, {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"},
                     "way to transpose"));
      });
}

void ProtoAttributeReader::ReadControlPredecessors() {
  std::vector<const HloInstruction*> predecessors;
  message_.ForEachVarint(Field::kControlPredecessorIds, [&](uint64_t id) {
    const auto found = references_.instructions.find(static_cast<int64_t>(id));
    if (found == references_.instructions.end()) {
      source_.Fail(absl::StrCat("control predecessor ", id, " does not come before this place"));
      return;
    }
    predecessors.push_back(found->second);
  });
  if (!predecessors.empty()) Add(AttributeKey::kControlPredecessors, Owned(predecessors));
}

void ProtoAttributeReader::ReadStatistics() {
  message_.Message(Field::kStatisticsViz, "statistics_viz", [&](const WireMessage& message) {
    using Statistics = proto::StatisticsViz;
    if (!message.Has(Statistics::kStatistics)) return;
    std::string text =
        absl::StrCat("{visualizing_index=", message.Integer(Statistics::kStatIndexToVisualize));
    message.Messages(Statistics::kStatistics, "statistics",
                     [&](const WireMessage& statistic, int64_t) {
                       absl::StrAppend(&text, ",", statistic.Bytes(proto::Statistic::kStatName),
                                       "=", statistic.Double(proto::Statistic::kStatVal));
                     });
    AddText("statistics", absl::StrCat(text, "}"));
  });
}

void ProtoAttributeReader::ReadResultAccuracy() {
  message_.Message(Field::kResultAccuracy, "result_accuracy", [&](const WireMessage& accuracy) {
    using Accuracy = proto::ResultAccuracy;
    if (const int64_t mode = accuracy.Integer(Accuracy::kMode); mode != 0) {
      AddText("result_accuracy",
              absl::StrCat("{mode=", Name(mode, {"default", "highest"}, "mode"), "}"));
    }
    accuracy.Message(Accuracy::kTolerance, "tolerance", [&](const WireMessage& tolerance) {
      using Tolerance = proto::Tolerance;
      AddText("result_accuracy",
              absl::StrCat("{tolerance={atol=", tolerance.Double(Tolerance::kAtol),
                           ",rtol=", tolerance.Double(Tolerance::kRtol),
                           ",ulps=", tolerance.Integer(Tolerance::kUlps), "}}"));
    });
  });
}

// What any instruction may have, after what its opcode has.
void ProtoAttributeReader::ReadCommon() {
  ReadResultAccuracy();
  message_.Message(Field::kSharding, "sharding", [&](const WireMessage& sharding) {
    AddText(AttributeKey::kSharding, SpellSharding(sharding));
  });
  message_.Message(
      Field::kFrontendAttributes, "frontend_attributes", [&](const WireMessage& attributes) {
        if (!attributes.Has(proto::FrontendAttributes::kMap)) return;
        AddText(AttributeKey::kFrontendAttributes, SpellFrontendAttributes(attributes));
      });
  ReadControlPredecessors();
  ReadStatistics();
  message_.Message(Field::kOriginalValue, "original_value", [&](const WireMessage& value) {
    AddText("origin", SpellOriginalValue(value, shape_));
  });
  message_.Message(Field::kMetadata, "metadata", [&](const WireMessage& metadata) {
    const std::string text = SpellMetadata(metadata);
    if (!text.empty()) AddText(AttributeKey::kMetadata, text);
  });
  absl::string_view config = message_.Bytes(Field::kBackendConfig);
  message_.Message(Field::kBackendConfigPayload, "backend_config_payload",
                   [&](const WireMessage& payload) {
                     if (!payload.Has(proto::Payload::kId)) {
                       config = payload.Bytes(proto::Payload::kValue);
                       return;
                     }
                     const int64_t id = payload.Integer(proto::Payload::kId);
                     if (id < 0 || id >= static_cast<int64_t>(references_.payloads.size())) {
                       source_.Fail(absl::StrCat("the module has no payload ", id));
                       return;
                     }
                     config = references_.payloads[id];
                   });
  if (!config.empty()) AddText(AttributeKey::kBackendConfig, SpellConfig(config));
}

}  // namespace xla_indexing::internal
