#include "xla_indexing/ops/internal/passed_values.h"

#include <algorithm>

#include "absl/types/span.h"
#include "xla_indexing/hlo/element_type.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/ops/internal/call_scope.h"
#include "xla_indexing/ops/internal/domain.h"
#include "xla_indexing/ops/internal/element_value.h"

namespace xla_indexing::internal {

Interval PassedValues::Of(const HloInstruction& parameter, int64_t leaf) {
  const Shape& shape = parameter.shape().Leaf(leaf);
  if (!shape.IsScalar() || !IsIntegral(shape.element_type())) return Interval::All();
  if (const auto known = known_.find({&parameter, leaf}); known != known_.end()) {
    return known->second;
  }
  const Callers& callers = CallersOf(*parameter.parent());
  Interval values = Interval::Empty();
  if (callers.levels <= kMaxCallers) {
    for (const HloInstruction* caller : callers.instructions) {
      values = values.Union(FromCaller(*caller, parameter, leaf));
    }
  }
  // What is never called may be passed anything.
  const bool is_any = values.IsEmpty() || !values.IsFinite() ||
                      ValuesOfElementType(shape.element_type()).IsSubsetOf(values);
  if (is_any) values = Interval::All();
  known_[{&parameter, leaf}] = values;
  return values;
}

Interval PassedValues::FromCaller(const HloInstruction& caller, const HloInstruction& parameter,
                                  int64_t leaf) {
  if (caller.opcode() == HloOpcode::kWhile) {
    const Counted& counted = CounterOf(caller);
    if (counted.passes_through[leaf]) return OfScalar(*caller.operand(0), leaf);
    const auto counting = counted.counter.leaves.find(leaf);
    const Interval& counts = counted.counter.counts;
    if (counting == counted.counter.leaves.end() || !counts.has_upper()) return Interval::All();
    // The condition is evaluated once more than the body.
    const bool is_body = caller.while_body() == parameter.parent();
    const bool is_condition = caller.while_condition() == parameter.parent();
    const Interval numbers = Interval::Closed(0, counts.upper());
    const Interval times = is_condition ? numbers : numbers.Intersect(numbers.Sub(1));
    if (!is_body && !is_condition) return Interval::All();
    return times.Mul(counting->second.step).Add(counting->second.start);
  }
  if (caller.inlined_computation() == parameter.parent() &&
      parameter.parameter_number() < caller.operand_count()) {
    return OfScalar(*caller.operand(parameter.parameter_number()), leaf);
  }
  return Interval::All();
}

Interval PassedValues::OfScalar(const HloInstruction& instruction, int64_t leaf) {
  LoopState around;
  around.passed = [&](const HloInstruction& parameter, int64_t of) { return Of(parameter, of); };
  ElementEvaluator evaluator(Domain(), context_, around);
  Interval values = Interval::Empty();
  for (const ValueCase& each : evaluator.Evaluate(&instruction, leaf, {})) {
    values = values.Union(evaluator.RangeOf(each.value, each.when));
  }
  return values;
}

const PassedValues::Counted& PassedValues::CounterOf(const HloInstruction& loop) {
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
