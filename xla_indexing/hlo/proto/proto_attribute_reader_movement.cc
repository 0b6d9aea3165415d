#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/proto/proto_attribute_reader.h"
#include "xla_indexing/hlo/proto/proto_fields_instruction.h"
#include "xla_indexing/hlo/proto/wire_format.h"
#include "xla_indexing/hlo/types/attribute.h"

namespace xla_indexing::internal {

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

}  // namespace xla_indexing::internal
