// What each kernel of a module moves in memory, what of that is wasted, and why.
//
// Kernels. Going from the entry computation into the bodies of loops, calls, branches and
// asynchronous computations, every instruction that moves data is a *kernel*: fusions, and
// instructions outside of fusions. What is memory that is there already (query/aliases.h) is none.
// XLA launches other instructions of its own too, which are not here; a reduce of a module before
// XLA's passes counts as the kernel that it would be alone.
//
// Figures of one run of a kernel; all are counts, exact or [least, most].
//
//   bytes read      of the elements of its operands that it reads, each once (query/utilization/utilization.h)
//   bytes written   of its result
//                   of an in-place update and a scatter, both are of the elements that change
//   bytes of reads  as they would be if each element of the result read anew what it is made of
//   sectors         of 32 bytes that its warps ask for, with the threads that XLA's emitter gives a
//                   kernel of its kind (gpu/fusion_mapping.h), nothing cached between requests
//   least sectors   that the bytes of each request would fit in (gpu/coalescing.h)
//   bytes moved     32 * sectors
//   bytes wasted    32 * (sectors - least sectors): what is moved and no lane asked for
//   runs            how often it runs in a run of the module
//   traffic         the least bytes moved; where sectors are not known, bytes read and written
//   flops           multiplications and additions of the dots and convolutions inside, or of a library's
//   microseconds    the time that a machine takes at least for these, and to start the kernel
//                   (gpu/machine/machine.h)
//
// Sectors of kernels that are not made by an emitter (library calls, dots outside of fusions,
// communication, sorts) are not known: they have none, and `not_known` says why; in totals they have
// traffic. What the map of an access over-approximates is a bound: it is in the most, not in the
// least. Traffic and microseconds of all runs take what runs an unknown number of times to run once,
// or as often as it may at most. Kernels are ordered by them; a loop stands before what is inside.
//
// Groups. Kernels that differ in nothing but names and descriptions are analysed once and are one
// group, with the sum of their figures. Totals by loop, by module of the model (the path in op_name,
// `Block_*/attention` for all Block_0, Block_1, ..) and by function of the source are sums over the
// same rows: each adds up to the totals of the report.
//
// Loops. A while has a row as well, of the kind `while`. Its bytes moved and wasted, and its sectors, are
// those of the kernels inside, in its body and condition and what these run, times how often they
// run; its bytes read and written are those of the loop as a whole. Nothing of it is in totals, which
// have the kernels inside already. `loop` says how often it runs its body, and what of the arrays that it
// only reads, those that it carries unchanged, one iteration reads.
//
// Cost. One budget of steps for the module (base/question_budget.h), of which every kernel has a
// share by its size; what it leaves undecided is said.
//
// Example: the sum of p0 and the slice of every other element of p1, of f32[1024], reads 4 KiB of
// each and writes 4 KiB. It asks for 128 sectors for p0, 256 for p1 and 128 for the sum. 128 would do
// for p1: it wastes 32 * 128 bytes.
//
// ReportKernels (report/analysis/report_kernels.h) makes a report.
#ifndef XLA_INDEXING_REPORT_KERNEL_REPORT_H_
#define XLA_INDEXING_REPORT_KERNEL_REPORT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "xla_indexing/base/cpp20.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/gpu/coalescing.h"
#include "xla_indexing/gpu/fusing/copy_like_xla.h"
#include "xla_indexing/gpu/machine/machine.h"
#include "xla_indexing/gpu/threads/emitter.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/query/explain/explain_dependence.h"

namespace xla_indexing {

namespace internal {
struct KernelDrawing;
}  // namespace internal

struct ReportOptions {
  // The options for a machine, with its threads and memory.
  static ReportOptions For(const Machine& machine);

