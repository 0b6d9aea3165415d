// Graphs of levels, each of which uses what the one before has made several times: butterflies, scans,
// shuffles, sums. The number of paths doubles from level to level, while what one level leads to is a
// few maps. Whole computations are executed, and compared with their maps element for element, in both
// directions, with as many steps as anybody has and with few.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/execute/devices.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/judge/dependence.h"
#include "tests/reference/judge/library_relation.h"
#include "tests/testing/effort.h"
#include "tests/testing/entries.h"
#include "tests/testing/random.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing::reference {
namespace {

// An array of `size` rows of the graph's number of columns.
struct Rows {
  std::string name;
  int64_t size = 0;
};

// The text of a module, level by level.
class LeveledGraph {
 public:
  explicit LeveledGraph(uint64_t seed)
      : random_(seed), columns_(random_.OneIn(6) ? random_.Between(2, 3) : 0) {}

  std::string Text() {
    const std::vector<int64_t> sizes = {4, 6, 8, 8, 12, 16, 16, 20};
    const int64_t size = random_.Pick(sizes);
    std::string called;
    if (random_.OneIn(4)) {
      const Rows x = OfSize(Levels(size, 1, random_.Between(2, 4)).back(), size);
      AppendRoot(Shape(absl::StrCat(size)), absl::StrCat("copy(", x.name, ")"));
      called = absl::StrCat("called {\n", std::exchange(lines_, ""), "}\n");
      called_size_ = size;
    }
    const std::vector<Rows> values = Levels(size, random_.Between(1, 3), random_.Between(3, 5));
    const Rows x = values.back();
    const std::string shape = Shape(absl::StrCat(x.size));
    if (random_.OneIn(4)) {
      const Rows y = RandomLevel(random_.Pick(values));
      AppendRoot(absl::StrCat("(", shape, ", ", Shape(absl::StrCat(y.size)), ")"),
                 absl::StrCat("tuple(", x.name, ", ", y.name, ")"));
    } else {
      AppendRoot(shape, absl::StrCat("copy(", x.name, ")"));
    }
    return absl::StrCat("add {\n a = f32[] parameter(0)\n b = f32[] parameter(1)\n",
                        " ROOT s = f32[] add(a, b)\n}\n", called, "ENTRY e {\n", lines_, "}\n");
  }

 private:
  std::string Shape(const std::string& rows) const {
    return columns_ > 0 ? absl::StrCat("f32[", rows, ",", columns_, "]")
                        : absl::StrCat("f32[", rows, "]");
  }
  std::string Name(const std::string& shape, const std::string& operation) {
    const std::string name = absl::StrCat("v", count_++);
    absl::StrAppend(&lines_, " ", name, " = ", shape, " ", operation, "\n");
    return name;
  }
  Rows Append(int64_t size, const std::string& operation) {
    return {Name(Shape(absl::StrCat(size)), operation), size};
  }

  void AppendRoot(const std::string& shape, const std::string& operation) {
    absl::StrAppend(&lines_, " ROOT r = ", shape, " ", operation, "\n");
  }

  // What each of some levels makes of the sum of the parameters.
  std::vector<Rows> Levels(int64_t size, int64_t parameters, int64_t levels) {
    lines_ = " zero = f32[] constant(0)\n";
    std::vector<Rows> arguments;
    for (int64_t i = 0; i < parameters; ++i) {
      arguments.push_back(Append(size, absl::StrCat("parameter(", i, ")")));
    }
    Rows x = arguments[0];
    std::vector<Rows> made;
    // Most graphs have levels of one kind, which differ in their distance: 1, 2, 4, ..
    const bool is_mixed = random_.OneIn(4);
    const int64_t kind = random_.Between(0, kKinds - 1);
    for (int64_t level = 0; level < levels; ++level) {
      if (level > 0 && level < parameters) x = Add(OfSize(x, size), arguments[level]);
      x = is_mixed || random_.OneIn(12) ? RandomLevel(x) : Level(x, kind, int64_t{1} << level);
      // Paths that pass levels by.
      if (!made.empty() && random_.OneIn(8)) x = Add(x, OfSize(random_.Pick(made), x.size));
      made.push_back(x);
    }
    return made;
  }

