#include "xla_indexing/ops/decisions/value_origins.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/btree_map.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/ops/values/cases/float_values.h"
#include "xla_indexing/ops/values/cases/numbers.h"
#include "xla_indexing/ops/values/cases/sure_values.h"
#include "xla_indexing/ops/values/element_value.h"

namespace xla_indexing::internal {
namespace {

// A literal of more elements is taken to have some that decide.
constexpr int64_t kMaxElementsToLookAt = 4096;
// What more callers pass is not looked at.
constexpr size_t kMaxCallers = 64;

struct DecisiveElements {
  bool zero = false;
  bool infinite = false;
  bool large = false;  // or an integer of that size
};

// Whether a literal may have elements that decide the result of an operation whatever else it is applied
// to: 0, integers with all bits set or the greatest and least of their type, large floats.
DecisiveElements FindDecisive(const Literal& literal) {
  const Shape& shape = literal.shape();
  if (!shape.IsArray() || literal.IsElided()) return {.large = true};
  const ElementType type = shape.element_type();
  const bool is_float = HoldsFloats(type);
  if (!is_float && !HoldsIntegers(type) && !IsComplex(type)) return {.large = true};
  const int64_t count =
      literal.IsSplat() ? std::min<int64_t>(literal.ElementCount(), 1) : literal.ElementCount();
  if (IsPred(type)) return {.zero = true};
  if (count > kMaxElementsToLookAt) return {true, is_float, true};
  const Interval values = ValuesOfElementType(type);
  DecisiveElements found;
  found.large = IsComplex(type);
  for (int64_t i = 0; i < count; ++i) {
    if (IsComplex(type)) {
      found.zero = found.zero || (literal.BitsAt(i, 0) == 0 && literal.BitsAt(i, 1) == 0);
      continue;
    }
    if (!is_float) {
      const std::optional<int64_t> value = literal.IntegerAt(i);
      found.zero = found.zero || !value || *value == 0 || *value == -1 ||
                   (values.has_upper() && *value == values.upper()) ||
                   (values.has_lower() && *value == values.lower());
      found.large = found.large || !value || std::abs(static_cast<double>(*value)) >= kInfinite;
      continue;
    }
    const llvm::APFloat value = FloatAt(literal, i);
    found.zero = found.zero || value.isZero();
    found.infinite = found.infinite || IsInfinite(value);
    found.large = found.infinite;
  }
  return found;
}

// The operands of an operation whose result has elements of them at places that are not followed;
// nothing of other operations.
std::optional<llvm::SmallVector<int64_t, 4>> ArraysPlaced(const HloInstruction& instruction) {
  const int64_t count = instruction.operand_count();
  llvm::SmallVector<int64_t, 4> arrays;
  switch (instruction.opcode()) {
    case HloOpcode::kDynamicUpdateSlice:
      return {{0, 1}};
    case HloOpcode::kGather:
      return {{0}};
    case HloOpcode::kScatter:
      for (int64_t i = 0; i < count; ++i) {
        if (i != count / 2) arrays.push_back(i);
      }
      return arrays;
    case HloOpcode::kSort:
      for (int64_t i = 0; i < count; ++i) arrays.push_back(i);
      return arrays;
    default:
      return std::nullopt;
  }
}

}  // namespace

bool DecidesReads(HloOpcode opcode) {
  switch (opcode) {
    case HloOpcode::kSelect:
    case HloOpcode::kAnd:
    case HloOpcode::kOr:
    case HloOpcode::kMultiply:
    case HloOpcode::kMaximum:
    case HloOpcode::kMinimum:
    case HloOpcode::kAdd:
    case HloOpcode::kSubtract:
    case HloOpcode::kDivide:
    case HloOpcode::kConvolution:
    case HloOpcode::kClamp:
    case HloOpcode::kDot:
    case HloOpcode::kReduce:
    case HloOpcode::kReduceWindow:
    case HloOpcode::kScatter:
      return true;
    default:
      return false;
  }
}

struct ValueOrigins::OfOperands {
  const HloInstruction& instruction;
  const std::vector<Origins>& before;
  Origins all = {};  // of all of them together
  bool all_fixed = true;

