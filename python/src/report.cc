// The report about the kernels of a module (xla_indexing/report/kernel_report.h).

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "python/src/common.h"
#include "xla_indexing/report/analysis/report_kernels.h"
#include "xla_indexing/report/kernel_report.h"
#include "xla_indexing/report/write/report_json.h"
#include "xla_indexing/report/write/report_page.h"
#include "xla_indexing/report/write/report_text.h"

namespace xla_indexing::python {
namespace {

constexpr int64_t kRowsShown = 20;

struct Report {
  SharedModule state;
  ReportOptions options;  // without its callback
  std::shared_ptr<const ModuleReport> report;
  int64_t top = kRowsShown;  // rows of str()
};

// A row, and the report that keeps it.
struct Row {
  Report of;
  const KernelRow* row = nullptr;

  const KernelAnalysis& Analysis() const { return of.report->AnalysisOf(*row); }
};

// Makes a report without the GIL. `progress` is called with how many kernels of how many are done,
// and shows it on a terminal where it is None; what it raises, and an interrupt, ends the report.
ModuleReport Make(const SharedModule& state, ReportOptions options, nb::object progress) {
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
  absl::StatusOr<ModuleReport> report =
      Interruptible([&] { return ReportKernels(*state->module, options); });
  if (bar.is_valid()) bar.attr("end")();
  if (raised) std::rethrow_exception(raised);
  return ValueOf(std::move(report));
}

Report MakeReport(const Module& module, int jobs, int64_t max_steps, const nb::object& progress,
                  std::optional<absl::string_view> sort, int64_t top) {
  if (top < 1) ThrowInvalid(absl::StrCat("top is ", top, ", and has to be at least 1"));
  ModuleReport none;
  if (sort) CheckOk(SortRows(*sort, &none));
  ReportOptions options;
  options.jobs = jobs;
  options.max_steps = max_steps;
  ModuleReport report = Make(module.state, options, progress);
  if (sort) CheckOk(SortRows(*sort, &report));
  return {module.state, std::move(options), std::make_shared<const ModuleReport>(std::move(report)),
          top};
}

// The page draws kernels, which takes another look at them.
std::string PageOf(const Report& self, const nb::object& progress) {
  ReportOptions options = self.options;
  options.with_drawings = true;
  const ModuleReport report = Make(self.state, std::move(options), progress);
  return ReportPage(ReportJson(report));
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

std::optional<std::string> SourceOf(const Row& self) {
  const SourcePlace& place = self.row->source;
  if (place.file.empty()) return std::nullopt;
  return place.line > 0 ? absl::StrCat(place.file, ":", place.line) : place.file;
}

std::vector<nb::str> ToTexts(const std::vector<std::string>& texts) {
  std::vector<nb::str> result;
  for (const std::string& text : texts) result.push_back(ToText(text));
  return result;
}

nb::object ToTextOrNone(const std::optional<std::string>& text) {
  return text ? nb::object(ToText(*text)) : nb::none();
}

nb::dict DictOf(const Row& self) {
  const KernelAnalysis& analysis = self.Analysis();
  nb::dict dict;
  dict["kernel"] = ToText(NameOf(self));
  dict["kind"] = analysis.kind;
  dict["wasted"] = nb::cast(IfKnown(self, self.row->bytes_wasted));
  dict["moved"] = nb::cast(Moved(self));
  dict["efficiency"] = nb::cast(EfficiencyOf(analysis));
  dict["runs"] = nb::cast(self.row->runs);
  dict["reads_per_element"] = nb::cast(analysis.reads_per_element);
  dict["bytes_read"] = nb::cast(analysis.bytes_read);
  dict["bytes_written"] = nb::cast(analysis.bytes_written);
  dict["worst"] = ToTextOrNone(WorstOf(self));
  dict["worst_map"] = ToTextOrNone(WorstMapOf(self));
  dict["notes"] = nb::cast(ToTexts(self.row->notes));
  dict["findings"] = nb::cast(ToTexts(self.row->findings));
  dict["not_known"] = nb::cast(ToTexts(self.row->not_known));
  dict["source"] = ToTextOrNone(SourceOf(self));
  dict["op_name"] = ToText(self.row->source.op_name);
  return dict;
}

Row RowAt(const Report& self, int64_t i) {
  const auto count = static_cast<int64_t>(self.report->rows.size());
  if (i < 0) i += count;
  if (i < 0 || i >= count) throw nb::index_error("there is no such row");
  return {self, &self.report->rows[i]};
}

Instruction InstructionOf(const Row& self) { return {self.of.state, self.row->instruction}; }

void DefineRow(nb::module_& m) {
  nb::class_<Row>(m, "KernelRow",
                  "A kernel in a report; bytes are Intervals, of all its runs but where said.")
      .def_prop_ro("instruction", &InstructionOf,
                   "The fusion, or another instruction, that is the kernel.")
      .def_prop_ro(
          "kernel", [](const Row& self) { return ToText(NameOf(self)); },
          "Its name, after that of its computation where that is not the entry.")
      .def_prop_ro(
          "kind", [](const Row& self) { return self.Analysis().kind; },
          "'loop', 'transpose', 'reduction' and so on: the emitter of XLA that makes it; "
          "'library', "
          "'communication', 'sort', 'transfer' where none does; 'while' for a loop, of which "
          "wasted and "
          "moved are those of the kernels inside.")
      .def_prop_ro(
          "wasted", [](const Row& self) { return IfKnown(self, self.row->bytes_wasted); },
          "Bytes that are moved and that no thread asked for; None where that is not known.")
      .def_prop_ro("moved", &Moved,
                   "Bytes in the sectors that are moved; None where that is not known.")
      .def_prop_ro(
          "efficiency", [](const Row& self) { return EfficiencyOf(self.Analysis()); },
          "The fewest sectors that would do / sectors; None where they are not single numbers.")
      .def_prop_ro(
          "runs", [](const Row& self) { return self.row->runs; },
          "How often it runs in a run of the module.")
      .def_prop_ro(
          "bytes_read", [](const Row& self) { return self.Analysis().bytes_read; },
          "Of one run: bytes of the elements of its operands that it reads, each once.")
      .def_prop_ro(
          "bytes_written", [](const Row& self) { return self.Analysis().bytes_written; },
          "Of one run: bytes of its result.")
      .def_prop_ro(
          "reads_per_element", [](const Row& self) { return self.Analysis().reads_per_element; },
          "How often an element that is read is read, of the operand of which that is most.")
      .def_prop_ro(
          "worst", [](const Row& self) { return ToTextOrNone(WorstOf(self)); },
          "The operand, or 'the result', that wastes most; None where nothing is wasted.",
          nb::sig("def worst(self) -> str | None"))
      .def_prop_ro(
          "worst_map", [](const Row& self) { return ToTextOrNone(WorstMapOf(self)); },
          "The map through which it does.", nb::sig("def worst_map(self) -> str | None"))
      .def_prop_ro(
          "notes", [](const Row& self) { return ToTexts(self.row->notes); },
          "Of a loop: how often it runs its body, and what one iteration reads.")
      .def_prop_ro(
          "findings", [](const Row& self) { return ToTexts(self.row->findings); },
          "What is wrong, and what would fix it.")
      .def_prop_ro(
          "not_known", [](const Row& self) { return ToTexts(self.row->not_known); },
          "What is not exact or not known, a sentence each.")
      .def_prop_ro(
          "source", [](const Row& self) { return ToTextOrNone(SourceOf(self)); },
          "The line of the program that the kernel comes from, 'file:line', where that is known.",
          nb::sig("def source(self) -> str | None"))
      .def_prop_ro("op_name", [](const Row& self) { return ToText(self.row->source.op_name); })
      .def("to_dict", &DictOf, nb::sig("def to_dict(self) -> dict[str, typing.Any]"))
      .def("__repr__", [](const Row& self) {
        return ReprOf("KernelRow", absl::StrCat(NameOf(self), ", ",
                                                BytesText(self.row->bytes_wasted), " wasted"));
      });
}

}  // namespace

void DefineReport(nb::module_& m, SubjectClasses& classes) {
  DefineRow(m);
  nb::class_<Report>(m, "Report",
                     R"doc(The kernels of a module, the one that wastes most memory traffic first.

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
            return Report{self.state, self.options,
                          std::make_shared<const ModuleReport>(std::move(sorted)), self.top};
          },
          "column"_a, "The same rows in another order: by one of columns().")
      .def_static(
          "columns",
          [] {
            std::vector<std::string> names;
            for (absl::string_view name : ReportColumns()) names.emplace_back(name);
            return names;
          },
          "What rows can be sorted by.")
      .def_prop_ro("module", [](const Report& self) { return Module{self.state}; })
      .def_prop_ro(
          "wasted", [](const Report& self) { return self.report->totals.bytes_wasted; },
          "Bytes that all kernels of which it is known waste, in all runs.")
      .def_prop_ro(
          "moved", [](const Report& self) { return self.report->totals.bytes_moved; },
          "Bytes that all kernels of which it is known move, in all runs.")
      .def(
          "rows",
          [](const Report& self) {
            std::vector<nb::dict> rows;
            for (const KernelRow& row : self.report->rows) rows.push_back(DictOf({self, &row}));
            return rows;
          },
          "A dict for each kernel.", nb::sig("def rows(self) -> list[dict[str, typing.Any]]"))
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
          [](const Report& self, int64_t top) { return ToText(ReportText(*self.report, {top})); },
          "top"_a = kRowsShown, "A table of the first rows.")
      .def(
          "__str__",
          [](const Report& self) { return ToText(ReportText(*self.report, {self.top})); },
          "A table of the first rows, as many as report(top=) says.")
      .def_ro("top", &Report::top, "How many rows str() and a notebook show.")
      .def("__repr__",
           [](const Report& self) {
             return ReprOf("Report", absl::StrCat("of ", self.report->module, ", ",
                                                  self.report->rows.size(), " kernels"));
           })
      .def("_repr_html_", [](const nb::object& self) { return HtmlOf("of_report", self); });
  m.def("bytes_text", &BytesText, "count"_a, R"doc(A number of bytes for people.

    >>> xi.bytes_text(xi.Interval(1536, 1536)), xi.bytes_text(xi.Interval(0, 2048))
    ('1.5 KiB', '0 B to 2.0 KiB')
)doc");
  classes.module.def(
      "report", &MakeReport, nb::kw_only(), "jobs"_a = 1, "max_steps"_a = ReportOptions().max_steps,
      "progress"_a = nb::none(), "sort"_a = nb::none(), "top"_a = kRowsShown,
      nb::sig("def report(self, *, jobs: int = 1, max_steps: int = 12000000, "
              "progress: collections.abc.Callable[[int, int], object] | None = None, "
              "sort: str | None = None, top: int = 20) -> Report"),
      R"doc(The kernels of the module, and what each of them wastes of the memory traffic that it causes.

A kernel is a fusion, or an instruction outside of fusions that moves data. Its threads are those that
XLA's GPU backend would give it. What its warps ask for is moved in sectors of 32 bytes; wasted are the
bytes of sectors beyond those that the bytes of each request would fit in.

`jobs` threads work on it; at most `max_steps` steps of about a microsecond are taken, and what they
leave undecided says so. `progress(done, all)` is called after every kernel, without it a terminal shows a
bar; what it raises ends the report. `sort` is one of Report.columns(), such as 'moved'; without it the most
wasteful kernels come first. str() and notebooks show the first `top` rows; the sequence has all.)doc");
}

}  // namespace xla_indexing::python
