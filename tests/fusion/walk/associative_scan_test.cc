// Scans by halves, as jax.lax.associative_scan makes them, against what they compute: element i of
// the result is made of elements 0 to i.

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/effort.h"
#include "tests/testing/entries.h"
#include "tests/testing/map_pairs.h"
#include "xla_indexing/fusion/hlo_indexer.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/hlo/text/parser.h"

namespace xla_indexing {
namespace {

// The text of a scan over the first dimension, of one array or of the pair (a, b) of a linear
// recurrence x_i = a_i * x_(i - 1) + b_i; `more` are the other dimensions.
class ScanText {
 public:
  // `in_halves` says that it is as XLA's fusions are: the even and the odd elements of a level's result
  // are kept apart, and what is scanned there is computed from the start wherever it is used.
  ScanText(int64_t size, bool of_pairs, bool in_halves, std::string more = "")
      : of_pairs_(of_pairs), more_(std::move(more)) {
    for (int64_t i = 0; i < (of_pairs ? 2 : 1); ++i) {
      start_.push_back(Append(size, absl::StrCat("parameter(", i, ")")));
    }
    zero_ = "zero";
    text_ += "  zero = f32[] constant(0)\n";
    const Arrays result = in_halves ? Joined(HalvesOfScan(0, size), size) : Scan(start_, size);
    if (of_pairs) {
      absl::StrAppend(&text_, "  ROOT pair = (", Shape(size), ", ", Shape(size), ") tuple(",
                      result[0], ", ", result[1], ")\n");
    } else {
      absl::StrAppend(&text_, "  ROOT result = ", Shape(size), " copy(", result[0], ")\n");
    }
  }
  std::string Text() const { return absl::StrCat("ENTRY e {\n", text_, "}\n"); }

 private:
  using Arrays = std::vector<std::string>;

  std::string Shape(int64_t size) const {
    return absl::StrCat("f32[", size, more_.empty() ? "" : ",", more_, "]");
  }
  std::string Append(int64_t size, const std::string& operation) {
    const std::string name = absl::StrCat("v", count_++);
    absl::StrAppend(&text_, "  ", name, " = ", Shape(size), " ", operation, "\n");
    return name;
  }
  // array[from:to:step], `size` elements.
  Arrays Slices(const Arrays& arrays, int64_t from, int64_t step, int64_t size) {
    Arrays slices;
    const std::string rest = more_.empty() ? "" : absl::StrCat(",[0:", more_, "]");
    for (const std::string& array : arrays) {
      slices.push_back(Append(size, absl::Substitute("slice($0), slice={[$1:$2:$3]$4}", array, from,
                                                     from + (size - 1) * step + 1, step, rest)));
    }
    return slices;
  }
  Arrays Combine(const Arrays& first, const Arrays& second, int64_t size) {
    if (!of_pairs_) {
      return {Append(size, absl::Substitute("add($0, $1)", first[0], second[0]))};
    }
    const std::string factor =
        Append(size, absl::Substitute("multiply($0, $1)", first[0], second[0]));
    const std::string scaled =
        Append(size, absl::Substitute("multiply($0, $1)", second[0], first[1]));
    return {factor, Append(size, absl::Substitute("add($0, $1)", scaled, second[1]))};
  }
  Arrays Scan(const Arrays& arrays, int64_t size) {
    if (size < 2) return arrays;
    const int64_t odds = size / 2;
    const int64_t evens = size - odds;
    const Arrays odd =
        Scan(Combine(Slices(arrays, 0, 2, odds), Slices(arrays, 1, 2, odds), odds), odds);
    Arrays even = Slices(arrays, 0, 1, 1);
    if (evens > 1) {
      const Arrays before = evens - 1 == odds ? odd : Slices(odd, 0, 1, evens - 1);
      const Arrays rest = Combine(before, Slices(arrays, 2, 2, evens - 1), evens - 1);
      for (size_t i = 0; i < even.size(); ++i) {
        even[i] = Append(evens,
                         absl::Substitute("concatenate($0, $1), dimensions={0}", even[i], rest[i]));
      }
    }
    return Joined(Padded(even, odd, size), size);
  }

