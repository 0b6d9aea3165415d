#include "xla_indexing/tools/input/command_line.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "xla_indexing/gpu/machine/machine.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"
#include "xla_indexing/hlo/types/shape.h"
#include "xla_indexing/report/kernel_report.h"
#include "xla_indexing/report/write/report_text.h"

namespace xla_indexing {
namespace {

constexpr int kMaxJobs = 1024;

// Takes the value of a flag; false where it is not one.
using FlagSetter = bool (*)(absl::string_view value, CommandLine* line);

struct Flag {
  absl::string_view name;
  // What the value may be, for messages; empty for a switch.
  absl::string_view values;
  FlagSetter set;
  // Whether the flag may stand without a value, as a switch. A value then follows `=`.
  bool value_is_optional = false;
};

bool SetValue(absl::string_view value, bool* target) {
  *target = value == "true";
  return *target || value == "false";
}

// A name, without its sign.
bool SetValue(absl::string_view value, std::optional<std::string>* target) {
  *target = std::string(absl::StripPrefix(value, "%"));
  return !(*target)->empty();
}

// Indices with commas; none for the element of a scalar.
bool SetValue(absl::string_view value, std::optional<std::vector<int64_t>>* element) {
  element->emplace();
  if (value.empty()) return true;
  for (const absl::string_view index : absl::StrSplit(value, ',')) {
    if (!absl::SimpleAtoi(index, &(*element)->emplace_back(0))) return false;
  }
  return true;
}

// A number, 0 or more.
bool SetValue(absl::string_view value, std::optional<int64_t>* target) {
  int64_t id = 0;
  if (!absl::SimpleAtoi(value, &id) || id < 0) return false;
  *target = id;
  return true;
}

template <auto member>
bool Set(absl::string_view value, CommandLine* line) {
  return SetValue(value, &(line->*member));
}

bool SetInstruction(absl::string_view value, CommandLine* line) {
  // An instruction that is itself called `all` is `--instruction=%all`.
  line->all_instructions = value == "all";
  return SetValue(value, &line->instruction);
}

bool SetDirection(absl::string_view value, CommandLine* line) {
  line->output_to_input = value == "output-to-input" || value == "both";
  line->input_to_output = value == "input-to-output" || value == "both";
  return line->output_to_input || line->input_to_output;
}

bool SetSimplify(absl::string_view value, CommandLine* line) {
  if (value == "auto") line->simplify = SimplifyMode::kAuto;
  if (value == "always") line->simplify = SimplifyMode::kAlways;
  if (value == "never") line->simplify = SimplifyMode::kNever;
  return value == "auto" || value == "always" || value == "never";
}

bool SetFormat(absl::string_view value, CommandLine* line) {
  line->format = value == "json" ? OutputFormat::kJson : OutputFormat::kText;
  return value == "json" || value == "text";
}

bool SetJobs(absl::string_view value, CommandLine* line) {
  return absl::SimpleAtoi(value, &line->jobs) && line->jobs >= 1 && line->jobs <= kMaxJobs;
}

bool SetMapFile(absl::string_view value, CommandLine* line) {
  line->action = CommandLine::Action::kPrintMaps;
  line->map_file = std::string(value);
  return !value.empty();
}

bool SetEmit(absl::string_view value, CommandLine* line) {
  line->emit = value == "hlo"    ? EmitMode::kHlo
               : value == "mlir" ? EmitMode::kMlir
                                 : EmitMode::kPromotedHlo;
  return value == "hlo" || value == "mlir" || value == "promoted-hlo";
}

// A flag of the launch, whose value is checked with the others.
bool SetNumber(absl::string_view value, int64_t* target) { return absl::SimpleAtoi(value, target); }
bool SetNumber(absl::string_view value, std::optional<int64_t>* target) {
  return SetNumber(value, &target->emplace());
}
template <auto member>
bool SetLaunch(absl::string_view value, CommandLine* line) {
  line->launch.are_given = true;
  return SetNumber(value, &(line->launch.*member));
}
template <auto member>
bool SetMemory(absl::string_view value, CommandLine* line) {
  line->launch.are_given = true;
  return SetNumber(value, &(line->launch.options.*member));
}

bool SetMapping(absl::string_view value, CommandLine* line) {
  line->launch.are_given = true;
  line->launch.is_emitters = value == "emitter";
  return value == "emitter" || value == "loop";
}

bool SetFactor(absl::string_view value, CommandLine* line) {
  line->launch.are_given = true;
  double& factor = line->launch.options.factor;
  // Otherwise names such as `nan`, and blanks, would be read as numbers too.
  return value.find_first_not_of("0123456789.+-eE") == value.npos &&
         absl::SimpleAtod(value, &factor) && factor >= 1 && factor <= 1e308;
}

bool SetReport(absl::string_view value, CommandLine* line) {
  line->report = true;
  line->report_file = value == "true" ? "" : std::string(value);
  return value == "true" || absl::EndsWith(value, ".html") || absl::EndsWith(value, ".json");
}

bool SetAssume(absl::string_view value, CommandLine* line) {
  if (value == "auto") line->assume = AssumeMode::kAuto;
  if (value == "fused") line->assume = AssumeMode::kFused;
  if (value == "unfused") line->assume = AssumeMode::kUnfused;
  return value == "auto" || value == "fused" || value == "unfused";
}

// Flags of the memory that follow change it.
bool SetMachine(absl::string_view value, CommandLine* line) {
  line->machine = FindMachine(value);
  if (line->machine == nullptr) return false;
  const ReportOptions options = ReportOptions::For(*line->machine);
  line->launch.options.warp_size = options.memory.warp_size;
  line->launch.options.sector_bytes = options.memory.sector_bytes;
  line->launch.options.line_bytes = options.memory.line_bytes;
  return true;
}

struct Query {
  using Flag = bool Queries::*;

