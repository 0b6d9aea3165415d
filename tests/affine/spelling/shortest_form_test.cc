// How short normal forms are (affine/expr/expr_size.h).
//
// Small expressions are compared with a search over all of them. With k divisions and n nodes the
// search has the functions of a box that some expression of that size is, and none of a smaller size
// is: an expression is a variable, a constant, a sum of two, or a multiple, a floordiv or a mod of
// one by a number of a list. What a smallest expression is made of is smallest itself, so that the
// search goes from smaller sizes to greater ones and keeps each function once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "llvm/Support/Casting.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/affine/normal_form/expr_testing.h"
#include "tests/testing/effort.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/affine/expr/expr_size.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

TEST(ExprSizeTest, CountsDivisionsNodesAndTheGreatestConstant) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const AffineExpr d0 = mlir::getAffineDimExpr(0, &context);
  const AffineExpr d1 = mlir::getAffineDimExpr(1, &context);
  EXPECT_EQ(SizeOf(d0), (ExprSize{0, 1, 0}));
  EXPECT_EQ(SizeOf(-d0), (ExprSize{0, 3, 1}));
  EXPECT_EQ(SizeOf((d0 + d1 * 128).floorDiv(36)), (ExprSize{1, 7, 128}));
  EXPECT_EQ(SizeOf(d1 * 3 + (d0 + d1 * 20).floorDiv(36)), (ExprSize{1, 11, 36}));
  EXPECT_EQ(SizeOf(d0 % 4 - (d0.floorDiv(4)) * 7), (ExprSize{2, 9, 7}));
}

// --- The search

class AllExpressions {
 public:
  using Values = std::string;  // a byte for each point, moved up by 128
  struct Found {
    AffineExpr expr;
    ExprSize size;
  };

  // most_nodes[k] is how many nodes expressions with k divisions have at most.
  AllExpressions(mlir::MLIRContext* context, const std::vector<Interval>& box,
                 const std::vector<int64_t>& constants, std::vector<int> most_nodes)
      : constants_(constants), most_nodes_(std::move(most_nodes)) {
    ForEachPoint(box, [&](const std::vector<int64_t>& point) { points_.push_back(point); });
    for (size_t divisions = 0; divisions < most_nodes_.size(); ++divisions) {
      by_size_.emplace_back(most_nodes_[divisions] + 1);
      for (int nodes = 1; nodes <= most_nodes_[divisions]; ++nodes) {
        if (divisions == 0 && nodes == 1) {
          for (size_t i = 0; i < box.size(); ++i) Add(mlir::getAffineDimExpr(i, context), 0, 1);
          for (const int64_t c : constants) Add(mlir::getAffineConstantExpr(c, context), 0, 1);
          Add(mlir::getAffineConstantExpr(0, context), 0, 1);
          Add(mlir::getAffineConstantExpr(1, context), 0, 1);
        }
        AddSums(static_cast<int>(divisions), nodes);
        AddOfOne(static_cast<int>(divisions), nodes);
      }
    }
  }

  const std::unordered_map<Values, Found>& found() const { return found_; }

  // The value of an expression at every point; empty where one is too large.
  Values ValuesOf(AffineExpr e) const {
    Values values;
    for (const std::vector<int64_t>& point : points_) {
      const auto value = static_cast<int64_t>(Value(e, point, {}));
      if (value < -128 || value > 127) return {};
      values.push_back(static_cast<char>(value));
    }
    return values;
  }

 private:
  struct Function {
    Values values;
    AffineExpr expr;
  };

  void Add(AffineExpr expr, int divisions, int nodes) {
    Add(ValuesOf(expr), expr, divisions, nodes);
  }

  void Add(Values values, AffineExpr expr, int divisions, int nodes) {
    if (values.empty() || !expr) return;
    if (!found_.try_emplace(values, Found{expr, {divisions, nodes, 0}}).second) return;
    by_size_[divisions][nodes].push_back({std::move(values), expr});
  }

  template <typename F>
  static Values Pointwise(const Values& a, F f) {
    Values values(a.size(), 0);
    for (size_t i = 0; i < a.size(); ++i) {
      const int64_t value = f(i, static_cast<int64_t>(a[i]));
      if (value < -128 || value > 127) return {};
      values[i] = static_cast<char>(value);
    }
    return values;
  }

