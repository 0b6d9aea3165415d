// The adapter to mlir::presburger. Every quotient becomes a variable of its own,
//
//   q = floor(Y / m):  m*q <= Y <= m*q + m - 1,     X mod n = X - n*q  with  q = floor(X / n),
//
// so that a constraint is a pair of linear inequalities.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Casting.h"
#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "mlir/Analysis/Presburger/PresburgerSpace.h"
#include "mlir/Analysis/Presburger/Simplex.h"
#include "mlir/IR/AffineExpr.h"
#include "xla_indexing/affine/expr/linear_sum.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/question_budget.h"
#include "xla_indexing/map/sets/has_integer_point.h"

namespace xla_indexing::internal {
namespace {

using ::llvm::cast;
using ::mlir::AffineExpr;
using ::mlir::AffineExprKind;

class Inequalities {
 public:
  Inequalities(llvm::ArrayRef<Interval> dims, llvm::ArrayRef<Interval> symbols)
      : dims_(dims), symbols_(symbols) {}

  // False past the bounds of has_integer_point.h; nothing counts then.
  bool Add(const Constraint& constraint) {
    std::optional<Row> row = RowOf(constraint.expr);
    return row && Bound(*row, constraint.interval);
  }

  // Whether there is one; kUndecided where the question has not as many steps left as this may take.
  Answer HavePoint() const {
    // Most sets without an integer point have no rational one either, which takes about so long.
    if (!QuestionBudget::Spend(int64_t{5} * num_columns_)) return Answer::kUndecided;
    mlir::presburger::IntegerPolyhedron set(
        mlir::presburger::PresburgerSpace::getSetSpace(num_columns_));
    for (const Row& row : at_least_zero_) {
      llvm::SmallVector<int64_t, kMaxPresburgerVariables + 1> inequality(
          llvm::ArrayRef(row.coefficients).take_front(num_columns_));
      inequality.push_back(row.constant);
      set.addInequality(inequality);
    }
    if (mlir::presburger::Simplex(set).isEmpty()) return Answer::kNo;
    if (!QuestionBudget::Spend(StepsOfSearch())) return Answer::kUndecided;
    return AnswerOf(!set.isIntegerEmpty());
  }

 private:
  // sum_i coefficients[i] * column i + constant.
  struct Row {
    llvm::SmallVector<int64_t, kMaxPresburgerVariables> coefficients =
        llvm::SmallVector<int64_t, kMaxPresburgerVariables>(kMaxPresburgerVariables, 0);
    int64_t constant = 0;
  };

  // About what the search for an integer point took in the slowest of many random systems, in
  // microseconds: by the number of variables, and by the greatest coefficient, up to 1, 8, 64 and more.
  // The number of constraints hardly counts.
  int64_t StepsOfSearch() const {
    constexpr int64_t kSteps[kMaxPresburgerVariables + 1][4] = {{10, 10, 10, 10},
                                                                {30, 30, 30, 30},
                                                                {150, 150, 150, 400},
                                                                {400, 400, 2000, 30000},
                                                                {500, 1500, 60000, 100000},
                                                                {2000, 25000, 130000, 350000},
                                                                {2500, 40000, 350000, 1500000}};
    int64_t greatest = 0;
    for (const Row& row : at_least_zero_) {
      for (const int64_t coefficient : row.coefficients) {
        greatest = std::max(greatest, coefficient < 0 ? -coefficient : coefficient);
      }
    }
    return kSteps[num_columns_][greatest <= 1 ? 0 : greatest <= 8 ? 1 : greatest <= 64 ? 2 : 3];
  }

  static bool IsSmall(Int128 coefficient) {
    return -kMaxPresburgerCoefficient < coefficient && coefficient < kMaxPresburgerCoefficient;
  }

  // row += factor * other.
  static bool AddScaled(Row& row, const Row& other, int64_t factor) {
    for (auto [to, from] : llvm::zip_equal(row.coefficients, other.coefficients)) {
      const Int128 sum = to + Int128{factor} * from;
      if (!IsSmall(sum)) return false;
      to = static_cast<int64_t>(sum);
    }
    const std::optional<int64_t> constant =
        NarrowToInt64(row.constant + Int128{factor} * other.constant);
    if (!constant) return false;
    row.constant = *constant;
    return true;
  }

