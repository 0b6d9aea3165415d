#include "xla_indexing/report/analysis/loop_figures.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/ops/values/leaf_routes.h"
#include "xla_indexing/query/utilization/utilization.h"
#include "xla_indexing/report/analysis/findings.h"
#include "xla_indexing/report/write/report_text.h"

namespace xla_indexing::internal {
namespace {

constexpr size_t kMaxMaps = 2;   // of a leaf
constexpr size_t kMaxNotes = 6;  // about leaves

// The entries of the body of a loop in which another leaf than `leaf` reads it.
InstructionIndexing EntriesThatRead(const InstructionIndexing& entries, int64_t leaf) {
  InstructionIndexing reads;
  absl::c_copy_if(entries, std::back_inserter(reads), [&](const IndexingEntry& entry) {
    return entry.operand_leaf == leaf && entry.output_leaf != leaf;
  });
  return reads;
}

void AddMaps(const InstructionIndexing& entries, UnchangedLeafRead* read) {
  for (const IndexingEntry& entry : entries) {
    for (const OperandIndexing& map : entry.indexing) {
      std::string text = map.MapToString();
      if (read->maps.size() >= kMaxMaps || absl::c_linear_search(read->maps, text)) continue;
      read->maps.push_back(std::move(text));
    }
  }
}

// The name that a leaf of the state has outside: that of what the tuple is made of there.
std::string NameOfLeaf(const HloInstruction& loop, int64_t leaf) {
  const LeafSource source = FollowRoutes({loop.operand(0), leaf});
  const std::string name(source.instruction->name());
  return source.leaf == 0 ? name : absl::StrCat(name, " leaf ", source.leaf);
}

absl::string_view WithoutDomain(absl::string_view map) {
  return map.substr(0, map.find(", domain:"));
}

std::string HowOften(const Interval& times) {
  if (times == Interval::Point(1)) return "once";
  if (times == Interval::AtLeast(0)) return "any number of times";
  return absl::StrCat(NumberText(times), " times");
}

int64_t LeastBytes(const UnchangedLeafRead& read) {
  return read.bytes_read.has_lower() ? read.bytes_read.lower() : 0;
}

}  // namespace

std::vector<UnchangedLeafRead> ReadsOfIteration(const HloInstruction& loop, HloIndexers& indexers) {
  std::vector<UnchangedLeafRead> reads;
  const HloComputation& body = *loop.while_body();
  const absl::StatusOr<SharedIndexing> entries =
      indexers.usual().Index(body, Direction::kOutputToInput);
  if (!entries.ok()) return reads;
  const std::vector<bool> is_unchanged = LeavesPassedThrough(loop);
  for (size_t i = 0; i < is_unchanged.size(); ++i) {
    const auto leaf = static_cast<int64_t>(i);
    const Shape& shape = loop.shape().Leaf(leaf);
    if (!is_unchanged[i] || !shape.IsArray()) continue;
    const InstructionIndexing of_leaf = EntriesThatRead(**entries, leaf);
    const auto exact = [&]() -> absl::StatusOr<SharedIndexing> {
      const auto all = indexers.exact().Index(body, Direction::kOutputToInput);
      if (!all.ok()) return all.status();
      return std::make_shared<const InstructionIndexing>(EntriesThatRead(**all, leaf));
    };
    const absl::StatusOr<UtilizationReport> use =
        ReportUtilization(of_leaf, exact, *body.root_instruction(), body.parameters());
    if (!use.ok() || use->total.bytes_read == Interval::Point(0)) continue;
    UnchangedLeafRead& read = reads.emplace_back();
    read.leaf = leaf;
    read.shape = shape.ToString();
    read.bytes_read = use->total.bytes_read;
    for (const OperandUtilization& operand : use->operands) {
      if (operand.operand_leaf == leaf) read.bytes = operand.utilization.bytes;
    }
    AddMaps(of_leaf, &read);
  }
  return reads;
}

std::vector<std::string> NotesOfLoop(const HloInstruction& loop, const LoopFigures& figures) {
  std::vector<std::string> notes;
  notes.push_back(absl::StrCat("its body ", loop.while_body()->name(), " runs ",
                               HowOften(figures.iterations), ", and the kernels inside run ",
                               HowOften(figures.kernel_runs), ", all together"));
  std::vector<const UnchangedLeafRead*> most;
  for (const UnchangedLeafRead& read : figures.reads) most.push_back(&read);
  absl::c_stable_sort(most, [](const UnchangedLeafRead* a, const UnchangedLeafRead* b) {
    return LeastBytes(*a) > LeastBytes(*b);
  });
  most.resize(std::min(most.size(), kMaxNotes));
  for (const UnchangedLeafRead* read : most) {
    const std::string maps = absl::StrJoin(
        read->maps, " and ",
        [](std::string* out, const auto& map) { absl::StrAppend(out, WithoutDomain(map)); });
    notes.push_back(absl::StrCat("one iteration reads ", BytesText(read->bytes_read), " of the ",
                                 BytesText(read->bytes), " of ", NameOfLeaf(loop, read->leaf), ": ",
                                 maps));
  }
  return notes;
}

}  // namespace xla_indexing::internal