  void AddSums(int divisions, int nodes) {
    for (int of_first = 0; of_first <= divisions; ++of_first) {
      for (int first = 1; first + 2 <= nodes; ++first) {
        const int second = nodes - 1 - first;
        if (std::pair(of_first, first) > std::pair(divisions - of_first, second)) continue;
        if (first > most_nodes_[of_first] || second > most_nodes_[divisions - of_first]) continue;
        for (size_t i = 0; i < by_size_[of_first][first].size(); ++i) {
          for (size_t j = 0; j < by_size_[divisions - of_first][second].size(); ++j) {
            const Function& a = by_size_[of_first][first][i];
            const Function& b = by_size_[divisions - of_first][second][j];
            Values sum = Pointwise(a.values, [&](size_t at, int64_t value) {
              return value + static_cast<int64_t>(b.values[at]);
            });
            if (sum.empty() || found_.contains(sum)) continue;
            Add(std::move(sum), internal::Add(a.expr, b.expr), divisions, nodes);
          }
        }
      }
    }
  }

  static bool IsSummand(AffineExpr e) {
    return e.getKind() != mlir::AffineExprKind::Add && e.getKind() != mlir::AffineExprKind::Mul &&
           e.getKind() != mlir::AffineExprKind::Constant;
  }

  enum class Operation { kMultiply, kFloorDiv, kMod };

  static int64_t Apply(Operation operation, int64_t value, int64_t c) {
    if (operation == Operation::kMultiply) return value * c;
    const int64_t mod = ((value % c) + c) % c;
    return operation == Operation::kMod ? mod : (value - mod) / c;
  }
  static AffineExpr Apply(Operation operation, AffineExpr expr, int64_t c) {
    if (operation == Operation::kMultiply) return Scale(expr, c);
    return operation == Operation::kMod ? Mod(expr, c) : FloorDiv(expr, c);
  }

  // Multiples, floordivs and mods.
  void AddOfOne(int divisions, int nodes) {
    if (nodes < 3) return;
    for (const int64_t c : constants_) {
      AddOfOne(Operation::kMultiply, c, divisions, divisions, nodes);
      if (c < 2) continue;
      AddOfOne(Operation::kFloorDiv, c, divisions - 1, divisions, nodes);
      AddOfOne(Operation::kMod, c, divisions - 1, divisions, nodes);
    }
  }

  // Applies the operation to every expression that was found with `below` divisions and two nodes less.
  void AddOfOne(Operation operation, int64_t c, int below, int divisions, int nodes) {
    if (below < 0 || nodes - 2 > most_nodes_[below]) return;
    for (size_t i = 0; i < by_size_[below][nodes - 2].size(); ++i) {
      const Function& a = by_size_[below][nodes - 2][i];
      // Products of sums are multiplied out.
      if (operation == Operation::kMultiply && !IsSummand(a.expr)) continue;
      Values values =
          Pointwise(a.values, [&](size_t, int64_t value) { return Apply(operation, value, c); });
      if (values.empty() || found_.contains(values)) continue;
      Add(std::move(values), Apply(operation, a.expr, c), divisions, nodes);
    }
  }

  std::vector<int64_t> constants_;
  std::vector<int> most_nodes_;
  std::vector<std::vector<int64_t>> points_;
  std::unordered_map<Values, Found> found_;
  // By divisions, then by nodes.
  std::vector<std::vector<std::vector<Function>>> by_size_;
};

// The same tree, in which no sum is multiplied.
AffineExpr WithProductsMultipliedOut(AffineExpr e) {
  const auto binary = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(e);
  if (!binary) return e;
  const AffineExpr lhs = WithProductsMultipliedOut(binary.getLHS());
  const AffineExpr rhs = WithProductsMultipliedOut(binary.getRHS());
  if (e.getKind() == mlir::AffineExprKind::Add) return lhs + rhs;
  const int64_t number = llvm::cast<mlir::AffineConstantExpr>(rhs).getValue();
  if (e.getKind() == mlir::AffineExprKind::FloorDiv) return lhs.floorDiv(number);
  return e.getKind() == mlir::AffineExprKind::Mod ? lhs % number : Scale(lhs, number);
}

