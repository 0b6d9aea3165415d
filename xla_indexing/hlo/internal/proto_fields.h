// The numbers of the fields of XLA's messages that are read: field `kShape` of `Instruction` is
// field shape of the message HloInstructionProto.
//
// Source: xla/service/hlo.proto and xla/xla_data.proto of jaxlib 0.10.2, as its library describes
// them to itself. Numbers of fields never change.

#ifndef XLA_INDEXING_HLO_INTERNAL_PROTO_FIELDS_H_
#define XLA_INDEXING_HLO_INTERNAL_PROTO_FIELDS_H_

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

struct Computation {
  enum Field : uint32_t {
    kName = 1,
    kInstructions = 2,
    kId = 5,
    kRootId = 6,
    kExecutionThread = 8,
  };
};

struct Schedule {
  enum Field : uint32_t {
    kSequences = 1,
  };
};

struct InstructionSequence {
  enum Field : uint32_t {
    kInstructionIds = 1,
  };
};

struct ScheduleSequences {
  enum Field : uint32_t {
    kKey = 1,
    kValue = 2,
  };
};

struct InputOutputAlias {
  enum Field : uint32_t {
    kEntries = 1,
  };
};

struct AliasEntry {
  enum Field : uint32_t {
    kOutputShapeIndex = 1,
    kParameterNumber = 2,
    kParameterShapeIndex = 3,
    kKind = 4,
  };
};

struct BufferDonor {
  enum Field : uint32_t {
    kEntries = 1,
  };
};

struct BufferDonorEntry {
  enum Field : uint32_t {
    kParameterNumber = 1,
    kParameterShapeIndex = 2,
  };
};

struct StackFrameIndex {
  enum Field : uint32_t {
    kFileNames = 1,
    kFunctionNames = 2,
    kFileLocations = 3,
    kStackFrames = 4,
  };
};

struct FileLocation {
  enum Field : uint32_t {
    kFileNameId = 1,
    kFunctionNameId = 2,
    kLine = 3,
    kColumn = 4,
    kEndLine = 5,
    kEndColumn = 6,
  };
};

struct StackFrame {
  enum Field : uint32_t {
    kFileLocationId = 1,
    kParentFrameId = 2,
  };
};

struct Module {
  enum Field : uint32_t {
    kName = 1,
    kEntryComputationName = 2,
    kComputations = 3,
    kHostProgramShape = 4,
    kEntryComputationId = 6,
    kSchedule = 7,
    kInputOutputAlias = 8,
    kDeviceAssignment = 15,
    kStackFrameIndex = 17,
    kBufferDonor = 18,
    kFrontendAttributes = 19,
    kPayloads = 22,
  };
};

struct Hlo {
  enum Field : uint32_t {
    kHloModule = 1,
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

struct Tile {
  enum Field : uint32_t {
    kDimensions = 1,
  };
};

struct SplitConfig {
  enum Field : uint32_t {
    kDimension = 1,
    kSplitIndices = 2,
  };
};

struct Layout {
  enum Field : uint32_t {
    kMinorToMajor = 1,
    kTiles = 6,
    kElementSizeInBits = 7,
    kMemorySpace = 8,
    kDimLevelTypes = 9,
    kPhysicalShape = 10,
    kIndexPrimitiveType = 11,
    kPointerPrimitiveType = 12,
    kDimUnique = 13,
    kDimOrdered = 14,
    kDynamicShapeMetadataPrefixBytes = 15,
    kTailPaddingAlignmentInElements = 16,
    kSplitConfigs = 17,
  };
};

struct Shape {
  enum Field : uint32_t {
    kElementType = 2,
    kDimensions = 3,
    kTupleShapes = 4,
    kLayout = 5,
    kIsDynamicDimension = 6,
  };
};

struct ProgramShape {
  enum Field : uint32_t {
    kParameters = 1,
    kResult = 2,
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

struct DeviceAssignment {
  enum Field : uint32_t {
    kReplicaCount = 1,
    kComputationCount = 2,
  };
};

struct Literal {
  enum Field : uint32_t {
    kShape = 1,
    kPreds = 2,
    kU8s = 3,
    kS32s = 4,
    kS64s = 5,
    kU32s = 6,
    kU64s = 7,
    kF32s = 8,
    kF64s = 9,
    kTupleLiterals = 10,
    kF16s = 11,
    kC64s = 12,
    kBf16s = 13,
    kS8s = 15,
    kU16s = 16,
    kS16s = 17,
    kC128s = 18,
    kF8e5m2s = 19,
    kF8e4m3fns = 20,
    kS4s = 21,
    kU4s = 22,
    kF8e4m3b11fnuzs = 23,
    kF8e5m2fnuzs = 24,
    kF8e4m3fnuzs = 25,
    kS2s = 26,
    kU2s = 27,
    kF8e4m3s = 28,
    kF8e3m4s = 29,
    kS1s = 30,
    kU1s = 31,
    kF4e2m1fns = 32,
    kF8e8m0fnus = 33,
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

struct Mesh {
  enum Field : uint32_t {
    kAxes = 1,
    kDeviceIds = 2,
    kIotaTransform = 3,
  };
};

struct MeshAxis {
  enum Field : uint32_t {
    kName = 1,
    kSize = 2,
  };
};

struct IotaTransform {
  enum Field : uint32_t {
    kReshapeDims = 1,
    kTransposePerm = 2,
  };
};

struct AxisRef {
  enum Field : uint32_t {
    kMeshAxisIndex = 1,
    kSubAxisInfo = 2,
  };
};

struct SubAxis {
  enum Field : uint32_t {
    kPreSize = 1,
    kSize = 2,
  };
};

struct NamedSharding {
  enum Field : uint32_t {
    kMesh = 2,
    kDimShardings = 3,
    kReplicatedAxes = 4,
    kUnreducedAxes = 5,
    kMetadata = 6,
    kManualAxes = 7,
  };
};

struct DimensionSharding {
  enum Field : uint32_t {
    kAxes = 1,
    kIsClosed = 2,
  };
};

struct OpSharding {
  enum Field : uint32_t {
    kType = 1,
    kTileAssignmentDimensions = 3,
    kTileAssignmentDevices = 4,
    kTupleShardings = 5,
    kReplicateOnLastTileDim = 6,
    kMetadata = 7,
    kLastTileDims = 8,
    kIotaReshapeDims = 9,
    kIotaTransposePerm = 10,
    kIsShardGroup = 11,
    kShardGroupId = 12,
    kShardGroupType = 13,
    kNamedSharding = 14,
  };
};

struct ReplicaGroup {
  enum Field : uint32_t {
    kReplicaIds = 1,
  };
};

struct MeshAxesReplicaGroupList {
  enum Field : uint32_t {
    kMesh = 1,
    kAxes = 2,
  };
};

struct IotaReplicaGroupList {
  enum Field : uint32_t {
    kNumReplicaGroups = 1,
    kNumDevicesPerGroup = 2,
    kIotaReshapeDims = 3,
    kIotaTransposePerm = 4,
  };
};

struct CollectiveDeviceList {
  enum Field : uint32_t {
    kReplicaGroups = 1,
  };
};

struct SourceTarget {
  enum Field : uint32_t {
    kSource = 1,
    kTarget = 2,
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

struct ParameterReplication {
  enum Field : uint32_t {
    kReplicatedAtLeafBuffers = 1,
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

#endif  // XLA_INDEXING_HLO_INTERNAL_PROTO_FIELDS_H_
