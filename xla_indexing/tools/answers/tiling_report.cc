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
#include "xla_indexing/tools/answers/json_writer.h"

namespace xla_indexing {
namespace {

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
  json->ListField(key, dims, [&](const int dim) { json->Value(space.dims()[dim].name); });
}

void WriteSpace(const TilingSpace& space, JsonWriter* json) {
  json->BeginObject();
  const auto write_dims = [&](absl::string_view key, absl::Span<const TilingDimension> dims) {
    json->BeginArray(key);
    for (const TilingDimension& dim : dims) {
      json->BeginObject();
      json->Field("name", dim.name);
      json->Field("kind", xla_indexing::NameOf(dim.kind));
      json->Field("size", dim.size);
      json->Field("owner", dim.owner->name());
      json->Field("leaf", dim.leaf);
      json->Field("position", dim.position);
      if (!dim.joined.empty()) {
        json->BeginArray("joined");
        for (const TilingDimension::Joined& joined : dim.joined) {
          json->BeginObject();
          json->Field("owner", joined.owner_name);
          json->Field("position", joined.position);
          json->EndObject();
        }
        json->EndArray();
      }
      json->EndObject();
    }
    json->EndArray();
  };
  write_dims("dims", space.dims());
  write_dims("runtimes", space.runtimes());
  json->BeginArray("roots");
  for (const TilingRoot& root : space.roots()) {
    json->BeginObject();
    json->Field("leaf", root.leaf);
    WriteNames("dims", root.dims, space, json);
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

// How a node's elements are computed.
void WriteReads(const TileGraph& graph, const TileNode& node, JsonWriter* json) {
  if (node.reads == nullptr) return;
  if (node.IsContraction()) {
    json->BeginArray("steps");
    for (const int dim : node.combined_dims) {
      json->Value(dim < 0 ? "" : graph.space().dims()[dim].name);
    }
    json->EndArray();
  }
  if (node.combiner) {
    json->Field("combiner", OpcodeName(node.combiner->opcode));
    json->Field("masked_step", xla_indexing::NameOf(node.combiner->neutral));
  }
  json->BeginArray("reads");
  for (const IndexingEntry& entry : *node.reads) {
    json->BeginObject();
    json->Field("operand_id", entry.operand);
    json->Field("leaf", entry.operand_leaf);
    json->ListField("maps", entry.indexing,
                    [&](const OperandIndexing& map) { json->Value(map.map().ToString()); });
    json->EndObject();
  }
  json->EndArray();
  if (node.passes_on) json->Field("passes_on", true);
}

void WriteNode(const TileGraph& graph, int number, JsonWriter* json) {
  const TileNode& node = graph.nodes()[number];
  const MaskedTile& tile = graph.tile(node);
  json->BeginObject();
  json->Field("id", number);
  json->Field("instruction", node.instruction->name());
  json->Field("opcode", node.instruction->opcode_name());
  json->Field("leaf", node.leaf);
  json->Field("offset_map", tile.offsets.ToString());
  json->Field("sizes", tile.sizes);
  json->Field("strides", tile.strides);
  json->ListField("bounds", tile.bounds, [&](const Interval& bounds) { json->Value(bounds); });
  if (tile.devices) json->Field("device_map", tile.devices->ToString());
  json->BeginObject("active_tiles");
  const TileGraph::Active active = graph.ActiveTiles(node);
  for (size_t i = 0; i < active.indices.size(); ++i) {
    if (active.indices[i] == Interval::OfSize(graph.num_tiles()[i])) continue;
    json->Field(graph.space().dims()[i].name, active.indices[i]);
  }
  json->EndObject();
  if (!active.is_all_active) {
    json->ListField("domains", node.domains,
                    [&](const int domain) { json->Value(graph.domains()[domain].ToString()); });
  }
  json->Field("exact", node.is_exact);
  if (!tile.runtimes.empty()) {
    json->BeginArray("runtimes");
    for (const TileRuntime& runtime : tile.runtimes) {
      json->BeginObject();
      json->Field("instruction", runtime.instruction->name());
      json->Field("leaf", runtime.leaf);
      json->Field("element_map", runtime.element.ToString());
      json->Field("value", runtime.value.ToString());
      json->EndObject();
    }
    json->EndArray();
  }
  json->Field("loop", node.region);
  json->Field("executions", graph.NumExecutions(node));
  if (node.loop >= 0) json->Field("accumulated_over", node.loop);
  json->BeginArray("operands");
  for (const TileNode::Operand& operand : node.operands) {
    json->BeginObject();
    json->Field("operand_id", operand.operand);
    json->Field("leaf", operand.leaf);
    json->Field("node", operand.node);
    json->EndObject();
  }
  json->EndArray();
  WriteReads(graph, node, json);
  json->EndObject();
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

void WriteRescales(const TileRegion& region, JsonWriter* json) {
  if (region.rescales.empty()) return;
  json->BeginArray("rescales");
  for (const TileRescale& rescale : region.rescales) {
    const bool is_maximum = rescale.kind == TileRescale::Kind::kMaximum;
    json->BeginObject();
    json->Field("kind", is_maximum ? "maximum" : "divisor");
    json->Field("accumulator", rescale.accumulator);
    json->Field("by", rescale.by);
    json->Field("element_map", rescale.elements.ToString());
    json->EndObject();
  }
  json->EndArray();
}

void WriteGraph(const TileGraph& graph, JsonWriter* json) {
  json->BeginObject();
  json->BeginArray("nodes");
  for (size_t i = 0; i < graph.nodes().size(); ++i) WriteNode(graph, static_cast<int>(i), json);
  json->EndArray();
  json->BeginArray("loops");
  for (const TileRegion& region : graph.regions()) {
    json->BeginObject();
    json->Field("kind", NameOf(region.kind));
    if (region.parent >= 0) json->Field("parent", region.parent);
    WriteNames("dims", region.dims, graph.space(), json);
    json->Field("tiles", region.trip_counts);
    json->Field("accumulators", region.accumulators);
    json->BeginArray("steps");
    for (const TileRegion::Step& step : region.steps) {
      json->BeginObject();
      json->Field(step.is_region         ? "loop"
                  : step.is_accumulation ? "accumulate"
                                         : "node",
                  step.index);
      json->EndObject();
    }
    json->EndArray();
    WriteRescales(region, json);
    json->EndObject();
  }
  json->EndArray();
  json->BeginArray("stores");
  for (const TileStore& store : graph.stores()) {
    json->BeginObject();
    json->Field("output_id", graph.space().roots()[store.root].leaf);
    json->Field("node", store.node);
    WriteNames("repeated_for", store.repeated_dims, graph.space(), json);
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

void WriteTiling(const TilingSpace& space, const Tiling& tiling, const TileCost& cost,
                 JsonWriter* json) {
  json->BeginObject("sizes");
  for (int i = 0; i < space.num_dims(); ++i) {
    json->Field(space.dims()[i].name, tiling.sizes[i]);
  }
  json->EndObject();
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
void ReportGraph(const TiledComputation& tiled, const Tiling& tiling, ReportedTiling* report,
                 JsonWriter* json) {
  const absl::StatusOr<TileGraph> graph = tiled.Instantiate(tiling);
  json->BeginObject("tiling");
  if (!graph.ok()) {
    absl::StrAppend(&report->text, "  tiles ", TilingText(tiled.space(), tiling),
                    ": none: ", graph.status().message(), "\n");
    json->Field("error", graph.status().message());
    json->EndObject();
    return;
  }
  const TileCost cost = graph->Cost();
  absl::StrAppend(&report->text, "  tiles ", TilingText(tiled.space(), tiling), ": ",
                  CostText(cost), "\n  work: ", WorkText(cost), "\n");
  AppendIndented(graph->ToString(), &report->text);
  WriteTiling(tiled.space(), tiling, cost, json);
  json->Key("graph");
  WriteGraph(*graph, json);
  json->EndObject();
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

ReportedTiling ReportTiling(const Subject& subject, const absl::StatusOr<SubjectTiling>& tiling,
                            const CommandLine& line) {
  ReportedTiling report;
  JsonWriter json(&report.json);
  json.BeginObject();
  json.Field("computation", subject.computation().name());
  json.Field("instruction", subject.instruction->name());
  json.Field("scope", subject.is_fusion ? "fusion" : "instruction");
  absl::StrAppend(&report.text, "Tiling of ",
                  subject.is_fusion ? subject.computation().name() : subject.instruction->name(),
                  ":\n");
  if (!tiling.ok()) {
    absl::StrAppend(&report.text, "  none: ", tiling.status().message(), "\n");
    json.Field("error", tiling.status().message());
    json.EndObject();
    return report;
  }
  const TiledComputation& tiled = tiling->tiled();
  AppendIndented(tiled.space().ToString(), &report.text);
  json.Key("space");
  WriteSpace(tiled.space(), &json);
  const TileNames names = tiled.Names();
  json.BeginArray("conditions");
  for (const TileCondition& condition : tiled.Conditions()) {
    absl::StrAppend(&report.text, "  condition: ", condition.ToString(names), "\n");
    json.BeginObject();
    json.Field("text", condition.ToString(names));
    json.RawField("condition", condition.ToJson());
    json.EndObject();
  }
  json.EndArray();
  if (!tiled.borders().empty()) {
    std::vector<std::string> borders;
    json.BeginArray("borders");
    for (const TileBorder& border : tiled.borders()) {
      const std::string& name = tiled.space().dims()[border.dim].name;
      borders.push_back(absl::StrCat(border.at, " mod ", name, " = 0"));
      json.BeginObject();
      json.Field("dim", name);
      json.Field("at", border.at);
      json.EndObject();
    }
    json.EndArray();
    absl::StrAppend(&report.text, "  no tile has parts of two pieces where ",
                    absl::StrJoin(borders, " and "), "\n");
  }
  if (line.tile_sizes) {
    const absl::StatusOr<std::vector<int64_t>> sizes = tiled.space().ParseSizes(*line.tile_sizes);
    if (sizes.ok()) {
      ReportGraph(tiled, Tiling{*sizes, {}}, &report, &json);
    } else {
      absl::StrAppend(&report.text, "  tiles: none: ", sizes.status().message(), "\n");
    }
  }
  if (line.tile_budget) {
    TilingSearchOptions options;
    options.max_resident_bytes = *line.tile_budget;
    options.machine = line.machine;
    const TilingSearch search = tiled.FindTilings(options);
    absl::StrAppend(&report.text, "  ", search.tilings.empty() ? "no tiles" : "best tiles", " for ",
                    *line.tile_budget, " bytes at a time",
                    line.machine == nullptr ? "" : absl::StrCat(" on ", line.machine->name),
                    ", of ", search.is_complete ? "all " : "", search.num_tried, " tried",
                    search.is_complete ? "" : " (there are more)", "\n");
    json.BeginObject("search");
    json.Field("tried", search.num_tried);
    json.Field("complete", search.is_complete);
    json.BeginArray("candidates");
    for (const CostedTiling& found : search.tilings) {
      absl::StrAppend(&report.text, "    ", TilingText(tiled.space(), found.tiling), ": ",
                      CostText(found.cost), "; ", TimeText(found.time), "\n");
      json.BeginObject();
      WriteTiling(tiled.space(), found.tiling, found.cost, &json);
      json.Field("microseconds", found.time.microseconds);
      json.Field("bound", NameOf(found.time.bound));
      json.EndObject();
    }
    json.EndArray();
    if (search.tilings.empty()) {
      const std::string why = WhyThereAreNone(tiled);
      absl::StrAppend(&report.text, "    ", why, "\n");
      json.Field("reason", why);
    }
    json.EndObject();
    if (!line.tile_sizes && !search.tilings.empty()) {
      ReportGraph(tiled, search.tilings.front().tiling, &report, &json);
    }
  }
  json.EndObject();
  return report;
}

}  // namespace xla_indexing
