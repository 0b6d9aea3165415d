// Random loops, executed step by step, against the maps of all their iterations.
//
// A loop counts from a random start by a random step, up or down, to a limit that is compared in a
// random way, constant, computed or carried along. Its leaves are arrays of as many rows as it has
// steps and a few arrays of other sizes. Each is carried unchanged, or computed in one of the ways of
// programs: rows of others written at a row that is a function of the counter, rows read, rows
// turned, moved by one or both, summed, recurrences of one leaf or several. Rows are written as programs
// write them: i, n - 1 - i, i + 0, select(i < 0, i + n, i), i mod 5, clamp, min, a converted counter.
//
// Some loops also compute values, of a number and a table that they carry: rows are read and written
// where these say, gathered and scattered by them, and branches are taken. Others begin with a number
// that the module does not fix, and that is only added to: rows are read and written so far from it.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/check_module.h"
#include "tests/testing/effort.h"
#include "tests/testing/random.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/map/sets/decision.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/parts/direction.h"
#include "xla_indexing/query/equivalence/equivalence.h"

namespace xla_indexing::reference {
namespace {

// How a loop runs, and how its module is written.
struct LoopForm {
  int64_t count = 0;
  // How many rows the arrays have. Without a number they have as many as there are steps, or one
  // more.
  std::optional<int64_t> rows = std::nullopt;
  bool has_inner_loops = false;
  // Whether XLA's backend_config says how often the loop runs.
  bool tells_count = false;
  // Without a while: the body is called as often as it runs.
  bool is_unrolled = false;
  // Whether iterations compute where they read and write.
  bool computes_values = false;
  // Whether rows are at places that are so far from a number that the loop begins with. Beside
  // `computes_values`, whose numbers these are then.
  bool has_start = false;
};

class RandomLoop {
 public:
  RandomLoop(uint64_t seed, const LoopForm& form)
      : random_(seed), form_(form), count_(form.count) {}

