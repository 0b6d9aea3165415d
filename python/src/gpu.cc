// What memory accesses of a GPU kernel cost: coalescing, bank conflicts; the kernel that XLA would make.

#include <nanobind/stl/variant.h>

#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "python/src/classes.h"
#include "python/src/common.h"
#include "python/src/indexing.h"
#include "python/src/subjects.h"
#include "xla_indexing/gpu/bank_conflicts.h"
#include "xla_indexing/gpu/coalescing.h"
#include "xla_indexing/gpu/fusion_mapping.h"
#include "xla_indexing/gpu/threads/emitter.h"
#include "xla_indexing/gpu/threads/thread_mapping.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/hlo/types/shape.h"

namespace xla_indexing::python {
namespace {

struct MapCost {
  std::string map;
  Coalescing cost;
};

// The accesses of the threads of one array to one parameter, or to a result.
struct AccessCost {
  bool is_write = false;
  int64_t number = 0;
  int64_t leaf = 0;
  std::string name;
  std::optional<Map> threads;
  std::vector<MapCost> maps;
};

struct CoalescingAnswer {
  std::string kind;  // of the emitter; empty for a mapping that was given
  std::optional<Instruction> hero;
  std::optional<Map> threads;
  std::vector<AccessCost> accesses;
};

Interval SectorsOf(const std::vector<AccessCost>& accesses) {
  Interval sectors = Interval::Point(0);
  for (const AccessCost& access : accesses) {
    for (const MapCost& map : access.maps) sectors = sectors.Add(map.cost.sectors);
  }
  return sectors;
}

// The name of a parameter of the computation that a question is about.
std::string NameOfAccessed(const Subject& subject, bool is_write, int64_t number, int64_t leaf) {
  return is_write ? absl::StrCat("output ", leaf) : NameOfOperand(subject, number);
}

struct GpuOptions {
  CoalescingOptions coalescing;
  EmitterOptions emitter;
};

// The accesses of the kernel that XLA would make.
CoalescingAnswer CoalescingOfKernel(const Subject& subject, const GpuOptions& options) {
  const Computation computation = ComputationOf(subject);
  return Locked(computation.state, [&] {
    mlir::MLIRContext* const context = &computation.state->context->mlir;
    const FusionCoalescing cost = ValueOf(
        CoalescingOfFusion(*computation.computation, context, options.emitter, options.coalescing));
    CoalescingAnswer answer;
    answer.kind = std::string(EmitterKindName(cost.mapping.kind));
    answer.hero = Instruction{computation.state, &cost.mapping.hero()};
    answer.threads = Map{computation.state->context, cost.mapping.array().mapping.map};
    const Subject of(computation);
    for (const AccessCoalescing& of_access : cost.accesses) {
      const ThreadAccess& access = of_access.access;
      AccessCost& row = answer.accesses.emplace_back();
      row.is_write = access.kind == ThreadAccess::Kind::kWrite;
      row.number = access.number;
      row.leaf = access.leaf;
      row.name = NameOfAccessed(of, row.is_write, access.number, access.leaf);
      row.threads = Map{computation.state->context, access.array.mapping.map};
      for (size_t i = 0; i < of_access.coalescing.size(); ++i) {
        row.maps.push_back({access.indexing.maps()[i].MapToString(), of_access.coalescing[i]});
      }
    }
    return answer;
  });
}

// The accesses of threads that go over one array of the result as a mapping says.
CoalescingAnswer CoalescingOfThreads(const Subject& subject, absl::string_view threads,
                                     int64_t output_leaf, const GpuOptions& options) {
  const HloInstruction* const result = subject.Result();
  if (result == nullptr) ThrowInvalid("the computation has no instruction");
  if (output_leaf < 0 || output_leaf >= result->shape().LeafCount()) {
    ThrowInvalid(absl::StrCat("there is no output leaf ", output_leaf));
  }
  const Shape& output = result->shape().Leaf(output_leaf);
  return Locked(subject.state, [&] {
    mlir::MLIRContext* const context = &subject.state->context->mlir;
    const CoalescingAnalysis analysis = ValueOf(CoalescingAnalysis::Create(
        ValueOf(ParseThreadMapping(threads, context)), output, options.coalescing));
    CoalescingAnswer answer;
    answer.threads = Map{subject.state->context, analysis.mapping().map};
    const SharedIndexing entries = ValueOf(
        AskUsual(subject, Direction::kOutputToInput, /*exact=*/false, OperandLeaf{0, output_leaf}));
    for (const IndexingEntry& entry : *entries) {
      AccessCost& row = answer.accesses.emplace_back();
      row.number = entry.operand;
      row.leaf = entry.operand_leaf;
      row.name = NameOfAccessed(subject, false, entry.operand, entry.operand_leaf);
      row.threads = answer.threads;
      const Shape& operand = subject.Operands()[entry.operand]->shape().Leaf(entry.operand_leaf);
      for (const OperandIndexing& map : entry.indexing) {
        row.maps.push_back({map.MapToString(), analysis.OfReads(map, operand)});
      }
    }
    AccessCost& writes = answer.accesses.emplace_back();
    writes.is_write = true;
    writes.leaf = output_leaf;
    writes.name = NameOfAccessed(subject, true, 0, output_leaf);
    writes.threads = answer.threads;
    writes.maps.push_back({"", analysis.OfWrites()});
    return answer;
  });
}

std::vector<TableRow> RowsOfCost(const AccessCost& access) {
  std::vector<TableRow> rows;
  const nb::object object = nb::cast(access);
  for (const MapCost& map : access.maps) {
    TableRow& row = rows.emplace_back();
    row["access"] = access.is_write ? "write" : "read";
    AddCells(object, {"number", "leaf", "name"}, &row);
    AddCells(nb::cast(map),
             {"map", "requests", "sectors", "least_sectors", "lines", "efficiency", "coalesced"},
             &row);
    row["reason"] = TextOrNone(map.cost.reason);
  }
  return rows;
}

void DefineCosts(nb::module_& m) {
  Class<MapCost>(m, "MapCoalescing",
                 "How the accesses through one map coalesce: sums over the launch.")
      .Property("map", &MapCost::map,
                "From elements of the threads' array to those that are accessed; empty for writes "
                "of the array.")
      .Property("requests", &MapCost::cost, &Coalescing::requests,
                "What warps ask memory for at once, an Interval.")
      .Property("sectors", &MapCost::cost, &Coalescing::sectors,
                "Sectors of 32 bytes that are moved, an Interval.")
      .Property("least_sectors", &MapCost::cost, &Coalescing::least_sectors,
                "The fewest that the bytes would fit in, an Interval.")
      .Property("lines", &MapCost::cost, &Coalescing::lines,
                "Lines of 128 bytes that are touched, an Interval.")
      .Property(
          "coalesced", &MapCost::cost, &Coalescing::coalesced,
          "Whether every request is within the factor of its least; None if that is not known.")
      .Property("efficiency", &MapCost::cost, &Coalescing::Efficiency,
                "least_sectors / sectors; None if they are not single numbers.")
      .Property("is_exact", &MapCost::cost, &Coalescing::IsExact)
      .Property("reason", &MapCost::cost, &Coalescing::reason,
                "Why nothing is known; empty where something is.");
  Class<AccessCost>(m, "AccessCoalescing",
                    "The accesses of a kernel to one parameter, or to one result.")
      .def_ro("is_write", &AccessCost::is_write)
      .def_ro("number", &AccessCost::number, "Of the parameter; 0 for the result.")
      .def_ro("leaf", &AccessCost::leaf)
      .Property("name", &AccessCost::name)
      .Property("threads", &AccessCost::threads,
                "From thread and block coordinates, loops and vectors to the elements of the array "
                "that the maps begin at.")
      .Property("maps", &AccessCost::maps, "The cost through each map.")
      .def("rows", &RowsOfCost)
      .Repr([](const AccessCost& self) {
        return absl::StrCat(self.is_write ? "write of " : "read of ", self.name, ", ",
                            CountText(SectorsOf({self})), " sectors");
      });
  Class<CoalescingAnswer>(m, "Coalescing", "How the warps of a launch access operands and result.")
      .Property(
          "kind", [](const CoalescingAnswer& self) { return TextOrNone(self.kind); },
          "The kind of kernel that XLA would make, such as 'loop', 'transpose' or 'reduction'; "
          "None if the threads were given.")
      .Property("hero", &CoalescingAnswer::hero,
                "The instruction that the kernel is built around; None if the threads were given.")
      .Property("threads", &CoalescingAnswer::threads,
                "From thread and block coordinates, loops and vectors to the elements that a "
                "thread works on.")
      .Property("accesses", &CoalescingAnswer::accesses)
      .def_prop_ro(
          "sectors", [](const CoalescingAnswer& self) { return SectorsOf(self.accesses); },
          "Sectors of 32 bytes that all accesses move, an Interval.")
      .def(
          "rows",
          [](const CoalescingAnswer& self) {
            std::vector<TableRow> rows;
            for (const AccessCost& access : self.accesses) {
              for (TableRow& row : RowsOfCost(access)) rows.push_back(std::move(row));
            }
            return rows;
          },
          "A dict for each map of each access.")
      .Repr([](const CoalescingAnswer& self) {
        return absl::StrCat(self.kind.empty() ? "" : self.kind + ", ",
                            CountText(SectorsOf(self.accesses)), " sectors");
      })
      .Html("of_rows");
}

template <typename Class>
void DefineCoalescingOf(nb::class_<Class>& type) {
  type.def(
      "coalescing",
      [](const Class& self, std::optional<absl::string_view> threads, int64_t output_leaf,
         int64_t warp_size, int64_t sector_bytes, int64_t line_bytes, int64_t alignment_bytes,
         double factor, int64_t core_count, int64_t threads_per_core) {
        const GpuOptions options = {{warp_size, sector_bytes, line_bytes, alignment_bytes, factor},
                                    {warp_size, core_count, threads_per_core}};
        const Subject subject(self);
        return threads ? CoalescingOfThreads(subject, *threads, output_leaf, options)
                       : CoalescingOfKernel(subject, options);
      },
      "threads"_a = nb::none(), nb::kw_only(), "output_leaf"_a = 0, "warp_size"_a = 32,
      "sector_bytes"_a = 32, "line_bytes"_a = 128, "alignment_bytes"_a = 256, "factor"_a = 1.25,
      "core_count"_a = 132, "threads_per_core"_a = 2048,
      R"doc(How well the warps of a kernel access operands and result.

Without `threads`: of the kernel that XLA's GPU backend would make of it as one fusion. With `threads`, the text
of a map from thread and block coordinates to the elements of the array `output_leaf` of the result: of those.

    >>> m = xi.load("ENTRY e { p = f32[1024,1024] parameter(0)"
    ...             "  ROOT t = f32[1024,1024] transpose(p), dimensions={1,0} }")
    >>> m["t"].coalescing().kind
    'transpose'
    >>> naive = m["t"].coalescing("(th_x, bl_x) -> (bl_x floordiv 8, (bl_x mod 8) * 128 + th_x), "
    ...                           "domain: th_x in [0, 127], bl_x in [0, 8191]")
    >>> int(naive.accesses[0].maps[0].sectors), naive.accesses[0].maps[0].efficiency
    (1048576, 0.125)

Error for options out of bounds, threads that do not fit, and arrays without bounds.
)doc");
}

// --- Bank conflicts ---

BankConflicts ConflictsOf(absl::string_view threads, const Shape& shape, int64_t warp_size,
                          int64_t banks, int64_t word_bytes,
                          const std::optional<std::tuple<int, int, int>>& swizzle) {
  BankOptions options;
  options.warp_size = warp_size;
  options.banks = banks;
  options.word_bytes = word_bytes;
  if (swizzle)
    options.swizzle = {std::get<0>(*swizzle), std::get<1>(*swizzle), std::get<2>(*swizzle)};
  return Interruptible([&] {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    return ValueOf(
        ComputeBankConflicts(ValueOf(ParseThreadMapping(threads, &context)), shape, options));
  });
}

void DefineBanks(nb::module_& m, SubjectClasses& classes) {
  Class<BankConflicts>(m, "BankConflicts",
                       "How the warps of a launch share the banks of shared memory.")
      .def_ro("requests", &BankConflicts::requests, "What warps ask for at once, an Interval.")
      .def_ro("wavefronts", &BankConflicts::wavefronts, "Cycles that they take, an Interval.")
      .def_ro("least_wavefronts", &BankConflicts::least_wavefronts,
              "Cycles that they would take without conflicts, an Interval.")
      .def_ro("worst_wavefronts", &BankConflicts::worst_wavefronts, "Cycles of the worst request.")
      .def_prop_ro("is_exact", &BankConflicts::IsExact)
      .Repr([](const BankConflicts& self) {
        return absl::StrCat(CountText(self.wavefronts), " wavefronts, least ",
                            CountText(self.least_wavefronts));
      });
  m.def(
      "bank_conflicts",
      [](absl::string_view threads, const std::variant<Shape, std::string>& shape,
         int64_t warp_size, int64_t banks, int64_t word_bytes,
         const std::optional<std::tuple<int, int, int>>& swizzle) {
        const auto* const text = std::get_if<std::string>(&shape);
        const Shape array = text != nullptr ? ParsedOf(ParseShape(*text)) : std::get<Shape>(shape);
        return ConflictsOf(threads, array, warp_size, banks, word_bytes, swizzle);
      },
      "threads"_a, "shape"_a, nb::kw_only(), "warp_size"_a = 32, "banks"_a = 32, "word_bytes"_a = 4,
      "swizzle"_a = nb::none(),
      R"doc(How accesses to an array in shared memory share its banks.

`threads` is the text of a map from thread and block coordinates to indices of the array, `swizzle` the bits
(bits, target, source) of the byte address that are XORed into others.

    >>> column = "(th_x) -> (th_x, 0), domain: th_x in [0, 31]"
    >>> int(xi.bank_conflicts(column, "f32[32,32]").wavefronts), int(xi.bank_conflicts(column, "f32[32,33]").wavefronts)
    (32, 1)

Error for options out of bounds, and where the threads do not fit the array.
)doc");
  classes.instruction.def(
      "bank_conflicts",
      [](const Instruction& self, absl::string_view threads, int64_t warp_size, int64_t banks,
         int64_t word_bytes, const std::optional<std::tuple<int, int, int>>& swizzle) {
        const Shape& shape = self.instruction->shape();
        if (shape.LeafCount() == 0) ThrowInvalid("the result has no array");
        return ConflictsOf(threads, shape.Leaf(0), warp_size, banks, word_bytes, swizzle);
      },
      "threads"_a, nb::kw_only(), "warp_size"_a = 32, "banks"_a = 32, "word_bytes"_a = 4,
      "swizzle"_a = nb::none(),
      "bank_conflicts() of accesses to the instruction's result (its first array) in shared "
      "memory.");
}

}  // namespace

void DefineGpu(nb::module_& m, SubjectClasses& classes) {
  DefineCosts(m);
  DefineCoalescingOf(classes.instruction);
  DefineCoalescingOf(classes.computation);
  DefineBanks(m, classes);
}

}  // namespace xla_indexing::python
