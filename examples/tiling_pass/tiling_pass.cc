// Plans a kernel for a fusion: tile sizes within a budget of bytes, and the loops, loads, stores and
// masks of a block-level program.
//
//   tiling_pass FILE BUDGET_BYTES
//
// The ENTRY computation of the module is taken for one fusion:
//
//   1  TiledComputation finds the dimensions that can be cut and a symbolic tile for each way in
//      which an instruction is read.
//   2  FindTilings gives the sizes that move the fewest bytes while no more than the budget is held.
//   3  Instantiate makes the graph of tiles. The pass walks over its regions and writes the program;
//      a compiler would emit its own instructions instead.
//   4  The program is run as far as its loads and stores go, index by index, and the bytes are
//      compared with those that the sizes were chosen by.
//
// Exit code: 0; 1 where there are no such sizes, the bytes differ, or the input cannot be used; 2
// for a wrong command line.

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/tiling/kernel/program_ids.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"

namespace {

using namespace xla_indexing;  // NOLINT: an example.

constexpr size_t kNumShown = 4;
constexpr int64_t kMaxRun = int64_t{1} << 22;

// The results of a map, each as text: `d0 * 64`.
std::vector<std::string> ResultTexts(const IndexingMap& map) {
  std::vector<std::string> texts;
  for (const mlir::AffineExpr result : map.results()) {
    // A map of this result alone, whose text is `(d0, ..) -> (result), domain: ..`.
    const IndexingMap one(kPartsFit,
                          mlir::AffineMap::get(map.num_dims(), map.num_symbols(), result),
                          Variables(map.dims()), {}, Variables(map.runtimes()));
    const std::string text = one.ToString();
    const size_t begin = text.find("-> (") + 4;
    texts.push_back(text.substr(begin, text.find("), domain", begin) - begin));
  }
  return texts;
}

// `d0 * 64 : +64` for each dimension, with its step and what masks it.
std::string BoxText(const TileGraph& graph, const TileNode& node) {
  const MaskedTile& tile = graph.tile(node);
  const Shape& shape = node.instruction->shape().Leaf(node.leaf);
  std::vector<std::string> sides = ResultTexts(tile.offsets);
  for (size_t i = 0; i < sides.size(); ++i) {
    absl::StrAppend(&sides[i], " : +", tile.sizes[i]);
    if (tile.strides[i] != 1) absl::StrAppend(&sides[i], " by ", tile.strides[i]);
    const bool is_whole = tile.bounds[i] == Interval::OfSize(shape.dimension(i));
    if (!is_whole) absl::StrAppend(&sides[i], " in ", tile.bounds[i].ToString());
  }
  return absl::StrCat("[", absl::StrJoin(sides, ", "), "]");
}

class Program {
 public:
  explicit Program(const TileGraph& graph) : graph_(graph) {}

  std::string Write(mlir::MLIRContext* context) {
    for (size_t i = 0; i < graph_.regions().size(); ++i) {
      const TileRegion& region = graph_.regions()[i];
      if (region.parent < 0) WriteGrid(static_cast<int>(i), context);
    }
    return std::move(text_);
  }

  // Bytes loaded and stored, element by element of the masks.
  int64_t Run() {
    indices_.assign(graph_.space().num_dims(), 0);
    bytes_ = 0;
    for (size_t i = 0; i < graph_.regions().size(); ++i) {
      if (graph_.regions()[i].parent < 0) RunRegion(graph_.regions()[i], 0);
    }
    return bytes_;
  }

 private:
  void Line(int depth, absl::string_view line) {
    absl::StrAppend(&text_, std::string(2 * static_cast<size_t>(depth) + 2, ' '), line, "\n");
  }
  absl::string_view DimName(int dim) const { return graph_.space().dims()[dim].name; }

  void WriteGrid(int number, mlir::MLIRContext* context) {
    const TileRegion& grid = graph_.regions()[number];
    const absl::StatusOr<ProgramIds> ids = NumberPrograms(grid.trip_counts, {}, context);
    if (ids.ok()) {
      Line(0, absl::StrCat("program p of ", ids->num_programs, ":"));
      const std::vector<std::string> tiles = ResultTexts(ids->tile_of_program.front());
      for (size_t i = 0; i < tiles.size(); ++i) {
        std::string of_p = tiles[i];
        // The map's one dimension is the program.
        for (size_t at = of_p.find("d0"); at != of_p.npos; at = of_p.find("d0", at)) {
          of_p.replace(at, 2, "p");
        }
        Line(1, absl::StrCat(DimName(grid.dims[i]), " = ", of_p));
      }
    }
    WriteSteps(grid, 1);
  }

