// What values decide: random programs with masks are executed with values of which the module and scalars fix
// some, which decide what the others are used for, and compared with the maps of dependence.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/execute/devices.h"
#include "tests/reference/execute/execute.h"
#include "tests/reference/judge/dependence.h"
#include "tests/reference/judge/library_relation.h"
#include "tests/testing/effort.h"
#include "tests/testing/entries.h"
#include "tests/testing/random.h"
#include "tests/testing/random/random_hlo.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing::reference {
namespace {

// The text of a module whose arrays have `rows` rows and `columns` columns.
class MaskedProgram {
 public:
  explicit MaskedProgram(uint64_t seed)
      : random_(seed), rows_(random_.Between(1, 5)), columns_(random_.Between(1, 6)) {}

  std::string Text() {
    const std::string chosen = absl::Substitute(
        "chosen {\n  p = $0 parameter(0)\n  a = $1 parameter(1)\n  b = $1 parameter(2)\n"
        "  ROOT s = $1 select(p, a, b)\n}\n",
        Shape("pred"), Shape("s32"));
    for (const char* name : {"x", "y"}) Parameter(name, Shape("s32"));
    Parameter("data", Shape("pred"));
    Parameter("at", "s32[]");
    Line("zero", "s32[]", "constant(0)");
    std::string value = Value(3);
    std::string loop;
    if (random_.OneIn(4)) {
      loop = Loop();
      Line("state", State(), absl::StrCat("tuple(zero, ", value, ", y, ", Mask(2), ")"));
      Line("looped", State(), "while(state), condition=until, body=body");
      value = Line(Shape("s32"), "get-tuple-element(looped), index=1");
    }
    std::string root;
    switch (random_.Between(0, 3)) {
      case 0:
        root = absl::Substitute("s32[$0] reduce($1, zero), dimensions={1}, to_apply=sum", rows_,
                                value);
        break;
      case 1: {
        // A product with a matrix of zeros and ones.
        const std::string factor = Line(Shape("s32"), absl::StrCat("convert(", Mask(2), ")"));
        root = absl::Substitute(
            "s32[$0,$0] dot($1, $2), lhs_contracting_dims={1}, rhs_contracting_dims={1}", rows_,
            factor, value);
        break;
      }
      default:
        root = absl::StrCat(Shape("s32"), " copy(", value, ")");
    }
    return absl::StrCat(
        "HloModule masked\n",
        "sum {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  ROOT c = "
        "s32[] add(a, b)\n}\n",
        "replaced {\n  a = pred[] parameter(0)\n  ROOT b = pred[] parameter(1)\n}\n"
        "replaced_s32 {\n  a = s32[] parameter(0)\n  ROOT b = s32[] parameter(1)\n}\n"
        "less {\n  a = s32[] parameter(0)\n  b = s32[] parameter(1)\n  c = s32[] parameter(2)\n"
        "  d = s32[] parameter(3)\n  ROOT e = pred[] compare(a, b), direction=LT\n}\n"
        "greatest {\n  a = s32[] parameter(0)\n  i = s32[] parameter(1)\n  b = s32[] parameter(2)\n"
        "  k = s32[] parameter(3)\n  more = pred[] compare(a, b), direction=GT\n"
        "  same = pred[] compare(a, b), direction=EQ\n  first = pred[] compare(i, k), "
        "direction=LT\n"
        "  both = pred[] and(same, first)\n  is_a = pred[] or(more, both)\n"
        "  value = s32[] select(is_a, a, b)\n  at = s32[] select(is_a, i, k)\n"
        "  ROOT t = (s32[], s32[]) tuple(value, at)\n}\n",
        chosen, loop, "ENTRY e {\n", absl::StrJoin(parameters_, ""), lines_, "  ROOT r = ", root,
        "\n}\n");
  }

 private:
  std::string Shape(const char* type) const {
    return absl::Substitute("$0[$1,$2]", type, rows_, columns_);
  }
  std::string State() const {
    return absl::Substitute("(s32[], $0, $0, $1)", Shape("s32"), Shape("pred"));
  }
  std::string Line(const std::string& name, const std::string& shape, const std::string& what) {
    absl::StrAppend(&lines_, "  ", name, " = ", shape, " ", what, "\n");
    return name;
  }
  std::string Line(const std::string& shape, const std::string& what) {
    return Line(absl::StrCat("v", ++count_), shape, what);
  }
  void Parameter(const std::string& name, const std::string& shape) {
    parameters_.push_back(
        absl::Substitute("  $0 = $1 parameter($2)\n", name, shape, parameters_.size()));
  }

