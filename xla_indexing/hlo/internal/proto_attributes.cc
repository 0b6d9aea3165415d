#include "xla_indexing/hlo/internal/proto_attributes.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/element_type.h"
#include "xla_indexing/hlo/internal/lexer.h"
#include "xla_indexing/hlo/internal/proto_fields.h"
#include "xla_indexing/hlo/internal/proto_literal.h"
#include "xla_indexing/hlo/internal/proto_shape.h"
#include "xla_indexing/hlo/internal/proto_spelling.h"
#include "xla_indexing/hlo/printer.h"

namespace xla_indexing::internal {
namespace {

using Field = proto::Instruction::Field;

// What a comparison compares as where nothing is said.
absl::string_view DefaultComparisonType(ElementType type) {
  if (IsSignedIntegral(type)) return "SIGNED";
  return IsUnsignedIntegral(type) || IsPred(type) ? "UNSIGNED" : "FLOAT";
}

class ProtoAttributeReader {
 public:
  ProtoAttributeReader(const ProtoInstruction& instruction, const ProtoReferences& references,
                       Arena& arena)
      : message_(instruction.message),
        source_(instruction.message.source()),
        opcode_(instruction.opcode),
        shape_(instruction.shape),
        operands_(instruction.operands),
        references_(references),
        arena_(arena) {}

  AttributeList Read() && {
    ReadOwn();
    ReadCalledComputations();
    if (message_.Bool(Field::kIsComposite)) AddText("is_composite", "true");
    ReadCommon();
    return std::move(attributes_);
  }

 private:
  void Add(AttributeKey key, const AttributeValue& value) {
    attributes_.push_back({key, AttributeName(key), value});
  }
  // An attribute without a key of its own; `name` is a literal.
  void AddText(absl::string_view name, absl::string_view text) {
    attributes_.push_back({AttributeKey::kOther, name, Checked(text)});
  }
  void AddText(AttributeKey key, absl::string_view text) { Add(key, Checked(text)); }

  // A copy of a text, which must be one word, string or pair of braces to be read again.
  absl::string_view Checked(absl::string_view text) {
    Lexer lexer(text);
    absl::string_view unused;
    if (!text.empty() && text.front() == '{' && (!lexer.ReadBraces(&unused) || !lexer.AtEnd())) {
      source_.Fail(absl::StrCat("'", Shown(text), "' cannot be written as HLO text: ",
                                lexer.failed() ? lexer.error_message() : "its braces close early"));
    }
    return arena_.CopyString(text);
  }

  // An attribute whose text is one word.
  void AddWord(AttributeKey key, absl::string_view word) {
    if (word.empty() || !std::all_of(word.begin(), word.end(), Lexer::IsNameCharacter)) {
      source_.Fail(absl::StrCat("'", Shown(word), "' is no ", AttributeName(key)));
    }
    Add(key, arena_.CopyString(word));
  }

  template <typename T>
  absl::Span<const T> Owned(const std::vector<T>& values) {
    return arena_.Copy(absl::MakeConstSpan(values));
  }

  std::vector<int64_t> Integers(const WireMessage& message, uint32_t number) const {
    std::vector<int64_t> values;
    message.Integers(number, &values);
    return values;
  }
  void AddIntegers(AttributeKey key, const WireMessage& message, uint32_t number) {
    Add(key, Owned(Integers(message, number)));
  }
  // As AddIntegers, for a list that is not written where it is empty.
  void AddIntegersIfAny(AttributeKey key, const WireMessage& message, uint32_t number) {
    if (message.Has(number)) AddIntegers(key, message, number);
  }
  void AddDimensions() { AddIntegers(AttributeKey::kDimensions, message_, Field::kDimensions); }
  void AddInteger(AttributeKey key, const WireMessage& message, uint32_t number) {
    Add(key, message.Integer(number));
  }
  // A flag that is not written where it is false.
  void AddFlag(AttributeKey key, const WireMessage& message, uint32_t number) {
    if (message.Bool(number)) Add(key, true);
  }
  // A count that is 1 where it is not given, and not written then.
  void AddCount(AttributeKey key, uint32_t number) {
    if (const int64_t count = message_.Integer(number); count > 1) Add(key, count);
  }

  // The name at `value` in `names`, which begin with that of 0.
  absl::string_view Name(int64_t value, absl::Span<const absl::string_view> names,
                         absl::string_view what) {
    if (value >= 0 && value < static_cast<int64_t>(names.size())) return names[value];
    source_.Fail(absl::StrCat("no ", what, " has the number ", value));
    return names[0];
  }