class ShortestFormTest : public ExprFixture {
 protected:
  struct Forms {
    int64_t all = 0;
    int64_t longer = 0;  // than the search found
  };

  // Simplifies random expressions, and compares the forms of those whose functions the search has.
  Forms Compare(const std::vector<Interval>& box, const AllExpressions& all, int depth,
                int64_t tries) {
    RandomExpr random(&context_, 20240601);
    Forms forms;
    for (int64_t i = 0; i < tries; ++i) {
      const AffineExpr expr = random.Expr(static_cast<int>(box.size()), depth);
      const AllExpressions::Values values = all.ValuesOf(expr);
      const auto known = all.found().find(values);
      if (values.empty() || known == all.found().end()) continue;
      const AffineExpr form = ExprSimplifier(&context_, box, {}).Simplify(expr);
      EXPECT_EQ(all.ValuesOf(form), values) << ToString(expr) << " is " << ToString(form);
      const ExprSize size = SizeOf(form);
      const ExprSize& least = known->second.size;
      ++forms.all;
      if (std::pair(size.divisions, size.nodes) > std::pair(least.divisions, least.nodes)) {
        ++forms.longer;
      }
    }
    return forms;
  }
};

TEST_F(ShortestFormTest, OfExpressionsOfOneVariable) {
  const std::vector<Interval> box = {Interval::Closed(-7, 40)};
  const AllExpressions all(&context_, box, {-4, -3, -2, -1, 2, 3, 4, 5, 6, 7, 8}, {9, 9, 7});
  for (const int depth : {1, 2}) {
    const Forms forms = Compare(box, all, depth, Cases(100000));
    RecordProperty(absl::StrCat("depth_", depth), forms.all);
    EXPECT_GT(forms.all, Cases(10000));
    EXPECT_EQ(forms.longer, 0);
  }
}

TEST_F(ShortestFormTest, OfExpressionsOfTwoVariables) {
  const std::vector<Interval> box = {Interval::Closed(0, 9), Interval::Closed(-3, 4)};
  const AllExpressions all(&context_, box, {-2, -1, 2, 3, 4, 5}, {11, 9, 7});
  for (const int depth : {1, 2}) {
    const Forms forms = Compare(box, all, depth, Cases(100000));
    RecordProperty(absl::StrCat("depth_", depth), forms.all);
    EXPECT_GT(forms.all, Cases(10000));
    EXPECT_EQ(forms.longer, 0);
  }
}

// On fewer values more expressions are equal. Those that are lacking divide a sum of a variable and a
// division of it, as (d0 + d0 mod 4) floordiv 3 does, or are a mod of a mod with a greater divisor than
// there are values.
TEST_F(ShortestFormTest, OfExpressionsOnFewValues) {
  const std::vector<int64_t> constants = {-4, -3, -2, -1, 2, 3, 4, 5, 6, 7, 8};
  for (const auto& [interval, most_longer] :
       {std::pair(Interval::Closed(0, 4), 2), std::pair(Interval::Closed(-3, 4), 1),
        std::pair(Interval::Closed(0, 9), 0), std::pair(Interval::Closed(-4, 19), 0),
        std::pair(Interval::Closed(0, 31), 0)}) {
    const std::vector<Interval> box = {interval};
    const AllExpressions all(&context_, box, constants, {9, 9, 7});
    Forms forms;
    for (const int depth : {1, 2}) {
      const Forms of_depth = Compare(box, all, depth, Cases(20000));
      forms.all += of_depth.all;
      forms.longer += of_depth.longer;
    }
    RecordProperty(absl::StrCat("of_", *interval.Size(), "_values"), forms.all);
    EXPECT_LE(forms.longer, most_longer) << interval.ToString() << " of " << forms.all;
  }
}