  std::string Text() {
    rows_ = std::max<int64_t>(count_, 1) + random_.Between(0, 1);
    width_ = random_.Between(1, 3);
    if (form_.rows) rows_ = *form_.rows;
    const int64_t step = random_.Between(1, 3) * (random_.Between(0, 2) == 0 ? -1 : 1);
    const int64_t start = random_.Between(-3, 5);
    num_arrays_ = random_.Between(1, 4);
    array_ = absl::StrCat("f32[", rows_, ",", width_, "]");
    const bool limit_is_carried = random_.Between(0, 3) == 0;
    table_ = absl::StrCat("s32[", rows_, "]");
    std::string state = "(s32[], s32[]";
    if (form_.computes_values) absl::StrAppend(&state, ", s32[], ", table_);
    const int64_t first_array = form_.computes_values ? 4 : 2;
    for (int64_t k = 0; k < num_arrays_; ++k) absl::StrAppend(&state, ", ", array_);
    state.push_back(')');

    Line("p = ", state, " parameter(0)");
    Line("counter = s32[] get-tuple-element(p), index=0");
    Line("carried = s32[] get-tuple-element(p), index=1");
    for (int64_t k = 0; k < num_arrays_; ++k) {
      Line("a", k, " = ", array_, " get-tuple-element(p), index=", k + first_array);
    }
    if (form_.computes_values) {
      Line("m = s32[] get-tuple-element(p), index=2");
      Line("table = ", table_, " get-tuple-element(p), index=3");
      Line("five = s32[] constant(5)");
      Line("seven = s32[] constant(7)");
    }
    Line("zero = s32[] constant(0)");
    Line("rows = s32[] constant(", rows_, ")");
    Line("last = s32[] constant(", rows_ - 1, ")");
    Line("start = s32[] constant(", start, ")");
    Line("step = s32[] constant(", step, ")");
    // i = 0, 1, 2, ..
    Line("from_start = s32[] subtract(counter, start)");
    Line("i = s32[] divide(from_start, step)");
    Line(random_.Between(0, 1) == 0 ? "next = s32[] add(counter, step)"
                                    : "next = s32[] add(step, counter)");
    std::vector<std::string> results = {"next", "carried"};
    if (form_.computes_values) {
      results.push_back(NextNumber());
      results.push_back(NextTable());
    }
    for (int64_t k = 0; k < num_arrays_; ++k) results.push_back(NextOf(k));
    const std::string body = std::exchange(lines_, "");

    Line("p = ", state, " parameter(0)");
    Line("counter = s32[] get-tuple-element(p), index=0");
    Line("carried = s32[] get-tuple-element(p), index=1");
    AddCondition(start, step, limit_is_carried);
    const std::string condition = std::exchange(lines_, "");

    Line("start = s32[] constant(", start, ")");
    Line("limit = s32[] constant(", start + count_ * step, ")");
    std::vector<std::string> inits = {"start", "limit"};
    if (form_.computes_values) {
      Line("number = s32[] parameter(", num_arrays_, ")");
      // Sometimes a number at the end of what the type holds.
      const int64_t end = random_.Between(0, 4);
      const int64_t far = end == 0 ? 2147483645 : end == 1 ? -2147483646 : 0;
      Line("far = s32[] constant(", form_.has_start ? far : 0, ")");
      Line("m = s32[] add(number, far)");
      Line("table = ", table_, " parameter(", num_arrays_ + 1, ")");
      inits.push_back("m");
      inits.push_back("table");
    }
    for (int64_t k = 0; k < num_arrays_; ++k) {
      Line("a", k, " = ", array_, " parameter(", k, ")");
      inits.push_back(absl::StrCat("a", k));
    }
    Line("s = ", state, " tuple(", absl::StrJoin(inits, ", "), ")");
    if (form_.is_unrolled) {
      Line("s0 = ", state, " copy(s)");
      for (int64_t k = 0; k < count_; ++k) {
        Line("s", k + 1, " = ", state, " call(s", k, "), to_apply=body");
      }
      Line("ROOT w = ", state, " copy(s", count_, ")");
    } else {
      Line("ROOT w = ", state, " while(s), condition=condition, body=body",
           form_.tells_count
               ? absl::StrCat(R"(, backend_config={"known_trip_count":{"n":")", count_, R"("}})")
               : "");
    }
    return absl::StrCat("HloModule m\n", functions_, "body {\n", body, "ROOT t = ", state,
                        " tuple(", absl::StrJoin(results, ", "), ")\n}\ncondition {\n", condition,
                        "}\nENTRY e {\n", lines_, "}\n");
  }

 private:
  template <typename... Parts>
  void Line(const Parts&... parts) {
    absl::StrAppend(&lines_, parts..., "\n");
  }
  // A line with a value of its own name.
  template <typename... Parts>
  std::string Value(const std::string& shape, const Parts&... parts) {
    std::string name = absl::StrCat("v", next_++);
    absl::StrAppend(&lines_, name, " = ", shape, " ", parts..., "\n");
    return name;
  }

  void AddCondition(int64_t start, int64_t step, bool limit_is_carried) {
    const bool up = step > 0;
    std::string limit = "carried";
    std::string direction = up ? "LT" : "GT";
    const int64_t end = start + count_ * step;
    if (!limit_is_carried) {
      const int64_t kind = random_.Between(0, 3);
      if (kind == 0) {
        direction = "NE";
        Line("limit = s32[] constant(", end, ")");
      } else if (kind == 1) {
        direction = up ? "LE" : "GE";
        Line("limit = s32[] constant(", up ? end - 1 : end + 1, ")");
      } else if (kind == 2) {
        Line("half = s32[] constant(", end - 7, ")");
        Line("rest = s32[] constant(7)");
        Line("limit = s32[] add(half, rest)");
      } else {
        Line("limit = s32[] constant(", end, ")");
      }
      limit = "limit";
    }
    if (random_.Between(0, 2) == 0) {
      absl::StrAppend(&functions_, "compare {\n x = s32[] parameter(0)\n y = s32[] parameter(1)\n",
                      " ROOT c = pred[] compare(x, y), direction=", direction, "\n}\n");
      Line("ROOT c = pred[] fusion(counter, ", limit, "), kind=kLoop, calls=compare");
    } else {
      Line("ROOT c = pred[] compare(counter, ", limit, "), direction=", direction);
    }
  }

