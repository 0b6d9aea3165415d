#include "xla_indexing/tools/answers/kernel_output.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/walk/fusion_options.h"
#include "xla_indexing/gpu/coalescing.h"
#include "xla_indexing/gpu/fusion_mapping.h"
#include "xla_indexing/ops/answers/binding_words.h"
#include "xla_indexing/report/write/json_writer.h"
#include "xla_indexing/tools/answers/coalescing_output.h"

namespace xla_indexing {
namespace {

using internal::JsonWriter;

// The operand of the subject that a parameter of its view stands for.
int64_t OperandOf(const Subject& subject, const FusionView& view, int64_t parameter) {
  const auto operands = subject.operands();
  for (size_t i = 0; i < operands.size(); ++i) {
    if (view.ParameterOf(*operands[i]) == parameter) return static_cast<int64_t>(i);
  }
  return 0;
}

std::string NameIn(const FusionView& view, const HloInstruction& copy) {
  const HloInstruction* original = view.OriginalOf(copy);
  return std::string(original == nullptr ? copy.name() : original->name());
}

ReportedMap ReportMap(const OperandIndexing& map) {
  ReportedMap report{map, map.MapToString(), {}};
  for (int i = 0; i < (map.IsUnknown() ? 0 : map.map().num_runtimes()); ++i) {
    report.bindings.push_back(map.BindingToString(i, BeginOfPath(map.bindings()[i])));
  }
  if (map.replica_map() != nullptr) report.replica = map.ReplicaToString();
  return report;
}

absl::Status FillIn(const Subject& subject, const CommandLine& line, const FusionView& view,
                    mlir::MLIRContext* context, ReportedKernel* kernel) {
  EmitterOptions emitter;
  emitter.warp_size = line.launch.options.warp_size;
  FusionOptions options;
  options.indexing.exact = line.exact;
  const absl::StatusOr<FusionMapping> mapping =
      MappingForFusion(view.computation(), context, emitter);
  if (!mapping.ok()) return mapping.status();
  kernel->kind = std::string(EmitterKindName(mapping->kind));
  kernel->hero = NameIn(view, mapping->hero());
  kernel->threads_per_block = mapping->array().mapping.ThreadsPerBlock();
  kernel->blocks = mapping->array().mapping.NumBlocks();
  const absl::StatusOr<FusionAccesses> accesses = AccessesOf(*mapping, context, options);
  if (!accesses.ok()) return accesses.status();
  for (const ThreadAccess& access : accesses->accesses) {
    ReportedAccess report;
    report.is_read = access.kind == ThreadAccess::Kind::kRead;
    report.number = report.is_read ? OperandOf(subject, view, access.number) : 0;
    report.leaf = access.leaf;
    if (report.is_read ? line.operand_id.value_or(report.number) != report.number
                       : line.output_id.value_or(report.leaf) != report.leaf) {
      continue;
    }
    report.is_leaf_of_tuple =
        report.is_read && subject.operands()[report.number]->shape().IsTuple();
    report.array = NameIn(view, *access.array.instruction);
    report.thread_map = access.array.mapping.map.ToString();
    const absl::StatusOr<CoalescingAnalysis> analysis =
        CoalescingAnalysis::Create(access.array.mapping, access.array.shape(), line.launch.options);
    if (!analysis.ok()) return analysis.status();
    for (const OperandIndexing& map : access.indexing) {
      report.maps.push_back(ReportMap(map));
      report.maps.back().coalescing =
          ReportOf(*analysis, analysis->OfReads(map, *access.accessed), &map, *access.accessed);
    }
    SortByLines(&report.maps);
    kernel->accesses.push_back(std::move(report));
  }
  return absl::OkStatus();
}

}  // namespace

ReportedKernel ReportKernel(const Subject& subject, const CommandLine& line,
                            mlir::MLIRContext* context) {
  ReportedKernel kernel;
  const absl::StatusOr<FusionView> view = subject.is_fusion
                                              ? FusionView::OfComputation(subject.computation())
                                              : FusionView::OfFusion(*subject.instruction);
  const absl::Status status =
      view.ok() ? FillIn(subject, line, *view, context, &kernel) : view.status();
  if (!status.ok()) {
    kernel = ReportedKernel();
    kernel.error =
        QuestionBudget::IsSpent() ? QuestionBudget::Reason() : std::string(status.message());
  }
  return kernel;
}

void AppendKernel(const ReportedKernel& kernel, double factor, std::string* out) {
  if (!kernel.error.empty()) {
    absl::StrAppend(out, "Kernel: unknown: ", kernel.error, "\n");
    return;
  }
  absl::StrAppend(out, "Kernel: ", kernel.kind, ", hero ", kernel.hero, ", ", kernel.blocks,
                  " blocks of ", kernel.threads_per_block, " threads\n");
  for (const ReportedAccess& access : kernel.accesses) {
    if (access.is_read) {
      absl::StrAppend(out, "Operand ", access.number);
      if (access.is_leaf_of_tuple) absl::StrAppend(out, " leaf ", access.leaf);
    } else {
      absl::StrAppend(out, "Output ", access.leaf);
    }
    absl::StrAppend(out, access.is_read ? " is read" : " is written", " by threads over ",
                    access.array, ":\n  ", access.thread_map, "\n");
    for (const ReportedMap& map : access.maps) {
      absl::StrAppend(out, map.line, "\n");
      for (const std::string& binding : map.bindings) absl::StrAppend(out, "  ", binding, "\n");
      if (!map.replica.empty()) absl::StrAppend(out, "  ", map.replica, "\n");
      AppendCoalescing(*map.coalescing, factor, "  ", out);
    }
  }
}

void WriteKernel(const Subject& subject, const ReportedKernel& kernel, JsonWriter* json) {
  json->Field("computation", subject.computation().name());
  json->Field("instruction", subject.instruction->name());
  if (!kernel.error.empty()) {
    json->Field("reason", kernel.error);
    return;
  }
  json->Field("kind", kernel.kind);
  json->Field("hero", kernel.hero);
  json->Field("threads_per_block", kernel.threads_per_block);
  json->Field("blocks", kernel.blocks);
  json->Objects("accesses", kernel.accesses, [&](const ReportedAccess& access) {
    json->Field("access", access.is_read ? "read" : "write");
    if (access.is_read) {
      json->Field("operand_id", access.number);
      json->Field("operand_leaf", access.leaf);
    } else {
      json->Field("output_id", access.leaf);
    }
    json->Field("array", access.array);
    json->Field("thread_map", access.thread_map);
    json->Objects("maps", access.maps, [&](const ReportedMap& map) {
      json->Field("map", map.indexing.IsUnknown() ? "" : map.indexing.map().ToString());
      json->Object("coalescing", *map.coalescing, WriteCoalescing);
    });
  });
}

}  // namespace xla_indexing
