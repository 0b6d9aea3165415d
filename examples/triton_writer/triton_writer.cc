// Writes a Triton kernel for a fusion: from tile sizes within a budget of bytes to Python text.
//
//   triton_writer FILE BUDGET_BYTES [SIZES]
//
// The ENTRY computation of the module is one fusion with one result. TiledComputation gives the graph
// of tiles, with the contractions of a softmax or an attention in one pass; the writer follows its
// regions and steps in order and writes a line or two for each. Sizes are chosen, or given as
// `d0=1,d1=16,d2=16,k=16`; those of tiles have to be powers of two, as Triton has them.
//
// Known are loads, constants, elementwise operations, broadcast, reshape, transpose, dot with one
// contracted dimension, and reductions of one dimension by sum and maximum, in f32. Others are an
// error with the instruction's name.
//
// Exit code: 0; 1 where the input cannot be used; 2 for a wrong command line.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
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

absl::Status NotWritten(const TileNode& node, absl::string_view what = "is not written") {
  return absl::UnimplementedError(
      absl::StrCat(node.array->name, ": ", node.array->opcode_name, " ", what));
}

// The results of a map as Python, for dimensions of these names.
std::vector<std::string> ResultTexts(const IndexingMap& map, const std::vector<std::string>& dims) {
  std::vector<std::string> texts;
  for (const mlir::AffineExpr result : map.results()) {
    Variables variables(map.dims());
    for (size_t i = 0; i < variables.size(); ++i) {
      variables[i].name = mlir::StringAttr::get(map.context(), dims[i]);
    }
    const IndexingMap one(kPartsFit, mlir::AffineMap::get(map.num_dims(), 0, result), variables, {},
                          {});
    const std::string text = one.ToString();
    const size_t begin = text.find("-> (") + 4;
    texts.push_back(absl::StrReplaceAll(text.substr(begin, text.find("), domain", begin) - begin),
                                        {{"floordiv", "//"}, {" mod ", " % "}}));
  }
  return texts;
}

// The dimension that a result of a map is; -1 for others.
int DimOf(const IndexingMap& map, int result) {
  for (int dim = 0; dim < map.num_dims(); ++dim) {
    if (map.results()[result] == mlir::getAffineDimExpr(dim, map.context())) return dim;
  }
  return -1;
}

std::string ShapeText(absl::Span<const int64_t> sizes) {
  return absl::StrCat("(", absl::StrJoin(sizes, ", "), sizes.size() == 1 ? ",)" : ")");
}

// `x[None, :]` for x that has the marked dimensions of `rank`.
std::string Expanded(absl::string_view x, const std::vector<bool>& has) {
  std::vector<std::string> index;
  for (const bool h : has) index.push_back(h ? ":" : "None");
  const auto count = std::count(has.begin(), has.end(), true);
  if (count == 0 || count == static_cast<int64_t>(has.size())) return std::string(x);
  return absl::StrCat(x, "[", absl::StrJoin(index, ", "), "]");
}

class Kernel {
 public:
  explicit Kernel(const TileGraph& graph) : graph_(graph) {
    for (const TilingDimension& dim : graph.space().dims()) dims_.push_back(dim.name);
  }

  absl::StatusOr<std::string> Write(absl::string_view name, const HloComputation& entry,
                                    mlir::MLIRContext* context) {
    std::vector<std::string> arguments;
    for (const HloInstruction* parameter : entry.parameters()) {
      arguments.push_back(absl::StrCat(parameter->name(), "_ptr"));
    }
    arguments.emplace_back("out_ptr");
    if (graph_.stores().size() != 1) {
      return absl::UnimplementedError("several results are not written");
    }
    const TileRegion& grid = graph_.regions()[0];
    const absl::StatusOr<ProgramIds> ids = NumberPrograms(grid.trip_counts, {}, context);
    if (!ids.ok()) return ids.status();
    absl::StrAppend(&text_, "# Launch ", ids->num_programs, " programs.\n@triton.jit\ndef ", name,
                    "(", absl::StrJoin(arguments, ", "), "):\n");
    Line(1, "p = tl.program_id(0)");
    const std::vector<std::string> tiles = ResultTexts(ids->tile_of_program.front(), {"p"});
    for (size_t i = 0; i < tiles.size(); ++i) {
      Line(1, absl::StrCat(dims_[grid.dims[i]], " = ", tiles[i]));
    }
    absl::Status status = WriteSteps(0, 1);
    if (!status.ok()) return status;
    return std::move(text_);
  }

