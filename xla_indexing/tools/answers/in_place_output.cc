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

using internal::JsonWriter;

void WriteConflict(const InPlaceConflict& conflict, JsonWriter* json) {
  json->Field("writer", conflict.writer);
  json->FieldIfAny("reader_output_id", conflict.reader_leaf);
  json->Field("reader", conflict.reader);
  json->Field("operand", conflict.operand);
  json->Field("byte", conflict.byte);
  json->NamedValues("runtime_values", conflict.runtime_values);
}

void WriteLoop(const DirectedLoop& loop, JsonWriter* json) {
  json->Field("dimension", loop.dimension);
  json->Field("direction", loop.is_descending ? "descending" : "ascending");
}

void WriteSafety(const InPlaceSafety& safety, JsonWriter* json) {
  json->Field("answer", InPlaceAnswerName(safety.answer));
  json->Objects("order", safety.order, WriteLoop);
  json->ObjectIfAny("conflict", safety.conflict, WriteConflict);
  json->Objects("conditions", safety.conditions, [&](const RuntimeCondition& condition) {
    json->Objects("order", condition.order, WriteLoop);
    json->Field("where", condition.ToString());
  });
  json->Field("reason", safety.reason);
}

// Those that the command line gives; an error where it gives none, or none for this array.
absl::StatusOr<IterationMap> ThreadsOf(const CommandLine& line, const Shape& output,
                                       mlir::MLIRContext* context) {
  absl::StatusOr<ThreadMapping> mapping = ThreadMappingOf(output, line.launch, context);
  if (!mapping.ok()) return mapping.status();
  return IterationMap{std::move(mapping->map), std::move(mapping->vector_ranges)};
}

InPlaceSafety OrUndecided(absl::StatusOr<InPlaceSafety> safety) {
  if (safety.ok()) return *std::move(safety);
  return InPlaceSafety::Undecided(std::string(safety.status().message()));
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
    entry.in_place = ReportedInPlace{OrUndecided((*analysis_)->Safety(buffer)), {}, {}};
    if (line_.launch.GivesThreads()) {
      const Shape& output = subject_.instruction->shape().Leaf(entry.output_leaf);
      const absl::StatusOr<IterationMap> threads = ThreadsOf(line_, output, context_);
      entry.in_place->by_threads = OrUndecided(
          threads.ok() ? (*analysis_)->SafetyUnder(buffer, *threads) : threads.status());
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

void WriteCheckedValue(const CheckedValue& value, JsonWriter* json) {
  json->Field("value", value.value.instruction->name());
  json->Field("leaf", value.value.leaf);
  json->Field("before", value.before.instruction->name());
  json->Field("before_leaf", value.before.leaf);
  json->Field("writer", value.WriterName());
  json->Object("in_place", value.safety, WriteSafety);
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

void WriteAlias(const CheckedAlias& alias, JsonWriter* json) {
  json->Field("instruction", alias.instruction == nullptr ? "" : alias.instruction->name());
  json->Field("output", alias.output);
  json->Field("operand_id", alias.operand);
  json->Field("operand_index", alias.operand_index);
  json->Field("writer", alias.WriterName());
  json->Object("in_place", alias.safety, WriteSafety);
}

void WriteInPlace(const ReportedInPlace& in_place, JsonWriter* json) {
  WriteSafety(in_place.safety, json);
  json->ObjectIfAny("by_threads", in_place.by_threads, WriteSafety);
  json->ObjectIfAny("written", in_place.written, [&](const WrittenElements& written) {
    json->Field("elements", written.count);
    json->Field("of", written.of);
    json->Values("maps", written.elements,
                 [](const OperandIndexing& map) { return map.MapToString(); });
  });
}

}  // namespace xla_indexing
