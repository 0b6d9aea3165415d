#include "xla_indexing/ops/values/element_value.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/types/span.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/numbers/box.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/ops/rules/frame/operation_maps.h"
#include "xla_indexing/ops/values/cases/float_values.h"
#include "xla_indexing/ops/values/cases/integer_values.h"
#include "xla_indexing/ops/values/cases/listed_values.h"
#include "xla_indexing/ops/values/cases/literal_regions.h"
#include "xla_indexing/ops/values/cases/numbers.h"
#include "xla_indexing/ops/values/cases/sure_values.h"
#include "xla_indexing/ops/values/leaf_routes.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// Bounds on the work for one value: instructions in a chain, and elements looked at in all.
constexpr int kMaxDepth = 64;
constexpr int kMaxVisits = 512;
// The elements that a reduction may combine to one.
constexpr int64_t kMaxReducedElements = 16;

// Whether an element may be known although those that it is made of have not been followed: other
// instructions are followed to these.
bool MayNeedArray(const HloInstruction& instruction) {
  const HloOpcode opcode = instruction.opcode();
  if (opcode == HloOpcode::kConvert || opcode == HloOpcode::kCompare) {
    return HoldsFloats(instruction.operand(0)->shape().element_type());
  }
  return opcode == HloOpcode::kReduce ||
         (opcode != HloOpcode::kParameter && !MayBeFollowed(instruction));
}

// Whether an empty interval says that the conditions never hold.
bool IsNowhere(const Constraints& when) {
  return llvm::any_of(when, [](const Constraint& c) { return c.interval.IsEmpty(); });
}

}  // namespace

bool IsOrderlessCombiner(const HloInstruction& root) {
  switch (root.opcode()) {
    case HloOpcode::kAdd:
    case HloOpcode::kAnd:
    case HloOpcode::kMaximum:
    case HloOpcode::kMinimum:
    case HloOpcode::kMultiply:
    case HloOpcode::kOr:
      return root.operand(0)->opcode() == HloOpcode::kParameter &&
             root.operand(1)->opcode() == HloOpcode::kParameter &&
             root.operand(0) != root.operand(1);
    default:
      return false;
  }
}

bool MovesElements(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kBitcast:
    case HloOpcode::kBroadcast:
    case HloOpcode::kConcatenate:
    case HloOpcode::kCopy:
    case HloOpcode::kDomain:
    case HloOpcode::kGetTupleElement:
    case HloOpcode::kOptBarrier:
    case HloOpcode::kPad:
    case HloOpcode::kReshape:
    case HloOpcode::kReverse:
    case HloOpcode::kSlice:
    case HloOpcode::kTranspose:
    case HloOpcode::kTuple:
      return true;
    default:
      return false;
  }
}

bool MayBeFollowed(const HloInstruction& instruction) {
  switch (instruction.opcode()) {
    case HloOpcode::kParameter:  // Where it is passed there is a call.
      return false;
    case HloOpcode::kConditional:
    case HloOpcode::kConstant:
    case HloOpcode::kIota:
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kReduce:
      return true;
    default:
      return instruction.inlined_computation() != nullptr || MovesElements(instruction.opcode()) ||
             IsElementwise(instruction.opcode());
  }
}

const ValueEnvironment& UnknownEnvironment() {
  static const ValueEnvironment unknown;
  return unknown;
}

ElementEvaluator::ElementEvaluator(Domain domain, mlir::MLIRContext* context,
                                   const ValueEnvironment& environment)
    : variables_(std::move(domain), context), environment_(environment) {
  if (environment.tells_apart() == ValueEnvironment::TellsApart::kInitialValues) {
    variables_.TellApartOutsideOf(environment.loop());
  } else if (environment.tells_apart() == ValueEnvironment::TellsApart::kAllValues) {
    variables_.TellApartOutsideOf(nullptr);
  }
}

