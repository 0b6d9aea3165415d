#include "xla_indexing/report/analysis/report_kernels.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/parallel.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/gpu/fusing/fuse_like_xla.h"
#include "xla_indexing/gpu/machine/machine.h"
#include "xla_indexing/hlo/verify/verifier.h"
#include "xla_indexing/query/aliases.h"
#include "xla_indexing/report/analysis/analyse_kernel.h"
#include "xla_indexing/report/analysis/equal_kernels.h"
#include "xla_indexing/report/analysis/findings.h"
#include "xla_indexing/report/analysis/group_kernels.h"
#include "xla_indexing/report/analysis/loop_figures.h"
#include "xla_indexing/report/analysis/runs.h"
#include "xla_indexing/report/analysis/source_place.h"
#include "xla_indexing/report/compiled_for.h"
#include "xla_indexing/report/kernel_drawing.h"
#include "xla_indexing/report/saturated.h"

namespace xla_indexing {
namespace {

using internal::Int128;
using internal::ParallelFor;
using internal::SaturatedProduct;
using internal::SaturatedSum;

// Every kernel may take so many steps, however many others there are.
constexpr int64_t kStepsOfEachKernel = 2'000;
// Kernels that one context is used for. Does not depend on the number of threads: what a kernel finds
// in the caches of an indexer does not either.
constexpr size_t kKernelsPerContext = 32;
// The instructions that all kernels together may have when they are looked into.
constexpr int64_t kMaxInstructions = 4'000'000;

struct DistinctKernel {
  const HloInstruction* instruction = nullptr;
  FusionView view;
  std::string text;
};

// Instructions of a computation with those that it calls, as often as it does.
class Sizes {
 public:
  explicit Sizes(const HloModule& module) {
    for (const HloComputation* computation : module.computations()) {
      int64_t size = 0;
      for (const HloInstruction* instruction : computation->instructions()) {
        size = std::min(size + Of(*instruction), kMaxInstructions + 1);
      }
      sizes_[computation] = size;
    }
  }

  int64_t Of(const HloInstruction& instruction) const {
    int64_t size = 1;
    for (const HloComputation* called : instruction.called_computations()) {
      const auto known = sizes_.find(called);
      if (known != sizes_.end()) size = std::min(size + known->second, kMaxInstructions + 1);
    }
    return size;
  }

 private:
  absl::flat_hash_map<const HloComputation*, int64_t> sizes_;
};

KernelAnalysis UnknownKernel(std::string why) {
  KernelAnalysis analysis;
  analysis.kind = "unknown";
  analysis.bytes_read = analysis.bytes_written = analysis.bytes_of_reads = Interval::AtLeast(0);
  analysis.open_questions.push_back(std::move(why));
  return analysis;
}

class Reporter {
 public:
  // `known_analyses` may be null.
  Reporter(const HloModule& module, const ReportOptions& options,
           internal::KnownKernels* known_analyses)
      : module_(module),
        options_(options),
        known_analyses_(known_analyses),
        sizes_(module),
        runs_(module) {
    for (const AddedCopy& copy : options.copies) copy_reasons_[copy.copy] = copy.reason;
  }

  absl::StatusOr<ModuleReport> Report() && {
    report_.module = std::string(module_.name());
    report_.sector_bytes = options_.memory.sector_bytes;
    report_.warp_size = options_.memory.warp_size;
    report_.machine = options_.machine;
    SayWhatItIsFor();
    CollectRows();
    AnalyseKernels();
    if (!is_cancelled_) SumLoops();
    if (is_cancelled_) {
      return absl::CancelledError(
          absl::StrCat("the report about module '", module_.name(), "' was cancelled"));
    }
    for (KernelRow& row : report_.rows) FinishRow(&row);
    report_.totals.distinct_kernels = CountDistinctKernels();
    SumByLoop();
    const auto place = [&](const KernelRow& row) {
      const KernelAnalysis& analysis = report_.AnalysisOf(row);
      const auto runs = static_cast<double>(row.counted_runs);
      return std::tuple(-analysis.microseconds * runs, !IsLoop(row));
    };
    std::stable_sort(report_.rows.begin(), report_.rows.end(),
                     [&](const KernelRow& a, const KernelRow& b) { return place(a) < place(b); });
    internal::GroupKernels(&report_);
    absl::c_stable_sort(report_.groups, [](const KernelGroup& a, const KernelGroup& b) {
      return a.totals.microseconds > b.totals.microseconds;
    });
    return std::move(report_);
  }

