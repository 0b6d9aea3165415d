// The report about the kernels of a module (xla_indexing/report/kernel_report.h).

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "python/src/classes.h"
#include "python/src/common.h"
#include "python/src/subjects.h"
#include "xla_indexing/gpu/machine/machine.h"
#include "xla_indexing/report/advice/report_module.h"
#include "xla_indexing/report/kernel_report.h"
#include "xla_indexing/report/write/report_json.h"
#include "xla_indexing/report/write/report_page.h"
#include "xla_indexing/report/write/report_text.h"

namespace xla_indexing::python {
namespace {

struct Report {
  SharedModule state;     // that the report is about, with the copies that XLA would make
  SharedModule source;    // that was asked about
  ReportOptions options;  // without its callback
  std::shared_ptr<const ModuleReport> report;
  std::optional<int64_t> top = {};  // rows of str()
};

// A row, and the report that keeps it.
struct Row {
  Report of;
  const KernelRow* row = nullptr;

  const KernelRow& Get() const { return *row; }
  const KernelAnalysis& Analysis() const { return of.report->AnalysisOf(*row); }
};

// A report, and the module that it is about.
struct MadeReport {
  SharedModule state;
  ModuleReport report;
};

// Makes a report without the GIL. `progress` is called with how many kernels of how many are done,
// and shows it on a terminal where it is None; what it raises, and an interrupt, ends the report.
MadeReport Make(const SharedModule& state, ReportOptions options, nb::object progress) {
  nb::object bar;
  if (progress.is_none()) {
    bar = nb::module_::import_("xla_indexing.progress")
              .attr("Progress")(ToText(state->module->name()));
    progress = bar;
  }
  std::exception_ptr raised;
  options.progress = [&](int64_t done, int64_t all) {
    const nb::gil_scoped_acquire acquire;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      progress(done, all);
    } catch (...) {
      raised = std::current_exception();
      return false;
    }
    return true;
  };
  absl::StatusOr<ReportedModule> report =
      Interruptible([&] { return ReportModule(*state->module, {}, options); });
  if (bar.is_valid()) bar.attr("end")();
  if (raised) std::rethrow_exception(raised);
  ReportedModule made = ValueOf(std::move(report));
  if (made.module == nullptr) return {state, std::move(made.report)};
  auto ready = NewModule(std::move(made.module), state->filename);
  ready->argument_names = state->argument_names;
  return {std::move(ready), std::move(made.report)};
}

Report MakeReport(const Module& module, int jobs, int64_t max_steps, const nb::object& progress,
                  std::optional<absl::string_view> sort, std::optional<int64_t> top,
                  absl::string_view machine) {
  if (top && *top < 1) ThrowInvalid(absl::StrCat("top is ", *top, ", and has to be at least 1"));
  ModuleReport none;
  if (sort) CheckOk(SortRows(*sort, &none));
  ReportOptions options = ReportOptions::For(MachineNamed(machine));
  options.jobs = jobs;
  options.max_steps = max_steps;
  MadeReport made = Make(module.state, options, progress);
  if (sort) CheckOk(SortRows(*sort, &made.report));
  return {std::move(made.state), module.state, std::move(options),
          std::make_shared<const ModuleReport>(std::move(made.report)), top};
}

// The page draws kernels, which takes another look at them.
std::string PageOf(const Report& self, const nb::object& progress) {
  ReportOptions options = self.options;
  options.with_drawings = true;
  return ReportPage(ReportJson(Make(self.source, std::move(options), progress).report));
}

std::string NameOf(const Row& self) {
  const HloInstruction& kernel = *self.row->instruction;
  if (kernel.parent() == self.of.state->module->entry_computation()) {
    return std::string(kernel.name());
  }
  return absl::StrCat(kernel.parent()->name(), "/", kernel.name());
}

std::optional<Interval> IfKnown(const Row& self, const Interval& bytes) {
  if (!self.Analysis().has_sectors) return std::nullopt;
  return bytes;
}

std::optional<Interval> Moved(const Row& self) {
  return IfKnown(self, self.Analysis().bytes_moved.Mul(self.row->runs));
}

// The name of an operand: the Python function's argument that it is, where that is known.
std::optional<std::string> WorstOf(const Row& self) {
  const KernelAnalysis& analysis = self.Analysis();
  if (!analysis.worst) return std::nullopt;
  const KernelAccess& access = analysis.accesses[*analysis.worst];
  const auto operands = self.row->instruction->operands();
  if (!access.is_write && access.operand < static_cast<int64_t>(operands.size())) {
    if (auto argument = ArgumentOf(*self.of.state, *operands[access.operand])) return argument;
  }
  return self.row->worst_operand;
}

std::optional<std::string> WorstMapOf(const Row& self) {
  const KernelAnalysis& analysis = self.Analysis();
  if (!analysis.worst || analysis.accesses[*analysis.worst].map.empty()) return std::nullopt;
  return analysis.accesses[*analysis.worst].map;
}

const ReportTotals& WholeOf(const Report& self) { return self.report->totals; }

std::optional<std::string> FileAndLineOf(const SourcePlace& place) {
  if (place.file.empty()) return std::nullopt;
  return place.line > 0 ? absl::StrCat(place.file, ":", place.line) : place.file;
}

// The texts of the findings of a kernel or a group.
template <typename Of>
std::vector<nb::str> FindingsOf(const Of& of) {
  std::vector<nb::str> texts;
  for (const Finding& finding : of.findings) texts.push_back(ToText(finding.text));
  return texts;
}

double Microseconds(const Row& self) {
  return self.Analysis().microseconds * static_cast<double>(self.row->counted_runs);
}

TableRow RowOfTotals(const ReportTotals& whole, const ReportTotals& totals) {
  const bool has_some = totals.without_sectors < totals.kernels;
  TableRow row;
  row["kernels"] = totals.kernels;
  row["microseconds"] = totals.microseconds;
  row["share"] = whole.microseconds > 0 ? totals.microseconds / whole.microseconds : 0;
  row["traffic"] = totals.traffic;
  row["moved"] = has_some ? std::optional(totals.bytes_moved) : std::nullopt;
  row["wasted"] = has_some ? std::optional(totals.bytes_wasted) : std::nullopt;
  row["bytes_read"] = totals.bytes_read;
  row["bytes_written"] = totals.bytes_written;
  return row;
}

// Without the computation where that is the entry.
nb::str ShortName(const Report& self, absl::string_view name) {
  const HloComputation* entry = self.state->module->entry_computation();
  if (entry != nullptr) absl::ConsumePrefix(&name, absl::StrCat(entry->name(), "/"));
  return ToText(name);
}

const SourcePlace& SourcePlaceOf(const Row& self) { return self.row->source; }

std::vector<TableRow> GroupsOf(const Report& self) {
  std::vector<TableRow> rows;
  for (const KernelGroup& group : self.report->groups) {
    const KernelAnalysis& analysis = self.report->analyses[group.analysis];
    TableRow& row = rows.emplace_back(RowOfTotals(self.report->totals, group.totals));
    row["kernel"] = ShortName(self, group.name);
    row["kind"] = analysis.kind;
    row["efficiency"] = EfficiencyOf(analysis);
    row["runs"] = group.runs;
    row["notes"] = AsPython(group.notes);
    row["findings"] = FindingsOf(group);
    row["not_known"] = AsPython(group.not_known);
    row["source"] = AsPython(FileAndLineOf(group.source));
    row["op_name"] = ToText(group.source.op_name);
  }
  return rows;
}

std::vector<TableRow> AdviceOf(const Report& self) {
  std::vector<TableRow> rows;
  for (const Advice& advice : self.report->advice) {
    TableRow& row = rows.emplace_back();
    row["kind"] = advice.kind;
    row["text"] = ToText(advice.text);
    row["microseconds"] = advice.microseconds;
    row["traffic"] = advice.traffic;
    row["memory"] = advice.memory;
    row["source"] = AsPython(FileAndLineOf(advice.source));
    row["op_name"] = ToText(advice.source.op_name);
  }
  return rows;
}

std::vector<TableRow> TotalsOf(const Report& self, absl::string_view by) {
  const ModuleReport& report = *self.report;
  if (by != "loop" && by != "module" && by != "source") {
    ThrowInvalid(absl::StrCat("totals are by 'loop', 'module' or 'source', and not by '", by, "'"));
  }
  std::vector<TableRow> rows;
  for (const NamedTotals& sum : by == "loop"     ? report.by_loop
                                : by == "module" ? report.by_module
                                                 : report.by_source) {
    TableRow& row = rows.emplace_back(RowOfTotals(report.totals, sum.totals));
    row["name"] = by == "loop" ? ShortName(self, sum.name) : ToText(sum.name);
  }
  return rows;
}

TableRow DictOf(nb::handle self) {
  TableRow row;
  for (const char* name : {"kernel", "kind", "wasted", "moved", "microseconds", "efficiency",
                           "runs", "reads_per_element", "bytes_read", "bytes_written", "worst",
                           "worst_map", "notes", "findings", "not_known", "source", "op_name"}) {
    row[name] = self.attr(name);
  }
  return row;
}

Row RowAt(const Report& self, int64_t i) {
  const auto count = static_cast<int64_t>(self.report->rows.size());
  if (i < 0) i += count;
  if (i < 0 || i >= count) throw nb::index_error("there is no such row");
  return {self, &self.report->rows[i]};
}

Instruction InstructionOf(const Row& self) { return {self.of.state, self.row->instruction}; }

void DefineRow(nb::module_& m) {
  Class<Row>(m, "KernelRow",
             "A kernel in a report; bytes are Intervals, of all its runs but where said.")
      .def_prop_ro("instruction", &InstructionOf,
                   "The fusion, or another instruction, that is the kernel.")
      .Property("kernel", &NameOf,
                "Its name, after that of its computation where that is not the entry.")
      .Property("kind", &Row::Analysis, &KernelAnalysis::kind,
                "'loop', 'transpose', 'reduction' and so on: the emitter of XLA that makes it; "
                "'library', 'communication', 'sort', 'transfer' where none does; 'while' for a "
                "loop, of which wasted and moved are those of the kernels inside.")
      .def_prop_ro(
          "wasted", [](const Row& self) { return IfKnown(self, self.row->bytes_wasted); },
          "Bytes that are moved and that no thread asked for; None if that is not known.")
      .def_prop_ro("moved", &Moved,
                   "Bytes in the sectors that are moved; None if that is not known.")
      .Property("efficiency", &Row::Analysis, &EfficiencyOf,
                "The fewest sectors that would do / sectors; None if they are not single numbers.")
      .def_prop_ro("microseconds", &Microseconds, "The least that the machine takes for all runs.")
      .Property("runs", &Row::Get, &KernelRow::runs, "How often it runs in a run of the module.")
      .Property("bytes_read", &Row::Analysis, &KernelAnalysis::bytes_read,
                "Of one run: bytes of the elements of its operands that it reads, each once.")
      .Property("bytes_written", &Row::Analysis, &KernelAnalysis::bytes_written,
                "Of one run: bytes of its result.")
      .Property("reads_per_element", &Row::Analysis, &KernelAnalysis::reads_per_element,
                "How often an element that is read is read, of the operand of which that is most.")
      .Property("worst", &WorstOf,
                "The operand, or 'the result', that wastes most; None if nothing is wasted.")
      .Property("worst_map", &WorstMapOf, "The map through which it does.")
      .Property("notes", &Row::Get, &KernelRow::notes,
                "Of a loop: how often it runs its body, and what one iteration reads. Of a copy "
                "that XLA would add: why.")
      .Property("findings", &Row::Get, &FindingsOf<KernelRow>,
                "What is wrong, and what would fix it.")
      .Property("not_known", &Row::Get, &KernelRow::not_known,
                "What is not exact or not known, a sentence each.")
      .Property(
          "source", &SourcePlaceOf, &FileAndLineOf,
          "The line of the program that the kernel comes from, 'file:line', where that is known.")
      .Property("op_name", &SourcePlaceOf, &SourcePlace::op_name)
      .def("to_dict", [](nb::handle_t<Row> self) { return DictOf(self); })
      .Repr([](const Row& self) {
        return absl::StrCat(NameOf(self), ", ", BytesText(self.row->bytes_wasted), " wasted");
      });
}

}  // namespace

