// What `--query=tiling` says of a whole computation: the dimensions that can be cut, the
// conditions, the graph of tiles at given sizes, and the sizes that take the least time within a
// budget of bytes.
#ifndef XLA_INDEXING_TOOLS_ANSWERS_TILING_REPORT_H_
#define XLA_INDEXING_TOOLS_ANSWERS_TILING_REPORT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/report/write/json_writer.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"
#include "xla_indexing/tools/input/command_line.h"
#include "xla_indexing/tools/input/subject.h"

namespace xla_indexing {

inline TiledLoops LoopsOf(const CommandLine& line) {
  return line.one_pass ? TiledLoops::kOnePass : TiledLoops::kSeparate;
}

// A subject as one computation, in which fusions are what they compute, and its tiles.
class SubjectTiling {
 public:
  static absl::StatusOr<SubjectTiling> Create(const Subject& subject, mlir::MLIRContext* context,
                                              TiledLoops loops);

  const TiledComputation& tiled() const { return *tiled_; }
  // The sizes that the command line gives for a leaf of the result, by its dimensions.
  absl::StatusOr<std::vector<int64_t>> SizesOfLeaf(absl::string_view sizes, int64_t leaf) const;

 private:
  std::unique_ptr<FusionView> view_;
  std::unique_ptr<TiledComputation> tiled_;
};

// Lines, indented by two spaces, below a heading; and the fields of an object.
void ReportTiling(const Subject& subject, const absl::StatusOr<SubjectTiling>& tiling,
                  const CommandLine& line, std::string* text, internal::JsonWriter* json);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_ANSWERS_TILING_REPORT_H_