  // The even and the odd elements at their places, with zeros at the others.
  struct Halves {
    Arrays even;
    Arrays odd;
  };
  Halves Padded(const Arrays& even, const Arrays& odd, int64_t size) {
    const std::string others = more_.empty() ? "" : "x0_0";
    const int is_even = size % 2 == 0 ? 1 : 0;
    Halves halves;
    for (size_t i = 0; i < even.size(); ++i) {
      halves.even.push_back(Append(size, absl::Substitute("pad($0, $1), padding=0_$2_1$3", even[i],
                                                          zero_, is_even, others)));
      halves.odd.push_back(Append(size, absl::Substitute("pad($0, $1), padding=1_$2_1$3", odd[i],
                                                         zero_, 1 - is_even, others)));
    }
    return halves;
  }
  Arrays Joined(const Halves& halves, int64_t size) {
    if (halves.odd.empty()) return halves.even;
    Arrays all;
    for (size_t i = 0; i < halves.even.size(); ++i) {
      all.push_back(Append(size, absl::Substitute("add($0, $1)", halves.even[i], halves.odd[i])));
    }
    return all;
  }
  // What the level scans: pairs of neighbours of what the level before does.
  Arrays StartOf(int64_t level, int64_t size) {
    if (level == 0) return start_;
    const Arrays before = StartOf(level - 1, size * 2);
    return Combine(Slices(before, 0, 2, size), Slices(before, 1, 2, size), size);
  }
  Halves HalvesOfScan(int64_t level, int64_t size) {
    if (size < 2) return {StartOf(level, size), {}};
    const int64_t odds = size / 2;
    const int64_t evens = size - odds;
    const Halves next = HalvesOfScan(level + 1, odds);
    const Arrays start = StartOf(level, size);
    Arrays even = Slices(start, 0, 1, 1);
    if (evens > 1) {
      const Arrays rest = Combine(Slices(Joined(next, odds), 0, 1, evens - 1),
                                  Slices(start, 2, 2, evens - 1), evens - 1);
      for (size_t i = 0; i < even.size(); ++i) {
        even[i] = Append(evens,
                         absl::Substitute("concatenate($0, $1), dimensions={0}", even[i], rest[i]));
      }
    }
    return Padded(even, Joined(next, odds), size);
  }

  bool of_pairs_;
  Arrays start_;
  std::string more_;
  std::string zero_;
  std::string text_;
  int64_t count_ = 0;
};

// The pairs (i, j) with first <= j <= i < size, of elements of the first dimension.
MapPairs Triangle(int64_t size, int64_t first, bool backward, int64_t columns) {
  MapPairs pairs;
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = first; j <= i; ++j) {
      for (int64_t column = 0; column < columns; ++column) {
        PointOfMap of_result = {i};
        PointOfMap of_operand = {j};
        if (columns > 1) {
          of_result.push_back(column);
          of_operand.push_back(column);
        }
        pairs.emplace(backward ? of_result : of_operand, backward ? of_operand : of_result);
      }
    }
  }
  return pairs;
}

void ExpectTriangles(int64_t size, bool of_pairs, int64_t columns = 1, bool in_halves = false) {
  const ScanText text(size, of_pairs, in_halves, columns > 1 ? absl::StrCat(columns) : "");
  auto module = ParseModule(text.Text(), "scan.hlo");
  ASSERT_TRUE(module.ok()) << module.status() << text.Text();
  for (const Direction direction : {Direction::kOutputToInput, Direction::kInputToOutput}) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    const bool backward = direction == Direction::kOutputToInput;
    const auto entries = Entries(*(*module)->entry_computation(), direction, &context, {});
    ASSERT_TRUE(entries.ok()) << entries.status();
    EXPECT_EQ(entries->size(), of_pairs ? 3 : 1);
    for (const IndexingEntry& entry : *entries) {
      const std::string which = absl::StrCat(size, " elements, output ", entry.output_leaf,
                                             ", operand ", entry.operand, backward ? "" : " forth");
      EXPECT_TRUE(entry.indexing.label().IsExact()) << which;
      // Where the plain walk has few maps they stay: each is a way in which elements are read.
      EXPECT_LE(entry.indexing.size(), size <= 8 ? 8 : 1) << which;
      // x_0 is b_0.
      const int64_t first = entry.output_leaf == 1 && entry.operand == 0 ? 1 : 0;
      EXPECT_EQ(MapPairsOf(entry.indexing), Triangle(size, first, backward, columns)) << which;
    }
  }
}

TEST(AssociativeScanTest, AScanOfOneArrayReadsWhatIsBeforeEachElement) {
  for (int64_t size = 2; size <= 20; ++size) ExpectTriangles(size, /*of_pairs=*/false);
  ExpectTriangles(100, /*of_pairs=*/false);
}

TEST(AssociativeScanTest, ALinearRecurrenceReadsWhatIsBeforeEachElement) {
  for (int64_t size = 2; size <= 20; ++size) ExpectTriangles(size, /*of_pairs=*/true);
  ExpectTriangles(100, /*of_pairs=*/true);
}

TEST(AssociativeScanTest, AScanOfRowsKeepsTheirColumns) {
  for (const int64_t size : {2, 7, 16, 33}) ExpectTriangles(size, /*of_pairs=*/false, 3);
}

// As XLA's CPU backend leaves it, a level has two arrays and no instruction that says what they are
// together.
TEST(AssociativeScanTest, AScanInHalvesReadsWhatIsBeforeEachElement) {
  for (const int64_t size : {2, 3, 4, 5, 6, 7, 8, 9, 12, 16}) {
    ExpectTriangles(size, /*of_pairs=*/false, 1, /*in_halves=*/true);
    ExpectTriangles(size, /*of_pairs=*/true, 1, /*in_halves=*/true);
  }
  ExpectTriangles(IsFullEffort() ? 64 : 24, /*of_pairs=*/false, 1, /*in_halves=*/true);
  ExpectTriangles(7, /*of_pairs=*/true, 3, /*in_halves=*/true);
}

}  // namespace
}  // namespace xla_indexing
