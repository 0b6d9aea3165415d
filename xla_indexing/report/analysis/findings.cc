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
#include "xla_indexing/report/saturated.h"

namespace xla_indexing::internal {
namespace {

constexpr size_t kMaxAccesses = 3;
// Fewer reads of an element are not worth a sentence.
constexpr double kManyReads = 4;
constexpr double kShareOfKernel = 0.05;

// Whole numbers where there are many: `126`, `1.5`, `2000000`.
std::string TimesText(double times) {
  return times < 1000 ? absl::StrCat(times) : absl::StrCat(std::llround(times));
}

// What the elements are called that are accessed together.
struct Words {
  absl::string_view lanes;
  absl::string_view lanes_of_a_warp;
  absl::string_view neighbours;
  absl::string_view make_tiles;
};
constexpr Words kWordsOfGpu = {"lanes", "the lanes of a warp", "lanes of a warp",
                               "tile through shared memory"};
constexpr Words kWordsOfCpu = {"neighbours", "neighbouring elements", "neighbouring elements",
                               "work in tiles"};

// What is asked for of the operand that is read most often, and need not be read twice; 0 where the cache
// has it. Of a small share of what the kernel moves nothing is said.
int64_t BytesReadAgain(const KernelAnalysis& analysis, const FindingOptions& options) {
  int64_t asked = 0;
  int64_t once = 0;
  std::vector<int64_t> leaves;
  for (const KernelAccess& access : analysis.accesses) {
    if (access.is_write || access.operand != analysis.most_read_operand) continue;
    asked = SaturatedSum(asked, SaturatedProduct(LeastOf(access.sectors), options.sector_bytes));
    if (absl::c_linear_search(leaves, access.leaf)) continue;
    leaves.push_back(access.leaf);
    once = SaturatedSum(once, access.bytes);
  }
  const int64_t again = asked - once;
  const bool is_small = once <= options.cache_bytes ||
                        static_cast<double>(again) <
                            kShareOfKernel * static_cast<double>(LeastOf(analysis.bytes_moved));
  return is_small ? 0 : again;
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
                    bool is_tiled, const Words& words) {
  const bool is_every_element = std::abs(distance.step) == 1;
  if (!is_every_element && distance.others_lie_between) {
    return is_tiled ? ""
                    : absl::StrCat("other requests have the elements between; ", words.make_tiles);
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
  return is_tiled || !is_every_element ? transpose
                                       : absl::StrCat(transpose, ", or ", words.make_tiles);
}

std::string FindingOf(const KernelAccess& access, const std::string& name, bool is_tiled,
                      const FindingOptions& options) {
  const Words& words = options.is_cpu ? kWordsOfCpu : kWordsOfGpu;
  const absl::string_view verb = VerbOf(access);
  if (access.depends_on_runtime_values) {
    return absl::StrCat(verb, " ", name, " takes ", SectorsText(access), ": which elements ",
                        words.lanes_of_a_warp, " have depends on values at run time");
  }
  if (!access.distance) {
    return absl::StrCat(verb, " ", name, " takes ", SectorsText(access), ": ",
                        words.lanes_of_a_warp, " are unevenly far apart");
  }
  const LaneDistance& distance = *access.distance;
  if (distance.bytes == 0) {
    return absl::StrCat(verb, " ", name, " takes ", SectorsText(access), ": most ",
                        words.neighbours,
                        " have one element, and those of another row take a sector for theirs");
  }
  const int64_t bytes = std::abs(distance.bytes);
  if (distance.is_minor_dimension && std::abs(distance.step) == 1) {
    return absl::StrCat(verb, " ", name, " takes ", SectorsText(access), ": ", words.lanes,
                        " lie side by side, and rows begin in the middle of sectors; pad rows to "
                        "multiples of ",
                        options.sector_bytes, " bytes");
  }
  const std::string apart =
      absl::StrCat(verb, " ", name, " makes ", words.lanes, " ", bytes, " bytes apart");
  if (distance.dimension < 0) return absl::StrCat(apart, ": ", SectorsText(access));
  const int64_t step = std::abs(distance.step);
  const std::string along =
      step > 1 ? absl::StrCat(", each ", step, " elements of dimension ", distance.dimension, " on")
               : absl::StrCat(", along dimension ", distance.dimension);
  std::string fixes = FixesOf(distance, access.is_write, name, is_tiled, words);
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

std::vector<Finding> FindingsOf(const KernelAnalysis& analysis,
                                const std::vector<std::string>& operands,
                                const FindingOptions& options) {
  std::vector<Finding> findings;
  // Several maps of an operand may have one sentence.
  std::vector<int> maps_of;
  for (const KernelAccess& access : analysis.accesses) {
    const int64_t waste = LeastOf(access.WastedBytes(options.sector_bytes));
    const bool is_broadcast = access.distance && access.distance->bytes == 0;
    if (waste <= 0 || (is_broadcast && access.bytes <= options.cache_bytes)) continue;
    std::string text =
        FindingOf(access, AccessedName(access, operands),
                  analysis.kind == EmitterKindName(EmitterKind::kTranspose), options);
    const auto same =
        absl::c_find_if(findings, [&](const Finding& known) { return known.text == text; });
    if (same == findings.end()) {
      findings.push_back({std::move(text), waste});
      maps_of.push_back(1);
    } else {
      same->bytes = SaturatedSum(same->bytes, waste);
      ++maps_of[static_cast<size_t>(same - findings.begin())];
    }
  }
  for (size_t i = 0; i < findings.size(); ++i) {
    if (maps_of[i] < 2) continue;
    absl::StrAppend(&findings[i].text, ", through each of ", maps_of[i], " maps");
  }
  const auto is_worse = [](const Finding& a, const Finding& b) { return a.bytes > b.bytes; };
  absl::c_stable_sort(findings, is_worse);
  findings.resize(std::min(findings.size(), kMaxAccesses));
  for (const Recomputation& again : analysis.recomputed) {
    findings.push_back({absl::StrCat("the ", again.opcode, " ", again.instruction,
                                     " is recomputed: ", NumberText(again.computations),
                                     " computations of ", NumberText(again.elements),
                                     " elements; a kernel of its own would compute each once"),
                        analysis.traffic});
  }
  // What is not made by an emitter is not charged: a product of matrices reads its operands many times.
  if (analysis.has_sectors && analysis.reads_per_element.value_or(0) >= kManyReads &&
      analysis.most_read_operand < static_cast<int64_t>(operands.size())) {
    if (const int64_t bytes = BytesReadAgain(analysis, options); bytes > 0) {
      findings.push_back(
          {absl::StrCat("each element of ",
                        operands[static_cast<size_t>(analysis.most_read_operand)],
                        " that is read is read ", TimesText(*analysis.reads_per_element), " times"),
           bytes});
    }
  }
  absl::c_stable_sort(findings, is_worse);
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
