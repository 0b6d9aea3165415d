#include "xla_indexing/ops/leaf_relation.h"

#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/ops/instruction_indexing.h"

namespace xla_indexing {

OperandIndexingSet ComposeOrWiden(const OperandIndexingSet& first, const OperandIndexingSet& second,
                                  const Shape& from, const Shape& to, mlir::MLIRContext* context) {
  OperandIndexingSet result;
  for (const OperandIndexing& a : first) {
    for (const OperandIndexing& b : second) {
      absl::StatusOr<OperandIndexing> composed = ComposeOperandIndexing(a, b);
      if (!composed.ok()) {
        composed = OnDevicesOf(
            a, b,
            WholeTensorIndexing(
                from, to, absl::StrCat("whole tensor: ", composed.status().message()), context));
      }
      result.Add(*std::move(composed));
    }
  }
  result.Simplify();
  return result;
}

}  // namespace xla_indexing
