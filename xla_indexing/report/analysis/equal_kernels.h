// Kernels that are equal up to names.
#ifndef XLA_INDEXING_REPORT_ANALYSIS_EQUAL_KERNELS_H_
#define XLA_INDEXING_REPORT_ANALYSIS_EQUAL_KERNELS_H_

#include <string>

#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/hlo/model/instruction.h"

namespace xla_indexing::internal {

// A text that two kernels share exactly where they do the same to operands of the same shapes and
// layouts: instruction by instruction the opcodes, shapes, operands by position and attributes, with
// what they call, and which operands are one. Names, metadata, sharding, channels and control
// predecessors are left out. `view` is that of the kernel (FusionView::OfFusion).
//
// Indices that are computed outside of the kernel may be known there, and maps say them: where
// something inside is indexed by values, what the operands of integers are computed from is part of
// the text. Where that is more than kMaxIndexSources instructions, the text is of this kernel alone.
std::string KernelText(const HloInstruction& kernel, const FusionView& view);

inline constexpr int kMaxIndexSources = 64;

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_ANALYSIS_EQUAL_KERNELS_H_
