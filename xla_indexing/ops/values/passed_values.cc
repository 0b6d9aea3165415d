#include "xla_indexing/ops/values/passed_values.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "absl/types/span.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/expr/expr_util.h"
#include "xla_indexing/ops/answers/parts/domain.h"
#include "xla_indexing/ops/values/element_value.h"
#include "xla_indexing/ops/values/leaf_routes.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

bool IsScalarOfIntegers(const Shape& shape) {
  return shape.IsScalar() && IsIntegral(shape.element_type());
}

// What all callers pass as a leaf, but for the constant of the first one: for each caller the rest of
// the expression, and what its constant is more than that one.
using PassedForm = std::vector<std::pair<const void*, int64_t>>;

// The form of what callers pass, and the constant of the first one; nullopt if one of them passes
// no expression, or a number, which has nothing to do with other leaves.
std::optional<std::pair<PassedForm, int64_t>> FormOfPassed(llvm::ArrayRef<AffineExpr> exprs) {
  PassedForm form;
  std::optional<int64_t> first;
  for (const AffineExpr expr : exprs) {
    if (!expr || ConstantIn(expr)) return std::nullopt;
    AffineExpr rest = expr;
    int64_t constant = 0;
    if (const auto sum = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expr);
        sum && sum.getKind() == mlir::AffineExprKind::Add && ConstantIn(sum.getRHS())) {
      rest = sum.getLHS();
      constant = *ConstantIn(sum.getRHS());
    }
    if (!first) first = constant;
    const std::optional<int64_t> more = CheckedSub(constant, *first);
    if (!more) return std::nullopt;
    form.emplace_back(rest.getAsOpaquePointer(), *more);
  }
  if (!first) return std::nullopt;
  return std::pair(std::move(form), *first);
}

// What the callers of the computation pass that an instruction is in.
class PassedByCallers : public ValueEnvironment {
 public:
  explicit PassedByCallers(PassedValues* passed) : passed_(passed) {}

  PassedScalar Passed(const HloInstruction& parameter, int64_t leaf) const override {
    return passed_->Of(parameter, leaf);
  }

 private:
  PassedValues* passed_;
};

}  // namespace

PassedScalar PassedValues::Of(const HloInstruction& parameter, int64_t leaf) {
  if (IsOff(Engine::kPassedValues)) return {&parameter, leaf};
  if (!IsScalarOfIntegers(parameter.shape().Leaf(leaf))) return {&parameter, leaf};
  return ScalarsOf(*parameter.parent()).at({&parameter, leaf});
}

const PassedValues::Scalars& PassedValues::ScalarsOf(const HloComputation& computation) {
  const auto [known, is_new] = known_.try_emplace(&computation);
  Scalars& scalars = known->second;
  if (!is_new) return scalars;
  const Callers& callers = CallersOf(computation);
  const size_t num_callers = callers.levels <= kMaxCallers ? callers.instructions.size() : 0;
  std::vector<RuntimeVarIndexings> unknowns(num_callers);
  // The first leaf of each form, and the constant of the first caller.
  std::map<PassedForm, std::pair<Leaf, int64_t>> first_of;
  for (const HloInstruction* parameter : computation.parameters()) {
    const int64_t leaf_count = parameter->shape().LeafCount();
    for (int64_t leaf = 0; leaf < leaf_count; ++leaf) {
      const Shape& shape = parameter->shape().Leaf(leaf);
      if (!IsScalarOfIntegers(shape)) continue;
      const Leaf own = {parameter, leaf};
      Interval values = Interval::Empty();
      llvm::SmallVector<AffineExpr, 4> exprs;
      for (size_t i = 0; i < num_callers; ++i) {
        const Value passed = FromCaller(*callers.instructions[i], own, &unknowns[i]);
        values = values.Union(passed.values);
        exprs.push_back(passed.expr);
      }
      // What is never called may be passed anything.
      const bool is_any = values.IsEmpty() || !values.IsFinite() ||
                          ValuesOfElementType(shape.element_type()).IsSubsetOf(values);
      PassedScalar scalar = {parameter, leaf, 0, is_any ? Interval::All() : values};
      if (const auto form = FormOfPassed(exprs)) {
        const auto [it, is_first] = first_of.try_emplace(form->first, own, form->second);
        const auto& [first, constant] = it->second;
        const std::optional<int64_t> added = CheckedSub(form->second, constant);
        if (!is_first && added) {
          scalar = {first.first, first.second, *added, scalars[first].values};
        }
      }
      scalars[own] = scalar;
    }
  }
  return scalars;
}

