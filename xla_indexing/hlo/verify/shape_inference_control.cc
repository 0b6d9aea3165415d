// Shape rules of operations that call computations, of tuples and tokens, and of transfers between
// memories, devices and hosts.

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/async_steps.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/attribute.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_rules.h"
#include "xla_indexing/hlo/verify/frame/shape_inference_util.h"
#include "xla_indexing/hlo/verify/shape_inference.h"

namespace xla_indexing::internal::shape_rules {
namespace {

constexpr int64_t kMostTupleLevels = 256;

absl::StatusOr<const HloComputation*> CheckCalled(const HloInstruction& i, AttributeKey key) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto* computation, RequireComputation(i, key));
  std::vector<const Shape*> shapes;
  shapes.reserve(i.operand_count());
  for (const HloInstruction* operand : i.operands()) shapes.push_back(&operand->shape());
  XLA_INDEXING_RETURN_IF_ERROR(CheckParameters(i, *computation, shapes));
  return computation;
}

absl::Status CheckToken(const HloInstruction& i, int64_t operand) {
  if (i.operand(operand)->shape().IsToken()) return absl::OkStatus();
  return Error(i, "operand ", operand, " is not a token");
}

Shape OperandTuple(const HloInstruction& i) { return Shape::Tuple(OperandShapes(i)); }

// Element `element` of operand 0, which must be a tuple of `size` elements or more.
Result ElementOfOperand(const HloInstruction& i, int64_t element, size_t size) {
  const Shape& operand = i.operand(0)->shape();
  if (!operand.IsTuple() || operand.tuple_elements().size() < size) {
    return Error(i, "the operand is not a tuple of ", size, " elements");
  }
  return &operand.tuple_element(element);
}

// Equal but for the sizes of dimensions.
bool SameTypesAndRanks(const Shape& a, const Shape& b) {
  return a.element_type() == b.element_type() && a.rank() == b.rank() &&
         absl::c_equal(a.tuple_elements(), b.tuple_elements(), SameTypesAndRanks);
}

Result InferCall(const HloInstruction& i) {
  XLA_INDEXING_ASSIGN_OR_RETURN(
      const auto computation,
      CheckCalled(
          i, i.opcode() == HloOpcode::kFusion ? AttributeKey::kCalls : AttributeKey::kToApply));
  return &computation->root_instruction()->shape();
}

Result InferWhile(const HloInstruction& i) {
  const Shape& state = i.operand(0)->shape();
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto* condition, CheckCalled(i, AttributeKey::kCondition));
  const Shape& decision = condition->root_instruction()->shape();
  if (!decision.IsScalar() || !IsPred(decision.element_type())) {
    return Error(i, "condition '", condition->name(), "' yields ", Brief(decision),
                 " and should yield pred[]");
  }
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto* body, CheckCalled(i, AttributeKey::kBody));
  const Shape& next = body->root_instruction()->shape();
  if (!ShapesAgree(next, state, Agreement::kExact)) {
    return Error(i, "body '", body->name(), "' yields ", Brief(next), " from ", Brief(state));
  }
  return &state;
}

// conditional(predicate or index, an argument for each branch..)
Result InferConditional(const HloInstruction& i) {
  const auto branches = i.branch_computations();
  const int64_t count = static_cast<int64_t>(branches.size());
  if (count == 0) {
    return Error(i,
                 "there are neither branch_computations nor a true_computation and a "
                 "false_computation");
  }
  if (i.operand_count() != count + 1) {
    return Error(i, "takes a selector and an argument for each of ", count, " branches, not ",
                 i.operand_count(), " operands");
  }
  const Shape& selector = i.operand(0)->shape();
  const bool is_predicate = IsPred(selector.element_type());
  if (!selector.IsScalar() || !(is_predicate || selector.element_type() == ElementType::kS32)) {
    return Error(i, "operand 0 is neither pred[] nor s32[]");
  }
  if (is_predicate && count != 2) {
    return Error(i, "a predicate selects among 2 branches, not ", count);
  }
  for (int64_t b = 0; b < count; ++b) {
    const HloInstruction* root = branches[b]->root_instruction();
    if (root == nullptr || branches[b]->parameters().empty() ||
        branches[b]->parameter(0) == nullptr) {
      return Error(i, "branch ", b, ", '", branches[b]->name(), "', has no root or no parameter 0");
    }
    XLA_INDEXING_RETURN_IF_ERROR(CheckParameters(i, *branches[b], {&i.operand(b + 1)->shape()}));
    const Shape& first = branches[0]->root_instruction()->shape();
    if (!ShapesAgree(root->shape(), first, Agreement::kExact)) {
      return Error(i, "branch ", b, ", '", branches[b]->name(), "', yields ", Brief(root->shape()),
                   " and branch 0 yields ", Brief(first));
    }
  }
  return &branches[0]->root_instruction()->shape();
}

