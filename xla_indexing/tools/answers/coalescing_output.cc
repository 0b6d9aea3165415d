#include "xla_indexing/tools/answers/coalescing_output.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/gpu/coalescing.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"
#include "xla_indexing/tools/answers/count_output.h"
#include "xla_indexing/tools/input/launch.h"

namespace xla_indexing {
namespace {

using internal::FloorDiv;
using internal::JsonWriter;

absl::StatusOr<CoalescingAnalysis> AnalysisOf(const Shape& output, const LaunchFlags& flags,
                                              mlir::MLIRContext* context) {
  absl::StatusOr<ThreadMapping> mapping = ThreadMappingOf(output, flags, context);
  if (!mapping.ok()) return mapping.status();
  return CoalescingAnalysis::Create(*std::move(mapping), output, flags.options);
}

ReportedCoalescing NoLaunch(const absl::Status& status) {
  ReportedCoalescing report;
  report.coalescing = Coalescing::Unknown(std::string(status.message()));
  return report;
}

// The first byte of each thread.
std::vector<LaneAddress> FirstOfThreads(const std::vector<LaneAddress>& addresses) {
  std::vector<LaneAddress> first;
  for (const LaneAddress& address : addresses) {
    if (first.empty() || first.back().thread != address.thread) first.push_back(address);
  }
  return first;
}

// `0 to 124 in steps of 4`, or all of them.
std::string BytesText(const std::vector<LaneAddress>& lanes) {
  const auto byte = [&](size_t i) { return FloorDiv(lanes[i].bit, 8); };
  if (lanes.size() > 2) {
    const int64_t step = byte(1) - byte(0);
    bool is_even = true;
    for (size_t i = 2; i < lanes.size(); ++i) is_even &= byte(i) - byte(i - 1) == step;
    if (is_even) {
      return absl::StrCat(byte(0), " to ", byte(lanes.size() - 1), " in steps of ", step);
    }
  }
  return absl::StrJoin(lanes, ", ", [](std::string* out, const LaneAddress& lane) {
    absl::StrAppend(out, FloorDiv(lane.bit, 8));
  });
}

// `: 7 sectors where 6 would do, 17% more; the margin is 1.25 a request`; nothing if none is
// lost, or not one number.
std::string LossText(const Coalescing& coalescing, double factor) {
  if (!coalescing.sectors.IsPoint() || !coalescing.least_sectors.IsPoint()) return "";
  const int64_t sectors = coalescing.sectors.lower();
  const int64_t least = coalescing.least_sectors.lower();
  if (sectors <= least || least == 0) return "";
  const double percent = 100.0 * static_cast<double>(sectors - least) / static_cast<double>(least);
  return absl::StrCat(
      ": ", sectors, " sectors where ", least, " would do, ",
      percent < 10 ? absl::StrFormat("%.2g", percent) : absl::StrFormat("%.0f", percent),
      "% more; the margin is ", factor, " a request");
}

}  // namespace

ReportedCoalescing ReportOf(const CoalescingAnalysis& analysis, Coalescing coalescing,
                            const OperandIndexing* indexing, const Shape& accessed) {
  ReportedCoalescing report{std::move(coalescing), {}, {}};
  if (!report.coalescing.worst) return report;
  const auto addresses = analysis.AddressesOf(*report.coalescing.worst, indexing, accessed);
  if (addresses.ok()) report.addresses = *addresses;
  return report;
}

absl::Status CheckLaunch(const Subject& subject, const CommandLine& line) {
  // The row-major loop goes over any output.
  if (line.launch.thread_map.empty()) return absl::OkStatus();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  absl::Status first = absl::OkStatus();
  const Shape& output = subject.instruction->shape();
  for (int64_t leaf = 0; leaf < output.LeafCount(); ++leaf) {
    if (line.output_id.value_or(leaf) != leaf) continue;
    const absl::Status status = AnalysisOf(output.Leaf(leaf), line.launch, &context).status();
    if (status.ok()) return status;
    if (first.ok()) first = status;
  }
  return first;
}

CoalescingAnswers::CoalescingAnswers(const Subject& subject, const CommandLine& line,
                                     mlir::MLIRContext* context)
    : subject_(subject), line_(line), context_(context), analysis_(absl::UnknownError("")) {}

CoalescingAnswers::~CoalescingAnswers() = default;

const absl::StatusOr<CoalescingAnalysis>& CoalescingAnswers::AnalysisOfLeaf(int64_t leaf) {
  if (leaf != leaf_) {
    leaf_ = leaf;
    analysis_ = AnalysisOf(subject_.instruction->shape().Leaf(leaf), line_.launch, context_);
  }
  return analysis_;
}

void CoalescingAnswers::AnswerReads(std::vector<ReportedEntry>* entries) {
  for (ReportedEntry& entry : *entries) {
    for (ReportedMap& map : entry.maps) {
      const absl::StatusOr<CoalescingAnalysis>& analysis = AnalysisOfLeaf(entry.output_leaf);
      const Shape& operand = subject_.operands()[entry.operand]->shape().Leaf(entry.operand_leaf);
      map.coalescing = analysis.ok() ? ReportOf(*analysis, analysis->OfReads(map.indexing, operand),
                                                &map.indexing, operand)
                                     : NoLaunch(analysis.status());
    }
  }
}

std::vector<ReportedWrites> CoalescingAnswers::AnswerWrites() {
  std::vector<ReportedWrites> writes;
  if (!subject_.WritesItsResult()) return writes;
  const std::vector<const Shape*> leaves = subject_.instruction->shape().Leaves();
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    const auto number = static_cast<int64_t>(leaf);
    if (line_.output_id.value_or(number) != number) continue;
    const absl::StatusOr<CoalescingAnalysis>& analysis = AnalysisOfLeaf(number);
    writes.push_back(
        {number, analysis.ok() ? ReportOf(*analysis, analysis->OfWrites(), nullptr, *leaves[leaf])
                               : NoLaunch(analysis.status())});
    if (analysis.ok() && !line_.launch.thread_map.empty()) {
      const absl::StatusOr<ThreadCoverage> coverage =
          CoverageOf(analysis->mapping(), *leaves[leaf]);
      if (coverage.ok()) writes.back().writes.coverage = *coverage;
    }
  }
  return writes;
}

