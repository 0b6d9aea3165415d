// All powers of maps that do the same to some dimensions, against ways that are followed step by step,
// and against isl's transitive closure, which is code of its own (tests/map/isl_judge.h).

#include "xla_indexing/ops/loops/closure/independent_dims.h"

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/ops/loops/closure/isl_closures.h"
#include "tests/testing/effort.h"
#include "tests/testing/map_pairs.h"
#include "xla_indexing/base/numbers/interval.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"
#include "xla_indexing/map/text/text.h"
#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/loops/closure/alternation.h"
#include "xla_indexing/ops/loops/closure/repeating_powers.h"
#include "xla_indexing/ops/loops/closure/translations.h"

namespace xla_indexing::internal {
namespace {

constexpr int64_t kRows = 4;
constexpr int64_t kColumns = 3;

// A loop over a table of kRows by kColumns elements.
class TableSteps : public LoopSteps {
 public:
  TableSteps(const HloInstruction& table, Direction direction, LoopMemo& memo, int64_t count)
      : LoopSteps(table, direction, memo), count_(count) {}

  Interval Counts() const override { return Interval::Point(count_); }
  int64_t LeafCount() const override { return 1; }
  const Shape& Leaf(int64_t) const override { return loop_.shape(); }
  bool PassesThrough(int64_t) const override { return false; }
  const LeafSets& TimedStepsOf(int64_t) const override { return none_; }

 private:
  int64_t count_;
  LeafSets none_;
};

// What a step does to one dimension: the index that it leads to, and conditions. `D` stands for the
// dimension, `T` for the number of the iteration, and `s0` for a range over the dimension.
struct Part {
  std::string index;
  std::vector<std::string> conditions = {};
};

class IndependentDimsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    absl::StatusOr<std::unique_ptr<HloModule>> module = ParseAndVerifyModule(absl::StrCat(
        "HloModule m\nENTRY e {\n ROOT p = f32[", kRows, ",", kColumns, "] parameter(0)\n}\n"));
    ASSERT_TRUE(module.ok()) << module.status();
    module_ = *std::move(module);
  }

  static std::string Filled(std::string text, const std::string& dim, const std::string& number) {
    std::string filled;
    for (const char c : text) {
      if (c == 'D') {
        filled += dim;
      } else if (c == 'T') {
        filled += number;
      } else {
        filled += c;
      }
    }
    return filled;
  }

  static std::string PieceText(const Part& row, const Part& column, int64_t count,
                               bool is_forward) {
    const std::string number = is_forward ? "d0" : "d0 - 1";
    std::vector<std::string> domain = {
        absl::StrCat("d0 in [", is_forward ? 0 : 1, ", ", is_forward ? count - 1 : count, "]"),
        absl::StrCat("d1 in [0, ", kRows - 1, "]"), absl::StrCat("d2 in [0, ", kColumns - 1, "]"),
        absl::StrCat("s0 in [0, ", kColumns - 1, "]")};
    const auto add = [&](const Part& part, const std::string& dim, int64_t size) {
      const std::string index = Filled(part.index, dim, number);
      if (index != "s0") domain.push_back(absl::StrCat(index, " in [0, ", size - 1, "]"));
      for (const std::string& condition : part.conditions) {
        domain.push_back(Filled(condition, dim, number));
      }
      return index;
    };
    const std::string first = add(row, "d1", kRows);
    const std::string second = add(column, "d2", kColumns);
    return absl::StrCat("(d0, d1, d2)[s0] -> (d0 ", is_forward ? "+ 1" : "- 1", ", ", first, ", ",
                        second, "), domain: ", absl::StrJoin(domain, ", "));
  }

  // Whether the law applies; it then gives the closure.
  bool Check(const std::vector<std::string>& texts, int64_t count, bool is_forward) {
    OperandIndexingSet pieces;
    for (const std::string& text : texts) {
      const absl::StatusOr<IndexingMap> map = ParseIndexingMap(text, &context_);
      EXPECT_TRUE(map.ok()) << map.status() << text;
      OperandIndexing piece(kPartsFit, *map);
      piece.Simplify();
      if (!piece.IsKnownEmpty()) pieces.Add(std::move(piece));
    }
    if (pieces.empty()) return false;
    LoopMemo memo;
    const TableSteps steps(*module_->entry_computation()->root_instruction(),
                           is_forward ? Direction::kInputToOutput : Direction::kOutputToInput, memo,
                           count);
    const std::optional<OperandIndexingSet> powers = CloseIndependent(steps, 0, pieces, Close);
    if (!powers) return false;
    EXPECT_EQ(MapPairsOf(*powers), ClosureOf(MapPairsOf(pieces))) << absl::StrJoin(texts, "\n");
    isl_.Compare(pieces, *powers, absl::StrJoin(texts, "\n"));
    return true;
  }

