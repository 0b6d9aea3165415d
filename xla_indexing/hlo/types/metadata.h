// Where an instruction comes from: the operation of a model's program that became it, and the place
// in the program's source.
//
// HLO text has both as `metadata={op_name="jit(f)/add" stack_frame_id=3}`. The place is either in
// the metadata themselves (`source_file="f.py" source_line=7`) or, in newer text, a frame of the
// tables after the module's header,
//
//   FileNames                 StackFrames
//   1 "f.py"                  1 {file_location_id=1 parent_frame_id=1}
//                             2 {file_location_id=2 parent_frame_id=2}
//   FunctionNames             3 {file_location_id=3 parent_frame_id=3}
//   1 "main"
//   2 "layer"                 FileLocations
//                             1 {file_name_id=1 function_name_id=1 line=20 end_line=20 ...}
//                             ...
//
// A frame has a location and the frame that called it. Text writes the number of the caller and one
// more: `parent_frame_id=1` says that nothing called frame 1, `parent_frame_id=3` that frame 2
// called frame 3. Callers come before what they call; a number that does not is read as none.
//
// Example: in `add = f32[4] add(p, q), metadata={op_name="jit(f)/add" stack_frame_id=3}`
//
//   add->metadata().op_name;     // "jit(f)/add"
//   add->SourceFrames().size();  // 3: where the addition stands, and its two callers
//   add->SourceFrames()[0].line;

#ifndef XLA_INDEXING_HLO_TYPES_METADATA_H_
#define XLA_INDEXING_HLO_TYPES_METADATA_H_

#include <cstdint>
#include <string>

#include "xla_indexing/base/cpp20.h"

namespace xla_indexing {

// What metadata say; empty or 0 where they do not. Lines and columns count from 1.
struct OpMetadata {
  std::string op_type = {};
  std::string op_name = {};
  std::string source_file = {};
  int64_t source_line = 0;
  int64_t source_end_line = 0;
  int64_t source_column = 0;
  int64_t source_end_column = 0;
  std::string deduplicated_name = {};
  std::string scheduling_name = {};
  int64_t stack_frame_id = 0;

  friend bool operator==(const OpMetadata& a, const OpMetadata& b) = default;
};

// A place in a program's source: a file and the lines and columns in it, and the function around
// it. Empty or 0 where it is not known.
struct SourceFrame {
  std::string file = {};
  std::string function = {};
  int64_t line = 0;
  int64_t end_line = 0;
  int64_t column = 0;
  int64_t end_column = 0;

  friend bool operator==(const SourceFrame& a, const SourceFrame& b) = default;
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_HLO_TYPES_METADATA_H_