 private:
  void Line(int depth, absl::string_view line) {
    absl::StrAppend(&text_, std::string(4 * static_cast<size_t>(depth), ' '), line, "\n");
  }
  std::string NameOf(int node) const {
    return absl::StrCat(
        absl::StrReplaceAll(graph_.nodes()[node].array->name, {{"-", "_"}, {".", "_"}}), "_", node);
  }
  const MaskedTile& TileOf(int node) const { return graph_.tile(graph_.nodes()[node]); }

  // The index of each element along a dimension of a tile, and whether it is within the bounds; none
  // where all are.
  std::string IndexText(int node, int dim) const {
    const MaskedTile& tile = TileOf(node);
    const std::string offset = ResultTexts(tile.offsets, dims_)[dim];
    std::string text = absl::StrCat("tl.arange(0, ", tile.sizes[dim], ")");
    if (tile.strides[dim] != 1) absl::StrAppend(&text, " * ", tile.strides[dim]);
    return offset == "0" ? text : absl::StrCat(offset, " + ", text);
  }

  // Whether some tile has an index beyond the bounds. An offset that is a sum of multiples of tile
  // indices has its ends where each index is the first or the last.
  bool MayLeaveBounds(int node, int dim) const {
    const MaskedTile& tile = TileOf(node);
    const std::string offset = ResultTexts(tile.offsets, dims_)[dim];
    if (offset.find_first_of("/%") != offset.npos || dims_.size() > 10) return true;
    for (size_t corner = 0; corner < size_t{1} << dims_.size(); ++corner) {
      std::vector<int64_t> indices;
      for (size_t i = 0; i < dims_.size(); ++i) {
        indices.push_back((corner >> i & 1) != 0 ? graph_.num_tiles()[i] - 1 : 0);
      }
      const auto offsets = tile.offsets.Evaluate(indices, {});
      if (!offsets.ok()) return true;
      const int64_t begin = (*offsets)[dim];
      const int64_t end = begin + (tile.sizes[dim] - 1) * tile.strides[dim];
      if (!tile.bounds[dim].Contains(begin) || !tile.bounds[dim].Contains(end)) return true;
    }
    return false;
  }

  // Writes the addresses of a tile of an array at `pointer`; returns the mask.
  std::string WriteAddresses(int node, absl::string_view pointer, int depth) {
    const MaskedTile& tile = TileOf(node);
    const std::string name = NameOf(node);
    std::string address(pointer);
    std::vector<std::string> masks;
    int64_t stride = 1;
    for (int dim = static_cast<int>(tile.sizes.size()); dim-- > 0;) {
      std::vector<bool> has(tile.sizes.size(), false);
      has[dim] = true;
      const std::string index = absl::StrCat(name, "_i", dim);
      Line(depth, absl::StrCat(index, " = ", IndexText(node, dim)));
      const std::string expanded = Expanded(index, has);
      absl::StrAppend(&address, " + ", expanded, stride == 1 ? "" : absl::StrCat(" * ", stride));
      if (MayLeaveBounds(node, dim)) {
        const Interval& bounds = tile.bounds[dim];
        masks.push_back(absl::StrCat("(", expanded, " >= ", bounds.lower(), ") & (", expanded,
                                     " <= ", bounds.upper(), ")"));
      }
      stride *= graph_.nodes()[node].array->shape.dimension(dim);
    }
    Line(depth, absl::StrCat(name, "_at = ", address));
    if (masks.empty()) return "";
    return absl::StrJoin(masks, " & ");
  }

