// What one kernel moves.
#ifndef XLA_INDEXING_REPORT_ANALYSIS_ANALYSE_KERNEL_H_
#define XLA_INDEXING_REPORT_ANALYSIS_ANALYSE_KERNEL_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/gpu/fusion_mapping.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/report/kernel_drawing.h"
#include "xla_indexing/report/kernel_report.h"

namespace xla_indexing::internal {

// Kernels of which no emitter makes the threads: `library`, `communication`, `sort` or `transfer`;
// empty for all others. `*why` says it in a sentence.
std::string KindWithoutEmitter(const HloInstruction& kernel, std::string* why);

// Analyses kernels one after the other, in one context.
class KernelAnalyser {
 public:
  // Keeps references.
  KernelAnalyser(const ReportOptions& options, mlir::MLIRContext* context);

  // `view` is that of the kernel.
  KernelAnalysis Analyse(const HloInstruction& kernel, const FusionView& view);

 private:
  // What of it the machine's time depends on.
  void CountWork(const HloInstruction& kernel, const FusionView& view,
                 KernelAnalysis* analysis) const;
  // `mapping` is that of the kernel's threads, null if it has none.
  void CountUse(const HloInstruction& kernel, const FusionView& view, const FusionMapping* mapping,
                KernelAnalysis* analysis);
  // Of a while: what one iteration reads. What the kernels inside move is counted when they are known.
  void CountIteration(const HloInstruction& loop, KernelAnalysis* analysis);
  void CountSectors(const HloInstruction& kernel, const FusionView& view,
                    const FusionMapping& mapping, KernelDrawing* drawing, KernelAnalysis* analysis);
  // Adds what the threads of one array access of one operand's leaf, or of the result's.
  absl::Status AddAccess(const HloInstruction& kernel, const FusionView& view,
                         const ThreadAccess& access, int64_t operand, KernelDrawing* drawing,
                         KernelAnalysis* analysis);

  const ReportOptions& options_;
  mlir::MLIRContext* context_;
  HloIndexers indexers_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_REPORT_ANALYSIS_ANALYSE_KERNEL_H_