PassedValues::Value PassedValues::FromCaller(const HloInstruction& caller, const Leaf& passed,
                                             RuntimeVarIndexings* unknowns) {
  const auto& [parameter, leaf] = passed;
  if (caller.opcode() == HloOpcode::kWhile) return FromLoop(caller, passed, unknowns);
  if (caller.inlined_computation() == parameter->parent() &&
      parameter->parameter_number() < caller.operand_count()) {
    return OfScalar(*caller.operand(parameter->parameter_number()), leaf, unknowns);
  }
  return {};
}

PassedValues::Value PassedValues::FromLoop(const HloInstruction& loop, const Leaf& passed,
                                           RuntimeVarIndexings* unknowns) {
  const auto& [parameter, leaf] = passed;
  const CountedLoop& counted = CountedOf(loop);
  if (counted.passes_through[leaf]) return OfScalar(*loop.operand(0), leaf, unknowns);
  const LoopCounter& counter = counted.counter;
  // The condition is evaluated once more than the body.
  const bool is_body = loop.while_body() == parameter->parent();
  const bool is_condition = loop.while_condition() == parameter->parent();
  if ((!is_body && !is_condition) || !counter.counts.has_upper()) return {};
  const Interval numbers = Interval::Closed(0, counter.counts.upper());
  const Interval times = is_condition ? numbers : numbers.Intersect(numbers.Sub(1));
  Value start;
  int64_t step = 0;
  if (const auto counting = counter.leaves.find(leaf); counting != counter.leaves.end()) {
    start = {Constant(counting->second.start, context_), Interval::Point(counting->second.start)};
    step = counting->second.step;
  } else if (const auto added = counter.steps.find(leaf); added != counter.steps.end()) {
    start = OfScalar(*loop.operand(0), leaf, unknowns);
    step = added->second;
  }
  const Interval values = times.Mul(step).Add(start.values);
  // What may wrap is any number.
  const Interval of_type = ValuesOfElementType(parameter->shape().Leaf(leaf).element_type());
  if (!values.IsSubsetOf(of_type)) return {};
  if (start.expr) start.expr = Add(Scale(mlir::getAffineSymbolExpr(0, context_), step), start.expr);
  return {start.expr, values};
}

PassedValues::Value PassedValues::OfScalar(const HloInstruction& instruction, int64_t leaf,
                                           RuntimeVarIndexings* unknowns) {
  const PassedByCallers environment(this);
  ElementEvaluator evaluator(Domain(), context_, environment);
  const ValueCases cases = evaluator.Evaluate(&instruction, leaf, {});
  Value scalar = {{}, Interval::Empty()};
  for (const ValueCase& each : cases) {
    scalar.values = scalar.values.Union(evaluator.RangeOf(each.value, each.when));
  }
  if (cases.size() != 1 || !cases[0].value) return scalar;
  llvm::SmallVector<AffineExpr, 4> symbols;
  for (const RuntimeVarIndexing& unknown : evaluator.unknowns()) {
    const auto index = llvm::find(*unknowns, unknown) - unknowns->begin();
    if (index == static_cast<std::ptrdiff_t>(unknowns->size())) unknowns->push_back(unknown);
    symbols.push_back(mlir::getAffineSymbolExpr(1 + index, context_));
  }
  scalar.expr = Substitute(cases[0].value, {}, symbols);
  return scalar;
}

const CountedLoop& PassedValues::CountedOf(const HloInstruction& loop) {
  const auto [it, is_new] = counted_.try_emplace(&loop);
  if (is_new) {
    it->second.passes_through = LeavesPassedThrough(loop);
    it->second.counter = FindLoopCounter(loop, it->second.passes_through, context_);
  }
  return it->second;
}

const PassedValues::Callers& PassedValues::CallersOf(const HloComputation& computation) {
  if (!callers_) {
    callers_.emplace();
    // Computations stand behind those that they call.
    const absl::Span<const HloComputation* const> all = computation.parent()->computations();
    for (auto caller = all.rbegin(); caller != all.rend(); ++caller) {
      const int levels = (*callers_)[*caller].levels + 1;
      for (const HloInstruction* instruction : (*caller)->instructions()) {
        for (const HloComputation* called : instruction->called_computations()) {
          if (called == nullptr) continue;
          Callers& callers = (*callers_)[called];
          callers.instructions.push_back(instruction);
          callers.levels = std::max(callers.levels, levels);
        }
      }
    }
  }
  return (*callers_)[&computation];
}

}  // namespace xla_indexing::internal