TEST_F(ShortestFormTest, TermsThatNeverCarryLeaveADivision) {
  const std::vector<Interval> box = {Interval::Closed(0, 9), Interval::Closed(-3, 4)};
  const auto simplified = [&](AffineExpr e) {
    return ToString(ExprSimplifier(&context_, box, {}).Simplify(e));
  };
  EXPECT_EQ(simplified((D(0) * 26 + D(1) + 55).floorDiv(50)), "d0 floordiv 2 + 1");
  EXPECT_EQ(simplified((D(0) * 26 + D(1) + 5) % 50 - D(1)), simplified((D(0) * 26 + 2) % 50 + 3));
}

// All floors and mods of a*d0 + b*d1 + c by m, of which no other form is known here: the values tell.
TEST_F(ShortestFormTest, DivisionsOfTwoVariablesOfFewValuesKeepTheirValues) {
  int shorter = 0;
  for (const auto& box : {std::vector<Interval>{Interval::Closed(0, 2), Interval::Closed(-1, 1)},
                          std::vector<Interval>{Interval::Closed(-2, 3), Interval::Closed(0, 1)}}) {
    for (int64_t m = 2; m <= 13; ++m) {
      for (int64_t a = -m; a <= m; ++a) {
        for (int64_t b = 1 - m; b <= m; b += kOneCaseOf) {
          for (int64_t c = 0; c < m; ++c) {
            const AffineExpr y = D(0) * a + D(1) * b + c;
            for (const AffineExpr e : {y.floorDiv(m), y % m, y.floorDiv(m) % 3}) {
              const AffineExpr form = ExprSimplifier(&context_, box, {}).Simplify(e);
              ForEachPoint(box, [&](const std::vector<int64_t>& point) {
                ASSERT_EQ(Value(form, point, {}), Value(e, point, {}))
                    << ToString(e) << " is " << ToString(form);
              });
              shorter += SizeOf(form) < SizeOf(e) ? 1 : 0;
              ASSERT_LE(SizeOf(form).nodes, SizeOf(e).nodes) << ToString(e);
            }
          }
        }
      }
    }
  }
  EXPECT_GT(shorter, Cases(10000));
}

// In products that are multiplied out constants may be greater than those of both factors.
TEST_F(ShortestFormTest, IsNeverLongerThanWhatItWasGiven) {
  RandomExpr random(&context_, 7);
  for (int i = 0; i < Cases(100000); ++i) {
    const int num_dims = static_cast<int>(random.Int(1, 3));
    std::vector<Interval> box = random.Box(num_dims, 60);
    // A variable of one value is replaced by it, which may be a great constant.
    for (Interval& interval : box)
      interval = Interval::Closed(interval.lower(), interval.upper() + 1);
    const AffineExpr e = random.Expr(num_dims, static_cast<int>(random.Int(0, 3)));
    const AffineExpr form = ExprSimplifier(&context_, box, {}).Simplify(e);
    const ExprSize given = std::max(SizeOf(e), SizeOf(WithProductsMultipliedOut(e)));
    const ExprSize size = SizeOf(form);
    ASSERT_LE(std::pair(size.divisions, size.nodes), std::pair(given.divisions, given.nodes))
        << ToString(e) << " is " << ToString(form);
  }
}

// With Z = z0*d0 + z1*d1 + c (affine/spelling/spelling.h).
TEST_F(ShortestFormTest, SpellingsOfOneDivisionAreOneForm) {
  const std::vector<Interval> box = {Interval::Closed(-60, 60), Interval::Closed(0, 40)};
  const auto simplified = [&](AffineExpr e) {
    return ToString(ExprSimplifier(&context_, box, {}).Simplify(e));
  };
  for (int64_t z0 = -2; z0 <= 2; ++z0) {
    for (int64_t z1 = -2; z1 <= 2; ++z1) {
      for (int64_t c = -2; c <= 2; ++c) {
        const AffineExpr z = D(0) * z0 + D(1) * z1 + c;
        const auto floor = [&](AffineExpr y, int64_t m) { return (y + z * m).floorDiv(m) - z; };
        const auto negated = [&](AffineExpr y, int64_t m) {
          return z - 1 - (z * m - y - 1).floorDiv(m);
        };
        for (const auto& [dividend, m, text] :
             {std::tuple(D(0) + 3, int64_t{5}, "(d0 + 3) floordiv 5"),
              std::tuple(D(0) + D(1) * 128, int64_t{36}, "(d0 + d1 * 128) floordiv 36"),
              std::tuple(D(0) * 5 + D(1) * 3, int64_t{7}, "(d0 * 5 + d1 * 3) floordiv 7")}) {
          EXPECT_EQ(simplified(floor(dividend, m)), text);
          EXPECT_EQ(simplified(negated(dividend, m)), text);
        }
        EXPECT_EQ(simplified((D(1) * 5 + z * 6) % 6), simplified((D(1) * 5 + D(0) * (6 * z0)) % 6));
        EXPECT_EQ(simplified(5 - (z * 6 - D(1) * 5 - 1) % 6), "(d1 * 5) mod 6");
      }
    }
  }
}