 private:
  void SayWhatItIsFor() {
    const internal::CompiledFor found = internal::CompiledForOf(module_);
    const Machine& machine = *options_.machine;
    report_.platform = found.platform;
    report_.about.push_back(found.PlatformText());
    report_.about.push_back(absl::StrCat(
        "modelled for ", machine.name, " (", machine.description,
        "): ", machine.is_cpu ? "accesses of " : "memory as on a GPU with warps of ",
        options_.memory.warp_size,
        machine.is_cpu ? " neighbouring elements, lines of " : ", sectors of ",
        options_.memory.sector_bytes, " bytes; times at its peaks",
        machine.launch_microseconds > 0
            ? absl::StrCat(", and ", machine.launch_microseconds, " us to start a kernel")
            : ""));
    if (std::string layouts = found.LayoutText(); !layouts.empty()) {
      report_.about.push_back(std::move(layouts));
    }
    if (!HasFusions(module_)) {
      report_.about.push_back("no fusions in this module: every operation is treated as a kernel");
    }
  }

  void CollectRows() {
    const internal::RunsOfComputations runs = runs_.OfModule();
    absl::flat_hash_map<std::string, size_t> known;
    int64_t left = kMaxInstructions;
    for (const HloComputation* computation : module_.computations()) {
      const auto of_computation = runs.find(computation);
      if (of_computation == runs.end()) continue;
      for (const HloInstruction* instruction : computation->instructions()) {
        const bool is_loop = instruction->opcode() == HloOpcode::kWhile;
        if (!is_loop && (IsAlias(*instruction) || internal::RunsComputations(*instruction)))
          continue;
        KernelRow row;
        row.instruction = instruction;
        row.runs = of_computation->second.count;
        row.counted_runs = of_computation->second.counted;
        if (!row.runs.IsPoint()) row.runs_reason = of_computation->second.reason;
        for (const HloInstruction* operand : instruction->operands()) {
          row.operands.emplace_back(operand->name());
        }
        row.source = internal::SourceOf(*instruction);
        row.analysis = FindOrAdd(*instruction, &left, &known);
        report_.rows.push_back(std::move(row));
      }
    }
  }

  size_t FindOrAdd(const HloInstruction& kernel, int64_t* left,
                   absl::flat_hash_map<std::string, size_t>* known) {
    const auto add_unknown = [&](std::string why) {
      report_.analyses.push_back(UnknownKernel(std::move(why)));
      return report_.analyses.size() - 1;
    };
    const int64_t size = sizes_.Of(kernel);
    if (size > *left) {
      return add_unknown(absl::StrCat("the kernels of the module have more than ", kMaxInstructions,
                                      " instructions"));
    }
    *left -= size;
    absl::StatusOr<FusionView> view = FusionView::OfFusion(kernel);
    if (!view.ok()) return add_unknown(std::string(view.status().message()));
    std::string text = internal::KernelText(kernel, *view);
    const auto [it, is_new] = known->try_emplace(text, report_.analyses.size());
    if (!is_new) return it->second;
    report_.analyses.emplace_back();
    if (known_analyses_ != nullptr) {
      const auto done = known_analyses_->analyses.find(text);
      if (done != known_analyses_->analyses.end()) {
        report_.analyses.back() = done->second;
        report_.analyses.back().kernel = NameOf(kernel);
        return it->second;
      }
      if (known_analyses_->without_loops && kernel.opcode() == HloOpcode::kWhile) {
        report_.analyses.back().kind = "while";
        report_.analyses.back().loop.emplace();
        return it->second;
      }
    }
    distinct_.push_back({&kernel, *std::move(view), std::move(text)});
    place_of_distinct_.push_back(report_.analyses.size() - 1);
    return report_.analyses.size() - 1;
  }