  absl::string_view name;
  Flag asked;
};

constexpr Query kQueries[] = {
    {"coalescing", &Queries::coalescing},   {"in-place", &Queries::in_place},
    {"indices", &Queries::indices},         {"tiling", &Queries::tiling},
    {"utilization", &Queries::utilization},
};
constexpr absl::string_view kQueryValues =
    "a list, with commas, of: coalescing, in-place, indices, tiling, utilization";

bool SetTileSizes(absl::string_view value, CommandLine* line) {
  line->tile_sizes = std::string(value);
  // A scalar has no sizes.
  if (value.empty()) return true;
  for (absl::string_view text : absl::StrSplit(value, ',')) {
    const size_t equals = text.find('=');
    if (equals == 0) return false;
    if (equals != text.npos) text.remove_prefix(equals + 1);
    int64_t size = 0;
    if (!absl::SimpleAtoi(text, &size) || size < 1) return false;
  }
  return true;
}

// Bytes, or KiB, MiB or GiB of them.
bool SetBudget(absl::string_view value, CommandLine* line) {
  int64_t unit = 1;
  constexpr std::pair<absl::string_view, int64_t> kUnits[] = {
      {"KiB", int64_t{1} << 10}, {"MiB", int64_t{1} << 20}, {"GiB", int64_t{1} << 30}};
  for (const auto& [name, bytes] : kUnits) {
    if (absl::ConsumeSuffix(&value, name)) unit = bytes;
  }
  int64_t count = 0;
  if (!absl::SimpleAtoi(value, &count) || count < 1 || count > INT64_MAX / unit) return false;
  line->tile_budget = count * unit;
  return true;
}

bool SetQueries(absl::string_view value, CommandLine* line) {
  line->queries = Queries();
  for (const absl::string_view name : absl::StrSplit(value, ',')) {
    const Query* query =
        std::find_if(std::begin(kQueries), std::end(kQueries),
                     [&](const Query& candidate) { return candidate.name == name; });
    if (query == std::end(kQueries)) return false;
    line->queries.*query->asked = true;
  }
  return true;
}

constexpr Flag kFlags[] = {
    {"instruction", "a name, or all", SetInstruction},
    {"computation", "a name", Set<&CommandLine::computation>},
    {"fuse", "", Set<&CommandLine::fuse>},
    {"no-verify", "",
     [](absl::string_view value, CommandLine* line) {
       bool no_verify = false;
       const bool is_valid = SetValue(value, &no_verify);
       line->verify = !no_verify;
       return is_valid;
     }},
    {"direction", "output-to-input, input-to-output or both", SetDirection},
    {"output_id", "the number of an output leaf, 0 or more", Set<&CommandLine::output_id>},
    {"operand_id", "the number of an operand, 0 or more", Set<&CommandLine::operand_id>},
    {"exact", "", Set<&CommandLine::exact>},
    {"dependence", "", Set<&CommandLine::dependence>},
    {"assume_finite", "",
     [](absl::string_view value, CommandLine* line) {
       if (!SetValue(value, &line->assume_finite)) return false;
       line->dependence = line->dependence || line->assume_finite;
       return true;
     }},
    {"simplify", "auto, always or never", SetSimplify},
    {"format", "text or json", SetFormat},
    {"names", "", Set<&CommandLine::names>},
    {"summary", "", Set<&CommandLine::summary>},
    {"query", kQueryValues, SetQueries},
    {"tile_sizes", "sizes of at least 1, with commas, by position or by name: 64,64 or d0=64,k=32",
     SetTileSizes},
    {"budget", "a number of bytes, KiB, MiB or GiB, such as 48KiB", SetBudget},
    {"one_pass", "", Set<&CommandLine::one_pass>},
    {"mapping", "loop or emitter", SetMapping},
    {"one_buffer", "names of instructions, with commas", Set<&CommandLine::one_buffer>},
    {"thread_map", "an indexing map",
     [](absl::string_view value, CommandLine* line) {
       line->launch.are_given = true;
       line->launch.thread_map = std::string(value);
       return !value.empty();
     }},
    {"threads_per_block", "a number of threads", SetLaunch<&LaunchFlags::threads_per_block>},
    {"elements_per_thread", "a number of elements", SetLaunch<&LaunchFlags::elements_per_thread>},
    {"vector_width", "a number of elements", SetLaunch<&LaunchFlags::vector_width>},
    {"warp_size", "32 or 64", SetMemory<&CoalescingOptions::warp_size>},
    {"sector_bytes", "a number of bytes", SetMemory<&CoalescingOptions::sector_bytes>},
    {"line_bytes", "a number of bytes", SetMemory<&CoalescingOptions::line_bytes>},
    {"alignment", "a number of bytes", SetMemory<&CoalescingOptions::alignment_bytes>},
    {"coalescing_factor", "a decimal number from 1 to 1e308", SetFactor},
    {"compare", "", Set<&CommandLine::compare>},
    {"jobs", "a number of threads, 1 to 1024", SetJobs},
    {"map", "a file of indexing maps, or - for standard input", SetMapFile},
    {"keep_variables", "", Set<&CommandLine::keep_variables>},
    {"explain", "", Set<&CommandLine::explain>},
    {"output_element", "the indices of an element, with commas", Set<&CommandLine::output_element>},
    {"operand_element", "the indices of an element, with commas",
     Set<&CommandLine::operand_element>},
    {"operand_leaf", "the number of a leaf of the operand, 0 or more",
     Set<&CommandLine::operand_leaf>},
    {"broadcast", "", Set<&CommandLine::broadcast>},
    {"emit", "hlo, mlir or promoted-hlo", SetEmit},
    {"report", "left out, or a file that ends in .html or .json", SetReport,
     /*value_is_optional=*/true},
    {"picture", "a file that ends in .svg, or - for standard output",
     [](absl::string_view value, CommandLine* line) {
       line->picture_file = std::string(value);
       return absl::EndsWith(value, ".svg") || value == "-";
     }},
    {"top", "a number of rows, 0 or more", Set<&CommandLine::report_top>},
    {"machine", "h100, h200, a100, mi300x or cpu", SetMachine},
    {"sort", "time, wasted, moved, sectors, read, written, runs, reads, efficiency or name",
     [](absl::string_view value, CommandLine* line) {
       line->report_sort = std::string(value);
       return absl::c_linear_search(ReportColumns(), value);
     }},
    {"assume", "auto, fused or unfused", SetAssume},
    {"help", "",
     [](absl::string_view value, CommandLine* line) {
       line->action = CommandLine::Action::kShowHelp;
       return value == "true";
     }},
    {"version", "",
     [](absl::string_view value, CommandLine* line) {
       line->action = CommandLine::Action::kShowVersion;
       return value == "true";
     }},
};

const Flag* FindFlag(absl::string_view name) {
  const Flag* flag = std::find_if(std::begin(kFlags), std::end(kFlags),
                                  [&](const Flag& candidate) { return candidate.name == name; });
  return flag == std::end(kFlags) ? nullptr : flag;
}

// The number of letters to insert, delete or replace to make `b` of `a`.
size_t EditDistance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);  // Distances of the prefix of `a` from those of `b`.
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

absl::Status UnknownFlag(absl::string_view argument, absl::string_view name) {
  std::string message = absl::StrCat("unknown flag '", argument, "'");
  constexpr size_t kLongestFlag = 24;
  if (!name.empty() && name.size() <= kLongestFlag) {
    const Flag* nearest =
        std::min_element(std::begin(kFlags), std::end(kFlags), [&](const Flag& a, const Flag& b) {
          return EditDistance(name, a.name) < EditDistance(name, b.name);
        });
    if (EditDistance(name, nearest->name) <= std::max<size_t>(2, name.size() / 3)) {
      absl::StrAppend(&message, "; did you mean '--", nearest->name, "'?");
    }
  }
  return absl::InvalidArgumentError(message);
}

// Whether a flag is given that says what is analysed of HLO, or how.
bool AsksForHlo(const CommandLine& line) {
  return line.instruction || line.computation || line.fuse || !line.verify || line.names ||
         line.exact || line.dependence || line.output_id || line.operand_id ||
         !line.output_to_input || line.input_to_output || line.summary ||
         line.simplify != SimplifyMode::kAuto || line.queries.Any() || line.launch.are_given ||
         line.tile_sizes || line.tile_budget || line.one_pass;
}

absl::Status CheckMapLine(const CommandLine& line) {
  if (!line.files.empty() || AsksForHlo(line) || line.format != OutputFormat::kText) {
    return absl::InvalidArgumentError(
        "--map reads maps and prints them simplified, one a line; of the other flags only "
        "--keep_variables, --explain and --jobs go with it, and no FILE");
  }
  return absl::OkStatus();
}

absl::Status CheckBroadcastLine(const CommandLine& line) {
  if (line.shapes.empty()) {
    return absl::InvalidArgumentError(
        "--broadcast needs a SHAPE, as 'f32[10,1]', for each operand");
  }
  const bool prints_maps = line.emit == EmitMode::kNothing;
  if (AsksForHlo(line) || !line.map_file.empty() || line.explain || line.keep_variables ||
      line.compare || (!prints_maps && line.format != OutputFormat::kText)) {
    return absl::InvalidArgumentError(
        "--broadcast says how shapes are broadcast; of the other flags only --format or --emit "
        "goes "
        "with it, and --jobs");
  }
  return absl::OkStatus();
}

absl::Status CheckCompareLine(const CommandLine& line) {
  CommandLine without_names = line;
  without_names.computation.reset();
  if (AsksForHlo(without_names) || line.explain || line.keep_variables || !line.map_file.empty()) {
    return absl::InvalidArgumentError(
        "of the other flags only --computation, --format and --jobs go with --compare");
  }
  const size_t names = line.computation
                           ? 1 + std::count(line.computation->begin(), line.computation->end(), ',')
                           : 0;
  if (names > 2) {
    return absl::InvalidArgumentError("--compare takes two computations, --computation=A,B");
  }
  if (line.files.size() == 2 || (line.files.size() == 1 && names == 2)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      "--compare takes two FILEs, or one and two of its computations, --computation=A,B");
}

absl::Status CheckExplainLine(const CommandLine& line) {
  CommandLine others = line;
  others.output_id.reset();
  others.operand_id.reset();
  others.computation.reset();
  others.exact = others.dependence = false;
  if (!line.explain || !line.output_element || !line.operand_element || AsksForHlo(others) ||
      line.keep_variables || line.compare || line.all_instructions || !line.map_file.empty()) {
    return absl::InvalidArgumentError(
        "--output_element and --operand_element go together, with --explain; of the other flags "
        "only --computation, --output_id, --operand_id, --operand_leaf, --exact, --dependence, "
        "--assume_finite, --format, --jobs and --report=FILE go with them");
  }
  if (line.files.size() == 1) return absl::OkStatus();
  return absl::InvalidArgumentError("--explain takes one FILE");
}

absl::Status CheckPictureLine(const CommandLine& line) {
  CommandLine without_names = line;
  without_names.instruction.reset();
  without_names.computation.reset();
  without_names.fuse = false;
  without_names.output_id.reset();
  if (AsksForHlo(without_names) || line.explain || line.keep_variables ||
      line.format != OutputFormat::kText || line.report || line.all_instructions) {
    return absl::InvalidArgumentError(
        "--picture is of one instruction or computation; of the other flags only --instruction, "
        "--computation, --fuse and --output_id go with it");
  }
  if (line.files.size() == 1) return absl::OkStatus();
  return absl::InvalidArgumentError("--picture takes one FILE");
}

absl::Status CheckReportLine(const CommandLine& line) {
  CommandLine without_memory = line;
  without_memory.launch.are_given = false;
  if (AsksForHlo(without_memory) || line.explain || line.keep_variables ||
      line.format != OutputFormat::kText || line.launch.is_emitters || line.launch.GivesThreads()) {
    return absl::InvalidArgumentError(
        "--report is of whole modules; of the other flags only --top, --sort, --machine, --assume, "
        "--jobs and those of the memory (--warp_size, --sector_bytes, --line_bytes, --alignment, "
        "--coalescing_factor) go with it");
  }
  if (line.compare && (line.files.size() != 2 || !line.report_file.empty() || line.report_sort)) {
    return absl::InvalidArgumentError(
        "--compare --report is a table of two FILEs, the one before a change and the one after it; "
        "of the other flags only --top, --machine, --assume, --jobs and those of the memory go "
        "with it");
  }
  if (line.report_top && !line.report_file.empty()) {
    return absl::InvalidArgumentError(
        "--top is of the table that --report prints; a file has all kernels");
  }
  if (line.files.empty()) return absl::InvalidArgumentError("no FILE is given");
  return line.launch.options.Verify();
}

absl::Status CheckReportWithPathLine(const CommandLine& line) {
  CommandLine without_path = line;
  without_path.output_id.reset();
  without_path.operand_id.reset();
  without_path.explain = without_path.exact = without_path.dependence = false;
  if (line.computation || line.report_file.empty()) {
    return absl::InvalidArgumentError(
        "--explain with --report=FILE is of elements of the ENTRY's result; the path is in FILE");
  }
  return CheckReportLine(without_path);
}

// Whether the options and the thread map of the command line are any.
absl::Status CheckLaunchFlags(const LaunchFlags& flags) {
  if (absl::Status status = flags.options.Verify(); !status.ok()) return status;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  if (flags.is_emitters && flags.GivesThreads()) {
    return absl::InvalidArgumentError(
        "--mapping=emitter finds the threads, which --thread_map, --threads_per_block, "
        "--elements_per_thread and --vector_width give; they exclude each other");
  }
  if (flags.thread_map.empty()) {
    return RowMajorLoop(Shape::Scalar(ElementType::kF32), flags.Loop(), &context).status();
  }
  if (flags.threads_per_block || flags.elements_per_thread || flags.vector_width) {
    return absl::InvalidArgumentError(
        "--thread_map says what --threads_per_block, --elements_per_thread and --vector_width say "
        "of the row-major loop; they exclude each other");
  }
  absl::Status status = ParseThreadMapping(flags.thread_map, &context).status();
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat("--thread_map: ", status.message()));
}