// The computation that asynchronous steps run, where the operands of step `i` from `first_operand` on fit
// its parameters from `first_parameter` on.
absl::Status CheckBound(const HloInstruction& i, const HloComputation& computation,
                        int64_t first_parameter, int64_t first_operand) {
  std::vector<const Shape*> shapes;
  for (const HloInstruction* parameter : computation.parameters()) {
    if (parameter == nullptr) {
      return Error(i, "computation '", computation.name(), "' has a parameter that is missing");
    }
    shapes.push_back(&parameter->shape());
  }
  for (int64_t k = first_operand; k < i.operand_count(); ++k) {
    const auto p = static_cast<size_t>(first_parameter + k - first_operand);
    if (p >= shapes.size()) {
      return Error(i, "operand ", k, " is bound to parameter ", p, " of computation '",
                   computation.name(), "', which takes ", shapes.size());
    }
    shapes[p] = &i.operand(k)->shape();
  }
  return CheckParameters(i, computation, shapes);
}

// Whether `given` can stand for the result of `computation` in a state in which `bound` operands are
// bound: it may be absent until all are.
bool IsResultOf(const HloComputation& computation, const Shape& given, int64_t bound) {
  if (ShapesAgree(given, computation.root_instruction()->shape(), Agreement::kExact)) return true;
  return given.IsTuple() && given.tuple_elements().empty() &&
         bound < static_cast<int64_t>(computation.parameters().size());
}

// ((operands..), result of the computation, and possibly context)
Result InferAsyncStart(const HloInstruction& i) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const auto* computation,
                                RequireComputation(i, AttributeKey::kCalls));
  XLA_INDEXING_RETURN_IF_ERROR(CheckBound(i, *computation, 0, 0));
  return Shape::Tuple({OperandTuple(i), computation->root_instruction()->shape()});
}

absl::Status CheckAsyncStart(const HloInstruction& i) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const InferredShape inferred, InferAsyncStart(i));
  const absl::Span<const Shape> elements = i.shape().tuple_elements();
  if (i.shape().IsTuple() && elements.size() >= 2 &&
      ShapesAgree(elements[0], inferred->tuple_element(0), Agreement::kExact) &&
      IsResultOf(*i.calls(), elements[1], i.operand_count())) {
    return absl::OkStatus();
  }
  return MismatchError(i, *inferred);
}

// The state with the operands that this step binds.
Result InferAsyncUpdate(const HloInstruction& i) {
  if (i.operand_count() == 0) return Error(i, "takes at least one operand");
  if (const Result result = ElementOfOperand(i, 1, 2); !result.ok()) return result;
  const Shape& before = i.operand(0)->shape();
  if (i.operand_count() == 1) return &before;
  if (!before.tuple_element(0).IsTuple()) {
    return Error(i, "element 0 of the operand is no tuple of operands");
  }
  const absl::Span<const Shape> bound = before.tuple_element(0).tuple_elements();
  std::vector<Shape> operands(bound.begin(), bound.end());
  for (const HloInstruction* operand : i.operands().subspan(1)) {
    operands.push_back(operand->shape());
  }
  std::vector<Shape> elements(before.tuple_elements().begin(), before.tuple_elements().end());
  elements[0] = Shape::Tuple(std::move(operands));
  return Shape::Tuple(std::move(elements));
}

absl::Status CheckAsyncUpdate(const HloInstruction& i) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const InferredShape inferred, InferAsyncUpdate(i));
  if (i.operand_count() == 1) {
    if (ShapesAgree(i.shape(), *inferred, Agreement::kSameValue)) return absl::OkStatus();
    return MismatchError(i, *inferred);
  }
  const HloInstruction* start = AsyncStartOf(i);
  const HloComputation* computation = start == nullptr ? nullptr : start->calls();
  if (computation != nullptr && computation->root_instruction() != nullptr) {
    XLA_INDEXING_RETURN_IF_ERROR(
        CheckBound(i, *computation, BoundOperands(i.operand(0)->shape()), 1));
  } else {
    computation = nullptr;
  }
  const absl::Span<const Shape> expected = inferred->tuple_elements();
  const absl::Span<const Shape> given = i.shape().tuple_elements();
  bool agree = i.shape().IsTuple() && given.size() == expected.size();
  for (size_t k = 0; agree && k < given.size(); ++k) {
    if (k != 1) {
      agree = ShapesAgree(given[k], expected[k], Agreement::kExact);
    } else if (computation != nullptr) {
      agree = IsResultOf(*computation, given[k], BoundOperands(i.shape()));
    } else {
      // The result may come with the operands that are bound last.
      agree = ShapesAgree(given[k], expected[k], Agreement::kExact) ||
              (expected[k].IsTuple() && expected[k].tuple_elements().empty());
    }
  }
  return agree ? absl::OkStatus() : MismatchError(i, *inferred);
}

