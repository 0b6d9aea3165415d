#include "xla_indexing/report/analysis/findings.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/gpu/threads/emitter.h"

namespace xla_indexing::internal {
namespace {

constexpr size_t kMaxAccesses = 3;
// Fewer reads of an element are not worth a sentence.
constexpr double kManyReads = 4;

// Whole numbers where there are many: `126`, `1.5`, `2000000`.
std::string TimesText(double times) {
  return times < 1000 ? absl::StrCat(times) : absl::StrCat(std::llround(times));
}

absl::string_view VerbOf(const KernelAccess& access) {
  return access.is_write ? "writing" : "reading";
}

// `1048576 sectors where 131072 would do`.
std::string SectorsText(const KernelAccess& access) {
  return absl::StrCat(NumberText(access.sectors), " sectors where ",
                      NumberText(access.least_sectors), " would do");
}

// What makes neighbours of the elements of neighbouring lanes; empty where nothing is known to.
// Where other requests have the elements between those of the lanes, an array of what is needed has
// them in between as well; tiles hold all of them.
std::string FixesOf(const LaneDistance& distance, bool is_write, const std::string& name,
                    bool is_tiled) {
  const bool is_every_element = std::abs(distance.step) == 1;
  if (!is_every_element && distance.others_lie_between) {
    return is_tiled ? "" : "other requests have the elements between; tile through shared memory";
  }
  if (distance.is_minor_dimension) {
    return is_write ? "write a dense array and copy it to its place"
                    : absl::StrCat("copy what is needed of ", name, " beforehand");
  }
  const std::string transpose =
      is_write ? "write the result transposed"
               : absl::StrCat("transpose ", is_every_element ? "" : "what is needed of ", name,
                              " beforehand");
  // Tiles are dense: they do not help where elements between are never needed.
  return is_tiled || !is_every_element ? transpose : transpose + ", or tile through shared memory";
}

std::string FindingOf(const KernelAccess& access, const std::string& name, bool is_tiled,
                      int64_t sector_bytes) {
  const absl::string_view verb = VerbOf(access);
  if (access.depends_on_runtime_values) {
    return absl::StrCat(verb, " ", name, " takes ", SectorsText(access),
                        ": which elements the lanes of a warp have depends on values at run time");
  }
  if (!access.distance) {
    return absl::StrCat(verb, " ", name, " takes ", SectorsText(access),
                        ": the lanes of a warp are unevenly far apart");
  }
  const LaneDistance& distance = *access.distance;
  if (distance.bytes == 0) {
    return absl::StrCat(verb, " ", name, " takes ", SectorsText(access),
                        ": most lanes of a warp have one element, and those of another row take a "
                        "sector for theirs");
  }
  const int64_t bytes = std::abs(distance.bytes);
  if (distance.is_minor_dimension && std::abs(distance.step) == 1) {
    return absl::StrCat(verb, " ", name, " takes ", SectorsText(access),
                        ": lanes are neighbours, and rows begin in the middle of sectors; pad rows "
                        "to multiples of ",
                        sector_bytes, " bytes");
  }
  const std::string apart = absl::StrCat(verb, " ", name, " makes lanes ", bytes, " bytes apart");
  if (distance.dimension < 0) return absl::StrCat(apart, ": ", SectorsText(access));
  const int64_t step = std::abs(distance.step);
  const std::string along =
      step > 1 ? absl::StrCat(", each ", step, " elements of dimension ", distance.dimension, " on")
               : absl::StrCat(", along dimension ", distance.dimension);
  std::string fixes = FixesOf(distance, access.is_write, name, is_tiled);
  if (!fixes.empty()) absl::StrAppend(&fixes, ": ");
  return absl::StrCat(apart, along, ": ", fixes, NumberText(access.least_sectors), " instead of ",
                      NumberText(access.sectors), " sectors");
}

}  // namespace

std::string NumberText(const Interval& count) {
  return count.IsPoint()     ? absl::StrCat(count.lower())
         : count.has_upper() ? absl::StrCat(count.lower(), " to ", count.upper())
                             : absl::StrCat("at least ", count.has_lower() ? count.lower() : 0);
}

std::string AccessedName(const KernelAccess& access, const std::vector<std::string>& operands) {
  if (access.is_write) {
    return access.leaf == 0 ? "the result" : absl::StrCat("leaf ", access.leaf, " of the result");
  }
  const auto i = static_cast<size_t>(access.operand);
  const std::string name = i < operands.size() ? operands[i] : absl::StrCat("operand ", i);
  return access.leaf == 0 ? name : absl::StrCat(name, " leaf ", access.leaf);
}

std::vector<std::string> FindingsOf(const KernelAnalysis& analysis,
                                    const std::vector<std::string>& operands,
                                    int64_t sector_bytes) {
  std::vector<std::string> findings;
  std::vector<const KernelAccess*> wasteful;
  const auto waste = [&](const KernelAccess* access) {
    const Interval bytes = access->WastedBytes(sector_bytes);
    return bytes.has_lower() ? bytes.lower() : 0;
  };
  for (const KernelAccess& access : analysis.accesses) {
    if (waste(&access) > 0) wasteful.push_back(&access);
  }
  std::stable_sort(
      wasteful.begin(), wasteful.end(),
      [&](const KernelAccess* a, const KernelAccess* b) { return waste(a) > waste(b); });
  // Several maps of an operand may have one sentence.
  std::vector<int> maps_of;
  for (const KernelAccess* access : wasteful) {
    std::string finding =
        FindingOf(*access, AccessedName(*access, operands),
                  analysis.kind == EmitterKindName(EmitterKind::kTranspose), sector_bytes);
    const auto same = absl::c_find(findings, finding);
    if (same != findings.end()) {
      ++maps_of[static_cast<size_t>(same - findings.begin())];
    } else if (findings.size() < kMaxAccesses) {
      findings.push_back(std::move(finding));
      maps_of.push_back(1);
    }
  }
  for (size_t i = 0; i < findings.size(); ++i) {
    if (maps_of[i] > 1) absl::StrAppend(&findings[i], ", through each of ", maps_of[i], " maps");
  }
  for (const Recomputation& again : analysis.recomputed) {
    findings.push_back(absl::StrCat("the ", again.opcode, " ", again.instruction,
                                    " is recomputed: ", NumberText(again.computations),
                                    " computations of ", NumberText(again.elements),
                                    " elements; a kernel of its own would compute each once"));
  }
  // What is not made by an emitter is not charged: a product of matrices reads its operands many times.
  if (analysis.has_sectors && analysis.reads_per_element.value_or(0) >= kManyReads &&
      analysis.most_read_operand < static_cast<int64_t>(operands.size())) {
    findings.push_back(
        absl::StrCat("each element of ", operands[static_cast<size_t>(analysis.most_read_operand)],
                     " that is read is read ", TimesText(*analysis.reads_per_element), " times"));
  }
  return findings;
}

std::vector<std::string> NotKnownOf(const KernelAnalysis& analysis, const KernelRow& row) {
  std::vector<std::string> sentences;
  for (const KernelAccess& access : analysis.accesses) {
    if (access.reason.empty()) continue;
    std::string sentence =
        absl::StrCat(VerbOf(access), " ", AccessedName(access, row.operands), ": ", access.reason);
    // Several maps of an operand may have one reason.
    if (!absl::c_linear_search(sentences, sentence)) sentences.push_back(std::move(sentence));
  }
  absl::c_copy(analysis.open_questions, std::back_inserter(sentences));
  if (!row.runs_reason.empty()) sentences.push_back(row.runs_reason);
  return sentences;
}

}  // namespace xla_indexing::internal