ValueCases ElementEvaluator::Evaluate(const HloInstruction* instruction, int64_t leaf,
                                      llvm::ArrayRef<AffineExpr> element, CallPath path,
                                      const Constraints& when) {
  RuntimeVarIndexing binding;
  binding.instruction = instruction;
  binding.leaf = leaf;
  binding.element.assign(element.begin(), element.end());
  binding.call_path.assign(path.begin(), path.end());
  const Element asked = ElementOf(binding);
  ValueCases cases = EvaluateWhere(asked, when);
  const auto is_unknown = [&](const ValueCase& each) { return HasUnknown(each.value); };
  if (!KeepsPartialValues() && llvm::any_of(cases, is_unknown)) {
    if (auto listed = FollowArray(asked, when)) return *std::move(listed);
  }
  return cases;
}

ValueCases ElementEvaluator::EvaluateWhere(const Element& element, const Constraints& when) {
  if (!KeepsPartialValues()) return EvaluateAnew(element, when);
  if (!environment_.MayBeKnown(*element.instruction, !element.path.empty())) {
    return Unknown(element, when);
  }
  if (!when.empty()) return EvaluateAnew(element, when);
  RuntimeVarIndexing key = BindingOf(element);
  if (element.is_factor) key.value = ValueFunction::IsNotZero();
  if (const auto known = values_.find(key); known != values_.end()) {
    missed_.Add(known->second.second);
    return known->second.first;
  }
  Missed before = std::exchange(missed_, {});
  ValueCases cases = EvaluateAnew(element, when);
  values_[key] = {cases, missed_};
  std::swap(before, missed_);
  missed_.Add(before);
  return cases;
}

ValueCases ElementEvaluator::EvaluateAnew(const Element& element, const Constraints& when) {
  if (depth_ >= kMaxDepth || visits_ >= kMaxVisits) {
    if (auto cases = FollowArray(element, when)) return *std::move(cases);
    SetMissed(*element.instruction);
    return Unknown(element, when);
  }
  ++depth_;
  ++visits_;
  Interval range = Interval::All();
  Missed before = std::exchange(missed_, {});
  std::optional<ValueCases> cases = Follow(element, when, finds_ranges_ ? &range : nullptr);
  --depth_;
  const bool may_need_array = KeepsPartialValues() || MayNeedArray(*element.instruction);
  if (may_need_array && (!cases || cases->size() > kMaxValueCases || !missed_.IsNothing())) {
    if (auto listed = FollowArray(element, when)) {
      // What was not found on the way does not matter.
      cases = std::move(listed);
      missed_ = {};
    }
  }
  std::swap(before, missed_);
  missed_.Add(before);
  if (!cases) {
    // A scalar that is not known tells cases apart.
    if (!element.IsScalar() && IsMissed(element)) SetMissed(*element.instruction);
    return Unknown(element, when, range);
  }
  if (cases->size() > kMaxValueCases) {
    SetMissed(*element.instruction);
    return Unknown(element, when);
  }
  return *std::move(cases);
}

bool ElementEvaluator::IsZero(const ValueCase& value) const {
  return IsSurelyZero(value, variables_);
}

bool ElementEvaluator::MayBeKnown(const Element& element) const {
  const PlacedValue source =
      Followed({{element.instruction, element.leaf}, {element.path.begin(), element.path.end()}});
  return environment_.MayBeKnown(*source.source.instruction, !source.callers.empty());
}

bool ElementEvaluator::IsMissed(const Element& element) const {
  const HloInstruction& instruction = *element.instruction;
  switch (instruction.opcode()) {
    case HloOpcode::kDynamicSlice:
    case HloOpcode::kReduce:
      return false;
    case HloOpcode::kParameter:
      return true;
    case HloOpcode::kConstant:
      return instruction.literal() != nullptr && !instruction.literal()->IsElided();
    case HloOpcode::kGather:
      return MayBeKnown(element.Of(instruction.operand(0), 0, {}));
    case HloOpcode::kDynamicUpdateSlice:
    case HloOpcode::kScatter:
    case HloOpcode::kSort:
      return true;
    default:
      return MayBeFollowed(instruction);
  }
}

