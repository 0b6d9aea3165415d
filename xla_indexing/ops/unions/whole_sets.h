// Whether sets of maps from a scalar map to all of an array: decided once for sets that are alike,
// such as those of a model's layers.
//
// Example: ()[s0] -> (s0) with s0 in [0, 3] and ()[s0] -> (s0 + 4) with s0 in [0, 3] together map to
// all of f32[8].
#ifndef XLA_INDEXING_OPS_UNIONS_WHOLE_SETS_H_
#define XLA_INDEXING_OPS_UNIONS_WHOLE_SETS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/node_hash_map.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {

class WholeSets {
 public:
  explicit WholeSets(mlir::MLIRContext* context) : context_(context) {}

  // Whether those of the maps that are exact, have no bindings and stay on their device map to every
  // element of an array of this shape, as far as that is decided within some steps.
  bool IsWhole(const OperandIndexingSet& maps, const Shape& to);

 private:
  mlir::MLIRContext* context_;
  absl::node_hash_map<std::pair<std::vector<int64_t>, OperandIndexingSet>, bool> known_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_UNIONS_WHOLE_SETS_H_