  void ReadOwn();
  void ReadWindow();
  void ReadConvolutionDimensions();
  void ReadConvolution();
  void ReadPrecision();
  void AddDotDimensions(const WireMessage& numbers);
  void ReadDot();
  void ReadRaggedDot();
  void ReadGather();
  void ReadScatter();
  void ReadSlice();
  void ReadPadding();
  void ReadCompare();
  void ReadFft();
  void ReadTriangularSolve();
  void ReadChannel();
  void ReadCollective();
  void ReadCollectivePermute();
  void ReadCustomCall();
  void ReadConstant();
  void ReadParameter();
  void ReadDomain();
  void ReadScan();
  void ReadCalledComputations();
  void ReadControlPredecessors();
  void ReadStatistics();
  void ReadResultAccuracy();
  void ReadCommon();

  const WireMessage& message_;
  ProtoSource& source_;
  const HloOpcode opcode_;
  const Shape& shape_;
  const absl::Span<const HloInstruction* const> operands_;
  const ProtoReferences& references_;
  Arena& arena_;
  AttributeList attributes_;
};

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
    case HloOpcode::kCollectiveBroadcast:
    case HloOpcode::kRaggedAllToAll:
    case HloOpcode::kReduceScatter:
      return ReadCollective();
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

void ProtoAttributeReader::ReadSlice() {
  std::vector<SliceRange> ranges;
  message_.Messages(Field::kSliceDimensions, "slice_dimensions",
                    [&](const WireMessage& dimension, int64_t) {
                      using Dimension = proto::SliceDimensions;
                      ranges.push_back({.start = dimension.Integer(Dimension::kStart),
                                        .limit = dimension.Integer(Dimension::kLimit),
                                        .stride = dimension.Integer(Dimension::kStride)});
                    });
  Add(AttributeKey::kSlice, Owned(ranges));
}

void ProtoAttributeReader::ReadPadding() {
  std::vector<PaddingDimension> padding;
  message_.Message(Field::kPaddingConfig, "padding_config", [&](const WireMessage& config) {
    config.Messages(
        proto::PaddingConfig::kDimensions, "dimensions",
        [&](const WireMessage& dimension, int64_t) {
          using Dimension = proto::PaddingConfigDimension;
          padding.push_back({.low = dimension.Integer(Dimension::kEdgePaddingLow),
                             .high = dimension.Integer(Dimension::kEdgePaddingHigh),
                             .interior = dimension.Integer(Dimension::kInteriorPadding)});
          if (padding.back().interior < 0) source_.Fail("the interior padding is negative");
        });
  });
  Add(AttributeKey::kPadding, Owned(padding));
}

void ProtoAttributeReader::ReadWindow() {
  auto* window = arena_.New<Window>();
  message_.Message(Field::kWindow, "window", [&](const WireMessage& of_window) {
    of_window.Messages(
        proto::Window::kDimensions, "dimensions", [&](const WireMessage& dimension, int64_t) {
          using Dimension = proto::WindowDimension;
          const WindowDimension read = {
              .size = dimension.Integer(Dimension::kSize),
              .stride = dimension.Integer(Dimension::kStride),
              .padding_low = dimension.Integer(Dimension::kPaddingLow),
              .padding_high = dimension.Integer(Dimension::kPaddingHigh),
              .base_dilation = dimension.Integer(Dimension::kBaseDilation),
              .window_dilation = dimension.Integer(Dimension::kWindowDilation),
              .window_reversal = dimension.Bool(Dimension::kWindowReversal)};
          if (read.size < 0 || read.stride < 1 || read.base_dilation < 1 ||
              read.window_dilation < 1) {
            source_.Fail(absl::StrCat("a window cannot have size ", read.size, ", stride ",
                                      read.stride, ", base dilation ", read.base_dilation,
                                      ", window dilation ", read.window_dilation));
          }
          window->dimensions.push_back(read);
        });
  });
  if (!window->dimensions.empty()) {
    Add(AttributeKey::kWindow, static_cast<const Window*>(window));
  }
}

// Says what each dimension of a convolution's operands and result is. The ranks are those of the
// labels: two more than there are spatial dimensions, or more where a label is further behind.
void ProtoAttributeReader::ReadConvolutionDimensions() {
  message_.Message(
      Field::kConvolutionDimensionNumbers, "convolution_dimension_numbers",
      [&](const WireMessage& message) {
        using Numbers = proto::ConvolutionDimensionNumbers;
        auto* numbers = arena_.New<ConvolutionDimensionNumbers>();
        numbers->input_batch = message.Integer(Numbers::kInputBatchDimension);
        numbers->input_feature = message.Integer(Numbers::kInputFeatureDimension);
        numbers->kernel_input_feature = message.Integer(Numbers::kKernelInputFeatureDimension);
        numbers->kernel_output_feature = message.Integer(Numbers::kKernelOutputFeatureDimension);
        numbers->output_batch = message.Integer(Numbers::kOutputBatchDimension);
        numbers->output_feature = message.Integer(Numbers::kOutputFeatureDimension);
        message.Integers(Numbers::kInputSpatialDimensions, &numbers->input_spatial);
        message.Integers(Numbers::kKernelSpatialDimensions, &numbers->kernel_spatial);
        message.Integers(Numbers::kOutputSpatialDimensions, &numbers->output_spatial);
        const size_t spatial = numbers->input_spatial.size();
        if (numbers->kernel_spatial.size() != spatial ||
            numbers->output_spatial.size() != spatial) {
          source_.Fail("there are unequal numbers of spatial dimensions");
          return;
        }
        // Labels of spatial dimensions are single digits.
        constexpr size_t kMostSpatial = 10;
        if (spatial > kMostSpatial) {
          source_.Fail(absl::StrCat("there are ", spatial, " spatial dimensions, and labels for ",
                                    kMostSpatial));
          return;
        }
        const auto rank = [&](int64_t first, int64_t second,
                              absl::Span<const int64_t> spatial_dimensions) {
          constexpr int64_t kMostLabels = 64;
          std::vector<int64_t> dimensions(spatial_dimensions.begin(), spatial_dimensions.end());
          dimensions.push_back(first);
          dimensions.push_back(second);
          std::sort(dimensions.begin(), dimensions.end());
          const bool is_distinct =
              std::adjacent_find(dimensions.begin(), dimensions.end()) == dimensions.end();
          if (!is_distinct || dimensions.front() < 0 || dimensions.back() >= kMostLabels) {
            source_.Fail(absl::StrCat("{", absl::StrJoin(dimensions, ","),
                                      "} cannot be the dimensions of an operand or result"));
            return int64_t{0};
          }
          return dimensions.back() + 1;
        };
        numbers->input_rank =
            rank(numbers->input_batch, numbers->input_feature, numbers->input_spatial);
        numbers->kernel_rank = rank(numbers->kernel_input_feature, numbers->kernel_output_feature,
                                    numbers->kernel_spatial);
        numbers->output_rank =
            rank(numbers->output_batch, numbers->output_feature, numbers->output_spatial);
        Add(AttributeKey::kDimLabels, static_cast<const ConvolutionDimensionNumbers*>(numbers));
      });
}

void ProtoAttributeReader::ReadConvolution() {
  ReadWindow();
  ReadConvolutionDimensions();
  AddCount(AttributeKey::kFeatureGroupCount, Field::kFeatureGroupCount);
  AddCount(AttributeKey::kBatchGroupCount, Field::kBatchGroupCount);
  if (const int64_t kind = message_.Integer(Field::kConvKind); kind != 0) {
    AddText("convolution_kind",
            Name(kind, {"unset", "fprop", "dgrad", "wgrad"}, "kind of convolution"));
  }
  // It says that elements of an operand are left out, which nothing here knows of.
  if (!message_.Bytes(Field::kSparsityConfig).empty()) {
    source_.Fail("sparsity_config is not supported");
  }
  ReadPrecision();
}

void ProtoAttributeReader::ReadPrecision() {
  message_.Message(Field::kPrecisionConfig, "precision_config", [&](const WireMessage& config) {
    std::vector<absl::string_view> precisions;
    bool is_default = true;
    config.ForEachVarint(proto::PrecisionConfig::kOperandPrecision, [&](uint64_t precision) {
      precisions.push_back(
          Name(static_cast<int64_t>(precision), {"default", "high", "highest"}, "precision"));
      is_default &= precision == 0;
    });
    if (!is_default) {
      AddText("operand_precision", absl::StrCat("{", absl::StrJoin(precisions, ","), "}"));
    }
    const int64_t algorithm = config.Integer(proto::PrecisionConfig::kAlgorithm);
    if (algorithm == 0) return;
    AddText(
        AttributeKey::kAlgorithm,
        Name(algorithm,
             {"unset", "dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum",
              "dot_f16_f16_f16", "dot_f16_f16_f32", "dot_bf16_bf16_bf16", "dot_bf16_bf16_f32",
              "dot_bf16_bf16_f32_x3", "dot_bf16_bf16_f32_x6", "dot_tf32_tf32_f32",
              "dot_tf32_tf32_f32_x3", "dot_f32_f32_f32", "dot_f64_f64_f64", "dot_bf16_bf16_f32_x9"},
             "algorithm of dots"));
  });
}

void ProtoAttributeReader::AddDotDimensions(const WireMessage& numbers) {
  using Numbers = proto::DotDimensionNumbers;
  AddIntegersIfAny(AttributeKey::kLhsBatchDims, numbers, Numbers::kLhsBatchDimensions);
  AddIntegers(AttributeKey::kLhsContractingDims, numbers, Numbers::kLhsContractingDimensions);
  AddIntegersIfAny(AttributeKey::kRhsBatchDims, numbers, Numbers::kRhsBatchDimensions);
  AddIntegers(AttributeKey::kRhsContractingDims, numbers, Numbers::kRhsContractingDimensions);
}

void ProtoAttributeReader::ReadDot() {
  message_.Message(Field::kDotDimensionNumbers, "dot_dimension_numbers",
                   [&](const WireMessage& numbers) { AddDotDimensions(numbers); });
  ReadPrecision();
}

void ProtoAttributeReader::ReadRaggedDot() {
  message_.Message(
      Field::kRaggedDotDimensionNumbers, "ragged_dot_dimension_numbers",
      [&](const WireMessage& ragged) {
        using Ragged = proto::RaggedDotDimensionNumbers;
        ragged.Message(Ragged::kDotDimensionNumbers, "dot_dimension_numbers",
                       [&](const WireMessage& numbers) { AddDotDimensions(numbers); });
        AddIntegers(AttributeKey::kLhsRaggedDims, ragged, Ragged::kLhsRaggedDimensions);
        AddIntegersIfAny(AttributeKey::kRhsGroupDims, ragged, Ragged::kRhsGroupDimensions);
      });
  ReadPrecision();
}

void ProtoAttributeReader::ReadGather() {
  message_.Message(
      Field::kGatherDimensionNumbers, "gather_dimension_numbers", [&](const WireMessage& numbers) {
        using Numbers = proto::GatherDimensionNumbers;
        AddIntegers(AttributeKey::kOffsetDims, numbers, Numbers::kOffsetDims);
        AddIntegers(AttributeKey::kCollapsedSliceDims, numbers, Numbers::kCollapsedSliceDims);
        AddIntegers(AttributeKey::kStartIndexMap, numbers, Numbers::kStartIndexMap);
        AddIntegersIfAny(AttributeKey::kOperandBatchingDims, numbers,
                         Numbers::kOperandBatchingDims);
        AddIntegersIfAny(AttributeKey::kStartIndicesBatchingDims, numbers,
                         Numbers::kStartIndicesBatchingDims);
        AddInteger(AttributeKey::kIndexVectorDim, numbers, Numbers::kIndexVectorDim);
      });
  AddIntegers(AttributeKey::kSliceSizes, message_, Field::kGatherSliceSizes);
  AddFlag(AttributeKey::kIndicesAreSorted, message_, Field::kIndicesAreSorted);
}

void ProtoAttributeReader::ReadScatter() {
  message_.Message(
      Field::kScatterDimensionNumbers, "scatter_dimension_numbers",
      [&](const WireMessage& numbers) {
        using Numbers = proto::ScatterDimensionNumbers;
        AddIntegers(AttributeKey::kUpdateWindowDims, numbers, Numbers::kUpdateWindowDims);
        AddIntegers(AttributeKey::kInsertedWindowDims, numbers, Numbers::kInsertedWindowDims);
        AddIntegers(AttributeKey::kScatterDimsToOperandDims, numbers,
                    Numbers::kScatterDimsToOperandDims);
        AddIntegersIfAny(AttributeKey::kInputBatchingDims, numbers, Numbers::kInputBatchingDims);
        AddIntegersIfAny(AttributeKey::kScatterIndicesBatchingDims, numbers,
                         Numbers::kScatterIndicesBatchingDims);
        AddInteger(AttributeKey::kIndexVectorDim, numbers, Numbers::kIndexVectorDim);
      });
  AddFlag(AttributeKey::kIndicesAreSorted, message_, Field::kIndicesAreSorted);
  AddFlag(AttributeKey::kUniqueIndices, message_, Field::kUniqueIndices);
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

}  // namespace

AttributeList ReadProtoAttributes(const ProtoInstruction& instruction,
                                  const ProtoReferences& references, Arena& arena) {
  return ProtoAttributeReader(instruction, references, arena).Read();
}

}  // namespace xla_indexing::internal
