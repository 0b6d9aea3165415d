// Loops that fill tables, each row or element from those before it, executed step by step.

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/reference/judge/check_module.h"
#include "tests/reference/judge/root_entries.h"
#include "tests/testing/effort.h"
#include "xla_indexing/ops/answers/indexing_entry.h"

namespace xla_indexing::reference {
namespace {

void ExpectExact(const std::string& text) {
  ForEachEntryOfRoot(text, [&](const IndexingEntry& entry) {
    EXPECT_TRUE(entry.indexing.label().IsExact())
        << entry.output_leaf << " of " << entry.operand_leaf << ": "
        << entry.indexing.label().reason << "\n"
        << text;
  });
}

// Maps that say that they are exact have to be, and the others to name all that is read.
void CheckSound(const std::string& text) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::Status status = CheckModule(text, /*seed=*/0, &context);
  ASSERT_TRUE(status.ok()) << status;
}

void CheckExact(const std::string& text) {
  CheckSound(text);
  ExpectExact(text);
}

// x[i + 1] = f(x[i], x[i + 1]) for i < count. `row` computes r, of f32[columns], from a and b; in it
// COLUMNS stands for their number.
std::string TableByRows(int columns, int count, const std::string& row) {
  const std::string table = absl::StrCat("f32[", count + 2, ",", columns, "]");
  const std::string state = absl::StrCat("(s32[], ", table, ")");
  const std::string one_row = absl::StrCat("f32[1,", columns, "]");
  const std::string vector = absl::StrCat("f32[", columns, "]");
  const std::string slice = absl::StrCat(", dynamic_slice_sizes={1,", columns, "}\n");
  return absl::StrCat(
      "HloModule m\nsum {\n l = f32[] parameter(0)\n r = f32[] parameter(1)\n",
      " ROOT s = f32[] add(l, r)\n}\nbody {\n p = ", state,
      " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n x = ", table,
      " get-tuple-element(p), index=1\n one = s32[] constant(1)\n zero = s32[] constant(0)\n",
      " none = f32[] constant(0)\n j = s32[] add(i, one)\n a1 = ", one_row,
      " dynamic-slice(x, i, zero)", slice, " a = ", vector, " reshape(a1)\n b1 = ", one_row,
      " dynamic-slice(x, j, zero)", slice, " b = ", vector, " reshape(b1)\n",
      absl::StrReplaceAll(row, {{"COLUMNS", absl::StrCat(columns)}}), " r1 = ", one_row,
      " reshape(r)\n u = ", table, " dynamic-update-slice(x, r1, j, zero)\n ROOT t = ", state,
      " tuple(j, u)\n}\ncondition {\n p = ", state,
      " parameter(0)\n i = s32[] get-tuple-element(p), index=0\n n = s32[] constant(", count,
      ")\n ROOT c = pred[] compare(i, n), direction=LT\n}\nENTRY e {\n zero = s32[] constant(0)\n",
      " x = ", table, " parameter(0)\n s = ", state, " tuple(zero, x)\n ROOT w = ", state,
      " while(s), condition=condition, body=body\n}\n");
}

// A window that reaches so far to the left and to the right.
std::string Window(const std::string& name, const std::string& of, int left, int right) {
  return absl::StrCat(" ", name, " = f32[COLUMNS] reduce-window(", of,
                      ", none), window={size=", left + right + 1, " pad=", left, "_", right,
                      "}, to_apply=sum\n");
}

// Sums up to each element of all but the last elements and of all but the first, as rows of alignments
// are computed: two maps that only together are one. The first element is 0.
std::string RowOfAlignment(int columns) {
  const int last = columns - 1;
  const std::string part = absl::StrCat("f32[", last, "]");
  const std::string sums =
      absl::StrCat(", none), window={size=", last, " pad=", last - 1, "_0}, to_apply=sum\n");
  return absl::StrCat(" b0 = ", part, " slice(a), slice={[0:", last, "]}\n b2 = ", part,
                      " slice(a), slice={[1:", columns, "]}\n q0 = ", part, " reduce-window(b0",
                      sums, " q2 = ", part, " reduce-window(b2", sums, " q = ", part,
                      " add(q0, q2)\n z = f32[1] constant({0})\n",
                      " r = f32[COLUMNS] concatenate(z, q), dimensions={0}\n");
}

std::vector<std::string> RowsOf(int columns) {
  const int last = columns - 1;
  const std::string up_to = Window("q", "a", last, 0);
  const std::string left = Window("q", "a", 1, 0);
  return {
      // Sums up to each element, and beside them what was there.
      absl::StrReplaceAll(up_to, {{" q ", " r "}}),
      up_to + " r = f32[COLUMNS] add(q, b)\n",
      up_to + Window("h", "b", last, 0) + " r = f32[COLUMNS] add(q, h)\n",
      // From each element on.
      Window("r", "a", 0, last),
      // The left neighbour beside each element, as in a knapsack, and both neighbours.
      left + " r = f32[COLUMNS] add(q, b)\n",
      Window("q", "a", 1, 1) + " r = f32[COLUMNS] add(q, b)\n",
      // All of the row before.
      Window("r", "a", last, last),
      // The row before turned round.
      " r = f32[COLUMNS] reverse(a), dimensions={0}\n",
      " q = f32[COLUMNS] reverse(a), dimensions={0}\n r = f32[COLUMNS] add(q, b)\n",
  };
}

// Neighbours beside an element: what is added to its row and to its column.
using Neighbours = std::vector<std::pair<int, int>>;

std::string WordsOf(const Neighbours& places) {
  std::string words;
  for (const auto& [row, column] : places) absl::StrAppend(&words, "(", row, ",", column, ")");
  return words;
}

// The computations of: for i = .., .., rows: for j = 1, .., columns: x[i, j] is the sum of what it was
// and of `places` beside it. NAME in their names, STATE and TABLE are to be filled in. The loop over j is in
// a computation that is passed i and i - 1, and perhaps finds the row above by the second of them.
std::string ComputationsOfTable(int rows, int columns, const Neighbours& places,
                                bool finds_row_above) {
  const std::string leaves =
      " p = STATE parameter(0)\n k = s32[] get-tuple-element(p), index=0\n"
      " l = s32[] get-tuple-element(p), index=1\n m = s32[] get-tuple-element(p), index=2\n"
      " x = TABLE get-tuple-element(p), index=3\n"
      " one = s32[] constant(1)\n next = s32[] add(k, one)\n";
  const std::string condition =
      " {\n p = STATE parameter(0)\n k = s32[] get-tuple-element(p), index=0\n"
      " n = s32[] constant(LIMIT)\n ROOT c = pred[] compare(k, n), direction=LE\n}\n";
  std::string inner =
      absl::StrCat("inner_bodyNAME {\n", leaves,
                   " v0 = f32[1,1] dynamic-slice(x, l, k), dynamic_slice_sizes={1,1}\n");
  for (size_t n = 0; n < places.size(); ++n) {
    const bool is_above = finds_row_above && places[n].first == -1;
    absl::StrAppend(&inner, " a", n, " = s32[] constant(", is_above ? 0 : places[n].first, ")\n b",
                    n, " = s32[] constant(", places[n].second, ")\n i", n, " = s32[] add(",
                    is_above ? "m" : "l", ", a", n, ")\n j", n, " = s32[] add(k, b", n, ")\n u", n,
                    " = f32[1,1] dynamic-slice(x, i", n, ", j", n,
                    "), dynamic_slice_sizes={1,1}\n v", n + 1, " = f32[1,1] add(v", n, ", u", n,
                    ")\n");
  }
  return absl::StrCat(
      inner, " y = TABLE dynamic-update-slice(x, v", places.size(),
      ", l, k)\n ROOT t = STATE tuple(next, l, m, y)\n}\ninner_conditionNAME",
      absl::StrReplaceAll(condition, {{"LIMIT", absl::StrCat(columns)}}),
      "rowNAME {\n r = s32[] parameter(0)\n above = s32[] parameter(1)\n x = TABLE parameter(2)\n"
      " one = s32[] constant(1)\n s = STATE tuple(one, r, above, x)\n"
      " w = STATE while(s), condition=inner_conditionNAME, body=inner_bodyNAME\n"
      " ROOT y = TABLE get-tuple-element(w), index=3\n}\nouter_bodyNAME {\n",
      leaves,
      " above = s32[] subtract(k, one)\n y = TABLE call(k, above, x), to_apply=rowNAME\n"
      " ROOT t = STATE tuple(next, l, m, y)\n}\n",
      "outer_conditionNAME", absl::StrReplaceAll(condition, {{"LIMIT", absl::StrCat(rows)}}));
}

// Such a table, with a border around what is computed. The rows from 1 to `rows` are computed in as
// many loops, one after another, as there are numbers in `last_rows`, which are the last ones of each.
std::string TableByElements(const std::vector<int>& last_rows, int columns,
                            const Neighbours& places, bool finds_row_above = false) {
  const std::string table = absl::StrCat("f32[", last_rows.back() + 2, ",", columns + 2, "]");
  std::string text = "HloModule m\n";
  std::string entry = "ENTRY e {\n x0 = TABLE parameter(0)\n";
  int row = 1;
  for (size_t n = 0; n < last_rows.size(); ++n) {
    absl::StrAppend(&text, absl::StrReplaceAll(
                               ComputationsOfTable(last_rows[n], columns, places, finds_row_above),
                               {{"NAME", absl::StrCat("_", n)}}));
    const bool is_last = n + 1 == last_rows.size();
    absl::StrAppend(&entry, " r", n, " = s32[] constant(", row, ")\n s", n, " = STATE tuple(r", n,
                    ", r", n, ", r", n, ", x", n, ")\n ", is_last ? "ROOT " : "", "w", n,
                    " = STATE while(s", n, "), condition=outer_condition_", n, ", body=outer_body_",
                    n, "\n");
    if (!is_last) {
      absl::StrAppend(&entry, " x", n + 1, " = TABLE get-tuple-element(w", n, "), index=3\n");
    }
    row = last_rows[n] + 1;
  }
  absl::StrAppend(&text, entry, "}\n");
  return absl::StrReplaceAll(
      text, {{"STATE", absl::StrCat("(s32[], s32[], s32[], ", table, ")")}, {"TABLE", table}});
}

// A few iterations are followed one by one; what many of them lead to has no closed form.
void CheckRows(int columns, int count, const std::string& row) {
  const std::string text = TableByRows(columns, count, row);
  count <= 3 ? CheckExact(text) : CheckSound(text);
}

TEST(TableLoopsTest, RowsAreComputedFromTheRowBefore) {
  CasesInTurn cases;
  for (const int columns : {1, 2, 4}) {
    for (const std::string& row : RowsOf(columns)) {
      for (const int count : {0, 1, 2, 3, 17}) {
        if (!cases.IsNextTried()) continue;
        CheckRows(columns, count, row);
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(TableLoopsTest, RowsOfAlignmentsAreComputedFromTheRowBefore) {
  for (const int columns : {2, 3, 4}) {
    for (const int count : {0, 1, 2, 3, 17}) {
      CheckRows(columns, count, RowOfAlignment(columns));
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(TableLoopsTest, LargeTablesAreSound) {
  for (const std::string& row : RowsOf(2)) CheckSound(TableByRows(2, 64, row));
}

// However many rows there are, there are few maps.
TEST(TableLoopsTest, AFewMapsSayItForAnyNumberOfRows) {
  for (const int count : {17, 64, 300}) {
    for (const std::string& row : {RowsOf(4)[0], RowsOf(4)[1], RowsOf(4)[2]}) {
      ForEachEntryOfRoot(TableByRows(4, count, row), [&](const IndexingEntry& entry) {
        EXPECT_LE(entry.indexing.size(), 4) << count << row;
      });
    }
  }
}

// Edit distances, alignments and sums of two dimensions are so; others read rows below, or before.
const std::vector<Neighbours>& NeighboursOfElements() {
  static const auto* all = new std::vector<Neighbours>{
      {{-1, 0}, {0, -1}, {-1, -1}},
      {{-1, 0}, {0, -1}},
      {{-1, -1}},
      {{0, -1}},
      {{-1, 0}},
      {{-1, 1}, {0, -1}},
      {{-1, 0}, {0, 1}},
      {{-1, 0}, {0, -1}, {1, 0}, {0, 1}},
  };
  return *all;
}

TEST(TableLoopsTest, ElementsAreComputedFromThoseBeside) {
  CasesInTurn cases;
  for (const Neighbours& places : NeighboursOfElements()) {
    for (const auto& [rows, columns] :
         std::vector<std::pair<int, int>>{{0, 2}, {1, 1}, {1, 3}, {3, 1}, {2, 2}, {4, 3}, {5, 5}}) {
      SCOPED_TRACE(absl::StrCat(rows, " rows, ", columns, " columns, ", WordsOf(places)));
      for (const bool finds_row_above : {false, true}) {
        if (!cases.IsNextTried()) continue;
        mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
        const std::string text = TableByElements({rows}, columns, places, finds_row_above);
        const absl::Status status = CheckModule(text, /*seed=*/0, &context);
        ASSERT_TRUE(status.ok()) << status;
      }
    }
  }
}

TEST(TableLoopsTest, LargeTablesOfElementsAreExact) {
  for (const Neighbours& places : NeighboursOfElements()) {
    // A row is read to the right of an element and, through it, to the left of that.
    if (places == Neighbours{{-1, 1}, {0, -1}}) continue;
    // What is read above and to the left of an element, in any number of steps, has no closed form.
    if (absl::c_linear_search(places, std::pair(-1, 0)) &&
        absl::c_linear_search(places, std::pair(0, -1))) {
      continue;
    }
    SCOPED_TRACE(WordsOf(places));
    for (const bool finds_row_above : {false, true}) {
      ExpectExact(TableByElements({30}, 40, places, finds_row_above));
      ExpectExact(TableByElements({300}, 200, places, finds_row_above));
    }
  }
}

// Computations that say the same, one of which is passed other rows than the other.
TEST(TableLoopsTest, ComputationsThatArePassedOtherRowsDoNotShareAnswers) {
  for (const std::vector<int>& last_rows : {std::vector<int>{2, 4}, std::vector<int>{1, 2, 5}}) {
    const std::string text = TableByElements(last_rows, 2, NeighboursOfElements()[0]);
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    const absl::Status status = CheckModule(text, /*seed=*/0, &context);
    EXPECT_TRUE(status.ok()) << status;
  }
}

// The same rows are computed twice by what says the same. A number counts beside the row, and is the one
// above it first, and then the row itself.
TEST(TableLoopsTest, ComputationsThatArePassedOtherDifferencesDoNotShareAnswers) {
  const std::string table = absl::StrReplaceAll(
      TableByElements({2, 4}, 2, NeighboursOfElements()[0], /*finds_row_above=*/true),
      {{"subtract(k, one)", "copy(m)"}, {"tuple(r0, r0, r0,", "tuple(r0, r0, zero,"}});
  std::string text = absl::StrReplaceAll(
      table, {{"r0 = s32[] constant(1)", "zero = s32[] constant(0)\n r0 = s32[] constant(1)"},
              {"r1 = s32[] constant(3)", "r1 = s32[] constant(1)"},
              {"n = s32[] constant(4)", "n = s32[] constant(2)"}});
  for (const int n : {0, 1}) {
    const size_t body = text.find(absl::StrCat("outer_body_", n, " {"));
    const size_t root = text.find(" ROOT t", body);
    text.replace(text.find("l, m, y", root), 7, "l, o, y");
    text.insert(root, " o = s32[] add(m, one)\n");
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const absl::Status status = CheckModule(text, /*seed=*/0, &context);
  EXPECT_TRUE(status.ok()) << status;
  ExpectExact(text);
}

}  // namespace
}  // namespace xla_indexing::reference