  std::string Array(int64_t k) const { return absl::StrCat("a", k); }
  std::string AnyArray() { return Array(random_.Between(0, num_arrays_ - 1)); }

  // A row that is so far from the number that the loop carries.
  std::string RowFromStart() {
    const int64_t kind = random_.Between(0, 4);
    const std::string place = kind == 0 ? "m"
                                        : Value("s32[]", kind == 1   ? "subtract(m, i)"
                                                         : kind == 2 ? "subtract(i, m)"
                                                                     : "add(m, i)");
    if (random_.Between(0, 3) > 0) return place;
    const std::string is_negative = Value("pred[]", "compare(", place, ", zero), direction=LT");
    const std::string from_end = Value("s32[]", "add(", place, ", rows)");
    return Value("s32[]", "select(", is_negative, ", ", from_end, ", ", place, ")");
  }

  // A number that is computed of what the loop carries.
  std::string ComputedNumber() {
    if (form_.has_start) return RowFromStart();
    switch (random_.Between(0, 8)) {
      case 0: {
        // The place of the largest element.
        if (functions_.find("larger {") == std::string::npos) {
          absl::StrAppend(&functions_,
                          "larger {\n a = s32[] parameter(0)\n b = s32[] parameter(1)\n",
                          " c = s32[] parameter(2)\n d = s32[] parameter(3)\n",
                          " is = pred[] compare(a, c), direction=GE\n",
                          " x = s32[] select(is, a, c)\n y = s32[] select(is, b, d)\n",
                          " ROOT t = (s32[], s32[]) tuple(x, y)\n}\n");
        }
        const std::string places = Value(table_, "iota(), iota_dimension=0");
        const std::string least = Value("s32[]", "constant(-2147483648)");
        const std::string both = Value("(s32[], s32[])", "reduce(table, ", places, ", ", least,
                                       ", zero), dimensions={0}, to_apply=larger");
        return Value("s32[]", "get-tuple-element(", both, "), index=1");
      }
      case 1:
        return Value("s32[]", "add(i, ", TableAt(Row()), ")");
      case 2:
        return Value("s32[]", "clamp(zero, m, last)");
      case 3: {
        const std::string is_less = Value("pred[]", "compare(m, five), direction=LT");
        const std::string other = Value("s32[]", "subtract(last, i)");
        return Value("s32[]", "select(", is_less, ", i, ", other, ")");
      }
      case 4: {
        const std::string is_negative = Value("pred[]", "compare(m, zero), direction=LT");
        const std::string from_end = Value("s32[]", "add(m, rows)");
        return Value("s32[]", "select(", is_negative, ", ", from_end, ", m)");
      }
      case 5:
        return Value("s32[]", "remainder(m, rows)");
      case 6:
        return "m";
      default:
        return TableAt(Row());
    }
  }
  std::string TableAt(const std::string& place) {
    return Value("s32[]", "reshape(",
                 Value("s32[1]", "dynamic-slice(table, ", place, "), dynamic_slice_sizes={1}"),
                 ")");
  }
  std::string NextNumber() {
    if (form_.has_start) {
      const int64_t step = random_.Between(-1, 2);
      return step == 0 ? "m"
                       : Value("s32[]", "add(m, ", Value("s32[]", "constant(", step, ")"), ")");
    }
    switch (random_.Between(0, 4)) {
      case 0:
        return "m";
      case 1:
        return ComputedNumber();
      case 2:
        return Value("s32[]", "add(m, ", Value("s32[]", "constant(1)"), ")");
      default: {
        const std::string times = Value("s32[]", "multiply(m, five)");
        return Value("s32[]", "and(", Value("s32[]", "add(", times, ", i)"), ", seven)");
      }
    }
  }
  std::string NextTable() {
    if (form_.has_start) return "table";
    switch (random_.Between(0, 5)) {
      case 0: {
        const std::string one = Value("s32[1]", "reshape(", ComputedNumber(), ")");
        return Value(table_, "dynamic-update-slice(table, ", one, ", ", Place(), ")");
      }
      case 1:
        return Value(table_, "add(table, ",
                     Value(table_, "broadcast(", ComputedNumber(), "), dimensions={}"), ")");
      case 2:
        return Value(table_, "reverse(table), dimensions={0}");
      default:
        return "table";
    }
  }
  // A row that is a function of i or, in loops that compute them, another one.
  std::string Place() {
    if (!form_.computes_values || random_.Between(0, 2) == 0) return Row();
    return ComputedNumber();
  }

