// Pictures of indexing maps as SVG: an element of one array, and the elements of others that maps
// map to from it, for a document, a notebook or a browser.
//
//   absl::StatusOr<Picture> picture = PictureOf(*computation, &context);
//   // picture->svg: the middle element of the root, and what it reads of each parameter.
//
// The maps to an array have a colour each, as far as there are colours. Runtime variables have one value,
// that in the middle of their interval unless another is given, and the picture says which. Maps that are
// not exact say so; one that maps to more than 2^20 points is not drawn, which is said too.
//
// Errors. InvalidArgument for an element that the array does not have, for an array without elements,
// and where no array of that number is there; FailedPrecondition for an interval without an end;
// those of indexing (fusion/hlo_indexer.h).
#ifndef XLA_INDEXING_REPORT_WRITE_PICTURE_H_
#define XLA_INDEXING_REPORT_WRITE_PICTURE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/direction.h"

namespace xla_indexing {

struct Picture {
  std::string svg;
  std::string title;  // what it is of, in one line
};

struct PictureOptions {
  // An index for each dimension of the array; without it an element near the middle.
  std::optional<std::vector<int64_t>> element = std::nullopt;
  // Values for the maps that have as many runtime variables.
  std::optional<std::vector<int64_t>> runtimes = std::nullopt;
};

// A point of the dimensions and all results that the map has there. Without `sizes`, of the dimensions and of the
// results, the arrays are as large as their intervals need.
struct PictureSizes {
  std::vector<int64_t> dims;
  std::vector<int64_t> results;
};
absl::StatusOr<Picture> PictureOfMap(const IndexingMap& map, const PictureOptions& options = {},
                                     const std::optional<PictureSizes>& sizes = std::nullopt);

// What entries of indexing are about, with the names that arrays have in the picture.
struct PictureSubject {
  const HloInstruction& result;
  std::string result_name;
  absl::Span<const HloInstruction* const> operands;
  std::vector<std::string> operand_names;
  Direction direction = Direction::kOutputToInput;
};
// The entries from one array: leaf `from.operand_leaf` of the result, or of operand `from.operand`.
absl::StatusOr<Picture> PictureOfEntries(const PictureSubject& subject,
                                         const InstructionIndexing& entries, OperandLeaf from,
                                         const PictureOptions& options = {});

// What an element of the result reads, of leaf `output_leaf` or of the first array that has elements.
absl::StatusOr<Picture> PictureOf(IndexingTarget target, mlir::MLIRContext* context,
                                  std::optional<int64_t> output_leaf = std::nullopt);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_REPORT_WRITE_PICTURE_H_