// In the dividend of floor(Y/3) mod 3 all numbers count modulo 9, 5 like -4.
TEST_F(ShortestFormTest, NumbersInAFloorOfAModAreTheSmallerOfTwoResidues) {
  const std::vector<Interval> box = {Interval::Closed(-60, 60), Interval::Closed(-60, 60)};
  for (const int64_t multiple : {-18, -9, 0, 9, 18}) {
    const AffineExpr e = (D(0) * 2 + D(1) * (5 + multiple) + 1 - multiple).floorDiv(3) % 3;
    EXPECT_EQ(ToString(ExprSimplifier(&context_, box, {}).Simplify(e)),
              "((d0 * 2 - d1 * 4 + 1) floordiv 3) mod 3");
  }
}

// -10*((d0 * 2) mod 3) = -5*((d0 * 4) mod 6), and -8*(Y mod 3) - 4 = -4*((2*Y + 1) mod 6). The greatest
// constants are 10 and 6, and 8 and 6.
TEST_F(ShortestFormTest, APartOfAFactorGoesIntoAModWhereNumbersBecomeSmaller) {
  const std::vector<Interval> box = {Interval::Closed(-60, 60)};
  const auto simplified = [&](AffineExpr e) {
    return ToString(ExprSimplifier(&context_, box, {}).Simplify(e));
  };
  EXPECT_EQ(simplified(((D(0) * 2) % 3) * -10), "((d0 * 4) mod 6) * -5");
  EXPECT_EQ(simplified(((D(0) * 2 + 1) % 3) * -8 - 4), "((d0 * 4 + 3) mod 6) * -4");
  // -4*((2*Y + 1) mod 3) - 2 is -2*((4*Y + 3) mod 6), which other spellings of it become.
  for (const AffineExpr e :
       {((D(0) * 2 + 1) % 3) * -4 - 2, ((D(0) * -8 - 9) % 6) * -2, ((D(0) + 1) % 3) * 4 - 10}) {
    EXPECT_EQ(simplified(e), "((d0 * 4 + 3) mod 6) * -2");
  }
}

// 2 goes into one of two mods: (d0 * 2) mod 10 has as many nodes as (d0 mod 5) * 2, and a greater number.
TEST_F(ShortestFormTest, AFactorGoesIntoThoseModsThatBecomeShorter) {
  const std::vector<Interval> box = {Interval::Closed(-60, 60), Interval::Closed(-60, 60)};
  const auto simplified = [&](AffineExpr e) {
    return ToString(ExprSimplifier(&context_, box, {}).Simplify(e));
  };
  EXPECT_EQ(simplified((D(0) % 5) * 2 + ((D(1) * 2) % 3) * 2), "(d0 mod 5) * 2 + (d1 * 4) mod 6");
  EXPECT_EQ(simplified((((D(0) % 5) * 2) % 3) * 2), "((d0 mod 5) * 4) mod 6");
}

// What is equal on few values only, and neither one division nor a division of one.
TEST_F(ShortestFormTest, SumsOfTwoDivisionsAreFoundOnFewValues) {
  const auto simplified = [&](AffineExpr e, const Interval& interval) {
    return ToString(ExprSimplifier(&context_, {interval}, {}).Simplify(e));
  };
  // 0, 0, 0, 1, 2
  EXPECT_EQ(simplified(((D(0) * 3).floorDiv(4) * 2).floorDiv(3), Interval::Closed(0, 4)),
            "d0 floordiv 3 + d0 floordiv 4");
  // 0, -1, 0, 0, 1, 0, 1, 0
  EXPECT_EQ(simplified(D(0) + (D(0).floorDiv(2) * -5).floorDiv(3), Interval::Closed(-3, 4)),
            "d0 floordiv 5 + d0 mod 2");
}

