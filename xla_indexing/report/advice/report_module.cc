#include "xla_indexing/report/advice/report_module.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/gpu/fusing/copy_like_xla.h"
#include "xla_indexing/gpu/fusing/fuse_like_xla.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/transforms/replace_indexed.h"
#include "xla_indexing/hlo/types/layout.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/query/in_place/donations.h"
#include "xla_indexing/query/in_place/in_place_aliases.h"
#include "xla_indexing/query/index_structure/index_structure.h"
#include "xla_indexing/query/utilization/utilization.h"
#include "xla_indexing/report/advice/change_module.h"
#include "xla_indexing/report/analysis/report_kernels.h"
#include "xla_indexing/report/analysis/source_place.h"
#include "xla_indexing/report/saturated.h"
#include "xla_indexing/report/write/report_text.h"

namespace xla_indexing {
namespace {

constexpr size_t kMaxTried = 4;
constexpr size_t kMaxNamed = 3;  // arguments
constexpr double kLeastShare = 1e-3;

using ChangedModule = absl::StatusOr<std::unique_ptr<HloModule>>;

// `state` of `state['w'][0]`, what is before the first dot or bracket.
std::string ArgumentOf(const HloInstruction& parameter) {
  const std::string op_name = internal::SourceOf(parameter).op_name;
  std::string name = op_name.empty() ? std::string(parameter.name()) : op_name;
  if (!op_name.empty()) name = name.substr(0, name.find_first_of("[."));
  return name;
}

// The whole name: `state['w'][0]`.
std::string NameOfArgument(const HloInstruction& parameter) {
  const std::string op_name = internal::SourceOf(parameter).op_name;
  return op_name.empty() ? std::string(parameter.name()) : op_name;
}

class Adviser {
 public:
  Adviser(const HloModule& module, const ModuleReportOptions& how, const ReportOptions& options)
      : module_(module), how_(how), options_(options) {}

  absl::StatusOr<ReportedModule> Run() && {
    if (absl::Status status = MakeReady(module_, &ready_); !status.ok()) return status;
    absl::StatusOr<ModuleReport> report = Report(ready_, options_);
    if (!report.ok()) return report.status();
    report_ = *std::move(report);
    if (how_.copy && ready_.undecided > 0) {
      report_.about.push_back(absl::StrCat("updates of ", CountText(ready_.undecided, "array"),
                                           " are taken to be in place, which was not decided"));
    }
    if (how_.advise) {
      known_.without_loops = true;
      if (module_.instruction_count() > kMaxInstructionsForAdvice) {
        report_.about.push_back(absl::StrCat("more than ", kMaxInstructionsForAdvice,
                                             " instructions: no changes were tried"));
      } else {
        Advise();
      }
    }
    return ReportedModule{std::move(ready_.module), std::move(report_)};
  }

 private:
  // Ready to be reported; without a module it is the one that was given.
  absl::Status MakeReady(const HloModule& module, ModuleWithCopies* ready) const {
    const HloModule* last = &module;
    if (how_.fuse) {
      ChangedModule fused = FuseLikeXla(module);
      if (!fused.ok()) return fused.status();
      ready->module = *std::move(fused);
      last = ready->module.get();
    }
    return AddCopies(*last, ready);
  }