  // row in interval.
  bool Bound(const Row& row, const Interval& interval) {
    const auto add = [&](int64_t sign, int64_t end) {
      if (end == kInt64Min) return false;
      Row shifted;
      shifted.constant = -sign * end;
      if (!AddScaled(shifted, row, sign)) return false;
      at_least_zero_.push_back(std::move(shifted));
      return true;
    };
    return (!interval.has_lower() || add(1, interval.lower())) &&
           (!interval.has_upper() || add(-1, interval.upper()));
  }

  std::optional<Row> NewColumn() {
    if (num_columns_ == kMaxPresburgerVariables) return std::nullopt;
    Row row;
    row.coefficients[num_columns_++] = 1;
    return row;
  }

  std::optional<Row> RowOfVariable(AffineExpr variable) {
    const auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(variable);
    const Interval& interval = dim ? dims_[dim.getPosition()]
                                   : symbols_[cast<mlir::AffineSymbolExpr>(variable).getPosition()];
    std::optional<Row> row = NewColumn();
    if (!row || !Bound(*row, interval)) return std::nullopt;
    return row;
  }

  // floor(dividend / divisor), where `dividend_row` is the dividend.
  std::optional<Row> RowOfQuotient(AffineExpr dividend, const Row& dividend_row, int64_t divisor) {
    auto [it, is_new] = quotients_.try_emplace({dividend, divisor});
    if (!is_new) return it->second;
    std::optional<Row> quotient = NewColumn();
    Row remainder = dividend_row;
    if (!quotient || !AddScaled(remainder, *quotient, -divisor) ||
        !Bound(remainder, Interval::OfSize(divisor))) {
      return std::nullopt;
    }
    it->second = *quotient;
    return quotient;
  }

  std::optional<Row> RowOfAtom(AffineExpr atom) {
    if (atom.getKind() == AffineExprKind::DimId || atom.getKind() == AffineExprKind::SymbolId) {
      return RowOfVariable(atom);
    }
    auto division = cast<mlir::AffineBinaryOpExpr>(atom);
    const auto divisor = llvm::dyn_cast<mlir::AffineConstantExpr>(division.getRHS());
    if (!divisor || divisor.getValue() < 1 || !IsSmall(divisor.getValue())) return std::nullopt;
    const std::optional<Row> dividend = RowOf(division.getLHS());
    if (!dividend) return std::nullopt;
    std::optional<Row> quotient = RowOfQuotient(division.getLHS(), *dividend, divisor.getValue());
    if (!quotient || atom.getKind() == AffineExprKind::FloorDiv) return quotient;
    Row remainder = *dividend;
    if (!AddScaled(remainder, *quotient, -divisor.getValue())) return std::nullopt;
    return remainder;
  }

  // Nested as deep as there are columns at most: every level but the innermost takes one.
  std::optional<Row> RowOf(AffineExpr expr) {
    const LinearSum sum = LinearSum::FromExpr(expr);
    if (!sum.valid() || ++depth_ > kMaxPresburgerVariables) return std::nullopt;
    Row row;
    row.constant = sum.constant();
    for (const Term& term : sum.terms()) {
      auto it = atoms_.find(term.atom);
      if (it == atoms_.end()) {
        const std::optional<Row> atom = RowOfAtom(term.atom);
        if (!atom) return std::nullopt;
        it = atoms_.try_emplace(term.atom, *atom).first;
      }
      if (!IsSmall(term.coefficient) || !AddScaled(row, it->second, term.coefficient)) {
        return std::nullopt;
      }
    }
    --depth_;
    return row;
  }

  llvm::ArrayRef<Interval> dims_;
  llvm::ArrayRef<Interval> symbols_;
  int num_columns_ = 0;
  int depth_ = 0;
  llvm::DenseMap<AffineExpr, Row> atoms_;
  llvm::DenseMap<std::pair<AffineExpr, int64_t>, Row> quotients_;
  llvm::SmallVector<Row, 16> at_least_zero_;
};

}  // namespace

Answer HasIntegerPointByPresburger(llvm::ArrayRef<Interval> dims, llvm::ArrayRef<Interval> symbols,
                                   llvm::ArrayRef<Constraint> constraints) {
  if (constraints.size() > kMaxPresburgerConstraints) return Answer::kUndecided;
  Inequalities inequalities(dims, symbols);
  for (const Constraint& constraint : constraints) {
    if (!inequalities.Add(constraint)) return Answer::kUndecided;
  }
  return inequalities.HavePoint();
}

}  // namespace xla_indexing::internal
