#include "xla_indexing/hlo/proto/proto_attribute_table.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/proto/proto_literal.h"
#include "xla_indexing/hlo/proto/proto_shape.h"
#include "xla_indexing/hlo/proto/proto_spelling.h"
#include "xla_indexing/hlo/text/parts/lexer.h"
#include "xla_indexing/hlo/text/printer.h"
#include "xla_indexing/hlo/types/element_type.h"

namespace xla_indexing::internal {
namespace {

using Op = HloOpcode;
using Key = AttributeKey;
using Instruction = ProtoInstruction;
using Called = AttributeField::Called;

// When an attribute is written.

bool IfGiven(const Instruction& in, ProtoField field) { return in.message.Has(field); }
bool IfNot0(const Instruction& in, ProtoField field) { return in.message.Integer(field) != 0; }
bool IfNot1(const Instruction& in, ProtoField field) { return in.message.Integer(field) != 1; }
bool IfAbove0(const Instruction& in, ProtoField field) { return in.message.Integer(field) > 0; }
bool IfAbove1(const Instruction& in, ProtoField field) { return in.message.Integer(field) > 1; }

bool IfNotMain(const Instruction& in, ProtoField field) {
  const absl::string_view thread = in.message.Bytes(field);
  return !thread.empty() && thread != "main";
}

// The operand that says which device is the root has no result.
bool IfRootIsOperand(const Instruction& in, ProtoField) {
  return static_cast<int64_t>(in.operands.size()) > in.shape.LeafCount();
}

bool IfPredicated(const Instruction& in, ProtoField) {
  return !in.operands.empty() && in.operands[0]->shape().element_type() == ElementType::kPred;
}

bool IfIndexed(const Instruction& in, ProtoField field) { return !IfPredicated(in, field); }

// What a comparison compares as where nothing is said.
absl::string_view DefaultComparisonType(ElementType type) {
  if (IsSignedIntegral(type)) return "SIGNED";
  return IsUnsignedIntegral(type) || IsPred(type) ? "UNSIGNED" : "FLOAT";
}

bool IfNotDefaultType(const Instruction& in, ProtoField field) {
  const absl::string_view type = in.message.Bytes(field);
  return !type.empty() && (in.operands.empty() || !in.operands[0]->shape().IsArray() ||
                           type != DefaultComparisonType(in.operands[0]->shape().element_type()));
}

// How texts are spelt.

std::string True(const Instruction&, ProtoField) { return "true"; }

std::string Float(const Instruction& in, ProtoField field) {
  return absl::StrCat(in.message.Float(field));
}

std::string Integer(const Instruction& in, ProtoField field) {
  return absl::StrCat(in.message.Integer(field));
}

std::string OnlyInteger(const Instruction& in, ProtoField field) {
  std::vector<int64_t> values;
  in.message.Integers(field, &values);
  return values.size() == 1 ? absl::StrCat(values[0]) : "";
}

// `{true,false}`.
std::string Bools(const Instruction& in, ProtoField field) {
  std::vector<absl::string_view> values;
  in.message.ForEachVarint(
      field, [&](uint64_t value) { values.push_back(value != 0 ? "true" : "false"); });
  return values.empty() ? "" : absl::StrCat("{", absl::StrJoin(values, ","), "}");
}

std::string Word(const Instruction& in, ProtoField field) {
  const absl::string_view word = in.message.Bytes(field);
  if (word.empty() || !std::all_of(word.begin(), word.end(), Lexer::IsNameCharacter)) {
    in.message.Fail("'", Shown(word), "' is no ", field.name);
  }
  return std::string(word);
}

std::string Config(const Instruction& in, ProtoField field) {
  return SpellConfig(in.message.Bytes(field));
}

// What `kSpell` gives for the message that the field is one of.
template <std::string (*kSpell)(const WireMessage& message)>
std::string AllAs(const Instruction& in, ProtoField) {
  return kSpell(in.message);
}

// Enumerators: what they are, and their names from 0 on.
struct Enumerators {
  absl::string_view what;
  absl::string_view names[14];
};

absl::string_view NameIn(const Enumerators& enumerators, const Instruction& in, int64_t value) {
  if (value >= 0 && value < static_cast<int64_t>(std::size(enumerators.names)) &&
      !enumerators.names[value].empty()) {
    return enumerators.names[value];
  }
  in.message.Fail("no ", enumerators.what, " has the number ", value);
  return enumerators.names[0];
}

template <const Enumerators& kEnumerators>
std::string Name(const Instruction& in, ProtoField field) {
  return std::string(NameIn(kEnumerators, in, in.message.Integer(field)));
}

constexpr Enumerators kAccuracyModes = {"mode", {"default", "highest"}};
constexpr Enumerators kAlgorithms = {"algorithm", {"rng_default", "rng_three_fry", "rng_philox"}};
constexpr Enumerators kAnswers = {"answer", {"unspecified", "true", "false"}};
constexpr Enumerators kApiVersions = {
    "version of an interface",
    {"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
     "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI"}};
constexpr Enumerators kConvolutionKinds = {"kind of convolution",
                                           {"unset", "fprop", "dgrad", "wgrad"}};
constexpr Enumerators kDistributions = {"distribution",
                                        {"rng_invalid", "rng_uniform", "rng_normal"}};
constexpr Enumerators kDotAlgorithms = {
    "algorithm of dots",
    {"unset", "dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum", "dot_f16_f16_f16",
     "dot_f16_f16_f32", "dot_bf16_bf16_bf16", "dot_bf16_bf16_f32", "dot_bf16_bf16_f32_x3",
     "dot_bf16_bf16_f32_x6", "dot_tf32_tf32_f32", "dot_tf32_tf32_f32_x3", "dot_f32_f32_f32",
     "dot_f64_f64_f64", "dot_bf16_bf16_f32_x9"}};
constexpr Enumerators kFftTypes = {"type of FFT", {"FFT", "IFFT", "RFFT", "IRFFT"}};
constexpr Enumerators kPaddingTypes = {"type of padding",
                                       {"PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"}};
constexpr Enumerators kPrecisions = {"precision", {"default", "high", "highest"}};
constexpr Enumerators kSchedules = {"schedule",
                                    {"SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"}};
constexpr Enumerators kTransposes = {"way to transpose",
                                     {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}};

// `{highest,default}`.
std::string Precisions(const Instruction& in, ProtoField field) {
  std::vector<absl::string_view> names;
  bool is_default = true;
  in.message.ForEachVarint(field, [&](uint64_t value) {
    names.push_back(NameIn(kPrecisions, in, static_cast<int64_t>(value)));
    is_default &= value == 0;
  });
  return is_default ? "" : absl::StrCat("{", absl::StrJoin(names, ","), "}");
}

// It says that elements of an operand are left out, which nothing here knows of.
std::string Sparsity(const Instruction& in, ProtoField field) {
  if (!in.message.Bytes(field).empty()) in.message.Fail("sparsity_config is not supported");
  return "";
}

// An unknown opcode may have groups; those that are known to have groups have them always.
bool IfGrouped(const Instruction& in, ProtoField field) {
  return in.opcode != Op::kUnknown || in.message.Has(field) ||
         in.message.Has({87, "collective_device_list"}) ||
         in.message.Has({92, "iota_collective_device_list"}) ||
         in.message.Has({93, "mesh_axes_replica_group_list"});
}

// Where layouts are constrained.
std::string OperandShapes(const Instruction& in, ProtoField field) {
  if (!in.message.Bool({56, "constrain_layout"})) return "";
  return absl::StrCat("{", SpellEach(in.message, field, ", ", SpellShape), "}");
}

std::string LiteralWithShape(const WireMessage& literal) {
  Shape shape;
  literal.Message({1, "shape"}, [&](const WireMessage& m) { shape = ReadShapeProto(m); });
  if (literal.source().failed()) return "";
  std::string text = absl::StrCat(shape.ToString(), " ");
  PrintLiteral(ReadLiteralProto(literal, shape), &text);
  return text;
}

// What a message calls the entry, on the operand's side, text calls the exit.
std::string Domain(const WireMessage& instruction) {
  std::string entry = "{}";
  std::string exit = "{}";
  instruction.Message({54, "domain_entry_sharding"},
                      [&](const WireMessage& sharding) { entry = SpellSharding(sharding); });
  instruction.Message({55, "domain_exit_sharding"},
                      [&](const WireMessage& sharding) { exit = SpellSharding(sharding); });
  return absl::StrCat("{kind=\"sharding\", entry=", exit, ", exit=", entry, "}");
}

std::string AccuracyMode(const Instruction& in, ProtoField field) {
  return absl::StrCat("{mode=", Name<kAccuracyModes>(in, field), "}");
}

std::string Tolerance(const WireMessage& tolerance) {
  return absl::StrCat("{tolerance={atol=", tolerance.Double({1, "atol"}),
                      ",rtol=", tolerance.Double({2, "rtol"}),
                      ",ulps=", tolerance.Integer({3, "ulps"}), "}}");
}

std::string Statistics(const WireMessage& statistics_viz) {
  if (!statistics_viz.Has({2, "statistics"})) return "";
  const auto spell = [](const WireMessage& statistic) {
    return absl::StrCat(statistic.Bytes({1, "stat_name"}), "=", statistic.Double({2, "stat_val"}));
  };
  return absl::StrCat("{visualizing_index=", statistics_viz.Integer({1, "stat_index_to_visualize"}),
                      ",", SpellEach(statistics_viz, {2, "statistics"}, ",", spell), "}");
}

std::string Origin(const Instruction& in, ProtoField field) {
  std::string text;
  in.message.Message(field,
                     [&](const WireMessage& value) { text = SpellOriginalValue(value, in.shape); });
  return text;
}

// In the instruction, in a message within, or among the strings of the module.
std::string BackendConfig(const Instruction& in, ProtoField field) {
  absl::string_view config = in.message.Bytes(field);
  in.message.Message({99, "backend_config_payload"}, [&](const WireMessage& payload) {
    const int64_t id = payload.Integer({2, "id"});
    if (!payload.Has({2, "id"})) {
      config = payload.Bytes({1, "value"});
    } else if (id >= 0 && id < static_cast<int64_t>(in.references.payloads.size())) {
      config = in.references.payloads[id];
    } else {
      payload.Fail("the module has no payload ", id);
    }
  });
  return config.empty() ? "" : SpellConfig(config);
}

// The table.

constexpr AttributeField kReplication[] = {
    {"parameter_replication", {1, "replicated_at_leaf_buffers"}, Bools},
};

constexpr AttributeField kDotNumbers[] = {
    {Key::kLhsBatchDims, {3, "lhs_batch_dimensions"}, IfGiven},
    {Key::kLhsContractingDims, {1, "lhs_contracting_dimensions"}},
    {Key::kRhsBatchDims, {4, "rhs_batch_dimensions"}, IfGiven},
    {Key::kRhsContractingDims, {2, "rhs_contracting_dimensions"}},
};

constexpr AttributeField kRaggedDotNumbers[] = {
    {{1, "dot_dimension_numbers"}, kDotNumbers},
    {Key::kLhsRaggedDims, {2, "lhs_ragged_dimensions"}},
    {Key::kRhsGroupDims, {3, "rhs_group_dimensions"}, IfGiven},
};

constexpr AttributeField kPrecision[] = {
    {"operand_precision", {1}, Precisions},
    {Key::kAlgorithm, {2}, Name<kDotAlgorithms>, IfNot0},
};

constexpr AttributeField kGatherNumbers[] = {
    {Key::kOffsetDims, {1}},
    {Key::kCollapsedSliceDims, {2}},
    {Key::kStartIndexMap, {3}},
    {Key::kOperandBatchingDims, {5}, IfGiven},
    {Key::kStartIndicesBatchingDims, {6}, IfGiven},
    {Key::kIndexVectorDim, {4}},
};

constexpr AttributeField kScatterNumbers[] = {
    {Key::kUpdateWindowDims, {1}},
    {Key::kInsertedWindowDims, {2}},
    {Key::kScatterDimsToOperandDims, {3}},
    {Key::kInputBatchingDims, {5}, IfGiven},
    {Key::kScatterIndicesBatchingDims, {6}, IfGiven},
    {Key::kIndexVectorDim, {4}},
};

constexpr AttributeField kTriangularSolve[] = {
    {Key::kLeftSide, {1}, IfNot0},
    {Key::kLower, {2}, IfNot0},
    {Key::kUnitDiagonal, {3}, IfNot0},
    {Key::kTransposeA, {4}, Name<kTransposes>, IfNot0},
};

constexpr AttributeField kCholesky[] = {
    {Key::kLower, {1}, IfNot0},
};

constexpr AttributeField kAccuracy[] = {
    {"result_accuracy", {1, "mode"}, AccuracyMode, IfNot0},
    {"result_accuracy", {2, "tolerance"}, Tolerance},
};

constexpr OpcodeSet kAny = OpcodeSet::All();
constexpr OpcodeSet kWithBatchNorm = {Op::kBatchNormGrad, Op::kBatchNormInference,
                                      Op::kBatchNormTraining};
constexpr OpcodeSet kWithPrecision = {Op::kConvolution, Op::kDot, Op::kScaledDot, Op::kRaggedDot,
                                      Op::kCustomCall};
constexpr OpcodeSet kMessages = {Op::kSend, Op::kSendDone, Op::kRecv, Op::kRecvDone};
constexpr OpcodeSet kPermutes = {Op::kCollectivePermute, Op::kCollectivePermuteStart};
constexpr OpcodeSet kRooted = {Op::kCollectiveBroadcast, Op::kCollectiveReduce};
constexpr OpcodeSet kCollectives =
    OpcodeSet({Op::kAllGather, Op::kAllGatherStart, Op::kAllReduce, Op::kAllReduceStart,
               Op::kAllToAll, Op::kRaggedAllToAll, Op::kReduceScatter}) |
    kRooted;
constexpr OpcodeSet kUnknown = {Op::kUnknown};
constexpr OpcodeSet kWithDimensions = {
    Op::kBroadcast, Op::kConcatenate,      Op::kReverse,          Op::kReduce, Op::kTranspose,
    Op::kMap,       Op::kGetDimensionSize, Op::kSetDimensionSize, Op::kSort,   Op::kScan};
// What calls computations under other names than `to_apply`, or leaves those that it has to others: of
// an asynchronous operation the start says which.
constexpr OpcodeSet kCallers = {Op::kWhile,      Op::kSelectAndScatter, Op::kConditional,
                                Op::kCustomCall, Op::kUnknown,          Op::kFusion,
                                Op::kAsyncStart, Op::kAsyncUpdate,      Op::kAsyncDone};

constexpr InstructionField kFields[] = {
    {{Op::kParameter}, {Key::kParameterNumber, {9, "parameter_number"}}},
    {{Op::kParameter}, {{61, "parameter_replication"}, kReplication}},
    {{Op::kConstant}, {Key::kConstantValue, {8, "literal"}}},
    {kUnknown, {Key::kUnknownOpcode, {2, "opcode"}, Word}},
    {{Op::kIota}, {Key::kIotaDimension, {14, "dimensions"}}},
    {{Op::kReshape}, {"inferred_dimension", {14, "dimensions"}, OnlyInteger}},
    {{Op::kGetTupleElement}, {Key::kIndex, {13, "tuple_index"}}},
    {{Op::kSlice}, {Key::kSlice, {17, "slice_dimensions"}}},
    {{Op::kDynamicSlice}, {Key::kDynamicSliceSizes, {20}}},
    {{Op::kPad}, {Key::kPadding, {21, "padding_config"}}},
    {{Op::kReduceWindow, Op::kSelectAndScatter, Op::kConvolution, Op::kCustomCall},
     {Key::kWindow, {15, "window"}}},
    {{Op::kConvolution, Op::kCustomCall}, {Key::kDimLabels, {16, "convolution_dimension_numbers"}}},
    {{Op::kConvolution, Op::kCustomCall}, {Key::kFeatureGroupCount, {50}, IfAbove1}},
    {{Op::kConvolution, Op::kCustomCall}, {Key::kBatchGroupCount, {58}, IfAbove1}},
    {{Op::kConvolution}, {"convolution_kind", {97, "conv_kind"}, Name<kConvolutionKinds>, IfNot0}},
    {{Op::kConvolution}, {"sparsity_config", {98}, Sparsity}},
    {{Op::kDot, Op::kScaledDot}, {{30, "dot_dimension_numbers"}, kDotNumbers}},
    {{Op::kRaggedDot}, {{90, "ragged_dot_dimension_numbers"}, kRaggedDotNumbers}},
    {kWithPrecision, {{51, "precision_config"}, kPrecision}},
    {{Op::kGather}, {{33, "gather_dimension_numbers"}, kGatherNumbers}},
    {{Op::kGather}, {Key::kSliceSizes, {34, "gather_slice_sizes"}}},
    {{Op::kScatter}, {{48, "scatter_dimension_numbers"}, kScatterNumbers}},
    {{Op::kGather, Op::kScatter}, {Key::kIndicesAreSorted, {67}, IfNot0}},
    {{Op::kScatter}, {Key::kUniqueIndices, {69}, IfNot0}},
    {{Op::kCompare}, {Key::kDirection, {63, "comparison_direction"}, Word}},
    {{Op::kCompare}, {Key::kComparisonType, {72, "comparison_type"}, Word, IfNotDefaultType}},
    {{Op::kFft}, {Key::kFftType, {31}, Name<kFftTypes>}},
    {{Op::kFft}, {Key::kFftLength, {32}}},
    {{Op::kTriangularSolve}, {{59, "triangular_solve_options"}, kTriangularSolve}},
    {{Op::kCholesky}, {{62, "cholesky_options"}, kCholesky}},
    {{Op::kReducePrecision}, {Key::kExponentBits, {18}}},
    {{Op::kReducePrecision}, {Key::kMantissaBits, {19}}},
    {kWithBatchNorm, {"epsilon", {24}, Float}},
    {kWithBatchNorm, {Key::kFeatureIndex, {25}}},
    {{Op::kRng}, {Key::kDistribution, {23}, Name<kDistributions>}},
    {{Op::kRngBitGenerator}, {Key::kAlgorithm, {70, "rng_algorithm"}, Name<kAlgorithms>}},
    {{Op::kRngGetAndUpdateState}, {Key::kDelta, {66}}},
    {{Op::kTopk}, {Key::kTopKCount, {81}}},
    {{Op::kTopk}, {Key::kLargest, {85}}},
    {kMessages | kCollectives | kPermutes | kUnknown, {Key::kChannelId, {26}, IfAbove0}},
    {kMessages, {Key::kIsHostTransfer, {47}, IfNot0}},
    {kCollectives | kUnknown, {Key::kReplicaGroups, {49}, AllAs<SpellReplicaGroups>, IfGrouped}},
    {kPermutes, {Key::kSourceTargetPairs, {52}, AllAs<SpellSourceTargetPairs>}},
    {kUnknown, {Key::kSourceTargetPairs, {52}, AllAs<SpellSourceTargetPairs>, IfGiven}},
    {kPermutes, {Key::kSliceSizes, {20, "dynamic_slice_sizes"}, IfGiven}},
    {kCollectives, {Key::kConstrainLayout, {56}, IfNot0}},
    {{Op::kReduceScatter}, {Key::kUseGlobalDeviceIds, {71}, IfNot0}},
    {kWithDimensions, {Key::kDimensions, {14}}},
    {kCollectives | kUnknown, {Key::kDimensions, {14}, IfGiven}},
    {kCollectives - OpcodeSet({Op::kReduceScatter}), {Key::kUseGlobalDeviceIds, {71}, IfNot0}},
    {kRooted, {Key::kHasDynamicRoot, ProtoField{}, IfRootIsOperand}},
    {{Op::kSort, Op::kTopk}, {Key::kIsStable, {60}, IfNot0}},
    {{Op::kScan}, {Key::kNumCarries, {95}}},
    {{Op::kScan}, {Key::kIsReverse, {94}, IfNot0}},
    {{Op::kScan}, {"is_associative", {96}, Name<kAnswers>, IfNot0}},
    {{Op::kCustomCall}, {"padding_type", {75}, Name<kPaddingTypes>, IfNot0}},
    {{Op::kCustomCall}, {Key::kCustomCallTarget, {28}}},
    {{Op::kCustomCall},
     {"operand_layout_constraints", {57, "operand_shapes_with_layout"}, OperandShapes}},
    {{Op::kCustomCall}, {"custom_call_has_side_effect", {65}, True, IfNot0}},
    {{Op::kCustomCall}, {"literal", {8, "literal"}, LiteralWithShape}},
    {{Op::kCustomCall},
     {Key::kOutputToOperandAliasing,
      {74, "output_operand_aliasing"},
      AllAs<SpellOutputToOperandAliasing>,
      IfGiven}},
    {{Op::kCustomCall}, {"schedule", {76, "custom_call_schedule"}, Name<kSchedules>, IfNot0}},
    {{Op::kCustomCall},
     {"api_version", {77, "custom_call_api_version"}, Name<kApiVersions>, IfNot1}},
    {{Op::kFusion}, {Key::kFusionKind, {11, "fusion_kind"}, Word}},
    {{Op::kCopyStart}, {"cross_program_prefetch_index", {80}, Integer, IfGiven}},
    {{Op::kAsyncStart}, {Key::kAsyncExecutionThread, {79}, IfNotMain}},
    {{Op::kInfeed}, {"infeed_config", {27}, Config, IfGiven}},
    {{Op::kOutfeed}, {"outfeed_shape", {29, "outfeed_shape"}, SpellShape}},
    {{Op::kOutfeed}, {"outfeed_config", {22}, Config, IfGiven}},
    {{Op::kDomain}, {"domain", {54, "domain_entry_sharding"}, AllAs<Domain>}},
    {{Op::kWhile}, {Key::kCondition, Called{1, 2}}},
    {{Op::kWhile}, {Key::kBody, Called{0, 2}}},
    {{Op::kSelectAndScatter}, {Key::kSelect, Called{0, 2}}},
    {{Op::kSelectAndScatter}, {Key::kScatter, Called{1, 2}}},
    {{Op::kConditional}, {Key::kTrueComputation, Called{0, 2}, IfPredicated}},
    {{Op::kConditional}, {Key::kFalseComputation, Called{1, 2}, IfPredicated}},
    {{Op::kConditional}, {Key::kBranchComputations, {38, "called_computation_ids"}, IfIndexed}},
    {{Op::kCustomCall, Op::kUnknown}, {Key::kCalledComputations, {38, "called_computation_ids"}}},
    {{Op::kFusion, Op::kAsyncStart}, {Key::kCalls, Called{0, 1}}},
    {kAny - kCallers, {Key::kToApply, Called{0, 1}}},
    {kAny, {"is_composite", {89}, True, IfNot0}},
    {kAny, {{91, "result_accuracy"}, kAccuracy}},
    {kAny, {Key::kSharding, {40, "sharding"}, SpellSharding}},
    {kAny, {Key::kFrontendAttributes, {68, "frontend_attributes"}, SpellFrontendAttributes}},
    {kAny, {Key::kControlPredecessors, {37, "control_predecessor_ids"}}},
    {kAny, {"statistics", {82, "statistics_viz"}, Statistics}},
    {kAny, {"origin", {88, "original_value"}, Origin}},
    {kAny, {Key::kMetadata, {7, "metadata"}, SpellMetadata}},
    {kAny, {Key::kBackendConfig, {43}, BackendConfig}},
};

// The positions of the rows of each opcode.
struct RowLists {
  constexpr RowLists() {
    for (size_t opcode = 0; opcode < kOpcodeCount; ++opcode) {
      for (size_t row = 0; row < std::size(kFields); ++row) {
        if (!kFields[row].opcodes.Has(static_cast<HloOpcode>(opcode))) continue;
        rows[opcode][counts[opcode]++] = static_cast<uint8_t>(row);
      }
    }
  }

  // No opcode has as many as there is room for; the compiler would say it.
  std::array<std::array<uint8_t, 32>, kOpcodeCount> rows = {};
  std::array<size_t, kOpcodeCount> counts = {};
};

constexpr RowLists kRowLists;

}  // namespace

absl::Span<const InstructionField> InstructionFields() { return kFields; }

absl::Span<const uint8_t> RowsOf(HloOpcode opcode) {
  const auto at = static_cast<size_t>(opcode);
  return absl::MakeConstSpan(kRowLists.rows[at]).first(kRowLists.counts[at]);
}

}  // namespace xla_indexing::internal
