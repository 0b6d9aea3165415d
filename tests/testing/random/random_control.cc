// Random instructions that call computations, and those that hand arrays on.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "tests/testing/random/random_computation.h"
#include "tests/testing/random/random_instructions.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing {
namespace {

// A value with exactly the shape of a parameter: bodies may look at its layout.
RandomValue Argument(const Shape& parameter, RandomComputation* c) {
  return c->Operand([&](const Shape& shape) { return shape == parameter; },
                    [&] { return parameter; });
}

RandomValue AddElement(const RandomValue& tuple, int64_t index, RandomComputation* c) {
  return c->Add(tuple.shape.tuple_element(index), "get-tuple-element", {tuple},
                absl::StrCat(", index=", index));
}

RandomValue AddToken(RandomComputation* c) { return c->Add(Shape::Token(), "after-all", {}); }

// A computation of one parameter, and its elements where it is a tuple, that is open for
// instructions.
RandomComputation OneParameterComputation(const Shape& parameter, RandomComputation* c) {
  RandomComputation body(c->module(), &c->random(), /*reuse_percent=*/90, c->depth() + 1);
  const RandomValue argument = body.AddParameter(parameter);
  body.CloseParameters();
  if (parameter.IsTuple()) {
    const int64_t count = static_cast<int64_t>(parameter.tuple_elements().size());
    for (int64_t i = 0; i < count; ++i) AddElement(argument, i, &body);
  }
  return body;
}

void AddRandomInstructions(int64_t least, int64_t most, RandomComputation* c) {
  for (int64_t i = c->random().Between(least, most); i > 0; --i) {
    AddRandomInstruction(RandomOpcode(c), c);
  }
}

// A value of this shape, made of values that are there.
RandomValue ValueOfShape(const Shape& shape, RandomComputation* c) {
  if (shape.IsToken()) return AddToken(c);
  if (!shape.IsTuple()) {
    return c->Operand([&](const Shape& other) { return other == shape; }, [&] { return shape; });
  }
  std::vector<RandomValue> elements;
  for (const Shape& element : shape.tuple_elements()) elements.push_back(ValueOfShape(element, c));
  return c->Add(shape, "tuple", elements);
}

// Binds operands from `first` on to the parameters that follow those of the state (none: a start): all of
// them, or where `all` is false perhaps fewer. `bound`: what is bound afterwards.
RandomValue AddRandomAsyncStep(const std::vector<Shape>& parameters, const Shape& result,
                               const std::string& name, bool all, const RandomValue* state,
                               size_t* bound, RandomComputation* c) {
  const auto left = static_cast<int64_t>(parameters.size() - *bound);
  int64_t count = left;
  if (!all || c->random().OneIn(2)) count = c->random().Between(all ? left : 0, left);
  std::vector<RandomValue> operands;
  std::vector<Shape> shapes;
  if (state != nullptr) {
    operands.push_back(*state);
    const auto before = state->shape.tuple_element(0).tuple_elements();
    shapes.assign(before.begin(), before.end());
  }
  for (int64_t i = 0; i < count; ++i) {
    operands.push_back(Argument(parameters[(*bound)++], c));
    shapes.push_back(operands.back().shape);
  }
  const bool is_late = *bound < parameters.size() && c->random().OneIn(3);
  std::vector<Shape> elements = {Shape::Tuple(shapes), is_late ? Shape::Tuple({}) : result};
  if (state == nullptr) {
    for (int64_t i = c->random().Between(0, 2); i > 0; --i) {
      elements.push_back(Shape::Scalar(ElementType::kU32));
    }
    return c->Add(Shape::Tuple(elements), "async-start", operands, absl::StrCat(", calls=", name));
  }
  const auto contexts = state->shape.tuple_elements().subspan(2);
  elements.insert(elements.end(), contexts.begin(), contexts.end());
  // What was there stays there.
  if (!state->shape.tuple_element(1).tuple_elements().empty() ||
      state->shape.tuple_element(1).IsArray() || operands.size() == 1) {
    elements[1] = state->shape.tuple_element(1);
  }
  return c->Add(Shape::Tuple(elements), "async-update", operands);
}

// `(operand shapes.., ), result, contexts..`
RandomValue AddRandomAsyncSteps(bool starts_only, RandomComputation* c) {
  RandomComputation body(c->module(), &c->random(), /*reuse_percent=*/75, c->depth() + 1);
  AddRandomInstructions(1, 3, &body);
  const RandomValue root = RandomRoot(&body);
  const std::vector<Shape> parameters = body.parameters();
  const std::string name = body.Finish(root, /*is_entry=*/false);
  size_t bound = 0;
  RandomValue state = AddRandomAsyncStep(parameters, root.shape, name,
                                         /*all=*/c->random().OneIn(2), nullptr, &bound, c);
  if (starts_only) return state;
  while (bound < parameters.size()) {
    if (c->random().OneIn(4)) state = c->Add(state.shape, "opt-barrier", {state});
    state = AddRandomAsyncStep(parameters, root.shape, name, /*all=*/c->random().OneIn(2), &state,
                               &bound, c);
  }
  return state;
}

}  // namespace