  // Three iterations: elements that a mask and the number of the iteration choose are added to.
  std::string Loop() {
    const std::string body = absl::Substitute(
        "body {\n  s = $0 parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n"
        "  a = $1 get-tuple-element(s), index=1\n  b = $1 get-tuple-element(s), index=2\n"
        "  m = $2 get-tuple-element(s), index=3\n  one = s32[] constant(1)\n"
        "  next = s32[] add(i, one)\n  k = $1 iota(), iota_dimension=$3\n"
        "  n = $1 broadcast(i), dimensions={}\n  c = $2 compare(k, n), direction=$4\n"
        "  added = $1 add(a, b)\n  both = $2 $5(c, m)\n  new = $1 select($6, added, a)\n"
        "  ROOT t = $0 tuple(next, new, b, m)\n}\n",
        State(), Shape("s32"), Shape("pred"), random_.Between(0, 1), Direction(),
        random_.OneIn(2) ? "and" : "or", random_.Pick(std::vector<std::string>{"c", "m", "both"}));
    return absl::StrCat(
        body, "until {\n  s = ", State(),
        " parameter(0)\n  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(3)\n"
        "  ROOT c = pred[] compare(i, n), direction=LT\n}\n");
  }

  std::string Direction() {
    return random_.Pick(std::vector<std::string>{"LT", "LE", "GT", "GE", "EQ", "NE"});
  }

  std::string Spread(const std::string& scalar) {
    return Line(Shape("s32"), absl::StrCat("broadcast(", scalar, "), dimensions={}"));
  }
  std::string Constant(int64_t low, int64_t high) {
    return Line("s32[]", absl::StrCat("constant(", random_.Between(low, high), ")"));
  }
  std::string Number(int64_t low, int64_t high) { return Spread(Constant(low, high)); }

  // An integer that index arithmetic fixes.
  std::string Index() {
    std::string index =
        Line(Shape("s32"), absl::StrCat("iota(), iota_dimension=", random_.Between(0, 1)));
    switch (random_.Between(0, 5)) {
      case 0:
        return Line(Shape("s32"), absl::StrCat("add(", index, ", ", Number(-3, 3), ")"));
      case 1:
        return Line(Shape("s32"), absl::StrCat("remainder(", index, ", ", Number(1, 3), ")"));
      case 2:
        return Line(Shape("s32"), absl::StrCat("multiply(", index, ", ", Number(-2, 2), ")"));
      default:
        return index;
    }
  }

  std::string Literal() {
    std::vector<std::string> rows;
    const int64_t kind = random_.Between(0, 2);
    const int64_t shift = random_.Between(-2, 2);
    const int64_t width = random_.Between(1, 3);
    for (int64_t i = 0; i < rows_; ++i) {
      std::vector<int> row;
      for (int64_t k = 0; k < columns_; ++k) {
        const bool bit = kind == 0   ? k <= i + shift
                         : kind == 1 ? std::abs(k - i) < width
                                     : random_.OneIn(2);
        row.push_back(bit ? 1 : 0);
      }
      rows.push_back(absl::StrCat("{", absl::StrJoin(row, ","), "}"));
    }
    return Line(Shape("pred"), absl::StrCat("constant({", absl::StrJoin(rows, ","), "})"));
  }

