// How answers of indexing are asked for.
#ifndef PYTHON_SRC_INDEXING_H_
#define PYTHON_SRC_INDEXING_H_

#include <optional>

#include "python/src/common.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/ops/answers/parts/indexing_options.h"

namespace xla_indexing::python {

// Within Locked(): the entries with the usual options, from an indexer that keeps what it learns.
absl::StatusOr<SharedIndexing> AskUsual(const Subject& subject, Direction direction, bool exact,
                                        std::optional<OperandLeaf> from);

// What keywords of Python ask for.
Dependence ToDependence(bool dependence, bool assume_finite);

}  // namespace xla_indexing::python

#endif  // PYTHON_SRC_INDEXING_H_
