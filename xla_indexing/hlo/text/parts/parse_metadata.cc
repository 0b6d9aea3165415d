#include "xla_indexing/hlo/text/parts/parse_metadata.h"

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/text/parts/lexer.h"

namespace xla_indexing::internal {
namespace {

// What a string in quotes stands for; the string as it is where it is malformed.
std::string Unescaped(absl::string_view raw) {
  std::string text;
  return absl::CUnescape(raw, &text) ? text : std::string(raw);
}

// Calls `visit(name, value)` for each `name=value` between braces, with space or commas between
// them. Of a value in quotes that is what stands between them.
template <typename Visit>
void ForEachWord(absl::string_view text, Visit visit) {
  Lexer lexer(text);
  if (!lexer.Consume('{')) return;
  while (!lexer.failed() && !lexer.AtEnd() && !lexer.Consume('}')) {
    if (lexer.Consume(',')) continue;
    const absl::string_view name = lexer.ReadWord();
    if (name.empty() || !lexer.Consume('=')) return;
    absl::string_view value;
    const char first = lexer.Peek();
    if (first == '"' || first == '\'') {
      if (!lexer.ReadString(&value)) return;
    } else if (first == '{') {
      if (!lexer.ReadBraces(&value)) return;
    } else {
      const char* const start = lexer.position();
      while (lexer.PeekRaw() == '-' || (lexer.PeekRaw() >= '0' && lexer.PeekRaw() <= '9')) {
        lexer.ConsumeRaw(lexer.PeekRaw());
      }
      value = lexer.TextSince(start);
      if (value.empty()) return;
    }
    visit(name, value);
  }
}

// The number that a value is; as it was where it is none.
void StoreNumber(absl::string_view value, int64_t* number) {
  if (int64_t read = 0; absl::SimpleAtoi(value, &read)) *number = read;
}

template <typename Map>
std::string TextAt(const Map& map, int64_t number) {
  const auto found = map.find(number);
  return found == map.end() ? "" : found->second;
}

}  // namespace

OpMetadata ParseMetadata(absl::string_view text) {
  OpMetadata metadata;
  ForEachWord(text, [&](absl::string_view name, absl::string_view value) {
    for (const MetadataField& field : kMetadataFields) {
      if (field.name != name) continue;
      if (field.text != nullptr) metadata.*field.text = Unescaped(value);
      if (field.integer != nullptr) StoreNumber(value, &(metadata.*field.integer));
    }
  });
  return metadata;
}

void StackFrameTables::ReadEntry(absl::string_view table, int64_t number, absl::string_view text,
                                 Tables* tables) {
  if (table == "FileNames") {
    tables->files[number] = Unescaped(text);
  } else if (table == "FunctionNames") {
    tables->functions[number] = Unescaped(text);
  } else if (table == "FileLocations") {
    FileLocation& location = tables->locations[number];
    ForEachWord(text, [&](absl::string_view name, absl::string_view value) {
      for (const LocationField& field : kLocationFields) {
        if (field.name == name) StoreNumber(value, &(location.*field.integer));
      }
    });
  } else if (table == "StackFrames") {
    Frame& frame = tables->frames[number];
    int64_t parent = 0;
    ForEachWord(text, [&](absl::string_view name, absl::string_view value) {
      if (name == "file_location_id") StoreNumber(value, &frame.location);
      if (name == "parent_frame_id") StoreNumber(value, &parent);
    });
    // One less than what is written; and a caller comes before what it calls, so that no frame
    // calls itself.
    frame.parent = parent > 1 && parent <= number ? parent - 1 : 0;
  }
}

const StackFrameTables::Tables& StackFrameTables::Read() const {
  std::call_once(once_, [&] {
    Lexer lexer(text_);
    while (!lexer.AtEnd()) {
      const absl::string_view table = lexer.ReadWord();
      if (table.empty()) return;
      while (lexer.Peek() >= '0' && lexer.PeekRaw() <= '9') {
        int64_t number = 0;
        absl::string_view text;
        if (!lexer.ReadInteger("a number", &number)) return;
        if (!(lexer.Peek() == '{' ? lexer.ReadBraces(&text) : lexer.ReadString(&text))) return;
        ReadEntry(table, number, text, &tables_);
      }
    }
  });
  return tables_;
}

std::vector<SourceFrame> StackFrameTables::FramesFrom(int64_t id) const {
  const Tables& tables = Read();
  std::vector<SourceFrame> frames;
  for (auto frame = tables.frames.find(id); frame != tables.frames.end();
       frame = tables.frames.find(frame->second.parent)) {
    SourceFrame& read = frames.emplace_back();
    const auto found = tables.locations.find(frame->second.location);
    if (found == tables.locations.end()) continue;
    const FileLocation& location = found->second;
    read = {.file = TextAt(tables.files, location.file),
            .function = TextAt(tables.functions, location.function),
            .line = location.line,
            .end_line = location.end_line,
            .column = location.column,
            .end_column = location.end_column};
  }
  return frames;
}

}  // namespace xla_indexing::internal