  std::string Mask(int depth) {
    const int64_t kind = random_.Between(0, depth > 0 ? 16 : 4);
    switch (kind) {
      case 0:
      case 1:
        return Compare(Index(), random_.OneIn(2) ? Index() : Number(-1, 5));
      case 2:
        return Compare(Index(), Spread("at"));
      case 3:
        return Literal();
      case 4:
        return random_.OneIn(2) ? "data" : Compare("x", Number(0, 3));
      case 5:
      case 6:
        return Line(Shape("pred"), absl::StrCat(kind == 5 ? "and(" : "or(", Mask(depth - 1), ", ",
                                                Mask(depth - 1), ")"));
      case 7:
        return Line(Shape("pred"), absl::StrCat("not(", Mask(depth - 1), ")"));
      case 8:
        return Line(Shape("pred"), absl::StrCat("reverse(", Mask(depth - 1), "), dimensions={",
                                                random_.Between(0, 1), "}"));
      case 9:
        return Line(Shape("pred"), absl::StrCat("select(", Mask(depth - 1), ", ", Mask(depth - 1),
                                                ", ", Mask(depth - 1), ")"));
      case 10: {
        // How many of a row are chosen up to each column.
        const std::string ones = Line(Shape("s32"), absl::StrCat("convert(", Mask(depth - 1), ")"));
        const std::string sums =
            Line(Shape("s32"),
                 absl::Substitute(
                     "reduce-window($0, zero), window={size=1x$1 pad=0_0x$2_0}, to_apply=sum", ones,
                     columns_, columns_ - 1));
        return Compare(sums, Number(0, 3));
      }
      case 11: {
        // A bit for each column.
        const std::string bits = Line(
            Shape("s32"), absl::StrCat("shift-right-logical(", Number(0, 63), ", ", Index(), ")"));
        const std::string bit =
            Line(Shape("s32"), absl::StrCat("and(", bits, ", ", Number(1, 1), ")"));
        return Compare(bit, Number(0, 1));
      }
      case 13:
        return Compare(Sorted(Mask(depth - 1)), Number(0, 2));
      case 14:
        return Compare(Greatest(Mask(depth - 1)), random_.OneIn(2) ? Index() : Number(0, 2));
      case 15: {
        // How many rows have the same bit.
        const std::string bits = Line(Shape("s32"), absl::StrCat("convert(", Mask(depth - 1), ")"));
        const std::string alike =
            Line(absl::Substitute("s32[$0,$0]", rows_),
                 absl::Substitute("dot($0, $0), lhs_contracting_dims={1}, rhs_contracting_dims={1}",
                                  bits));
        return Compare(
            Line(Shape("s32"),
                 absl::Substitute("dot($0, $1), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
                                  alike, bits)),
            Number(0, 3));
      }
      case 12:
        return Scattered("pred", "replaced", Mask(depth - 1),
                         Line("pred[2]", random_.OneIn(2) ? "constant({1,0})" : "constant({0,0})"));
      default: {
        const std::string row =
            Line(absl::Substitute("pred[1,$0]", columns_),
                 absl::Substitute("slice($0), slice={[0:1],[0:$1]}", Mask(depth - 1), columns_));
        const std::string at = random_.OneIn(3) ? "at" : Constant(0, 4);
        return Line(Shape("pred"), absl::StrCat("dynamic-update-slice(", Mask(depth - 1), ", ", row,
                                                ", ", at, ", zero)"));
      }
    }
  }
  // A mask sorted along a dimension of more than one element, or where its elements come from.
  std::string Sorted(const std::string& mask) {
    if (rows_ == 1 && columns_ == 1) return Index();
    const int64_t dim = rows_ == 1 ? 1 : columns_ == 1 ? 0 : random_.Between(0, 1);
    const std::string keys = Line(Shape("s32"), absl::StrCat("convert(", mask, ")"));
    const std::string index = Line(Shape("s32"), absl::StrCat("iota(), iota_dimension=", dim));
    const std::string sorted =
        Line(absl::Substitute("($0, $0)", Shape("s32")),
             absl::Substitute("sort($0, $1), dimensions={$2}, is_stable=$3, to_apply=less", keys,
                              index, dim, random_.OneIn(4) ? "false" : "true"));
    return Line(Shape("s32"),
                absl::Substitute("get-tuple-element($0), index=$1", sorted, random_.Between(0, 1)));
  }
  // The greatest element of each row, or where the first such is.
  std::string Greatest(const std::string& mask) {
    const std::string keys = Line(Shape("s32"), absl::StrCat("convert(", mask, ")"));
    const std::string index = Line(Shape("s32"), "iota(), iota_dimension=1");
    const std::string greatest =
        Line(absl::Substitute("(s32[$0], s32[$0])", rows_),
             absl::Substitute("reduce($0, $1, zero, zero), dimensions={1}, to_apply=greatest", keys,
                              index));
    const std::string rows =
        Line(absl::Substitute("s32[$0]", rows_),
             absl::Substitute("get-tuple-element($0), index=$1", greatest, random_.Between(0, 1)));
    return Line(Shape("s32"), absl::StrCat("broadcast(", rows, "), dimensions={0}"));
  }
  // Two elements of an array replaced, at places that the module fixes; outside now and then.
  std::string Scattered(const char* type, const char* combiner, const std::string& array,
                        const std::string& updates) {
    const std::string places =
        Line("s32[2,2]",
             absl::Substitute("constant({{$0,$1},{$2,$3}})", random_.Between(-1, rows_),
                              random_.Between(0, columns_ - 1), random_.Between(0, rows_ - 1),
                              random_.Between(0, columns_ - 1)));
    return Line(Shape(type),
                absl::Substitute("scatter($0, $1, $2), update_window_dims={}, "
                                 "inserted_window_dims={0,1}, scatter_dims_to_operand_dims={0,1}, "
                                 "index_vector_dim=1, to_apply=$3",
                                 array, places, updates, combiner));
  }
  std::string Compare(const std::string& a, const std::string& b) {
    return Line(Shape("pred"), absl::StrCat("compare(", a, ", ", b, "), direction=", Direction()));
  }