  const Machine* machine = &DefaultMachine();
  EmitterOptions emitter;
  CoalescingOptions memory;
  int jobs = 1;                   // threads; the report does not depend on it
  bool with_drawings = false;     // what the page draws of each kernel
  std::vector<AddedCopy> copies;  // kernels of the module that XLA would add, of which rows say why
  int64_t max_steps = 12'000'000;  // for the module
  // Called now and then, by one thread at a time: so many of so many kernels are done. Returns
  // whether to go on; without that the report is an error, Cancelled.
  std::function<bool(int64_t done, int64_t all)> progress;
};

// Lanes of a warp that are equally far from one another in memory.
struct LaneDistance {
  int64_t bytes = 0;       // from one lane to the next; 0: they have the same element
  int64_t dimension = -1;  // of the array in which that is `step` elements; -1 where in none
  int64_t step = 0;
  bool is_minor_dimension = false;  // in which neighbours lie next to one another in memory
  // Whether other requests may read, or write, elements of the dimension between those of the lanes.
  bool others_lie_between = false;
};

// What the threads of a kernel read of a leaf of an operand, or write of a leaf of the result,
// through one map.
struct KernelAccess {
  bool is_write = false;
  int64_t operand = 0;  // the kernel's; 0 for writes
  int64_t leaf = 0;
  std::string shape;  // of that leaf
  int64_t bytes = 0;  // of its elements
  std::string map;    // from elements of the array that the threads go over
  Interval requests;
  Interval sectors;
  Interval least_sectors;
  std::optional<bool> coalesced;         // none: not known for every request
  std::optional<LaneDistance> distance;  // in the worst request
  bool depends_on_runtime_values = false;
  std::string reason;  // why it is not exact; empty where it is

  // 32 * (sectors - least sectors).
  Interval WastedBytes(int64_t sector_bytes) const;
};

// An expensive instruction inside a kernel whose elements are computed more than once.
struct Recomputation {
  std::string instruction;
  std::string opcode;
  Interval elements;      // of it that are needed
  Interval computations;  // how often one is computed, all together
};

// A leaf of the state of a loop that its body returns unchanged, and what one iteration reads of it for
// the other leaves.
struct UnchangedLeafRead {
  int64_t leaf = 0;
  std::string shape;
  Interval bytes_read = Interval::Point(0);
  Interval bytes = Interval::Point(0);  // of the whole leaf
  std::vector<std::string> maps;        // from elements of what the body returns; the first few
};

struct LoopFigures {
  Interval iterations = Interval::AtLeast(0);
  Interval kernel_runs =
      Interval::Point(0);                // of all kernels inside together, in one run of the loop
  std::vector<UnchangedLeafRead> reads;  // those of which something is read, by leaf
};

// What is found for all kernels that are equal up to names.
struct KernelAnalysis {
  // The one that was analysed, `computation/instruction`: names inside are those that it has.
  std::string kernel;
  // loop, transpose, .. (gpu/threads/emitter.h); library, communication, sort, transfer where no emitter
  // makes it; while; unknown.
  std::string kind;
  std::string hero;  // empty where there is none
  int64_t blocks = 0;
  int64_t threads_per_block = 0;
  Interval bytes_read = Interval::Point(0);
  Interval bytes_written = Interval::Point(0);
  Interval bytes_of_reads = Interval::Point(0);
  bool has_sectors = false;  // whether the following four are known at all
  Interval sectors = Interval::Point(0);
  Interval least_sectors = Interval::Point(0);
  Interval bytes_moved = Interval::Point(0);
  Interval bytes_wasted = Interval::Point(0);
  int64_t traffic = 0;
  double flops = 0;
  double microseconds = 0;
  // Reads / elements read, for the operand whose elements are read most often; none if not known. A
  // read is an element of the result that needs an element of the operand: lanes of a warp that read
  // one element together are as many reads, though it takes one sector of one request.
  std::optional<double> reads_per_element;
  int64_t most_read_operand = -1;
  std::vector<KernelAccess> accesses;  // reads by operand, then writes
  std::optional<size_t> worst;         // of them, the one that wastes most; nullopt if none does
  std::vector<Recomputation> recomputed;
  std::optional<LoopFigures> loop;  // of a while
  // What is not exact or not known apart from single accesses, which have reasons of their own; a
  // sentence each.
  std::vector<std::string> open_questions;
  std::shared_ptr<const internal::KernelDrawing> drawing;  // where it was asked for

  bool IsExact() const;
};

struct SourcePlace {
  std::string op_name;
  std::string file;
  std::string function;
  int64_t line = 0;  // 0: none

