#include "xla_indexing/hlo/verify/shape_inference.h"

#include <cstdint>
#include <optional>

#include "absl/algorithm/container.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_rules.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_util.h"

namespace xla_indexing::internal {
namespace shape_rules {

// A switch without a default: the compiler names an opcode that is left out.
ShapeRule RuleFor(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kAbs:
    case HloOpcode::kAcos:
    case HloOpcode::kAcosh:
    case HloOpcode::kAsin:
    case HloOpcode::kAsinh:
    case HloOpcode::kAtanh:
    case HloOpcode::kCbrt:
    case HloOpcode::kCeil:
    case HloOpcode::kCountLeadingZeros:
    case HloOpcode::kCosine:
    case HloOpcode::kCosh:
    case HloOpcode::kErf:
    case HloOpcode::kExponential:
    case HloOpcode::kExponentialMinusOne:
    case HloOpcode::kFloor:
    case HloOpcode::kImag:
    case HloOpcode::kIsFinite:
    case HloOpcode::kLog:
    case HloOpcode::kLogPlusOne:
    case HloOpcode::kLogistic:
    case HloOpcode::kNegate:
    case HloOpcode::kNot:
    case HloOpcode::kPopcnt:
    case HloOpcode::kReal:
    case HloOpcode::kReducePrecision:
    case HloOpcode::kRoundNearestAfz:
    case HloOpcode::kRoundNearestEven:
    case HloOpcode::kRsqrt:
    case HloOpcode::kSign:
    case HloOpcode::kSine:
    case HloOpcode::kSinh:
    case HloOpcode::kSqrt:
    case HloOpcode::kTan:
    case HloOpcode::kTanh:
      return {.infer = InferUnary};
    case HloOpcode::kAdd:
    case HloOpcode::kAnd:
    case HloOpcode::kAtan2:
    case HloOpcode::kDivide:
    case HloOpcode::kMaximum:
    case HloOpcode::kMinimum:
    case HloOpcode::kMulhi:
    case HloOpcode::kMultiply:
    case HloOpcode::kOr:
    case HloOpcode::kPower:
    case HloOpcode::kRemainder:
    case HloOpcode::kShiftLeft:
    case HloOpcode::kShiftRightArithmetic:
    case HloOpcode::kShiftRightLogical:
    case HloOpcode::kSubtract:
    case HloOpcode::kXor:
      return {.infer = InferBinary};
    case HloOpcode::kCompare:
      return {.infer = InferCompare};
    case HloOpcode::kComplex:
      return {.infer = InferComplex};
    case HloOpcode::kSelect:
      return {.infer = InferSelect};
    case HloOpcode::kClamp:
      return {.infer = InferClamp};
    case HloOpcode::kCopy:
      return {.infer = InferCopy};
    case HloOpcode::kConvert:
      return {.check = CheckConvert};
    case HloOpcode::kStochasticConvert:
      return {.check = CheckStochasticConvert};

    case HloOpcode::kReshape:
      return {.check = CheckReshape};
    case HloOpcode::kDynamicReshape:
      return {.check = CheckDynamicReshape};
    case HloOpcode::kBitcast:
      return {.check = CheckBitcast};
    case HloOpcode::kBitcastConvert:
      return {.check = CheckBitcastConvert};
    case HloOpcode::kBroadcast:
      return {.check = CheckBroadcast};
    case HloOpcode::kIota:
      return {.check = CheckIota};
    case HloOpcode::kConstant:
      return {.infer = InferConstant, .agreement = Agreement::kSameValue};
    case HloOpcode::kGetDimensionSize:
      return {.infer = InferGetDimensionSize};
    case HloOpcode::kSetDimensionSize:
      return {.infer = InferSetDimensionSize};

    case HloOpcode::kTranspose:
      return {.infer = InferTranspose};
    case HloOpcode::kReverse:
      return {.infer = InferReverse};
    case HloOpcode::kSlice:
      return {.infer = InferSlice};
    case HloOpcode::kDynamicSlice:
      return {.infer = InferDynamicSlice};
    case HloOpcode::kDynamicUpdateSlice:
      return {.infer = InferDynamicUpdateSlice};
    case HloOpcode::kPad:
      return {.infer = InferPad};
    case HloOpcode::kConcatenate:
      return {.infer = InferConcatenate};

    case HloOpcode::kGather:
      return {.infer = InferGather};
    case HloOpcode::kScatter:
      return {.infer = InferScatter};

    case HloOpcode::kReduce:
      return {.infer = InferReduce};
    case HloOpcode::kReduceWindow:
      return {.infer = InferReduceWindow};
    case HloOpcode::kSelectAndScatter:
      return {.infer = InferSelectAndScatter};
    case HloOpcode::kMap:
      return {.infer = InferMap};
    case HloOpcode::kSort:
      return {.infer = InferSort};
    case HloOpcode::kScan:
      return {.infer = InferScan};
    case HloOpcode::kTopk:
      return {.infer = InferTopk};

    case HloOpcode::kDot:
      return {.infer = InferDot, .agreement = Agreement::kElementType};
    case HloOpcode::kRaggedDot:
      return {.infer = InferRaggedDot, .agreement = Agreement::kElementType};
    case HloOpcode::kScaledDot:
      return {.infer = InferScaledDot, .agreement = Agreement::kElementType};
    case HloOpcode::kConvolution:
      return {.infer = InferConvolution, .agreement = Agreement::kElementType};

    case HloOpcode::kCholesky:
      return {.infer = InferCholesky};
    case HloOpcode::kTriangularSolve:
      return {.infer = InferTriangularSolve};
    case HloOpcode::kFft:
      return {.infer = InferFft};
    case HloOpcode::kBatchNormTraining:
      return {.infer = InferBatchNormTraining};
    case HloOpcode::kBatchNormInference:
      return {.infer = InferBatchNormInference};
    case HloOpcode::kBatchNormGrad:
      return {.infer = InferBatchNormGrad};
    case HloOpcode::kRng:
      return {.check = CheckRng};
    case HloOpcode::kRngBitGenerator:
      return {.check = CheckRngBitGenerator};
    case HloOpcode::kRngGetAndUpdateState:
      return {.infer = InferRngGetAndUpdateState};

    case HloOpcode::kAllGather:
      return {.check = CheckAllGather};
    case HloOpcode::kAllGatherStart:
      return {.check = CheckAllGatherStart};
    case HloOpcode::kReduceScatter:
      return {.check = CheckReduceScatter};
    case HloOpcode::kAllReduce:
      return {.infer = InferAllReduce};
    case HloOpcode::kAllReduceStart:
      return {.infer = InferAllReduce, .check = CheckAllReduceStart};
    case HloOpcode::kAllReduceDone:
      return {.infer = InferAllReduceDone, .agreement = Agreement::kSameValue};
    case HloOpcode::kAllToAll:
      return {.infer = InferAllToAll};
    case HloOpcode::kRaggedAllToAll:
      return {.infer = InferRaggedAllToAll};
    case HloOpcode::kCollectiveBroadcast:
      return {.infer = InferCollectiveBroadcast};
    case HloOpcode::kCollectiveReduce:
      return {.infer = InferCollectiveReduce};
    case HloOpcode::kCollectivePermute:
      return {.infer = InferCollectivePermute};
    case HloOpcode::kCollectivePermuteStart:
      return {.infer = InferCollectivePermuteStart, .check = CheckCollectivePermuteStart};
    case HloOpcode::kAllGatherDone:
    case HloOpcode::kCollectivePermuteDone:
      return {.infer = InferCollectiveDone, .agreement = Agreement::kSameValue};
    case HloOpcode::kPartitionId:
    case HloOpcode::kReplicaId:
      return {.infer = InferDeviceId};

    case HloOpcode::kCall:
    case HloOpcode::kFusion:
      return {.infer = InferCall, .agreement = Agreement::kSameValue};
    case HloOpcode::kWhile:
      return {.infer = InferWhile, .agreement = Agreement::kSameValue};
    case HloOpcode::kConditional:
      return {.infer = InferConditional, .agreement = Agreement::kSameValue};
    case HloOpcode::kAsyncStart:
      return {
          .infer = InferAsyncStart, .check = CheckAsyncStart, .agreement = Agreement::kSameValue};
    case HloOpcode::kAsyncUpdate:
      return {.infer = InferAsyncUpdate, .check = CheckAsyncUpdate};
    case HloOpcode::kAsyncDone:
      return {.infer = InferAsyncDone, .agreement = Agreement::kSameValue};
    case HloOpcode::kTuple:
      return {.infer = InferTuple, .check = CheckTuple, .agreement = Agreement::kSameValue};
    case HloOpcode::kGetTupleElement:
      return {.infer = InferGetTupleElement, .agreement = Agreement::kSameValue};
    case HloOpcode::kDomain:
    case HloOpcode::kOptBarrier:
      return {.infer = InferOperand, .agreement = Agreement::kSameValue};
    case HloOpcode::kAfterAll:
      return {.infer = InferAfterAll};
    case HloOpcode::kAddDependency:
      return {.infer = InferAddDependency, .agreement = Agreement::kSameValue};
    case HloOpcode::kCopyStart:
      return {.infer = InferCopyStart, .check = CheckCopyStart};
    case HloOpcode::kCopyDone:
      return {.infer = InferCopyDone, .agreement = Agreement::kSameValue};
    case HloOpcode::kSend:
      return {.infer = InferSend, .agreement = Agreement::kSameValue};
    case HloOpcode::kSendDone:
      return {.infer = InferSendDone};
    case HloOpcode::kRecv:
      return {.check = CheckRecv};
    case HloOpcode::kRecvDone:
      return {.infer = InferRecvDone, .check = CheckRecvDone, .agreement = Agreement::kSameValue};
    case HloOpcode::kInfeed:
      return {.check = CheckInfeed};
    case HloOpcode::kOutfeed:
      return {.infer = InferOutfeed};
    case HloOpcode::kParameter:
      return {.check = CheckParameter};
    case HloOpcode::kCustomCall:
      return {.check = CheckCustomCall};
    case HloOpcode::kUnknown:
      return {.check = CheckUnknown};
  }
  return {};
}

namespace {

absl::Status CheckOperandCount(const HloInstruction& i) {
  const std::optional<int> arity = OpcodeArity(i.opcode());
  if (!arity.has_value() || *arity == i.operand_count()) return absl::OkStatus();
  return Error(i, "takes ", *arity, *arity == 1 ? " operand" : " operands", ", not ",
               i.operand_count());
}

}  // namespace
}  // namespace shape_rules