  Rows Add(const Rows& a, const Rows& b) {
    return Append(a.size, absl::StrCat("add(", a.name, ", ", b.name, ")"));
  }
  Rows Slice(const Rows& x, int64_t start, int64_t limit, int64_t stride = 1) {
    const std::string rest = columns_ > 0 ? absl::StrCat(", [0:", columns_, "]") : "";
    return Append(
        (limit - start + stride - 1) / stride,
        absl::Substitute("slice($0), slice={[$1:$2:$3]$4}", x.name, start, limit, stride, rest));
  }
  Rows Pad(const Rows& x, int64_t low, int64_t high, int64_t interior = 0) {
    return Append(x.size + low + high + (x.size - 1) * interior,
                  absl::Substitute("pad($0, zero), padding=$1_$2_$3$4", x.name, low, high, interior,
                                   columns_ > 0 ? "x0_0" : ""));
  }
  Rows Concatenate(const Rows& a, const Rows& b) {
    return Append(a.size + b.size,
                  absl::StrCat("concatenate(", a.name, ", ", b.name, "), dimensions={0}"));
  }
  Rows Called(const Rows& x) {
    return Add(x, Append(x.size, absl::StrCat("call(", x.name, "), to_apply=called")));
  }
  Rows OfSize(const Rows& x, int64_t size) {
    if (x.size == size) return x;
    return x.size < size ? Pad(x, 0, size - x.size) : Slice(x, 0, size);
  }

  static constexpr int64_t kKinds = 11;

  Rows RandomLevel(const Rows& x) {
    const int64_t distance = random_.OneIn(2) ? int64_t{1} << random_.Between(0, 3)
                                              : random_.Between(1, std::max<int64_t>(x.size, 2));
    return Level(x, random_.Between(0, kKinds - 1), distance);
  }

  // The sum of x and of what one operation or a few make of it, or a sum in which x occurs twice.
  Rows Level(const Rows& x, int64_t kind, int64_t distance) {
    if (x.size < 2) return Add(x, x);
    const int64_t by = std::min(distance, x.size - 1);
    if (kind < 4 && x.size % 2 == 0) {
      if (kind == 0) return Exchanged(x, distance);
      if (kind == 1) return ScannedByHalves(x);
      if (kind == 2) return Shuffled(x);
      return SummedInPairs(x);
    }
    switch (kind) {
      case 4:
      case 5:  // a rotation
        return Add(x, Concatenate(Slice(x, by, x.size), Slice(x, 0, by)));
      case 6:  // a step of a scan
        return Add(x, Pad(Slice(x, 0, x.size - by), by, 0));
      case 7:
        return Add(x, Pad(x, -by, by));
      case 8:  // the even rows and then the odd ones
        return Add(x, Concatenate(Slice(x, 0, x.size, 2), Slice(x, 1, x.size, 2)));
      case 9: {  // another size
        const Rows sum = Add(Slice(x, 0, x.size - 1), Slice(x, 1, x.size));
        return random_.OneIn(2) ? sum : Pad(sum, 0, 1);
      }
      case 10:
        if (called_size_ > 0) return Called(OfSize(x, called_size_));
        break;
    }
    return Add(x, Append(x.size, absl::StrCat("reverse(", x.name, "), dimensions={0}")));
  }

  // Neighbouring blocks of rows exchanged.
  Rows Exchanged(const Rows& x, int64_t distance) {
    int64_t width = 1;
    while (x.size % (4 * width) == 0 && width < distance) width *= 2;
    const std::string shape = Shape(absl::StrCat(x.size / (2 * width), ",2,", width));
    const std::string blocks = Name(shape, absl::StrCat("reshape(", x.name, ")"));
    const std::string turned = Name(shape, absl::StrCat("reverse(", blocks, "), dimensions={1}"));
    return Add(x, Append(x.size, absl::StrCat("reshape(", turned, ")")));
  }

  // Rows 0, 2, 4, .., 1, 3, 5, .. or the inverse of that.
  Rows Shuffled(const Rows& x) {
    std::string from = absl::StrCat(x.size / 2, ",2");
    std::string to = absl::StrCat("2,", x.size / 2);
    if (random_.OneIn(2)) std::swap(from, to);
    const std::string pairs = Name(Shape(from), absl::StrCat("reshape(", x.name, ")"));
    const std::string order = columns_ > 0 ? "1,0,2" : "1,0";
    const std::string transposed =
        Name(Shape(to), absl::StrCat("transpose(", pairs, "), dimensions={", order, "}"));
    return Add(x, Append(x.size, absl::StrCat("reshape(", transposed, ")")));
  }