RandomValue AddRandomAsync(HloOpcode opcode, RandomComputation* c) {
  RandomValue state = AddRandomAsyncSteps(opcode == HloOpcode::kAsyncStart, c);
  if (opcode == HloOpcode::kAsyncStart) return state;
  if (opcode == HloOpcode::kAsyncUpdate || c->random().OneIn(2)) {
    state = c->Add(state.shape, "async-update", {state});
  }
  if (opcode == HloOpcode::kAsyncUpdate) return state;
  return c->Add(state.shape.tuple_element(1), "async-done", {state});
}

RandomValue AddRandomCall(absl::string_view opcode, absl::string_view attribute,
                          RandomComputation* c) {
  RandomComputation body(c->module(), &c->random(), /*reuse_percent=*/75, c->depth() + 1);
  body.set_is_synchronous(c->is_synchronous());
  AddRandomInstructions(1, 4, &body);
  if (c->random().OneIn(8)) body.AddParameter(body.RandomArray(0));
  const RandomValue root = RandomRoot(&body);
  const std::vector<Shape> parameters = body.parameters();
  const std::string name = body.Finish(root, /*is_entry=*/false);
  std::vector<RandomValue> operands;
  operands.reserve(parameters.size());
  for (const Shape& parameter : parameters) operands.push_back(Argument(parameter, c));
  return c->Add(root.shape, opcode, operands, absl::StrCat(attribute, name));
}

// A conditional with one to three branches, or with a predicate.
RandomValue AddRandomConditional(RandomComputation* c) {
  const bool is_predicated = c->random().OneIn(3);
  const int64_t count = is_predicated ? 2 : c->random().Between(1, 3);
  const ElementType type = is_predicated ? ElementType::kPred : ElementType::kS32;
  std::vector<RandomValue> operands = {c->Integers(Shape::Scalar(type), /*max_depth=*/1)};
  Shape result;
  std::vector<std::string> names;
  for (int64_t b = 0; b < count; ++b) {
    const Shape parameter = c->random().OneIn(2) ? c->RandomTuple() : c->RandomArray(0);
    RandomComputation body = OneParameterComputation(parameter, c);
    AddRandomInstructions(b == 0 ? 1 : 0, 3, &body);
    const RandomValue root = b == 0 ? RandomRoot(&body) : ValueOfShape(result, &body);
    result = root.shape;
    names.push_back(body.Finish(root, /*is_entry=*/false));
    operands.push_back(Argument(parameter, c));
    // One computation may be several branches.
    if (b + 1 < count && c->random().OneIn(8)) {
      names.push_back(names.back());
      operands.push_back(Argument(parameter, c));
      ++b;
    }
  }
  const std::string attributes =
      is_predicated
          ? absl::StrCat(", true_computation=", names[0], ", false_computation=", names[1])
          : absl::StrCat(", branch_computations={", absl::StrJoin(names, ", "), "}");
  return c->Add(result, "conditional", operands, attributes);
}