Interval ElementEvaluator::RangeOfCases(const ValueCases& cases) const {
  Interval range = Interval::Empty();
  for (const ValueCase& each : cases) range = range.Union(RangeOf(each.value, each.when));
  return range;
}

RuntimeVarIndexing ElementEvaluator::BindingOf(const Element& element) {
  RuntimeVarIndexing binding;
  binding.instruction = element.instruction;
  binding.leaf = element.leaf;
  binding.call_path = element.path;
  binding.element.assign(element.iterations.begin(), element.iterations.end());
  binding.element.append(element.index.begin(), element.index.end());
  return binding;
}

ElementEvaluator::Element ElementEvaluator::ElementOf(const RuntimeVarIndexing& binding) {
  const auto rank = static_cast<size_t>(binding.shape().rank());
  const llvm::ArrayRef<AffineExpr> all = binding.element;
  const llvm::ArrayRef<AffineExpr> index = all.take_back(rank);
  const llvm::ArrayRef<AffineExpr> iterations = all.drop_back(rank);
  return {binding.instruction,
          binding.leaf,
          {index.begin(), index.end()},
          {binding.call_path.begin(), binding.call_path.end()},
          {iterations.begin(), iterations.end()}};
}

ValueCases ElementEvaluator::Unknown(const Element& element, const Constraints& when,
                                     const Interval& range) {
  RuntimeVarIndexing unknown = BindingOf(element);
  PassedScalar passed;
  if (element.path.empty() && element.index.empty() &&
      element.instruction->opcode() == HloOpcode::kParameter) {
    passed = environment_.Passed(*element.instruction, element.leaf);
    unknown.instruction = passed.parameter;
    unknown.leaf = passed.leaf;
  }
  const AffineExpr symbol = variables_.SymbolOf(std::move(unknown), passed.values.Intersect(range));
  return {{when, Add(symbol, Constant(passed.added, context()))}};
}

std::optional<ValueCases> ElementEvaluator::Follow(const Element& element, const Constraints& when,
                                                   Interval* range) {
  const HloOpcode opcode = element.instruction->opcode();
  if (element.path.empty() && !MayBeFollowed(*element.instruction) && !KeepsPartialValues()) {
    return std::nullopt;
  }
  if (opcode == HloOpcode::kConstant) return FollowConstant(element, when);
  if (opcode == HloOpcode::kIota) return FollowIota(element, when);
  if (opcode == HloOpcode::kParameter) return FollowParameter(element, when);
  if (opcode == HloOpcode::kDynamicSlice) return FollowDynamicSlice(element, when);
  if (element.instruction->inlined_computation() != nullptr || opcode == HloOpcode::kConditional) {
    return FollowCall(element, when, range);
  }
  if (MovesElements(opcode)) return FollowMovement(element, when);
  if (opcode == HloOpcode::kSelect) return FollowSelect(element, when, range);
  if (opcode == HloOpcode::kReduce) return FollowReduce(element, when);
  if (!IsElementwise(opcode)) return std::nullopt;
  if (element.is_factor) {
    if (auto factor = FollowFactor(element, when)) return factor;
  }
  return FollowArithmetic(element, when, range);
}

std::optional<ValueCases> ElementEvaluator::EvaluateWithout(const HloInstruction& instruction,
                                                            int64_t operand,
                                                            llvm::ArrayRef<AffineExpr> element,
                                                            AffineExpr* without) {
  const Element result = {&instruction, 0, {element.begin(), element.end()}, {}, {}};
  *without = Unknown(result.OfOperand(operand), {}).front().value;
  return FollowArithmetic(result, {}, /*range=*/nullptr, operand);
}

std::optional<ValueCases> ElementEvaluator::FollowConstant(const Element& element,
                                                           const Constraints& when) {
  const Literal* literal = element.instruction->literal();
  if (literal == nullptr || literal->IsElided() || !literal->shape().IsArray()) {
    return std::nullopt;
  }
  return OfLiteral(*literal, element, when);
}