  // What computed values make of an array in ways of their own.
  std::string ByValues(const std::string& self) {
    switch (random_.Between(0, 4)) {
      case 0: {
        // Rows are added to what is there.
        const std::string row = absl::StrCat("f32[1,", width_, "]");
        const std::string place = Place();
        const std::string sizes = absl::StrCat(", zero), dynamic_slice_sizes={1,", width_, "}");
        const std::string old = Value(row, "dynamic-slice(", self, ", ", place, sizes);
        const std::string sum = Value(row, "add(", old, ", ", RowOf(AnyArray()), ")");
        return Value(array_, "dynamic-update-slice(", self, ", ", sum, ", ", place, ", zero)");
      }
      case 1:
        return Value(array_, "gather(", AnyArray(), ", table), offset_dims={1}, ",
                     "collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, ",
                     "slice_sizes={1,", width_, "}");
      case 2: {
        const std::string combiner = random_.Between(0, 1) == 0 ? "added" : "replaced";
        if (functions_.find(combiner + " {") == std::string::npos) {
          absl::StrAppend(&functions_, combiner,
                          " {\n x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT s = f32[] ",
                          combiner == "added" ? "add(x, y)" : "copy(y)", "\n}\n");
        }
        return Value(array_, "scatter(", self, ", table, ", AnyArray(),
                     "), update_window_dims={1}, inserted_window_dims={0}, ",
                     "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=", combiner);
      }
      default: {
        const std::string state = absl::StrCat("(", array_, ", ", array_, ")");
        const std::string name = absl::StrCat("branch", next_++);
        const char* const kResults[] = {"add(a, b)", "copy(a)", "copy(b)",
                                        "reverse(a), dimensions={0}"};
        for (const std::string& branch : {name + "_0", name + "_1"}) {
          absl::StrAppend(&functions_, branch, " {\n p = ", state, " parameter(0)\n a = ", array_,
                          " get-tuple-element(p), index=0\n b = ", array_,
                          " get-tuple-element(p), index=1\n ROOT r = ", array_, " ",
                          kResults[random_.Between(0, 3)], "\n}\n");
        }
        const std::string both = Value(state, "tuple(", self, ", ", AnyArray(), ")");
        const std::string is_less =
            Value("pred[]", "compare(", ComputedNumber(), ", five), direction=LT");
        return Value(array_, "conditional(", is_less, ", ", both, ", ", both,
                     "), true_computation=", name, "_0, false_computation=", name, "_1");
      }
    }
  }

  // A row, as a function of i.
  std::string Row() {
    switch (random_.Between(0, 9)) {
      case 0:
        return Value("s32[]", "add(i, zero)");
      case 1:
      case 2:
        return Value("s32[]", "subtract(last, i)");
      case 3: {
        const std::string is_negative = Value("pred[]", "compare(i, zero), direction=LT");
        const std::string from_end = Value("s32[]", "add(i, rows)");
        return Value("s32[]", "select(", is_negative, ", ", from_end, ", i)");
      }
      case 4: {
        const std::string wide = Value("s64[]", "convert(i)");
        return Value("s32[]", "convert(", wide, ")");
      }
      case 5:
        return Value("s32[]", "minimum(i, last)");
      case 6:
        return "zero";
      case 7: {
        const std::string copy = Value("s32[]", "copy(i)");
        return Value("s32[]", "clamp(zero, ", copy, ", last)");
      }
      case 8: {
        // A ring.
        const int64_t size = random_.Between(2, 9);
        return Value("s32[]", "remainder(i, ", Value("s32[]", "constant(", size, ")"), ")");
      }
      default:
        return "i";
    }
  }