absl::StatusOr<Shape> InferShape(const HloInstruction& instruction) {
  using shape_rules::Agreement;
  XLA_INDEXING_RETURN_IF_ERROR(shape_rules::CheckOperandCount(instruction));
  const shape_rules::ShapeRule rule = shape_rules::RuleFor(instruction.opcode());
  if (rule.infer == nullptr) {
    return absl::UnimplementedError(
        absl::StrCat(instruction.name(), ": the shape of ", instruction.opcode_name(),
                     " does not follow from its operands and attributes and must be given"));
  }
  const shape_rules::Result inferred = rule.infer(instruction);
  if (!inferred.ok()) return inferred.status();
  if (const absl::Status status = CheckIsValid(**inferred); !status.ok()) {
    return shape_rules::Error(instruction, status.message());
  }
  Shape shape = **inferred;
  if (rule.agreement != Agreement::kSameValue) shape.ClearLayout();
  return shape;
}

absl::Status CheckShape(const HloInstruction& instruction) {
  XLA_INDEXING_RETURN_IF_ERROR(shape_rules::CheckOperandCount(instruction));
  const shape_rules::ShapeRule rule = shape_rules::RuleFor(instruction.opcode());
  if (rule.check != nullptr) return rule.check(instruction);
  const shape_rules::Result inferred = rule.infer(instruction);
  if (!inferred.ok()) return inferred.status();
  if (shape_rules::ShapesAgree(instruction.shape(), **inferred, rule.agreement)) {
    return absl::OkStatus();
  }
  return shape_rules::MismatchError(instruction, **inferred);
}