  std::string Value(int depth) {
    if (depth == 0) return random_.OneIn(2) ? "x" : "y";
    const std::string a = Value(depth - 1);
    switch (random_.Between(0, 9)) {
      case 0:
      case 1:
        return Line(Shape("s32"), absl::StrCat("select(", Mask(2), ", ", a, ", ",
                                               random_.OneIn(2) ? Value(0) : Number(0, 1), ")"));
      case 2:
        return Line(Shape("s32"),
                    absl::StrCat("call(", Mask(2), ", ", a, ", ", Value(0), "), to_apply=chosen"));
      case 3: {
        const std::string factor = Line(Shape("s32"), absl::StrCat("convert(", Mask(2), ")"));
        return Line(Shape("s32"), absl::StrCat("multiply(", a, ", ", factor, ")"));
      }
      case 4: {
        // All bits set, or none.
        const std::string bits = Line(Shape("s32"), absl::StrCat("convert(", Mask(1), ")"));
        const std::string mask = Line(Shape("s32"), absl::StrCat("negate(", bits, ")"));
        return Line(Shape("s32"),
                    absl::StrCat(random_.OneIn(2) ? "and(" : "or(", mask, ", ", a, ")"));
      }
      case 5: {
        const std::string least = Spread(Line("s32[]", "constant(-2147483648)"));
        const std::string bound = Line(
            Shape("s32"), absl::StrCat("select(", Mask(1), ", ", least, ", ", Number(0, 2), ")"));
        return Line(Shape("s32"), absl::StrCat("minimum(", a, ", ", bound, ")"));
      }
      case 6:
        return Line(Shape("s32"), absl::StrCat("reverse(", a, "), dimensions={1}"));
      case 7:
        return Scattered("s32", "replaced_s32", a, Line("s32[2]", "constant({1,2})"));
      case 8: {
        const std::string low =
            Line(Shape("s32"),
                 absl::StrCat("select(", Mask(1), ", ", Number(0, 2), ", ", Number(-2, 2), ")"));
        return Line(Shape("s32"), absl::StrCat("clamp(", low, ", ", a, ", ", Number(0, 1), ")"));
      }
      default:
        return Line(Shape("s32"), absl::StrCat("add(", a, ", ", Value(0), ")"));
    }
  }