  absl::Status WriteSteps(int number, int depth) {
    const TileRegion& region = graph_.regions()[number];
    for (const TileRegion::Step& step : region.steps) {
      absl::Status status = step.is_region         ? WriteLoop(step.index, depth)
                            : step.is_accumulation ? WriteAccumulation(region, step.index, depth)
                                                   : WriteNode(step.index, depth);
      if (!status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // The value of an accumulator before all steps.
  absl::StatusOr<std::string> FirstOf(const TileNode& node) const {
    if (node.array->opcode == HloOpcode::kDot) return std::string("0.0");
    for (const TileNode::Operand& operand : node.operands) {
      if (operand.operand == 1) return NameOf(operand.node);
    }
    return NotWritten(node);
  }

  absl::Status WriteLoop(int number, int depth) {
    const TileRegion& loop = graph_.regions()[number];
    for (const int node : loop.accumulators) {
      const absl::StatusOr<std::string> first = FirstOf(graph_.nodes()[node]);
      if (!first.ok()) return first.status();
      Line(depth, absl::StrCat(NameOf(node), " = tl.zeros(", ShapeText(TileOf(node).sizes),
                               ", tl.float32) + ", *first));
    }
    Line(depth, absl::StrCat("for ", dims_[loop.dims[0]], " in range(", loop.trip_counts[0], "):"));
    const auto is_maximum = [](const TileRescale& rescale) {
      return rescale.kind == TileRescale::Kind::kMaximum;
    };
    for (const TileRescale& rescale : loop.rescales) {
      if (!is_maximum(rescale)) continue;
      if (!is_open_.insert(rescale.by).second) continue;
      Line(depth + 1, absl::StrCat(NameOf(rescale.by), "_before = ", NameOf(rescale.by)));
    }
    if (absl::Status status = WriteSteps(number, depth + 1); !status.ok()) return status;
    bool has_steps = false;
    for (const TileRegion::Step& step : loop.steps) has_steps = has_steps || step.is_accumulation;
    for (const int node : loop.accumulators) {
      if (has_steps) continue;
      absl::Status status = WriteAccumulation(loop, node, depth + 1);
      if (!status.ok()) return status;
    }
    for (const bool maxima : {true, false}) {
      for (const TileRescale& rescale : loop.rescales) {
        if (is_maximum(rescale) != maxima) continue;
        const std::string sum = NameOf(rescale.accumulator);
        const std::string by = ByText(rescale, NameOf(rescale.by));
        Line(depth, maxima ? absl::StrCat(sum, " = tl.where(", by,
                                          " == float('-inf'), float('nan'), ", sum, ")")
                           : absl::StrCat(sum, " = ", sum, " / ", by));
      }
    }
    return absl::OkStatus();
  }

  // A value by which an accumulator is rescaled, in the accumulator's dimensions.
  std::string ByText(const TileRescale& rescale, absl::string_view value) const {
    std::vector<bool> has(rescale.elements.num_dims(), false);
    for (int i = 0; i < rescale.elements.num_results(); ++i) {
      const int dim = DimOf(rescale.elements, i);
      if (dim >= 0) has[dim] = true;
    }
    return Expanded(value, has);
  }

  absl::Status WriteAccumulation(const TileRegion& region, int number, int depth) {
    const std::string name = NameOf(number);
    for (const TileRescale& rescale : region.rescales) {
      if (rescale.accumulator != number || rescale.kind != TileRescale::Kind::kMaximum) continue;
      const std::string by = NameOf(rescale.by);
      Line(depth,
           absl::StrCat(name, " = ", name, " * ",
                        ByText(rescale, absl::StrCat("tl.exp(", by, "_before - ", by, "_shift)"))));
    }
    const absl::StatusOr<std::string> step = StepText(number, depth);
    if (!step.ok()) return step.status();
    Line(depth, absl::StrCat(name, " = ", Combined(number, name, *step)));
    // What the exponents of this step have subtracted.
    for (const TileRescale& rescale : region.rescales) {
      if (rescale.by != number || rescale.kind != TileRescale::Kind::kMaximum) continue;
      Line(depth,
           absl::StrCat(name, "_shift = tl.where(", name, " == float('-inf'), 0.0, ", name, ")"));
      break;
    }
    return absl::OkStatus();
  }

  std::string Combined(int number, absl::string_view a, absl::string_view b) const {
    return graph_.nodes()[number].combiner->opcode == HloOpcode::kMaximum
               ? absl::StrCat("tl.maximum(", a, ", ", b, ")")
               : absl::StrCat(a, " + ", b);
  }

  // An operand of a contraction, with the neutral element where there is no step; and the dimension
  // that the step is in.
  struct StepOperand {
    std::string text;
    int step_dim = -1;
    std::vector<int> dims;  // of the result, or of the step, by dimension of the operand
  };
  absl::StatusOr<StepOperand> OperandOf(int number, int64_t operand, int depth) {
    const TileNode& node = graph_.nodes()[number];
    const auto rank = static_cast<int>(node.array->shape.rank());
    if (node.combined_dims.size() != 1 || !node.combiner) return NotWritten(node);
    StepOperand found;
    for (const IndexingEntry& entry : *node.reads) {
      if (entry.operand != operand || entry.indexing.size() != 1) continue;
      const IndexingMap& map = entry.indexing.begin()->map();
      for (int i = 0; i < map.num_results(); ++i) {
        found.dims.push_back(DimOf(map, i));
        if (found.dims.back() == rank) found.step_dim = i;
      }
    }
    if (found.step_dim < 0) return NotWritten(node);
    const int read = OperandNode(node, operand);
    found.text = NameOf(read);
    const int dim = node.combined_dims[0];
    if (dim < 0) return found;
    const int64_t size = graph_.sizes()[dim];
    const int64_t all = graph_.space().dims()[dim].size;
    if (size * graph_.num_tiles()[dim] == all) return found;
    std::vector<bool> has(found.dims.size(), false);
    has[found.step_dim] = true;
    const std::string steps = absl::StrCat(NameOf(number), "_steps");
    if (operand == 0) {
      Line(depth,
           absl::StrCat(steps, " = ", dims_[dim], " * ", size, " + tl.arange(0, ", size, ")"));
    }
    const bool is_sum = node.combiner->neutral == TileCombiner::Neutral::kZero;
    found.text = absl::StrCat("tl.where(", Expanded(steps, has), " < ", all, ", ", found.text, ", ",
                              is_sum ? "0.0" : "float('-inf')", ")");
    return found;
  }

  static int OperandNode(const TileNode& node, int64_t operand) {
    for (const TileNode::Operand& candidate : node.operands) {
      if (candidate.operand == operand) return candidate.node;
    }
    return -1;
  }

  // What a contraction makes of the steps of its present tiles.
  absl::StatusOr<std::string> StepText(int number, int depth) {
    const TileNode& node = graph_.nodes()[number];
    const absl::StatusOr<StepOperand> a = OperandOf(number, 0, depth);
    if (!a.ok()) return a.status();
    if (node.array->opcode == HloOpcode::kReduce) {
      const bool is_sum = node.combiner->opcode == HloOpcode::kAdd;
      if (!is_sum && node.combiner->opcode != HloOpcode::kMaximum) return NotWritten(node);
      return absl::StrCat(is_sum ? "tl.sum(" : "tl.max(", a->text, ", ", a->step_dim, ")");
    }
    const absl::StatusOr<StepOperand> b = OperandOf(number, 1, depth);
    if (!b.ok()) return b.status();
    if (node.array->opcode != HloOpcode::kDot) return NotWritten(node);
    // tl.dot takes (batch, m, k) and (batch, k, n).
    const int step = static_cast<int>(node.array->shape.rank());
    std::vector<int> a_order;
    std::vector<int> b_order;
    for (int dim = 0; dim < step; ++dim) {
      if (dim == step - 1) b_order.push_back(step);
      if (dim != step - 1) a_order.push_back(dim);
      if (dim != step - 2) b_order.push_back(dim);
    }
    a_order.push_back(step);
    const std::string left = Permuted(*a, a_order);
    const std::string right = Permuted(*b, b_order);
    if (left.empty() || right.empty() || step < 2 || step > 3) return NotWritten(node);
    return absl::StrCat("tl.dot(", left, ", ", right, ", input_precision='ieee')");
  }

  // An operand with its dimensions in the order of these of the result and the step.
  static std::string Permuted(const StepOperand& operand, const std::vector<int>& order) {
    std::vector<int> dims;
    bool is_in_order = operand.dims.size() == order.size();
    for (const int dim : order) {
      const auto at = std::find(operand.dims.begin(), operand.dims.end(), dim);
      if (at == operand.dims.end()) return "";
      dims.push_back(static_cast<int>(at - operand.dims.begin()));
      is_in_order = is_in_order && dims.back() + 1 == static_cast<int>(dims.size());
    }
    if (is_in_order) return operand.text;
    return absl::StrCat("tl.permute(", operand.text, ", (", absl::StrJoin(dims, ", "), "))");
  }

  absl::StatusOr<std::string> Elementwise(const TileNode& node,
                                          const std::vector<std::string>& operands) const {
    const auto binary = [&](absl::string_view op) {
      return absl::StrCat(operands[0], " ", op, " ", operands[1]);
    };
    switch (node.array->opcode) {
      case HloOpcode::kAdd:
        return binary("+");
      case HloOpcode::kSubtract:
        return binary("-");
      case HloOpcode::kMultiply:
        return binary("*");
      case HloOpcode::kDivide:
        return binary("/");
      case HloOpcode::kMaximum:
        return absl::StrCat("tl.maximum(", operands[0], ", ", operands[1], ")");
      case HloOpcode::kNegate:
        return absl::StrCat("-", operands[0]);
      case HloOpcode::kExponential:
        return absl::StrCat("tl.exp(", operands[0], ")");
      case HloOpcode::kTanh:
        return absl::StrCat("1 - 2 / (tl.exp(2 * ", operands[0], ") + 1)");
      default:
        return NotWritten(node);
    }
  }

  absl::StatusOr<std::string> ValueText(int number, int depth) {
    const TileNode& node = graph_.nodes()[number];
    if (node.IsContraction()) {
      const absl::StatusOr<std::string> first = FirstOf(node);
      const absl::StatusOr<std::string> step = StepText(number, depth);
      if (!first.ok() || !step.ok()) return first.ok() ? step.status() : first.status();
      return Combined(number, *first, *step);
    }
    if (node.array->opcode == HloOpcode::kConstant) {
      const auto bits = static_cast<uint32_t>(node.instruction->literal()->BitsAt(0));
      return absl::StrCat("float('", std::bit_cast<float>(bits), "')");
    }
    std::vector<std::string> operands;
    for (const TileNode::Operand& operand : node.operands) {
      operands.push_back(ValueNow(operand.node));
      if (node.passes_on) return operands[0];
    }
    const std::string sizes = ShapeText(TileOf(number).sizes);
    switch (node.array->opcode) {
      case HloOpcode::kBroadcast: {
        std::vector<bool> has(node.array->shape.rank(), false);
        for (const int64_t dim : node.instruction->dimensions()) has[dim] = true;
        return absl::StrCat("tl.zeros(", sizes, ", tl.float32) + ", Expanded(operands[0], has));
      }
      case HloOpcode::kReshape:
        return absl::StrCat("tl.reshape(", operands[0], ", ", sizes, ")");
      case HloOpcode::kTranspose:
        return absl::StrCat("tl.permute(", operands[0], ", ",
                            ShapeText(node.instruction->dimensions()), ")");
      default:
        return Elementwise(node, operands);
    }
  }

  // A maximum that exponents subtract while its loop runs is its shift.
  std::string ValueNow(int number) const {
    const int loop = graph_.nodes()[number].loop;
    if (loop < 0 || !is_open_.contains(number)) return NameOf(number);
    return absl::StrCat(NameOf(number), "_shift");
  }

  absl::Status WriteNode(int number, int depth) {
    const TileNode& node = graph_.nodes()[number];
    const std::string name = NameOf(number);
    std::string mask;
    const bool is_load = node.array->opcode == HloOpcode::kParameter;
    if (node.array->shape.element_type() != ElementType::kF32 || !TileOf(number).runtimes.empty()) {
      return NotWritten(node,
                        "of another type than f32, or at an index that is data, is not written");
    }
    if (is_load) {
      mask = WriteAddresses(number, absl::StrCat(node.array->name, "_ptr"), depth);
      Line(depth,
           absl::StrCat(name, " = tl.load(", name, "_at",
                        mask.empty() ? "" : absl::StrCat(", mask=", mask, ", other=0.0"), ")"));
    } else if (node.loop < 0) {
      const absl::StatusOr<std::string> value = ValueText(number, depth);
      if (!value.ok()) return value.status();
      Line(depth, absl::StrCat(name, " = ", *value));
    }
    // Once its loop has ended, a maximum is what it is.
    is_open_.erase(number);
    for (const TileStore& store : graph_.stores()) {
      if (store.node != number) continue;
      mask = WriteAddresses(number, "out_ptr", depth);
      Line(depth, absl::StrCat("tl.store(", name, "_at, ", name,
                               mask.empty() ? "" : absl::StrCat(", mask=", mask), ")"));
    }
    return absl::OkStatus();
  }

  const TileGraph& graph_;
  std::vector<std::string> dims_;
  std::set<int> is_open_;  // maxima whose loop is being written
  std::string text_;
};

// Triton's tiles have powers of two elements in each dimension.
bool IsOfPowersOfTwo(const TileGraph& graph) {
  for (const MaskedTile& tile : graph.tiles()) {
    for (const int64_t size : tile.sizes) {
      if (!std::has_single_bit(static_cast<uint64_t>(size))) return false;
    }
  }
  return true;
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
  return Kernel(*graph).Write(entry.name(), entry, &context);
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
