#include "xla_indexing/report/write/drawing_json.h"

#include <cstdint>
#include <vector>

#include "llvm/ADT/StringRef.h"

namespace xla_indexing::internal {
namespace {

using Json = llvm::json::OStream;

void Put(llvm::StringRef key, const std::string& text, Json* json) {
  if (!text.empty()) json->attribute(key, JsonText(text));
}

void Put(llvm::StringRef key, const std::vector<int64_t>& numbers, Json* json) {
  json->attributeArray(key, [&] {
    for (const int64_t number : numbers) json->value(number);
  });
}

void Put(llvm::StringRef key, const std::vector<std::string>& texts, Json* json) {
  if (texts.empty()) return;
  json->attributeArray(key, [&] {
    for (const std::string& text : texts) json->value(JsonText(text));
  });
}

void Put(llvm::StringRef key, const std::vector<DrawnBinding>& bindings, Json* json) {
  if (bindings.empty()) return;
  json->attributeArray(key, [&] {
    for (const DrawnBinding& binding : bindings) {
      json->object([&] {
        Put("source", binding.source, json);
        if (binding.operand >= 0) json->attribute("operand", binding.operand);
        if (binding.leaf != 0) json->attribute("leaf", binding.leaf);
        Put("value", binding.value, json);
        Put("map", binding.map, json);
        Put("replica", binding.replica, json);
      });
    }
  });
}

void PutMaps(llvm::StringRef key, const std::vector<DrawnMap>& maps, Json* json) {
  json->attributeArray(key, [&] {
    for (const DrawnMap& map : maps) {
      json->object([&] {
        json->attribute("map", JsonText(map.map));
        Put("reason", map.reason, json);
        Put("bindings", map.bindings, json);
        Put("replica", map.replica, json);
        if (map.tile.empty()) return;
        json->attributeBegin("tile");
        json->rawValue(map.tile);
        json->attributeEnd();
      });
    }
  });
}

}  // namespace

std::string JsonText(absl::string_view text) {
  return llvm::json::fixUTF8(llvm::StringRef(text.data(), text.size()));
}

void WriteDrawing(const KernelDrawing& drawing, llvm::json::OStream* json) {
  json->object([&] {
    json->attributeArray("arrays", [&] {
      for (const DrawnArray& array : drawing.arrays) {
        json->object([&] {
          json->attribute("operand", array.operand);
          json->attribute("leaf", array.leaf);
          Put("shape", array.shape, json);
          Put("dimensions", array.dimensions, json);
          Put("minor_to_major", array.minor_to_major, json);
          json->attribute("bits", array.bits);
          Put("address", array.address, json);
        });
      }
    });
    json->attributeArray("entries", [&] {
      for (const DrawnEntry& entry : drawing.entries) {
        json->object([&] {
          json->attribute("output", entry.output);
          json->attribute("operand", entry.operand);
          PutMaps("reads", entry.reads, json);
          PutMaps("writes", entry.writes, json);
        });
      }
    });
    json->attributeArray("nodes", [&] {
      for (const DrawnNode& node : drawing.nodes) {
        json->object([&] {
          json->attribute("name", JsonText(node.name));
          json->attribute("opcode", node.opcode);
          Put("shape", node.shape, json);
          if (node.operand >= 0) json->attribute("operand", node.operand);
          if (node.is_root) json->attribute("root", true);
        });
      }
    });
    if (drawing.hero >= 0) json->attribute("hero", drawing.hero);
    json->attributeArray("edges", [&] {
      for (const DrawnEdge& edge : drawing.edges) {
        json->object([&] {
          json->attribute("from", edge.from);
          json->attribute("to", edge.to);
          Put("maps", edge.maps, json);
        });
      }
    });
    json->attributeArray("accesses", [&] {
      for (const DrawnAccess& access : drawing.accesses) {
        json->object([&] {
          if (access.is_write) json->attribute("write", true);
          json->attribute("array", access.array);
          Put("threads", access.threads, json);
          Put("thread_dims", access.thread_dims, json);
          Put("thread_sizes", access.thread_sizes, json);
          Put("block_dims", access.block_dims, json);
          Put("block_sizes", access.block_sizes, json);
          Put("vector_ranges", access.vector_ranges, json);
          Put("map", access.map, json);
          Put("bindings", access.bindings, json);
          if (access.worst_block.empty()) return;
          json->attributeObject("worst", [&] {
            Put("block", access.worst_block, json);
            json->attribute("thread", access.worst_thread);
            Put("loops", access.worst_loops, json);
            Put("symbols", access.worst_symbols, json);
            json->attribute("sectors", access.worst_sectors);
          });
        });
      }
    });
    Put("left_out", drawing.left_out, json);
  });
}

}  // namespace xla_indexing::internal
