// The indexing of one subject in the form in which it is printed, as text or as JSON.

#ifndef XLA_INDEXING_TOOLS_ANSWERS_REPORT_H_
#define XLA_INDEXING_TOOLS_ANSWERS_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/gpu/coalescing.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/ops/answers/parts/exactness.h"
#include "xla_indexing/query/in_place/in_place.h"
#include "xla_indexing/query/utilization/utilization.h"
#include "xla_indexing/tiling/tile/symbolic_tile.h"
#include "xla_indexing/tools/input/command_line.h"
#include "xla_indexing/tools/input/subject.h"

namespace xla_indexing {

// Coalescing of a map, or of writes.
struct ReportedCoalescing {
  Coalescing coalescing;
  std::vector<LaneAddress> addresses;                     // of its worst request
  std::optional<ThreadCoverage> coverage = std::nullopt;  // of a thread map that is given
};

// The tile of a map, symbolic, and with tile sizes given the first one of these.
struct ReportedTile {
  std::string error;  // why there is none, or none of these sizes
  std::string offset_map;
  std::string size_map;
  std::string stride_map;
  std::vector<std::string> conditions;
  std::optional<ConcreteTile> first = std::nullopt;
};

// Whether a leaf of the output may be written into the buffer of a leaf of an operand, and what of it
// is written then.
struct ReportedInPlace {
  InPlaceSafety safety;
  std::optional<InPlaceSafety> by_threads;  // of the launch that is given
  std::optional<WrittenElements> written;
};

// A map and the lines that it is printed in.
struct ReportedMap {
  OperandIndexing indexing;
  std::string line;                   // Map and label.
  std::vector<std::string> bindings;  // A line for each runtime variable, not indented.
  std::string replica = {};           // The text of the replica map; empty where there is none.
  // Where it is asked for (tools/modes/queries.h).
  std::optional<ReportedCoalescing> coalescing = std::nullopt;
  std::optional<ReportedTile> tile = std::nullopt;
};

// Puts maps in the order of their lines, bytewise.
void SortByLines(std::vector<ReportedMap>* maps);

// The maps between a leaf of the output and a leaf of an operand. Without maps: nothing of the
// operand leaf is read, and the output leaf is 0.
struct ReportedEntry {
  int64_t output_leaf = 0;
  int64_t operand = 0;
  int64_t operand_leaf = 0;
  // Sorted bytewise by the printed lines, which are distinct. Where one is unknown, it is the only
  // one.
  std::vector<ReportedMap> maps;
  ExactnessLabel label;
  // Where it is asked for (tools/modes/queries.h), of all maps together.
  std::optional<Utilization> utilization = std::nullopt;
  std::optional<ReportedInPlace> in_place = std::nullopt;
  // With the maps of the other entries of the array that these start from, also of those that are
  // not asked for.
  TilePieces pieces = {};
};

// The maps of subjects of one module, asked for one after the other.
class SubjectIndexer {
 public:
  // Keeps references.
  SubjectIndexer(const CommandLine& line, mlir::MLIRContext* context);

  // The maps that the command line's options for them give, or with `exact` the tightest: of a
  // whole subject, or of one leaf of its result (output to input) or of an operand.
  absl::StatusOr<SharedIndexing> Compute(const Subject& subject, Direction direction,
                                         const std::optional<OperandLeaf>& leaf, bool exact);
  absl::StatusOr<SharedIndexing> Compute(const Subject& subject, Direction direction,
                                         const std::optional<OperandLeaf>& leaf) {
    return Compute(subject, direction, leaf, line_.exact);
  }
  mlir::MLIRContext* context() const { return context_; }

 private:
  FusionOptions OptionsFor(bool exact) const;

  const CommandLine& line_;
  mlir::MLIRContext* context_;
  // For each direction one of its own, so that no answer depends on whether the other is asked for.
  HloIndexer usual_[2];
  HloIndexer exact_[2];
};

// A piece of a subject's entries that is worked on and printed by itself: all of them, or those of
// one leaf, where all would be too many to have at once.
struct ReportPart {
  std::optional<OperandLeaf> leaf;
  // Leaves of operands that nothing reads, which are reported with this part.
  std::vector<OperandLeaf> unread;
};

// How many pairs of a leaf of the output and a leaf of an operand a subject may have entries of,
// and how many of a part the command line asks for.
int64_t MostPairs(const Subject& subject);
int64_t MostPairsOf(const Subject& subject, Direction direction, const ReportPart& part,
                    const CommandLine& line);

// The parts that the entries come in, in the order in which they are printed.
std::vector<ReportPart> PartsOf(const Subject& subject, Direction direction,
                                const CommandLine& line, SubjectIndexer* indexer);

// The entries of a part that the command line asks for, sorted by output leaf, operand, operand
// leaf (output to input) or by operand, operand leaf, output leaf (input to output). Where the
// analysis fails, every entry is unknown and says why. For a summary they have labels and no maps.
std::vector<ReportedEntry> ReportIndexing(const Subject& subject, Direction direction,
                                          const ReportPart& part, const CommandLine& line,
                                          SubjectIndexer* indexer);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_ANSWERS_REPORT_H_