absl::Status CheckIsValid(const Shape& shape) {
  if (!shape.IsArray()) {
    for (const Shape& element : shape.tuple_elements()) {
      XLA_INDEXING_RETURN_IF_ERROR(CheckIsValid(element));
    }
    return absl::OkStatus();
  }
  Shape bounded = shape;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    if (shape.IsUnboundedDimension(d)) {
      bounded.SetDimension(d, 1);
    } else if (shape.dimension(d) < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("dimension ", d, " of ", shape_rules::Brief(shape), " is negative"));
    }
  }
  XLA_INDEXING_RETURN_IF_ERROR(bounded.ElementCount().status());
  if (!shape.has_layout() ||
      absl::c_equal(shape.layout()->minor_to_major, RowMajorLayout(shape.rank()).minor_to_major)) {
    return absl::OkStatus();
  }
  const auto& minor_to_major = shape.layout()->minor_to_major;
  absl::InlinedVector<bool, 16> seen(shape.rank(), false);
  for (const int64_t d : minor_to_major) {
    if (d < 0 || d >= shape.rank() || seen[d]) {
      return absl::InvalidArgumentError(absl::StrCat("layout ", shape.layout()->ToString(), " of ",
                                                     shape_rules::Brief(shape),
                                                     " does not order its dimensions"));
    }
    seen[d] = true;
  }
  if (static_cast<int64_t>(minor_to_major.size()) == shape.rank()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("layout ", shape.layout()->ToString(), " of ", shape_rules::Brief(shape),
                   " orders ", minor_to_major.size(), " dimensions, not ", shape.rank()));
}

}  // namespace xla_indexing::internal
