#include "xla_indexing/report/analysis/group_kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/report/saturated.h"

namespace xla_indexing::internal {
namespace {

// The end of a component that begins at `begin`: a `/` outside of parentheses.
size_t EndOfComponent(absl::string_view path, size_t begin) {
  int64_t depth = 0;
  for (size_t i = begin; i < path.size(); ++i) {
    if (path[i] == '(') ++depth;
    if (path[i] == ')' && depth > 0) --depth;
    if (path[i] == '/' && depth == 0) return i;
  }
  return path.size();
}

// Sums by a key, the most time first. A key of which there is one name alone is named so.
class Sums {
 public:
  void Add(const std::string& key, const std::string& name, const KernelAnalysis& analysis,
           const KernelRow& row) {
    const auto [it, is_new] = places_.try_emplace(key, sums_.size());
    if (is_new) sums_.push_back({name, {}});
    NamedTotals& sum = sums_[it->second];
    if (sum.name != name) sum.name = key;
    sum.totals.Add(analysis, row.runs, row.counted_runs);
  }

  std::vector<NamedTotals> Take() && {
    absl::c_stable_sort(sums_, [](const NamedTotals& a, const NamedTotals& b) {
      return a.totals.microseconds > b.totals.microseconds;
    });
    return std::move(sums_);
  }

 private:
  absl::flat_hash_map<std::string, size_t> places_;
  std::vector<NamedTotals> sums_;
};

class Grouper {
 public:
  explicit Grouper(ModuleReport* report) : report_(*report) {}

  void Group() && {
    Sums modules;
    Sums functions;
    places_of_analyses_.assign(report_.analyses.size(), report_.rows.size());
    for (const KernelRow& row : report_.rows) {
      AddToGroup(row);
      const KernelAnalysis& analysis = report_.AnalysisOf(row);
      if (analysis.loop) continue;
      const bool is_named = !row.source.op_name.empty();
      std::string path = ModulePathOf(row.source.op_name);
      if (path.empty()) path = is_named ? "outside of modules" : "no op_name";
      modules.Add(WithoutNumbers(path), path, analysis, row);
      std::string function = FunctionOf(row.source);
      if (function.empty()) function = "no source";
      functions.Add(function, function, analysis, row);
    }
    report_.by_module = std::move(modules).Take();
    report_.by_source = std::move(functions).Take();
    for (KernelGroup& group : report_.groups) {
      group.places = static_cast<int64_t>(sources_[group.analysis].size());
    }
  }

 private:
  void AddToGroup(const KernelRow& row) {
    const KernelAnalysis& analysis = report_.AnalysisOf(row);
    size_t& place = places_of_analyses_[row.analysis];
    const bool is_new = place == report_.rows.size();
    if (is_new) {
      place = report_.groups.size();
      KernelGroup& group = report_.groups.emplace_back();
      group.analysis = row.analysis;
      group.name = absl::StrCat(row.instruction->parent()->name(), "/", row.instruction->name());
      group.source = row.source;
      group.worst_operand = row.worst_operand;
      group.notes = row.notes;
      group.not_known = row.not_known;
      group.findings = row.findings;
    }
    KernelGroup& group = report_.groups[place];
    if (!is_new) AddFindings(row, &group);
    group.runs = group.runs.Add(row.runs);
    group.counted_runs = SaturatedSum(group.counted_runs, row.counted_runs);
    group.totals.Add(analysis, row.runs, row.counted_runs);
    const std::string pattern = WithoutNumbers(row.source.op_name);
    sources_[row.analysis].insert(absl::StrCat(pattern, " ", FunctionOf(row.source)));
    if (group.source.op_name != row.source.op_name &&
        WithoutNumbers(group.source.op_name) == pattern) {
      group.source.op_name = pattern;
    }
  }

  // Those of equal kernels are the same but for names and how often they run.
  static void AddFindings(const KernelRow& row, KernelGroup* group) {
    for (size_t i = 0; i < std::min(row.findings.size(), group->findings.size()); ++i) {
      group->findings[i].bytes = SaturatedSum(group->findings[i].bytes, row.findings[i].bytes);
    }
  }

  ModuleReport& report_;
  std::vector<size_t> places_of_analyses_;  // in groups
  absl::flat_hash_map<size_t, absl::flat_hash_set<std::string>> sources_;
};

}  // namespace

std::string ModulePathOf(absl::string_view op_name) {
  op_name = op_name.substr(0, op_name.find(';'));
  std::string path;
  for (size_t begin = 0; begin < op_name.size();) {
    const size_t end = EndOfComponent(op_name, begin);
    const absl::string_view component = op_name.substr(begin, end - begin);
    begin = end + 1;
    // The last is the operation.
    if (end == op_name.size()) break;
    if (path.empty() &&
        (absl::StartsWith(component, "jit(") || absl::StartsWith(component, "pjit("))) {
      continue;
    }
    absl::StrAppend(&path, path.empty() ? "" : "/", component);
  }
  return path;
}

std::string WithoutNumbers(absl::string_view path) {
  std::string text;
  const auto is = [&](size_t i, bool (*kind)(unsigned char)) {
    return i < path.size() && kind(static_cast<unsigned char>(path[i]));
  };
  for (size_t i = 0; i < path.size();) {
    size_t end = i;
    while (is(end, absl::ascii_isdigit)) ++end;
    if (end == i) {
      text.push_back(path[i++]);
      continue;
    }
    if (is(end, absl::ascii_isalpha)) {
      absl::StrAppend(&text, path.substr(i, end - i));
    } else {
      text.push_back('*');
    }
    i = end;
  }
  return text;
}

std::string FunctionOf(const SourcePlace& source) {
  if (source.file.empty()) return "";
  const absl::string_view file = source.ShortFile();
  if (!source.function.empty()) return absl::StrCat(file, ": ", source.function);
  return source.line > 0 ? absl::StrCat(file, ":", source.line) : std::string(file);
}

void GroupKernels(ModuleReport* report) { Grouper(report).Group(); }

}  // namespace xla_indexing::internal
