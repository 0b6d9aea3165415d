// What a module's entry computes, for tests that compare a module with one that is to compute the
// same.
#ifndef XLA_INDEXING_TESTS_REFERENCE_JUDGE_MODULE_RESULTS_H_
#define XLA_INDEXING_TESTS_REFERENCE_JUDGE_MODULE_RESULTS_H_

#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/execute/value.h"
#include "tests/reference/judge/dependence.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/types/element_type.h"

namespace xla_indexing::reference {

// Elements have the values of their sources.
inline constexpr ExecutionOptions kWithValuesOfSources = {.values_of_sources = true};

inline absl::StatusOr<Value> ResultOfModule(const HloModule& module,
                                            const std::vector<Value>& arguments) {
  const HloComputation& entry = *module.entry_computation();
  absl::StatusOr<Execution> execution =
      Execute(entry, Pointers(arguments), 0, kWithValuesOfSources);
  if (!execution.ok()) return execution.status();
  return execution->ValueOf(entry.root_instruction());
}

// Compares integers and predicates.
inline bool HaveSameValues(const Value& a, const Value& b) {
  return absl::c_equal(a, b, [](const Array& x, const Array& y) {
    const ElementType type = x.shape().element_type();
    return (!IsIntegral(type) && !IsPred(type)) ||
           absl::c_equal(x.elements(), y.elements(),
                         [](const Element& e, const Element& f) { return e.value == f.value; });
  });
}

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_JUDGE_MODULE_RESULTS_H_
