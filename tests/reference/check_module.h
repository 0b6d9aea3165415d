// Everything that the library says about one module, checked against the reference.

#ifndef XLA_INDEXING_TESTS_REFERENCE_CHECK_MODULE_H_
#define XLA_INDEXING_TESTS_REFERENCE_CHECK_MODULE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/ops/instruction_indexing.h"

namespace xla_indexing::reference {

struct CheckOptions {
  ScatterBounds scatter_bounds = ScatterBounds::kWindow;
};

// Parses and verifies a module and, with arbitrary contents of its parameters (`seed`), compares
// with the reference, in both directions:
//   - every instruction of the entry and of the computations that it runs: as
//     built with and without folding of runtime variables, simplified, and with the exact maps,
//     none of which may be over-approximate but for the reasons in check_module.cc, and which are
//     disjoint where they are pieces of what one map cannot say; and with calls not looked into;
//   - the entry as one computation, also with bounds that it passes.
// The error of what is wrong first names the instruction, direction and options, and ends in the
// module's text.
absl::Status CheckModule(const std::string& text, uint64_t seed, mlir::MLIRContext* context,
                         const CheckOptions& options = {});

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_CHECK_MODULE_H_