absl::Status CheckTilingFlags(const CommandLine& line) {
  if (line.queries.tiling) return absl::OkStatus();
  const absl::string_view of_tiling = line.tile_sizes    ? "--tile_sizes are"
                                      : line.tile_budget ? "--budget is"
                                      : line.one_pass    ? "--one_pass is"
                                                         : "";
  if (of_tiling.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(of_tiling, " what --query=tiling, which is not given, is asked for"));
}

absl::Status CheckHloLine(const CommandLine& line) {
  if (line.keep_variables) {
    return absl::InvalidArgumentError("--keep_variables goes with --map, whose maps keep theirs");
  }
  if (line.explain) {
    return absl::InvalidArgumentError(
        "--explain goes with --map, whose maps it explains, or with --output_element and "
        "--operand_element");
  }
  if (line.files.empty()) return absl::InvalidArgumentError("no FILE is given");
  if (std::count(line.files.begin(), line.files.end(), "-") > 1) {
    return absl::InvalidArgumentError("standard input, '-', can be read only once");
  }
  if (line.summary && line.format == OutputFormat::kJson) {
    return absl::InvalidArgumentError(
        "--summary, which is text, and --format=json exclude each other");
  }
  if (line.summary && line.queries.Any()) {
    return absl::InvalidArgumentError(
        "--summary, which replaces the maps, and --query, which comes after them, exclude each "
        "other");
  }
  if ((line.queries.utilization || line.queries.coalescing || line.queries.in_place ||
       line.queries.indices) &&
      !line.output_to_input) {
    return absl::InvalidArgumentError(
        absl::StrCat("--query=",
                     line.queries.utilization  ? "utilization"
                     : line.queries.coalescing ? "coalescing"
                     : line.queries.in_place   ? "in-place"
                                               : "indices",
                     " is of what is read, so that it needs --direction=output-to-input or both"));
  }
  if (absl::Status status = CheckTilingFlags(line); !status.ok()) return status;
  if (line.one_buffer && !line.queries.in_place) {
    return absl::InvalidArgumentError(
        "--one_buffer is what --query=in-place, which is not given, is asked about");
  }
  const bool is_of_threads = line.queries.in_place && line.launch.GivesThreads();
  if (line.queries.coalescing || is_of_threads) {
    if (absl::Status status = CheckLaunchFlags(line.launch); !status.ok()) return status;
  } else if (line.launch.are_given) {
    return absl::InvalidArgumentError(
        "--thread_map and the other flags of a launch say what --query=coalescing, which is not "
        "given, is of; those that say which thread computes what go with --query=in-place, too");
  }
  if (line.fuse && (line.instruction || line.computation)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--fuse, which takes the ENTRY computation as one fusion, and ",
                     line.instruction ? "--instruction" : "--computation", " exclude each other"));
  }
  return absl::OkStatus();
}

