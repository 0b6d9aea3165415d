// What the row of a loop says.
#ifndef XLA_INDEXING_REPORT_ANALYSIS_LOOP_FIGURES_H_
#define XLA_INDEXING_REPORT_ANALYSIS_LOOP_FIGURES_H_

#include <string>
#include <vector>

#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/report/kernel_report.h"

namespace xla_indexing::internal {

// What one iteration of a while reads of each leaf that it carries unchanged, from the maps of its body:
// the union over all other leaves that the body returns. Bounds where these maps are not exact.
std::vector<UnchangedLeafRead> ReadsOfIteration(const HloInstruction& loop, HloIndexers& indexers);

// A sentence on how often the body and the kernels inside run, and one for each of the leaves of which
// most is read, with the names that they have outside of the loop.
std::vector<std::string> NotesOfLoop(const HloInstruction& loop, const LoopFigures& figures);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_ANALYSIS_LOOP_FIGURES_H_