  void WriteSteps(const TileRegion& region, int depth) {
    for (const TileRegion::Step& step : region.steps) {
      if (step.is_region) {
        WriteLoop(step.index, depth);
      } else {
        WriteNode(graph_.nodes()[step.index], depth);
      }
    }
  }

  void WriteLoop(int number, int depth) {
    const TileRegion& loop = graph_.regions()[number];
    std::vector<const TileNode*> complete;
    for (const int node : loop.accumulators) {
      const TileNode& accumulator = graph_.nodes()[node];
      if (accumulator.loop != number) continue;
      Line(depth, absl::StrCat(accumulator.instruction->name(), " = accumulator of (",
                               absl::StrJoin(graph_.tile(accumulator).sizes, ", "), ")"));
    }
    Line(depth,
         absl::StrCat("for ", DimName(loop.dims[0]), " in 0 .. ", loop.trip_counts[0] - 1, ":"));
    WriteSteps(loop, depth + 1);
    bool is_innermost = true;
    for (const TileRegion& other : graph_.regions()) {
      is_innermost = is_innermost && !(other.parent == number && !other.accumulators.empty() &&
                                       other.accumulators == loop.accumulators);
    }
    for (const int node : loop.accumulators) {
      if (is_innermost) Line(depth + 1, Call(graph_.nodes()[node], " += "));
    }
  }

  std::string Call(const TileNode& node, absl::string_view assigned) const {
    std::vector<std::string> operands;
    for (const TileNode::Operand& operand : node.operands) {
      operands.emplace_back(graph_.nodes()[operand.node].instruction->name());
    }
    return absl::StrCat(node.instruction->name(), assigned, OpcodeName(node.instruction->opcode()),
                        "(", absl::StrJoin(operands, ", "), ")");
  }

  void WriteNode(const TileNode& node, int depth) {
    const HloInstruction& instruction = *node.instruction;
    if (instruction.opcode() == HloOpcode::kParameter) {
      Line(depth, absl::StrCat(instruction.name(), " = load ", BoxText(graph_, node)));
    } else if (node.loop < 0) {
      Line(depth, Call(node, " = "));
    }
    for (const TileStore& store : graph_.stores()) {
      if (&graph_.nodes()[store.node] != &node) continue;
      Line(depth, absl::StrCat("store ", instruction.name(), " ", BoxText(graph_, node)));
    }
  }

  void RunRegion(const TileRegion& region, size_t dim) {
    if (dim < region.dims.size()) {
      for (int64_t i = 0; i < region.trip_counts[dim]; ++i) {
        indices_[region.dims[dim]] = i;
        RunRegion(region, dim + 1);
      }
      indices_[region.dims[dim]] = 0;
      return;
    }
    for (const TileRegion::Step& step : region.steps) {
      if (step.is_region) {
        RunRegion(graph_.regions()[step.index], 0);
        continue;
      }
      const TileNode& node = graph_.nodes()[step.index];
      int64_t times = node.instruction->opcode() == HloOpcode::kParameter ? 1 : 0;
      for (const TileStore& store : graph_.stores()) times += store.node == step.index ? 1 : 0;
      if (times > 0) bytes_ += times * BytesNow(node);
    }
  }

  // The bytes of the elements of a tile that lie within its bounds at the present indices.
  int64_t BytesNow(const TileNode& node) const {
    const MaskedTile& tile = graph_.tile(node);
    // Where runtime values move it a tile lies within its array.
    const std::vector<int64_t> runtimes(tile.runtimes.size(), 0);
    const auto offsets = tile.offsets.Evaluate(indices_, runtimes);
    int64_t elements = offsets.ok() ? 1 : 0;
    for (size_t i = 0; i < tile.sizes.size() && elements > 0; ++i) {
      int64_t within = 0;
      for (int64_t step = 0; step < tile.sizes[i]; ++step) {
        within += tile.bounds[i].Contains((*offsets)[i] + step * tile.strides[i]) ? 1 : 0;
      }
      elements *= within;
    }
    const Shape& shape = node.instruction->shape().Leaf(node.leaf);
    return elements * BitWidth(shape.element_type()) / 8;
  }