Result InferAsyncDone(const HloInstruction& i) {
  XLA_INDEXING_ASSIGN_OR_RETURN(InferredShape result, ElementOfOperand(i, 1, 2));
  const HloInstruction* start = AsyncStartOf(*i.operand(0));
  if (start == nullptr || start->calls() == nullptr) return result;
  const auto parameters = static_cast<int64_t>(start->calls()->parameters().size());
  const int64_t bound = BoundOperands(i.operand(0)->shape());
  if (bound != parameters) {
    return Error(i, "computation '", start->calls()->name(), "' takes ", parameters,
                 parameters == 1 ? " parameter" : " parameters", ", of which ", bound,
                 bound == 1 ? " is bound" : " are bound");
  }
  return result;
}

Result InferTuple(const HloInstruction& i) {
  int64_t nodes_left = kMostTupleNodes;
  int64_t levels = 0;
  for (const HloInstruction* operand : i.operands()) {
    levels = std::max(levels, CountLevels(operand->shape(), &nodes_left));
    if (nodes_left < 0 || levels >= kMostTupleLevels) {
      return Error(i, "the shape is left out and would have more than ", kMostTupleNodes,
                   " parts or ", kMostTupleLevels, " levels");
    }
  }
  return OperandTuple(i);
}

absl::Status CheckTuple(const HloInstruction& i) {
  const bool agree =
      i.shape().IsTuple() &&
      absl::c_equal(i.shape().tuple_elements(), i.operands(),
                    [](const Shape& element, const HloInstruction* operand) {
                      return ShapesAgree(element, operand->shape(), Agreement::kExact);
                    });
  return agree ? absl::OkStatus() : MismatchError(i, OperandTuple(i));
}

Result InferGetTupleElement(const HloInstruction& i) {
  const Shape& operand = i.operand(0)->shape();
  if (!operand.IsTuple()) return Error(i, "the operand is not a tuple");
  XLA_INDEXING_ASSIGN_OR_RETURN(const int64_t index, RequireInteger(i, AttributeKey::kIndex));
  const int64_t count = static_cast<int64_t>(operand.tuple_elements().size());
  if (index < 0 || index >= count) {
    return Error(i, "index=", index, " of a tuple of ", count,
                 count == 1 ? " element" : " elements");
  }
  return &operand.tuple_element(index);
}

Result InferOperand(const HloInstruction& i) { return &i.operand(0)->shape(); }

// Arrays too may be waited for.
Result InferAfterAll(const HloInstruction& /*i*/) { return Shape::Token(); }

Result InferAddDependency(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckToken(i, 1));
  return &i.operand(0)->shape();
}

// (copy, original, context)
Shape CopyStartShape(const HloInstruction& i) {
  const Shape& operand = i.operand(0)->shape();
  return Shape::Tuple({operand, operand, Shape::Scalar(ElementType::kU32)});
}

Result InferCopyStart(const HloInstruction& i) { return CopyStartShape(i); }

absl::Status CheckCopyStart(const HloInstruction& i) {
  const Shape& operand = i.operand(0)->shape();
  const absl::Span<const Shape> elements = i.shape().tuple_elements();
  if (i.shape().IsTuple() && elements.size() >= 2 &&
      ShapesAgree(elements[0], operand, Agreement::kExact) &&
      ShapesAgree(elements[1], operand, Agreement::kExact)) {
    return absl::OkStatus();
  }
  return MismatchError(i, CopyStartShape(i));
}

Result InferCopyDone(const HloInstruction& i) { return ElementOfOperand(i, 0, 2); }

Result InferSend(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckToken(i, 1));
  return Shape::Tuple({i.operand(0)->shape(), Shape::Scalar(ElementType::kU32), Shape::Token()});
}

Result InferSendDone(const HloInstruction& i) {
  if (const Result result = ElementOfOperand(i, 2, 3); !result.ok()) return result;
  return Shape::Token();
}

absl::Status CheckRecv(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckToken(i, 0));
  const absl::Span<const Shape> elements = i.shape().tuple_elements();
  if (i.shape().IsTuple() && elements.size() == 3 &&
      ShapesAgree(elements[1], Shape::Scalar(ElementType::kU32), Agreement::kExact) &&
      elements[2].IsToken()) {
    return absl::OkStatus();
  }
  return Error(i, "the result ", Brief(i.shape()), " is not (value, u32[], token[])");
}

