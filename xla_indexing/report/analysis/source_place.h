// Where in the user's program an instruction comes from.
#ifndef XLA_INDEXING_REPORT_ANALYSIS_SOURCE_PLACE_H_
#define XLA_INDEXING_REPORT_ANALYSIS_SOURCE_PLACE_H_

#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/report/kernel_report.h"

namespace xla_indexing::internal {

// What the instruction's metadata say; of a fusion without any, what those of its root say.
SourcePlace SourceOf(const HloInstruction& instruction);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_ANALYSIS_SOURCE_PLACE_H_
