// What calls of LAPACK's routines read, against the routines: the textbook's algorithms are run with
// numbers that know from which elements they were computed. What chooses a pivot is read by whatever
// the choice moves. Over matrices of random contents these sets add up to what the routine can read.
#include "xla_indexing/ops/rules/custom_calls/lapack_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/ops/indexing_test.h"
#include "tests/testing/random.h"

namespace xla_indexing::internal {
namespace {

// A number, and the operands' elements that it was computed from, one bit for each.
struct Number {
  double value = 0;
  uint64_t from = 0;

  friend Number operator+(const Number& a, const Number& b) {
    return {a.value + b.value, a.from | b.from};
  }
  friend Number operator-(const Number& a, const Number& b) {
    return {a.value - b.value, a.from | b.from};
  }
  // What is multiplied by the constant zero is not read.
  friend Number operator*(const Number& a, const Number& b) {
    for (const Number& factor : {a, b}) {
      if (factor.value == 0 && factor.from == 0) return {};
    }
    return {a.value * b.value, a.from | b.from};
  }
  friend Number operator/(const Number& a, const Number& b) {
    return {a.value / b.value, a.from | b.from};
  }
};
Number SquareRoot(const Number& a) { return {std::sqrt(std::fabs(a.value)), a.from}; }

using Array = std::vector<Number>;  // in row-major order
// The leaves of a result, computed from the operands.
using Routine = std::function<std::vector<Array>(std::vector<Array> operands)>;

std::vector<Array> Lu(Array a, int m, int n) {
  const auto at = [&](int i, int j) -> Number& { return a[i * n + j]; };
  Array pivots(std::min(m, n));
  Number status;
  for (int k = 0; k < std::min(m, n); ++k) {
    int pivot = k;
    uint64_t candidates = 0;
    for (int i = k; i < m; ++i) {
      if (std::fabs(at(i, k).value) > std::fabs(at(pivot, k).value)) pivot = i;
      candidates |= at(i, k).from;
    }
    status.from |= candidates;
    if (k < m - 1) {
      pivots[k] = {static_cast<double>(pivot), candidates};
      for (int j = 0; j < n; ++j) {
        std::swap(at(k, j), at(pivot, j));
        for (int i = k; i < m; ++i) at(i, j).from |= candidates;
      }
    }
    for (int i = k + 1; i < m; ++i) {
      at(i, k) = at(i, k) / at(k, k);
      for (int j = k + 1; j < n; ++j) at(i, j) = at(i, j) - at(i, k) * at(k, j);
    }
  }
  return {a, pivots, {status}};
}

std::vector<Array> Qr(Array a, int m, int n, int reflections) {
  const auto at = [&](int i, int j) -> Number& { return a[i * n + j]; };
  Array factors(std::min(m, n));
  for (int k = 0; k < reflections; ++k) {
    Number square;
    for (int i = k; i < m; ++i) square = square + at(i, k) * at(i, k);
    const Number beta = SquareRoot(square);
    factors[k] = (beta - at(k, k)) / beta;
    const Number scale = at(k, k) - beta;
    for (int i = k + 1; i < m; ++i) at(i, k) = at(i, k) / scale;
    at(k, k) = beta;
    for (int j = k + 1; j < n; ++j) {
      Number product = at(k, j);
      for (int i = k + 1; i < m; ++i) product = product + at(i, k) * at(i, j);
      product = product * factors[k];
      at(k, j) = at(k, j) - product;
      for (int i = k + 1; i < m; ++i) at(i, j) = at(i, j) - at(i, k) * product;
    }
  }
  return {a, factors};
}

// The first columns of the product of the reflections that are below the diagonal, from the last to
// the first, each applied to the columns behind it.
std::vector<Array> ProductOfReflections(Array a, const Array& factors, int m, int n) {
  const auto at = [&](int i, int j) -> Number& { return a[i * n + j]; };
  const int reflections = static_cast<int>(factors.size());
  for (int j = reflections; j < n; ++j) {
    for (int i = 0; i < m; ++i) at(i, j) = Number{i == j ? 1.0 : 0.0, 0};
  }
  for (int q = reflections - 1; q >= 0; --q) {
    at(q, q) = Number{1, 0};
    for (int j = q + 1; j < n; ++j) {
      if (j < reflections) at(q, j) = {};
      Number product;
      for (int i = q; i < m; ++i) product = product + at(i, q) * at(i, j);
      product = product * factors[q];
      for (int i = q; i < m; ++i) at(i, j) = at(i, j) - at(i, q) * product;
    }
    for (int i = q + 1; i < m; ++i) at(i, q) = Number{-1, 0} * factors[q] * at(i, q);
    at(q, q) = at(q, q) - factors[q];
    for (int i = 0; i < q; ++i) at(i, q) = {};
  }
  return {a};
}

std::vector<Array> Cholesky(Array a, int n, bool is_lower) {
  const auto at = [&](int i, int j) -> Number& { return is_lower ? a[i * n + j] : a[j * n + i]; };
  Number status;
  for (int j = 0; j < n; ++j) {
    for (int i = j; i < n; ++i) {
      for (int k = 0; k < j; ++k) at(i, j) = at(i, j) - at(i, k) * at(j, k);
      at(i, j) = i == j ? SquareRoot(at(i, j)) : at(i, j) / at(j, j);
    }
    status.from |= at(j, j).from;
  }
  return {a, {status}};
}

// dl[k + 1] is below d[k], du[k] right of it.
std::vector<Array> Tridiagonal(Array dl, Array d, Array du, Array b, int n, int columns) {
  Number status;
  for (int k = 0; k + 1 < n; ++k) {
    const uint64_t choice = d[k].from | dl[k + 1].from;
    const bool is_exchanged = std::fabs(d[k].value) < std::fabs(dl[k + 1].value);
    Number second;
    if (!is_exchanged) {
      const Number factor = dl[k + 1] / d[k];
      d[k + 1] = d[k + 1] - factor * du[k];
      for (int j = 0; j < columns; ++j) {
        b[(k + 1) * columns + j] = b[(k + 1) * columns + j] - factor * b[k * columns + j];
      }
    } else {
      const Number factor = d[k] / dl[k + 1];
      d[k] = dl[k + 1];
      const Number next = d[k + 1];
      d[k + 1] = du[k] - factor * next;
      if (k + 2 < n) {
        second = du[k + 1];
        du[k + 1] = Number{-1, 0} * factor * du[k + 1];
      }
      du[k] = next;
      for (int j = 0; j < columns; ++j) {
        const Number above = b[k * columns + j];
        b[k * columns + j] = b[(k + 1) * columns + j];
        b[(k + 1) * columns + j] = above - factor * b[(k + 1) * columns + j];
      }
    }
    if (k + 2 < n) {
      dl[k + 1] = second;
      dl[k + 1].from |= choice;
      du[k + 1].from |= choice;
    }
    d[k].from |= choice;
    d[k + 1].from |= choice;
    du[k].from |= choice;
    for (int j = 0; j < 2 * columns; ++j) b[k * columns + j].from |= choice;
  }
  for (int k = 0; k < n; ++k) status.from |= d[k].from;
  for (int j = 0; j < columns; ++j) {
    for (int k = n - 1; k >= 0; --k) {
      Number& x = b[k * columns + j];
      if (k + 1 < n) x = x - du[k] * b[(k + 1) * columns + j];
      if (k + 2 < n) x = x - dl[k + 1] * b[(k + 2) * columns + j];
      x = x / d[k];
    }
  }
  return {dl, d, du, b, {status}};
}

// (leaf, element of it, operand, element of it)
using ReadPairs = std::set<std::tuple<int64_t, int64_t, int64_t, int64_t>>;

class LapackCallsTest : public IndexingTest {
 protected:
  static int64_t Position(const Shape& shape, llvm::ArrayRef<int64_t> index) {
    int64_t position = 0;
    for (int64_t k = 0; k < shape.rank(); ++k) position = position * shape.dimension(k) + index[k];
    return position;
  }