  absl::Status AddCopies(const HloModule& module, ModuleWithCopies* ready) const {
    if (!how_.copy || module.is_scheduled()) return absl::OkStatus();
    absl::StatusOr<ModuleWithCopies> copied = CopyLikeXla(module);
    if (!copied.ok()) return copied.status();
    if (copied->copies.empty()) {
      ready->undecided = copied->undecided;
    } else {
      *ready = *std::move(copied);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<ModuleReport> Report(const ModuleWithCopies& ready, ReportOptions options) {
    options.copies = ready.copies;
    return internal::ReportKernels(ready.module == nullptr ? module_ : *ready.module, options,
                                   &known_);
  }

  const HloModule& ready() const { return ready_.module == nullptr ? module_ : *ready_.module; }

  // Asks again about a changed module, which is ready or not yet, and keeps the advice if that is better.
  bool Try(ChangedModule changed, bool is_ready, Advice advice) {
    if (!changed.ok()) return false;
    ModuleWithCopies ready;
    if (is_ready) {
      ready.module = *std::move(changed);
    } else {
      if (!MakeReady(**changed, &ready).ok()) return false;
      if (ready.module == nullptr) ready.module = *std::move(changed);
    }
    ReportOptions options = options_;
    options.with_drawings = false;
    options.progress = nullptr;
    const absl::StatusOr<ModuleReport> after = Report(ready, options);
    if (!after.ok()) return false;
    advice.microseconds = report_.totals.microseconds - after->totals.microseconds;
    advice.traffic = report_.totals.traffic - after->totals.traffic;
    const double least = kLeastShare * report_.totals.microseconds;
    // The last digits of sums of floating point numbers are not advice.
    const bool is_slower = advice.microseconds < -1e-9 * report_.totals.microseconds;
    if (is_slower) return false;
    if (advice.microseconds <= least) {
      advice.microseconds = 0;
      if (static_cast<double>(advice.memory) <= kLeastShare * bytes_of_arguments_) return false;
    }
    if (how_.on_advice) how_.on_advice(advice, *ready.module);
    report_.advice.push_back(std::move(advice));
    return true;
  }

  void Advise() {
    for (const HloInstruction* parameter : module_.entry_computation()->parameters()) {
      for (int64_t leaf = 0; leaf < parameter->shape().LeafCount(); ++leaf) {
        const auto bytes = BufferBytesOf(parameter->shape().Leaf(leaf));
        if (bytes && bytes->has_lower()) {
          bytes_of_arguments_ += static_cast<double>(bytes->lower());
        }
      }
    }
    AdviseDonations();
    AdviseSlices();
    AdviseAxes();
    AdviseOrder();
    AdviseKernels();
    AdviseFolding();
    AdviseJoining();
    absl::c_stable_sort(report_.advice, [](const Advice& a, const Advice& b) {
      return std::pair(-a.microseconds, -a.memory) < std::pair(-b.microseconds, -b.memory);
    });
  }

  void AdviseDonations() {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    const auto donations = CheckDonations(module_, &context);
    if (!donations.ok()) return;
    // One result for each, by argument.
    std::map<std::string, std::vector<internal::DonationPair>> pairs;
    std::map<std::string, int64_t> memory;
    absl::flat_hash_set<int64_t> taken;
    for (const Donation& donation : *donations) {
      if (donation.answer != DonationAnswer::kPossible) continue;
      for (const int64_t output : donation.output_leaves) {
        if (!taken.insert(output).second) continue;
        const std::string argument = ArgumentOf(*donation.parameter.instruction);
        pairs[argument].emplace_back(donation.parameter, output);
        memory[argument] = internal::SaturatedSum(memory[argument], donation.bytes);
        break;
      }
    }
    if (pairs.empty()) return;
    std::vector<std::string> arguments;
    arguments.reserve(pairs.size());
    for (const auto& [argument, of] : pairs) arguments.push_back(argument);
    absl::c_stable_sort(arguments, [&](const std::string& a, const std::string& b) {
      return memory[a] > memory[b];
    });
    // All together, or the largest alone.
    const int64_t unsafe = CountUnsafe(module_);
    for (size_t count = arguments.size(); count > 0; count = count > 1 ? 1 : 0) {
      std::vector<internal::DonationPair> all;
      Advice advice;
      for (size_t i = 0; i < count; ++i) {
        absl::c_copy(pairs[arguments[i]], std::back_inserter(all));
        advice.memory = internal::SaturatedSum(advice.memory, memory[arguments[i]]);
      }
      const size_t named = std::min(count, kMaxNamed);
      advice.kind = "donate";
      advice.text =
          absl::StrCat("donate ", absl::StrJoin(arguments.begin(), arguments.begin() + named, ", "),
                       named < count ? absl::StrCat(" and ", count - named, " more") : "", ": ",
                       CountText(static_cast<int64_t>(all.size()), "array"),
                       all.size() == 1 ? ", whose buffer a result may have"
                                       : ", whose buffers results may have");
      ChangedModule changed = internal::WithDonations(module_, all);
      if (!changed.ok() || CountUnsafe(**changed) > unsafe) continue;
      if (Try(std::move(changed), /*is_ready=*/false, std::move(advice))) return;
    }
  }

  // Aliases of the header that do not hold, all together.
  static int64_t CountUnsafe(const HloModule& module) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    return absl::c_count_if(CheckAliases(module, &context), [](const CheckedAlias& alias) {
      return alias.instruction == nullptr && !alias.safety.IsSafe();
    });
  }

  void AdviseSlices() {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    HloIndexers indexers(&context);
    size_t tried = 0;
    for (const HloComputation* computation : module_.computations()) {
      if (absl::c_none_of(computation->instructions(),
                          [](const HloInstruction* i) { return HasIndexStructure(*i); })) {
        continue;
      }
      const auto all = IndexStructuresOf(*computation, indexers);
      if (!all.ok()) continue;
      for (const InstructionIndices& each : *all) {
        const IndexedReplacement& replacement = each.structure.replacement;
        if ((!replacement.gather && !replacement.scatter) || tried >= kMaxTried) continue;
        ++tried;
        Advice advice;
        advice.kind = "index by a slice";
        advice.text =
            absl::StrCat("the ", each.instruction->opcode_name(), " ", each.instruction->name(),
                         " has known indices and is: ", each.structure.name, "; write it so");
        advice.source = internal::SourceOf(*each.instruction);
        Try(ReplaceIndexed(module_, {{each.instruction, replacement}}), /*is_ready=*/false,
            std::move(advice));
      }
    }
  }

  // Arguments of which kernels of the entry read along another axis than the minor one. Layouts
  // that FuseLikeXla does not keep are gone before one is changed: with that one it would keep
  // them, and what they save would be taken for what the change saves.
  void AdviseAxes() {
    const std::unique_ptr<HloModule> in_row_major =
        how_.fuse ? WithoutUnassignedLayouts(module_) : nullptr;
    const HloComputation& entry =
        *(in_row_major == nullptr ? module_ : *in_row_major).entry_computation();
    std::map<std::pair<int64_t, int64_t>, int64_t> wasted;  // by parameter and dimension
    for (const KernelRow& row : report_.rows) {
      if (row.instruction->parent() != ready().entry_computation()) continue;
      for (const KernelAccess& access : report_.AnalysisOf(row).accesses) {
        if (access.is_write || !access.distance || access.distance->dimension < 0 ||
            access.distance->is_minor_dimension) {
          continue;
        }
        const HloInstruction* operand = row.instruction->operand(access.operand);
        if (operand->opcode() != HloOpcode::kParameter) continue;
        const int64_t bytes = internal::LeastOf(access.WastedBytes(report_.sector_bytes));
        auto& sum = wasted[{operand->parameter_number(), access.distance->dimension}];
        sum = internal::SaturatedSum(sum, internal::SaturatedProduct(bytes, row.counted_runs));
      }
    }
    std::vector<std::pair<int64_t, std::pair<int64_t, int64_t>>> worst;
    for (const auto& [which, bytes] : wasted) {
      if (bytes > 0) worst.emplace_back(-bytes, which);
    }
    absl::c_sort(worst);
    worst.resize(std::min(worst.size(), kMaxTried));
    for (const auto& [bytes, which] : worst) {
      const HloInstruction& parameter = *entry.parameter(which.first);
      if (!internal::MayHaveAnyLayout(parameter)) continue;
      const Layout layout = parameter.shape().LayoutOrRowMajor();
      Advice advice;
      advice.kind = "other axis";
      advice.text = absl::StrCat(
          "keep ", NameOfArgument(parameter), " with axis ", which.second, " last in memory: ",
          parameter.shape().rank() == 2 ? "swap its axes" : "move that axis there",
          " where it is made; neighbours along axis ", which.second,
          " are read together, and axis ", layout.minor_to_major.front(), " is last now");
      Try(internal::WithMinorDimension(parameter, which.second), /*is_ready=*/false,
          std::move(advice));
    }
  }

  // Arguments that kernels do nothing but transpose: all together, or the one that takes longest alone.
  void AdviseOrder() {
    std::vector<const HloInstruction*> kernels;
    std::vector<internal::TransposedArgument> arguments;
    absl::flat_hash_set<const HloInstruction*> seen;
    for (const KernelRow& row : report_.rows) {
      auto argument = internal::ArgumentTransposedBy(*row.instruction);
      if (!argument || !seen.insert(argument->parameter).second) continue;
      kernels.push_back(row.instruction);
      arguments.push_back(*std::move(argument));
    }
    for (; !kernels.empty(); kernels.resize(kernels.size() > 1 ? 1 : 0)) {
      std::vector<std::string> names;
      for (size_t i = 0; i < std::min(kernels.size(), kMaxNamed); ++i) {
        names.push_back(NameOfArgument(*arguments[i].parameter));
      }
      const size_t others = kernels.size() - names.size();
      Advice advice;
      advice.kind = "other order";
      advice.text = absl::StrCat(
          "store ", absl::StrJoin(names, ", "),
          others > 0 ? absl::StrCat(" and ", others, " more") : "", " transposed: ",
          kernels.size() == 1
              ? std::string(kernels[0]->name())
              : absl::StrCat(kernels.size(), " kernels, such as ", kernels[0]->name(), ","),
          kernels.size() == 1 ? " does" : " do", " nothing but that, to axes ",
          absl::StrJoin(arguments[0].axes, ", "));
      advice.source = internal::SourceOf(*kernels[0]);
      ChangedModule changed = internal::WithTransposed(kernels);
      // What is written may be an argument now.
      ModuleWithCopies copied;
      if (!changed.ok() || !AddCopies(**changed, &copied).ok()) return;
      if (copied.module != nullptr) changed = std::move(copied.module);
      if (Try(std::move(changed), /*is_ready=*/true, std::move(advice))) return;
    }
  }

  // What is computed again and again, the kernels that move most first.
  void AdviseKernels() {
    size_t tried = 0;
    absl::flat_hash_set<size_t> seen;
    for (const KernelRow& row : report_.rows) {
      const KernelAnalysis& analysis = report_.AnalysisOf(row);
      if (analysis.recomputed.empty() || !seen.insert(row.analysis).second) continue;
      if (row.instruction->opcode() != HloOpcode::kFusion || tried >= kMaxTried) continue;
      // Names are those of the kernel that was analysed.
      if (analysis.kernel !=
          absl::StrCat(row.instruction->parent()->name(), "/", row.instruction->name())) {
        continue;
      }
      ++tried;
      std::vector<std::string> names;
      names.reserve(analysis.recomputed.size());
      for (const Recomputation& again : analysis.recomputed) {
        names.push_back(absl::StrCat(again.opcode, " ", again.instruction));
      }
      Advice advice;
      advice.kind = "own kernel";
      advice.text = absl::StrCat("compute the ", absl::StrJoin(names, " and the "), " of ",
                                 row.instruction->name(),
                                 " before, behind an optimization barrier: inside it is computed "
                                 "again for each element that needs it");
      advice.source = row.source;
      Try(WithOwnKernels(*row.instruction, analysis.recomputed), /*is_ready=*/true,
          std::move(advice));
    }
  }

  // Transposes and copies that one fusion reads, those that take most time first.
  void AdviseFolding() {
    size_t tried = 0;
    for (const KernelRow& row : report_.rows) {
      const HloInstruction* fusion = internal::MayTakeIn(*row.instruction);
      if (fusion == nullptr || tried++ >= kMaxTried) continue;
      Advice advice;
      advice.kind = "fold";
      advice.text =
          absl::StrCat("read ", row.operands[0], " in ", fusion->name(), ", which alone reads ",
                       row.instruction->name(), ", in its order: without that kernel");
      advice.source = row.source;
      Try(internal::WithFolded(*row.instruction), /*is_ready=*/true, std::move(advice));
    }
  }

  // Kernels that read the same array, the largest arrays first: each with the next that may be one
  // with it.
  void AdviseJoining() {
    std::map<const HloInstruction*, std::vector<const KernelRow*>> readers;
    for (const KernelRow& row : report_.rows) {
      if (row.instruction->opcode() != HloOpcode::kFusion) continue;
      absl::flat_hash_set<const HloInstruction*> seen;
      for (const HloInstruction* operand : row.instruction->operands()) {
        if (operand->shape().IsArray() && seen.insert(operand).second) {
          readers[operand].push_back(&row);
        }
      }
    }
    std::vector<std::pair<int64_t, const HloInstruction*>> arrays;
    for (const auto& [array, rows] : readers) {
      const auto bytes = BufferBytesOf(array->shape());
      if (rows.size() < 2 || !bytes) continue;
      arrays.emplace_back(
          internal::SaturatedProduct(internal::LeastOf(*bytes), rows[0]->counted_runs), array);
    }
    absl::c_sort(arrays, [](const auto& a, const auto& b) {
      const auto order = [](const auto& of) {
        return std::tuple(-of.first, of.second->parent()->name(), of.second->name());
      };
      return order(a) < order(b);
    });
    // Two kernels may read several arrays, and are tried once.
    absl::flat_hash_set<std::pair<const HloInstruction*, const HloInstruction*>> tried;
    absl::flat_hash_set<const HloInstruction*> joined;
    for (const auto& [bytes, array] : arrays) {
      std::vector<const KernelRow*>& rows = readers[array];
      absl::c_sort(rows, [](const KernelRow* a, const KernelRow* b) {
        return a->instruction->index_in_computation() < b->instruction->index_in_computation();
      });
      for (size_t i = 0; i + 1 < rows.size(); ++i) {
        const HloInstruction& first = *rows[i]->instruction;
        const HloInstruction& second = *rows[i + 1]->instruction;
        if (joined.contains(&first) || !internal::MayBeOneKernel(first, second)) continue;
        if (!tried.emplace(&first, &second).second) continue;
        if (tried.size() > kMaxTried) return;
        Advice advice;
        advice.kind = "one kernel";
        advice.text =
            absl::StrCat("compute ", first.name(), " and ", second.name(), " together: both read ",
                         array->name(), ", which is read once then");
        advice.source = rows[i]->source;
        if (Try(internal::WithOneKernel(first, second), /*is_ready=*/true, std::move(advice))) {
          joined.insert(&second);
        }
      }
    }
  }

  // What is computed again, one after the other.
  static ChangedModule WithOwnKernels(const HloInstruction& kernel,
                                      const std::vector<Recomputation>& recomputed) {
    const std::string parent(kernel.parent()->name());
    const HloInstruction* fusion = &kernel;
    std::unique_ptr<HloModule> module;
    for (const Recomputation& again : recomputed) {
      const HloInstruction* inside = fusion->calls()->FindInstruction(again.instruction);
      if (inside == nullptr) return absl::NotFoundError(again.instruction);
      ChangedModule next = internal::WithOwnKernel(*fusion, *inside);
      if (!next.ok()) return next;
      fusion = (*next)->FindComputation(parent)->FindInstruction(kernel.name());
      module = *std::move(next);
    }
    return module;
  }

  const HloModule& module_;
  const ModuleReportOptions& how_;
  const ReportOptions& options_;
  ModuleWithCopies ready_;
  ModuleReport report_;
  internal::KnownKernels known_;
  double bytes_of_arguments_ = 0;
};

}  // namespace

absl::StatusOr<ReportedModule> ReportModule(const HloModule& module, const ModuleReportOptions& how,
                                            const ReportOptions& options) {
  return Adviser(module, how, options).Run();
}

}  // namespace xla_indexing