void DefineReport(nb::module_& m, SubjectClasses& classes) {
  DefineRow(m);
  Class<Report>(m, "Report",
                R"doc(The kernels of a module, the one that takes most time first.

A sequence of KernelRow; str() is a table, and a notebook shows one. A loop has a row before those of the
kernels inside, whose bytes are its own.

    >>> m = xi.load("ENTRY e { p = f32[1024,1024] parameter(0)"
    ...             "  ROOT s = f32[1024,512] slice(p), slice={[0:1024], [0:1024:2]} }")
    >>> row = m.report()[0]
    >>> row.kernel, int(row.wasted), row.worst
    ('s', 2097152, 'p')
)doc")
      .def("__len__", [](const Report& self) { return self.report->rows.size(); })
      .def("__getitem__", &RowAt, "i"_a)
      .def(
          "sorted_by",
          [](const Report& self, absl::string_view column) {
            ModuleReport sorted = *self.report;
            CheckOk(SortRows(column, &sorted));
            return Report{self.state, self.source, self.options,
                          std::make_shared<const ModuleReport>(std::move(sorted)), self.top};
          },
          "column"_a, "The same rows in another order: by one of columns().")
      .def_static("columns", &ReportColumns, "What rows can be sorted by.")
      .def_prop_ro(
          "module", [](const Report& self) { return Module{self.state}; },
          "What the report is about: the module, with the copies that XLA would add where it has "
          "no schedule.")
      .Property("wasted", &WholeOf, &ReportTotals::bytes_wasted,
                "Bytes that all kernels of which it is known waste, in all runs.")
      .Property("moved", &WholeOf, &ReportTotals::bytes_moved,
                "Bytes that all kernels of which it is known move, in all runs.")
      .def(
          "rows",
          [](const Report& self) {
            std::vector<TableRow> rows;
            for (const KernelRow& row : self.report->rows) {
              rows.push_back(DictOf(nb::cast(Row{self, &row})));
            }
            return rows;
          },
          "A dict for each kernel.")
      .def(
          "to_json", [](const Report& self) { return ReportJson(*self.report); },
          "All that is known, as one line of JSON: what print-indexing --report=FILE.json writes.")
      .def("to_html", &PageOf, nb::kw_only(), "progress"_a = nb::none(),
           nb::sig("def to_html(self, *, progress: collections.abc.Callable[[int, int], object] | "
                   "None = None) -> str"),
           "A page to look at, which needs nothing else: what print-indexing --report=FILE.html "
           "writes.")
      .def(
          "to_text",
          [](const Report& self, std::optional<int64_t> top) {
            return ToText(ReportText(*self.report, {top}));
          },
          "top"_a = nb::none(),
          "Tables of the first rows: so many, or those that matter, as print-indexing --report.")
      .def(
          "__str__",
          [](const Report& self) { return ToText(ReportText(*self.report, {self.top})); },
          "Tables of the first rows, as many as report(top=) says.")
      .def_ro("top", &Report::top, "How many rows str() and a notebook show.")
      .def("groups", &GroupsOf,
           "A dict for each kernel that differs from the others in more than names, with sums over "
           "those that do not.")
      .def("advice", &AdviceOf,
           "What to do, what saves most first: a dict for each change that was made on the module, "
           "with the microseconds, the bytes of traffic and the bytes of memory that it saves by "
           "itself.")
      .def(
          "to_node_data",
          [](const Report& self, absl::string_view figure) {
            return ValueOf(NodeDataJson(*self.report, figure));
          },
          "figure"_a = "time",
          "A figure of each kernel, 'time', 'moved' or 'wasted', as node data for Model Explorer.")
      .def("totals", &TotalsOf, "by"_a,
           "Sums by 'loop', by 'module' of the model (the path in op_name) or by 'source' "
           "function, a dict for each. They add up to the whole.")
      .Property("about", &Report::report, &ModuleReport::about,
                "For what the module was compiled and is modelled, as far as it is known.")
      .Property("microseconds", &WholeOf, &ReportTotals::microseconds,
                "The least that the machine takes for all kernels.")
      .Property("traffic", &WholeOf, &ReportTotals::traffic,
                "Bytes that all kernels move at least.")
      .Repr([](const Report& self) {
        return absl::StrCat("of ", self.report->module, ", ", self.report->rows.size(), " kernels");
      })
      .Html("of_report");
  m.def("time_text", &TimeText, "microseconds"_a, R"doc(A time for people.

    >>> xi.time_text(0.25), xi.time_text(1500)
    ('250.0 ns', '1.5 ms')
)doc");
  m.def("bytes_text", &BytesText, "count"_a, R"doc(A number of bytes for people.

    >>> xi.bytes_text(xi.Interval(1536, 1536)), xi.bytes_text(xi.Interval(0, 2048))
    ('1.5 KiB', '0 B to 2.0 KiB')
)doc");
  classes.module.def(
      "report", &MakeReport, nb::kw_only(), "jobs"_a = 1, "max_steps"_a = ReportOptions().max_steps,
      "progress"_a = nb::none(), "sort"_a = nb::none(), "top"_a = nb::none(), "machine"_a = "h100",
      nb::sig("def report(self, *, jobs: int = 1, max_steps: int = 12000000, progress: "
              "collections.abc.Callable[[int, int], object] | None = None, sort: str | None = "
              "None, top: int | None = None, machine: str = 'h100') -> Report"),
      R"doc(The kernels of the module, and what each of them wastes of the memory traffic that it causes.

A kernel is a fusion, or an instruction outside of fusions that moves data. Its threads are those that
XLA's GPU backend would give it. What its warps ask for is moved in sectors of 32 bytes; wasted are the
bytes of sectors beyond those that the bytes of each request would fit in.

`jobs` threads work on it; at most `max_steps` steps of about a microsecond are taken, and what they
leave undecided says so. `progress(done, all)` is called after every kernel, without it a terminal shows a
bar; what it raises ends the report. `sort` is one of Report.columns(), such as 'moved'; without it what
takes most time comes first. str() and notebooks show the first `top` groups of equal kernels, without it
those that take or move 1% of the whole; the sequence has all kernels. `machine` is that whose memory and
peaks are taken: h100, h200, a100, mi300x or cpu.)doc");
}

}  // namespace xla_indexing::python