  OfOperands(const HloInstruction& of, const std::vector<Origins>& known)
      : instruction(of), before(known) {
    for (int64_t i = 0; i < of.operand_count(); ++i) {
      const Origins& each = Of(i);
      all = Union(all, each);
      all_fixed = all_fixed && each.fixed;
    }
  }

  static Origins Union(const Origins& a, const Origins& b) {
    return {a.fixed || b.fixed, a.zero || b.zero,     a.infinite || b.infinite, a.data || b.data,
            a.given || b.given, a.scalar || b.scalar, a.large || b.large};
  }
  const Origins& Of(int64_t i) const {
    return before[static_cast<size_t>(instruction.operand(i)->index_in_computation())];
  }
  // What some of them may be, made of all.
  Origins Any(llvm::ArrayRef<int64_t> some) const {
    Origins any;
    for (const int64_t i : some) any = Union(any, Of(i));
    any.data = all.data;
    any.given = all.given;
    any.scalar = all.scalar;
    return any;
  }
  // A value that is not followed, made of all operands: an array of the module may still be computed whole.
  Origins NotFollowed(bool data) const {
    const bool may_be_fixed = !data && !all.given;
    return {may_be_fixed, may_be_fixed, may_be_fixed, data, all.given};
  }
};

ValueOrigins::Origins ValueOrigins::Find(const HloInstruction& instruction,
                                         const std::vector<Origins>& before) {
  const OfOperands operands(instruction, before);
  const HloOpcode opcode = instruction.opcode();
  switch (opcode) {
    case HloOpcode::kParameter:
      if (ArgumentFor(instruction) != nullptr) return {true, true, true, false, false};
      return OriginsOfParameter(instruction, instruction.shape().IsTuple() ? -1 : 0);
    case HloOpcode::kGetTupleElement:
      if (instruction.operand(0)->opcode() == HloOpcode::kParameter &&
          instruction.shape().IsArray()) {
        const LeafSource source = FollowRoutes({&instruction, 0});
        return OriginsOfParameter(*source.instruction, source.leaf);
      }
      break;
    case HloOpcode::kConstant: {
      const Literal* literal = instruction.literal();
      if (literal == nullptr || literal->IsElided()) return operands.NotFollowed(/*data=*/true);
      const DecisiveElements found = FindDecisive(*literal);
      return {true, found.zero, found.infinite, false, false};
    }
    case HloOpcode::kIota:
      return {true, true, false, false, false};
    default:
      break;
  }
  // Elements of operands, at places that are not followed; but for the operands of places.
  if (const auto arrays = ArraysPlaced(instruction)) {
    Origins placed = operands.Any(*arrays);
    // Where nothing is known of the keys, it is not known what is where.
    if (opcode == HloOpcode::kSort && !HasFixedKey(operands)) {
      placed.fixed = placed.zero = placed.infinite = false;
    }
    return placed;
  }
  if (!instruction.called_computations().empty() && opcode != HloOpcode::kReduce) {
    return FindOfCall(operands);
  }
  const Shape& shape = instruction.shape();
  const bool is_float = shape.IsArray() && HoldsFloats(shape.element_type());
  const bool is_followed = MayBeFollowed(instruction) &&
                           (!shape.IsArray() || is_float || HoldsIntegers(shape.element_type()));
  if (!is_followed) {
    return operands.NotFollowed(operands.all.data || IsOpaque(opcode) ||
                                instruction.operands().empty());
  }
  if (opcode == HloOpcode::kDynamicSlice) return operands.Any(0);
  if (opcode == HloOpcode::kReduce) {
    // Only sums of integers are followed.
    if (is_float) return operands.NotFollowed(operands.all.data);
    Origins origins = operands.Any(0);
    origins.zero = origins.fixed;
    return origins;
  }
  return IsElementwise(opcode) ? FindOfElementwise(operands, is_float) : operands.all;
}

bool ValueOrigins::FindLarge(const HloInstruction& instruction,
                             const std::vector<Origins>& before) {
  const HloOpcode opcode = instruction.opcode();
  if (opcode == HloOpcode::kParameter) {
    return !instruction.parent()->is_entry() || ArgumentFor(instruction) != nullptr;
  }
  if (opcode == HloOpcode::kConstant) {
    return instruction.literal() == nullptr || FindDecisive(*instruction.literal()).large;
  }
  if (OfOperands(instruction, before).all.large) return true;
  return absl::c_any_of(instruction.called_computations(), [&](const HloComputation* called) {
    return called == nullptr || called->root_instruction() == nullptr ||
           Of(*called->root_instruction()).large;
  });
}

bool ValueOrigins::HasFixedKey(const OfOperands& sort) {
  const HloComputation* comparator = sort.instruction.to_apply();
  return comparator == nullptr ||
         absl::c_any_of(comparator->parameters(), [&](const HloInstruction* parameter) {
           const int64_t operand = parameter->parameter_number() / 2;
           return !parameter->users().empty() &&
                  (operand >= sort.instruction.operand_count() || sort.Of(operand).fixed);
         });
}

ValueOrigins::Origins ValueOrigins::FindOfCall(const OfOperands& operands) {
  const HloInstruction& call = operands.instruction;
  if (const HloComputation* called = call.inlined_computation()) {
    const HloInstruction* root = called->root_instruction();
    if (root == nullptr) return operands.NotFollowed(/*data=*/true);
    const Origins of_root = Of(*root);
    if (!of_root.given) return of_root;
    return {of_root.fixed || operands.all.fixed, true, true, of_root.data || operands.all.data,
            operands.all.given};
  }
  if (call.opcode() == HloOpcode::kConditional) {
    Origins chosen = operands.all;
    for (const HloComputation* branch : call.branch_computations()) {
      const HloInstruction* root = branch != nullptr ? branch->root_instruction() : nullptr;
      if (root == nullptr) return operands.NotFollowed(/*data=*/true);
      chosen = OfOperands::Union(chosen, Of(*root));
    }
    return {chosen.fixed, chosen.fixed, chosen.fixed, chosen.data, operands.all.given};
  }
  const auto is_of_data = [&](const HloComputation* called) {
    return called == nullptr ||
           absl::c_any_of(called->instructions(),
                          [&](const HloInstruction* each) { return Of(*each).data; });
  };
  return operands.NotFollowed(operands.all.data || IsOpaque(call.opcode()) ||
                              absl::c_any_of(call.called_computations(), is_of_data));
}

ValueOrigins::Origins ValueOrigins::FindOfElementwise(const OfOperands& operands,
                                                      bool is_float) const {
  const Origins& all = operands.all;
  const HloOpcode opcode = operands.instruction.opcode();
  // Cases are distinguished by integers, and not by floats that are made of them.
  const bool is_scalar = all.scalar && opcode != HloOpcode::kCompare;
  const bool is_data = all.data || (is_scalar && is_float && opcode != HloOpcode::kSelect);
  const auto known = [&](bool fixed, bool zero, bool infinite) {
    return Origins{fixed, fixed && zero, fixed && infinite, is_data, all.given, is_scalar};
  };
  if (opcode == HloOpcode::kSelect) {
    // Where the predicate is not known, the result is if both values are the same.
    const Origins chosen = operands.Any({1, 2});
    const bool are_both = operands.Of(1).fixed && operands.Of(2).fixed;
    return known(are_both || (operands.Of(0).fixed && chosen.fixed), chosen.zero, chosen.infinite);
  }
  const bool is_finite = dependence_ == Dependence::kFiniteValues;
  const bool is_exponential = opcode == HloOpcode::kExponential;
  if (operands.all_fixed) {
    // What is computed of known values may be anything; but these are nowhere 0, and exp(x) only where x is
    // -infinity.
    const bool is_nowhere_zero = opcode == HloOpcode::kCosine || opcode == HloOpcode::kCosh ||
                                 (is_exponential && !all.infinite);
    return known(true, !is_nowhere_zero, true);
  }
  if (is_exponential) return known(is_finite && all.infinite, true, false);
  // What is sure of the result with one operand (ops/values/cases/sure_values.h).
  if (is_float && !is_finite) return known(false, false, false);
  switch (opcode) {
    case HloOpcode::kClamp:
      return known(operands.Of(0).fixed && operands.Of(2).fixed, true, true);
    case HloOpcode::kAnd:
    case HloOpcode::kOr:
    case HloOpcode::kMultiply:
      return known(all.zero, true, false);
    case HloOpcode::kMaximum:
    case HloOpcode::kMinimum:
      return is_float ? known(all.infinite, false, true) : known(all.zero, true, false);
    case HloOpcode::kAdd:
    case HloOpcode::kSubtract:
      return known(is_float && all.infinite, false, true);
    case HloOpcode::kDivide:
      return known(is_float && (operands.Of(0).zero || operands.Of(1).infinite), true, false);
    default:
      return known(false, false, false);
  }
}

const std::vector<const HloInstruction*>& ValueOrigins::CallersOf(
    const HloComputation& computation) {
  if (module_ != computation.parent()) {
    module_ = computation.parent();
    callers_.clear();
    for (const HloComputation* caller : module_->computations()) {
      for (const HloInstruction* instruction : caller->instructions()) {
        for (const HloComputation* called : instruction->called_computations()) {
          if (called != nullptr) callers_[called].push_back(instruction);
        }
      }
    }
  }
  return callers_[&computation];
}

std::optional<LeafSource> ValueOrigins::PassedFor(const HloInstruction& parameter, int64_t leaf) {
  std::optional<LeafSource> passed;
  const std::vector<const HloInstruction*>& callers = CallersOf(*parameter.parent());
  if (callers.size() > kMaxCallers) return std::nullopt;
  for (const HloInstruction* caller : callers) {
    std::optional<LeafSource> next = PassedBy(*caller, parameter, leaf);
    if (!next) return std::nullopt;
    *next = FollowRoutes(*next);
    const bool is_same =
        !passed || (passed->instruction == next->instruction && passed->leaf == next->leaf);
    if (!is_same) return std::nullopt;
    passed = next;
  }
  return passed;
}

std::optional<LeafSource> ValueOrigins::PassedBy(const HloInstruction& caller,
                                                 const HloInstruction& parameter, int64_t leaf) {
  const HloComputation* computation = parameter.parent();
  if (caller.inlined_computation() == computation) {
    return LeafSource{caller.operand(parameter.parameter_number()), leaf};
  }
  if (caller.opcode() == HloOpcode::kConditional) {
    const auto branches = caller.branch_computations();
    // Two branches that are one computation are given different operands.
    if (absl::c_count(branches, computation) != 1) return std::nullopt;
    const auto branch = absl::c_find(branches, computation);
    return LeafSource{caller.operand(1 + (branch - branches.begin())), leaf};
  }
  if (caller.opcode() != HloOpcode::kWhile) return std::nullopt;
  const auto [it, is_new] = passed_through_.try_emplace(&caller);
  if (is_new) it->second = LeavesPassedThrough(caller);
  if (!it->second[static_cast<size_t>(leaf)]) return std::nullopt;
  return LeafSource{caller.operand(0), leaf};
}

ValueOrigins::Origins ValueOrigins::OriginsOfParameter(const HloInstruction& parameter,
                                                       int64_t leaf) {
  Origins origins;
  origins.data = parameter.parent()->is_entry();
  origins.given = !origins.data;
  if (origins.data) return origins;
  if (leaf < 0) return origins;
  // Whether a constant or an iota is part of what is passed, as far as that is found soon.
  constexpr size_t kMaxSources = 256;
  std::vector<LeafSource> pending = {{&parameter, leaf}};
  for (size_t looked_at = 0; !pending.empty() && looked_at < kMaxSources; ++looked_at) {
    const LeafSource next = FollowRoutes(pending.back());
    pending.pop_back();
    const HloInstruction& source = *next.instruction;
    if (source.opcode() == HloOpcode::kConstant || source.opcode() == HloOpcode::kIota) {
      origins.fixed = origins.zero = origins.infinite = true;
      break;
    }
    if (source.opcode() == HloOpcode::kParameter) {
      const std::vector<const HloInstruction*>& callers = CallersOf(*source.parent());
      if (callers.size() > kMaxCallers) {
        origins.fixed = origins.zero = origins.infinite = true;
        break;
      }
      for (const HloInstruction* caller : callers) {
        if (const auto passed = PassedBy(*caller, source, next.leaf)) pending.push_back(*passed);
      }
      continue;
    }
    if (source.inlined_computation() != nullptr || source.opcode() == HloOpcode::kConditional) {
      for (const HloComputation* called : source.called_computations()) {
        if (called == nullptr || called->root_instruction() == nullptr) continue;
        pending.push_back({called->root_instruction(), next.leaf});
      }
      continue;
    }
    if (!MayBeFollowed(source)) continue;
    for (const HloInstruction* operand : source.operands()) pending.push_back({operand, 0});
  }
  // What was not looked at may be known.
  if (!pending.empty()) origins.fixed = origins.zero = origins.infinite = true;
  return origins;
}

ValueOrigins::Origins ValueOrigins::Of(const HloInstruction& instruction) {
  const HloComputation* computation = instruction.parent();
  const auto position = static_cast<size_t>(instruction.index_in_computation());
  if (const auto known = known_.find(computation); known != known_.end()) {
    return known->second[position];
  }
  // Computations that are called come first.
  std::vector<const HloComputation*> pending = {computation};
  while (!pending.empty()) {
    const HloComputation& next = *pending.back();
    const size_t size = pending.size();
    if (!known_.contains(&next)) {
      for (const HloInstruction* each : next.instructions()) {
        for (const HloComputation* called : each->called_computations()) {
          if (called != nullptr && !known_.contains(called)) pending.push_back(called);
        }
      }
      if (pending.size() > size) continue;
      std::vector<Origins> origins(static_cast<size_t>(next.instruction_count()));
      for (const HloInstruction* each : next.instructions()) {
        Origins& own = origins[static_cast<size_t>(each->index_in_computation())];
        own = Find(*each, origins);
        own.large = FindLarge(*each, origins);
        // One number for all elements, which cases may be distinguished by.
        if (each->shape().IsScalar() && HoldsIntegers(each->shape().element_type())) {
          own = {true, true, false, false, false, own.data || own.given || own.scalar, own.large};
        }
      }
      known_.emplace(&next, std::move(origins));
    }
    pending.pop_back();
  }
  return known_.find(computation)->second[position];
}

const Literal* ValueOrigins::KnownArray(const HloInstruction& instruction, int64_t leaf,
                                        const CallPath& path, mlir::MLIRContext* context) {
  // What is left undone for want of steps would be remembered.
  if (QuestionBudget::IsSpent()) return nullptr;
  const KnownLeaves& leaves = ArraysOf(instruction, path, context);
  if (QuestionBudget::IsSpent() && given_to_ == nullptr) {
    arrays_.clear();
    return nullptr;
  }
  return leaf < static_cast<int64_t>(leaves.size()) ? leaves[static_cast<size_t>(leaf)].get()
                                                    : nullptr;
}

std::shared_ptr<const Literal> ValueOrigins::ArgumentFor(const HloInstruction& parameter) const {
  const auto number = static_cast<size_t>(parameter.parameter_number());
  const bool is_given = parameter.parent() == given_to_ && number < arguments_.size();
  return is_given ? arguments_[number] : nullptr;
}

KnownLeaves ValueOrigins::ArraysPassed(const HloInstruction& parameter, const CallPath& path,
                                       mlir::MLIRContext* context) {
  if (path.empty() && parameter.parent() == given_to_ && parameter.shape().IsArray()) {
    return {ArgumentFor(parameter)};
  }
  KnownLeaves leaves(static_cast<size_t>(parameter.shape().LeafCount()));
  if (!path.empty()) {
    const HloInstruction& caller = *path.back();
    if (caller.inlined_computation() != parameter.parent()) return leaves;
    return ArraysOf(*caller.operand(parameter.parameter_number()), {path.begin(), path.end() - 1},
                    context);
  }
  if (dependence_ == Dependence::kReads) return leaves;
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    const std::optional<LeafSource> passed = PassedFor(parameter, static_cast<int64_t>(leaf));
    if (!passed) continue;
    constexpr int kMaxDepth = 64;
    if (depth_of_arrays_ == kMaxDepth) return leaves;
    ++depth_of_arrays_;
    const KnownLeaves& arrays = ArraysOf(*passed->instruction, {}, context);
    --depth_of_arrays_;
    if (passed->leaf < static_cast<int64_t>(arrays.size())) {
      leaves[leaf] = arrays[static_cast<size_t>(passed->leaf)];
    }
  }
  return leaves;
}

