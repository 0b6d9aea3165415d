// Writes a Triton kernel for a fusion: from tile sizes within a budget of bytes to Python text.
//
//   triton_writer FILE BUDGET_BYTES [SIZES]
//
// The ENTRY computation of the module is one fusion with one result. TiledComputation gives the graph
// of tiles, with the contractions of a softmax or an attention in one pass; the writer follows its
// regions and steps in order and writes a line or two for each. Sizes are chosen, or given as
// `d0=1,d1=16,d2=16,k=16`; those of tiles have to be powers of two, as Triton has them.
//
// Known are loads, constants, elementwise operations, what moves elements one by one, dot, and
// reductions by sum, maximum and minimum, in f32. Others are an error with the instruction's name. NaN
// is what HLO says but in maxima and minima, where Triton prefers numbers.
//
// Exit code: 0; 1 where the input cannot be used; 2 for a wrong command line.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/substitute.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/element_type.h"
#include "xla_indexing/hlo/types/literal.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/tiling/kernel/program_ids.h"
#include "xla_indexing/tiling/kernel/tiled_computation.h"

namespace {

using namespace xla_indexing;  // NOLINT: an example.
using Kind = TileRescale::Kind;

std::string Identifier(absl::string_view name) {
  std::string text(absl::ascii_isdigit(name[0]) ? "_" : "");
  for (const char c : name) text.push_back(absl::ascii_isalnum(c) ? c : '_');
  return text;
}

// The results of a map as Python, for dimensions of these names.
std::vector<std::string> ResultTexts(const IndexingMap& map, const std::vector<std::string>& dims) {
  Variables variables(map.dims());
  for (size_t i = 0; i < variables.size(); ++i) {
    variables[i].name = mlir::StringAttr::get(map.context(), dims[i]);
  }
  std::vector<std::string> texts;
  for (const mlir::AffineExpr result : map.results()) {
    const auto affine_map = mlir::AffineMap::get(map.num_dims(), 0, result);
    const std::string text = IndexingMap(kPartsFit, affine_map, variables, {}, {}).ToString();
    const size_t begin = text.find("-> (") + 4;
    texts.push_back(absl::StrReplaceAll(text.substr(begin, text.find("), domain", begin) - begin),
                                        {{"floordiv", "//"}, {" mod ", " % "}}));
  }
  return texts;
}

// The dimension that each result of a map is; -1 for others.
std::vector<int> DimsOf(const IndexingMap& map) {
  std::vector<int> dims(map.num_results(), -1);
  for (int i = 0; i < map.num_results(); ++i) {
    for (int dim = 0; dim < map.num_dims(); ++dim) {
      if (map.results()[i] == mlir::getAffineDimExpr(dim, map.context())) dims[i] = dim;
    }
  }
  return dims;
}

std::vector<int> FirstDims(int count) {
  std::vector<int> dims(count);
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

std::string TupleText(absl::Span<const int64_t> numbers) {
  return absl::StrCat("(", absl::StrJoin(numbers, ", "), numbers.size() == 1 ? ",)" : ")");
}

// x, whose axes are these dimensions, as a tile with axes `order`: `tl.permute(x, (1, 0))[:, None, :]`.
std::string Arranged(std::string x, const std::vector<int>& dims, const std::vector<int>& order) {
  std::vector<int64_t> axes;
  std::vector<std::string> index;
  for (const int dim : order) {
    const auto at = std::find(dims.begin(), dims.end(), dim);
    index.emplace_back(at == dims.end() ? "None" : ":");
    if (at != dims.end()) axes.push_back(at - dims.begin());
  }
  if (!std::is_sorted(axes.begin(), axes.end())) {
    x = absl::StrCat("tl.permute(", x, ", ", TupleText(axes), ")");
  }
  if (axes.empty() || axes.size() == order.size()) return x;
  return absl::StrCat(x, "[", absl::StrJoin(index, ", "), "]");
}

const std::map<HloOpcode, const char*>& ElementwiseTexts() {
  static const auto* const texts = new std::map<HloOpcode, const char*>{
      {HloOpcode::kAdd, "$0 + $1"},
      {HloOpcode::kSubtract, "$0 - $1"},
      {HloOpcode::kMultiply, "$0 * $1"},
      {HloOpcode::kDivide, "$0 / $1"},
      {HloOpcode::kMaximum, "tl.maximum($0, $1)"},
      {HloOpcode::kMinimum, "tl.minimum($0, $1)"},
      {HloOpcode::kNegate, "-$0"},
      {HloOpcode::kExponential, "tl.exp($0)"},
      {HloOpcode::kLog, "tl.log($0)"},
      {HloOpcode::kSqrt, "tl.sqrt($0)"},
      {HloOpcode::kRsqrt, "1 / tl.sqrt($0)"},
      {HloOpcode::kTanh, "1 - 2 / (tl.exp(2 * $0) + 1)"},
  };
  return *texts;
}

// How a contraction combines: the tile of its steps along an axis, and what a masked step counts as.
struct Reduction {
  const char* function;
  const char* neutral;
};
const std::map<HloOpcode, Reduction>& Reductions() {
  static const auto* const reductions = new std::map<HloOpcode, Reduction>{
      {HloOpcode::kAdd, {"tl.sum", "0.0"}},
      {HloOpcode::kMaximum, {"tl.max", "float('-inf')"}},
      {HloOpcode::kMinimum, {"tl.min", "float('inf')"}},
  };
  return *reductions;
}

class Kernel {
 public:
  explicit Kernel(const TileGraph& graph) : graph_(graph) {
    for (const TilingDimension& dim : graph.space().dims()) dims_.push_back(dim.name);
  }

  absl::StatusOr<std::string> Write(const HloComputation& entry, mlir::MLIRContext* context) {
    if (graph_.stores().size() != 1) {
      return absl::UnimplementedError("several results are not written");
    }
    std::vector<std::string> arguments;
    for (const HloInstruction* parameter : entry.parameters()) {
      arguments.push_back(absl::StrCat(Identifier(parameter->name()), "_ptr"));
    }
    arguments.emplace_back("out_ptr");
    const TileRegion& grid = graph_.regions()[0];
    const absl::StatusOr<ProgramIds> ids = NumberPrograms(grid.trip_counts, {}, context);
    if (!ids.ok()) return ids.status();
    text_ = absl::StrCat("# Launch ", ids->num_programs, " programs.\n@triton.jit\ndef ",
                         Identifier(entry.name()), "(", absl::StrJoin(arguments, ", "), "):\n");
    Line(1, "p = tl.program_id(0)");
    const std::vector<std::string> tiles = ResultTexts(ids->tile_of_program.front(), {"p"});
    for (size_t i = 0; i < tiles.size(); ++i) Line(1, dims_[grid.dims[i]], " = ", tiles[i]);
    WriteSteps(0, 1);
    if (!status_.ok()) return status_;
    return std::move(text_);
  }

 private:
  template <typename... Parts>
  void Line(int depth, const Parts&... parts) {
    absl::StrAppend(&text_, std::string(4 * static_cast<size_t>(depth), ' '), parts..., "\n");
  }
  // The first of these is what Write() returns.
  std::string Refuse(const TileNode& node, absl::string_view what = "is not written") {
    status_.Update(absl::UnimplementedError(
        absl::StrCat(node.array->name, ": ", node.array->opcode_name, " ", what)));
    return "";
  }
  std::string NameOf(int node) const {
    return absl::StrCat(Identifier(graph_.nodes()[node].array->name), "_", node);
  }
  const MaskedTile& TileOf(int node) const { return graph_.tile(graph_.nodes()[node]); }

  // `d0 * 16 + tl.arange(0, 16) * 2`
  static std::string RangeText(absl::string_view offset, int64_t size, int64_t stride) {
    return absl::StrCat(offset == "0" ? "" : absl::StrCat(offset, " + "), "tl.arange(0, ", size,
                        ")", stride == 1 ? "" : absl::StrCat(" * ", stride));
  }

  // Writes the addresses of a tile of an array at `pointer`; returns the mask as an argument.
  std::string WriteAddresses(int number, absl::string_view pointer, int depth) {
    const TileNode& node = graph_.nodes()[number];
    const MaskedTile& tile = TileOf(number);
    const Layout& layout = node.array->shape.LayoutOrRowMajor();
    if (!layout.IsPlain()) return Refuse(node, "in this layout is not written");
    const std::vector<std::string> offsets = ResultTexts(tile.offsets, dims_);
    const std::string name = NameOf(number);
    std::string address(pointer);
    std::vector<std::string> masks;
    int64_t stride = 1;
    for (const int64_t dim : layout.minor_to_major) {
      const std::string index = absl::StrCat(name, "_i", dim);
      Line(depth, index, " = ", RangeText(offsets[dim], tile.sizes[dim], tile.strides[dim]));
      const std::string expanded =
          Arranged(index, {static_cast<int>(dim)}, FirstDims(static_cast<int>(tile.sizes.size())));
      absl::StrAppend(&address, " + ", expanded, stride == 1 ? "" : absl::StrCat(" * ", stride));
      if (graph_.IsMasked(node, dim)) {
        const Interval& bounds = tile.bounds[dim];
        masks.push_back(absl::StrCat("(", expanded, " >= ", bounds.lower(), ") & (", expanded,
                                     " <= ", bounds.upper(), ")"));
      }
      stride *= node.array->shape.dimension(dim);
    }
    Line(depth, name, "_at = ", address);
    return masks.empty() ? "" : absl::StrCat(", mask=", absl::StrJoin(masks, " & "));
  }

  void WriteSteps(int number, int depth) {
    const TileRegion& region = graph_.regions()[number];
    for (const TileRegion::Step& step : region.steps) {
      if (step.is_region) {
        WriteLoop(step.index, depth);
      } else if (step.is_accumulation) {
        WriteAccumulation(region, step.index, depth);
      } else {
        WriteNode(step.index, depth);
      }
    }
  }

  void WriteLoop(int number, int depth) {
    const TileRegion& loop = graph_.regions()[number];
    for (const int node : loop.accumulators) {
      if (graph_.nodes()[node].loop != number) continue;
      Line(depth, NameOf(node), " = tl.zeros(", TupleText(TileOf(node).sizes), ", tl.float32) + ",
           FirstOf(graph_.nodes()[node]));
    }
    Line(depth, "for ", dims_[loop.dims[0]], " in range(", loop.trip_counts[0], "):");
    for (const TileRescale& rescale : loop.rescales) {
      if (rescale.kind != Kind::kMaximum || !is_open_.insert(rescale.by).second) continue;
      Line(depth + 1, NameOf(rescale.by), "_before = ", NameOf(rescale.by));
    }
    WriteSteps(number, depth + 1);
    // The innermost loop over the steps of a contraction ends with what they are combined to.
    const bool is_innermost =
        std::none_of(loop.steps.begin(), loop.steps.end(), [&](const TileRegion::Step& step) {
          return step.is_accumulation ||
                 (step.is_region && graph_.regions()[step.index].accumulators == loop.accumulators);
        });
    for (const int node : loop.accumulators) {
      if (is_innermost) WriteAccumulation(loop, node, depth + 1);
    }
    for (const Kind kind : {Kind::kMaximum, Kind::kDivisor}) {
      for (const TileRescale& rescale : loop.rescales) {
        if (rescale.kind != kind) continue;
        const std::string sum = NameOf(rescale.accumulator);
        const std::string by = ByText(rescale, NameOf(rescale.by));
        Line(depth, sum, " = ",
             kind == Kind::kDivisor
                 ? absl::StrCat(sum, " / ", by)
                 : absl::StrCat("tl.where(", by, " == float('-inf'), float('nan'), ", sum, ")"));
      }
    }
  }

  void WriteAccumulation(const TileRegion& region, int number, int depth) {
    const std::string name = NameOf(number);
    bool is_shift = false;
    for (const TileRescale& rescale : region.rescales) {
      if (rescale.kind != Kind::kMaximum) continue;
      is_shift = is_shift || rescale.by == number;
      if (rescale.accumulator != number) continue;
      const std::string by = NameOf(rescale.by);
      Line(depth, name, " = ", name, " * ",
           ByText(rescale, absl::StrCat("tl.exp(", by, "_before - ", by, "_shift)")));
    }
    const std::string step = StepText(number, depth);
    Line(depth, name, " = ", Combined(number, name, step));
    // What the exponents of this step subtract.
    if (!is_shift) return;
    Line(depth, name, "_shift = tl.where(", name, " == float('-inf'), 0.0, ", name, ")");
  }

  // A value by which an accumulator is rescaled, in the accumulator's dimensions.
  std::string ByText(const TileRescale& rescale, const std::string& value) {
    return Seen(rescale.accumulator, rescale.elements, rescale.by, value);
  }

  // The value of an accumulator before all steps.
  std::string FirstOf(const TileNode& node) {
    if (node.array->opcode == HloOpcode::kDot) return "0.0";
    for (const TileNode::Operand& operand : node.operands) {
      if (operand.operand == 1) return NameOf(operand.node);
    }
    return Refuse(node);
  }

  std::string Combined(int number, absl::string_view a, absl::string_view b) const {
    return absl::Substitute(ElementwiseTexts().at(graph_.nodes()[number].combiner->opcode), a, b);
  }

  // The one map through which an operand is read; null for others.
  static const IndexingMap* MapOf(const TileNode& node, const TileNode::Operand& operand) {
    for (const IndexingEntry& entry : *node.reads) {
      if (entry.operand != operand.operand || entry.operand_leaf != operand.leaf) continue;
      return entry.indexing.size() == 1 ? &entry.indexing.begin()->map() : nullptr;
    }
    return nullptr;
  }

  // What a contraction makes of the steps of its present tiles.
  std::string StepText(int number, int depth) {
    const TileNode& node = graph_.nodes()[number];
    const auto reduction =
        Reductions().find(node.combiner ? node.combiner->opcode : HloOpcode::kCopy);
    const auto num_steps = static_cast<int>(node.combined_dims.size());
    const auto rank = static_cast<int>(node.array->shape.rank());
    const bool is_dot = node.array->opcode == HloOpcode::kDot;
    if (reduction == Reductions().end() || (!is_dot && node.array->opcode != HloOpcode::kReduce)) {
      return Refuse(node);
    }
    // The steps that there are, by the dimension of the maps that they are.
    std::map<int, std::string> masks;
    for (int step = 0; step < num_steps; ++step) {
      const int dim = node.combined_dims[step];
      if (dim < 0) continue;
      const int64_t size = graph_.sizes()[dim];
      const int64_t all = graph_.space().dims()[dim].size;
      const int64_t num_tiles = graph_.num_tiles()[dim];
      if (size * num_tiles == all) continue;
      masks[rank + step] =
          absl::StrCat(NameOf(number), "_steps", step == 0 ? "" : absl::StrCat(step));
      const std::string offset = num_tiles == 1 ? "0" : absl::StrCat(dims_[dim], " * ", size);
      Line(depth, masks[rank + step], " = ", RangeText(offset, size, 1));
    }
    std::vector<std::string> values;
    std::vector<std::vector<int>> axes;
    for (const TileNode::Operand& operand : node.operands) {
      // That with which a reduction begins.
      if (!is_dot && operand.operand == 1) continue;
      const IndexingMap* const map = MapOf(node, operand);
      const std::vector<int> dims = map == nullptr ? std::vector<int>{-1} : DimsOf(*map);
      if (std::count(dims.begin(), dims.end(), -1) > 0) return Refuse(node);
      std::vector<std::string> conditions;
      for (const auto& [dim, steps] : masks) {
        conditions.push_back(
            absl::StrCat(Arranged(steps, {dim}, dims), " < ",
                         graph_.space().dims()[node.combined_dims[dim - rank]].size));
      }
      if (conditions.size() > 1) {
        for (std::string& condition : conditions) condition = absl::StrCat("(", condition, ")");
      }
      values.push_back(NameOf(operand.node));
      axes.push_back(dims);
      if (conditions.empty()) continue;
      values.back() = absl::StrCat("tl.where(", absl::StrJoin(conditions, " & "), ", ",
                                   values.back(), ", ", reduction->second.neutral, ")");
    }
    std::string value = values.front();
    std::vector<int> order = axes.front();
    if (is_dot) {
      // tl.dot takes (batch, m, k) and (batch, k, n).
      std::vector<int> left = FirstDims(rank + 1);
      std::vector<int> right = left;
      order = left;
      if (num_steps == 1 && rank >= 2) {
        left.erase(left.end() - 2);
        std::swap(right[rank - 1], right[rank]);
        right.erase(right.end() - 3);
      }
      if (num_steps == 1 && (rank == 2 || rank == 3) &&
          std::is_permutation(left.begin(), left.end(), axes[0].begin(), axes[0].end()) &&
          std::is_permutation(right.begin(), right.end(), axes[1].begin(), axes[1].end())) {
        return absl::StrCat("tl.dot(", Arranged(values[0], axes[0], left), ", ",
                            Arranged(values[1], axes[1], right), ", input_precision='ieee')");
      }
      order = FirstDims(rank + num_steps);
      value = absl::StrCat(Arranged(values[0], axes[0], order), " * ",
                           Arranged(values[1], axes[1], order));
    }
    for (auto axis = static_cast<int>(order.size()); axis-- > 0;) {
      if (order[axis] < rank) continue;
      value = absl::StrCat(reduction->second.function, "(", value, ", ", axis, ")");
    }
    return value;
  }

  // A tile as a node sees it that reads it through a map from its own elements.
  std::string Seen(int reader, const IndexingMap& map, int node, const std::string& value) {
    const std::vector<int> dims = DimsOf(map);
    const std::set<int> distinct(dims.begin(), dims.end());
    if (!distinct.contains(-1) && distinct.size() == dims.size()) {
      return Arranged(value, dims, FirstDims(map.num_dims()));
    }
    // As many elements in the same order, as of a reshape. The first tile says whether they are.
    const MaskedTile& to = TileOf(reader);
    const MaskedTile& from = TileOf(node);
    std::vector<int64_t> sizes;
    for (int dim = 0; dim < map.num_dims(); ++dim) {
      const bool is_read = std::any_of(map.results().begin(), map.results().end(),
                                       [&](auto result) { return result.isFunctionOfDim(dim); });
      sizes.push_back(is_read ? to.sizes[dim] : 1);
    }
    const auto count_of = [](absl::Span<const int64_t> numbers) {
      return std::accumulate(numbers.begin(), numbers.end(), int64_t{1}, std::multiplies<>());
    };
    const std::vector<int64_t> first(dims_.size(), 0);
    const auto to_offset = to.offsets.Evaluate(first, {});
    const auto from_offset = from.offsets.Evaluate(first, {});
    bool is_in_order =
        to_offset.ok() && from_offset.ok() && count_of(sizes) == count_of(from.sizes);
    for (int64_t place = 0; is_in_order && place < count_of(sizes); ++place) {
      std::vector<int64_t> element(to_offset->begin(), to_offset->end());
      bool is_within = true;
      int64_t rest = place;
      for (size_t dim = sizes.size(); dim-- > 0; rest /= sizes[dim]) {
        element[dim] += rest % sizes[dim] * to.strides[dim];
        is_within = is_within && to.bounds[dim].Contains(element[dim]);
      }
      if (!is_within) continue;
      const auto read = map.Evaluate(element, {});
      int64_t read_place = 0;
      for (size_t dim = 0; read.ok() && dim < from.sizes.size(); ++dim) {
        read_place =
            read_place * from.sizes[dim] + ((*read)[dim] - (*from_offset)[dim]) / from.strides[dim];
      }
      is_in_order = read.ok() && read_place == place;
    }
    if (!is_in_order) return Refuse(graph_.nodes()[reader]);
    if (absl::MakeConstSpan(from.sizes) == sizes) return value;
    return absl::StrCat("tl.reshape(", value, ", ", TupleText(sizes), ")");
  }

  std::string ValueText(int number, int depth) {
    const TileNode& node = graph_.nodes()[number];
    const HloOpcode opcode = node.array->opcode;
    if (node.IsContraction()) {
      const std::string step = StepText(number, depth);
      return step.empty() ? "" : Combined(number, FirstOf(node), step);
    }
    if (opcode == HloOpcode::kConstant) {
      const auto bits = static_cast<uint32_t>(node.instruction->literal()->BitsAt(0));
      return absl::StrCat("float('", std::bit_cast<float>(bits), "')");
    }
    std::vector<std::string> operands;
    for (const TileNode::Operand& operand : node.operands) {
      // A maximum that exponents subtract while its loop runs is its shift.
      const std::string value =
          absl::StrCat(NameOf(operand.node), is_open_.contains(operand.node) ? "_shift" : "");
      const IndexingMap* const map = MapOf(node, operand);
      operands.push_back(map == nullptr ? Refuse(node) : Seen(number, *map, operand.node, value));
    }
    if (node.passes_on) return operands[0];
    switch (opcode) {
      case HloOpcode::kBroadcast:
        return absl::StrCat("tl.zeros(", TupleText(TileOf(number).sizes), ", tl.float32) + ",
                            operands[0]);
      case HloOpcode::kBitcast:
      case HloOpcode::kCopy:
      case HloOpcode::kReshape:
      case HloOpcode::kSlice:
      case HloOpcode::kTranspose:
        return operands[0];
      default: {
        const auto text = ElementwiseTexts().find(opcode);
        if (text == ElementwiseTexts().end()) return Refuse(node);
        operands.resize(2);
        return absl::Substitute(text->second, operands[0], operands[1]);
      }
    }
  }

  void WriteNode(int number, int depth) {
    const TileNode& node = graph_.nodes()[number];
    const std::string name = NameOf(number);
    if (node.array->shape.element_type() != ElementType::kF32 || !TileOf(number).runtimes.empty()) {
      Refuse(node, "of another type than f32, or at an index that is data, is not written");
    } else if (node.array->opcode == HloOpcode::kParameter) {
      const std::string mask =
          WriteAddresses(number, absl::StrCat(Identifier(node.array->name), "_ptr"), depth);
      Line(depth, name, " = tl.load(", name, "_at", mask, mask.empty() ? ")" : ", other=0.0)");
    } else if (node.loop < 0) {
      const std::string value = ValueText(number, depth);
      Line(depth, name, " = ", value);
    }
    // Once its loop has ended, a maximum is what it is.
    is_open_.erase(number);
    if (graph_.stores()[0].node != number) return;
    const std::string mask = WriteAddresses(number, "out_ptr", depth);
    Line(depth, "tl.store(", name, "_at, ", name, mask, ")");
  }

  const TileGraph& graph_;
  std::vector<std::string> dims_;
  std::set<int> is_open_;  // maxima whose loop is being written
  std::string text_;
  absl::Status status_;
};

// Triton's tiles have powers of two elements in each dimension.
bool IsOfPowersOfTwo(const TileGraph& graph) {
  const auto is_power = [](int64_t size) {
    return std::has_single_bit(static_cast<uint64_t>(size));
  };
  return std::all_of(graph.tiles().begin(), graph.tiles().end(), [&](const MaskedTile& tile) {
    return std::all_of(tile.sizes.begin(), tile.sizes.end(), is_power);
  });
}

absl::StatusOr<std::string> WriteEntry(const HloComputation& entry, int64_t budget,
                                       const char* sizes) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::StatusOr<TiledComputation> tiled =
      TiledComputation::Create(entry, &context, {}, TiledLoops::kOnePass);
  if (!tiled.ok()) return tiled.status();
  Tiling tiling;
  if (sizes != nullptr) {
    const absl::StatusOr<std::vector<int64_t>> given = tiled->space().ParseSizes(sizes);
    if (!given.ok()) return given.status();
    tiling.sizes = *given;
  } else {
    TilingSearchOptions options;
    options.max_resident_bytes = budget;
    options.accept = [](const Tiling&, const TileGraph& graph) { return IsOfPowersOfTwo(graph); };
    const TilingSearch search = tiled->FindTilings(options);
    if (search.tilings.empty()) {
      return absl::NotFoundError(
          absl::StrCat("no tiles that are powers of two hold at most ", budget, " bytes"));
    }
    tiling = search.tilings.front().tiling;
  }
  const absl::StatusOr<TileGraph> graph = tiled->Instantiate(tiling);
  if (!graph.ok()) return graph.status();
  if (!IsOfPowersOfTwo(*graph)) return absl::InvalidArgumentError("tiles are not powers of two");
  return Kernel(*graph).Write(entry, &context);
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
  if (argc != 3 && argc != 4) {
    std::cerr << "usage: triton_writer FILE BUDGET_BYTES [SIZES]\n";
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
  const absl::StatusOr<std::string> kernel =
      WriteEntry(entry, budget, argc == 4 ? argv[3] : nullptr);
  if (!kernel.ok()) {
    std::cerr << argv[1] << ": " << entry.name() << ": " << kernel.status().message() << "\n";
    return 1;
  }
  std::printf("import triton\nimport triton.language as tl\n%s", kernel->c_str());
  return 0;
}
