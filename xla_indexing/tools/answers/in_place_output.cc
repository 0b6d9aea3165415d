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
  json->Field("writer", conflict.writer);
  if (conflict.reader_leaf) json->Field("reader_output_id", *conflict.reader_leaf);
  json->Field("reader", conflict.reader);
  json->Field("operand", conflict.operand);
  json->Field("byte", conflict.byte);
  json->BeginArray("runtime_values");
  for (const auto& [name, value] : conflict.runtime_values) {
    json->BeginObject();
    json->Field("name", name);
    json->Field("value", value);
    json->EndObject();
  }
  json->EndArray();
  json->EndObject();
}

void WriteOrder(const LoopOrder& order, JsonWriter* json) {
  json->BeginArray("order");
  for (const DirectedLoop& loop : order) {
    json->BeginObject();
    json->Field("dimension", loop.dimension);
    json->Field("direction", loop.is_descending ? "descending" : "ascending");
    json->EndObject();
  }
  json->EndArray();
}

// The fields of an object.
void WriteSafety(const InPlaceSafety& safety, JsonWriter* json) {
  json->Field("answer", InPlaceAnswerName(safety.answer));
  WriteOrder(safety.order, json);
  if (safety.conflict) {
    json->Key("conflict");
    WriteConflict(*safety.conflict, json);
  }
  json->BeginArray("conditions");
  for (const RuntimeCondition& condition : safety.conditions) {
    json->BeginObject();
    WriteOrder(condition.order, json);
    json->Field("where", condition.ToString());
    json->EndObject();
  }
  json->EndArray();
  json->Field("reason", safety.reason);
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
    json.Field(name, of.instruction->name());
    json.Field(leaf_name, of.leaf);
  };
  write("value", "leaf", value.value);
  write("before", "before_leaf", value.before);
  json.Field("writer", value.WriterName());
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
  json.Field("instruction", alias.instruction == nullptr ? "" : alias.instruction->name());
  json.Field("output", alias.output);
  json.Field("operand_id", alias.operand);
  json.Field("operand_index", alias.operand_index);
  json.Field("writer", alias.WriterName());
  json.Key("in_place");
  WriteInPlace({alias.safety, {}, {}}, &json);
  json.EndObject();
}

void WriteInPlace(const ReportedInPlace& in_place, JsonWriter* json) {
  json->BeginObject();
  WriteSafety(in_place.safety, json);
  if (in_place.by_threads) {
    json->BeginObject("by_threads");
    WriteSafety(*in_place.by_threads, json);
    json->EndObject();
  }
  if (in_place.written) {
    json->BeginObject("written");
    json->Field("elements", in_place.written->count);
    json->Field("of", in_place.written->of);
    json->ListField("maps", in_place.written->elements,
                    [&](const OperandIndexing& map) { json->Value(map.MapToString()); });
    json->EndObject();
  }
  json->EndObject();
}

}  // namespace xla_indexing
