#include "xla_indexing/tools/answers/tiling_report.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/report/write/json_writer.h"

namespace xla_indexing {
namespace {

using internal::JsonWriter;

std::string SizesText(const TilingSpace& space, absl::Span<const int64_t> sizes) {
  std::vector<std::string> texts;
  texts.reserve(sizes.size());
  for (int i = 0; i < space.num_dims(); ++i) {
    texts.push_back(absl::StrCat(space.dims()[i].name, "=", sizes[i]));
  }
  return absl::StrJoin(texts, ", ");
}

std::string TilingText(const TilingSpace& space, const Tiling& tiling) {
  std::string text = SizesText(space, tiling.sizes);
  if (tiling.loops.empty()) return text;
  std::vector<std::string> loops;
  loops.reserve(tiling.loops.size());
  for (const int dim : tiling.loops) loops.push_back(space.dims()[dim].name);
  return absl::StrCat(text, ", looping over ", absl::StrJoin(loops, ", "));
}

std::string CostText(const TileCost& cost) {
  const absl::string_view at_most = cost.is_exact ? "" : "at most ";
  return absl::StrCat(cost.resident_bytes, " bytes at a time, ", at_most, cost.moved_bytes,
                      " bytes moved, ", at_most, cost.num_loads, " loads, ", cost.num_stores,
                      " stores, ", cost.num_programs, " programs");
}

// What the tiles of a tiling ask of memory and compute.
std::string WorkText(const TileCost& cost) {
  std::string text = absl::StrCat(cost.are_requests_exact ? "" : "at most ", cost.sectors,
                                  " sectors, ", cost.lines, " lines");
  if (cost.wavefronts > 0) {
    absl::StrAppend(&text, ", ", cost.wavefronts, " wavefronts of at least ",
                    cost.least_wavefronts);
  }
  for (const auto& [count, what] : {std::pair(cost.multiply_adds, " multiply-adds"),
                                    std::pair(cost.transcendentals, " transcendentals"),
                                    std::pair(cost.other_operations, " other operations")}) {
    if (count > 0) absl::StrAppend(&text, ", ", absl::StrFormat("%.17g", count), what);
  }
  absl::StrAppend(&text, "; ", cost.register_bytes, " bytes in registers, ", cost.shared_bytes,
                  " in shared memory");
  return text;
}

std::string TimeText(const KernelTime& time) {
  return absl::StrFormat("%.3g us, bound by %s", time.microseconds, NameOf(time.bound));
}

void AppendIndented(absl::string_view lines, std::string* out) {
  for (const absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    absl::StrAppend(out, "  ", line, "\n");
  }
}

void WriteNames(absl::string_view key, absl::Span<const int> dims, const TilingSpace& space,
                JsonWriter* json) {
  json->Values(key, dims, [&](int dim) { return space.dims()[dim].name; });
}

void WriteDimension(const TilingDimension& dim, JsonWriter* json) {
  json->Field("name", dim.name);
  json->Field("kind", xla_indexing::NameOf(dim.kind));
  json->Field("size", dim.size);
  json->Field("owner", dim.owner->name());
  json->Field("leaf", dim.leaf);
  json->Field("position", dim.position);
  if (dim.joined.empty()) return;
  json->Objects("joined", dim.joined, [&](const TilingDimension::Joined& joined) {
    json->Field("owner", joined.owner_name);
    json->Field("position", joined.position);
  });
}

void WriteSpace(const TilingSpace& space, JsonWriter* json) {
  json->Objects("dims", space.dims(), WriteDimension);
  json->Objects("runtimes", space.runtimes(), WriteDimension);
  json->Objects("roots", space.roots(), [&](const TilingRoot& root) {
    json->Field("leaf", root.leaf);
    WriteNames("dims", root.dims, space, json);
  });
}

// How a node's elements are computed.
void WriteReads(const TileGraph& graph, const TileNode& node, JsonWriter* json) {
  if (node.reads == nullptr) return;
  if (node.IsContraction()) {
    json->Values("steps", node.combined_dims, [&](int dim) {
      return dim < 0 ? "" : absl::string_view(graph.space().dims()[dim].name);
    });
  }
  if (node.combiner) {
    json->Field("combiner", OpcodeName(node.combiner->opcode));
    json->Field("masked_step", xla_indexing::NameOf(node.combiner->neutral));
  }
  json->Objects("reads", *node.reads, [&](const IndexingEntry& entry) {
    json->Field("operand_id", entry.operand);
    json->Field("leaf", entry.operand_leaf);
    json->Values("maps", entry.indexing,
                 [](const OperandIndexing& map) { return map.map().ToString(); });
  });
  if (node.passes_on) json->Field("passes_on", true);
}

void WriteNode(const TileGraph& graph, int number, JsonWriter* json) {
  const TileNode& node = graph.nodes()[number];
  const MaskedTile& tile = graph.tile(node);
  json->Field("id", number);
  json->Field("instruction", node.instruction->name());
  json->Field("opcode", node.instruction->opcode_name());
  json->Field("leaf", node.leaf);
  json->Field("offset_map", tile.offsets.ToString());
  json->Field("sizes", tile.sizes);
  json->Field("strides", tile.strides);
  json->Field("bounds", tile.bounds);
  if (tile.devices) json->Field("device_map", tile.devices->ToString());
  const TileGraph::Active active = graph.ActiveTiles(node);
  json->Object("active_tiles", [&] {
    for (size_t i = 0; i < active.indices.size(); ++i) {
      if (active.indices[i] == Interval::OfSize(graph.num_tiles()[i])) continue;
      json->Field(graph.space().dims()[i].name, active.indices[i]);
    }
  });
  if (!active.is_all_active) {
    json->Values("domains", node.domains,
                 [&](int domain) { return graph.domains()[domain].ToString(); });
  }
  json->Field("exact", node.is_exact);
  if (!tile.runtimes.empty()) {
    json->Objects("runtimes", tile.runtimes, [&](const TileRuntime& runtime) {
      json->Field("instruction", runtime.instruction->name());
      json->Field("leaf", runtime.leaf);
      json->Field("element_map", runtime.element.ToString());
      json->Field("value", runtime.value.ToString());
    });
  }
  json->Field("loop", node.region);
  json->Field("executions", graph.NumExecutions(node));
  if (node.loop >= 0) json->Field("accumulated_over", node.loop);
  json->Objects("operands", node.operands, [&](const TileNode::Operand& operand) {
    json->Field("operand_id", operand.operand);
    json->Field("leaf", operand.leaf);
    json->Field("node", operand.node);
  });
  WriteReads(graph, node, json);
}

absl::string_view NameOf(TileRegion::Kind kind) {
  switch (kind) {
    case TileRegion::Kind::kGrid:
      return "grid";
    case TileRegion::Kind::kParallelLoop:
      return "parallel";
    case TileRegion::Kind::kContractionLoop:
      return "contraction";
  }
  return "";
}

void WriteRescale(const TileRescale& rescale, JsonWriter* json) {
  const bool is_maximum = rescale.kind == TileRescale::Kind::kMaximum;
  json->Field("kind", is_maximum ? "maximum" : "divisor");
  json->Field("accumulator", rescale.accumulator);
  json->Field("by", rescale.by);
  json->Field("element_map", rescale.elements.ToString());
}

void WriteRegion(const TileRegion& region, const TilingSpace& space, JsonWriter* json) {
  json->Field("kind", NameOf(region.kind));
  if (region.parent >= 0) json->Field("parent", region.parent);
  WriteNames("dims", region.dims, space, json);
  json->Field("tiles", region.trip_counts);
  json->Field("accumulators", region.accumulators);
  json->Objects("steps", region.steps, [&](const TileRegion::Step& step) {
    json->Field(step.is_region ? "loop" : step.is_accumulation ? "accumulate" : "node", step.index);
  });
  if (!region.rescales.empty()) json->Objects("rescales", region.rescales, WriteRescale);
}

void WriteGraph(const TileGraph& graph, JsonWriter* json) {
  json->Array("nodes", [&] {
    for (size_t i = 0; i < graph.nodes().size(); ++i) {
      json->Object([&] { WriteNode(graph, static_cast<int>(i), json); });
    }
  });
  json->Objects("loops", graph.regions(),
                [&](const TileRegion& region) { WriteRegion(region, graph.space(), json); });
  json->Objects("stores", graph.stores(), [&](const TileStore& store) {
    json->Field("output_id", graph.space().roots()[store.root].leaf);
    json->Field("node", store.node);
    WriteNames("repeated_for", store.repeated_dims, graph.space(), json);
  });
}

void WriteTiling(const TilingSpace& space, const Tiling& tiling, const TileCost& cost,
                 JsonWriter* json) {
  json->Object("sizes", [&] {
    for (int i = 0; i < space.num_dims(); ++i) {
      json->Field(space.dims()[i].name, tiling.sizes[i]);
    }
  });
  WriteNames("loops", tiling.loops, space, json);
  json->Field("bytes_resident", cost.resident_bytes);
  json->Field("bytes_moved", cost.moved_bytes);
  json->Field("counts_exact", cost.is_exact);
  json->Field("loads", cost.num_loads);
  json->Field("stores", cost.num_stores);
  json->Field("programs", cost.num_programs);
  json->Field("bytes_in_registers", cost.register_bytes);
  json->Field("bytes_in_shared_memory", cost.shared_bytes);
  json->Field("sectors", cost.sectors);
  json->Field("lines", cost.lines);
  json->Field("requests_exact", cost.are_requests_exact);
  json->Field("wavefronts", cost.wavefronts);
  json->Field("least_wavefronts", cost.least_wavefronts);
  json->Field("elements_computed", cost.elements);
  json->Field("multiply_adds", cost.multiply_adds);
  json->Field("transcendentals", cost.transcendentals);
  json->Field("other_operations", cost.other_operations);
}

// What is with the smallest tiles.
std::string WhyThereAreNone(const TiledComputation& tiled) {
  const std::vector<int64_t> ones(tiled.space().num_dims(), 1);
  const absl::StatusOr<TileGraph> graph = tiled.Instantiate(ones);
  if (!graph.ok()) return absl::StrCat("tiles of size 1: ", graph.status().message());
  return absl::StrCat("tiles of size 1: ", CostText(graph->Cost()));
}

// The graph at sizes, with its cost before it.
void ReportGraph(const TiledComputation& tiled, const Tiling& tiling, std::string* text,
                 JsonWriter* json) {
  const absl::StatusOr<TileGraph> graph = tiled.Instantiate(tiling);
  const std::string sizes = TilingText(tiled.space(), tiling);
  if (!graph.ok()) {
    absl::StrAppend(text, "  tiles ", sizes, ": none: ", graph.status().message(), "\n");
    json->Field("error", graph.status().message());
    return;
  }
  const TileCost cost = graph->Cost();
  absl::StrAppend(text, "  tiles ", sizes, ": ", CostText(cost), "\n  work: ", WorkText(cost),
                  "\n");
  AppendIndented(graph->ToString(), text);
  WriteTiling(tiled.space(), tiling, cost, json);
  json->Object("graph", *graph, WriteGraph);
}

// The sizes that are best for the budget of the command line, without its graph.
void ReportSearch(const TiledComputation& tiled, const TilingSearch& search,
                  const CommandLine& line, std::string* text, JsonWriter* json) {
  absl::StrAppend(text, "  ", search.tilings.empty() ? "no tiles" : "best tiles", " for ",
                  *line.tile_budget, " bytes at a time",
                  line.machine == nullptr ? "" : absl::StrCat(" on ", line.machine->name), ", of ",
                  search.is_complete ? "all " : "", search.num_tried, " tried",
                  search.is_complete ? "" : " (there are more)", "\n");
  json->Field("tried", search.num_tried);
  json->Field("complete", search.is_complete);
  json->Objects("candidates", search.tilings, [&](const CostedTiling& found) {
    absl::StrAppend(text, "    ", TilingText(tiled.space(), found.tiling), ": ",
                    CostText(found.cost), "; ", TimeText(found.time), "\n");
    WriteTiling(tiled.space(), found.tiling, found.cost, json);
    json->Field("microseconds", found.time.microseconds);
    json->Field("bound", NameOf(found.time.bound));
  });
  if (!search.tilings.empty()) return;
  const std::string why = WhyThereAreNone(tiled);
  absl::StrAppend(text, "    ", why, "\n");
  json->Field("reason", why);
}

void ReportTiled(const TiledComputation& tiled, const CommandLine& line, std::string* text,
                 JsonWriter* json) {
  AppendIndented(tiled.space().ToString(), text);
  json->Object("space", tiled.space(), WriteSpace);
  const TileNames names = tiled.Names();
  json->Objects("conditions", tiled.Conditions(), [&](const TileCondition& condition) {
    absl::StrAppend(text, "  condition: ", condition.ToString(names), "\n");
    json->Field("text", condition.ToString(names));
    json->RawField("condition", condition.ToJson());
  });
  if (!tiled.borders().empty()) {
    std::vector<std::string> borders;
    json->Objects("borders", tiled.borders(), [&](const TileBorder& border) {
      const std::string& name = tiled.space().dims()[border.dim].name;
      borders.push_back(absl::StrCat(border.at, " mod ", name, " = 0"));
      json->Field("dim", name);
      json->Field("at", border.at);
    });
    absl::StrAppend(text, "  no tile has parts of two pieces where ",
                    absl::StrJoin(borders, " and "), "\n");
  }
  if (line.tile_sizes) {
    const absl::StatusOr<std::vector<int64_t>> sizes = tiled.space().ParseSizes(*line.tile_sizes);
    if (sizes.ok()) {
      json->Object("tiling", [&] { ReportGraph(tiled, Tiling{*sizes, {}}, text, json); });
    } else {
      absl::StrAppend(text, "  tiles: none: ", sizes.status().message(), "\n");
    }
  }
  if (!line.tile_budget) return;
  TilingSearchOptions options;
  options.max_resident_bytes = *line.tile_budget;
  options.machine = line.machine;
  const TilingSearch search = tiled.FindTilings(options);
  json->Object("search", [&] { ReportSearch(tiled, search, line, text, json); });
  if (line.tile_sizes || search.tilings.empty()) return;
  json->Object("tiling", [&] { ReportGraph(tiled, search.tilings.front().tiling, text, json); });
}

}  // namespace

absl::StatusOr<SubjectTiling> SubjectTiling::Create(const Subject& subject,
                                                    mlir::MLIRContext* context, TiledLoops loops) {
  absl::StatusOr<FusionView> view = subject.is_fusion
                                        ? FusionView::OfComputation(subject.computation())
                                        : FusionView::OfFusion(*subject.instruction);
  if (!view.ok()) return view.status();
  SubjectTiling tiling;
  tiling.view_ = std::make_unique<FusionView>(*std::move(view));
  absl::StatusOr<TiledComputation> tiled =
      TiledComputation::Create(tiling.view_->computation(), context, {}, loops);
  if (!tiled.ok()) return tiled.status();
  tiling.tiled_ = std::make_unique<TiledComputation>(*std::move(tiled));
  return tiling;
}

absl::StatusOr<std::vector<int64_t>> SubjectTiling::SizesOfLeaf(absl::string_view sizes,
                                                                int64_t leaf) const {
  const absl::StatusOr<std::vector<int64_t>> all = tiled_->space().ParseSizes(sizes);
  if (!all.ok()) return all.status();
  std::vector<int64_t> own;
  for (const TilingRoot& root : tiled_->space().roots()) {
    if (root.leaf != leaf) continue;
    for (const int dim : root.dims) own.push_back((*all)[dim]);
  }
  return own;
}

void ReportTiling(const Subject& subject, const absl::StatusOr<SubjectTiling>& tiling,
                  const CommandLine& line, std::string* text, JsonWriter* json) {
  json->Field("computation", subject.computation().name());
  json->Field("instruction", subject.instruction->name());
  json->Field("scope", subject.is_fusion ? "fusion" : "instruction");
  absl::StrAppend(text, "Tiling of ",
                  subject.is_fusion ? subject.computation().name() : subject.instruction->name(),
                  ":\n");
  if (tiling.ok()) return ReportTiled(tiling->tiled(), line, text, json);
  absl::StrAppend(text, "  none: ", tiling.status().message(), "\n");
  json->Field("error", tiling.status().message());
}

}  // namespace xla_indexing
