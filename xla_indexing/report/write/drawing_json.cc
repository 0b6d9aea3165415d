#include "xla_indexing/report/write/drawing_json.h"

#include <vector>

namespace xla_indexing::internal {
namespace {

void WriteDrawnBinding(const DrawnBinding& binding, JsonWriter* json) {
  json->FieldIfAny("source", binding.source);
  if (binding.operand >= 0) json->Field("operand", binding.operand);
  if (binding.leaf != 0) json->Field("leaf", binding.leaf);
  json->FieldIfAny("value", binding.value);
  json->FieldIfAny("map", binding.map);
  json->FieldIfAny("replica", binding.replica);
}

void WriteDrawnBindings(const std::vector<DrawnBinding>& bindings, JsonWriter* json) {
  if (!bindings.empty()) json->Objects("bindings", bindings, WriteDrawnBinding);
}

void WriteDrawnMap(const DrawnMap& map, JsonWriter* json) {
  json->Field("map", map.map);
  json->FieldIfAny("reason", map.reason);
  WriteDrawnBindings(map.bindings, json);
  json->FieldIfAny("replica", map.replica);
  if (!map.tile.empty()) json->RawField("tile", map.tile);
}

void WriteDrawnArray(const DrawnArray& array, JsonWriter* json) {
  json->Field("operand", array.operand);
  json->Field("leaf", array.leaf);
  json->FieldIfAny("shape", array.shape);
  json->Field("dimensions", array.dimensions);
  json->Field("minor_to_major", array.minor_to_major);
  json->Field("bits", array.bits);
  json->FieldIfAny("address", array.address);
}

void WriteDrawnEntry(const DrawnEntry& entry, JsonWriter* json) {
  json->Field("output", entry.output);
  json->Field("operand", entry.operand);
  json->Objects("reads", entry.reads, WriteDrawnMap);
  json->Objects("writes", entry.writes, WriteDrawnMap);
}

void WriteDrawnNode(const DrawnNode& node, JsonWriter* json) {
  json->Field("name", node.name);
  json->Field("opcode", node.opcode);
  json->FieldIfAny("shape", node.shape);
  if (node.operand >= 0) json->Field("operand", node.operand);
  if (node.is_root) json->Field("root", true);
}

void WriteDrawnEdge(const DrawnEdge& edge, JsonWriter* json) {
  json->Field("from", edge.from);
  json->Field("to", edge.to);
  json->FieldIfAny("maps", edge.maps);
}

void WriteDrawnAccess(const DrawnAccess& access, JsonWriter* json) {
  if (access.is_write) json->Field("write", true);
  json->Field("array", access.array);
  json->FieldIfAny("threads", access.threads);
  json->Field("thread_dims", access.thread_dims);
  json->Field("thread_sizes", access.thread_sizes);
  json->Field("block_dims", access.block_dims);
  json->Field("block_sizes", access.block_sizes);
  json->Field("vector_ranges", access.vector_ranges);
  json->FieldIfAny("map", access.map);
  WriteDrawnBindings(access.bindings, json);
  if (access.worst_block.empty()) return;
  json->Object("worst", [&] {
    json->Field("block", access.worst_block);
    json->Field("thread", access.worst_thread);
    json->Field("loops", access.worst_loops);
    json->Field("symbols", access.worst_symbols);
    json->Field("sectors", access.worst_sectors);
  });
}

}  // namespace

void WriteDrawing(const KernelDrawing& drawing, JsonWriter* json) {
  json->Objects("arrays", drawing.arrays, WriteDrawnArray);
  json->Objects("entries", drawing.entries, WriteDrawnEntry);
  json->Objects("nodes", drawing.nodes, WriteDrawnNode);
  if (drawing.hero >= 0) json->Field("hero", drawing.hero);
  json->Objects("edges", drawing.edges, WriteDrawnEdge);
  json->Objects("accesses", drawing.accesses, WriteDrawnAccess);
  json->FieldIfAny("left_out", drawing.left_out);
}

}  // namespace xla_indexing::internal