std::optional<ValueCases> ElementEvaluator::OfLiteral(const Literal& literal,
                                                      const Element& element,
                                                      const Constraints& when) {
  const bool is_integer = HoldsIntegers(literal.shape().element_type());
  std::optional<ValueCases> integers;
  if (is_integer) integers = LiteralValue(literal, element.index, when, variables_);
  const bool is_one_case = integers && integers->size() == 1;
  if (KeepsPartialValues() && element.index.size() > 1 && !is_one_case) {
    if (auto regions = RegionsOfLiteral(literal, element.index, when, variables_)) return regions;
  }
  if (is_integer) return integers;
  if (!HoldsFloats(literal.shape().element_type())) return std::nullopt;
  AffineExpr position = Constant(0, context());
  for (const auto [k, index] : llvm::enumerate(element.index)) {
    position = Add(Scale(position, literal.shape().dimension(static_cast<int64_t>(k))), index);
  }
  return FloatOfLiteral(literal, position, when, variables_);
}

std::optional<ValueCases> ElementEvaluator::FollowArray(const Element& element,
                                                        const Constraints& when) {
  const Literal* literal =
      environment_.KnownArray(*element.instruction, element.leaf, element.path);
  return literal != nullptr ? OfLiteral(*literal, element, when) : std::nullopt;
}

std::optional<ValueCases> ElementEvaluator::FollowIota(const Element& element,
                                                       const Constraints& when) {
  const int64_t dim = element.instruction->iota_dimension();
  if (dim < 0 || dim >= static_cast<int64_t>(element.index.size())) return std::nullopt;
  if (HoldsFloats(element.type())) {
    return FloatOfInteger(element.index[dim], element.type(), when, variables_);
  }
  return variables_.Fitting(element.index[dim], element.type(), when);
}

std::optional<Constraints> ElementEvaluator::WhereMapped(const IndexingMap& map,
                                                         llvm::ArrayRef<AffineExpr> index,
                                                         const Constraints& when) const {
  Constraints where = when;
  bool is_decided = true;
  const auto restrict_to = [&](AffineExpr expr, const Interval& interval) {
    const Interval range = RangeOf(expr, where);
    const bool is_empty = range.Intersect(interval).IsEmpty();
    if (!is_empty && range.IsSubsetOf(interval)) return true;
    is_decided = is_decided && MayTellApart(expr);
    where.push_back({expr, is_empty ? Interval::Empty() : interval});
    return !is_empty;
  };
  for (const auto [expr, dim] : llvm::zip_equal(index, map.dims())) {
    if (!restrict_to(expr, dim.bounds)) return where;
  }
  for (const Constraint& constraint : map.constraints()) {
    const AffineExpr expr = Substitute(constraint.expr, index, {});
    if (!expr) return std::nullopt;
    if (!restrict_to(expr, constraint.interval)) return where;
  }
  if (!is_decided) return std::nullopt;
  return where;
}

std::optional<ValueCases> ElementEvaluator::FollowMovement(const Element& element,
                                                           const Constraints& when) {
  IndexingOptions options;
  options.exact = true;
  options.fold_runtime_variables = false;
  const absl::StatusOr<InstructionIndexing> entries =
      OperationMaps(*element.instruction, Direction::kOutputToInput, context(), options,
                    OperandLeaf{0, element.leaf});
  if (!entries.ok()) return std::nullopt;
  ValueCases cases;
  for (const IndexingEntry& entry : *entries) {
    for (const OperandIndexing& indexing : entry.indexing) {
      const IndexingMap& map = indexing.map();
      const HloInstruction* operand = element.instruction->operand(entry.operand);
      Element source = element.Of(operand, entry.operand_leaf, {});
      source.is_factor = element.is_factor;
      if (!indexing.IsExact() || map.num_symbols() > 0 || source.type() != element.type()) {
        return std::nullopt;
      }
      const std::optional<Constraints> where = WhereMapped(map, element.index, when);
      if (!where) return std::nullopt;
      if (IsNowhere(*where)) continue;
      for (AffineExpr result : map.results()) {
        source.index.push_back(Substitute(result, element.index, {}));
        if (!source.index.back()) return std::nullopt;
      }
      llvm::append_range(cases, EvaluateWhere(source, *where));
    }
  }
  return cases;
}

