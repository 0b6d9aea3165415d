#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/rules/frame/builders.h"

namespace xla_indexing::internal {

OpcodeIndexing IndexingOfOpcode(HloOpcode opcode) {
#define XLA_INDEXING_BUILDERS(Operation)               \
  {                                                    \
    Operation##OutputToInput, Operation##InputToOutput \
  }
  switch (opcode) {
    case HloOpcode::kAllGather:
    case HloOpcode::kAllGatherStart:
    case HloOpcode::kAllReduce:
    case HloOpcode::kAllReduceStart:
    case HloOpcode::kAllToAll:
    case HloOpcode::kCollectiveBroadcast:
    case HloOpcode::kCollectivePermute:
    case HloOpcode::kCollectivePermuteStart:
    case HloOpcode::kCollectiveReduce:
    case HloOpcode::kReduceScatter:
      return XLA_INDEXING_BUILDERS(Collective);
    case HloOpcode::kAllGatherDone:
    case HloOpcode::kAllReduceDone:
    case HloOpcode::kCollectivePermuteDone:
      return {.routes = CollectiveDoneRoutes};
    case HloOpcode::kRaggedAllToAll:
      return XLA_INDEXING_BUILDERS(RaggedAllToAll);
    case HloOpcode::kAsyncStart:
    case HloOpcode::kAsyncUpdate:
      return XLA_INDEXING_BUILDERS(AsyncStep);
    case HloOpcode::kBatchNormGrad:
      return {.nests = BatchNormGradNests};
    case HloOpcode::kBatchNormInference:
      return {.nests = BatchNormInferenceNests};
    case HloOpcode::kBatchNormTraining:
      return {.nests = BatchNormTrainingNests};
    case HloOpcode::kBitcast:
      return XLA_INDEXING_BUILDERS(Bitcast);
    case HloOpcode::kBitcastConvert:
      return XLA_INDEXING_BUILDERS(BitcastConvert);
    case HloOpcode::kBroadcast:
      return {.nests = BroadcastNests};
    case HloOpcode::kCall:
    case HloOpcode::kFusion:
      return XLA_INDEXING_BUILDERS(Call);
    case HloOpcode::kCholesky:
      return {.nests = CholeskyNests};
    case HloOpcode::kConcatenate:
      return XLA_INDEXING_BUILDERS(Concatenate);
    case HloOpcode::kConditional:
      return XLA_INDEXING_BUILDERS(Conditional);
    case HloOpcode::kConvolution:
      return {.nests = ConvolutionNests};
    case HloOpcode::kCustomCall:
      return XLA_INDEXING_BUILDERS(CustomCall);
    case HloOpcode::kDot:
      return {.nests = DotNests};
    case HloOpcode::kDynamicReshape:
      return XLA_INDEXING_BUILDERS(DynamicReshape);
    case HloOpcode::kDynamicSlice:
      return XLA_INDEXING_BUILDERS(DynamicSlice);
    case HloOpcode::kDynamicUpdateSlice:
      return XLA_INDEXING_BUILDERS(DynamicUpdateSlice);
    case HloOpcode::kFft:
      return {.nests = FftNests};
    case HloOpcode::kGather:
      return XLA_INDEXING_BUILDERS(Gather);
    case HloOpcode::kMap:
      return XLA_INDEXING_BUILDERS(Elementwise);
    case HloOpcode::kPad:
      return XLA_INDEXING_BUILDERS(Pad);
    case HloOpcode::kRaggedDot:
      return {.nests = RaggedDotNests};
    case HloOpcode::kReduce:
      return {.nests = ReduceNests};
    case HloOpcode::kReduceWindow:
      return {.nests = ReduceWindowNests};
    case HloOpcode::kReshape:
      return XLA_INDEXING_BUILDERS(Reshape);
    case HloOpcode::kReverse:
      return XLA_INDEXING_BUILDERS(Reverse);
    case HloOpcode::kRng:
    case HloOpcode::kRngBitGenerator:
      return {.nests = RandomNumberNests};
    case HloOpcode::kScaledDot:
      return {.nests = ScaledDotNests};
    case HloOpcode::kScan:
      return XLA_INDEXING_BUILDERS(Scan);
    case HloOpcode::kScatter:
      return XLA_INDEXING_BUILDERS(Scatter);
    case HloOpcode::kSelectAndScatter:
      return {.nests = SelectAndScatterNests};
    case HloOpcode::kSetDimensionSize:
      return XLA_INDEXING_BUILDERS(SetDimensionSize);
    case HloOpcode::kSlice:
      return XLA_INDEXING_BUILDERS(Slice);
    case HloOpcode::kSort:
      return {.nests = SortNests};
    case HloOpcode::kTopk:
      return {.nests = TopkNests};
    case HloOpcode::kTranspose:
      return XLA_INDEXING_BUILDERS(Transpose);
    case HloOpcode::kTriangularSolve:
      return {.nests = TriangularSolveNests};
    case HloOpcode::kWhile:
      return XLA_INDEXING_BUILDERS(While);
    case HloOpcode::kTuple:
      return {.routes = TupleRoutes};
    case HloOpcode::kGetTupleElement:
      return {.routes = GetTupleElementRoutes};
    case HloOpcode::kAddDependency:
    case HloOpcode::kCopy:
    case HloOpcode::kDomain:
    case HloOpcode::kOptBarrier:
      return {.routes = PassThroughRoutes};
    case HloOpcode::kAsyncDone:
      return {.routes = AsyncDoneRoutes};
    case HloOpcode::kCopyStart:
      return {.routes = CopyStartRoutes};
    case HloOpcode::kCopyDone:
    case HloOpcode::kRecvDone:
      return {.routes = FirstElementRoutes};
    case HloOpcode::kSend:
      return {.routes = SendRoutes};
    // Operations without operands, or with tokens and sizes only.
    case HloOpcode::kAfterAll:
    case HloOpcode::kConstant:
    case HloOpcode::kGetDimensionSize:
    case HloOpcode::kInfeed:
    case HloOpcode::kIota:
    case HloOpcode::kOutfeed:
    case HloOpcode::kParameter:
    case HloOpcode::kPartitionId:
    case HloOpcode::kRecv:
    case HloOpcode::kReplicaId:
    case HloOpcode::kRngGetAndUpdateState:
    case HloOpcode::kSendDone:
      return {.routes = NoRoutes};
    default:
      if (IsElementwise(opcode)) return XLA_INDEXING_BUILDERS(Elementwise);
      return XLA_INDEXING_BUILDERS(Unanalysed);
  }
#undef XLA_INDEXING_BUILDERS
}

}  // namespace xla_indexing::internal
