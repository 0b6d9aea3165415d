// Reading of metadata and of the tables of stack frames, which a module keeps as text.
//
// Both are read when they are asked for: most of those who read a module do not ask. What is
// malformed is left out, as nothing depends on it.

#ifndef XLA_INDEXING_HLO_TEXT_PARTS_PARSE_METADATA_H_
#define XLA_INDEXING_HLO_TEXT_PARTS_PARSE_METADATA_H_

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/string_view.h"
#include "xla_indexing/hlo/types/metadata.h"

namespace xla_indexing::internal {

// A field of metadata: its name in text, the number of the message OpMetadata's field, and where it is
// kept; nowhere what nobody asks for, a list of integers.
struct MetadataField {
  const char* name;
  uint32_t number;
  std::string OpMetadata::* text = nullptr;
  int64_t OpMetadata::* integer = nullptr;
};

// In the order of the text.
inline constexpr MetadataField kMetadataFields[] = {
    {"op_type", 1, &OpMetadata::op_type},
    {"op_name", 2, &OpMetadata::op_name},
    {"source_file", 3, &OpMetadata::source_file},
    {"source_line", 4, nullptr, &OpMetadata::source_line},
    {"source_end_line", 17, nullptr, &OpMetadata::source_end_line},
    {"source_column", 18, nullptr, &OpMetadata::source_column},
    {"source_end_column", 19, nullptr, &OpMetadata::source_end_column},
    {"profile_type", 5},
    {"deduplicated_name", 12, &OpMetadata::deduplicated_name},
    {"scheduling_name", 16, &OpMetadata::scheduling_name},
    {"stack_frame_id", 15, nullptr, &OpMetadata::stack_frame_id},
};

// An entry of the table FileLocations.
struct FileLocation {
  int64_t file = 0;
  int64_t function = 0;
  int64_t line = 0;
  int64_t end_line = 0;
  int64_t column = 0;
  int64_t end_column = 0;
};

// The same of an entry: a number that a message FileLocation has.
struct LocationField {
  const char* name;
  uint32_t number;
  int64_t FileLocation::* integer;
};

inline constexpr LocationField kLocationFields[] = {
    {"file_name_id", 1, &FileLocation::file}, {"function_name_id", 2, &FileLocation::function},
    {"line", 3, &FileLocation::line},         {"end_line", 5, &FileLocation::end_line},
    {"column", 4, &FileLocation::column},     {"end_column", 6, &FileLocation::end_column},
};

// What `{op_name="jit(f)/add" stack_frame_id=3}` says.
OpMetadata ParseMetadata(absl::string_view text);

// The tables FileNames, FunctionNames, FileLocations and StackFrames of a module.
class StackFrameTables {
 public:
  // The text must live as long as the tables.
  explicit StackFrameTables(absl::string_view text) : text_(text) {}

  absl::string_view text() const { return text_; }

  // The frame of that number and those that called it, the innermost first; empty if there is no
  // such frame. May be asked on several threads.
  std::vector<SourceFrame> FramesFrom(int64_t id) const;

 private:
  // A frame and the number of the one that called it, 0 where there is none.
  struct Frame {
    int64_t location = 0;
    int64_t parent = 0;
  };

  // By the numbers that the text gives them.
  struct Tables {
    absl::flat_hash_map<int64_t, std::string> files;
    absl::flat_hash_map<int64_t, std::string> functions;
    absl::flat_hash_map<int64_t, FileLocation> locations;
    absl::flat_hash_map<int64_t, Frame> frames;
  };

  // Reads one entry, what stands after its number, of the table of that name.
  static void ReadEntry(absl::string_view table, int64_t number, absl::string_view text,
                        Tables* tables);
  const Tables& Read() const;

  absl::string_view text_;
  mutable std::once_flag once_;
  mutable Tables tables_;
};

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_HLO_TEXT_PARTS_PARSE_METADATA_H_