  std::string RowOf(const std::string& array) {
    return Value(absl::StrCat("f32[1,", width_, "]"), "dynamic-slice(", array, ", ", Place(),
                 ", zero), dynamic_slice_sizes={1,", width_, "}");
  }

  std::string RowsSummed(const std::string& array) {
    if (functions_.find("sum {") == std::string::npos) {
      absl::StrAppend(&functions_, "sum {\n x = f32[] parameter(0)\n y = f32[] parameter(1)\n",
                      " ROOT s = f32[] add(x, y)\n}\n");
    }
    const std::string nothing = Value("f32[]", "constant(0)");
    return Value(absl::StrCat("f32[", width_, "]"), "reduce(", array, ", ", nothing,
                 "), dimensions={0}, to_apply=sum");
  }

  // What a loop of a few steps, of its own, makes of two arrays.
  std::string InnerLoop(const std::string& a, const std::string& b) {
    const std::string name = absl::StrCat("inner", next_++);
    const std::string state = absl::StrCat("(s32[], ", array_, ", ", array_, ", s32[])");
    const std::string row = absl::StrCat("f32[1,", width_, "]");
    const auto place = [&] {
      const std::vector<std::string> places = {"j", "from_end", "m", "from_m"};
      return places[random_.Between(0, form_.computes_values ? 3 : 1)];
    };
    const std::string to = place();
    const std::string from = place();
    const std::string source = random_.Between(0, 1) == 0 ? "a" : "b";
    std::string result;
    switch (random_.Between(0, 3)) {
      case 0:
        result = absl::StrCat("add(a, b)");
        break;
      case 1:
        result = absl::StrCat("reverse(", source, "), dimensions={0}");
        break;
      default:
        result = absl::StrCat("dynamic-update-slice(a, row, ", to, ", zero)");
    }
    absl::StrAppend(
        &functions_, name, "_body {\n p = ", state, " parameter(0)\n",
        " j = s32[] get-tuple-element(p), index=0\n a = ", array_,
        " get-tuple-element(p), index=1\n b = ", array_, " get-tuple-element(p), index=2\n",
        " m = s32[] get-tuple-element(p), index=3\n from_m = s32[] add(m, j)\n",
        " zero = s32[] constant(0)\n one = s32[] constant(1)\n k = s32[] add(j, one)\n",
        " last = s32[] constant(", rows_ - 1,
        ")\n from_end = s32[] subtract(last, j)\n row = ", row, " dynamic-slice(", source, ", ",
        from, ", zero), dynamic_slice_sizes={1,", width_, "}\n c = ", array_, " ", result,
        "\n ROOT t = ", state, " tuple(k, c, b, m)\n}\n", name, "_condition {\n p = ", state,
        " parameter(0)\n j = s32[] get-tuple-element(p), index=0\n", " n = s32[] constant(",
        random_.Between(1, std::min<int64_t>(rows_, 3)),
        ")\n ROOT c = pred[] compare(j, n), direction=LT\n}\n");
    const std::string begin = Value(state, "tuple(zero, ", a, ", ", b, ", ",
                                    form_.computes_values ? ComputedNumber() : "zero", ")");
    const std::string end =
        Value(state, "while(", begin, "), condition=", name, "_condition, body=", name, "_body");
    return Value(array_, "get-tuple-element(", end, "), index=1");
  }