  // What the maps of one direction say of leaves from `first_leaf` on; all of them are exact.
  ReadPairs PairsOf(const HloInstruction& call, Direction direction, int64_t first_leaf) {
    ReadPairs pairs;
    const bool is_forward = direction == Direction::kInputToOutput;
    const auto entries = ComputeIndexing(call, direction, &context_, {});
    EXPECT_TRUE(entries.ok()) << entries.status();
    for (const IndexingEntry& entry : *entries) {
      if (entry.output_leaf < first_leaf) continue;
      const Shape& result = call.shape().Leaf(entry.output_leaf);
      const Shape& operand = call.operand(entry.operand)->shape();
      for (const OperandIndexing& indexing : entry.indexing) {
        EXPECT_TRUE(indexing.IsExact()) << indexing.ToString();
        const IndexingMap& map = indexing.map();
        std::vector<Interval> box;
        for (const Variable& dim : map.dims()) box.push_back(dim.bounds);
        for (const Variable& range : map.ranges()) box.push_back(range.bounds);
        std::vector<int64_t> point;
        for (const Interval& interval : box) point.push_back(interval.lower());
        for (bool is_last = false; !is_last;) {
          const llvm::ArrayRef<int64_t> all(point);
          const auto dims = all.take_front(map.num_dims());
          const auto ranges = all.drop_front(map.num_dims());
          if (*map.Contains(dims, ranges)) {
            const auto to = *map.Evaluate(dims, ranges);
            const int64_t of_result = Position(result, is_forward ? to : dims);
            const int64_t of_operand = Position(operand, is_forward ? dims : to);
            pairs.insert({entry.output_leaf, of_result, entry.operand, of_operand});
          }
          is_last = true;
          for (size_t k = point.size(); k-- > 0 && is_last;) {
            is_last = point[k] == box[k].upper();
            point[k] = is_last ? box[k].lower() : point[k] + 1;
          }
        }
      }
    }
    return pairs;
  }

