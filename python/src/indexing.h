// Answers of indexing as Python has them, and how they are asked for.
#ifndef PYTHON_SRC_INDEXING_H_
#define PYTHON_SRC_INDEXING_H_

#include <cstddef>
#include <cstdint>
#include <optional>

#include "python/src/common.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/fusion/walk/fusion_options.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing::python {

// All entries of one question.
struct Indexing {
  Subject subject;
  Direction direction;
  SharedIndexing entries;
};

struct Entry {
  Indexing indexing;
  size_t position = 0;

  const IndexingEntry& Get() const { return (*indexing.entries)[position]; }
};

// Within Locked(): the entries with the usual options, from an indexer that keeps what it learns.
absl::StatusOr<SharedIndexing> AskUsual(const Subject& subject, Direction direction, bool exact,
                                        std::optional<OperandLeaf> from);

}  // namespace xla_indexing::python

#endif  // PYTHON_SRC_INDEXING_H_
