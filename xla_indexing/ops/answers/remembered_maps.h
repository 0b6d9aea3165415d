// What OperandIndexing::Simplify and ComposeOperandIndexing have made of maps, while tables are open
// on the thread (base/memory/remembered.h).
//
// Tables are for maps of one MLIRContext, and forget before instructions that maps are bound to end.
#ifndef XLA_INDEXING_OPS_ANSWERS_REMEMBERED_MAPS_H_
#define XLA_INDEXING_OPS_ANSWERS_REMEMBERED_MAPS_H_

#include <utility>

#include "absl/status/statusor.h"
#include "xla_indexing/base/memory/remembered.h"

namespace xla_indexing {

class OperandIndexing;

using RememberedForms = Remembered<OperandIndexing, OperandIndexing>;
using RememberedCompositions =
    Remembered<std::pair<OperandIndexing, OperandIndexing>, absl::StatusOr<OperandIndexing>>;

}  // namespace xla_indexing

#endif  // XLA_INDEXING_OPS_ANSWERS_REMEMBERED_MAPS_H_
