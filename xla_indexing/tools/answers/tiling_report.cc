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
#include "xla_indexing/tools/answers/count_output.h"
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
  json->Key(key);
  json->BeginArray();
  for (const int dim : dims) json->String(space.dims()[dim].name);
  json->EndArray();
}

void WriteSpace(const TilingSpace& space, JsonWriter* json) {
  json->BeginObject();
  const auto write_dims = [&](absl::string_view key, absl::Span<const TilingDimension> dims) {
    json->Key(key);
    json->BeginArray();
    for (const TilingDimension& dim : dims) {
      json->BeginObject();
      json->StringField("name", dim.name);
      json->StringField("kind", xla_indexing::NameOf(dim.kind));
      json->IntegerField("size", dim.size);
      json->StringField("owner", dim.owner->name());
      json->IntegerField("leaf", dim.leaf);
      json->IntegerField("position", dim.position);
      if (!dim.joined.empty()) {
        json->Key("joined");
        json->BeginArray();
        for (const TilingDimension::Joined& joined : dim.joined) {
          json->BeginObject();
          json->StringField("owner", joined.owner_name);
          json->IntegerField("position", joined.position);
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
  json->Key("roots");
  json->BeginArray();
  for (const TilingRoot& root : space.roots()) {
    json->BeginObject();
    json->IntegerField("leaf", root.leaf);
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
    json->Key("steps");
    json->BeginArray();
    for (const int dim : node.combined_dims) {
      json->String(dim < 0 ? "" : graph.space().dims()[dim].name);
    }
    json->EndArray();
  }
  if (node.combiner) {
    json->StringField("combiner", OpcodeName(node.combiner->opcode));
    json->StringField("masked_step", xla_indexing::NameOf(node.combiner->neutral));
  }
  json->Key("reads");
  json->BeginArray();
  for (const IndexingEntry& entry : *node.reads) {
    json->BeginObject();
    json->IntegerField("operand_id", entry.operand);
    json->IntegerField("leaf", entry.operand_leaf);
    json->Key("maps");
    json->BeginArray();
    for (const OperandIndexing& map : entry.indexing) json->String(map.map().ToString());
    json->EndArray();
    json->EndObject();
  }
  json->EndArray();
  if (node.passes_on) {
    json->Key("passes_on");
    json->Bool(true);
  }
}

void WriteNode(const TileGraph& graph, int number, JsonWriter* json) {
  const TileNode& node = graph.nodes()[number];
  const MaskedTile& tile = graph.tile(node);
  json->BeginObject();
  json->IntegerField("id", number);
  json->StringField("instruction", node.instruction->name());
  json->StringField("opcode", node.instruction->opcode_name());
  json->IntegerField("leaf", node.leaf);
  json->StringField("offset_map", tile.offsets.ToString());
  json->IntegersField("sizes", tile.sizes);
  json->IntegersField("strides", tile.strides);
  json->Key("bounds");
  json->BeginArray();
  for (const Interval& bounds : tile.bounds) WriteCountValue(bounds, json);
  json->EndArray();
  if (tile.devices) json->StringField("device_map", tile.devices->ToString());
  json->Key("active_tiles");
  json->BeginObject();
  const TileGraph::Active active = graph.ActiveTiles(node);
  for (size_t i = 0; i < active.indices.size(); ++i) {
    if (active.indices[i] == Interval::OfSize(graph.num_tiles()[i])) continue;
    json->Key(graph.space().dims()[i].name);
    WriteCountValue(active.indices[i], json);
  }
  json->EndObject();
  if (!active.is_all_active) {
    json->Key("domains");
    json->BeginArray();
    for (const int domain : node.domains) json->String(graph.domains()[domain].ToString());
    json->EndArray();
  }
  json->Key("exact");
  json->Bool(node.is_exact);
  if (!tile.runtimes.empty()) {
    json->Key("runtimes");
    json->BeginArray();
    for (const TileRuntime& runtime : tile.runtimes) {
      json->BeginObject();
      json->StringField("instruction", runtime.instruction->name());
      json->IntegerField("leaf", runtime.leaf);
      json->StringField("element_map", runtime.element.ToString());
      json->StringField("value", runtime.value.ToString());
      json->EndObject();
    }
    json->EndArray();
  }
  json->IntegerField("loop", node.region);
  json->Key("executions");
  WriteCountValue(graph.NumExecutions(node), json);
  if (node.loop >= 0) json->IntegerField("accumulated_over", node.loop);
  json->Key("operands");
  json->BeginArray();
  for (const TileNode::Operand& operand : node.operands) {
    json->BeginObject();
    json->IntegerField("operand_id", operand.operand);
    json->IntegerField("leaf", operand.leaf);
    json->IntegerField("node", operand.node);
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
  json->Key("rescales");
  json->BeginArray();
  for (const TileRescale& rescale : region.rescales) {
    const bool is_maximum = rescale.kind == TileRescale::Kind::kMaximum;
    json->BeginObject();
    json->StringField("kind", is_maximum ? "maximum" : "divisor");
    json->IntegerField("accumulator", rescale.accumulator);
    json->IntegerField("by", rescale.by);
    json->StringField("element_map", rescale.elements.ToString());
    json->EndObject();
  }
  json->EndArray();
}

void WriteGraph(const TileGraph& graph, JsonWriter* json) {
  json->BeginObject();
  json->Key("nodes");
  json->BeginArray();
  for (size_t i = 0; i < graph.nodes().size(); ++i) WriteNode(graph, static_cast<int>(i), json);
  json->EndArray();
  json->Key("loops");
  json->BeginArray();
  for (const TileRegion& region : graph.regions()) {
    json->BeginObject();
    json->StringField("kind", NameOf(region.kind));
    if (region.parent >= 0) json->IntegerField("parent", region.parent);
    WriteNames("dims", region.dims, graph.space(), json);
    json->IntegersField("tiles", region.trip_counts);
    json->IntegersField("accumulators", region.accumulators);
    json->Key("steps");
    json->BeginArray();
    for (const TileRegion::Step& step : region.steps) {
      json->BeginObject();
      json->IntegerField(step.is_region         ? "loop"
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
  json->Key("stores");
  json->BeginArray();
  for (const TileStore& store : graph.stores()) {
    json->BeginObject();
    json->IntegerField("output_id", graph.space().roots()[store.root].leaf);
    json->IntegerField("node", store.node);
    WriteNames("repeated_for", store.repeated_dims, graph.space(), json);
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

void WriteTiling(const TilingSpace& space, const Tiling& tiling, const TileCost& cost,
                 JsonWriter* json) {
  json->Key("sizes");
  json->BeginObject();
  for (int i = 0; i < space.num_dims(); ++i) {
    json->IntegerField(space.dims()[i].name, tiling.sizes[i]);
  }
  json->EndObject();
  WriteNames("loops", tiling.loops, space, json);
  json->IntegerField("bytes_resident", cost.resident_bytes);
  json->IntegerField("bytes_moved", cost.moved_bytes);
  json->Key("counts_exact");
  json->Bool(cost.is_exact);
  json->IntegerField("loads", cost.num_loads);
  json->IntegerField("stores", cost.num_stores);
  json->IntegerField("programs", cost.num_programs);
  json->IntegerField("bytes_in_registers", cost.register_bytes);
  json->IntegerField("bytes_in_shared_memory", cost.shared_bytes);
  json->IntegerField("sectors", cost.sectors);
  json->IntegerField("lines", cost.lines);
  json->Key("requests_exact");
  json->Bool(cost.are_requests_exact);
  json->IntegerField("wavefronts", cost.wavefronts);
  json->IntegerField("least_wavefronts", cost.least_wavefronts);
  json->IntegerField("elements_computed", cost.elements);
  json->Key("multiply_adds");
  json->Number(cost.multiply_adds);
  json->Key("transcendentals");
  json->Number(cost.transcendentals);
  json->Key("other_operations");
  json->Number(cost.other_operations);
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
  json->Key("tiling");
  json->BeginObject();
  if (!graph.ok()) {
    absl::StrAppend(&report->text, "  tiles ", TilingText(tiled.space(), tiling),
                    ": none: ", graph.status().message(), "\n");
    json->StringField("error", graph.status().message());
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
  json.StringField("computation", subject.computation().name());
  json.StringField("instruction", subject.instruction->name());
  json.StringField("scope", subject.is_fusion ? "fusion" : "instruction");
  absl::StrAppend(&report.text, "Tiling of ",
                  subject.is_fusion ? subject.computation().name() : subject.instruction->name(),
                  ":\n");
  if (!tiling.ok()) {
    absl::StrAppend(&report.text, "  none: ", tiling.status().message(), "\n");
    json.StringField("error", tiling.status().message());
    json.EndObject();
    return report;
  }
  const TiledComputation& tiled = tiling->tiled();
  AppendIndented(tiled.space().ToString(), &report.text);
  json.Key("space");
  WriteSpace(tiled.space(), &json);
  const TileNames names = tiled.Names();
  json.Key("conditions");
  json.BeginArray();
  for (const TileCondition& condition : tiled.Conditions()) {
    absl::StrAppend(&report.text, "  condition: ", condition.ToString(names), "\n");
    json.BeginObject();
    json.StringField("text", condition.ToString(names));
    json.Key("condition");
    json.Raw(condition.ToJson());
    json.EndObject();
  }
  json.EndArray();
  if (!tiled.borders().empty()) {
    std::vector<std::string> borders;
    json.Key("borders");
    json.BeginArray();
    for (const TileBorder& border : tiled.borders()) {
      const std::string& name = tiled.space().dims()[border.dim].name;
      borders.push_back(absl::StrCat(border.at, " mod ", name, " = 0"));
      json.BeginObject();
      json.StringField("dim", name);
      json.IntegerField("at", border.at);
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
    json.Key("search");
    json.BeginObject();
    json.IntegerField("tried", search.num_tried);
    json.Key("complete");
    json.Bool(search.is_complete);
    json.Key("candidates");
    json.BeginArray();
    for (const CostedTiling& found : search.tilings) {
      absl::StrAppend(&report.text, "    ", TilingText(tiled.space(), found.tiling), ": ",
                      CostText(found.cost), "; ", TimeText(found.time), "\n");
      json.BeginObject();
      WriteTiling(tiled.space(), found.tiling, found.cost, &json);
      json.Key("microseconds");
      json.Number(found.time.microseconds);
      json.StringField("bound", NameOf(found.time.bound));
      json.EndObject();
    }
    json.EndArray();
    if (search.tilings.empty()) {
      const std::string why = WhyThereAreNone(tiled);
      absl::StrAppend(&report.text, "    ", why, "\n");
      json.StringField("reason", why);
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
