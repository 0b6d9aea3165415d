#include "xla_indexing/tools/answers/in_place_output.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"
#include "xla_indexing/tools/answers/count_output.h"
#include "xla_indexing/tools/input/launch.h"

namespace xla_indexing {
namespace {

void WriteConflict(const InPlaceConflict& conflict, JsonWriter* json) {
  json->BeginObject();
  json->IntegersField("writer", conflict.writer);
  if (conflict.reader_leaf) {
    json->Key("reader_output_id");
    json->Integer(*conflict.reader_leaf);
  }
  json->IntegersField("reader", conflict.reader);
  json->IntegersField("operand", conflict.operand);
  json->Key("byte");
  json->Integer(conflict.byte);
  json->Key("runtime_values");
  json->BeginArray();
  for (const auto& [name, value] : conflict.runtime_values) {
    json->BeginObject();
    json->Key("name");
    json->String(name);
    json->Key("value");
    json->Integer(value);
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

void WriteOrder(const LoopOrder& order, JsonWriter* json) {
  json->Key("order");
  json->BeginArray();
  for (const DirectedLoop& loop : order) {
    json->BeginObject();
    json->Key("dimension");
    json->Integer(loop.dimension);
    json->Key("direction");
    json->String(loop.is_descending ? "descending" : "ascending");
    json->EndObject();
  }
  json->EndArray();
}

// The fields of an object.
void WriteSafety(const InPlaceSafety& safety, JsonWriter* json) {
  json->Key("answer");
  json->String(InPlaceAnswerName(safety.answer));
  WriteOrder(safety.order, json);
  if (safety.conflict) {
    json->Key("conflict");
    WriteConflict(*safety.conflict, json);
  }
  json->Key("conditions");
  json->BeginArray();
  for (const RuntimeCondition& condition : safety.conditions) {
    json->BeginObject();
    WriteOrder(condition.order, json);
    json->Key("where");
    json->String(condition.ToString());
    json->EndObject();
  }
  json->EndArray();
  json->Key("reason");
  json->String(safety.reason);
}

// Those that the command line gives; an error where it gives none, or none for this array.
absl::StatusOr<IterationMap> ThreadsOf(const CommandLine& line, const Shape& output,
                                       mlir::MLIRContext* context) {
  absl::StatusOr<ThreadMapping> mapping = ThreadMappingOf(output, line.launch, context);
  if (!mapping.ok()) return mapping.status();
  return IterationMap{std::move(mapping->map), std::move(mapping->vector_ranges)};
}

}  // namespace

void InPlaceAnswers::Answer(std::vector<ReportedEntry>* entries) {
  if (!analysis_) {
    analysis_ = subject_.is_fusion
                    ? InPlaceAnalysis::OfComputation(subject_.computation(), context_)
                    : InPlaceAnalysis::OfInstruction(*subject_.instruction, context_);
  }
  if (!analysis_->ok()) return;
  for (ReportedEntry& entry : *entries) {
    const SharedBuffer buffer{entry.output_leaf, {entry.operand, entry.operand_leaf}};
    if (!(*analysis_)->IsCandidate(buffer)) continue;
    absl::StatusOr<InPlaceSafety> safety = (*analysis_)->Safety(buffer);
    if (!safety.ok()) {
      safety = InPlaceSafety::Undecided(std::string(safety.status().message()));
    }
    entry.in_place = ReportedInPlace{*std::move(safety), {}, {}};
    if (line_.launch.GivesThreads()) {
      const Shape& output = subject_.instruction->shape().Leaf(entry.output_leaf);
      const absl::StatusOr<IterationMap> threads = ThreadsOf(line_, output, context_);
      absl::StatusOr<InPlaceSafety> by_threads =
          threads.ok() ? (*analysis_)->SafetyUnder(buffer, *threads) : threads.status();
      entry.in_place->by_threads =
          by_threads.ok() ? *std::move(by_threads)
                          : InPlaceSafety::Undecided(std::string(by_threads.status().message()));
    }
    absl::StatusOr<WrittenElements> written = (*analysis_)->Written(buffer);
    if (written.ok()) entry.in_place->written = *std::move(written);
  }
}

void AppendInPlace(const ReportedInPlace& in_place, std::string* out) {
  absl::StrAppend(out, "  in place: ", in_place.safety.ToString(), "\n");
  if (in_place.by_threads) {
    absl::StrAppend(out, "  in place, by these threads: ",
                    in_place.by_threads->answer == InPlaceAnswer::kAnyOrder
                        ? "safe"
                        : in_place.by_threads->ToString(),
                    "\n");
  }
  if (!in_place.written) return;
  absl::StrAppend(out, "  written in place: ", CountText(in_place.written->count), " of ",
                  in_place.written->of, " elements\n");
}

void AppendAlias(const CheckedAlias& alias, std::string* out) {
  std::string text = alias.ToString();
  text[0] = absl::ascii_toupper(static_cast<unsigned char>(text[0]));
  absl::StrAppend(out, text, "\n");
}

void AppendCheckedValue(const CheckedValue& value, std::string* out) {
  absl::StrAppend(out, "One buffer: ", value.ToString(), "\n");
}

void AppendCheckedValueJson(const CheckedValue& value, std::string* objects) {
  if (!objects->empty()) objects->append(", ");
  JsonWriter json(objects);
  json.BeginObject();
  const auto write = [&](const char* name, const char* leaf_name, const BufferValue& of) {
    json.Key(name);
    json.String(of.instruction->name());
    json.Key(leaf_name);
    json.Integer(of.leaf);
  };
  write("value", "leaf", value.value);
  write("before", "before_leaf", value.before);
  json.Key("writer");
  json.String(value.WriterName());
  json.Key("in_place");
  WriteInPlace({value.safety, {}, {}}, &json);
  json.EndObject();
}

absl::StatusOr<std::vector<BufferValue>> ReadOneBuffer(absl::string_view list,
                                                       const HloComputation& computation) {
  std::vector<BufferValue> values;
  for (const absl::string_view item : absl::StrSplit(list, ',')) {
    const std::pair<absl::string_view, absl::string_view> parts =
        absl::StrSplit(item, absl::MaxSplits('#', 1));
    const absl::string_view name = absl::StripPrefix(absl::StripAsciiWhitespace(parts.first), "%");
    const auto all = computation.instructions();
    const auto instruction =
        absl::c_find_if(all, [&](const HloInstruction* i) { return i->name() == name; });
    if (instruction == all.end()) {
      return absl::InvalidArgumentError(absl::StrCat("--one_buffer: there is no instruction '",
                                                     name, "' in computation '", computation.name(),
                                                     "'"));
    }
    BufferValue& value = values.emplace_back(BufferValue{*instruction});
    const Shape& shape = value.instruction->shape();
    const bool is_number = parts.second.empty() || absl::SimpleAtoi(parts.second, &value.leaf);
    if (!is_number || value.leaf < 0 || value.leaf >= shape.LeafCount() ||
        !shape.Leaf(value.leaf).IsArray()) {
      return absl::InvalidArgumentError(
          absl::StrCat("--one_buffer: there is no array '", item, "'"));
    }
  }
  if (values.size() < 2) {
    return absl::InvalidArgumentError("--one_buffer: at least two values lie in one buffer");
  }
  return values;
}

void AppendAliasJson(const CheckedAlias& alias, std::string* objects) {
  if (!objects->empty()) objects->append(", ");
  JsonWriter json(objects);
  json.BeginObject();
  json.Key("instruction");
  json.String(alias.instruction == nullptr ? "" : alias.instruction->name());
  json.Key("output");
  json.String(alias.output);
  json.Key("operand_id");
  json.Integer(alias.operand);
  json.Key("operand_index");
  json.String(alias.operand_index);
  json.Key("writer");
  json.String(alias.WriterName());
  json.Key("in_place");
  WriteInPlace({alias.safety, {}, {}}, &json);
  json.EndObject();
}

void WriteInPlace(const ReportedInPlace& in_place, JsonWriter* json) {
  json->BeginObject();
  WriteSafety(in_place.safety, json);
  if (in_place.by_threads) {
    json->Key("by_threads");
    json->BeginObject();
    WriteSafety(*in_place.by_threads, json);
    json->EndObject();
  }
  if (in_place.written) {
    json->Key("written");
    json->BeginObject();
    WriteCount("elements", in_place.written->count, json);
    json->Key("of");
    json->Integer(in_place.written->of);
    json->Key("maps");
    json->BeginArray();
    for (const OperandIndexing& map : in_place.written->elements) json->String(map.MapToString());
    json->EndArray();
    json->EndObject();
  }
  json->EndObject();
}

}  // namespace xla_indexing