// All k*((a*d0 + c) mod m) + b with small parameters and b between -k and k: equal ones have one form, and none
// is longer than what it was made of.
TEST_F(ShortestFormTest, EqualModsWithAConstantBesideThemHaveOneForm) {
  const std::vector<Interval> box = {Interval::Closed(-7, 40)};
  std::map<std::vector<int64_t>, std::string> forms;
  CasesInTurn cases;
  const auto check = [&](const AffineExpr e) {
    const AffineExpr form = ExprSimplifier(&context_, box, {}).Simplify(e);
    std::vector<int64_t> values;
    ForEachPoint(box, [&](const std::vector<int64_t>& point) {
      values.push_back(static_cast<int64_t>(Value(e, point, {})));
      ASSERT_EQ(static_cast<int64_t>(Value(form, point, {})), values.back()) << ToString(e);
    });
    EXPECT_LE(SizeOf(form), SizeOf(WithProductsMultipliedOut(e))) << ToString(e);
    const auto& [known, is_new] = forms.try_emplace(values, ToString(form));
    EXPECT_EQ(known->second, ToString(form)) << ToString(e);
  };
  for (int64_t m = 2; m <= 6; ++m) {
    for (int64_t a = 1 - m; a < m; ++a) {
      for (int64_t c = 0; c < m; ++c) {
        for (const int64_t k : {-6, -4, -3, -2, -1, 1, 2, 3, 4, 6}) {
          if (a == 0 || !cases.IsNextTried()) continue;
          const int64_t most = std::abs(k) - 1;
          for (int64_t b = -most; b <= most; ++b) check(((D(0) * a + c) % m) * k + b);
          if (HasFailure()) return;
        }
      }
    }
  }
  EXPECT_GT(forms.size(), Cases(1000));
}

// All sums of two divisions of x with small parameters, where x is a variable or d0 + d1 * 2 and has six values:
// they keep their values, and become no longer.
TEST_F(ShortestFormTest, SumsOfTwoDivisionsOnFewValuesKeepTheirValues) {
  CasesInTurn cases;
  const auto check = [&](const AffineExpr e, const std::vector<Interval>& box) {
    const AffineExpr form = ExprSimplifier(&context_, box, {}).Simplify(e);
    ForEachPoint(box, [&](const std::vector<int64_t>& point) {
      ASSERT_EQ(static_cast<int64_t>(Value(form, point, {})),
                static_cast<int64_t>(Value(e, point, {})))
          << ToString(e) << " became " << ToString(form);
    });
    EXPECT_LE(SizeOf(form), SizeOf(WithProductsMultipliedOut(e)))
        << ToString(e) << " became " << ToString(form);
  };
  const auto check_both = [&](int64_t m, int64_t n, int64_t c, int64_t k) {
    for (const AffineExpr x : {D(0), D(0) + D(1) * 2}) {
      const std::vector<Interval> box =
          x == D(0) ? std::vector<Interval>{Interval::Closed(-2, 3)}
                    : std::vector<Interval>{Interval::OfSize(2), Interval::OfSize(3)};
      for (const int64_t a : {-3, -1, 1, 2, 3}) {
        const AffineExpr y = x * a + c;
        check((x + c).floorDiv(m) + y.floorDiv(n) * k, box);
        check((x + c).floorDiv(m) + (y % n) * k, box);
        check(((x % m) * k + y).floorDiv(n), box);
        check((x.floorDiv(m) * k + y) % n + x, box);
      }
    }
  };
  for (int64_t m = 2; m <= 6; ++m) {
    for (int64_t n = 2; n <= 6; ++n) {
      for (int64_t c = -1; c <= 4; ++c) {
        for (const int64_t k : {-3, -2, -1, 1, 2, 3}) {
          if (cases.IsNextTried()) check_both(m, n, c, k);
          if (HasFailure()) return;
        }
      }
    }
  }
}

}  // namespace
}  // namespace xla_indexing::internal
