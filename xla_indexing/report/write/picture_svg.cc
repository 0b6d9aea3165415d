#include "xla_indexing/report/write/picture_svg.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/xxhash.h"

namespace xla_indexing::internal {
namespace {

constexpr int64_t kMostSquares = 32;  // in a row or column
constexpr size_t kColours = 4;
constexpr size_t kMostLines = 12;   // of one text
constexpr double kMargin = 16;      // all lengths in pixels
constexpr double kLine = 17;        // from one line of text to the next
constexpr double kCharacter = 6.9;  // the width of one, of 12 pixels height, about
constexpr double kMonoCharacter = 7.3;
constexpr size_t kHeadingWidth = 100;  // in characters
constexpr size_t kNoteWidth = 44;
constexpr size_t kTitleWidth = 60;

constexpr absl::string_view kMono =
    "font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace";
constexpr absl::string_view kSmall = "font-size:11px";

// Text has a contrast of at least 4.5 to 1, all else of 3 to 1. The colours of sets are those of Okabe and Ito,
// which colour-blind people tell apart, darker on light paper.
struct Palette {
  absl::string_view paper, square, line, text, faint, chosen;
  std::array<absl::string_view, kColours> sets;
};
constexpr Palette kLight = {"#ffffff",
                            "#f3f5f7",
                            "#8a929b",
                            "#1f2328",
                            "#57606a",
                            "#c04a00",
                            {"#0072b2", "#00805e", "#a9447c", "#8a6d00"}};
constexpr Palette kDark = {"#0d1117",
                           "#1b2129",
                           "#5f6974",
                           "#e6edf3",
                           "#a4adb7",
                           "#ff9b4a",
                           {"#56b4e9", "#35c497", "#dd8fbb", "#e5c747"}};

// --- Text ---

// UTF-8 of which everything can be seen.
std::string Clean(absl::string_view text) {
  const std::string utf8 = llvm::json::fixUTF8(llvm::StringRef(text.data(), text.size()));
  std::string clean;
  for (size_t begin = 0; begin < utf8.size();) {
    const auto* bytes = reinterpret_cast<const llvm::UTF8*>(utf8.data()) + begin;
    const size_t length = llvm::getNumBytesForUTF8(*bytes);
    llvm::UTF32 point = 0;
    const llvm::UTF8* from = bytes;
    llvm::convertUTF8Sequence(&from, bytes + length, &point, llvm::strictConversion);
    absl::StrAppend(&clean, llvm::sys::unicode::isPrintable(static_cast<int>(point))
                                ? absl::string_view(utf8).substr(begin, length)
                                : "\xEF\xBF\xBD");
    begin += length;
  }
  return clean;
}

std::string Escaped(absl::string_view text) {
  return absl::StrReplaceAll(text,
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

// Below, text is clean.
bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }
size_t WidthOf(absl::string_view text) {
  return text.size() - static_cast<size_t>(absl::c_count_if(text, IsContinuation));
}

// The first characters of a text.
absl::string_view Beginning(absl::string_view text, size_t width) {
  size_t end = 0;
  for (; end < text.size(); ++end) {
    if (!IsContinuation(text[end]) && width-- == 0) break;
  }
  return text.substr(0, end);
}

std::string Shortened(absl::string_view text, size_t width) {
  if (WidthOf(text) <= width) return std::string(text);
  return absl::StrCat(Beginning(text, width - 3), "...");
}

// Lines of at most `width` characters, broken at blanks where there are any; later ones are indented.
std::vector<std::string> Wrapped(absl::string_view text, size_t width) {
  std::vector<std::string> lines;
  std::string line;
  for (absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    while (true) {
      const bool begins = line.empty() || line == "  ";
      const size_t left = width - std::min(width, WidthOf(line) + (begins ? 0 : 1));
      if (WidthOf(word) <= left) {
        absl::StrAppend(&line, begins ? "" : " ", word);
        break;
      }
      if (begins) {
        const absl::string_view head = Beginning(word, left);
        absl::StrAppend(&line, head);
        word.remove_prefix(head.size());
      }
      if (lines.size() + 1 == kMostLines) {
        lines.push_back(absl::StrCat(Beginning(line, width - 4), " ..."));
        return lines;
      }
      lines.push_back(std::exchange(line, "  "));
    }
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::string Counted(int64_t count, absl::string_view noun) {
  std::string digits = absl::StrCat(count);
  for (size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, ",");
  return absl::StrCat(digits, " ", noun, count == 1 ? "" : "s");
}

// --- The plane of an array that is drawn ---

// A dimension along the rows or columns; without one, a single square.
struct PlaneAxis {
  std::optional<size_t> dim;
  int64_t size = 1;
  std::string name;

  int64_t step() const { return std::max<int64_t>(1, (size - 1) / kMostSquares + 1); }
  int64_t squares() const { return std::max<int64_t>(1, (size - 1) / step() + 1); }
  int64_t SquareOf(const int64_t* element) const { return dim ? element[*dim] / step() : 0; }
  bool Contains(const int64_t* element) const {
    return !dim || (element[*dim] >= 0 && element[*dim] < size);
  }
  // How many elements square number `i` stands for.
  int64_t ElementsOf(int64_t i) const {
    return std::max<int64_t>(1, std::min(step(), size - i * step()));
  }
};

struct Plane {
  PlaneAxis rows;
  PlaneAxis columns;
  // How much of each square each set fills, row by row.
  std::vector<std::vector<double>> shares;
  std::vector<std::string> cuts;  // where the other dimensions are

  size_t PositionOf(int64_t row, int64_t column) const {
    return static_cast<size_t>(row * columns.squares() + column);
  }
};

std::string NameOfAxis(const PicturedArray& array, size_t dim) {
  return dim < array.axes.size() ? Clean(array.axes[dim]) : absl::StrCat("dimension ", dim);
}

// How many indices the elements of all sets have along each dimension.
std::vector<int64_t> SpreadOf(const PicturedArray& array) {
  const size_t rank = array.sizes.size();
  std::vector<absl::flat_hash_set<int64_t>> found(rank);
  for (const PicturedSet& set : array.sets) {
    for (size_t i = 0; i < set.indices.size(); ++i) found[i % rank].insert(set.indices[i]);
  }
  std::vector<int64_t> spread;
  for (const auto& indices : found) spread.push_back(static_cast<int64_t>(indices.size()));
  return spread;
}

std::vector<double> SharesOf(const PicturedSet& set, const Plane& plane, size_t rank,
                             absl::Span<const std::pair<size_t, int64_t>> cuts) {
  std::vector<double> shares(static_cast<size_t>(plane.rows.squares() * plane.columns.squares()));
  for (int64_t i = 0; i < set.count; ++i) {
    const int64_t* element = set.indices.data() + static_cast<size_t>(i) * rank;
    if (!plane.rows.Contains(element) || !plane.columns.Contains(element) ||
        !absl::c_all_of(cuts, [&](const auto& cut) { return element[cut.first] == cut.second; })) {
      continue;
    }
    const int64_t row = plane.rows.SquareOf(element);
    const int64_t column = plane.columns.SquareOf(element);
    shares[plane.PositionOf(row, column)] +=
        1.0 / static_cast<double>(plane.rows.ElementsOf(row) * plane.columns.ElementsOf(column));
  }
  return shares;
}

// The two dimensions along which the sets extend most, the last ones first.
Plane PlaneOf(const PicturedArray& array) {
  const size_t rank = array.sizes.size();
  const std::vector<int64_t> spread = SpreadOf(array);
  std::vector<size_t> dims(rank);
  for (size_t i = 0; i < rank; ++i) dims[i] = i;
  absl::c_sort(dims, [&](size_t a, size_t b) {
    const auto rank_of = [&](size_t dim) {
      return std::tuple(std::min<int64_t>(spread[dim], 2), array.sizes[dim] > 1, dim);
    };
    return rank_of(a) > rank_of(b);
  });
  dims.resize(std::min<size_t>(rank, 2));
  absl::c_sort(dims);
  const auto axis = [&](size_t dim) {
    return PlaneAxis{dim, array.sizes[dim], NameOfAxis(array, dim)};
  };
  Plane plane;
  if (rank > 1) plane.rows = axis(dims[0]);
  if (rank > 0) plane.columns = axis(dims.back());
  const auto first = absl::c_find_if(array.sets, [](const PicturedSet& s) { return s.count > 0; });
  std::vector<std::pair<size_t, int64_t>> cuts;
  for (size_t dim = 0; dim < rank; ++dim) {
    if (absl::c_linear_search(dims, dim)) continue;
    cuts.emplace_back(dim, first == array.sets.end() ? 0 : first->indices[dim]);
    plane.cuts.push_back(absl::StrCat(
        NameOfAxis(array, dim), " at ", cuts.back().second, " of ", array.sizes[dim],
        spread[dim] > 1 ? absl::StrCat(", also at ", Counted(spread[dim] - 1, "other")) : ""));
  }
  for (const PicturedSet& set : array.sets) {
    plane.shares.push_back(SharesOf(set, plane, rank, cuts));
  }
  return plane;
}

// --- SVG ---

std::string StyleOf(absl::string_view id, const Palette& colours) {
  std::vector<std::string> rules = {
      absl::StrCat(".p{fill:", colours.paper, ";stroke:", colours.line, "}"),
      absl::StrCat(".g{fill:", colours.square, ";stroke:", colours.line, ";stroke-width:.6}"),
      absl::StrCat(".l{fill:none;stroke:", colours.line, ";stroke-width:.6}"),
      absl::StrCat(".t{fill:", colours.text, "}"),
      absl::StrCat(".f{fill:", colours.faint, "}"),
      absl::StrCat(".c{fill:", colours.chosen, ";stroke:", colours.text, ";stroke-width:1.5}"),
      absl::StrCat(".a{stroke:", colours.faint, ";stroke-width:1.5;fill:none}")};
  for (size_t i = 0; i < kColours; ++i) {
    rules.push_back(absl::StrCat(".s", i, "{fill:", colours.sets[i], "}"));
  }
  const std::string prefix = absl::StrCat("#", id, " ");
  return absl::StrCat(prefix, absl::StrJoin(rules, prefix));
}

class Drawing {
 public:
  // Text with its base line at y. `anchor` is SVG's.
  void Text(double x, double y, absl::string_view text, absl::string_view kind = "t",
            absl::string_view anchor = "start", absl::string_view style = "") {
    absl::StrAppend(&body_, "<text class=\"", kind, "\" x=\"", x, "\" y=\"", y, "\"");
    if (anchor != "start") absl::StrAppend(&body_, " text-anchor=\"", anchor, "\"");
    if (!style.empty()) absl::StrAppend(&body_, " style=\"", style, "\"");
    absl::StrAppend(&body_, ">", Escaped(text), "</text>\n");
    const double width =
        static_cast<double>(WidthOf(text)) * (style == kMono ? kMonoCharacter : kCharacter);
    Grow(anchor == "start" ? x + width : anchor == "middle" ? x + width / 2 : x, y + 4);
  }
  void Square(absl::string_view kind, double x, double y, double width, double height) {
    absl::StrAppend(&body_, "<rect class=\"", kind, "\" x=\"", x, "\" y=\"", y, "\" width=\"",
                    width, "\" height=\"", height, "\"/>\n");
    Grow(x + width, y + height);
  }
  void Path(absl::string_view kind, absl::string_view path) {
    absl::StrAppend(&body_, "<path class=\"", kind, "\" d=\"", path, "\"/>\n");
  }
  // Text from the bottom up, whose middle is at (x, y).
  void UprightText(double x, double y, absl::string_view text) {
    absl::StrAppend(&body_, "<text class=\"f\" text-anchor=\"middle\" transform=\"translate(", x,
                    " ", y, ") rotate(-90)\" style=\"", kSmall, "\">", Escaped(text), "</text>\n");
  }

  std::string Document(absl::string_view description) const {
    const double width = std::ceil(width_ + kMargin);
    const double height = std::ceil(height_ + kMargin);
    const std::string id =
        absl::StrCat("xi", absl::Hex(llvm::xxh3_64bits(body_), absl::kZeroPad16));
    const absl::string_view font =
        "system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;font-size:12px";
    return absl::StrCat(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"", id, "\" width=\"", width, "\" height=\"",
        height, "\" viewBox=\"0 0 ", width, " ", height, "\" role=\"img\" aria-labelledby=\"", id,
        "d\" style=\"font-family:", font, "\">\n<desc id=\"", id, "d\">", Escaped(description),
        "</desc>\n<style>", StyleOf(id, kLight), "@media(prefers-color-scheme:dark){",
        StyleOf(id, kDark), "}</style>\n<rect class=\"p\" x=\".5\" y=\".5\" width=\"", width - 1,
        "\" height=\"", height - 1, "\" rx=\"8\"/>\n", body_, "</svg>\n");
  }

 private:
  void Grow(double x, double y) {
    width_ = std::max(width_, x);
    height_ = std::max(height_, y);
  }

  std::string body_;
  double width_ = 0;
  double height_ = 0;
};

struct PanelPlace {
  double left, top, side;
};

double LabelWidth(const PlaneAxis& axis) {
  return static_cast<double>(std::max<size_t>(absl::StrCat(axis.size - 1).size(), 2)) * kCharacter +
         20;
}

// Fills squares with the colours of the sets that they have elements of, next to each other.
void DrawSets(const Plane& plane, const PanelPlace& at, Drawing* drawing) {
  std::vector<std::vector<double>> shares = plane.shares;
  for (size_t i = kColours; i < shares.size(); ++i) {
    for (size_t j = 0; j < shares[i].size(); ++j) {
      shares[kColours - 1][j] = std::max(shares[kColours - 1][j], shares[i][j]);
    }
  }
  shares.resize(std::min(shares.size(), kColours));
  for (size_t colour = 0; colour < shares.size(); ++colour) {
    for (int64_t row = 0; row < plane.rows.squares(); ++row) {
      for (int64_t column = 0; column < plane.columns.squares(); ++column) {
        const size_t position = plane.PositionOf(row, column);
        if (shares[colour][position] <= 0) continue;
        size_t before = 0;
        size_t all = 0;
        for (size_t i = 0; i < shares.size(); ++i) {
          if (shares[i][position] <= 0) continue;
          ++all;
          if (i < colour) ++before;
        }
        const bool is_whole = shares[colour][position] > 1 - 1e-9;
        const double inset = is_whole ? std::min(1.0, at.side / 10) : at.side / 5;
        const double width = (at.side - 2 * inset) / static_cast<double>(all);
        drawing->Square(absl::StrCat("s", colour),
                        at.left + static_cast<double>(column) * at.side + inset +
                            static_cast<double>(before) * width,
                        at.top + static_cast<double>(row) * at.side + inset, width,
                        at.side - 2 * inset);
      }
    }
  }
}

void DrawSquares(const PicturedArray& array, const Plane& plane, bool is_start,
                 const PanelPlace& at, Drawing* drawing) {
  const auto rows = static_cast<double>(plane.rows.squares());
  const auto columns = static_cast<double>(plane.columns.squares());
  drawing->Square("g", at.left, at.top, columns * at.side, rows * at.side);
  std::string lines;
  for (double i = 1; i < columns; ++i) {
    absl::StrAppend(&lines, "M", at.left + i * at.side, " ", at.top, "v", rows * at.side);
  }
  for (double i = 1; i < rows; ++i) {
    absl::StrAppend(&lines, "M", at.left, " ", at.top + i * at.side, "h", columns * at.side);
  }
  if (!lines.empty()) drawing->Path("l", lines);
  if (array.is_unknown) {
    drawing->Text(at.left + columns * at.side / 2, at.top + rows * at.side / 2 + 4, "?", "f",
                  "middle");
  }
  if (!is_start) return DrawSets(plane, at, drawing);
  for (int64_t row = 0; row < plane.rows.squares(); ++row) {
    for (int64_t column = 0; column < plane.columns.squares(); ++column) {
      if (plane.shares[0][plane.PositionOf(row, column)] <= 0) continue;
      drawing->Square("c", at.left + static_cast<double>(column) * at.side,
                      at.top + static_cast<double>(row) * at.side, at.side, at.side);
    }
  }
}

// The first and the last index along both axes, and which dimensions they are.
void DrawLabels(const Plane& plane, const PanelPlace& at, Drawing* drawing) {
  constexpr double kSmallCharacter = 6.2;
  const auto width_of = [](absl::string_view text) {
    return static_cast<double>(WidthOf(text)) * kSmallCharacter;
  };
  if (plane.columns.dim) {
    const std::string last = absl::StrCat(plane.columns.size - 1);
    const double width = static_cast<double>(plane.columns.squares()) * at.side;
    drawing->Text(at.left + at.side / 2, at.top - 4, "0", "f", "middle", kSmall);
    if (plane.columns.size > 1) {
      drawing->Text(at.left + width, at.top - 4, last, "f", "end", kSmall);
    }
    if (width > width_of(plane.columns.name) + width_of(last) + 4 * kSmallCharacter) {
      drawing->Text(at.left + width / 2, at.top - 4, plane.columns.name, "f", "middle", kSmall);
    }
  }
  if (plane.rows.dim) {
    const double height = static_cast<double>(plane.rows.squares()) * at.side;
    drawing->Text(at.left - 5, at.top + at.side / 2 + 4, "0", "f", "end", kSmall);
    if (plane.rows.size > 1) {
      drawing->Text(at.left - 5, at.top + height - at.side / 2 + 4,
                    absl::StrCat(plane.rows.size - 1), "f", "end", kSmall);
    }
    if (height > width_of(plane.rows.name) + 3 * at.side) {
      drawing->UprightText(at.left - LabelWidth(plane.rows) + 11, at.top + height / 2,
                           plane.rows.name);
    }
  }
}

// A line below an array, perhaps with the colour that it explains.
struct NoteLine {
  std::optional<size_t> colour;
  bool is_indented = false;
  std::string text;
};

std::vector<NoteLine> NotesOf(const PicturedArray& array, const Plane& plane, bool is_start) {
  std::vector<NoteLine> lines;
  const auto add = [&](absl::string_view text) {
    for (std::string& line : Wrapped(text, kNoteWidth)) {
      lines.push_back({std::nullopt, false, std::move(line)});
    }
  };
  if (plane.rows.step() > 1 || plane.columns.step() > 1) {
    const std::string rows = array.sizes.size() > 1 ? absl::StrCat(plane.rows.step(), " x ") : "";
    add(absl::StrCat("a square is ", rows, plane.columns.step(), " elements,"));
    add("a small one only some of them");
  }
  if (!array.is_unknown) absl::c_for_each(plane.cuts, add);
  for (size_t i = 0; i < array.sets.size(); ++i) {
    if (array.sets[i].legend.empty()) continue;
    if (i == kColours) {
      const auto more = static_cast<int64_t>(array.sets.size() - i);
      lines.push_back({i - 1, true, absl::StrCat("and ", Counted(more, "other map"))});
      break;
    }
    bool is_first = true;
    for (std::string& line : Wrapped(Clean(array.sets[i].legend), kNoteWidth)) {
      lines.push_back({is_first ? std::optional<size_t>(i) : std::nullopt, true, std::move(line)});
      is_first = false;
    }
  }
  for (const std::string& note : array.notes) add(Clean(note));
  const bool is_empty = absl::c_all_of(array.sets, [](const auto& set) { return set.count == 0; });
  if (!is_start && !array.is_unknown && is_empty) add("nothing is read");
  return lines;
}

// An array with its title and notes, and its upper left corner there. Returns its right and its lower end.
std::pair<double, double> DrawPanel(const PicturedArray& array, bool is_start, double x, double y,
                                    Drawing* drawing) {
  const Plane plane = PlaneOf(array);
  const std::string title = Shortened(Clean(array.title), kTitleWidth);
  drawing->Text(x, y + 13, title, "t", "start", "font-weight:600");
  const int64_t longest = std::max(plane.rows.squares(), plane.columns.squares());
  const PanelPlace at = {x + (plane.rows.dim ? LabelWidth(plane.rows) : 0),
                         y + kLine + (plane.columns.dim ? kLine + 2 : 4),
                         static_cast<double>(std::clamp<int64_t>(264 / longest, 9, 22))};
  DrawSquares(array, plane, is_start, at, drawing);
  DrawLabels(plane, at, drawing);
  double right = std::max(x + static_cast<double>(WidthOf(title)) * kCharacter,
                          at.left + static_cast<double>(plane.columns.squares()) * at.side);
  double bottom = at.top + static_cast<double>(plane.rows.squares()) * at.side;
  for (const NoteLine& line : NotesOf(array, plane, is_start)) {
    bottom += kLine;
    const double left = x + (line.is_indented ? 14 : 0);
    if (line.colour) drawing->Square(absl::StrCat("s", *line.colour), x, bottom - 9, 9, 9);
    drawing->Text(left, bottom, line.text, line.is_indented ? "t" : "f");
    right = std::max(right, left + static_cast<double>(WidthOf(line.text)) * kCharacter);
  }
  return {right, bottom};
}

// How many elements there are in the sets together.
int64_t CountAll(const PicturedArray& array) {
  const size_t rank = array.sizes.size();
  if (array.sets.size() == 1) return array.sets[0].count;
  std::set<std::vector<int64_t>> all;
  for (const PicturedSet& set : array.sets) {
    for (int64_t i = 0; i < set.count; ++i) {
      const auto begin = set.indices.begin() + i * static_cast<int64_t>(rank);
      all.emplace(begin, begin + static_cast<int64_t>(rank));
    }
  }
  return static_cast<int64_t>(all.size());
}

// What the picture shows, for those who do not see it.
std::string InWords(absl::Span<const std::string> heading, const PicturedArray& start,
                    absl::Span<const PicturedArray> ends, absl::Span<const std::string> given) {
  constexpr size_t kMostWords = 2000;
  std::vector<std::string> words(heading.begin(), heading.end());
  words.push_back(
      absl::StrCat(start.title, given.empty() ? "" : "; ", absl::StrJoin(given, "; "), "."));
  for (const PicturedArray& end : ends) {
    words.push_back(absl::StrCat(end.title, ": ", Counted(CountAll(end), "element"),
                                 end.is_unknown ? " and more." : "."));
  }
  return Shortened(Clean(absl::StrJoin(words, " ")), kMostWords);
}

}  // namespace

std::string DrawArrays(absl::Span<const std::string> heading, const PicturedArray& start,
                       absl::Span<const PicturedArray> ends, absl::Span<const std::string> given) {
  constexpr double kMostRight = 820;  // where a row of arrays ends
  Drawing drawing;
  double y = kMargin;
  for (const std::string& text : heading) {
    for (const std::string& line : Wrapped(Clean(text), kHeadingWidth)) {
      y += kLine;
      drawing.Text(kMargin, y - 4, line, "t", "start", kMono);
    }
  }
  for (const std::string& line : Wrapped(Clean(absl::StrJoin(given, " \u00b7 ")), kHeadingWidth)) {
    y += kLine;
    drawing.Text(kMargin, y - 4, line, "f");
  }
  double top = y + (y > kMargin ? 8 : 0);
  auto [right, bottom] = DrawPanel(start, /*is_start=*/true, kMargin, top, &drawing);
  drawing.Path("a", absl::StrCat("M", right + 8, " ", top + kLine + 22, "h22m-7 -5l7 5l-7 5"));
  const double first_left = right + 46;
  double left = first_left;
  for (const PicturedArray& end : ends) {
    if (left > first_left && left > kMostRight) {
      left = first_left;
      top = bottom + 14;
    }
    const auto [end_right, end_bottom] = DrawPanel(end, /*is_start=*/false, left, top, &drawing);
    bottom = std::max(bottom, end_bottom);
    left = end_right + 28;
  }
  return drawing.Document(InWords(heading, start, ends, given));
}

}  // namespace xla_indexing::internal