  // The file without the folders before those that packages are installed in: `flax/linen/linear.py`.
  absl::string_view ShortFile() const;
};

// What is wrong with a kernel, and what would fix it.
struct Finding {
  std::string text;
  int64_t bytes = 0;  // that it concerns: moved and not asked for, or read again and again
};

struct KernelRow {
  const HloInstruction* instruction = nullptr;
  size_t analysis = 0;  // its position in `analyses`
  Interval runs = Interval::Point(1);
  std::string runs_reason;   // why that is no number
  int64_t counted_runs = 1;  // those that traffic and microseconds count
  SourcePlace source;
  // The operands' names. Of an analysis shared by kernels, each has its own.
  std::vector<std::string> operands;
  Interval bytes_wasted = Interval::Point(0);  // in all runs
  std::string worst_operand;                   // empty where nothing is wasted
  // How often a while runs what, and what it reads; why XLA would add a copy.
  std::vector<std::string> notes;
  std::vector<Finding> findings;  // with the bytes of all runs
  // Everything that is not exact or not known, a sentence each, with the names of its operands.
  std::vector<std::string> not_known;
};

// Sums over rows but those of loops, times their runs.
struct ReportTotals {
  int64_t kernels = 0;
  int64_t distinct_kernels = 0;
  int64_t loops = 0;            // rows that are none of the kernels
  int64_t without_sectors = 0;  // whose sectors are not known at all
  int64_t not_exact = 0;        // of which something is over-approximate or undecided
  int64_t with_unknown_runs = 0;
  Interval bytes_read = Interval::Point(0);
  Interval bytes_written = Interval::Point(0);
  Interval bytes_of_reads = Interval::Point(0);
  Interval sectors = Interval::Point(0);  // of those that have some
  Interval least_sectors = Interval::Point(0);
  Interval bytes_moved = Interval::Point(0);
  Interval bytes_wasted = Interval::Point(0);
  int64_t traffic = 0;
  double microseconds = 0;

  // Adds figures of a kernel that runs so often.
  void Add(const KernelAnalysis& kernel, const Interval& runs, int64_t counted_runs);
};

// The name of the part of by_loop that is in none.
inline constexpr absl::string_view kOutsideOfLoops = "outside of loops";

struct NamedTotals {
  std::string name;
  ReportTotals totals;
};

// Equal kernels, or equal loops, whose totals are those of the kernels inside.
struct KernelGroup {
  size_t analysis = 0;  // its position in `analyses`; the rows of the group are those that have it
  std::string name;     // of the first one, `computation/instruction`
  Interval runs = Interval::Point(0);
  int64_t counted_runs = 0;
  ReportTotals totals;
  SourcePlace
      source;  // numbers in op_name that differ are `*`; what differs else is that of the first
  int64_t places = 0;  // how many different ones there are
  std::string worst_operand;
  std::vector<Finding>
      findings;  // with the names that the first one has, and the bytes of all runs
  std::vector<std::string> notes;
  std::vector<std::string> not_known;
};

// Something to do, what was asked again of the module in which it is done, and is better.
struct Advice {
  // donate, index by a slice, other axis, other order, own kernel, fold, one kernel.
  std::string kind;
  std::string text;         // `donate state: 3 arrays, whose buffers 3 results may have`
  SourcePlace source;       // where
  double microseconds = 0;  // less, of all kernels
  int64_t traffic = 0;      // bytes less
  int64_t memory = 0;       // bytes of buffers that are not needed
};

struct ModuleReport {
  std::string module;
  const Machine* machine = &DefaultMachine();
  std::string platform;  // `cpu`, `gpu`, `tpu`, for which it was compiled; empty: not known
  std::vector<std::string> about;  // for what it was compiled and is modelled, a sentence each
  int64_t sector_bytes = 32;
  int64_t warp_size = 32;
  std::vector<KernelAnalysis> analyses;
  std::vector<KernelRow> rows;  // those that take most time first
  std::vector<KernelGroup> groups;
  ReportTotals totals;
  std::vector<Advice> advice;          // what is worth most first (report/advice/report_module.h)
  std::vector<NamedTotals> by_loop;    // outermost loops, and what is outside of them
  std::vector<NamedTotals> by_module;  // of the model
  std::vector<NamedTotals> by_source;
  // Why an element of the module's result depends on one of an argument, if that is asked for.
  std::optional<DependenceReport> path;

  const KernelAnalysis& AnalysisOf(const KernelRow& row) const { return analyses[row.analysis]; }
};

}  // namespace xla_indexing

#endif  // XLA_INDEXING_REPORT_KERNEL_REPORT_H_