  static std::optional<OperandIndexingSet> Close(const LoopSteps& steps,
                                                 const OperandIndexingSet& maps) {
    EXPECT_EQ(steps.Leaf(0).rank(), 1);
    if (maps.size() == 1) {
      if (auto powers = ClosePiece(maps.maps()[0])) return powers;
    }
    std::vector<LoopPiece> pieces;
    for (const OperandIndexing& map : maps) pieces.push_back({0, 0, map});
    std::vector<const LoopPiece*> pointers;
    for (const LoopPiece& piece : pieces) pointers.push_back(&piece);
    if (auto closure = CloseRepeating(steps, pointers)) return (*closure)[{0, 0}];
    return CloseByAlternation(std::vector<OperandIndexing>(maps.begin(), maps.end()));
  }

  IslClosures isl_{16};
  mlir::MLIRContext context_{mlir::MLIRContext::Threading::DISABLED};
  std::unique_ptr<HloModule> module_;
};

const std::vector<Part>& Rows() {
  static const auto* rows = new std::vector<Part>{
      {"D"},
      {"D - 1"},
      {"D + 1"},
      {"T"},
      {"D - 1", {"T - D in [-1, -1]"}},
      {"D + 1", {"T - D in [0, 0]"}},
      {"D", {"T - D in [0, 9]"}},
      {"D", {"T - D in [-9, -1]"}},
  };
  return *rows;
}

const std::vector<Part>& Columns() {
  static const auto* columns = new std::vector<Part>{
      {"D"},
      {"D - 1"},
      {"D + 1"},
      {"0"},
      {"s0"},
      {"s0", {"D - s0 in [0, 9]"}},
      {"s0", {"D - s0 in [1, 9]"}},
      {"s0", {"D - s0 in [-9, 0]"}},
      {"D", {"T - D in [0, 9]"}},
      {"s0", {"T - D in [0, 9]"}},
      {"s0", {"D + s0 in [0, 2]"}},
  };
  return *columns;
}

// Every pair of a row and one or two ways of a column.
TEST_F(IndependentDimsTest, RowsAndColumnsGoTheirOwnWays) {
  int closed = 0;
  CasesInTurn cases;
  for (const bool is_forward : {false, true}) {
    for (const int64_t count : {1, 2, 5}) {
      for (const Part& row : Rows()) {
        for (size_t i = 0; i < Columns().size(); ++i) {
          for (size_t j = i; j < Columns().size(); ++j) {
            if (!cases.IsNextTried()) continue;
            std::vector<std::string> texts = {PieceText(row, Columns()[i], count, is_forward)};
            if (j > i) texts.push_back(PieceText(row, Columns()[j], count, is_forward));
            closed += Check(texts, count, is_forward) ? 1 : 0;
            if (HasFailure()) return;
          }
        }
      }
    }
  }
  std::cout << closed << " closed, " << isl_.compared() << " compared with isl's\n";
  EXPECT_GT(closed, Cases(1000));
}

// What differs in its rows is not divided at them: it is not known which of the two a way has taken.
TEST_F(IndependentDimsTest, MapsOfDifferentRowsAreDividedAtTheirColumnsOnly) {
  int closed = 0;
  CasesInTurn cases;
  for (const bool is_forward : {false, true}) {
    for (const Part& row : Rows()) {
      for (const Part& other_row : Rows()) {
        for (const Part& column : Columns()) {
          for (const Part& other_column : {Columns()[0], Columns()[5], column}) {
            if (!cases.IsNextTried()) continue;
            closed += Check({PieceText(row, column, 4, is_forward),
                             PieceText(other_row, other_column, 4, is_forward)},
                            4, is_forward)
                          ? 1
                          : 0;
            if (HasFailure()) return;
          }
        }
      }
    }
  }
  std::cout << closed << " closed\n";
  EXPECT_GT(closed, Cases(100));
}

// What one dimension does depends on the other one.
TEST_F(IndependentDimsTest, DimensionsThatAreTiedAreNotDivided) {
  const std::string domain = ", domain: d0 in [1, 4], d1 in [0, 3], d2 in [0, 2], s0 in [0, 2]";
  for (const std::string& piece : {
           absl::StrCat("(d0, d1, d2)[s0] -> (d0 - 1, d2, d1)", domain, ", d1 in [0, 2]"),
           absl::StrCat("(d0, d1, d2)[s0] -> (d0 - 1, d1, s0)", domain, ", d1 - s0 in [0, 3]"),
           absl::StrCat("(d0, d1, d2)[s0] -> (d0 - 1, s0, s0)", domain),
           absl::StrCat("(d0, d1, d2)[s0] -> (d0 - 1, d1, d2)", domain, ", d1 - d2 in [0, 3]"),
       }) {
    EXPECT_FALSE(Check({piece}, 4, /*is_forward=*/false)) << piece;
  }
}

// Steps of one and of two iterations are together at times that do not say how many steps there were.
TEST_F(IndependentDimsTest, StepsOfDifferentNumbersOfIterationsAreNotDivided) {
  const std::string domain = ", domain: d0 in [2, 4], d1 in [1, 3], d2 in [1, 2]";
  EXPECT_FALSE(Check({absl::StrCat("(d0, d1, d2) -> (d0 - 1, d1 - 1, d2)", domain),
                      absl::StrCat("(d0, d1, d2) -> (d0 - 2, d1 - 1, d2 - 1)", domain)},
                     4, /*is_forward=*/false));
}

}  // namespace
}  // namespace xla_indexing::internal