std::optional<ValueCases> ElementEvaluator::FollowParameter(const Element& element,
                                                            const Constraints& when) {
  if (element.path.empty()) return FollowOnlyCaller(element, when);
  const HloInstruction& caller = *element.path.back();
  const HloInstruction* loop = environment_.loop();
  Element passed = element;
  passed.path.pop_back();
  if (loop != nullptr && loop == &caller) {
    if (const AffineExpr value = environment_.ValueOfState(element.leaf)) {
      return variables_.Fitting(value, element.type(), when);
    }
    passed.instruction = loop->operand(0);
    if (environment_.tells_apart() == ValueEnvironment::TellsApart::kInitialValues) {
      if (const AffineExpr added = environment_.AddedTo(element.leaf)) {
        return FollowCount(passed, added, when);
      }
    }
    if (!environment_.IsInitial(element.leaf)) return std::nullopt;
  } else if (caller.opcode() == HloOpcode::kWhile) {
    if (caller.while_body() != element.instruction->parent() || passed.iterations.empty()) {
      return std::nullopt;
    }
    const AffineExpr number = passed.iterations.pop_back_val();
    passed.instruction = caller.operand(0);
    if (!IsPassedThrough(caller, element.leaf)) {
      std::optional<ValueCases> cases = environment_.InIteration(
          {caller, passed.path, passed.iterations}, variables_.domain(), element.leaf, number);
      if (!cases) return std::nullopt;
      ValueCases here;
      for (ValueCase& each : *cases) {
        each.when.insert(each.when.begin(), when.begin(), when.end());
        if (!RangeOf(each.value, each.when).IsEmpty()) here.push_back(std::move(each));
      }
      return here;
    }
  } else if (caller.inlined_computation() == element.instruction->parent()) {
    passed.instruction = caller.operand(element.instruction->parameter_number());
  } else if (caller.opcode() == HloOpcode::kConditional) {
    // Two branches that are one computation are given different operands.
    const auto branches = caller.branch_computations();
    if (absl::c_count(branches, element.instruction->parent()) != 1) return std::nullopt;
    const auto branch = absl::c_find(branches, element.instruction->parent());
    passed.instruction = caller.operand(1 + (branch - branches.begin()));
  } else {
    return std::nullopt;
  }
  return EvaluateWhere(passed, when);
}

std::optional<ValueCases> ElementEvaluator::FollowOnlyCaller(const Element& element,
                                                             const Constraints& when) {
  if (!KeepsPartialValues()) return std::nullopt;
  const std::optional<LeafSource> passed =
      environment_.PassedByOnlyCaller(*element.instruction, element.leaf);
  if (!passed) return std::nullopt;
  const HloComputation* caller = passed->instruction->parent();
  const auto is_of_caller = [&](const RuntimeVarIndexing& unknown) {
    const HloInstruction& source =
        unknown.call_path.empty() ? *unknown.instruction : *unknown.call_path.front();
    return source.parent() == caller;
  };
  ValueCases cases = EvaluateWhere(
      {passed->instruction, passed->leaf, element.index, {}, {}, element.is_factor}, when);
  // The caller's own elements have no name here. What it says of scalars it knows, and may be asked for.
  for (const ValueCase& each : cases) {
    if (llvm::any_of(each.when, [&](const Constraint& constraint) {
          return MentionsUnknown(constraint.expr, is_of_caller);
        })) {
      SetMissed(*element.instruction);
      return std::nullopt;
    }
    if (!element.index.empty() && MentionsUnknown(each.value, is_of_caller) &&
        MayTellApart(each.value)) {
      SetMissed(*element.instruction);
    }
  }
  return WithOwnUnknowns(std::move(cases), element, is_of_caller);
}

