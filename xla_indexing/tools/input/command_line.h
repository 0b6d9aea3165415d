// The command line of print-indexing.
//
//   print-indexing [flags] FILE...
//   print-indexing --broadcast [flags] SHAPE...
//
// A flag with a value is written `--flag=value` or `--flag value`, a switch `--flag` (or
// `--flag=true`, `--flag=false`). A flag that is given twice has the last value. After `--`
// everything is a file. `-` is standard input.
//
// Errors say which flag is wrong and what it takes; an unknown flag comes with the nearest one that
// there is.
//
// Example: {"--direction=both", "m.hlo"} is the ROOT of the ENTRY of m.hlo, both directions.

#ifndef XLA_INDEXING_TOOLS_INPUT_COMMAND_LINE_H_
#define XLA_INDEXING_TOOLS_INPUT_COMMAND_LINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "xla_indexing/gpu/coalescing.h"
#include "xla_indexing/gpu/machine/machine.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"
#include "xla_indexing/ops/answers/parts/indexing_options.h"

namespace xla_indexing {

enum class OutputFormat { kText, kJson };

enum class SimplifyMode {
  kAuto,    // One operation as its builder says it, fusions and computations simplified.
  kAlways,  // Everything simplified.
  kNever,   // As the builders say it, runtime values not folded.
};

enum class EmitMode {
  kNothing,
  kHlo,          // The broadcast as reshape and broadcast; of files, their modules.
  kPromotedHlo,  // As PyTorch/XLA promotes shapes.
  kMlir,         // Of files, a function for the ENTRY of each module.
};

// Whether modules are fused as XLA would (gpu/fusing/fuse_like_xla.h) before anything is said of them.
enum class AssumeMode {
  kAuto,  // For a report, those without fusions.
  kFused,
  kUnfused,
};

// What is reported about the maps in addition to them (`--query=LIST`).
struct Queries {
  bool utilization = false;
  bool coalescing = false;
  bool in_place = false;
  bool indices = false;
  bool tiling = false;

  bool Any() const { return utilization || coalescing || in_place || indices || tiling; }
};

// The launch for which coalescing is reported, and whether outputs may be written in place.
struct LaunchFlags {
  bool is_emitters =
      false;               // that of XLA's kernel (gpu/fusion_mapping.h), and not one that is given
  std::string thread_map;  // as text; empty: the row-major loop
  std::optional<int64_t> threads_per_block;
  std::optional<int64_t> elements_per_thread;  // default: one vector
  std::optional<int64_t> vector_width;
  CoalescingOptions options;
  bool are_given = false;  // some of them

  // Whether they say which thread computes what.
  bool GivesThreads() const {
    return !thread_map.empty() || threads_per_block || elements_per_thread || vector_width;
  }
  LoopOptions Loop() const {
    const int64_t width = vector_width.value_or(1);
    return {threads_per_block.value_or(LoopOptions().threads_per_block),
            elements_per_thread.value_or(width), width};
  }
};

struct CommandLine {
  enum class Action {
    kShowHelp,
    kShowVersion,
    kPrintIndexing,  // of the HLO in `files`
    kPrintMaps,      // those in `map_file`, simplified
    kBroadcast,      // the implicit broadcast of `shapes`
    kCompare,        // two computations of the HLO in `files`
    kPicture,        // of one thing in the HLO in `files`
    kReport,         // what the kernels of the HLO in `files` move
    kExplain,        // why an element depends on another, in the HLO in `files`
    kEmitMlir,       // the ENTRYs of the HLO in `files` as functions of MLIR
    kRewrite,  // the HLO in `files` itself, or with gathers and scatters as what their indices say
  };

  Action action = Action::kPrintIndexing;
  EmitMode emit = EmitMode::kNothing;
  AssumeMode assume = AssumeMode::kAuto;
  bool explain = false;  // Maps with the rules that made each what it is; or a dependence.
  bool compare = false;
  bool broadcast = false;
  bool report = false;
  std::vector<std::string> files;
  std::string map_file;
  std::optional<std::vector<int64_t>> output_element;
  std::optional<std::vector<int64_t>> operand_element;
  std::optional<int64_t> operand_leaf;
  std::vector<std::string> shapes;
  std::string report_file;            // Ends in .html or .json; empty: a table on standard output.
  std::optional<int64_t> report_top;  // Rows of the table.
  std::optional<std::string> report_sort;
  const Machine* machine = nullptr;  // Null: not given.
  std::string picture_file;          // Ends in .svg, or is `-`; empty: no picture.

  // Names without `%`.
  std::optional<std::string> instruction;
  std::optional<std::string> computation;  // With kCompare it may be two, `A,B`.
  bool keep_variables = false;             // Of maps.
  bool all_instructions = false;
  bool fuse = false;
  bool verify = true;  // Whether a module that is not valid is an error.

  bool output_to_input = true;
  bool input_to_output = false;
  std::optional<int64_t> output_id;
  std::optional<int64_t> operand_id;
  bool exact = false;
  bool dependence = false;     // What can change a value, instead of what is read.
  bool assume_finite = false;  // With `dependence`.
  Dependence AskedDependence() const {
    return assume_finite ? Dependence::kFiniteValues
           : dependence  ? Dependence::kValues
                         : Dependence::kReads;
  }
  bool names = false;  // Operands' names in the headings of the text form.
  SimplifyMode simplify = SimplifyMode::kAuto;

  OutputFormat format = OutputFormat::kText;
  bool summary = false;  // How much is exact, instead of the maps.
  Queries queries;
  LaunchFlags launch;
  // As TilingSpace::ParseSizes (tiling/kernel/tiling_space.h) reads them, and the bytes that tiles may hold.
  std::optional<std::string> tile_sizes;
  std::optional<int64_t> tile_budget;
  bool one_pass = false;                  // TiledLoops::kOnePass
  std::optional<std::string> one_buffer;  // Values, with commas, for --query=in-place.
  int jobs = 1;                           // Default: one a processor.
};

// Parses the arguments without the program's name. InvalidArgument where they are not a valid
// command line.
absl::StatusOr<CommandLine> ParseCommandLine(absl::Span<const absl::string_view> arguments);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TOOLS_INPUT_COMMAND_LINE_H_
