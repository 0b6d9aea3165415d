// Whatever a module says, the library's answers about it agree with one another.
//
// An input is HLO text. It is parsed, printed and read again; where it verifies, every instruction
// and the entry as one fusion are asked for their maps, in both directions, as they are by default
// and exact, and every query is asked about them. Points of the maps, evaluated in mathematical
// integers (exact_map.h), tell whether
//
//   - maps lead from elements to elements and their text reads back;
//   - simplifying a set of maps changes nothing about what it names;
//   - what is said to be exact is part of whatever else is said of the same leaves: of the default
//     maps by the exact ones, of the maps in the other direction by those in this;
//   - counts, tiles and corresponding dimensions have the elements that are named.
//
// A module that the reference (tests/reference/) executes in a moment is executed by it, and maps
// of every instruction that ran and of the entry, compared with what depended on what, element for
// element.
//
// Runtime variables read tensors with arbitrary contents. What contradicts aborts, with both sides.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/fuzz/exact_map.h"
#include "tests/fuzz/text_mutator.h"
#include "tests/reference/can_execute.h"
#include "tests/reference/check_module.h"
#include "tests/testing/entries.h"
#include "xla_indexing/base/interval.h"
#include "xla_indexing/fusion/fusion_view.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/gpu/bank_conflicts.h"
#include "xla_indexing/gpu/coalescing.h"
#include "xla_indexing/gpu/fusion_mapping.h"
#include "xla_indexing/hlo/computation.h"
#include "xla_indexing/hlo/equality.h"
#include "xla_indexing/hlo/instruction.h"
#include "xla_indexing/hlo/module.h"
#include "xla_indexing/hlo/opcode.h"
#include "xla_indexing/hlo/parser.h"
#include "xla_indexing/hlo/shape.h"
#include "xla_indexing/hlo/verifier.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/map/text.h"
#include "xla_indexing/ops/indexing_entry.h"
#include "xla_indexing/ops/operand_indexing.h"
#include "xla_indexing/ops/operand_indexing_set.h"
#include "xla_indexing/query/corresponding_dims.h"
#include "xla_indexing/query/equivalence.h"
#include "xla_indexing/query/utilization.h"
#include "xla_indexing/tiling/internal/tile_text.h"
#include "xla_indexing/tiling/symbolic_tile.h"
#include "xla_indexing/tiling/tiled_computation.h"
#include "xla_indexing/tools/command_line.h"
#include "xla_indexing/tools/json_output.h"
#include "xla_indexing/tools/queries.h"
#include "xla_indexing/tools/report.h"
#include "xla_indexing/tools/subject.h"
#include "xla_indexing/tools/text_output.h"