absl::Status CheckRewriteLine(const CommandLine& line) {
  CommandLine without_query = line;
  without_query.queries = Queries();
  Queries others = line.queries;
  others.indices = false;
  if (AsksForHlo(without_query) || others.Any() || line.format != OutputFormat::kText ||
      line.explain || line.keep_variables || line.compare || !line.map_file.empty()) {
    return absl::InvalidArgumentError(
        "--emit=hlo prints whole modules; no other flag but --query=indices and --assume goes with "
        "it");
  }
  if (line.files.empty()) return absl::InvalidArgumentError("no FILE is given");
  return absl::OkStatus();
}

absl::Status CheckEmitMlirLine(const CommandLine& line) {
  CommandLine others = line;
  others.computation.reset();
  others.tile_sizes.reset();
  if (line.tile_sizes) others.one_pass = false;
  if (AsksForHlo(others) || line.broadcast || line.queries.Any() ||
      line.format != OutputFormat::kText || line.assume != AssumeMode::kAuto || line.report ||
      line.explain || line.keep_variables || line.compare || !line.map_file.empty() ||
      !line.picture_file.empty()) {
    return absl::InvalidArgumentError(
        "--emit=mlir prints the ENTRY of each module; no other flag but --computation and "
        "--tile_sizes, with which --one_pass may stand, goes with it");
  }
  if (line.files.empty()) return absl::InvalidArgumentError("no FILE is given");
  return absl::OkStatus();
}