  void AnalyseKernels() {
    Int128 all = 0;
    for (const DistinctKernel& kernel : distinct_) all += sizes_.Of(*kernel.instruction);
    const size_t contexts = (distinct_.size() + kKernelsPerContext - 1) / kKernelsPerContext;
    std::mutex mutex;
    int64_t done = 0;
    ParallelFor(options_.jobs, contexts, [&](size_t i) {
      mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
      internal::KernelAnalyser analyser(options_, &context);
      const size_t end = std::min(distinct_.size(), (i + 1) * kKernelsPerContext);
      for (size_t k = i * kKernelsPerContext; k < end && !is_cancelled_; ++k) {
        const DistinctKernel& kernel = distinct_[k];
        const Int128 share =
            Int128{options_.max_steps} * sizes_.Of(*kernel.instruction) / std::max(all, Int128{1});
        {
          const QuestionBudget budget(kStepsOfEachKernel + static_cast<int64_t>(share));
          report_.analyses[place_of_distinct_[k]] =
              analyser.Analyse(*kernel.instruction, kernel.view);
          report_.analyses[place_of_distinct_[k]].kernel = NameOf(*kernel.instruction);
        }
        if (!options_.progress) continue;
        const std::lock_guard<std::mutex> lock(mutex);
        if (is_cancelled_) return;
        if (!options_.progress(++done, static_cast<int64_t>(distinct_.size()))) {
          is_cancelled_ = true;
        }
      }
    });
    if (known_analyses_ == nullptr || is_cancelled_) return;
    for (size_t k = 0; k < distinct_.size(); ++k) {
      known_analyses_->analyses.emplace(std::move(distinct_[k].text),
                                        report_.analyses[place_of_distinct_[k]]);
    }
  }

  static std::string NameOf(const HloInstruction& kernel) {
    return absl::StrCat(kernel.parent()->name(), "/", kernel.name());
  }

  // What the kernels inside of each loop move in one run of it.
  void SumLoops() {
    absl::flat_hash_map<const HloComputation*, std::vector<const KernelRow*>> kernels;
    for (const KernelRow& row : report_.rows) {
      if (!IsLoop(row)) kernels[row.instruction->parent()].push_back(&row);
    }
    std::vector<bool> is_done(report_.analyses.size());
    for (const KernelRow& row : report_.rows) {
      if (!IsLoop(row) || is_done[row.analysis]) continue;
      is_done[row.analysis] = true;
      SumLoop(*row.instruction, kernels, &report_.analyses[row.analysis]);
    }
  }

  void SumLoop(
      const HloInstruction& loop,
      const absl::flat_hash_map<const HloComputation*, std::vector<const KernelRow*>>& kernels,
      KernelAnalysis* sum) {
    const internal::RunsOfComputations inside = runs_.InsideLoop(loop);
    LoopFigures& figures = sum->loop ? *sum->loop : sum->loop.emplace();
    int64_t without_sectors = 0;
    // In the order of the module, on which sums that end at a bound depend.
    for (const HloComputation* computation : module_.computations()) {
      const auto of_computation = inside.find(computation);
      const auto rows = kernels.find(computation);
      if (of_computation == inside.end()) continue;
      const Interval& times = of_computation->second.count;
      if (computation == loop.while_body()) figures.iterations = times;
      if (rows == kernels.end()) continue;
      for (const KernelRow* row : rows->second) {
        const KernelAnalysis& kernel = report_.AnalysisOf(*row);
        figures.kernel_runs = figures.kernel_runs.Add(times);
        without_sectors += kernel.has_sectors ? 0 : 1;
        sum->has_sectors |= kernel.has_sectors;
        const int64_t counted = of_computation->second.counted;
        sum->traffic = SaturatedSum(sum->traffic, SaturatedProduct(kernel.traffic, counted));
        sum->flops += kernel.flops * static_cast<double>(counted);
        sum->microseconds += kernel.microseconds * static_cast<double>(counted);
        if (!kernel.has_sectors) continue;
        sum->sectors = sum->sectors.Add(kernel.sectors.Mul(times));
        sum->least_sectors = sum->least_sectors.Add(kernel.least_sectors.Mul(times));
        sum->bytes_moved = sum->bytes_moved.Add(kernel.bytes_moved.Mul(times));
        sum->bytes_wasted = sum->bytes_wasted.Add(kernel.bytes_wasted.Mul(times));
      }
    }
    sum->has_sectors |= without_sectors == 0;
    if (without_sectors > 0) {
      sum->open_questions.push_back(absl::StrCat("the sectors of ", without_sectors,
                                                 without_sectors == 1 ? " kernel" : " kernels",
                                                 " inside are not known and not in its sums"));
    }
    if (!figures.iterations.IsPoint()) {
      sum->open_questions.emplace_back("how often it runs its body is not known");
    }
  }

