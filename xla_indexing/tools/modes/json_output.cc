#include "xla_indexing/tools/modes/json_output.h"

#include <string>
#include <vector>

#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/hlo/types/opcode.h"
#include "xla_indexing/map/variable_names.h"
#include "xla_indexing/ops/answers/parts/exactness.h"
#include "xla_indexing/ops/answers/parts/runtime_var_indexing.h"
#include "xla_indexing/tools/answers/coalescing_output.h"
#include "xla_indexing/tools/answers/in_place_output.h"
#include "xla_indexing/tools/answers/json_writer.h"
#include "xla_indexing/tools/answers/module_bounds.h"
#include "xla_indexing/tools/answers/tiling_output.h"
#include "xla_indexing/tools/answers/utilization_output.h"

namespace xla_indexing {
namespace {

using internal::NamesOf;
using internal::VariableNames;

void WriteLabel(const ExactnessLabel& label, JsonWriter* json) {
  json->Field("exactness", ExactnessName(label.exactness));
  json->Field("reason", label.reason);
}

void WriteRuntimeVariables(const OperandIndexing& indexing, JsonWriter* json) {
  json->BeginArray();
  if (!indexing.bindings().empty()) {
    const VariableNames names = NamesOf(indexing.map());
    for (int i = 0; i < indexing.map().num_runtimes(); ++i) {
      const RuntimeVarIndexing& binding = indexing.bindings()[i];
      json->BeginObject();
      json->Field("name", names.symbols[indexing.map().num_ranges() + i]);
      json->ListField("call_path", binding.call_path,
                      [&](const HloInstruction* caller) { json->Value(caller->name()); });
      json->Field("computation", binding.instruction->parent()->name());
      json->Field("instruction", binding.instruction->name());
      json->Field("leaf", binding.leaf);
      json->Field("value", binding.value.ToString());
      json->Field("map", indexing.ElementMap(i).ToString());
      if (binding.device) json->Field("replica_map", indexing.ElementDeviceMap(i).ToString());
      json->EndObject();
    }
  }
  json->EndArray();
}

void WriteMap(const ReportedMap& map, JsonWriter* json) {
  const OperandIndexing& indexing = map.indexing;
  json->BeginObject();
  if (indexing.IsUnknown()) {
    json->Field("map", "");
  } else {
    // The printed line is the map itself where there is no label behind it.
    json->Field("map", indexing.IsExact() ? map.line : indexing.map().ToString());
  }
  WriteLabel(indexing.label(), json);
  json->Key("runtime_variables");
  WriteRuntimeVariables(indexing, json);
  json->Field("replica_map",
              indexing.replica_map() == nullptr ? "" : indexing.DeviceMap().ToString());
  if (map.coalescing) {
    json->Key("coalescing");
    WriteCoalescing(*map.coalescing, json);
  }
  if (map.tile) {
    json->Key("tile");
    WriteTile(*map.tile, json);
  }
  json->EndObject();
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
  json->BeginObject();
  WriteSubject(subject, direction, json);
  json->Field("output_id", entry.output_leaf);
  json->Field("operand_id", entry.operand);
  json->Field("operand", subject.OperandName(entry.operand));
  json->Field("operand_leaf", entry.operand_leaf);
  WriteLabel(entry.label, json);
  json->BeginArray("maps");
  for (const ReportedMap& map : entry.maps) WriteMap(map, json);
  json->EndArray();
  if (entry.utilization) {
    json->Key("utilization");
    WriteUtilization(*entry.utilization, json);
  }
  if (entry.in_place) {
    json->Key("in_place");
    WriteInPlace(*entry.in_place, json);
  }
  json->EndObject();
}

}  // namespace

void AppendJson(const Subject& subject, Direction direction,
                const std::vector<ReportedEntry>& entries, std::string* out) {
  for (const ReportedEntry& entry : entries) {
    if (!out->empty()) out->append(", ");
    JsonWriter json(out);
    WriteEntry(subject, direction, entry, &json);
  }
}

void AppendNotListedJson(const Subject& subject, Direction direction, int64_t pairs,
                         std::string* out) {
  if (!out->empty()) out->append(", ");
  JsonWriter json(out);
  json.BeginObject();
  WriteSubject(subject, direction, &json);
  json.Field("pairs_not_listed", pairs);
  WriteLabel(ExactnessLabel::Unknown(ModuleBounds::WhyNotListed()), &json);
  json.EndObject();
}

std::string ModuleJsonBegin(absl::string_view name) {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject();
  json.Field("module", name);
  json.BeginArray("indexing");
  return out;
}

std::string ModuleJsonEnd(const QueryTotals& totals) {
  // The end of an object that begins as above.
  std::string out;
  JsonWriter json(&out);
  json.BeginObject();
  json.BeginArray("indexing");
  const size_t begin = out.size();
  json.EndArray();
  totals.WriteJson(&json);
  json.EndObject();
  out.push_back('\n');
  return out.substr(begin);
}

}  // namespace xla_indexing