// A custom call of a target with a rule, or of one without.
RandomValue AddRandomCustomCall(RandomComputation* c) {
  const int64_t choice = c->random().Between(0, 3);
  if (choice <= 1) {
    const RandomValue operand = c->ArrayOperand(0);
    return c->Add(
        operand.shape, "custom-call", {operand},
        choice == 0 ? ", custom_call_target=\"Sharding\"" : ", custom_call_target=\"MoveToHost\"");
  }
  if (choice == 2) {
    const RandomValue operand = c->ArrayOperand(1);
    Shape values = operand.shape;
    values.ClearLayout();
    values.SetDimension(values.rank() - 1,
                        c->random().Between(0, values.dimension(values.rank() - 1)));
    Shape positions = values;
    positions.SetElementType(ElementType::kS32);
    return c->Add(Shape::Tuple({values, positions}), "custom-call", {operand},
                  ", custom_call_target=\"TopK\"");
  }
  std::vector<RandomValue> operands;
  for (int64_t i = c->random().Between(0, 2); i > 0; --i) operands.push_back(c->ArrayOperand(0));
  return c->Add(c->RandomArray(0), "custom-call", operands, ", custom_call_target=\"unheard of\"");
}

RandomValue AddRandomGetDimensionSize(RandomComputation* c) {
  const RandomValue operand = c->ArrayOperand(1);
  return c->Add(
      Shape::Scalar(ElementType::kS32), "get-dimension-size", {operand},
      absl::StrCat(", dimensions={", c->random().Between(0, operand.shape.rank() - 1), "}"));
}

// A while of up to five iterations. The first leaf of the state counts them; where the condition
// also looks at another leaf, their number is not known.
RandomValue AddRandomWhile(RandomComputation* c) {
  const Shape count = Shape::Scalar(ElementType::kS32);
  const Shape flag = Shape::Scalar(ElementType::kPred);
  const auto constant = [&](int64_t value, RandomComputation* computation) {
    return computation->AddConstant(count, value);
  };
  const bool is_counted = c->random().OneIn(2);
  std::vector<Shape> shapes = {count};
  if (!is_counted) shapes.push_back(flag);
  for (int64_t i = c->random().Between(1, 3); i > 0; --i) {
    shapes.push_back(c->random().OneIn(4) ? count : c->RandomArray(0));
  }
  const Shape state = Shape::Tuple(shapes);
  const int64_t step = c->random().OneIn(3) ? 2 : 1;
  const int64_t start = c->random().Between(-1, 1);
  const int64_t limit = start + c->random().Between(-1, 5);

  RandomComputation body = OneParameterComputation(state, c);
  const std::vector<RandomValue> elements(body.values().begin() + 1, body.values().end());
  std::vector<RandomValue> next = {body.Add(count, "add", {elements[0], constant(step, &body)})};
  AddRandomInstructions(1, 3, &body);
  for (size_t i = 1; i < elements.size(); ++i) {
    const bool is_kept = c->random().OneIn(3);
    next.push_back(is_kept ? elements[i] : ValueOfShape(shapes[i], &body));
  }
  const std::string body_name = body.Finish(body.Add(state, "tuple", next), /*is_entry=*/false);

  RandomComputation condition = OneParameterComputation(state, c);
  const std::vector<RandomValue> now(condition.values().begin() + 1, condition.values().end());
  RandomValue decision = condition.Add(flag, "compare", {now[0], constant(limit, &condition)},
                                       c->random().OneIn(2) ? ", direction=LT" : ", direction=LE");
  if (!is_counted) decision = condition.Add(flag, "and", {decision, now[1]});
  const std::string condition_name = condition.Finish(decision, /*is_entry=*/false);

  std::vector<RandomValue> init = {constant(start, c)};
  for (size_t i = 1; i < shapes.size(); ++i) init.push_back(Argument(shapes[i], c));
  return c->Add(state, "while", {c->Add(state, "tuple", init)},
                absl::StrCat(", condition=", condition_name, ", body=", body_name));
}