const KnownLeaves& ValueOrigins::ArraysOf(const HloInstruction& instruction, const CallPath& path,
                                          mlir::MLIRContext* context) {
  constexpr size_t kMaxInstructions = 4096;
  const std::vector<const HloInstruction*> calls(path.begin(), path.end());
  if (const auto known = arrays_.find(Place(&instruction, calls)); known != arrays_.end()) {
    return known->second;
  }
  // What it is made of, in order.
  std::vector<const HloInstruction*> pending = {&instruction};
  absl::btree_map<int64_t, const HloInstruction*> needed;
  // What is read is said for any caller, so that no parameter is known.
  const bool is_of_reads = dependence_ == Dependence::kReads && given_to_ == nullptr;
  // There everything is made anew, so that what is known does not depend on what was asked before.
  absl::node_hash_map<Place, KnownLeaves> anew;
  absl::node_hash_map<Place, KnownLeaves>& arrays = is_of_reads ? anew : arrays_;
  while (!pending.empty()) {
    const HloInstruction* next = pending.back();
    pending.pop_back();
    if (is_of_reads && path.empty() && next->opcode() == HloOpcode::kParameter) {
      return arrays_[Place(&instruction, calls)] =
                 KnownLeaves(static_cast<size_t>(instruction.shape().LeafCount()));
    }
    const bool is_known = arrays.contains(Place(next, calls));
    if (is_known || !needed.try_emplace(next->index_in_computation(), next).second) continue;
    const bool is_followed = (is_of_reads || !Of(*next).data) && needed.size() <= kMaxInstructions;
    if (!is_followed) continue;
    pending.insert(pending.end(), next->operands().begin(), next->operands().end());
  }
  const int64_t max_elements = given_to_ == nullptr ? kMaxKnownElements : kMaxStepsFromArguments;
  StepBudget own(is_of_reads ? kMaxStepsOfIndices : kMaxStepsOfArrays);
  ArrayEvaluator evaluator(context, given_to_ == nullptr ? &own : &steps_from_arguments_,
                           max_elements);
  for (const auto& [position, each] : needed) {
    KnownLeaves leaves(static_cast<size_t>(each->shape().LeafCount()));
    if (each->opcode() == HloOpcode::kParameter) {
      leaves = ArraysPassed(*each, path, context);
    } else if ((is_of_reads || !Of(*each).data) && needed.size() <= kMaxInstructions) {
      std::vector<KnownLeaves> operands;
      for (const HloInstruction* operand : each->operands()) {
        operands.push_back(arrays[Place(operand, calls)]);
      }
      leaves = evaluator.Evaluate(*each, operands);
    }
    arrays[Place(each, calls)] = std::move(leaves);
  }
  const Place place(&instruction, calls);
  return arrays_[place] = arrays[place];
}