  Random random_;
  int64_t rows_;
  int64_t columns_;
  std::vector<std::string> parameters_;
  std::string lines_;
  int count_ = 0;
};

struct Counts {
  int64_t entries = 0;
  int64_t exact = 0;
  int64_t read = 0;  // that say what is read, as steps were missing
};

// The pairs but for those that maps leave out by conditions on elements of arrays of data, as far as the values of
// these decide so.
absl::StatusOr<Relation> WithoutDecided(const Relation& truth, const Relation& decided_by_data,
                                        const OperandIndexingSet& maps, const MapEnds& ends,
                                        const Devices& devices) {
  const auto is_of_array = [](const OperandIndexing& map) {
    return std::any_of(map.bindings().begin(), map.bindings().end(),
                       [](const auto& binding) { return binding.shape().rank() > 0; });
  };
  if (std::none_of(maps.begin(), maps.end(), is_of_array)) return truth;
  Relation read = decided_by_data;
  for (const OperandIndexing& map : maps) {
    absl::StatusOr<Relation> pairs = RelationOf(map, ends, devices);
    if (!pairs.ok()) return pairs.status();
    read.insert(read.end(), pairs->begin(), pairs->end());
  }
  std::sort(read.begin(), read.end());
  Relation kept;
  std::copy_if(truth.begin(), truth.end(), std::back_inserter(kept), [&](const auto& pair) {
    return std::binary_search(read.begin(), read.end(), pair);
  });
  return kept;
}

absl::Status CheckProgram(const std::string& text, uint64_t seed, mlir::MLIRContext* context,
                          Counts* counts, ScatterBounds bounds = ScatterBounds::kWindow,
                          int64_t steps = QuestionBudget::kDefaultSteps) {
  const auto module = ParseAndVerifyModule(text);
  if (!module.ok()) return module.status();
  const HloComputation& entry = *(*module)->entry_computation();
  const std::vector<xla_indexing::reference::Value> arguments = RandomArguments(entry, seed);
  ExecutionOptions decides;
  decides.decides = true;
  decides.drops_whole_windows = bounds == ScatterBounds::kWindow;
  const absl::StatusOr<Execution> execution = Execute(entry, Pointers(arguments), seed, decides);
  if (!execution.ok()) return execution.status();
  absl::StatusOr<Dependence> truth =
      DependenceOfComputation(entry, Pointers(arguments), seed, decides);
  if (!truth.ok()) return truth.status();
  decides.data_decides = true;
  const absl::StatusOr<Dependence> by_data =
      DependenceOfComputation(entry, Pointers(arguments), seed, decides);
  if (!by_data.ok()) return by_data.status();
  // What scalars change is said by conditions on them as well.
  const auto is_scalar = [&](int64_t operand) {
    return entry.parameter(operand)->shape().rank() == 0;
  };
  for (auto& [pair, relation] : *truth) {
    if (is_scalar(pair.operand)) relation.clear();
  }
  FusionOptions options;
  options.indexing.dependence = xla_indexing::Dependence::kValues;
  options.indexing.scatter_bounds = bounds;
  for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
    auto entries = [&] {
      const QuestionBudget budget(steps);
      return Entries(entry, direction, context, options);
    }();
    if (!entries.ok()) return entries.status();
    std::erase_if(*entries, [&](const IndexingEntry& each) { return is_scalar(each.operand); });
    for (const IndexingEntry& each : *entries) {
      ++counts->entries;
      counts->exact += each.indexing.label().IsExact() ? 1 : 0;
      counts->read += absl::StartsWith(each.indexing.label().reason, "what is read") ? 1 : 0;
    }
    Dependence left = *truth;
    const bool forward = direction == Direction::kInputToOutput;
    for (const IndexingEntry& each : *entries) {
      const reference::LeafPair pair = {each.output_leaf, each.operand, each.operand_leaf};
      const xla_indexing::Shape& output = entry.root_instruction()->shape().Leaf(pair.output_leaf);
      const xla_indexing::Shape& operand =
          entry.parameter(pair.operand)->shape().Leaf(pair.operand_leaf);
      const auto turned = [&](const Relation& relation) {
        return forward ? Converse(relation) : relation;
      };
      const absl::StatusOr<Relation> kept =
          WithoutDecided(turned(truth->at(pair)), turned(by_data->at(pair)), each.indexing,
                         forward ? MapEnds{operand, output} : MapEnds{output, operand}, *execution);
      if (!kept.ok()) return kept.status();
      left[pair] = turned(*kept);
    }
    absl::Status status = CheckEntries(*entries, direction, left, entry.root_instruction()->shape(),
                                       entry.parameters(), *execution);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

class DecidedReadsTest : public ::testing::TestWithParam<int> {};

TEST_P(DecidedReadsTest, AgreeWithTheReference) {
  const int count = Cases(150);
  std::unique_ptr<mlir::MLIRContext> context;
  Counts counts;
  for (int i = 0; i < count; ++i) {
    if (i % 32 == 0) {
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    }
    const auto seed = static_cast<uint64_t>(GetParam()) * count + i;
    const std::string text = MaskedProgram(seed).Text();
    const absl::Status status = CheckProgram(text, seed, context.get(), &counts);
    ASSERT_TRUE(status.ok()) << status << "\nseed " << seed << "\n" << text;
  }
  std::cout << counts.exact << " of " << counts.entries << " entries exact\n";
  // Masks of random bits, values that differ and masks that are made of data in places are not all found.
  if (counts.entries > 200) {
    EXPECT_GT(counts.exact * 2, counts.entries);
  }
}

// Where a question has too few steps for what decides, what is read contains the relation.
TEST_P(DecidedReadsTest, AnyBudgetAgreesWithTheReference) {
  const int count = Cases(60);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Counts counts;
  for (int i = 0; i < count; ++i) {
    const auto seed = static_cast<uint64_t>(GetParam()) * count + i;
    const std::string text = MaskedProgram(seed).Text();
    const auto steps = static_cast<int64_t>(seed * 37 % 211);
    const absl::Status status =
        CheckProgram(text, seed, &context, &counts, ScatterBounds::kWindow, steps);
    ASSERT_TRUE(status.ok()) << status << "\nseed " << seed << ", " << steps << " steps\n" << text;
  }
  std::cout << counts.read << " of " << counts.entries << " entries are what is read\n";
  EXPECT_GT(counts.read, 0);
}

// Modules of any operations, whose values decide now and then.
TEST_P(DecidedReadsTest, OfAnyOperationsAgreeWithTheReference) {
  const int count = Cases(500);
  std::unique_ptr<mlir::MLIRContext> context;
  Counts counts;
  for (int i = 0; i < count; ++i) {
    if (i % 32 == 0) {
      context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
    }
    const auto seed = static_cast<uint64_t>(GetParam()) * count + i;
    const std::string text = RandomFusionModule(seed);
    const bool has_devices =
        absl::StrContains(text, "replica_count=") || absl::StrContains(text, "num_partitions=");
    if (has_devices) continue;
    const absl::Status status = CheckProgram(text, seed, context.get(), &counts);
    ASSERT_TRUE(status.ok()) << status << "\nseed " << seed << "\n" << text;
  }
  std::cout << counts.exact << " of " << counts.entries << " entries exact\n";
}

// A loop over blocks of rows, and in it one over blocks of columns, as attention in blocks has them: row r
// adds up the elements of k at the columns c with `r <direction> c`.
struct BlockedMask {
  int64_t block;
  int64_t blocks;
  bool is_triangular;  // the inner loop ends after the block of the rows
  bool has_array;      // the number of the block is an element of an array
  bool is_hoisted;     // the outer loop computes the numbers of the rows
  bool is_called;  // a called computation compares, and looks the number of the block of columns up
  bool is_product;  // what is seen is a product with 0 and 1, in a called computation
  std::string direction;
};

std::string BlockedMaskText(const BlockedMask& mask) {
  const std::string rows = absl::StrCat("s32[", mask.block, "]");
  const std::string square = absl::StrCat("s32[", mask.block, ",", mask.block, "]");
  const std::string all = absl::StrCat("s32[", mask.block * mask.blocks, "]");
  const std::string numbers = absl::StrCat("s32[", mask.blocks, "]");
  std::string text = R"(HloModule blocks
add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }
product { a = SQUARE parameter(0) b = SQUARE parameter(1) ROOT c = SQUARE multiply(a, b) }
mask {
  row = SQUARE parameter(0)
  numbers = NUMBERS parameter(1)
  j = s32[] parameter(2)
  number = s32[1] dynamic-slice(numbers, j), dynamic_slice_sizes={1}
  block = s32[1] constant({BLOCK})
  column0 = s32[1] multiply(number, block)
  column0_ = s32[] reshape(column0)
  column0s = SQUARE broadcast(column0_), dimensions={}
  column1s = SQUARE iota(), iota_dimension=1
  column = SQUARE add(column0s, column1s)
  ROOT is_seen = PREDS compare(row, column), direction=DIRECTION
}
columns {
  s = STATE parameter(0)
  j = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  sum = ROWS get-tuple-element(s), index=2
  k = ALL get-tuple-element(s), index=3
  t = s32[] get-tuple-element(s), index=4
  hoisted = SQUARE get-tuple-element(s), index=5
  numbers = NUMBERS get-tuple-element(s), index=6
  block = s32[] constant(BLOCK)
  row0 = s32[] multiply(t, block)
  row0s = SQUARE broadcast(row0), dimensions={}
  row1s = SQUARE iota(), iota_dimension=0
  row = SQUARE ROW
  column0 = s32[] multiply(j, block)
  column0s = SQUARE broadcast(column0), dimensions={}
  column1s = SQUARE iota(), iota_dimension=1
  column = SQUARE add(column0s, column1s)
  is_seen = PREDS MASK
  part = ROWS dynamic-slice(k, column0), dynamic_slice_sizes={BLOCK}
  parts = SQUARE broadcast(part), dimensions={1}
  zero = s32[] constant(0)
  zeros = SQUARE broadcast(zero), dimensions={}
  ones = SQUARE convert(is_seen)
  seen = SQUARE SEEN
  added = ROWS reduce(seen, zero), dimensions={1}, to_apply=add
  next_sum = ROWS add(sum, added)
  one = s32[] constant(1)
  next = s32[] add(j, one)
  ROOT r = STATE tuple(next, n, next_sum, k, t, hoisted, numbers)
}
more_columns {
  s = STATE parameter(0)
  j = s32[] get-tuple-element(s), index=0
  n = s32[] get-tuple-element(s), index=1
  ROOT go = pred[] compare(j, n), direction=LT
}
rows {
  s = (s32[], ALL, ALL, NUMBERS) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  y = ALL get-tuple-element(s), index=1
  k = ALL get-tuple-element(s), index=2
  numbers = NUMBERS get-tuple-element(s), index=3
  number = s32[1] dynamic-slice(numbers, i), dynamic_slice_sizes={1}
  t = s32[] T
  one = s32[] constant(1)
  end = s32[] END
  zero = s32[] constant(0)
  zeros = ROWS broadcast(zero), dimensions={}
  block = s32[] constant(BLOCK)
  at = s32[] multiply(t, block)
  row0s = SQUARE broadcast(at), dimensions={}
  row1s = SQUARE iota(), iota_dimension=0
  hoisted = SQUARE add(row0s, row1s)
  begin = STATE tuple(zero, end, zeros, k, t, hoisted, numbers)
  w = STATE while(begin), condition=more_columns, body=columns
  sum = ROWS get-tuple-element(w), index=2
  z = ALL dynamic-update-slice(y, sum, at)
  next = s32[] add(i, one)
  ROOT r = (s32[], ALL, ALL, NUMBERS) tuple(next, z, k, numbers)
}
more_rows {
  s = (s32[], ALL, ALL, NUMBERS) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(COUNT)
  ROOT go = pred[] compare(i, n), direction=LT
}
ENTRY e {
  k = ALL parameter(0)
  zero = s32[] constant(0)
  zeros = ALL broadcast(zero), dimensions={}
  numbers = NUMBERS iota(), iota_dimension=0
  begin = (s32[], ALL, ALL, NUMBERS) tuple(zero, zeros, k, numbers)
  w = (s32[], ALL, ALL, NUMBERS) while(begin), condition=more_rows, body=rows
  ROOT y = ALL get-tuple-element(w), index=1
})";
  absl::StrReplaceAll(
      {{"STATE", "(s32[], s32[], ROWS, ALL, s32[], SQUARE, NUMBERS)"},
       {"SQUARE ROW\n", mask.is_hoisted ? "SQUARE copy(hoisted)\n" : "SQUARE add(row0s, row1s)\n"},
       {"PREDS MASK\n", mask.is_called ? "PREDS call(row, numbers, j), to_apply=mask\n"
                                       : "PREDS compare(row, column), direction=DIRECTION\n"},
       {"SEEN\n", mask.is_product ? "call(parts, ones), to_apply=product\n"
                                  : "select(is_seen, parts, zeros)\n"}},
      &text);
  return absl::StrReplaceAll(
      text,
      {{"ROWS", rows},
       {"SQUARE", square},
       {"PREDS", absl::StrCat("pred[", mask.block, ",", mask.block, "]")},
       {"ALL", all},
       {"NUMBERS", numbers},
       {"BLOCK", absl::StrCat(mask.block)},
       {"COUNT", absl::StrCat(mask.blocks)},
       {"DIRECTION", mask.direction},
       {" T\n", mask.has_array ? " reshape(number)\n" : " copy(i)\n"},
       {"END", mask.is_triangular ? "add(t, one)" : absl::StrCat("constant(", mask.blocks, ")")}});
}