absl::Status CheckLine(CommandLine* line) {
  if (line->output_element || line->operand_element || line->operand_leaf) {
    line->action = CommandLine::Action::kExplain;
    absl::Status status = CheckExplainLine(*line);
    if (!status.ok() || !line->report) return status;
    line->action = CommandLine::Action::kReport;
    return CheckReportWithPathLine(*line);
  }
  if (line->broadcast && line->emit != EmitMode::kMlir) {
    line->action = CommandLine::Action::kBroadcast;
    line->shapes.swap(line->files);
    return CheckBroadcastLine(*line);
  }
  if (absl::c_linear_search(line->files, "")) {
    return absl::InvalidArgumentError("a FILE has an empty name");
  }
  if (line->emit == EmitMode::kHlo) {
    line->action = CommandLine::Action::kRewrite;
    return CheckRewriteLine(*line);
  }
  if (line->emit == EmitMode::kMlir) {
    line->action = CommandLine::Action::kEmitMlir;
    return CheckEmitMlirLine(*line);
  }
  if (line->emit != EmitMode::kNothing) {
    return absl::InvalidArgumentError(
        "--emit=promoted-hlo prints what --broadcast builds, which is not given");
  }
  if (!line->picture_file.empty()) {
    line->action = CommandLine::Action::kPicture;
    return CheckPictureLine(*line);
  }
  if (line->report) {
    line->action = CommandLine::Action::kReport;
    return CheckReportLine(*line);
  }
  if (line->assume != AssumeMode::kAuto) {
    return absl::InvalidArgumentError(
        "--assume says of what kernels --report and --emit=hlo, of which none is given, are");
  }
  if (line->report_top || line->report_sort) {
    return absl::InvalidArgumentError(
        "--top and --sort are of what --report, which is not given, prints");
  }
  if (line->machine != nullptr && !line->tile_budget) {
    return absl::InvalidArgumentError(
        "--machine is of --report and of --query=tiling with --budget, which are not given");
  }
  if (line->compare) {
    line->action = CommandLine::Action::kCompare;
    return CheckCompareLine(*line);
  }
  return line->action == CommandLine::Action::kPrintMaps ? CheckMapLine(*line)
                                                         : CheckHloLine(*line);
}

}  // namespace