namespace xla_indexing::fuzz {
namespace {

using internal::Int128;
using internal::kInt64Max;
using internal::NarrowToInt64;
using internal::OffsetMapText;
using internal::SizeMapText;
using internal::StrideMapText;
using internal::TileConditions;

// Bounds on the work for one input.
constexpr int64_t kSteps = 1 << 12;      // of each question
constexpr size_t kMaxInstructions = 48;  // that are asked about
constexpr size_t kMaxEntries = 24;       // of each of them
constexpr size_t kMaxReads = 64;         // that an element is followed to
constexpr size_t kSamples = 6;           // elements of an array that are looked at

// --- Points of maps with bindings ---

bool IsInside(const Shape& array, llvm::ArrayRef<int64_t> element) {
  if (static_cast<int64_t>(element.size()) != array.rank()) return false;
  for (size_t i = 0; i < element.size(); ++i) {
    const auto dim = static_cast<int64_t>(i);
    if (element[i] < 0) return false;
    if (!array.IsUnboundedDimension(dim) && element[i] >= array.dimension(dim)) return false;
  }
  return true;
}

// Some elements of an array, all of them where they are few.
std::vector<Point> SomeElements(const Shape& array, Random& random) {
  std::vector<Interval> box;
  for (const int64_t size : array.dimensions()) {
    box.push_back(size == Shape::kUnboundedSize ? Interval::AtLeast(0) : Interval::OfSize(size));
    if (box.back().IsEmpty()) return {};
  }
  if (const auto all = AllPointsOf(box, kSamples)) return *all;
  std::vector<Point> elements;
  for (size_t i = 0; i < kSamples; ++i) {
    Point element;
    for (const Interval& interval : box) {
      int64_t value = SomeValue(interval, random);
      while (!interval.Contains(value)) value = SomeValue(interval, random);
      element.push_back(value);
    }
    elements.push_back(std::move(element));
  }
  return elements;
}

// The arbitrary content of an element, always the same.
int64_t ContentOf(const RuntimeVarIndexing& binding, llvm::ArrayRef<int64_t> element) {
  uint64_t hash = 14695981039346656037ULL;
  const auto mix = [&](uint64_t value) { hash = (hash ^ value) * 1099511628211ULL; };
  for (const HloInstruction* caller : binding.call_path) {
    mix(reinterpret_cast<uintptr_t>(caller));
  }
  mix(reinterpret_cast<uintptr_t>(binding.instruction));
  mix(static_cast<uint64_t>(binding.leaf));
  for (const int64_t index : element) mix(static_cast<uint64_t>(index));
  hash ^= hash >> 29;
  const Interval values = ValuesOfElementType(binding.shape().element_type());
  Random random(hash);
  const int64_t value =
      random() % 8 == 0 ? SomeValue(values, random) : static_cast<int64_t>(random() % 24) - 4;
  if (values.has_lower() && value < values.lower()) return values.lower();
  if (values.has_upper() && value > values.upper()) return values.upper();
  return value;
}

// The element that a runtime variable is read at; none outside its tensor, or on another device.
std::optional<Point> ElementOf(const RuntimeVarIndexing& binding, int num_dims,
                               llvm::ArrayRef<int64_t> point) {
  Point element;
  for (const mlir::AffineExpr expr : binding.element) {
    const std::optional<Int128> index = ValueOf(expr, num_dims, point);
    if (!index || !NarrowToInt64(*index)) return std::nullopt;
    element.push_back(static_cast<int64_t>(*index));
  }
  if (binding.device || !IsInside(binding.shape(), element)) return std::nullopt;
  return element;
}

// The elements that an element reads through one map; none where they are many or not known.
std::optional<std::set<Point>> ReadsOf(const OperandIndexing& indexing, const Point& element) {
  const IndexingMap& map = indexing.map();
  if (indexing.IsUnknown() || indexing.replica_map() != nullptr) return std::nullopt;
  std::vector<Interval> ranges;
  for (const Variable& range : map.ranges()) ranges.push_back(range.bounds);
  const std::optional<std::vector<Point>> all = AllPointsOf(ranges, kMaxReads);
  if (!all) return std::nullopt;
  std::set<Point> reads;
  for (const Point& range_values : *all) {
    Point point = element;
    point.insert(point.end(), range_values.begin(), range_values.end());
    const size_t known = point.size();
    point.resize(known + map.num_runtimes(), 0);
    bool is_read = true;
    for (int i = 0; is_read && i < map.num_runtimes(); ++i) {
      const RuntimeVarIndexing& binding = indexing.bindings()[i];
      if (binding.device) return std::nullopt;
      const std::optional<Point> read = ElementOf(binding, map.num_dims(), point);
      is_read = read.has_value();
      if (is_read) point[known + i] = binding.value.Apply(ContentOf(binding, *read));
    }
    if (!is_read) continue;
    const std::optional<bool> is_in = IsInDomain(map, point);
    if (!is_in) return std::nullopt;
    if (!*is_in) continue;
    const std::optional<Point> results = ResultsAt(map, point);
    if (!results) return std::nullopt;
    reads.insert(*results);
  }
  return reads;
}

std::optional<std::set<Point>> ReadsOf(const OperandIndexingSet& maps, const Point& element) {
  std::set<Point> reads;
  for (const OperandIndexing& map : maps) {
    const std::optional<std::set<Point>> more = ReadsOf(map, element);
    if (!more || reads.size() > kMaxReads) return std::nullopt;
    reads.insert(more->begin(), more->end());
  }
  return reads;
}

// Whether all that runtime variables read are parameters, whose contents can be arbitrary; those of
// other instructions depend on one another.
bool ReadsParametersOnly(const OperandIndexingSet& maps) {
  for (const OperandIndexing& map : maps) {
    for (const RuntimeVarIndexing& binding : map.bindings()) {
      if (binding.instruction->opcode() != HloOpcode::kParameter || !binding.call_path.empty()) {
        return false;
      }
    }
  }
  return true;
}

std::string TextOf(const OperandIndexingSet& maps) {
  std::string text = maps.empty() ? "(nothing)" : "";
  for (const OperandIndexing& map : maps) absl::StrAppend(&text, map.ToString(), "\n");
  return text;
}

// --- Maps of one pair of leaves ---

// What is asked about: an instruction and its operands, or a computation, by its root, and its
// parameters.
struct Asked {
  const HloInstruction* result;
  bool is_fusion;
  mlir::MLIRContext* context;

