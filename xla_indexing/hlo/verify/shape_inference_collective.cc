// Shape rules of operations across replicas and partitions.
//
// The result of all-gather and reduce-scatter must be given, and the two sizes of the dimension
// must be multiples; the groups of devices must be such that they can be
// (hlo/devices/collective.h).
//
// An operation that is split in two (`-start`, `-done`) yields in between the pair of its operands
// and its result, and possibly more that has no meaning outside the run time; some text has only
// the result there.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "xla_indexing/hlo/devices/collective.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_rules.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_util.h"

namespace xla_indexing::internal::shape_rules {
namespace {

// The shape of the only operand, or the tuple of the operands' shapes.
Shape Operands(const HloInstruction& i) { return OneOrTuple(OperandShapes(i)); }

// The result in the shape of a `-start`.
const Shape& ResultOfStart(const HloInstruction& i) {
  const std::optional<int64_t> element = ResultElementOfStart(i);
  return element ? i.shape().tuple_element(*element) : i.shape();
}

// Checks the given shape of a `-start` whose result is `result`.
absl::Status CheckStart(const HloInstruction& i, const Shape& operands, const Shape& result) {
  if (ShapesAgree(ResultOfStart(i), result, Agreement::kFloatPrecision)) return absl::OkStatus();
  return MismatchError(i, Shape::Tuple({operands, result}));
}

// Each array of `whole` is `factor` times the array of `parts` in that place, in one dimension;
// the factor is the same for all. `whole` and `parts` are the operand and the result of an
// operation, or the other way round.
absl::Status CheckMultiple(const HloInstruction& i, const Shape& whole, const Shape& parts,
                           int64_t dimension, std::optional<int64_t>* factor) {
  if (whole.IsTuple() || parts.IsTuple()) {
    if (!whole.IsTuple() || !parts.IsTuple() ||
        whole.tuple_elements().size() != parts.tuple_elements().size()) {
      return Error(i, Brief(whole), " does not consist of parts ", Brief(parts));
    }
    for (size_t k = 0; k < whole.tuple_elements().size(); ++k) {
      XLA_INDEXING_RETURN_IF_ERROR(CheckMultiple(i, whole.tuple_elements()[k],
                                                 parts.tuple_elements()[k], dimension, factor));
    }
    return absl::OkStatus();
  }
  if (!whole.IsArray() || !parts.IsArray() ||
      !SameTypeIgnoringPrecision(whole.element_type(), parts.element_type()) ||
      whole.rank() != parts.rank()) {
    return Error(i, Brief(whole), " does not consist of parts ", Brief(parts));
  }
  XLA_INDEXING_RETURN_IF_ERROR(CheckDimensions(i, "dimensions", {dimension}, whole.rank()));
  for (int64_t d = 0; d < whole.rank(); ++d) {
    const int64_t all = whole.dimension(d);
    const int64_t part = parts.dimension(d);
    if (d != dimension) {
      if (SizesAgree(all, part)) continue;
      return Error(i, Brief(whole), " and its parts ", Brief(parts), " differ in dimension ", d);
    }
    if (whole.IsUnboundedDimension(d) || parts.IsUnboundedDimension(d)) continue;
    if ((part == 0) != (all == 0) || (part != 0 && all % part != 0)) {
      return Error(i, "dimension ", d, " of ", Brief(whole), " is not a multiple of that of ",
                   Brief(parts));
    }
    if (part == 0) continue;
    if (!factor->has_value()) *factor = all / part;
    if (**factor != all / part) {
      return Error(i, Brief(parts), " is one of ", all / part,
                   " parts, where an operand before it is one of ", **factor);
    }
  }
  return absl::OkStatus();
}

// The dimension along which arrays are gathered or scattered.
absl::StatusOr<int64_t> RequireShardDimension(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckSomeArrays(i));
  return RequireDimension(i, i.operand(0)->shape().rank());
}

absl::Status CheckGathered(const HloInstruction& i, const Shape& operands, const Shape& result) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const int64_t dimension, RequireShardDimension(i));
  std::optional<int64_t> shards;
  XLA_INDEXING_RETURN_IF_ERROR(CheckMultiple(i, result, operands, dimension, &shards));
  return CollectiveGroupsOf(i).status();
}

