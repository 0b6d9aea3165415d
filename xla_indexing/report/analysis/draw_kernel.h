// What the page draws of a kernel.
#ifndef XLA_INDEXING_REPORT_ANALYSIS_DRAW_KERNEL_H_
#define XLA_INDEXING_REPORT_ANALYSIS_DRAW_KERNEL_H_

#include <string>

#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/gpu/coalescing.h"
#include "xla_indexing/gpu/fusion_mapping.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/report/kernel_drawing.h"

namespace xla_indexing::internal {

// The arrays of a kernel's result and operands. What is past a bound is not drawn, and said.
KernelDrawing DrawArrays(const HloInstruction& kernel);

// Adds the maps between these arrays, and what is inside the kernel.
void DrawMaps(const HloInstruction& kernel, const FusionView& view, HloIndexer* indexer,
              KernelDrawing* drawing);

// Adds what threads access through one map of an access of that operand's leaf, or of the result's.
// The accesses are those of the kernel's view.
void DrawAccess(const HloInstruction& kernel, const FusionView& view, const ThreadAccess& access,
                int64_t operand, const OperandIndexing& map, const Coalescing& coalescing,
                KernelDrawing* drawing);

// A map from the indices of an element to the bit where it begins in memory; empty where that is not
// known. `(d0, d1) -> (d0 * 32768 + d1 * 32)` for f32[1024,1024].
std::string AddressText(const Shape& array);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_ANALYSIS_DRAW_KERNEL_H_