// A scan of one or two inputs and up to two carries, with up to two outputs.
RandomValue AddRandomScan(RandomComputation* c) {
  const int64_t dimension = c->random().Between(0, 2);
  const int64_t steps = c->random().Between(0, 4);
  const auto whole = [&](Shape slice) {
    DimensionVector sizes(slice.dimensions().begin(), slice.dimensions().end());
    sizes.insert(sizes.begin() + dimension, steps);
    return Shape::Array(slice.element_type(), sizes);
  };
  RandomComputation function(c->module(), &c->random(), /*reuse_percent=*/90, c->depth() + 1);
  std::vector<RandomValue> operands;
  for (int64_t i = c->random().Between(1, 2); i > 0; --i) {
    Shape slice = c->RandomArray(dimension);
    slice.ClearLayout();
    function.AddParameter(slice);
    operands.push_back(Argument(whole(slice), c));
  }
  std::vector<Shape> carries;
  for (int64_t i = c->random().Between(0, 2); i > 0; --i) {
    carries.push_back(c->RandomArray(0));
    carries.back().ClearLayout();
    function.AddParameter(carries.back());
    operands.push_back(Argument(carries.back(), c));
  }
  function.CloseParameters();
  AddRandomInstructions(1, 4, &function);
  std::vector<RandomValue> yielded;
  std::vector<Shape> yielded_shapes;
  std::vector<Shape> shapes;
  for (int64_t i = c->random().Between(0, 2); i > 0; --i) {
    const RandomValue output = function.Operand(
        [&](const Shape& shape) {
          return shape.IsArray() && shape.rank() >= dimension && shape.IsStatic() &&
                 shape.rank() < 5;
        },
        [&] { return c->RandomArray(dimension); });
    yielded.push_back(output);
    shapes.push_back(whole(output.shape));
  }
  for (const Shape& carry : carries) {
    yielded.push_back(ValueOfShape(carry, &function));
    shapes.push_back(carry);
  }
  for (const RandomValue& value : yielded) yielded_shapes.push_back(value.shape);
  const std::string name =
      function.Finish(function.Add(Shape::Tuple(yielded_shapes), "tuple", yielded),
                      /*is_entry=*/false);
  return c->Add(Shape::Tuple(shapes), "scan", operands,
                absl::StrCat(", dimensions={", dimension, "}, num_carries=", carries.size(),
                             c->random().OneIn(2) ? ", is_reverse=true" : "", ", to_apply=", name));
}

// A map of one to three arrays; its function uses one of its parameters, or none.
RandomValue AddRandomMap(RandomComputation* c) {
  std::vector<RandomValue> operands = {c->ArrayOperand(0)};
  Shape like = operands[0].shape;
  like.ClearLayout();
  for (int64_t i = c->random().Between(0, 2); i > 0; --i) {
    like.SetElementType(c->RandomType());
    operands.push_back(c->OperandLike(like));
  }
  RandomComputation function(c->module(), &c->random(), /*reuse_percent=*/100, c->depth() + 1);
  for (const RandomValue& operand : operands) {
    function.AddParameter(Shape::Scalar(operand.shape.element_type()));
  }
  RandomValue root = c->random().Pick(function.values());
  if (c->random().OneIn(2)) root = function.Add(root.shape, "maximum", {root, root});
  if (c->random().OneIn(6)) root = function.AddConstant(Shape::Scalar(ElementType::kS32));
  like.SetElementType(root.shape.element_type());
  std::vector<int64_t> dimensions;
  for (int64_t d = 0; d < like.rank(); ++d) dimensions.push_back(d);
  return c->Add(like, "map", operands,
                absl::StrCat(ListAttribute("dimensions", dimensions),
                             ", to_apply=", function.Finish(root, /*is_entry=*/false)));
}