// The function of a reduction across devices. One function serves all operands, which may differ in
// type, so its own types are free; it may be one of arrays.
absl::Status CheckDeviceReducer(const HloInstruction& i) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto* reducer, RequireComputation(i, AttributeKey::kToApply));
  const auto parameters = reducer->parameters();
  const auto is_array = [](const HloInstruction* parameter) {
    return parameter != nullptr && parameter->shape().IsArray();
  };
  if (parameters.size() == 2 && absl::c_all_of(parameters, is_array) &&
      reducer->root_instruction()->shape().IsArray()) {
    return absl::OkStatus();
  }
  XLA_INDEXING_RETURN_IF_ERROR(
      CheckScalarParameters(i, *reducer, {ElementType::kTuple, ElementType::kTuple}));
  return ScalarResults(i, *reducer, 1).status();
}

// The operands of an operation whose groups have roots, without the one that says which they are: a
// number for all of them, or one for each.
absl::StatusOr<std::vector<Shape>> OperandsWithoutRoot(const HloInstruction& i) {
  std::vector<Shape> shapes = OperandShapes(i);
  const size_t roots = HasDynamicRoot(i) ? 1 : 0;
  if (shapes.size() == roots) return Error(i, "takes at least one operand");
  if (roots == 0) return shapes;
  const Shape& root = shapes.back();
  if (!root.IsArray() || !IsIntegral(root.element_type()) || root.rank() > 1) {
    return Error(i, "operand ", shapes.size() - 1,
                 " is no vector of integers that says which device is the root");
  }
  shapes.pop_back();
  return shapes;
}

absl::Status CheckAllGather(const HloInstruction& i) {
  return CheckGathered(i, Operands(i), i.shape());
}

absl::Status CheckAllGatherStart(const HloInstruction& i) {
  return CheckGathered(i, Operands(i), ResultOfStart(i));
}

absl::Status CheckReduceScatter(const HloInstruction& i) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const int64_t dimension, RequireShardDimension(i));
  XLA_INDEXING_RETURN_IF_ERROR(CheckDeviceReducer(i));
  std::optional<int64_t> shards;
  XLA_INDEXING_RETURN_IF_ERROR(CheckMultiple(i, Operands(i), i.shape(), dimension, &shards));
  return CollectiveGroupsOf(i).status();
}

Result InferAllReduce(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArrays(i));
  XLA_INDEXING_RETURN_IF_ERROR(CheckDeviceReducer(i));
  XLA_INDEXING_RETURN_IF_ERROR(CollectiveGroupsOf(i).status());
  if (i.operand_count() == 1) return &i.operand(0)->shape();
  return Operands(i);
}

absl::Status CheckAllReduceStart(const HloInstruction& i) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const InferredShape result, InferAllReduce(i));
  return CheckStart(i, Operands(i), *result);
}

Result InferAllReduceDone(const HloInstruction& i) {
  const Shape& start = i.operand(0)->shape();
  const std::optional<int64_t> element = ResultElementOfDone(i);
  return element ? &start.tuple_element(*element) : &start;
}

Result InferAllToAll(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckSomeArrays(i));
  const Shape& first = i.operand(0)->shape();
  if (i.HasAttribute(AttributeKey::kDimensions)) {
    if (i.operand_count() != 1) {
      return Error(i, "takes one operand to split along a dimension, not ", i.operand_count());
    }
    XLA_INDEXING_RETURN_IF_ERROR(RequireDimension(i, first.rank()).status());
    XLA_INDEXING_RETURN_IF_ERROR(CollectiveGroupsOf(i).status());
    return &first;
  }
  for (int64_t k = 0; k < i.operand_count(); ++k) {
    const Shape& shape = i.operand(k)->shape();
    if (!ShapesAgree(first, shape, Agreement::kExact)) {
      return Error(i, "operands 0 and ", k, " differ in shape");
    }
    // Devices exchange memory, so that it must mean the same on both sides.
    if (first.LayoutOrRowMajor() != shape.LayoutOrRowMajor()) {
      return Error(i, "operands 0 and ", k, " differ in layout, ",
                   first.LayoutOrRowMajor().ToString(), " and ",
                   shape.LayoutOrRowMajor().ToString());
    }
  }
  XLA_INDEXING_RETURN_IF_ERROR(CollectiveGroupsOf(i).status());
  return Shape::Tuple(OperandShapes(i));
}

