#include "xla_indexing/query/in_place/in_place_answer.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace xla_indexing {
namespace {

std::string ElementText(absl::Span<const int64_t> element) {
  return absl::StrCat("{", absl::StrJoin(element, ","), "}");
}

// `in order d1 descending, d0 ascending`.
std::string OrderText(const LoopOrder& order) {
  if (order.empty()) return "any order";
  std::string text = "in order ";
  for (size_t i = 0; i < order.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? "" : ", ", "d", order[i].dimension,
                    order[i].is_descending ? " descending" : " ascending");
  }
  return text;
}

}  // namespace

absl::string_view InPlaceAnswerName(InPlaceAnswer answer) {
  constexpr absl::string_view kNames[] = {"any order", "in order", "unsafe", "undecided"};
  return kNames[static_cast<size_t>(answer)];
}

std::string InPlaceConflict::ToString() const {
  std::string text = absl::StrCat("element ", ElementText(writer), " is written before element ",
                                  ElementText(reader));
  if (reader_leaf) absl::StrAppend(&text, " of output ", *reader_leaf);
  absl::StrAppend(&text, " reads element ", ElementText(operand), " of the operand, at byte ",
                  byte);
  for (size_t i = 0; i < runtime_values.size(); ++i) {
    absl::StrAppend(&text, i == 0 ? ", where " : " and ", runtime_values[i].first, " = ",
                    runtime_values[i].second);
  }
  return text;
}

std::string RuntimeCondition::ToString() const {
  std::string text;
  if (!values.has_lower() || values.lower() < unsafe.lower()) {
    absl::StrAppend(&text, runtime, " <= ", unsafe.lower() - 1);
  }
  if (!values.has_upper() || values.upper() > unsafe.upper()) {
    absl::StrAppend(&text, text.empty() ? "" : " or ", runtime, " >= ", unsafe.upper() + 1);
  }
  return text;
}

std::string InPlaceSafety::ToString() const {
  if (answer == InPlaceAnswer::kAnyOrder) return "any order";
  std::string text(InPlaceAnswerName(answer));
  if (answer == InPlaceAnswer::kInOrder) {
    text = OrderText(order);
    if (conflict) absl::StrAppend(&text, "; otherwise unsafe: ", conflict->ToString());
  } else {
    absl::StrAppend(&text, ": ", conflict ? conflict->ToString() : reason);
  }
  for (const RuntimeCondition& condition : conditions) {
    absl::StrAppend(&text, "; ", OrderText(condition.order), " where ", condition.ToString());
  }
  return text;
}

}  // namespace xla_indexing