// What callers pass to a loop decides what its iterations read.
TEST(BlockedMasksTest, AgreeWithTheReferenceAndAreExact) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  CasesInTurn cases;
  for (const int64_t block : {1, 2, 3}) {
    for (const int64_t blocks : {1, 2, 4}) {
      for (const bool is_triangular : {false, true}) {
        for (const bool has_array : {false, true}) {
          for (int form = 0; form < 8; ++form) {
            for (const char* const direction : {"GE", "GT", "LE"}) {
              if (!cases.IsNextTried()) continue;
              const std::string text =
                  BlockedMaskText({block, blocks, is_triangular, has_array, (form & 1) != 0,
                                   (form & 2) != 0, (form & 4) != 0, direction});
              Counts counts;
              const absl::Status status = CheckProgram(text, /*seed=*/0, &context, &counts);
              ASSERT_TRUE(status.ok()) << status << "\n" << text;
              EXPECT_EQ(counts.exact, counts.entries) << text;
            }
          }
        }
      }
    }
  }
}

// Index vectors of a scatter of which one component is a number of the program, the other one data: of three
// windows of `height` x `width` in an array of 3 x 4.
struct HalfKnownIndices {
  int64_t height;
  int64_t width;
  bool known_is_first;
  bool is_of_columns;  // the component that is known
  const char* known;
  const char* combiner;
};