  // What the body makes of leaf k.
  std::string NextOf(int64_t k) {
    const std::string self = Array(k);
    if (form_.has_inner_loops && random_.Between(0, 1) == 0) return InnerLoop(self, AnyArray());
    if (form_.computes_values && !form_.has_start && random_.Between(0, 1) == 0) {
      return ByValues(self);
    }
    switch (random_.Between(0, 9)) {
      case 0:
        return self;
      case 1:
      case 2:
      case 3: {
        // A row of another, or of this one, is written into it.
        std::string row = RowOf(random_.Between(0, 2) == 0 ? self : AnyArray());
        if (random_.Between(0, 2) == 0) {
          row =
              Value(absl::StrCat("f32[1,", width_, "]"), "add(", row, ", ", RowOf(AnyArray()), ")");
        }
        return Value(array_, "dynamic-update-slice(", self, ", ", row, ", ", Place(), ", zero)");
      }
      case 4:
        return Value(array_, "add(", self, ", ", AnyArray(), ")");
      case 5:
        return Value(array_, "reverse(", AnyArray(), "), dimensions={0}");
      case 6:
        return Value(array_, "broadcast(", RowsSummed(AnyArray()), "), dimensions={1}");
      case 7: {
        const std::string row =
            Value(absl::StrCat("f32[", width_, "]"), "reshape(", RowOf(AnyArray()), ")");
        const std::string all = Value(array_, "broadcast(", row, "), dimensions={1}");
        return random_.Between(0, 1) == 0 ? all : Value(array_, "add(", self, ", ", all, ")");
      }
      case 8: {
        if (rows_ < 2) return self;
        const std::string source = AnyArray();
        const std::string first = Value(absl::StrCat("f32[1,", width_, "]"), "slice(", source,
                                        "), slice={[0:1], [0:", width_, "]}");
        const std::string rest = Value(absl::StrCat("f32[", rows_ - 1, ",", width_, "]"), "slice(",
                                       source, "), slice={[1:", rows_, "], [0:", width_, "]}");
        const std::string turned =
            Value(array_, "concatenate(", rest, ", ", first, "), dimensions={0}");
        if (random_.Between(0, 2) > 0) return turned;
        // Rotated and reversed at once.
        const std::string reversed = Value(array_, "reverse(", source, "), dimensions={0}");
        return Value(array_, "add(", turned, ", ", reversed, ")");
      }
      default:
        return AnyArray();
    }
  }

