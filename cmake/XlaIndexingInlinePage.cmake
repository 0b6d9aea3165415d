# Makes a C++ file that holds the page of reports as one text: cmake -DPAGE=<directory> -DOUTPUT=<file> -P this.
#
# The modules of the page are put one after another in one script, in an order in which each stands behind those that
# it imports; `import` lines and the word `export` go. So names at the top of modules have to differ, which the test
# of the page finds out.

file(STRINGS "${PAGE}/modules.txt" modules)
set(script "")
foreach(module IN LISTS modules)
  file(READ "${PAGE}/${module}" text)
  string(REGEX REPLACE "(^|\n)import [^\n]*;" "\\1" text "${text}")
  string(REGEX REPLACE "(^|\n)export " "\\1" text "${text}")
  string(APPEND script "// ${module}\n${text}\n")
endforeach()
file(READ "${PAGE}/page.css" style)
file(READ "${PAGE}/page.html" page)
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "${script}" page "${page}")
# Compilers take string literals of some length only.
set(pieces "")
string(LENGTH "${page}" length)
set(at 0)
while(at LESS length)
  string(SUBSTRING "${page}" ${at} 8000 piece)
  string(APPEND pieces "    R\"page(${piece})page\"\n")
  math(EXPR at "${at} + 8000")
endwhile()
file(WRITE "${OUTPUT}" "// Made of xla_indexing/report/page by cmake/XlaIndexingInlinePage.cmake.
#include \"xla_indexing/report/write/page_text.h\"

namespace xla_indexing::internal {

absl::string_view PageText() {
  static constexpr char kPage[] =
${pieces};
  return absl::string_view(kPage, sizeof(kPage) - 1);
}

}  // namespace xla_indexing::internal
")