std::string HalfKnownIndicesText(const HalfKnownIndices& indices) {
  const bool is_in_order = indices.known_is_first != indices.is_of_columns;
  return absl::StrReplaceAll(R"(HloModule half_known
sum { a = s32[] parameter(0) b = s32[] parameter(1) ROOT c = s32[] add(a, b) }
last { a = s32[] parameter(0) ROOT b = s32[] parameter(1) }
ENTRY e {
  x = s32[3,4] parameter(0)
  data = s32[3,1] parameter(1)
  updates = s32[3,H,W] parameter(2)
  known = s32[3,1] constant(KNOWN)
  indices = s32[3,2] concatenate(PARTS), dimensions={1}
  ROOT r = s32[3,4] scatter(x, indices, updates), update_window_dims={1,2}, inserted_window_dims={},
    scatter_dims_to_operand_dims={DIMS}, index_vector_dim=1, to_apply=COMBINER
})",
                             {{"H,", absl::StrCat(indices.height, ",")},
                              {"W]", absl::StrCat(indices.width, "]")},
                              {"KNOWN", indices.known},
                              {"PARTS", indices.known_is_first ? "known, data" : "data, known"},
                              {"DIMS", is_in_order ? "0,1" : "1,0"},
                              {"COMBINER", indices.combiner}});
}

