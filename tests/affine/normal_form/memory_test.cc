// What simplifiers and positional algebras keep their sums and numbers in: lists that are copied in
// place, and memory that is handed from one of them to the next.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "xla_indexing/affine/expr/short_list.h"
#include "xla_indexing/affine/mixed_radix/number.h"
#include "xla_indexing/affine/mixed_radix/positional.h"
#include "xla_indexing/affine/normal_form/simplifier.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

using List = ShortList<int64_t, 4>;

List UpTo(int64_t count) {
  List list;
  for (int64_t i = 0; i < count; ++i) list.push_back(i);
  return list;
}

std::vector<int64_t> ValuesOf(const List& list) { return {list.begin(), list.end()}; }

std::vector<int64_t> Counted(int64_t count) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(i);
  return values;
}

TEST(ShortListTest, CopiesAndMovesAllOfItsElements) {
  for (const int64_t from : {0, 1, 4, 5, 9, 40}) {
    for (const int64_t to : {0, 3, 4, 5, 17}) {
      List source = UpTo(from);
      List copy = UpTo(to);
      copy = source;
      EXPECT_EQ(ValuesOf(copy), Counted(from));
      EXPECT_EQ(ValuesOf(source), Counted(from));
      copy.push_back(from);
      EXPECT_EQ(ValuesOf(copy), Counted(from + 1));
      EXPECT_EQ(ValuesOf(source), Counted(from)) << "a copy is one of its own";
      List moved = UpTo(to);
      moved = std::move(source);
      EXPECT_EQ(ValuesOf(moved), Counted(from));
      EXPECT_EQ(ValuesOf(List(moved)), Counted(from));
      EXPECT_EQ(ValuesOf(List(std::move(moved))), Counted(from));
    }
  }
}

TEST(ShortListTest, TakesTheElementsOfAnotherAndGivesItsLastOne) {
  for (const int64_t count : {1, 4, 5, 12}) {
    for (const int64_t more : {0, 1, 4, 9}) {
      const List other = UpTo(more);
      List list = UpTo(count);
      list.append(other.begin(), other.end());
      std::vector<int64_t> expected = Counted(count);
      for (int64_t i = 0; i < more; ++i) expected.push_back(i);
      EXPECT_EQ(ValuesOf(list), expected);
      EXPECT_EQ(List(list.begin(), list.end()), list);
      EXPECT_EQ(list.front(), expected.front());
      EXPECT_EQ(list.back(), expected.back());
      EXPECT_EQ(list.pop_back_val(), expected.back());
      expected.pop_back();
      EXPECT_EQ(ValuesOf(list), expected);
    }
  }
  EXPECT_EQ(ValuesOf({5, 6}), (std::vector<int64_t>{5, 6}));
  EXPECT_FALSE(UpTo(3) == UpTo(4));
  EXPECT_FALSE(List({1, 2}) == List({1, 3}));
}

TEST(ShortListTest, ErasesOneElement) {
  for (const int64_t count : {1, 4, 5, 12}) {
    for (int64_t at = 0; at < count; ++at) {
      List list = UpTo(count);
      list.erase(list.begin() + at);
      std::vector<int64_t> expected = Counted(count);
      expected.erase(expected.begin() + at);
      EXPECT_EQ(ValuesOf(list), expected);
    }
  }
}

// d0 floordiv 8 is 0 for d0 in [0, 7], and not for d0 in [0, 9]. Nothing that is known in one
// domain is known in the other, whether its simplifier still exists or has left its memory behind.
TEST(SimplifierMemoryTest, OneSimplifierKnowsNothingOfAnother) {
  mlir::MLIRContext context;
  const mlir::AffineExpr d0 = mlir::getAffineDimExpr(0, &context);
  const mlir::AffineExpr quotient = d0.floorDiv(8);
  const mlir::AffineExpr zero = mlir::getAffineConstantExpr(0, &context);
  const Interval small = Interval::OfSize(8);
  const Interval large = Interval::OfSize(10);
  for (int round = 0; round < 3; ++round) {
    auto first = std::make_unique<ExprSimplifier>(&context, small, llvm::ArrayRef<Interval>());
    EXPECT_EQ(first->Simplify(quotient), zero);
    ExprSimplifier second(&context, large, {});
    EXPECT_EQ(second.Simplify(quotient), quotient);
    EXPECT_EQ(first->Simplify(quotient), zero);
    first.reset();
    ExprSimplifier third(&context, large, {});
    EXPECT_EQ(third.Simplify(quotient), quotient);
    EXPECT_EQ(third.Simplify(d0 % 8 + quotient * 8), d0);
    EXPECT_EQ(second.Simplify(d0 % 8 + quotient * 8), d0);
  }
}

// Six elements as two by three and twelve as two by six: the second algebra has other sources of
// the same numbers, beside the first and in the memory that it leaves.
TEST(PositionalMemoryTest, OneAlgebraKnowsNothingOfAnother) {
  for (int round = 0; round < 3; ++round) {
    auto first = std::make_unique<PositionalAlgebra>();
    const Number six = first->AddVariable(6);
    ASSERT_TRUE(first->Reshape({six}, {2, 3}).has_value());
    ASSERT_TRUE(first->Affine(six, 1, 1, 1, 7).has_value());
    for (const bool is_beside : {true, false}) {
      if (!is_beside) first.reset();
      PositionalAlgebra second;
      EXPECT_EQ(second.num_variables(), 0);
      EXPECT_EQ(second.num_sources(), 0u);
      const Number twelve = second.AddVariable(12);
      EXPECT_EQ(second.num_sources(), 1u);
      EXPECT_EQ(second.RangeOf(twelve), Interval::OfSize(12));
      const auto halves = second.Reshape({twelve}, {2, 6});
      ASSERT_TRUE(halves.has_value());
      EXPECT_EQ(second.RangeOf((*halves)[1]), Interval::OfSize(6));
      const auto moved = second.Affine(twelve, 1, 1, 1, 13);
      ASSERT_TRUE(moved.has_value());
      EXPECT_EQ(second.RangeOf(*moved), Interval::Closed(1, 12));
    }
  }
}

}  // namespace
}  // namespace xla_indexing::internal
