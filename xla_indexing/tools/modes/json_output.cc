#include "xla_indexing/tools/modes/json_output.h"

#include <string>
#include <vector>

#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/variable_names.h"
#include "xla_indexing/ops/answers/parts/exactness.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/report/write/json_writer.h"
#include "xla_indexing/tools/answers/coalescing_output.h"
#include "xla_indexing/tools/answers/in_place_output.h"
#include "xla_indexing/tools/answers/module_bounds.h"
#include "xla_indexing/tools/answers/tiling_output.h"
#include "xla_indexing/tools/answers/utilization_output.h"

namespace xla_indexing {
namespace {

using internal::AppendObject;
using internal::JsonWriter;
using internal::NamesOf;
using internal::VariableNames;

void WriteLabel(const ExactnessLabel& label, JsonWriter* json) {
  json->Field("exactness", ExactnessName(label.exactness));
  json->Field("reason", label.reason);
}

void WriteRuntimeVariables(const OperandIndexing& indexing, JsonWriter* json) {
  if (indexing.bindings().empty()) return;
  const VariableNames names = NamesOf(indexing.map());
  for (int i = 0; i < indexing.map().num_runtimes(); ++i) {
    const RuntimeVarIndexing& binding = indexing.bindings()[i];
    json->Object([&] {
      json->Field("name", names.symbols[indexing.map().num_ranges() + i]);
      json->Values("call_path", binding.call_path,
                   [](const HloInstruction* caller) { return caller->name(); });
      json->Field("computation", binding.instruction->parent()->name());
      json->Field("instruction", binding.instruction->name());
      json->Field("leaf", binding.leaf);
      json->Field("value", binding.value.ToString());
      json->Field("map", indexing.ElementMap(i).ToString());
      if (binding.device) json->Field("replica_map", indexing.ElementDeviceMap(i).ToString());
    });
  }
}

void WriteMap(const ReportedMap& map, JsonWriter* json) {
  const OperandIndexing& indexing = map.indexing;
  if (indexing.IsUnknown()) {
    json->Field("map", "");
  } else {
    // The printed line is the map itself where there is no label behind it.
    json->Field("map", indexing.IsExact() ? map.line : indexing.map().ToString());
  }
  WriteLabel(indexing.label(), json);
  json->Array("runtime_variables", [&] { WriteRuntimeVariables(indexing, json); });
  json->Field("replica_map",
              indexing.replica_map() == nullptr ? "" : indexing.DeviceMap().ToString());
  json->ObjectIfAny("coalescing", map.coalescing, WriteCoalescing);
  json->ObjectIfAny("tile", map.tile, WriteTile);
}

void WriteSubject(const Subject& subject, Direction direction, JsonWriter* json) {
  json->Field("computation", subject.computation().name());
  json->Field("instruction", subject.instruction->name());
  json->Field("opcode", subject.opcode_name());
  json->Field("scope", subject.is_fusion ? "fusion" : "instruction");
  json->Field("direction",
              direction == Direction::kOutputToInput ? "output-to-input" : "input-to-output");
}

void WriteEntry(const Subject& subject, Direction direction, const ReportedEntry& entry,
                JsonWriter* json) {
  WriteSubject(subject, direction, json);
  json->Field("output_id", entry.output_leaf);
  json->Field("operand_id", entry.operand);
  json->Field("operand", subject.OperandName(entry.operand));
  json->Field("operand_leaf", entry.operand_leaf);
  WriteLabel(entry.label, json);
  json->Objects("maps", entry.maps, WriteMap);
  json->ObjectIfAny("utilization", entry.utilization, WriteUtilization);
  json->ObjectIfAny("in_place", entry.in_place, WriteInPlace);
}

}  // namespace

void AppendJson(const Subject& subject, Direction direction,
                const std::vector<ReportedEntry>& entries, std::string* out) {
  for (const ReportedEntry& entry : entries) {
    AppendObject([&](JsonWriter* json) { WriteEntry(subject, direction, entry, json); }, out);
  }
}

void AppendNotListedJson(const Subject& subject, Direction direction, int64_t pairs,
                         std::string* out) {
  const auto write = [&](JsonWriter* json) {
    WriteSubject(subject, direction, json);
    json->Field("pairs_not_listed", pairs);
    WriteLabel(ExactnessLabel::Unknown(ModuleBounds::WhyNotListed()), json);
  };
  AppendObject(write, out);
}

std::string ModuleJsonBegin(absl::string_view name) {
  std::string out;
  JsonWriter json(&out);
  json.Object([&] {
    json.Field("module", name);
    json.Array("indexing", [] {});
  });
  return out.substr(0, out.size() - 2);  // without the ends of the list and the object
}

std::string ModuleJsonEnd(const QueryTotals& totals) {
  // The end of an object that begins as above.
  std::string out;
  JsonWriter json(&out);
  json.Object([&] {
    json.Array("indexing", [] {});
    totals.WriteJson(&json);
  });
  out.push_back('\n');
  return out.substr(out.find(']'));
}

}  // namespace xla_indexing