bool ElementEvaluator::MentionsUnknown(AffineExpr expr, UnknownPredicate is_such) const {
  if (!expr) return false;
  llvm::BitVector symbols(FirstUnknown() + unknowns().size());
  MarkSymbols(expr, &symbols);
  return llvm::any_of(llvm::enumerate(unknowns()), [&](const auto& unknown) {
    return symbols.test(FirstUnknown() + unknown.index()) && is_such(unknown.value());
  });
}

ValueCases ElementEvaluator::WithOwnUnknowns(ValueCases cases, const Element& element,
                                             UnknownPredicate is_foreign) {
  for (ValueCase& each : cases) {
    if (MentionsUnknown(each.value, is_foreign)) each = Unknown(element, each.when).front();
  }
  return MergeCases(std::move(cases));
}

std::optional<ValueCases> ElementEvaluator::FollowCount(const Element& initial, AffineExpr added,
                                                        const Constraints& when) {
  ValueCases cases;
  for (const ValueCase& begun : EvaluateWhere(initial, when)) {
    std::optional<ValueCases> counted =
        variables_.Wrapping(Add(begun.value, added), initial.type(), begun.when);
    if (!counted) return std::nullopt;
    llvm::append_range(cases, *counted);
  }
  return cases;
}

std::vector<std::pair<const HloComputation*, Constraints>> ElementEvaluator::CalledWhere(
    const Element& element, const Constraints& when) {
  const HloInstruction& call = *element.instruction;
  if (call.opcode() != HloOpcode::kConditional) return {{call.inlined_computation(), when}};
  const auto branches = call.branch_computations();
  const auto count = static_cast<int64_t>(branches.size());
  if (call.operand_count() != 1 + count || !call.operand(0)->shape().IsScalar()) return {};
  const bool is_pred = IsPred(call.operand(0)->shape().element_type());
  std::vector<std::pair<const HloComputation*, Constraints>> called;
  const auto add = [&](int64_t branch, const ValueCase& index, const Interval& values) {
    const Interval range = RangeOf(index.value, index.when);
    if (range.Intersect(values).IsEmpty()) return;
    called.emplace_back(branches[branch], index.when);
    if (!range.IsSubsetOf(values)) called.back().second.push_back({index.value, values});
  };
  for (const ValueCase& index : EvaluateWhere(element.Of(call.operand(0), 0, {}), when)) {
    if (!index.value || HasUnknown(index.value)) {
      called.emplace_back(nullptr, index.when);
      continue;
    }
    // True is the first branch; an index outside is the last one.
    for (int64_t i = 0; i + 1 < count; ++i) add(i, index, Interval::Point(is_pred ? 1 : i));
    if (!is_pred) add(count - 1, index, Interval::AtMost(-1));
    add(count - 1, index, is_pred ? Interval::Point(0) : Interval::AtLeast(count - 1));
    if (called.size() > kMaxValueCases) return {};
  }
  return called;
}

std::optional<ValueCases> ElementEvaluator::FollowCall(const Element& element,
                                                       const Constraints& when, Interval* range) {
  ValueCases cases;
  for (const auto& [called, where] : CalledWhere(element, when)) {
    Element root = element;
    root.instruction = called != nullptr ? called->root_instruction() : nullptr;
    if (root.instruction == nullptr && KeepsPartialValues()) {
      llvm::append_range(cases, Unknown(element, where));
      continue;
    }
    if (root.instruction == nullptr) return std::nullopt;
    root.path.push_back(element.instruction);
    llvm::append_range(cases, EvaluateWhere(root, where));
  }
  if (cases.empty() || cases.size() > kMaxValueCases) return std::nullopt;
  // What is not known inside is the call's own element, under its own name; scalars inside may tell partial
  // values apart.
  const auto is_inside = [&](const RuntimeVarIndexing& unknown) {
    return unknown.call_path.size() > element.path.size();
  };
  if (KeepsPartialValues()) return WithOwnUnknowns(std::move(cases), element, is_inside);
  for (const ValueCase& each : cases) {
    if (MentionsUnknown(each.value, is_inside) ||
        llvm::any_of(each.when, [&](const Constraint& constraint) {
          return MentionsUnknown(constraint.expr, is_inside);
        })) {
      if (range != nullptr) *range = RangeOfCases(cases);
      return std::nullopt;
    }
  }
  return cases;
}