  // What is outside of loops, and the loops there with all that is inside.
  void SumByLoop() {
    if (report_.totals.loops == 0) return;
    const internal::RunsOfComputations outside = runs_.OutsideLoops();
    const auto add = [&](const internal::RunsOfComputations& runs, const internal::Runs& times,
                         std::string name) {
      NamedTotals& sum = report_.by_loop.emplace_back();
      sum.name = std::move(name);
      for (const KernelRow& row : report_.rows) {
        const auto known = runs.find(row.instruction->parent());
        if (IsLoop(row) || known == runs.end()) continue;
        sum.totals.Add(report_.AnalysisOf(row), known->second.count.Mul(times.count),
                       SaturatedProduct(known->second.counted, times.counted));
      }
    };
    add(outside, {.count = Interval::Point(1), .counted = 1, .reason = ""}, "outside of loops");
    for (const KernelRow& row : report_.rows) {
      const auto known = outside.find(row.instruction->parent());
      if (!IsLoop(row) || known == outside.end()) continue;
      add(runs_.InsideLoop(*row.instruction), known->second,
          absl::StrCat(row.instruction->parent()->name(), "/", row.instruction->name()));
    }
    absl::c_stable_sort(report_.by_loop, [](const NamedTotals& a, const NamedTotals& b) {
      return a.totals.microseconds > b.totals.microseconds;
    });
  }

  static bool IsLoop(const KernelRow& row) {
    return row.instruction->opcode() == HloOpcode::kWhile;
  }

  void FinishRow(KernelRow* row) {
    const KernelAnalysis& analysis = report_.AnalysisOf(*row);
    if (IsLoop(*row)) {
      ++report_.totals.loops;
    } else {
      report_.totals.Add(analysis, row->runs, row->counted_runs);
    }
    if (analysis.has_sectors) row->bytes_wasted = analysis.bytes_wasted.Mul(row->runs);
    if (analysis.loop) row->notes = internal::NotesOfLoop(*row->instruction, *analysis.loop);
    if (const auto why = copy_reasons_.find(row->instruction); why != copy_reasons_.end()) {
      row->notes.push_back(absl::StrCat("XLA has to copy it: ", why->second));
    }
    if (analysis.worst) {
      row->worst_operand =
          internal::AccessedName(analysis.accesses[*analysis.worst], row->operands);
    }
    row->findings =
        internal::FindingsOf(analysis, row->operands,
                             {.sector_bytes = report_.sector_bytes,
                              .cache_bytes = options_.machine->cache_bytes,
                              .is_cpu = report_.platform == "cpu" || options_.machine->is_cpu});
    for (Finding& finding : row->findings) {
      finding.bytes = SaturatedProduct(finding.bytes, row->counted_runs);
    }
    row->not_known = internal::NotKnownOf(analysis, *row);
  }

  int64_t CountDistinctKernels() const {
    const auto loops = absl::c_count_if(
        report_.analyses, [](const KernelAnalysis& analysis) { return analysis.loop.has_value(); });
    return static_cast<int64_t>(report_.analyses.size()) - static_cast<int64_t>(loops);
  }

  const HloModule& module_;
  const ReportOptions& options_;
  internal::KnownKernels* known_analyses_;
  absl::flat_hash_map<const HloInstruction*, std::string> copy_reasons_;
  const Sizes sizes_;
  const internal::RunCounts runs_;
  ModuleReport report_;
  std::atomic<bool> is_cancelled_ = false;
  std::vector<DistinctKernel> distinct_;
  std::vector<size_t> place_of_distinct_;  // in the report's analyses
};

}  // namespace

absl::StatusOr<ModuleReport> ReportKernels(const HloModule& module, const ReportOptions& options) {
  return internal::ReportKernels(module, options, nullptr);
}

absl::StatusOr<ModuleReport> internal::ReportKernels(const HloModule& module,
                                                     const ReportOptions& options,
                                                     KnownKernels* known) {
  if (absl::Status status = options.emitter.Verify(); !status.ok()) return status;
  if (absl::Status status = options.memory.Verify(); !status.ok()) return status;
  if (options.machine == nullptr) return absl::InvalidArgumentError("a report for no machine");
  if (options.jobs < 1 || options.max_steps < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("a report with ", options.jobs, " threads and ", options.max_steps, " steps"));
  }
  if (absl::Status status = VerifyModule(module); !status.ok()) return status;
  return Reporter(module, options, known).Report();
}

}  // namespace xla_indexing
