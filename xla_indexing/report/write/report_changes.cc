#include "xla_indexing/report/write/report_changes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/report/saturated.h"
#include "xla_indexing/report/write/report_text.h"

namespace xla_indexing {
namespace {

constexpr int64_t kPlacesShown = 20;

enum class KindOfChange { kBetter, kWorse, kNew, kGone };

KindOfChange KindOf(const PlaceChange& change) {
  if (change.kernels_before == 0) return KindOfChange::kNew;
  if (change.kernels_after == 0) return KindOfChange::kGone;
  const double faster = change.microseconds_before - change.microseconds_after;
  if (faster != 0) return faster > 0 ? KindOfChange::kBetter : KindOfChange::kWorse;
  return change.traffic_after < change.traffic_before ? KindOfChange::kBetter
                                                      : KindOfChange::kWorse;
}

std::string SignedTime(double microseconds) {
  if (microseconds == 0) return "0";
  return absl::StrCat(microseconds < 0 ? "-" : "+", TimeText(std::abs(microseconds)));
}

std::string SignedBytes(int64_t before, int64_t after) {
  if (before == after) return "0";
  return absl::StrCat(after < before ? "-" : "+",
                      BytesText(Interval::Point(std::abs(after - before))));
}

void AppendTotal(absl::string_view name, const std::string& before, const std::string& after,
                 std::string* text) {
  absl::StrAppend(text, name, std::string(10 - name.size(), ' '), before);
  absl::StrAppend(text, before == after ? "" : absl::StrCat(" -> ", after), "\n");
}

void AppendChange(const PlaceChange& change, std::string* text) {
  AppendLine(
      absl::StrCat(PadLeft(SignedTime(change.microseconds_after - change.microseconds_before), 12),
                   PadLeft(SignedBytes(change.traffic_before, change.traffic_after), 13), "  ",
                   change.place,
                   change.place == change.name ? "" : absl::StrCat("  (", change.name, ")")),
      text);
}

}  // namespace

std::vector<PlaceChange> ChangesBetween(const ModuleReport& before, const ModuleReport& after) {
  std::map<std::string, PlaceChange> places;
  for (const bool is_after : {false, true}) {
    for (const KernelGroup& group : (is_after ? after : before).groups) {
      // The kernels inside of a loop are counted by themselves.
      if ((is_after ? after : before).analyses[group.analysis].loop) continue;
      const std::string place = group.source.op_name.empty() ? group.name : group.source.op_name;
      PlaceChange& change = places[place];
      int64_t& kernels = is_after ? change.kernels_after : change.kernels_before;
      if (kernels == 0) change.name = group.name;
      kernels = internal::SaturatedSum(kernels, group.totals.kernels);
      (is_after ? change.microseconds_after : change.microseconds_before) +=
          group.totals.microseconds;
      int64_t& traffic = is_after ? change.traffic_after : change.traffic_before;
      traffic = internal::SaturatedSum(traffic, group.totals.traffic);
    }
  }
  std::vector<PlaceChange> changes;
  for (auto& [place, change] : places) {
    const bool is_same = change.microseconds_before == change.microseconds_after &&
                         change.traffic_before == change.traffic_after;
    if (is_same) continue;
    change.place = place;
    changes.push_back(std::move(change));
  }
  std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) {
    return std::abs(a.microseconds_after - a.microseconds_before) >
           std::abs(b.microseconds_after - b.microseconds_before);
  });
  return changes;
}

std::string ChangesText(const ModuleReport& before, const ModuleReport& after,
                        std::optional<int64_t> top) {
  std::string text;
  AppendLine(absl::StrCat(before.module, " -> ", after.module, ", on ", after.machine->name),
             &text);
  const ReportTotals& old_totals = before.totals;
  const ReportTotals& new_totals = after.totals;
  AppendTotal("Time", TimeText(old_totals.microseconds), TimeText(new_totals.microseconds), &text);
  AppendTotal("Moved", BytesText(old_totals.bytes_moved), BytesText(new_totals.bytes_moved), &text);
  AppendTotal("Wasted", BytesText(old_totals.bytes_wasted), BytesText(new_totals.bytes_wasted),
              &text);
  AppendTotal("Kernels", absl::StrCat(old_totals.kernels), absl::StrCat(new_totals.kernels), &text);
  const std::vector<PlaceChange> changes = ChangesBetween(before, after);
  if (changes.empty()) absl::StrAppend(&text, "No kernel takes or moves more or less.\n");
  const int64_t most = top.value_or(kPlacesShown);
  const std::pair<KindOfChange, absl::string_view> kinds[] = {{KindOfChange::kBetter, "Better"},
                                                              {KindOfChange::kWorse, "Worse"},
                                                              {KindOfChange::kNew, "New"},
                                                              {KindOfChange::kGone, "Gone"}};
  for (const auto& [kind, title] : kinds) {
    int64_t count = 0;
    for (const PlaceChange& change : changes) {
      if (KindOf(change) != kind) continue;
      if (count == 0) absl::StrAppend(&text, "\n", title, "\n");
      if (++count <= most) AppendChange(change, &text);
    }
    if (count > most) absl::StrAppend(&text, "  and ", count - most, " more\n");
  }
  return text;
}

}  // namespace xla_indexing
