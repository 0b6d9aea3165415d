// Everything that the library says about one module, checked against the reference.

#ifndef XLA_INDEXING_TESTS_REFERENCE_JUDGE_CHECK_MODULE_H_
#define XLA_INDEXING_TESTS_REFERENCE_JUDGE_CHECK_MODULE_H_

#include <cstdint>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/execute/devices.h"
#include "tests/reference/judge/dependence.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/indexing_options.h"
#include "xla_indexing/ops/instruction_indexing.h"

namespace xla_indexing::reference {

struct CheckOptions {
  ScatterBounds scatter_bounds = ScatterBounds::kWindow;
  // The steps that each question may take (base/question_budget.h).
  int64_t steps = QuestionBudget::kDefaultSteps;
  // Modules that nobody chose (for which CanExecute() is asked first) are compared less thoroughly,
  // and less is demanded of them: each instruction is asked about in one of the ways, which the
  // seed decides; maps need not be exact; a question may have no answer; and entries of more than
  // 4096 points are passed over.
  bool is_any_module = false;
};

// What was executed, on one or several devices: an instruction and its operands, or a computation,
// by its root, and its parameters; and what depended on what.
struct Executed {
  const HloInstruction& result;
  bool is_computation;
  const Dependence& truth;
  const Devices& devices;

  absl::Span<const HloInstruction* const> operands() const {
    return is_computation ? result.parent()->parameters() : result.operands();
  }
};

// Parses and verifies a module, executes its entry with arbitrary contents of its parameters
// (`seed`) and visits every instruction of the entry and of the computations that it runs, and last
// the entry as one computation. The first error ends it, and comes back with the seed and the
// module's text.
absl::Status ForEachExecuted(const std::string& text, uint64_t seed, const CheckOptions& options,
                             absl::FunctionRef<absl::Status(const Executed&)> visit);
// An overload for a module that verifies; its error does not include the module's text.
absl::Status ForEachExecuted(const HloModule& module, uint64_t seed, const CheckOptions& options,
                             absl::FunctionRef<absl::Status(const Executed&)> visit);

// Parses and verifies a module and, with arbitrary contents of its parameters (`seed`), compares
// with the reference, in both directions:
//   - every instruction of the entry and of the computations that it runs: as built with and
//     without folding of runtime variables; simplified; with the exact maps, none of which may be
//     over-approximate but for the reasons in check_module.cc, and which are disjoint where they
//     are pieces of what one map cannot say; and with calls not looked into;
//   - the entry as one computation, also with bounds that it exceeds.
// Under sanitizers each is asked about in one of these ways, which the seed decides. The error for the
// first difference names the instruction, direction and options, and ends in the module's text.
absl::Status CheckModule(const std::string& text, uint64_t seed, mlir::MLIRContext* context,
                         const CheckOptions& options = {});
// An overload for a module that verifies; its error does not include the module's text.
// Unimplemented or ResourceExhausted where the module cannot be executed.
absl::Status CheckModule(const HloModule& module, uint64_t seed, mlir::MLIRContext* context,
                         const CheckOptions& options = {});

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_JUDGE_CHECK_MODULE_H_
