#include "xla_indexing/report/write/picture.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/binding_words.h"

namespace xla_indexing {
namespace {

constexpr int64_t kMostCells = 24;
constexpr int64_t kCell = 9;
constexpr int64_t kMargin = 16;
constexpr int64_t kGap = 36;
constexpr int64_t kLetter = 7;  // of the small monospaced text, in pixels
constexpr size_t kMostArrays = 8;
constexpr size_t kMostMaps = 12;
constexpr int64_t kMostPoints = 1 << 18;

// Colours that are told apart whatever one sees of red and green (report/page/page.css).
constexpr absl::string_view kColours[] = {"#0060a8", "#c24e00", "#00795a",
                                          "#a8447f", "#7a5c00", "#4b4bb8"};

std::string EscapedForXml(absl::string_view text) {
  std::string clean;
  for (const char c : text) {
    // Control characters are none of XML's.
    if (static_cast<unsigned char>(c) >= 0x20) clean.push_back(c);
  }
  return absl::StrReplaceAll(clean,
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

std::string Shortened(absl::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  // Not in the middle of a letter of several bytes.
  size_t end = most - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return absl::StrCat(text.substr(0, end), "...");
}

using Element = llvm::SmallVector<int64_t, 4>;

struct PictureArray {
  std::string name;
  const Shape* shape = nullptr;
  Element position;  // the element that the slice is drawn at
  // Filled squares, with the maps that lead to them.
  std::map<std::pair<int64_t, int64_t>, std::set<size_t>> squares;

  int64_t rank() const { return shape->rank(); }
  int64_t SizeOf(int64_t dim) const { return dim < 0 ? 1 : shape->dimension(dim); }
  int64_t row() const { return rank() - 2; }
  int64_t column() const { return rank() - 1; }
  int64_t StepOf(int64_t dim) const {
    return std::max<int64_t>(1, (SizeOf(dim) + kMostCells - 1) / kMostCells);
  }
  int64_t SquaresOf(int64_t dim) const { return (SizeOf(dim) + StepOf(dim) - 1) / StepOf(dim); }
  std::pair<int64_t, int64_t> SquareOf(const Element& element) const {
    const auto along = [&](int64_t dim) { return dim < 0 ? 0 : element[dim] / StepOf(dim); };
    return {along(row()), along(column())};
  }
  bool IsInSlice(const Element& element) const {
    return std::equal(element.begin(), element.end() - std::min<int64_t>(2, rank()),
                      position.begin());
  }
  std::string Note() const {
    std::vector<std::string> parts;
    parts.reserve(static_cast<size_t>(rank()) + 1);
    for (int64_t dim = 0; dim < row(); ++dim) {
      parts.push_back(absl::StrCat("d", dim, " = ", position[dim]));
    }
    if (row() >= 0) parts.push_back(absl::StrCat("d", row(), " down"));
    if (column() >= 0) parts.push_back(absl::StrCat("d", column(), " across"));
    if (StepOf(row()) > 1 || StepOf(column()) > 1) {
      parts.push_back(absl::StrCat("a square: ", StepOf(row()), " x ", StepOf(column())));
    }
    return absl::StrJoin(parts, ", ");
  }
};

struct PictureMap {
  std::string text;
  std::vector<std::string> values;  // a line for each runtime variable
  bool has_all_points = true;
  size_t operand = 0;  // in the arrays
};

class PictureMaker {
 public:
  PictureMaker(const HloInstruction& result, absl::Span<const HloInstruction* const> operands,
               const InstructionIndexing& entries, std::optional<int64_t> leaf)
      : result_(result), operands_(operands), entries_(entries), chosen_leaf_(leaf) {}

  absl::StatusOr<std::string> Make() && {
    if (!FindResult()) {
      return absl::InvalidArgumentError(
          chosen_leaf_ ? absl::StrCat(result_.name(), " has no leaf ", *chosen_leaf_, " to draw")
                       : absl::StrCat(result_.name(), " has no array with elements to draw"));
    }
    for (const IndexingEntry& entry : entries_) AddEntry(entry);
    return Draw();
  }

 private:
  static bool HasElements(const Shape& shape) {
    return shape.IsArray() && std::all_of(shape.dimensions().begin(), shape.dimensions().end(),
                                          [](int64_t size) { return size > 0; });
  }

  bool FindResult() {
    const auto leaves = result_.shape().Leaves();
    for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
      if (!HasElements(*leaves[leaf])) continue;
      if (chosen_leaf_ && *chosen_leaf_ != static_cast<int64_t>(leaf)) continue;
      output_leaf_ = static_cast<int64_t>(leaf);
      PictureArray array{NameOf(result_, output_leaf_), leaves[leaf], {}, {}};
      for (const int64_t size : leaves[leaf]->dimensions()) array.position.push_back(size / 2);
      arrays_.push_back(std::move(array));
      return true;
    }
    return false;
  }

  static std::string NameOf(const HloInstruction& instruction, int64_t leaf) {
    return absl::StrCat(instruction.name(),
                        instruction.shape().IsTuple() ? absl::StrCat(" leaf ", leaf) : "");
  }

  size_t ArrayOf(const IndexingEntry& entry) {
    const auto [it, is_new] =
        known_.try_emplace({entry.operand, entry.operand_leaf}, arrays_.size());
    if (is_new) {
      const HloInstruction& operand = *operands_[entry.operand];
      const Shape& shape = operand.shape().Leaf(entry.operand_leaf);
      arrays_.push_back(
          {NameOf(operand, entry.operand_leaf), &shape, Element(shape.rank(), 0), {}});
    }
    return it->second;
  }

  void AddEntry(const IndexingEntry& entry) {
    if (entry.output_leaf != output_leaf_) return;
    const Shape& operand = operands_[entry.operand]->shape().Leaf(entry.operand_leaf);
    if (!HasElements(operand)) return;
    for (const OperandIndexing& map : entry.indexing) {
      if (map.IsUnknown()) continue;
      if (maps_.size() >= kMostMaps || arrays_.size() >= kMostArrays) {
        has_all_ = false;
        return;
      }
      const size_t place = ArrayOf(entry);
      maps_.push_back({map.MapToString(), {}, true, place});
      const std::vector<std::string> names = TextPartsOf(map.map()).runtimes;
      for (int i = 0; i < map.map().num_runtimes(); ++i) {
        maps_.back().values.push_back(absl::StrCat("drawn with ", names[i], " = ",
                                                   LeastValue(map.map(), i), ": ",
                                                   BindingInWords(map, i)));
      }
      AddMap(map.map(), maps_.size() - 1, &arrays_[place]);
    }
  }

  // The value of a runtime variable in the picture.
  static int64_t LeastValue(const IndexingMap& map, int i) {
    const Interval& bounds = map.runtimes()[i].bounds;
    return bounds.has_lower() ? bounds.lower() : 0;
  }

  // The squares of what the marked element reads.
  void AddMap(const IndexingMap& map, size_t number, PictureArray* array) {
    IndexingMap of_element = map;
    for (int i = 0; i < map.num_dims(); ++i) {
      const int64_t value = arrays_[0].position[i];
      if (!map.dims()[i].bounds.Contains(value)) return;
      of_element.mutable_dim(i).bounds = Interval::Point(value);
    }
    for (int i = 0; i < map.num_runtimes(); ++i) {
      of_element.mutable_runtime(i).bounds = Interval::Point(LeastValue(map, i));
    }
    std::vector<Element> elements;
    const absl::Status status = of_element.ForEachPoint(
        kMostPoints, [&](llvm::ArrayRef<int64_t>, llvm::ArrayRef<int64_t>,
                         llvm::ArrayRef<int64_t> results) { elements.emplace_back(results); });
    maps_[number].has_all_points = status.ok();
    if (elements.empty()) return;
    if (array->squares.empty()) array->position = elements.front();
    for (const Element& element : elements) {
      if (array->IsInSlice(element)) array->squares[array->SquareOf(element)].insert(number);
    }
  }

  std::string Draw() const {
    std::string body;
    int64_t x = kMargin;
    int64_t height = 0;
    int64_t line_width = 0;
    for (size_t i = 0; i < arrays_.size(); ++i) {
      const PictureArray& array = arrays_[i];
      const std::string title = Shortened(array.name, 28);
      const std::string shape = Shortened(array.shape->ToString(), 34);
      const std::string note = array.Note();
      const int64_t width = std::max<int64_t>(
          array.SquaresOf(array.column()) * kCell,
          kLetter * static_cast<int64_t>(std::max({title.size() + 1, shape.size(), note.size()})));
      Text(x, kMargin + 12, "name", title, &body);
      Text(x, kMargin + 27, "small", shape, &body);
      const int64_t top = kMargin + 36;
      DrawSquares(array, i == 0, x, top, &body);
      const int64_t below = top + array.SquaresOf(array.row()) * kCell + 15;
      Text(x, below, "small quiet", note, &body);
      height = std::max(height, below + 6);
      x += width + kGap;
    }
    int64_t y = height + 16;
    for (size_t i = 0; i < maps_.size(); ++i) {
      const std::string text = absl::StrCat(
          Letter(i), "  ", Shortened(arrays_[maps_[i].operand].name, 28), "  ",
          Shortened(maps_[i].text, 160), maps_[i].has_all_points ? "" : "  (not all drawn)");
      absl::StrAppend(&body, "<rect x=\"", kMargin, "\" y=\"", y - 9,
                      "\" width=\"10\" height=\"10\" fill=\"", ColourOf(i), "\"/>\n");
      Text(kMargin + 16, y, "small", text, &body);
      line_width = std::max(line_width, kLetter * static_cast<int64_t>(text.size()) + 16);
      y += 17;
      for (const std::string& value : maps_[i].values) {
        const std::string line = Shortened(value, 160);
        Text(kMargin + 37, y, "small quiet", line, &body);
        line_width = std::max(line_width, kLetter * static_cast<int64_t>(line.size()) + 37);
        y += 17;
      }
    }
    if (!has_all_) {
      Text(kMargin, y, "small quiet", "and more maps, which are not drawn", &body);
      y += 17;
    }
    const int64_t width = std::max(x - kGap, kMargin + line_width) + kMargin;
    return absl::StrCat(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", width, " ", y, "\" width=\"",
        width, "\" height=\"", y, "\" role=\"img\">\n<title>What element (",
        absl::StrJoin(arrays_[0].position, ", "), ") of ", EscapedForXml(arrays_[0].name),
        " reads</title>\n"
        "<style>text{font-family:ui-monospace,'DejaVu Sans Mono',monospace;fill:#1b1f26}"
        ".name{font-size:13px;font-weight:bold}.small{font-size:11px}.quiet{fill:#565d69}</style>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        body, "</svg>\n");
  }

  static std::string Letter(size_t i) { return std::string(1, static_cast<char>('A' + i)); }
  static absl::string_view ColourOf(size_t i) { return kColours[i % std::size(kColours)]; }

  static void Text(int64_t x, int64_t y, absl::string_view style, absl::string_view text,
                   std::string* body) {
    absl::StrAppend(body, "<text x=\"", x, "\" y=\"", y, "\" class=\"", style, "\">",
                    EscapedForXml(text), "</text>\n");
  }

  static void Square(int64_t x, int64_t y, int64_t height, absl::string_view colour,
                     std::string* body) {
    absl::StrAppend(body, "<rect x=\"", x, "\" y=\"", y, "\" width=\"", kCell - 1, "\" height=\"",
                    height, "\" fill=\"", colour, "\"/>\n");
  }

  static void DrawSquares(const PictureArray& array, bool is_result, int64_t x, int64_t y,
                          std::string* body) {
    const int64_t columns = array.SquaresOf(array.column());
    const int64_t rows = array.SquaresOf(array.row());
    // The empty squares of an array are one path.
    std::string path;
    for (int64_t row = 0; row < rows; ++row) {
      absl::StrAppend(&path, "M", x, " ", y + row * kCell);
      for (int64_t column = 0; column < columns; ++column) {
        absl::StrAppend(&path, "h", kCell - 1, "v", kCell - 1, "h-", kCell - 1, "zm", kCell, " 0");
      }
    }
    absl::StrAppend(body, "<path fill=\"#e3e7ed\" d=\"", path, "\"/>\n");
    for (const auto& [square, maps] : array.squares) {
      const int64_t left = x + square.second * kCell;
      const int64_t top = y + square.first * kCell;
      // A stripe for each map.
      int64_t i = 0;
      const auto count = static_cast<int64_t>(maps.size());
      for (const size_t map : maps) {
        const int64_t from = i * (kCell - 1) / count;
        Square(left, top + from, kCell - 1 - from, ColourOf(map), body);
        ++i;
      }
    }
    if (!is_result) return;
    const auto [row, column] = array.SquareOf(array.position);
    absl::StrAppend(body, "<rect x=\"", x + column * kCell - 1, "\" y=\"", y + row * kCell - 1,
                    "\" width=\"", kCell + 1, "\" height=\"", kCell + 1, "\" fill=\"#1b1f26\"/>\n");
  }

  const HloInstruction& result_;
  const absl::Span<const HloInstruction* const> operands_;
  const InstructionIndexing& entries_;
  const std::optional<int64_t> chosen_leaf_;
  int64_t output_leaf_ = 0;
  std::vector<PictureArray> arrays_;  // the result's first
  std::vector<PictureMap> maps_;
  std::map<std::pair<int64_t, int64_t>, size_t> known_;
  bool has_all_ = true;
};

}  // namespace

absl::StatusOr<std::string> PictureOf(IndexingTarget target, mlir::MLIRContext* context,
                                      std::optional<int64_t> output_leaf) {
  const QuestionBudget question;
  const absl::StatusOr<SharedIndexing> entries =
      HloIndexer(context).Index(target, Direction::kOutputToInput);
  if (!entries.ok()) return entries.status();
  const HloComputation* computation = target.computation();
  const HloInstruction& result =
      computation != nullptr ? *computation->root_instruction() : *target.instruction();
  return PictureMaker(result,
                      computation != nullptr ? computation->parameters() : result.operands(),
                      **entries, output_leaf)
      .Make();
}

}  // namespace xla_indexing