std::optional<ValueCases> ElementEvaluator::FollowDynamicSlice(const Element& element,
                                                               const Constraints& when) {
  const HloInstruction& slice = *element.instruction;
  const Shape& array = slice.operand(0)->shape();
  if (slice.operand_count() != 1 + array.rank()) return std::nullopt;
  struct Partial {
    Constraints when;
    llvm::SmallVector<AffineExpr, 4> index;
  };
  std::vector<Partial> partials = {{when, {}}};
  const Missed before = missed_;
  bool is_at_unknown = false;
  for (int64_t i = 0; i < array.rank(); ++i) {
    const HloInstruction* start = slice.operand(1 + i);
    if (!start->shape().IsScalar()) return std::nullopt;
    AffineExpr last = Constant(array.dimension(i) - slice.shape().dimension(i), context());
    std::vector<Partial> extended;
    for (const Partial& partial : partials) {
      for (const ValueCase& value : EvaluateWhere(element.Of(start, 0, {}), partial.when)) {
        if (!value.value) return std::nullopt;
        const std::optional<ValueCases> clamped =
            ClampValue(Constant(0, context()), value.value, last, value.when, variables_);
        // A place that is not known is followed where it is known to be inside.
        const bool is_unknown = HasUnknown(value.value);
        is_at_unknown = is_at_unknown || is_unknown;
        if (!clamped || (is_unknown && clamped->size() > 1)) return std::nullopt;
        for (const ValueCase& origin : *clamped) {
          AffineExpr index = Add(element.index[i], origin.value);
          if (!index) return std::nullopt;
          extended.push_back({origin.when, partial.index});
          extended.back().index.push_back(index);
        }
      }
    }
    partials = std::move(extended);
    if (partials.size() > kMaxValueCases) return std::nullopt;
  }
  ValueCases cases;
  for (const Partial& partial : partials) {
    Element source = element.Of(slice.operand(0), 0, partial.index);
    source.is_factor = element.is_factor;
    llvm::append_range(cases, EvaluateWhere(source, partial.when));
  }
  if (!is_at_unknown) return cases;
  // An element at such a place has no name but that of the slice.
  const auto is_at_unknown_place = [&](const RuntimeVarIndexing& unknown) {
    return llvm::any_of(unknown.element, [&](AffineExpr index) { return HasUnknown(index); });
  };
  for (const ValueCase& each : cases) {
    if (MentionsUnknown(each.value, is_at_unknown_place) ||
        llvm::any_of(each.when, [&](const Constraint& constraint) {
          return MentionsUnknown(constraint.expr, is_at_unknown_place);
        })) {
      missed_ = before;
      return std::nullopt;
    }
  }
  return cases;
}

std::optional<ValueCases> ElementEvaluator::FollowSelect(const Element& element,
                                                         const Constraints& when, Interval* range) {
  const auto operand_element = [&](int64_t i) {
    Element source = element.OfOperand(i);
    source.is_factor = element.is_factor && i > 0;
    return source;
  };
  if (!element.instruction->shape().IsArray()) return std::nullopt;
  ValueCases cases;
  for (const ValueCase& predicate : EvaluateWhere(operand_element(0), when)) {
    const std::optional<int64_t> value = ConstantIn(predicate.value);
    if (!value && KeepsPartialValues()) {
      // Whichever is chosen, where both are the same.
      std::optional<ValueCases> either =
          FollowArithmetic(element, predicate.when, /*range=*/nullptr, /*without=*/0);
      if (!either) return std::nullopt;
      llvm::append_range(cases, *std::move(either));
      if (cases.size() > kMaxValueCases) return std::nullopt;
      continue;
    }
    if (!value) {
      if (range == nullptr || !HoldsIntegers(element.type())) return std::nullopt;
      *range = RangeOfCases(EvaluateWhere(operand_element(1), when))
                   .Union(RangeOfCases(EvaluateWhere(operand_element(2), when)));
      return std::nullopt;
    }
    ValueCases chosen = EvaluateWhere(operand_element(*value != 0 ? 1 : 2), predicate.when);
    cases.insert(cases.end(), chosen.begin(), chosen.end());
    if (cases.size() > kMaxValueCases) return std::nullopt;
  }
  return MergeCases(std::move(cases));
}

