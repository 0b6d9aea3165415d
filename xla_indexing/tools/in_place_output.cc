#include "xla_indexing/tools/in_place_output.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "xla_indexing/tools/count_output.h"

namespace xla_indexing {
namespace {

absl::string_view InPlaceAnswerName(InPlaceAnswer answer) {
  switch (answer) {
    case InPlaceAnswer::kAnyOrder:
      return "any order";
    case InPlaceAnswer::kInOrder:
      return "in order";
    case InPlaceAnswer::kUnsafe:
      return "unsafe";
    case InPlaceAnswer::kUndecided:
      break;
  }
  return "undecided";
}

void WriteIndices(absl::string_view key, const std::vector<int64_t>& element, JsonWriter* json) {
  json->Key(key);
  json->BeginArray();
  for (const int64_t index : element) json->Integer(index);
  json->EndArray();
}

void WriteConflict(const InPlaceConflict& conflict, JsonWriter* json) {
  json->BeginObject();
  WriteIndices("writer", conflict.writer, json);
  if (conflict.reader_leaf) {
    json->Key("reader_output_id");
    json->Integer(*conflict.reader_leaf);
  }
  WriteIndices("reader", conflict.reader, json);
  WriteIndices("operand", conflict.operand, json);
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

}  // namespace

void InPlaceAnswers::Answer(std::vector<ReportedEntry>* entries) {
  if (!analysis_) {
    analysis_ = subject_.is_fusion
                    ? InPlaceAnalysis::OfComputation(subject_.computation(), context_)
                    : InPlaceAnalysis::OfInstruction(*subject_.instruction, context_);
    if (analysis_->ok()) candidates_ = (*analysis_)->Candidates();
  }
  if (!analysis_->ok()) return;
  for (ReportedEntry& entry : *entries) {
    const SharedBuffer buffer{entry.output_leaf, {entry.operand, entry.operand_leaf}};
    if (!absl::c_linear_search(candidates_, buffer)) continue;
    absl::StatusOr<InPlaceSafety> safety = (*analysis_)->Safety(buffer);
    if (!safety.ok()) {
      InPlaceSafety failed;
      failed.reason = std::string(safety.status().message());
      safety = std::move(failed);
    }
    entry.in_place = ReportedInPlace{*std::move(safety), {}};
    absl::StatusOr<WrittenElements> written = (*analysis_)->Written(buffer);
    if (written.ok()) entry.in_place->written = *std::move(written);
  }
}

void AppendInPlace(const ReportedInPlace& in_place, std::string* out) {
  absl::StrAppend(out, "  in place: ", in_place.safety.ToString(), "\n");
  if (!in_place.written) return;
  absl::StrAppend(out, "  written in place: ", CountText(in_place.written->count), " of ",
                  in_place.written->of, " elements\n");
}

void AppendAlias(const CheckedAlias& alias, std::string* out) {
  std::string text = alias.ToString();
  text[0] = absl::ascii_toupper(static_cast<unsigned char>(text[0]));
  absl::StrAppend(out, text, "\n");
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
  json.Key("in_place");
  WriteInPlace({alias.safety, {}}, &json);
  json.EndObject();
}

void WriteInPlace(const ReportedInPlace& in_place, JsonWriter* json) {
  const InPlaceSafety& safety = in_place.safety;
  json->BeginObject();
  json->Key("answer");
  json->String(InPlaceAnswerName(safety.answer));
  json->Key("order");
  json->BeginArray();
  for (const DirectedLoop& loop : safety.order) {
    json->BeginObject();
    json->Key("dimension");
    json->Integer(loop.dimension);
    json->Key("direction");
    json->String(loop.is_descending ? "descending" : "ascending");
    json->EndObject();
  }
  json->EndArray();
  if (safety.conflict) {
    json->Key("conflict");
    WriteConflict(*safety.conflict, json);
  }
  json->Key("condition");
  json->String(safety.condition ? safety.condition->ToString() : "");
  json->Key("reason");
  json->String(safety.reason);
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