  Random random_;
  const LoopForm form_;
  const int64_t count_;
  int64_t rows_ = 0;
  int64_t width_ = 0;
  int64_t num_arrays_ = 0;
  int64_t next_ = 0;
  std::string array_;
  std::string table_;
  std::string lines_;
  std::string functions_;
};

// Entries of loops that are exact, and all of them; and loops with maps of more points than are looked
// at one by one.
struct Counted {
  int exact = 0;
  int all = 0;
  int too_large = 0;
};

void CheckRandomLoop(uint64_t seed, const LoopForm& form, Counted* counted) {
  const std::string text = RandomLoop(seed, form).Text();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::Status status = CheckModule(text, seed, &context);
  if (absl::IsResourceExhausted(status)) {
    ++counted->too_large;
    return;
  }
  ASSERT_TRUE(status.ok()) << status;
  const auto module = ParseAndVerifyModule(text);
  ASSERT_TRUE(module.ok()) << module.status();
  HloIndexer indexer(&context);
  const HloInstruction& loop = *(*module)->entry_computation()->root_instruction();
  for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
    const auto entries = indexer.Index(loop, direction);
    ASSERT_TRUE(entries.ok()) << entries.status();
    for (const IndexingEntry& entry : **entries) {
      ++counted->all;
      if (entry.indexing.label().IsExact()) ++counted->exact;
    }
  }
}

// Checks so many loops of one form, with seeds from `first_seed` on, and expects so many hundredths
// of their entries to be exact.
void CheckRandomLoops(uint64_t first_seed, int loops, const LoopForm& form, int percent_exact) {
  Counted counted;
  for (int k = 0; k < loops; ++k) {
    CheckRandomLoop(first_seed + static_cast<uint64_t>(k), form, &counted);
    if (testing::Test::HasFatalFailure()) return;
  }
  std::cout << counted.exact << " of " << counted.all << " entries of loops of " << form.count
            << " steps are exact, " << counted.too_large << " loops are too large\n";
  EXPECT_LE(10 * counted.too_large, loops);
  EXPECT_GE(100 * counted.exact, percent_exact * counted.all);
}

int Loops(int all) { return std::max(1, Cases(all)); }

TEST(RandomLoopsTest, AgreeWithTheReference) {
  for (const int64_t count : {0, 1, 2, 5}) {
    CheckRandomLoops(10'000 * count, Loops(100), {.count = count}, 98);
  }
  CheckRandomLoops(1'000'000, Loops(20), {.count = 17}, 80);
}

TEST(RandomLoopsTest, OfManyStepsAgreeWithTheReference) {
  CheckRandomLoops(2'000'000, Loops(10), {.count = 64, .rows = 5}, 60);
  CheckRandomLoops(2'100'000, Loops(2), {.count = 64}, 80);
  CheckRandomLoops(3'000'000, Loops(10), {.count = 300, .rows = 4}, 60);
}

TEST(RandomLoopsTest, WithLoopsInThemAgreeWithTheReference) {
  for (const int64_t count : {1, 2, 5}) {
    CheckRandomLoops(4'000'000 + 10'000 * count, Loops(20),
                     {.count = count, .has_inner_loops = true}, 90);
  }
}

TEST(RandomLoopsTest, ThatComputeValuesAgreeWithTheReference) {
  for (const int64_t count : {0, 1, 2, 5}) {
    CheckRandomLoops(7'000'000 + 10'000 * count, Loops(30),
                     {.count = count, .computes_values = true}, count < 2 ? 98 : 70);
  }
  CheckRandomLoops(7'500'000, Loops(5), {.count = 17, .computes_values = true}, 50);
  CheckRandomLoops(7'600'000, Loops(5), {.count = 17, .rows = 4, .computes_values = true}, 50);
}

TEST(RandomLoopsTest, ThatBeginWithAPlaceAgreeWithTheReference) {
  for (const int64_t count : {0, 1, 2, 5}) {
    CheckRandomLoops(7'900'000 + 10'000 * count, Loops(15),
                     {.count = count, .computes_values = true, .has_start = true},
                     count < 5 ? 98 : 85);
  }
  CheckRandomLoops(7'980'000, Loops(5),
                   {.count = 17, .rows = 4, .computes_values = true, .has_start = true}, 50);
}

TEST(RandomLoopsTest, ThatComputeValuesWithLoopsInThemAgreeWithTheReference) {
  for (const int64_t count : {1, 2, 5}) {
    CheckRandomLoops(7'700'000 + 10'000 * count, Loops(15),
                     {.count = count, .has_inner_loops = true, .computes_values = true}, 70);
  }
  CheckRandomLoops(7'800'000, Loops(2),
                   {.count = 17, .rows = 4, .has_inner_loops = true, .computes_values = true}, 40);
}

TEST(RandomLoopsTest, WhoseCountIsToldAgreeWithTheReference) {
  for (const int64_t count : {0, 1, 5}) {
    CheckRandomLoops(5'000'000 + 10'000 * count, Loops(15), {.count = count, .tells_count = true},
                     90);
  }
}

// The entry of a loop's module and that of the module in which the body is called as often as it
// runs read the same, element for element.
TEST(RandomLoopsTest, AreWhatTheyAreUnrolled) {
  int same = 0;
  int open = 0;
  for (uint64_t seed = 6'000'000; seed < 6'000'000 + static_cast<uint64_t>(Loops(40)); ++seed) {
    for (const int64_t count : {1, 3}) {
      LoopForm form{.count = count, .has_inner_loops = seed % 4 == 0};
      const auto loop = ParseAndVerifyModule(RandomLoop(seed, form).Text());
      form.is_unrolled = true;
      const auto unrolled = ParseAndVerifyModule(RandomLoop(seed, form).Text());
      ASSERT_TRUE(loop.ok()) << loop.status();
      ASSERT_TRUE(unrolled.ok()) << unrolled.status();
      mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
      const auto report =
          CompareReads(*(*loop)->entry_computation(), *(*unrolled)->entry_computation(), &context);
      ASSERT_TRUE(report.ok()) << report.status();
      ASSERT_NE(report->reads, Answer::kNo) << seed << "\n" << RandomLoop(seed, form).Text();
      ++(report->reads == Answer::kYes ? same : open);
    }
  }
  std::cout << same << " loops are what they are unrolled, of " << open << " it is not known\n";
  EXPECT_GE(same, 9 * open);
  if (Loops(1) == 1) {
    EXPECT_EQ(open, 0);
  }
}

}  // namespace
}  // namespace xla_indexing::reference