// What is known of an index vector decides where the rest of it matters.
TEST(HalfKnownIndicesTest, AgreeWithTheReferenceAndAreExact) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  CasesInTurn cases;
  for (const int64_t height : {1, 2}) {
    for (const int64_t width : {1, 3}) {
      for (int form = 0; form < 8; ++form) {
        for (const char* const known : {"{{0},{1},{2}}", "{{-1},{1},{3}}", "{{2},{2},{0}}"}) {
          for (const ScatterBounds bounds : {ScatterBounds::kWindow, ScatterBounds::kElement}) {
            if (!cases.IsNextTried()) continue;
            const std::string text =
                HalfKnownIndicesText({height, width, (form & 1) != 0, (form & 2) != 0, known,
                                      (form & 4) != 0 ? "sum" : "last"});
            Counts counts;
            const absl::Status status = CheckProgram(text, /*seed=*/0, &context, &counts, bounds);
            ASSERT_TRUE(status.ok()) << status << "\n" << text;
            // Which elements of x are overwritten, in both directions, depends on data.
            const int64_t of_x = (form & 4) != 0 ? 0 : 2;
            EXPECT_GE(counts.exact, counts.entries - of_x) << text;
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DecidedReadsTest, ::testing::Range(0, 4));

}  // namespace
}  // namespace xla_indexing::reference