absl::StatusOr<CommandLine> ParseCommandLine(absl::Span<const absl::string_view> arguments) {
  CommandLine line;
  line.jobs = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, kMaxJobs);
  bool flags_ended = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const absl::string_view argument = arguments[i];
    if (flags_ended || argument == "-" || argument.empty() || argument[0] != '-') {
      line.files.emplace_back(argument);
      continue;
    }
    if (argument == "--") {
      flags_ended = true;
      continue;
    }
    const size_t equals = argument.find('=');
    absl::string_view name = argument.substr(0, equals);
    const bool is_long = absl::ConsumePrefix(&name, "--");
    if (argument == "-h") name = "help";
    const Flag* flag = is_long || argument == "-h" ? FindFlag(name) : nullptr;
    if (flag == nullptr) return UnknownFlag(argument, absl::StripPrefix(name, "-"));

    absl::string_view value = "true";
    if (equals != argument.npos) {
      value = argument.substr(equals + 1);
    } else if (!flag->values.empty() && !flag->value_is_optional) {
      if (i + 1 == arguments.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat("--", flag->name, " needs a value: ", flag->values));
      }
      value = arguments[++i];
    }
    if (!flag->set(value, &line)) {
      return absl::InvalidArgumentError(
          absl::StrCat("--", flag->name, "=", value, ": the value is ",
                       flag->values.empty() ? "true or false, or left out" : flag->values));
    }
    if (line.action == CommandLine::Action::kShowHelp ||
        line.action == CommandLine::Action::kShowVersion) {
      return line;
    }
  }
  absl::Status status = CheckLine(&line);
  if (!status.ok()) return status;
  return line;
}

}  // namespace xla_indexing