// A size that an array may have, which is known at run time only: all of it.
RandomValue AddRandomDynamicSize(HloOpcode opcode, RandomComputation* c) {
  const RandomValue operand = c->ArrayOperand(1);
  std::vector<RandomValue> operands = {operand};
  const Shape size = Shape::Scalar(ElementType::kS32);
  if (opcode == HloOpcode::kDynamicReshape) {
    const Shape shape = Shape::Array(operand.shape.element_type(),
                                     c->RandomSizesOf(ElementCountOf(operand.shape.dimensions())));
    for (int64_t i = 0; i < shape.rank(); ++i) operands.push_back(Argument(size, c));
    return c->Add(shape, "dynamic-reshape", operands);
  }
  operands.push_back(Argument(size, c));
  Shape shape = operand.shape;
  const int64_t dimension = c->random().Between(0, shape.rank() - 1);
  shape.SetDimension(dimension, shape.dimension(dimension), /*is_dynamic=*/true);
  return c->Add(shape, "set-dimension-size", operands,
                absl::StrCat(", dimensions={", dimension, "}"));
}

RandomValue AddRandomTransfer(HloOpcode opcode, RandomComputation* c) {
  const Shape u32 = Shape::Scalar(ElementType::kU32);
  switch (opcode) {
    case HloOpcode::kAddDependency: {
      const RandomValue operand = c->ArrayOperand(0);
      return c->Add(operand.shape, "add-dependency", {operand, AddToken(c)});
    }
    case HloOpcode::kDomain: {
      const RandomValue operand = c->ArrayOperand(0);
      return c->Add(operand.shape, "domain", {operand},
                    ", domain={kind=\"sharding\", entry={maximal device=0}, exit={}}");
    }
    case HloOpcode::kOptBarrier: {
      const RandomValue operand =
          c->random().OneIn(2) ? ValueOfShape(c->RandomTuple(), c) : c->ArrayOperand(0);
      return c->Add(operand.shape, "opt-barrier", {operand});
    }
    case HloOpcode::kPartitionId:
      return c->Add(u32, "partition-id", {});
    case HloOpcode::kReplicaId:
      return c->Add(u32, "replica-id", {});
    case HloOpcode::kRngGetAndUpdateState:
      return c->Add(Shape::Array(ElementType::kU64, {2}), "rng-get-and-update-state", {},
                    ", delta=1");
    case HloOpcode::kCopyStart:
    case HloOpcode::kCopyDone: {
      const RandomValue operand = c->ArrayOperand(0);
      const RandomValue start =
          c->Add(Shape::Tuple({operand.shape, operand.shape, u32}), "copy-start", {operand});
      return opcode == HloOpcode::kCopyStart ? start : c->Add(operand.shape, "copy-done", {start});
    }
    case HloOpcode::kSend:
    case HloOpcode::kSendDone: {
      const RandomValue operand = c->ArrayOperand(0);
      const RandomValue send = c->Add(Shape::Tuple({operand.shape, u32, Shape::Token()}), "send",
                                      {operand, AddToken(c)}, ", channel_id=1");
      if (opcode == HloOpcode::kSend) return send;
      return c->Add(Shape::Token(), "send-done", {send}, ", channel_id=1");
    }
    case HloOpcode::kRecv:
    case HloOpcode::kRecvDone: {
      const Shape shape = c->random().OneIn(4) ? c->RandomTuple() : c->RandomArray(0);
      const RandomValue recv = c->Add(Shape::Tuple({shape, u32, Shape::Token()}), "recv",
                                      {AddToken(c)}, ", channel_id=2");
      if (opcode == HloOpcode::kRecv) return recv;
      return c->Add(Shape::Tuple({shape, Shape::Token()}), "recv-done", {recv}, ", channel_id=2");
    }
    case HloOpcode::kInfeed:
      return c->Add(Shape::Tuple({c->RandomArray(0), Shape::Token()}), "infeed", {AddToken(c)});
    case HloOpcode::kOutfeed: {
      const RandomValue operand = c->ArrayOperand(0);
      return c->Add(Shape::Token(), "outfeed", {operand, AddToken(c)},
                    absl::StrCat(", outfeed_shape=", operand.shape.ToString()));
    }
    default: {
      std::vector<RandomValue> tokens;
      for (int64_t i = c->random().Between(0, 2); i > 0; --i) tokens.push_back(AddToken(c));
      return c->Add(Shape::Token(), "after-all", tokens);
    }
  }
}

}  // namespace xla_indexing