void AppendCoalescing(const ReportedCoalescing& report, double factor, absl::string_view indent,
                      std::string* out) {
  const Coalescing& coalescing = report.coalescing;
  absl::StrAppend(out, indent, "coalescing: ");
  if (coalescing.IsUnknown()) {
    absl::StrAppend(out, "unknown: ", coalescing.reason, "\n");
    return;
  }
  absl::StrAppend(out, CountText(coalescing.requests), " requests, ", CountText(coalescing.sectors),
                  " sectors of ", CountText(coalescing.least_sectors), " at least");
  if (const auto efficiency = coalescing.Efficiency()) {
    absl::StrAppendFormat(out, " (efficiency %.2f)", *efficiency);
  }
  absl::StrAppend(out, ", ", CountText(coalescing.lines), " lines; ",
                  !coalescing.coalesced   ? "may be coalesced"
                  : *coalescing.coalesced ? "coalesced"
                                          : "not coalesced",
                  LossText(coalescing, factor), coalescing.IsExact() ? "\n" : "; bounds\n");
  if (coalescing.worst && coalescing.coalesced != true) {
    const std::vector<LaneAddress> lanes = FirstOfThreads(report.addresses);
    absl::StrAppend(out, indent, "  worst: ", coalescing.worst_cost.units, " sectors of ",
                    coalescing.worst_cost.least, " at least, block (",
                    absl::StrJoin(coalescing.worst->block, ", "), ")");
    if (!lanes.empty()) {
      absl::StrAppend(out, ", threads ", lanes.front().thread, " to ", lanes.back().thread,
                      ", bytes ", BytesText(lanes));
    }
    out->push_back('\n');
  }
  if (report.coverage && !report.coverage->IsOnce()) {
    absl::StrAppend(out, indent, "  thread map: ", CountText(report.coverage->computed), " of ",
                    CountText(report.coverage->elements), " elements, computed ",
                    CountText(report.coverage->computations), " times\n");
  }
}

void AppendWrites(const std::vector<ReportedWrites>& writes, double factor, std::string* out) {
  for (const ReportedWrites& leaf : writes) {
    absl::StrAppend(out, "Output ", leaf.output_leaf, " writes:\n");
    AppendCoalescing(leaf.writes, factor, "  ", out);
  }
}

void WriteCoalescing(const ReportedCoalescing& report, JsonWriter* json) {
  const Coalescing& coalescing = report.coalescing;
  json->Field("requests", coalescing.requests);
  json->Field("sectors", coalescing.sectors);
  json->Field("least_sectors", coalescing.least_sectors);
  json->Field("lines", coalescing.lines);
  json->Field("efficiency", coalescing.Efficiency());
  json->Field("coalesced", coalescing.coalesced);
  json->Field("exact", coalescing.IsExact());
  if (coalescing.IsUnknown()) json->Field("reason", coalescing.reason);
  json->ObjectIfAny("worst", coalescing.worst, [&](const auto& worst) {
    json->Field("sectors", coalescing.worst_cost.units);
    json->Field("least_sectors", coalescing.worst_cost.least);
    json->Field("block", worst.block);
    json->Field("loops", worst.loops);
    json->Field("symbols", worst.symbols);
    const std::vector<LaneAddress> lanes = FirstOfThreads(report.addresses);
    json->Values("threads", lanes, [](const LaneAddress& lane) { return lane.thread; });
    json->Values("addresses", lanes, [](const LaneAddress& lane) { return FloorDiv(lane.bit, 8); });
  });
  json->ObjectIfAny("thread_map", report.coverage, [&](const ThreadCoverage& coverage) {
    json->Field("elements", coverage.elements);
    json->Field("computed", coverage.computed);
    json->Field("computations", coverage.computations);
  });
}

void WriteWrites(const Subject& subject, const ReportedWrites& leaf, JsonWriter* json) {
  json->Field("computation", subject.computation().name());
  json->Field("instruction", subject.instruction->name());
  json->Field("output_id", leaf.output_leaf);
  json->Object("writes", leaf.writes, WriteCoalescing);
}

}  // namespace xla_indexing