Result InferRecvDone(const HloInstruction& i) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const InferredShape received, ElementOfOperand(i, 0, 3));
  return Shape::Tuple({*received, Shape::Token()});
}

// Real text has a recv-done of other sizes than its recv: types and ranks only are compared.
absl::Status CheckRecvDone(const HloInstruction& i) {
  XLA_INDEXING_ASSIGN_OR_RETURN(const InferredShape inferred, InferRecvDone(i));
  if (SameTypesAndRanks(i.shape(), *inferred)) return absl::OkStatus();
  return MismatchError(i, *inferred);
}

absl::Status CheckInfeed(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckToken(i, 0));
  const absl::Span<const Shape> elements = i.shape().tuple_elements();
  if (i.shape().IsTuple() && elements.size() == 2 && elements[1].IsToken()) {
    return absl::OkStatus();
  }
  return Error(i, "the result ", Brief(i.shape()), " is not (value, token[])");
}

Result InferOutfeed(const HloInstruction& i) {
  XLA_INDEXING_RETURN_IF_ERROR(CheckToken(i, 1));
  return Shape::Token();
}

absl::Status CheckParameter(const HloInstruction& i) {
  if (i.parameter_number() >= 0) return absl::OkStatus();
  return Error(i, "there is no parameter number");
}

absl::Status CheckCustomCall(const HloInstruction& /*i*/) { return absl::OkStatus(); }

// The spelling must read back as it is.
absl::Status CheckUnknown(const HloInstruction& i) {
  const absl::string_view name = i.opcode_name();
  if (name.empty()) return Error(i, "an opcode that is not known has no name");
  if (OpcodeFromName(name) || AsyncStepFromName(name)) return Error(i, "its opcode is known");
  return absl::OkStatus();
}

constexpr OpcodeRule kControlRules[] = {
    {HloOpcode::kCall, {.infer = InferCall, .agreement = Agreement::kSameValue}},
    {HloOpcode::kFusion, {.infer = InferCall, .agreement = Agreement::kSameValue}},
    {HloOpcode::kWhile, {.infer = InferWhile, .agreement = Agreement::kSameValue}},
    {HloOpcode::kConditional, {.infer = InferConditional, .agreement = Agreement::kSameValue}},
    {HloOpcode::kAsyncStart,
     {.infer = InferAsyncStart, .check = CheckAsyncStart, .agreement = Agreement::kSameValue}},
    {HloOpcode::kAsyncUpdate, {.infer = InferAsyncUpdate, .check = CheckAsyncUpdate}},
    {HloOpcode::kAsyncDone, {.infer = InferAsyncDone, .agreement = Agreement::kSameValue}},
    {HloOpcode::kTuple,
     {.infer = InferTuple, .check = CheckTuple, .agreement = Agreement::kSameValue}},
    {HloOpcode::kGetTupleElement,
     {.infer = InferGetTupleElement, .agreement = Agreement::kSameValue}},
    {HloOpcode::kDomain, {.infer = InferOperand, .agreement = Agreement::kSameValue}},
    {HloOpcode::kOptBarrier, {.infer = InferOperand, .agreement = Agreement::kSameValue}},
    {HloOpcode::kAfterAll, {.infer = InferAfterAll}},
    {HloOpcode::kAddDependency, {.infer = InferAddDependency, .agreement = Agreement::kSameValue}},
    {HloOpcode::kCopyStart, {.infer = InferCopyStart, .check = CheckCopyStart}},
    {HloOpcode::kCopyDone, {.infer = InferCopyDone, .agreement = Agreement::kSameValue}},
    {HloOpcode::kSend, {.infer = InferSend, .agreement = Agreement::kSameValue}},
    {HloOpcode::kSendDone, {.infer = InferSendDone}},
    {HloOpcode::kRecv, {.check = CheckRecv}},
    {HloOpcode::kRecvDone,
     {.infer = InferRecvDone, .check = CheckRecvDone, .agreement = Agreement::kSameValue}},
    {HloOpcode::kInfeed, {.check = CheckInfeed}},
    {HloOpcode::kOutfeed, {.infer = InferOutfeed}},
    {HloOpcode::kParameter, {.check = CheckParameter}},
    {HloOpcode::kCustomCall, {.check = CheckCustomCall}},
    {HloOpcode::kUnknown, {.check = CheckUnknown}},
};

}  // namespace

OpcodeRules ControlRules() { return kControlRules; }

}  // namespace xla_indexing::internal::shape_rules