bool ValueOrigins::MayHideDecision(const HloInstruction& instruction) {
  if (instruction.opcode() == HloOpcode::kMultiply) {
    const Origins a = Of(*instruction.operand(0));
    const Origins b = Of(*instruction.operand(1));
    return dependence_ == Dependence::kFiniteValues &&
           IsComplex(instruction.shape().element_type()) &&
           ((a.fixed && a.zero) || (b.fixed && b.zero));
  }
  const HloInstruction& reduction = instruction;
  const bool is_reduction =
      reduction.opcode() == HloOpcode::kReduce || reduction.opcode() == HloOpcode::kReduceWindow;
  if (!is_reduction || reduction.to_apply() == nullptr || !reduction.shape().IsArray())
    return false;
  const HloInstruction* root = reduction.to_apply()->root_instruction();
  if (root == nullptr || !IsOrderlessCombiner(*root) || root->opcode() == HloOpcode::kAdd) {
    return false;
  }
  const HloInstruction& array = *reduction.operand(0);
  const bool is_of_one = reduction.opcode() == HloOpcode::kReduce && array.shape().IsArray() &&
                         array.shape().ElementCount() == reduction.shape().ElementCount();
  if (is_of_one) return false;
  const Origins origins = Of(array);
  const bool is_product = root->opcode() == HloOpcode::kMultiply;
  const bool is_float = HoldsFloats(reduction.shape().element_type());
  if (is_float && (!is_product || dependence_ != Dependence::kFiniteValues)) return false;
  // A caller may pass zeros.
  return ((origins.data || origins.given) && origins.fixed && origins.zero) ||
         (is_product && origins.given);
}