  const TileGraph& graph_;
  std::string text_;
  std::vector<int64_t> indices_;
  int64_t bytes_ = 0;
};

std::string TilingText(const TilingSpace& space, const Tiling& tiling) {
  std::vector<std::string> sizes;
  for (int i = 0; i < space.num_dims(); ++i) {
    sizes.push_back(absl::StrCat(space.dims()[i].name, "=", tiling.sizes[i]));
  }
  std::string text = absl::StrJoin(sizes, " ");
  for (const int dim : tiling.loops) absl::StrAppend(&text, ", loop ", space.dims()[dim].name);
  return text;
}

absl::Status PlanEntry(const HloComputation& entry, int64_t budget) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::StatusOr<TiledComputation> tiled = TiledComputation::Create(entry, &context);
  if (!tiled.ok()) return tiled.status();
  std::printf("%s", tiled->space().ToString().c_str());
  for (const TileCondition& condition : tiled->Conditions()) {
    std::printf("condition: %s\n", condition.ToString(tiled->Names()).c_str());
  }
  TilingSearchOptions options;
  options.max_resident_bytes = budget;
  options.time = [](const TileCost& cost) { return static_cast<double>(cost.moved_bytes); };
  options.max_returned = kNumShown;
  // As emitters for matrix units have it: sizes are powers of two.
  options.accept = [](const Tiling& tiling, const TileGraph&) {
    for (const int64_t size : tiling.sizes) {
      if ((size & (size - 1)) != 0) return false;
    }
    return true;
  };
  const TilingSearch search = tiled->FindTilings(options);
  if (search.tilings.empty()) {
    return absl::NotFoundError(
        absl::StrCat("no sizes that are powers of two hold at most ", budget, " bytes"));
  }
  std::printf("%10s %12s  sizes\n", "bytes held", "bytes moved");
  for (const CostedTiling& found : search.tilings) {
    std::printf("%10lld %12lld  %s\n", static_cast<long long>(found.cost.resident_bytes),
                static_cast<long long>(found.cost.moved_bytes),
                TilingText(tiled->space(), found.tiling).c_str());
  }
  const absl::StatusOr<TileGraph> graph = tiled->Instantiate(search.tilings.front().tiling);
  if (!graph.ok()) return graph.status();
  Program program(*graph);
  std::printf("%s", program.Write(&context).c_str());
  const TileCost cost = graph->Cost();
  if (cost.num_loads > kMaxRun) return absl::OkStatus();
  const int64_t moved = program.Run();
  std::printf("run: %lld loads and %lld stores move %lld bytes\n",
              static_cast<long long>(cost.num_loads), static_cast<long long>(cost.num_stores),
              static_cast<long long>(moved));
  if (moved == cost.moved_bytes) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("that are not the ", cost.moved_bytes, " expected"));
}

absl::StatusOr<std::unique_ptr<HloModule>> Read(const char* file) {
  std::ifstream stream(file);
  std::ostringstream text;
  if (!(text << stream.rdbuf())) {
    return absl::NotFoundError(absl::StrCat(file, ": cannot be read, or is empty"));
  }
  return ParseAndVerifyModule(text.str(), file);
}

}  // namespace

int main(int argc, char** argv) {
  int64_t budget = 0;
  if (argc != 3) {
    std::cerr << "usage: tiling_pass FILE BUDGET_BYTES\n";
    return 2;
  }
  if (!absl::SimpleAtoi(argv[2], &budget) || budget < 1) {
    std::cerr << argv[2] << ": the budget is a number of bytes, at least 1\n";
    return 2;
  }
  const absl::StatusOr<std::unique_ptr<HloModule>> module = Read(argv[1]);
  if (!module.ok()) {
    std::cerr << module.status().message() << "\n";
    return 1;
  }
  const HloComputation& entry = *(*module)->entry_computation();
  const absl::Status status = PlanEntry(entry, budget);
  if (status.ok()) return 0;
  std::fflush(stdout);
  std::cerr << argv[1] << ": " << entry.name() << ": " << status.message() << "\n";
  return 1;
}
