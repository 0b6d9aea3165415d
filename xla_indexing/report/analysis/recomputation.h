// Expensive instructions inside a fusion of which elements are computed more than once.
//
// A thread computes what it needs by itself, but for what the hero exchanges
// (gpu/fusion_mapping.h). So an instruction that is not the hero is computed once for each element
// of the threads' arrays that reads it:
//
//   computations   the reads of its elements from the arrays that are read for the hero, and, going
//                  no further than to what is exchanged, from the roots
//   elements       its elements that are read
//
// and is recomputed where there are more computations than elements. Expensive are instructions each
// of whose elements is made of many (kSmallSum of gpu/machine/element_work.h, or more): dots,
// convolutions, reductions, windows.
//
// Example: exp(x - max(x)) of f32[2,65,125] as one loop computes each of the 130 maxima 125 times.
#ifndef XLA_INDEXING_REPORT_ANALYSIS_RECOMPUTATION_H_
#define XLA_INDEXING_REPORT_ANALYSIS_RECOMPUTATION_H_

#include <vector>

#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/gpu/fusion_mapping.h"
#include "xla_indexing/report/kernel_report.h"

namespace xla_indexing::internal {

// In the order of the view; at most 16 instructions are looked at.
std::vector<Recomputation> FindRecomputation(const FusionMapping& mapping, const FusionView& view,
                                             HloIndexers& indexers);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_ANALYSIS_RECOMPUTATION_H_