bool ValueOrigins::MayDecideReads(const HloInstruction& instruction) {
  const HloOpcode opcode = instruction.opcode();
  if (dependence_ == Dependence::kReads || !DecidesReads(opcode) ||
      !instruction.shape().IsArray()) {
    return false;
  }
  if (opcode == HloOpcode::kReduce || opcode == HloOpcode::kReduceWindow) {
    return MayHideDecision(instruction);
  }
  if (opcode == HloOpcode::kSelect) {
    const auto may_be_fixed = [&](int64_t operand) {
      return MayBeFixed(*instruction.operand(operand), /*is_called=*/true);
    };
    return may_be_fixed(0) || (may_be_fixed(1) && may_be_fixed(2));
  }
  if (opcode == HloOpcode::kScatter) {
    return instruction.operand_count() == 3 &&
           MayBeFixed(*instruction.operand(1), /*is_called=*/true);
  }
  const ElementType type = instruction.shape().element_type();
  const bool is_float = HoldsFloats(type);
  if (!is_float && !HoldsIntegers(type)) return MayHideDecision(instruction);
  if (is_float && dependence_ != Dependence::kFiniteValues) return false;
  if (!is_float && (opcode == HloOpcode::kAdd || opcode == HloOpcode::kSubtract ||
                    opcode == HloOpcode::kDivide)) {
    return false;
  }
  if (opcode == HloOpcode::kClamp) {
    return Of(*instruction.operand(0)).fixed && Of(*instruction.operand(2)).fixed;
  }
  const auto any = [&](auto holds) {
    return absl::c_any_of(instruction.operands(), [&](const HloInstruction* operand) {
      const Origins origins = Of(*operand);
      return origins.fixed && holds(origins);
    });
  };
  const bool is_product = opcode == HloOpcode::kMultiply || opcode == HloOpcode::kDot ||
                          opcode == HloOpcode::kConvolution;
  const bool is_decided_by_infinity = is_float && !is_product;
  return (is_decided_by_infinity && any([](const Origins& o) { return o.infinite; })) ||
         ((!is_decided_by_infinity || opcode == HloOpcode::kDivide) &&
          any([](const Origins& o) { return o.zero; }));
}

}  // namespace xla_indexing::internal