// ragged-all-to-all(input, output, input_offsets, send_sizes, output_offsets, recv_sizes)
Result InferRaggedAllToAll(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArrays(i));
  const Shape& input = i.operand(0)->shape();
  const Shape& output = i.operand(1)->shape();
  const Shape& offsets = i.operand(2)->shape();
  if (!SameTypeIgnoringPrecision(input.element_type(), output.element_type()) ||
      input.rank() != output.rank() || input.rank() == 0) {
    return Error(i, "operands 0 and 1 differ in element type or rank, or have rank 0");
  }
  for (int64_t d = 1; d < input.rank(); ++d) {
    if (!SizesAgree(input.dimension(d), output.dimension(d))) {
      return Error(i, "operands 0 and 1 differ in dimension ", d);
    }
  }
  for (int64_t k = 2; k < i.operand_count(); ++k) {
    const Shape& shape = i.operand(k)->shape();
    if (!IsIntegral(shape.element_type()) || shape.rank() == 0 ||
        !DimensionsAgree(offsets, shape)) {
      return Error(i, "operand ", k, " is not an array of integers of the sizes of operand 2");
    }
  }
  XLA_INDEXING_RETURN_IF_ERROR(CollectiveGroupsOf(i).status());
  return &output;
}

Result InferCollectiveBroadcast(const HloInstruction& i) {
  XLA_INDEXING_ASSIGN_OR_RETURN(std::vector<Shape> operands, OperandsWithoutRoot(i));
  XLA_INDEXING_RETURN_IF_ERROR(CollectiveGroupsOf(i).status());
  return OneOrTuple(std::move(operands));
}

Result InferCollectiveReduce(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckArrays(i));
  XLA_INDEXING_RETURN_IF_ERROR(CheckDeviceReducer(i));
  return InferCollectiveBroadcast(i);
}

// collective-permute(operands..), or in place, with slice sizes: collective-permute(input, output,
// input_starts, output_starts).
Result InferCollectivePermute(const HloInstruction& i) {
  if (i.operand_count() == 0) return Error(i, "takes at least one operand");
  XLA_INDEXING_RETURN_IF_ERROR(CollectivePairsOf(i).status());
  if (i.HasAttribute(AttributeKey::kSliceSizes)) {
    if (i.operand_count() != 4) {
      return Error(i, "takes 4 operands with slice_sizes, not ", i.operand_count());
    }
    return &i.operand(1)->shape();
  }
  if (i.operand_count() == 1) return &i.operand(0)->shape();
  return Operands(i);
}

Result InferCollectivePermuteStart(const HloInstruction& i) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const InferredShape result, InferCollectivePermute(i));
  return Shape::Tuple({Operands(i), *result});
}

absl::Status CheckCollectivePermuteStart(const HloInstruction& i) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const InferredShape result, InferCollectivePermute(i));
  return CheckStart(i, Operands(i), *result);
}

Result InferCollectiveDone(const HloInstruction& i) {
  const Shape& start = i.operand(0)->shape();
  if (start.IsArray()) return &start;
  if (start.tuple_elements().size() < 2) {
    return Error(i, "the operand is neither an array nor a pair of operands and result");
  }
  return &start.tuple_element(1);
}

Result InferDeviceId(const HloInstruction& /*i*/) { return Shape::Scalar(ElementType::kU32); }

constexpr OpcodeRule kCollectiveRules[] = {
    {HloOpcode::kAllGather, {.check = CheckAllGather}},
    {HloOpcode::kAllGatherStart, {.check = CheckAllGatherStart}},
    {HloOpcode::kReduceScatter, {.check = CheckReduceScatter}},
    {HloOpcode::kAllReduce, {.infer = InferAllReduce}},
    {HloOpcode::kAllReduceStart, {.infer = InferAllReduce, .check = CheckAllReduceStart}},
    {HloOpcode::kAllReduceDone, {.infer = InferAllReduceDone, .agreement = Agreement::kSameValue}},
    {HloOpcode::kAllToAll, {.infer = InferAllToAll}},
    {HloOpcode::kRaggedAllToAll, {.infer = InferRaggedAllToAll}},
    {HloOpcode::kCollectiveBroadcast, {.infer = InferCollectiveBroadcast}},
    {HloOpcode::kCollectiveReduce, {.infer = InferCollectiveReduce}},
    {HloOpcode::kCollectivePermute, {.infer = InferCollectivePermute}},
    {HloOpcode::kCollectivePermuteStart,
     {.infer = InferCollectivePermuteStart, .check = CheckCollectivePermuteStart}},
    {HloOpcode::kAllGatherDone, {.infer = InferCollectiveDone, .agreement = Agreement::kSameValue}},
    {HloOpcode::kCollectivePermuteDone,
     {.infer = InferCollectiveDone, .agreement = Agreement::kSameValue}},
    {HloOpcode::kPartitionId, {.infer = InferDeviceId}},
    {HloOpcode::kReplicaId, {.infer = InferDeviceId}},
};

}  // namespace

OpcodeRules CollectiveRules() { return kCollectiveRules; }

}  // namespace xla_indexing::internal::shape_rules
