#include "xla_indexing/report/write/report_page.h"

#include <cstddef>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/report/write/page_text.h"

namespace xla_indexing {
namespace {

// JSON that no HTML parser takes for anything else: what could end the element that it is in, begin a
// comment, or end a line of JavaScript is written as an escape. Such characters are in strings alone.
std::string EscapedForHtml(absl::string_view json) {
  std::string text;
  text.reserve(json.size() + json.size() / 16);
  for (size_t i = 0; i < json.size(); ++i) {
    const absl::string_view rest = json.substr(i, 3);
    switch (json[i]) {
      case '<':
        text.append("\\u003c");
        break;
      case '>':
        text.append("\\u003e");
        break;
      case '&':
        text.append("\\u0026");
        break;
      default:
        if (rest == "\xe2\x80\xa8" || rest == "\xe2\x80\xa9") {
          text.append(rest == "\xe2\x80\xa8" ? "\\u2028" : "\\u2029");
          i += 2;
        } else {
          text.push_back(json[i]);
        }
    }
  }
  return text;
}

}  // namespace

std::string ReportPage(absl::string_view reports) {
  constexpr absl::string_view kPlace = "@REPORTS@";
  const absl::string_view page = internal::PageText();
  const size_t at = page.find(kPlace);
  return absl::StrCat(page.substr(0, at), EscapedForHtml(reports), page.substr(at + kPlace.size()));
}

}  // namespace xla_indexing
