// The numbers of the fields of XLA's messages about instructions and their attributes,
// of those fields that are read: `Instruction::kShape` is field shape of the
// message HloInstructionProto.
//
// Source: xla/service/hlo.proto and xla/xla_data.proto of jaxlib 0.10.2, as its library describes
// them to itself. Numbers of fields never change.

#ifndef XLA_INDEXING_HLO_PROTO_PROTO_FIELDS_INSTRUCTION_H_
#define XLA_INDEXING_HLO_PROTO_PROTO_FIELDS_INSTRUCTION_H_

#include <cstdint>

namespace xla_indexing::internal::proto {

struct Instruction {
  enum Field : uint32_t {
    kName = 1,
    kOpcode = 2,
    kShape = 3,
    kMetadata = 7,
    kLiteral = 8,
    kParameterNumber = 9,
    kFusionKind = 11,
    kTupleIndex = 13,
    kDimensions = 14,
    kWindow = 15,
    kConvolutionDimensionNumbers = 16,
    kSliceDimensions = 17,
    kExponentBits = 18,
    kMantissaBits = 19,
    kDynamicSliceSizes = 20,
    kPaddingConfig = 21,
    kOutfeedConfig = 22,
    kDistribution = 23,
    kEpsilon = 24,
    kFeatureIndex = 25,
    kChannelId = 26,
    kInfeedConfig = 27,
    kCustomCallTarget = 28,
    kOutfeedShape = 29,
    kDotDimensionNumbers = 30,
    kFftType = 31,
    kFftLength = 32,
    kGatherDimensionNumbers = 33,
    kGatherSliceSizes = 34,
    kId = 35,
    kOperandIds = 36,
    kControlPredecessorIds = 37,
    kCalledComputationIds = 38,
    kSharding = 40,
    kBackendConfig = 43,
    kIsHostTransfer = 47,
    kScatterDimensionNumbers = 48,
    kReplicaGroups = 49,
    kFeatureGroupCount = 50,
    kPrecisionConfig = 51,
    kSourceTargetPairs = 52,
    kDomainEntrySharding = 54,
    kDomainExitSharding = 55,
    kConstrainLayout = 56,
    kOperandShapesWithLayout = 57,
    kBatchGroupCount = 58,
    kTriangularSolveOptions = 59,
    kIsStable = 60,
    kParameterReplication = 61,
    kCholeskyOptions = 62,
    kComparisonDirection = 63,
    kCustomCallHasSideEffect = 65,
    kDelta = 66,
    kIndicesAreSorted = 67,
    kFrontendAttributes = 68,
    kUniqueIndices = 69,
    kRngAlgorithm = 70,
    kUseGlobalDeviceIds = 71,
    kComparisonType = 72,
    kOutputOperandAliasing = 74,
    kPaddingType = 75,
    kCustomCallSchedule = 76,
    kCustomCallApiVersion = 77,
    kAsyncExecutionThread = 79,
    kCrossProgramPrefetchIndex = 80,
    kK = 81,
    kStatisticsViz = 82,
    kLargest = 85,
    kCollectiveDeviceList = 87,
    kOriginalValue = 88,
    kIsComposite = 89,
    kRaggedDotDimensionNumbers = 90,
    kResultAccuracy = 91,
    kIotaCollectiveDeviceList = 92,
    kMeshAxesReplicaGroupList = 93,
    kIsReverse = 94,
    kNumCarries = 95,
    kIsAssociative = 96,
    kConvKind = 97,
    kSparsityConfig = 98,
    kBackendConfigPayload = 99,
  };
};

struct SliceDimensions {
  enum Field : uint32_t {
    kStart = 1,
    kLimit = 2,
    kStride = 3,
  };
};

struct PaddingConfig {
  enum Field : uint32_t {
    kDimensions = 1,
  };
};

struct PaddingConfigDimension {
  enum Field : uint32_t {
    kEdgePaddingLow = 1,
    kEdgePaddingHigh = 2,
    kInteriorPadding = 3,
  };
};

struct Payload {
  enum Field : uint32_t {
    kValue = 1,
    kId = 2,
  };
};

struct OpMetadata {
  enum Field : uint32_t {
    kOpType = 1,
    kOpName = 2,
    kSourceFile = 3,
    kSourceLine = 4,
    kProfileType = 5,
    kDeduplicatedName = 12,
    kStackFrameId = 15,
    kSchedulingName = 16,
    kSourceEndLine = 17,
    kSourceColumn = 18,
    kSourceEndColumn = 19,
  };
};

struct WindowDimension {
  enum Field : uint32_t {
    kSize = 1,
    kStride = 2,
    kPaddingLow = 3,
    kPaddingHigh = 4,
    kWindowDilation = 5,
    kBaseDilation = 6,
    kWindowReversal = 7,
  };
};

struct Window {
  enum Field : uint32_t {
    kDimensions = 1,
  };
};

struct GatherDimensionNumbers {
  enum Field : uint32_t {
    kOffsetDims = 1,
    kCollapsedSliceDims = 2,
    kStartIndexMap = 3,
    kIndexVectorDim = 4,
    kOperandBatchingDims = 5,
    kStartIndicesBatchingDims = 6,
  };
};

struct ScatterDimensionNumbers {
  enum Field : uint32_t {
    kUpdateWindowDims = 1,
    kInsertedWindowDims = 2,
    kScatterDimsToOperandDims = 3,
    kIndexVectorDim = 4,
    kInputBatchingDims = 5,
    kScatterIndicesBatchingDims = 6,
  };
};

struct ConvolutionDimensionNumbers {
  enum Field : uint32_t {
    kKernelInputFeatureDimension = 3,
    kKernelOutputFeatureDimension = 4,
    kKernelSpatialDimensions = 6,
    kInputBatchDimension = 7,
    kInputFeatureDimension = 8,
    kOutputBatchDimension = 9,
    kOutputFeatureDimension = 10,
    kInputSpatialDimensions = 11,
    kOutputSpatialDimensions = 12,
  };
};

struct DotDimensionNumbers {
  enum Field : uint32_t {
    kLhsContractingDimensions = 1,
    kRhsContractingDimensions = 2,
    kLhsBatchDimensions = 3,
    kRhsBatchDimensions = 4,
  };
};

struct RaggedDotDimensionNumbers {
  enum Field : uint32_t {
    kDotDimensionNumbers = 1,
    kLhsRaggedDimensions = 2,
    kRhsGroupDimensions = 3,
  };
};

struct TriangularSolveOptions {
  enum Field : uint32_t {
    kLeftSide = 1,
    kLower = 2,
    kUnitDiagonal = 3,
    kTransposeA = 4,
  };
};

struct CholeskyOptions {
  enum Field : uint32_t {
    kLower = 1,
  };
};

struct FrontendAttributes {
  enum Field : uint32_t {
    kMap = 1,
  };
};

struct MapEntry {
  enum Field : uint32_t {
    kKey = 1,
    kValue = 2,
  };
};

struct Statistic {
  enum Field : uint32_t {
    kStatName = 1,
    kStatVal = 2,
  };
};

struct StatisticsViz {
  enum Field : uint32_t {
    kStatIndexToVisualize = 1,
    kStatistics = 2,
  };
};

struct ResultAccuracy {
  enum Field : uint32_t {
    kMode = 1,
    kTolerance = 2,
  };
};

struct Tolerance {
  enum Field : uint32_t {
    kAtol = 1,
    kRtol = 2,
    kUlps = 3,
  };
};

struct PrecisionConfig {
  enum Field : uint32_t {
    kOperandPrecision = 1,
    kAlgorithm = 2,
  };
};

struct OutputOperandAliasing {
  enum Field : uint32_t {
    kOutputShapeIndex = 1,
    kOperandIndex = 2,
    kOperandShapeIndex = 3,
  };
};

struct OriginalArray {
  enum Field : uint32_t {
    kInstructionName = 1,
    kShapeIndex = 2,
  };
};

struct OriginalValueElement {
  enum Field : uint32_t {
    kShapeIndex = 1,
    kOriginalArray = 2,
  };
};

struct OriginalValue {
  enum Field : uint32_t {
    kElements = 1,
    kIsSyntheticCall = 2,
  };
};

}  // namespace xla_indexing::internal::proto

#endif  // XLA_INDEXING_HLO_PROTO_PROTO_FIELDS_INSTRUCTION_H_