  absl::Span<const HloInstruction* const> operands() const {
    return is_fusion ? result->parent()->parameters() : result->operands();
  }
  std::string Name() const {
    return absl::StrCat(is_fusion ? "the computation of " : "", result->ToString());
  }
};

struct Ends {
  const Shape& from;
  const Shape& to;
};

Ends EndsOf(const Asked& asked, const IndexingEntry& entry, bool forward) {
  const Shape& output = asked.result->shape().Leaf(entry.output_leaf);
  const Shape& operand = asked.operands()[entry.operand]->shape().Leaf(entry.operand_leaf);
  return forward ? Ends{operand, output} : Ends{output, operand};
}

[[noreturn]] void Fail(const Asked& asked, absl::string_view law, absl::string_view first,
                       absl::string_view second = "") {
  Contradiction(absl::StrCat(law, "\n", asked.Name()), first, second);
}

// Whether the maps are maps between these arrays, and their text is read back.
void CheckMaps(const Asked& asked, const OperandIndexingSet& maps, const Ends& ends,
               Random& random) {
  if (maps.empty()) Fail(asked, "an entry has maps", "");
  for (const OperandIndexing& indexing : maps) {
    if (indexing.IsUnknown()) {
      if (indexing.label().reason.empty()) Fail(asked, "what is unknown has a reason", "");
      continue;
    }
    const IndexingMap& map = indexing.map();
    const std::string text = map.ToString();
    if (const absl::Status status = map.Verify(); !status.ok()) {
      Fail(asked, "a map verifies", text, status.message());
    }
    if (map.num_dims() != ends.from.rank() || map.num_results() != ends.to.rank() ||
        indexing.bindings().size() != static_cast<size_t>(map.num_runtimes())) {
      Fail(asked, "a map is one between its arrays", text);
    }
    const absl::StatusOr<IndexingMap> again = ParseIndexingMap(text, asked.context);
    if (!again.ok() || !(*again == map)) {
      Fail(asked, "the text of a map is read as the map", text,
           again.ok() ? again->ToString() : std::string(again.status().message()));
    }
    for (const Point& point : SomePoints(map, kSamples * 2, random)) {
      if (IsInDomain(map, point) != true) continue;
      bool is_read = true;
      for (const RuntimeVarIndexing& binding : indexing.bindings()) {
        is_read &= binding.device || ElementOf(binding, map.num_dims(), point);
      }
      const llvm::ArrayRef<int64_t> dims =
          llvm::ArrayRef<int64_t>(point).take_front(map.num_dims());
      const std::optional<Point> results = ResultsAt(map, point);
      if (!is_read) continue;
      if (!IsInside(ends.from, dims) || (results && !IsInside(ends.to, *results))) {
        Fail(asked, absl::StrCat("a map stays in its arrays, at ", PointText(point)),
             indexing.ToString(),
             absl::StrCat("from ", ends.from.ToString(), " to ", ends.to.ToString()));
      }
    }
  }
}

// Whether one set names, of some elements, no more than the other.
void CheckPart(const Asked& asked, absl::string_view law, const OperandIndexingSet& part,
               const OperandIndexingSet& whole, const Ends& ends, Random& random) {
  for (const Point& element : SomeElements(ends.from, random)) {
    const std::optional<std::set<Point>> reads = ReadsOf(part, element);
    const std::optional<std::set<Point>> all = ReadsOf(whole, element);
    if (!reads || !all) continue;
    for (const Point& read : *reads) {
      if (all->contains(read)) continue;
      Fail(asked, absl::StrCat(law, ": ", PointText(element), " -> ", PointText(read)),
           TextOf(part), TextOf(whole));
    }
  }
}

void CheckSimplified(const Asked& asked, const OperandIndexingSet& maps, const Ends& ends,
                     Random& random) {
  OperandIndexingSet simplified = maps;
  simplified.Simplify();
  if (!simplified.empty()) CheckMaps(asked, simplified, ends, random);
  CheckPart(asked, "simplified names all", maps, simplified, ends, random);
  CheckPart(asked, "simplified names no more", simplified, maps, ends, random);
  OperandIndexingSet uncovered = simplified;
  uncovered.DropCovered(ends.to);
  CheckPart(asked, "maps that others cover", simplified, uncovered, ends, random);
}

const OperandIndexingSet& SetOf(const InstructionIndexing& entries, const IndexingEntry& leaves) {
  static const OperandIndexingSet* const nothing = new OperandIndexingSet();
  for (const IndexingEntry& entry : entries) {
    if (std::tie(entry.output_leaf, entry.operand, entry.operand_leaf) ==
        std::tie(leaves.output_leaf, leaves.operand, leaves.operand_leaf)) {
      return entry.indexing;
    }
  }
  return *nothing;
}

// Whether the pairs of an exact set are those of the set for the other direction.
void CheckConverse(const Asked& asked, const OperandIndexingSet& maps,
                   const OperandIndexingSet& back, const Ends& ends, Random& random) {
  if (!maps.label().IsExact() || !ReadsParametersOnly(maps) || !ReadsParametersOnly(back)) return;
  for (const Point& element : SomeElements(ends.from, random)) {
    const std::optional<std::set<Point>> reads = ReadsOf(maps, element);
    if (!reads) continue;
    size_t followed = 0;
    for (const Point& read : *reads) {
      if (++followed > kSamples) break;
      const std::optional<std::set<Point>> users = ReadsOf(back, read);
      if (!users || users->contains(element)) continue;
      Fail(asked,
           absl::StrCat("both directions have ", PointText(element), " -> ", PointText(read)),
           TextOf(maps), TextOf(back));
    }
  }
}

// --- Queries ---

void CheckUtilization(const Asked& asked, const OperandIndexingSet& maps, const Ends& ends,
                      Random& random) {
  if (maps.label().exactness == Exactness::kUnknown) return;
  const absl::StatusOr<Utilization> counted = ComputeUtilization(maps, ends.from, ends.to, kSteps);
  if (!counted.ok()) {
    Fail(asked, "maps fit their arrays", TextOf(maps), counted.status().message());
  }
  const Utilization& utilization = *counted;
  const Interval& read = utilization.elements_read;
  const auto fail = [&](absl::string_view law) {
    Fail(asked, law, TextOf(maps),
         absl::StrCat(read.ToString(), " of ", utilization.elements.ToString(), ", reads ",
                      utilization.reads.ToString()));
  };
  if (read.IsEmpty() || utilization.reads.IsEmpty()) fail("counts are not empty");
  if (utilization.elements.has_upper() && read.has_upper() &&
      read.upper() > utilization.elements.upper()) {
    fail("no more elements are read than there are");
  }
  if (!utilization.reads.IsPoint() || !read.IsPoint()) return;
  if (utilization.reads.lower() < read.lower()) fail("every element that is read is a read");
  std::set<Point> named;
  for (const Point& element : SomeElements(ends.from, random)) {
    if (const auto reads = ReadsOf(maps, element)) named.insert(reads->begin(), reads->end());
  }
  if (read.upper() < static_cast<int64_t>(named.size())) {
    fail(absl::StrCat("at least ", named.size(), " elements are read"));
  }
}

bool AreBounds(const Interval& least, const Interval& most) {
  return !least.has_lower() || !most.has_upper() || least.lower() <= most.upper();
}

void CheckCoalescing(const Asked& asked, const Coalescing& coalescing, absl::string_view what) {
  if (coalescing.IsUnknown()) return;
  const std::string counts = absl::StrCat(
      coalescing.requests.ToString(), " requests, ", coalescing.sectors.ToString(), " sectors of ",
      coalescing.least_sectors.ToString(), ", ", coalescing.lines.ToString(), " lines");
  for (const Interval& count :
       {coalescing.requests, coalescing.sectors, coalescing.least_sectors, coalescing.lines}) {
    if (count.IsEmpty() || !count.has_lower() || count.lower() < 0) {
      Fail(asked, "counts are numbers", what, counts);
    }
  }
  if (!AreBounds(coalescing.least_sectors, coalescing.sectors) ||
      !AreBounds(coalescing.lines, coalescing.sectors)) {
    Fail(asked, "sectors are no fewer than their least number and lines", what, counts);
  }
}

void AskCoalescing(const Asked& asked, const InstructionIndexing& entries) {
  CoalescingOptions options;
  options.max_steps = kSteps;
  BankOptions bank_options;
  bank_options.max_steps = kSteps;
  for (int64_t leaf = 0; leaf < std::min<int64_t>(asked.result->shape().LeafCount(), 4); ++leaf) {
    const Shape& output = asked.result->shape().Leaf(leaf);
    if (!output.IsArray()) continue;
    for (const int64_t width : {1, 4}) {
      const absl::StatusOr<CoalescingAnalysis> analysis =
          CoalescingAnalysis::OfLoop(output, {128, width, width}, asked.context, options);
      if (!analysis.ok()) continue;
      CheckCoalescing(asked, analysis->OfWrites(), "writes");
      const absl::StatusOr<BankConflicts> banks =
          ComputeBankConflicts(analysis->mapping(), output, bank_options);
      if (banks.ok() && !AreBounds(banks->least_wavefronts, banks->wavefronts)) {
        Fail(asked, "wavefronts are no fewer than their least number", banks->wavefronts.ToString(),
             banks->least_wavefronts.ToString());
      }
      for (const IndexingEntry& entry : entries) {
        if (entry.output_leaf != leaf) continue;
        const Shape& operand = EndsOf(asked, entry, false).to;
        for (const OperandIndexing& map : entry.indexing) {
          const Coalescing reads = analysis->OfReads(map, operand);
          CheckCoalescing(asked, reads, map.ToString());
          if (reads.worst) {
            const auto addresses = analysis->AddressesOf(*reads.worst, &map, operand);
            if (addresses.ok() && addresses->empty()) {
              Fail(asked, "the worst request has addresses", map.ToString());
            }
          }
        }
      }
    }
  }
}

// Sizes of tiles: ones, everything, powers of two.
std::vector<std::vector<int64_t>> TileSizesOf(const Shape& array) {
  std::vector<std::vector<int64_t>> sizes(4);
  for (const int64_t size : array.dimensions()) {
    const int64_t most = size == Shape::kUnboundedSize ? 1 << 20 : std::max<int64_t>(size, 1);
    sizes[0].push_back(1);
    sizes[1].push_back(std::min<int64_t>(most, 4));
    sizes[2].push_back(most);
    sizes[3].push_back(sizes[3].size() % 2 == 0 ? 1 : std::min<int64_t>(most, 3));
  }
  return sizes;
}

bool IsInTile(const ConcreteTile& tile, llvm::ArrayRef<int64_t> element) {
  for (size_t i = 0; i < element.size(); ++i) {
    const TileRange& range = tile.ranges[i];
    const Int128 length = Int128{range.size - 1} * range.stride;
    const Interval& offset = range.offset;
    if (range.size < 1 || offset.IsEmpty()) return false;
    if (offset.has_lower() && element[i] < offset.lower() + std::min<Int128>(length, 0)) {
      return false;
    }
    if (offset.has_upper() && element[i] > offset.upper() + std::max<Int128>(length, 0)) {
      return false;
    }
    if (offset.IsPoint() && range.stride != 0 &&
        (Int128{element[i]} - offset.lower()) % range.stride != 0) {
      return false;
    }
  }
  return true;
}

std::string TileText(const ConcreteTile& tile) {
  std::string text = tile.is_exact ? "exact" : "not exact";
  for (const TileRange& range : tile.ranges) {
    absl::StrAppend(&text, " ", range.offset.ToString(), " + [0, ", range.size, " - 1] * ",
                    range.stride);
  }
  return text;
}

void CheckTiles(const Asked& asked, const OperandIndexing& indexing, const Ends& ends,
                Random& random) {
  std::vector<int64_t> dim_sizes;
  for (const int64_t size : ends.from.dimensions()) {
    dim_sizes.push_back(size == Shape::kUnboundedSize ? kInt64Max : size);
  }
  const absl::StatusOr<SymbolicTile> tile = SymbolicTile::Of(indexing, dim_sizes);
  if (!tile.ok()) return;
  if (OffsetMapText(*tile).empty() || SizeMapText(*tile).empty() || StrideMapText(*tile).empty()) {
    Fail(asked, "a tile has text", indexing.ToString());
  }
  TileConditions(*tile);
  for (const std::vector<int64_t>& sizes : TileSizesOf(ends.from)) {
    const absl::StatusOr<Decision> exact = tile->IsExact(sizes, kSteps);
    const absl::StatusOr<ConcreteTile> full = tile->FullTile(sizes, kSteps);
    std::vector<Point> indices = {Point(sizes.size(), 0)};
    for (const Point& element : SomeElements(ends.from, random)) {
      Point index;
      for (size_t i = 0; i < sizes.size(); ++i) index.push_back(element[i] / sizes[i]);
      indices.push_back(std::move(index));
      if (indices.size() == 3) break;
    }
    for (const Point& index : indices) {
      const absl::StatusOr<ConcreteTile> here = tile->TileAt(sizes, index, kSteps);
      if (!here.ok()) continue;
      std::vector<Interval> box;
      std::set<Point> named;
      bool is_all = indexing.map().num_runtimes() == 0;
      for (size_t i = 0; i < sizes.size(); ++i) {
        const Int128 first = Int128{index[i]} * sizes[i];
        const Int128 last = std::min<Int128>(first + sizes[i] - 1, dim_sizes[i] - 1);
        if (last > kInt64Max) return;
        box.push_back(Interval::Closed(static_cast<int64_t>(first), static_cast<int64_t>(last)));
      }
      std::vector<Point> elements;
      if (const auto all = AllPointsOf(box, 16)) {
        elements = *all;
      } else {
        is_all = false;
        for (size_t sample = 0; sample < kSamples; ++sample) {
          Point element;
          for (const Interval& interval : box) {
            element.push_back(
                std::clamp(SomeValue(interval, random), interval.lower(), interval.upper()));
          }
          elements.push_back(std::move(element));
        }
      }
      for (const Point& element : elements) {
        const std::optional<std::set<Point>> reads = ReadsOf(indexing, element);
        if (!reads) {
          is_all = false;
          continue;
        }
        for (const Point& read : *reads) {
          named.insert(read);
          if (!here->is_empty && IsInTile(*here, read)) continue;
          Fail(asked,
               absl::StrCat("the tile ", PointText(index), " of sizes ", PointText(sizes), " has ",
                            PointText(read), " of ", PointText(element)),
               indexing.ToString(), TileText(*here));
        }
      }
      if (!is_all || !here->is_exact || here->is_empty || ends.to.rank() == 0) continue;
      Int128 count = 1;
      for (const TileRange& range : here->ranges) count *= range.size;
      if (count != static_cast<Int128>(named.size())) {
        Fail(asked,
             absl::StrCat("the exact tile ", PointText(index), " of sizes ", PointText(sizes),
                          " has ", named.size(), " elements"),
             indexing.ToString(), TileText(*here));
      }
    }
    if (exact.ok() && exact->IsYes() && full.ok() && !full->is_exact && !full->is_clipped &&
        indexing.IsExact()) {
      Fail(asked, absl::StrCat("the full tile of exact sizes ", PointText(sizes), " is exact"),
           indexing.ToString(), TileText(*full));
    }
  }
}

void CheckCorrespondingDims(const Asked& asked, const InstructionIndexing& entries,
                            Random& random) {
  const absl::StatusOr<std::vector<CorrespondingDims>> groups =
      FindCorrespondingDims(*asked.result, asked.context);
  if (!groups.ok()) return;
  for (const CorrespondingDims& group : *groups) {
    for (const LeafDim& dim : group.dims) {
      const Shape& shape = dim.operand == LeafDim::kResult ? asked.result->shape()
                                                           : asked.operands()[dim.operand]->shape();
      if (dim.leaf >= shape.LeafCount() || dim.dim >= shape.Leaf(dim.leaf).rank() ||
          shape.Leaf(dim.leaf).dimension(dim.dim) != group.size) {
        Fail(asked, "dimensions that correspond have one size", group.ToString());
      }
    }
    if (!group.is_batch) continue;
    // Dimensions of a batch run together wherever one is read.
    for (const IndexingEntry& entry : entries) {
      const LeafDim* from = nullptr;
      const LeafDim* to = nullptr;
      for (const LeafDim& dim : group.dims) {
        if (dim.operand == LeafDim::kResult && dim.leaf == entry.output_leaf) from = &dim;
        if (dim.operand == entry.operand && dim.leaf == entry.operand_leaf) to = &dim;
      }
      if (from == nullptr || to == nullptr ||
          entry.indexing.label().exactness != Exactness::kExact) {
        continue;
      }
      for (const Point& element : SomeElements(EndsOf(asked, entry, false).from, random)) {
        const auto reads = ReadsOf(entry.indexing, element);
        if (!reads) continue;
        for (const Point& read : *reads) {
          if (read[to->dim] == element[from->dim]) continue;
          Fail(asked,
               absl::StrCat("dimensions of a batch run together: ", PointText(element), " -> ",
                            PointText(read)),
               group.ToString(), TextOf(entry.indexing));
        }
      }
    }
  }
}

// The program's own text and JSON.
void CheckOutput(const Asked& asked) {
  CommandLine line;
  line.input_to_output = true;
  const Subject subject{asked.result, asked.is_fusion};
  SubjectIndexer indexer(line, asked.context);
  std::string entries_json;
  for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
    for (const ReportPart& part : PartsOf(subject, direction, line, &indexer)) {
      const std::vector<ReportedEntry> entries =
          ReportIndexing(subject, direction, part, line, &indexer);
      std::string text;
      AppendText(subject, direction, line, entries, &text);
      AppendJson(subject, direction, entries, &entries_json);
    }
  }
  const std::string json =
      absl::StrCat(ModuleJsonBegin("m"), entries_json, ModuleJsonEnd(QueryTotals()));
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(json);
  if (!value) Fail(asked, "the output is JSON", json, llvm::toString(value.takeError()));
}

// --- Instructions, computations, modules ---

absl::StatusOr<InstructionIndexing> IndexingOf(const Asked& asked, bool forward,
                                               const FusionOptions& options) {
  if (asked.is_fusion) {
    const HloComputation& computation = *asked.result->parent();
    return forward ? Entries(computation, Direction::kInputToOutput, asked.context, options)
                   : Entries(computation, Direction::kOutputToInput, asked.context, options);
  }
  return forward ? Entries(*asked.result, Direction::kInputToOutput, asked.context, options)
                 : Entries(*asked.result, Direction::kOutputToInput, asked.context, options);
}

void Ask(const Asked& asked, Random& random) {
  // By direction, then default and exact.
  InstructionIndexing answers[2][2];
  for (const bool forward : {false, true}) {
    for (const bool exact : {false, true}) {
      FusionOptions options;
      options.indexing.exact = exact;
      absl::StatusOr<InstructionIndexing> entries = IndexingOf(asked, forward, options);
      if (!entries.ok()) {
        if (entries.status().message().empty()) Fail(asked, "an error has a message", "");
        return;
      }
      answers[forward][exact] = *std::move(entries);
    }
  }
  for (const bool forward : {false, true}) {
    size_t count = 0;
    for (const bool exact : {false, true}) {
      for (const IndexingEntry& entry : answers[forward][exact]) {
        if (++count > kMaxEntries) break;
        const Ends ends = EndsOf(asked, entry, forward);
        CheckMaps(asked, entry.indexing, ends, random);
        CheckSimplified(asked, entry.indexing, ends, random);
        CheckConverse(asked, entry.indexing, SetOf(answers[!forward][exact], entry), ends, random);
        if (!exact) continue;
        const OperandIndexingSet& usual = SetOf(answers[forward][false], entry);
        if (!ReadsParametersOnly(entry.indexing) || !ReadsParametersOnly(usual)) continue;
        if (entry.indexing.label().IsExact()) {
          CheckPart(asked, "exact is part of the usual", entry.indexing, usual, ends, random);
        }
        if (usual.label().IsExact()) {
          CheckPart(asked, "the usual is exact", usual, entry.indexing, ends, random);
        }
      }
    }
  }
  const InstructionIndexing& entries = answers[false][false];
  AskCoalescing(asked, entries);
  size_t count = 0;
  for (const IndexingEntry& entry : entries) {
    if (++count > kMaxEntries) break;
    const Ends ends = EndsOf(asked, entry, false);
    CheckUtilization(asked, entry.indexing, ends, random);
    for (const OperandIndexing& map : entry.indexing) {
      if (!map.IsUnknown()) CheckTiles(asked, map, ends, random);
    }
  }
  if (!asked.is_fusion) CheckCorrespondingDims(asked, entries, random);
  CheckOutput(asked);
}

void AskComputation(const HloComputation& computation, mlir::MLIRContext* context) {
  const absl::StatusOr<EquivalenceReport> report =
      CompareReads(computation, computation, context, {}, kSteps);
  if (report.ok() && report->same == Answer::kNo) {
    Contradiction("a computation reads what it reads", computation.name(), report->difference);
  }
  const absl::StatusOr<TiledComputation> tiled = TiledComputation::Create(computation, context);
  if (!tiled.ok()) return;
  tiled->Conditions();
  TilingSearchOptions options;
  options.max_resident_bytes = 1 << 14;
  options.max_tried = 16;
  for (const CostedTiling& found : tiled->FindTilings(options).tilings) {
    const absl::StatusOr<TileGraph> graph = tiled->Instantiate(found.tiling);
    if (!graph.ok() || found.cost.resident_bytes > options.max_resident_bytes ||
        graph->Cost().moved_bytes != found.cost.moved_bytes || graph->ToString().empty()) {
      Contradiction("tilings that are found cost what they are said to", computation.name(),
                    absl::StrCat(found.cost.moved_bytes));
    }
  }
}

// A verified computation is a view, and threads compute every element of what they go over.
void AskKernel(const HloComputation& computation, mlir::MLIRContext* context) {
  const absl::StatusOr<FusionView> view = FusionView::OfComputation(computation);
  if (!view.ok()) {
    Contradiction("a computation is a view", computation.name(), view.status().message());
    return;
  }
  const Asked asked{view->computation().root_instruction(), /*is_fusion=*/true, context};
  // Small GPUs have vectors where arrays are small.
  for (const int64_t cores : {1, 132}) {
    CoalescingOptions options;
    options.max_steps = kSteps;
    const absl::StatusOr<FusionCoalescing> kernel =
        CoalescingOfFusion(view->computation(), context, {32, cores, 8}, options);
    if (!kernel.ok()) continue;
    for (const AccessCoalescing& access : kernel->accesses) {
      const ThreadedArray& array = access.access.array;
      const absl::StatusOr<ThreadCoverage> coverage =
          CoverageOf(array.mapping, array.shape(), kSteps);
      if (coverage.ok() && coverage->computed.IsPoint() && coverage->computations.IsPoint() &&
          coverage->elements.IsPoint() && !coverage->IsOnce()) {
        Fail(asked, "threads compute each element once", array.mapping.map.ToString());
      }
      for (const Coalescing& coalescing : access.coalescing) {
        CheckCoalescing(asked, coalescing, array.mapping.map.ToString());
      }
    }
  }
}

// The module's text is the module.
void CheckText(const HloModule& module, bool verifies) {
  const std::string printed = module.ToString();
  const absl::StatusOr<std::unique_ptr<HloModule>> again = ParseModule(printed, "printed");
  std::string difference;
  if (!again.ok()) Contradiction("printed text is read", printed, again.status().message());
  if (!ModulesEqual(module, **again, &difference)) {
    Contradiction("printed text is the module", printed, difference);
  }
  if (const absl::Status status = VerifyModule(**again); status.ok() != verifies) {
    Contradiction("what verifies verifies again", printed, status.message());
  }
}

// Whether maps of the module are what the reference finds, which executes it.
void CheckExecuted(const HloModule& module, mlir::MLIRContext* context, Random& random) {
  if (!reference::CanExecute(module).ok()) return;
  reference::CheckOptions options;
  options.is_any_module = true;
  const absl::Status status = reference::CheckModule(module, random(), context, options);
  if (status.ok() || absl::IsUnimplemented(status) || absl::IsResourceExhausted(status)) return;
  Contradiction("the reference agrees", module.ToString(), status.message());
}

void CheckInput(std::string text) {
  Random random(text.size());
  for (const absl::StatusOr<std::unique_ptr<HloModule>>& module :
       ParseModules({"input", std::move(text)})) {
    if (!module.ok()) {
      if (module.status().message().empty()) Contradiction("an error has a message", "");
      continue;
    }
    const absl::Status status = VerifyModule(**module);
    CheckText(**module, status.ok());
    if (!status.ok()) {
      if (status.message().empty()) Contradiction("an error has a message", "");
      continue;
    }
    // Uniqued expressions are never freed: a context for each module.
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    size_t count = 0;
    for (const HloComputation* computation : (*module)->computations()) {
      for (const HloInstruction* instruction : computation->instructions()) {
        if (++count > kMaxInstructions) break;
        Ask({instruction, /*is_fusion=*/false, &context}, random);
      }
    }
    const HloComputation& entry = *(*module)->entry_computation();
    Ask({entry.root_instruction(), /*is_fusion=*/true, &context}, random);
    AskComputation(entry, &context);
    AskKernel(entry, &context);
    CheckExecuted(**module, &context, random);
  }
}

const Vocabulary& Words() {
  static const Vocabulary* const words = [] {
    auto* vocabulary = new Vocabulary();
    for (int i = 0; i < kOpcodeCount; ++i) {
      vocabulary->before_parenthesis.emplace_back(OpcodeName(static_cast<HloOpcode>(i)));
    }
    vocabulary->before_bracket = {"f32", "s32", "pred", "bf16", "s4", "u8", "u64", "c64", "f8e5m2"};
    return vocabulary;
  }();
  return *words;
}

}  // namespace
}  // namespace xla_indexing::fuzz

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  return xla_indexing::fuzz::MutateInPlace(data, size, max_size, seed, xla_indexing::fuzz::Words());
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* a, size_t a_size, const uint8_t* b,
                                            size_t b_size, uint8_t* out, size_t max_size,
                                            unsigned seed) {
  return xla_indexing::fuzz::CrossInPlace(a, a_size, b, b_size, out, max_size, seed);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  xla_indexing::fuzz::CheckInput(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