  // Compares the call `text` with the routine, run on operands of random contents.
  void Compare(const std::string& text, const Routine& routine, int64_t first_leaf = 0) {
    SCOPED_TRACE(text);
    const HloInstruction* call = Entry(text);
    ReadPairs expected;
    Random random(1);
    for (int run = 0; run < 200; ++run) {
      std::vector<Array> operands;
      std::vector<std::pair<int64_t, int64_t>> elements;
      for (int64_t i = 0; i < call->operand_count(); ++i) {
        int64_t count = 1;
        for (const int64_t size : call->operand(i)->shape().dimensions()) count *= size;
        Array& operand = operands.emplace_back();
        for (int64_t k = 0; k < count; ++k) {
          operand.push_back({static_cast<double>(random.Between(-1000, 1000)) + 0.5,
                             uint64_t{1} << elements.size()});
          elements.emplace_back(i, k);
        }
      }
      ASSERT_LE(elements.size(), 64);
      const std::vector<Array> results = routine(operands);
      for (size_t leaf = first_leaf; leaf < results.size(); ++leaf) {
        for (size_t k = 0; k < results[leaf].size(); ++k) {
          for (size_t e = 0; e < elements.size(); ++e) {
            if ((results[leaf][k].from >> e & 1) == 0) continue;
            expected.insert({leaf, k, elements[e].first, elements[e].second});
          }
        }
      }
    }
    EXPECT_EQ(PairsOf(*call, Direction::kOutputToInput, first_leaf), expected);
    EXPECT_EQ(PairsOf(*call, Direction::kInputToOutput, first_leaf), expected);
  }
};

TEST_F(LapackCallsTest, LuWithPivots) {
  for (int m = 1; m <= 5; ++m) {
    for (int n = 1; n <= 5; ++n) {
      Compare(absl::StrCat("a = f32[", m, ",", n, "] parameter(0)\nROOT r = (f32[", m, ",", n,
                           "], s32[", std::min(m, n),
                           "], s32[]) custom-call(a), custom_call_target=\"lapack_sgetrf_ffi\""),
              [&](std::vector<Array> operands) { return Lu(operands[0], m, n); });
    }
  }
}

TEST_F(LapackCallsTest, Qr) {
  for (int m = 1; m <= 5; ++m) {
    for (int n = 1; n <= 5; ++n) {
      for (const bool is_complex : {false, true}) {
        const char* type = is_complex ? "c64" : "f32";
        Compare(absl::StrCat("a = ", type, "[", m, ",", n, "] parameter(0)\nROOT r = (", type, "[",
                             m, ",", n, "], ", type, "[", std::min(m, n),
                             "]) custom-call(a), custom_call_target=\"lapack_",
                             is_complex ? "c" : "s", "geqrf_ffi\""),
                [&](std::vector<Array> operands) {
                  return Qr(operands[0], m, n, std::min(is_complex ? m : m - 1, n));
                });
      }
    }
  }
}

TEST_F(LapackCallsTest, CholeskyLeavesTheOtherTriangle) {
  for (int n = 1; n <= 5; ++n) {
    for (const bool is_lower : {false, true}) {
      Compare(absl::StrCat("a = f64[", n, ",", n, "] parameter(0)\nROOT r = (f64[", n, ",", n,
                           "], s32[]) custom-call(a), custom_call_target=\"lapack_dpotrf_ffi\", "
                           "backend_config={uplo = ",
                           is_lower ? 76 : 85, " : ui8}"),
              [&](std::vector<Array> operands) { return Cholesky(operands[0], n, is_lower); });
    }
  }
}

TEST_F(LapackCallsTest, ProductsOfReflections) {
  for (int m = 1; m <= 5; ++m) {
    for (int n = 1; n <= m; ++n) {
      for (int k = 0; k <= n; ++k) {
        for (const char* target : {"lapack_sorgqr_ffi", "cusolver_orgqr_ffi"}) {
          const std::string matrix = absl::StrCat("f32[", m, ",", n, "]");
          Compare(absl::StrCat("a = ", matrix, " parameter(0)\nt = f32[", k,
                               "] parameter(1)\nROOT r = (", matrix,
                               ", s32[]) custom-call(a, t), custom_call_target=\"", target, "\""),
                  [&](std::vector<Array> operands) {
                    return ProductOfReflections(operands[0], operands[1], m, n);
                  });
        }
      }
    }
  }
}

// The routines of GPUs have a flag where those of CPUs have a letter.
TEST_F(LapackCallsTest, RoutinesOfGpusReadWhatThoseOfCpusRead) {
  const std::string before = "a = f32[2,4,4] parameter(0)\nROOT r = (f32[2,4,4], ";
  for (const bool is_lower : {false, true}) {
    const std::string letter =
        absl::StrCat(", backend_config={uplo = ", is_lower ? 76 : 85, " : ui8}");
    const std::string flag = absl::StrCat(", backend_config={lower = ", is_lower ? "true" : "false",
                                          ", more = 1 : ui8}");
    for (const auto& [routine, leaves] : std::vector<std::pair<std::string, std::string>>{
             {"potrf", "s32[2]"}, {"syevd", "f32[2,4], s32[2]"}}) {
      const std::string call =
          absl::StrCat(before, leaves, ") custom-call(a), custom_call_target=");
      const HloInstruction* cpu =
          Entry(absl::StrCat(call, "\"lapack_s", routine, "_ffi\"", letter));
      for (const char* library : {"cusolver_", "hipsolver_"}) {
        const HloInstruction* gpu =
            Entry(absl::StrCat(call, "\"", library, routine, "_ffi\"", flag));
        EXPECT_EQ(OutputToInput(gpu), OutputToInput(cpu));
        EXPECT_EQ(InputToOutput(gpu), InputToOutput(cpu));
      }
    }
  }
}

TEST_F(LapackCallsTest, TridiagonalSystems) {
  for (int n = 1; n <= 5; ++n) {
    Compare(
        absl::StrReplaceAll(
            "l = f32[N] parameter(0)\nd = f32[N] parameter(1)\nu = f32[N] parameter(2)\n"
            "b = f32[N,2] parameter(3)\nROOT r = (f32[N], f32[N], f32[N], f32[N,2], s32[]) "
            "custom-call(l, d, u, b), custom_call_target=\"lapack_sgtsv_ffi\"",
            {{"N", absl::StrCat(n)}}),
        [&](std::vector<Array> operands) {
          return Tridiagonal(operands[0], operands[1], operands[2], operands[3], n, 2);
        },
        /*first_leaf=*/3);
  }
}

// A triangular system is what triangular-solve says, for every choice of attributes.
TEST_F(LapackCallsTest, TriangularSystems) {
  for (const bool on_the_left : {false, true}) {
    for (const bool is_lower : {false, true}) {
      for (const char* transpose : {"NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"}) {
        for (const bool has_unit_diagonal : {false, true}) {
          const std::string operands =
              absl::StrCat("a = f32[2,4,4] parameter(0)\nb = f32[2,", on_the_left ? "4,3" : "3,4",
                           "] parameter(1)\nROOT r = f32[2,", on_the_left ? "4,3" : "3,4", "] ");
          const char letter = transpose[0];
          const HloInstruction* call = Entry(absl::StrCat(
              operands,
              "custom-call(a, b), custom_call_target=\"lapack_strsm_ffi\", backend_config={diag = ",
              int{has_unit_diagonal ? 'U' : 'N'}, " : ui8, side = ", int{on_the_left ? 'L' : 'R'},
              " : ui8, trans_x = ", letter == 'A' ? int{'C'} : int{letter},
              " : ui8, uplo = ", int{is_lower ? 'L' : 'U'}, " : ui8}"));
          const HloInstruction* solve = Entry(absl::StrCat(
              operands, "triangular-solve(a, b), left_side=", on_the_left ? "true" : "false",
              ", lower=", is_lower ? "true" : "false", ", unit_diagonal=",
              has_unit_diagonal ? "true" : "false", ", transpose_a=", transpose));
          EXPECT_EQ(OutputToInput(call), OutputToInput(solve));
          EXPECT_EQ(InputToOutput(call), InputToOutput(solve));
        }
      }
    }
  }
}

TEST_F(LapackCallsTest, EigenvaluesOfSymmetricMatricesReadATriangle) {
  const HloInstruction* call = Entry(R"(
    a = f32[5,3,3] parameter(0)
    ROOT r = (f32[5,3,3], f32[5,3], s32[5]) custom-call(a),
      custom_call_target="lapack_ssyevd_ffi", backend_config={mode = 86 : ui8, uplo = 76 : ui8})");
  EXPECT_EQ(OutputToInput(call).at(1),
            "1.0.0 (d0, d1)[s0, s1] -> (d0, s0, s1), domain: d0 in [0, 4], d1 in [0, 2], "
            "s0 in [0, 2], s1 in [0, 2], s0 - s1 in [0, inf]");
}

// Without the attributes that say what is read, all of a matrix may be.
TEST_F(LapackCallsTest, WithoutAttributesAllOfAMatrixMayBeRead) {
  for (const char* config : {"", ", backend_config={uplo = 7 : ui8}",
                             ", backend_config={uplo = 99999999999999999999 : ui8}",
                             ", backend_config={my_uplo = 76 : ui8}"}) {
    const HloInstruction* call =
        Entry(absl::StrCat("a = f32[3,3] parameter(0)\nROOT r = (f32[3,3], s32[]) custom-call(a), "
                           "custom_call_target=\"lapack_spotrf_ffi\"",
                           config));
    EXPECT_EQ(OutputToInput(call).at(0),
              "0.0.0 (d0, d1)[s0, s1] -> (s0, s1), domain: d0 in [0, 2], d1 in [0, 2], s0 in [0, "
              "2], s1 in [0, 2]  (over-approximate: whole matrices: which of their elements potrf "
              "reads is not looked at)");
  }
}

}  // namespace
}  // namespace xla_indexing::internal