  Rows SummedInPairs(const Rows& x) {
    const std::string shape = Shape(absl::StrCat(x.size / 2, ",2"));
    const std::string pairs = Name(shape, absl::StrCat("reshape(", x.name, ")"));
    const Rows sums =
        Append(x.size / 2, absl::StrCat("reduce(", pairs, ", zero), dimensions={1}, to_apply=add"));
    const std::string both = Name(shape, absl::StrCat("broadcast(", sums.name, "), dimensions={0",
                                                      columns_ > 0 ? ",2" : "", "}"));
    const Rows spread = Append(x.size, absl::StrCat("reshape(", both, ")"));
    return random_.OneIn(2) ? Add(x, spread) : spread;
  }

  // Sums of pairs are made rows, and rows between them are those before with one more.
  Rows ScannedByHalves(const Rows& x) {
    const Rows even = Slice(x, 0, x.size, 2);
    const Rows odd = Add(even, Slice(x, 1, x.size, 2));
    const Rows next = Add(even, Pad(odd, 1, -1));
    return Add(Pad(next, 0, 1, 1), Pad(odd, 1, 0, 1));
  }

  Random random_;
  const int64_t columns_;    // 0 where rows are single elements
  int64_t called_size_ = 0;  // 0 where nothing is called
  int64_t count_ = 0;
  std::string lines_;
};

struct AskedWith {
  FusionOptions options;
  int64_t steps = QuestionBudget::kDefaultSteps;
};

// What the question is asked with: enough for anything; what is called walked by itself; and few steps
// or maps.
std::vector<AskedWith> WaysToAsk(Random& random) {
  std::vector<AskedWith> ways(5);
  ways[1].options.max_called_instructions = 1;
  ways[2].options.max_steps = int64_t{1} << random.Between(2, 17);
  ways[3].options.max_maps = static_cast<int>(random.Between(2, 70));
  ways[4].steps = int64_t{1} << random.Between(2, 14);
  return ways;
}

absl::Status CheckGraph(const std::string& text, uint64_t seed, mlir::MLIRContext* context) {
  const auto module = ParseAndVerifyModule(text);
  if (!module.ok()) return module.status();
  const HloComputation& entry = *(*module)->entry_computation();
  const std::vector<Value> arguments = RandomArguments(entry, seed);
  const absl::StatusOr<Execution> execution = Execute(entry, Pointers(arguments), seed);
  if (!execution.ok()) return execution.status();
  const absl::StatusOr<Dependence> truth =
      DependenceOfComputation(entry, Pointers(arguments), seed);
  if (!truth.ok()) return truth.status();
  Random random(seed);
  for (const AskedWith& way : WaysToAsk(random)) {
    for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
      std::unique_ptr<QuestionBudget> budget = std::make_unique<QuestionBudget>(way.steps);
      const auto entries = Entries(entry, direction, context, way.options);
      budget.reset();
      if (!entries.ok()) return entries.status();
      absl::Status status =
          CheckEntries(*entries, direction, *truth, entry.root_instruction()->shape(),
                       entry.parameters(), *execution);
      if (!status.ok()) {
        return absl::Status(
            status.code(),
            absl::StrCat(
                status.message(), "\n",
                direction == Direction::kOutputToInput ? "output to input" : "input to output",
                ", ", way.options.max_called_instructions, " instructions called, ",
                way.options.max_steps, " steps, ", way.options.max_maps, " maps, ", way.steps,
                " steps of the question"));
      }
    }
  }
  return absl::OkStatus();
}

class JoinedPathsTest : public ::testing::TestWithParam<int> {};

TEST_P(JoinedPathsTest, AgreeWithTheReference) {
  const int count = Cases(32);
  std::unique_ptr<mlir::MLIRContext> context;
  for (int i = 0; i < count; ++i) {
    // A context keeps what it has interned, so it is renewed now and then.
    if (i % 32 == 0) {
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    }
    const auto seed = static_cast<uint64_t>(GetParam() * count + i);
    const std::string text = LeveledGraph(seed).Text();
    const absl::Status status = CheckGraph(text, seed, context.get());
    ASSERT_TRUE(status.ok()) << status << "\nseed " << seed << "\n" << text;
  }
}

INSTANTIATE_TEST_SUITE_P(All, JoinedPathsTest, ::testing::Range(0, 4));

}  // namespace
}  // namespace xla_indexing::reference