std::optional<ValueCases> ElementEvaluator::FollowReduce(const Element& element,
                                                         const Constraints& when) {
  const HloInstruction& reduce = *element.instruction;
  if (reduce.operand_count() != 2 || reduce.to_apply() == nullptr) return std::nullopt;
  const HloInstruction* root = reduce.to_apply()->root_instruction();
  if (root == nullptr || !IsOrderlessCombiner(*root) || !HoldsIntegers(element.type())) {
    return std::nullopt;
  }
  const HloInstruction* array = reduce.operand(0);
  const HloInstruction* initial = reduce.operand(1);
  if (array->shape().element_type() != element.type() ||
      initial->shape().element_type() != element.type() ||
      root->shape().element_type() != element.type()) {
    return std::nullopt;
  }
  llvm::SmallVector<Interval, 4> box;
  Element source = element.Of(array, 0, {});
  size_t next = 0;
  for (int64_t i = 0; i < array->shape().rank(); ++i) {
    const bool is_reduced = llvm::is_contained(reduce.dimensions(), i);
    box.push_back(is_reduced ? Interval::OfSize(array->shape().dimension(i)) : Interval::Point(0));
    source.index.push_back(is_reduced ? AffineExpr() : element.index[next++]);
  }
  const std::optional<int64_t> count = NumPoints(box);
  if (!count || *count > kMaxReducedElements) return std::nullopt;
  ValueCases cases = EvaluateWhere(element.Of(initial, 0, {}), when);
  llvm::SmallVector<int64_t, 4> at;
  if (!FirstPoint(box, &at)) return cases;
  do {
    Element each = source;
    for (size_t i = 0; i < at.size(); ++i) {
      if (!each.index[i]) each.index[i] = Constant(at[i], context());
    }
    ValueCases combined;
    for (const ValueCase& before : cases) {
      for (const ValueCase& value : EvaluateWhere(each, before.when)) {
        if (RangeOf(value.value, value.when).IsEmpty()) continue;
        std::optional<ValueCases> result =
            ApplyToIntegers(*root, {before.value, value.value}, value.when, variables_);
        if (!result) return std::nullopt;
        llvm::append_range(combined, *result);
      }
      if (combined.size() > kMaxValueCases) return std::nullopt;
    }
    cases = MergeCases(std::move(combined));
  } while (NextPoint(box, absl::MakeSpan(at)));
  return cases;
}

Interval ValuesOfRuntime(const OperandIndexing& indexing, int i) {
  const IndexingMap& map = indexing.map();
  const RuntimeVarIndexing& binding = indexing.bindings()[i];
  const Interval values = binding.ValueRange();
  const bool is_element = binding.value.kind() != ValueFunction::Kind::kIterations &&
                          !binding.device &&
                          static_cast<int64_t>(binding.element.size()) == binding.shape().rank() &&
                          HoldsIntegers(binding.shape().element_type()) && !map.IsKnownEmpty();
  if (!is_element) return values;
  Domain domain = Domain::Of(map);
  domain.runtimes.truncate(i);
  ElementEvaluator evaluator(std::move(domain), map.context());
  evaluator.FindRangesOfUnknowns();
  Interval range = Interval::Empty();
  for (const ValueCase& each :
       evaluator.Evaluate(binding.instruction, binding.leaf, binding.element, binding.call_path)) {
    range = range.Union(evaluator.RangeOf(each.value, each.when));
  }
  return binding.value.Apply(range).Intersect(values);
}

}  // namespace xla_indexing::internal
