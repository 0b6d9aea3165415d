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

void WriteField(absl::string_view key, absl::string_view value, JsonWriter* json) {
  json->Key(key);
  json->String(value);
}

void WriteLabel(const ExactnessLabel& label, JsonWriter* json) {
  WriteField("exactness", ExactnessName(label.exactness), json);
  WriteField("reason", label.reason, json);
}

void WriteRuntimeVariables(const OperandIndexing& indexing, JsonWriter* json) {
  json->BeginArray();
  if (!indexing.bindings().empty()) {
    const VariableNames names = NamesOf(indexing.map());
    for (int i = 0; i < indexing.map().num_runtimes(); ++i) {
      const RuntimeVarIndexing& binding = indexing.bindings()[i];
      json->BeginObject();
      WriteField("name", names.symbols[indexing.map().num_ranges() + i], json);
      json->Key("call_path");
      json->BeginArray();
      for (const HloInstruction* caller : binding.call_path) json->String(caller->name());
      json->EndArray();
      WriteField("computation", binding.instruction->parent()->name(), json);
      WriteField("instruction", binding.instruction->name(), json);
      json->Key("leaf");
      json->Integer(binding.leaf);
      WriteField("value", binding.value.ToString(), json);
      WriteField("map", indexing.ElementMap(i).ToString(), json);
      if (binding.device) {
        WriteField("replica_map", indexing.ElementDeviceMap(i).ToString(), json);
      }
      json->EndObject();
    }
  }
  json->EndArray();
}

void WriteMap(const ReportedMap& map, JsonWriter* json) {
  const OperandIndexing& indexing = map.indexing;
  json->BeginObject();
  if (indexing.IsUnknown()) {
    WriteField("map", "", json);
  } else {
    // The printed line is the map itself where there is no label behind it.
    WriteField("map", indexing.IsExact() ? map.line : indexing.map().ToString(), json);
  }
  WriteLabel(indexing.label(), json);
  json->Key("runtime_variables");
  WriteRuntimeVariables(indexing, json);
  WriteField("replica_map",
             indexing.replica_map() == nullptr ? "" : indexing.DeviceMap().ToString(), json);
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
  WriteField("computation", subject.computation().name(), json);
  WriteField("instruction", subject.instruction->name(), json);
  WriteField("opcode", subject.opcode_name(), json);
  WriteField("scope", subject.is_fusion ? "fusion" : "instruction", json);
  WriteField("direction",
             direction == Direction::kOutputToInput ? "output-to-input" : "input-to-output", json);
}

void WriteEntry(const Subject& subject, Direction direction, const ReportedEntry& entry,
                JsonWriter* json) {
  json->BeginObject();
  WriteSubject(subject, direction, json);
  json->Key("output_id");
  json->Integer(entry.output_leaf);
  json->Key("operand_id");
  json->Integer(entry.operand);
  WriteField("operand", subject.OperandName(entry.operand), json);
  json->Key("operand_leaf");
  json->Integer(entry.operand_leaf);
  WriteLabel(entry.label, json);
  json->Key("maps");
  json->BeginArray();
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
  json.Key("pairs_not_listed");
  json.Integer(pairs);
  WriteLabel(ExactnessLabel::Unknown(ModuleBounds::WhyNotListed()), &json);
  json.EndObject();
}

std::string ModuleJsonBegin(absl::string_view name) {
  std::string out;
  JsonWriter json(&out);
  json.BeginObject();
  WriteField("module", name, &json);
  json.Key("indexing");
  json.BeginArray();
  return out;
}

std::string ModuleJsonEnd(const QueryTotals& totals) {
  // The end of an object that begins as above.
  std::string out;
  JsonWriter json(&out);
  json.BeginObject();
  json.Key("indexing");
  json.BeginArray();
  const size_t begin = out.size();
  json.EndArray();
  totals.WriteJson(&json);
  json.EndObject();
  out.push_back('\n');
  return out.substr(begin);
}

}  // namespace xla_indexing
