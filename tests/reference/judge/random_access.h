// Random addresses of a launch over one outer variable, both as expressions and as plain functions.
#ifndef XLA_INDEXING_TESTS_REFERENCE_JUDGE_RANDOM_ACCESS_H_
#define XLA_INDEXING_TESTS_REFERENCE_JUDGE_RANDOM_ACCESS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/testing/random.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/gpu/requests/access_program.h"
#include "xla_indexing/gpu/requests/launch_variables.h"

namespace xla_indexing::reference {

// The coordinates of a point: v, the lane, and the element of a vector.
using AccessPoint = std::array<int64_t, 3>;
using AccessFunction = std::function<int64_t(const AccessPoint&)>;
// The bits of a request, the first in the first period of the modulus.
using BitAddresses = std::vector<int64_t>;

// A number both as an expression and as a function of the point.
struct ExprAndValue {
  mlir::AffineExpr expr;
  AccessFunction value;
};

class RandomAccess {
 public:
  // An access with one of this many values of v.
  RandomAccess(uint64_t seed, const std::vector<int64_t>& values) : random_(seed) {
    AddVariable(random_.Between(-20, 20), random_.Pick(values));
    AddVariable(0, random_.OneIn(2) ? 32 : 9);
    AddVariable(random_.Between(0, 3), random_.Between(2, 4));
    access_.inner = 6;
    modulus_ = random_.OneIn(2) ? 1024 : 64;
    access_.width = random_.OneIn(3) ? 1 : 8;
    const ExprAndValue address = Times(RandomNumber(2), access_.width);
    exprs_.push_back(address.expr);
    address_ = address.value;
    for (int64_t i = random_.Between(0, 2); i > 0; --i) {
      const ExprAndValue number = RandomNumber(1);
      int64_t a = number.value(RandomPoint());
      int64_t b = number.value(RandomPoint());
      if (a > b) std::swap(a, b);
      exprs_.push_back(number.expr);
      access_.constraints.push_back({0, {a, b}});
      constraints_.push_back(number.value);
    }
    Compile();
    for (size_t i = 0; i < access_.constraints.size(); ++i) {
      const auto [lower, upper] = access_.program.range(access_.constraints[i].step);
      const internal::ValueRange& interval = access_.constraints[i].interval;
      if (lower < interval.lower || upper > interval.upper) open_.push_back(static_cast<int>(i));
    }
  }

  Random& random() { return random_; }
  const internal::LaunchAccess& access() const { return access_; }
  const std::vector<int>& open() const { return open_; }
  int64_t modulus() const { return modulus_; }
  internal::ValueRange values() const { return ranges_[0]; }
  // The range of a variable: v, lane or element.
  internal::ValueRange range(int variable) const { return ranges_[variable]; }
  // The address, which is also access().address.
  int64_t AddressAt(const AccessPoint& point) const { return address_(point); }
  // Adds `factor` times another outer variable in [0, size - 1] to the address; returns its number.
  int AddMover(int64_t size, int64_t factor) {
    const auto mover = mlir::getAffineDimExpr(ranges_.size(), &context_);
    exprs_[0] = internal::Add(exprs_[0], internal::Scale(mover, factor));
    ranges_.push_back({0, size - 1});
    Compile();
    return static_cast<int>(ranges_.size()) - 1;
  }

  // The bits of the request; none where no lane is active.
  BitAddresses RequestAt(int64_t v) const {
    BitAddresses bits;
    AccessPoint point{v, 0, 0};
    for (point[1] = ranges_[1].lower; point[1] <= ranges_[1].upper; ++point[1]) {
      for (point[2] = ranges_[2].lower; point[2] <= ranges_[2].upper; ++point[2]) {
        bool is_active = true;
        for (size_t i = 0; i < constraints_.size(); ++i) {
          const int64_t value = constraints_[i](point);
          const internal::ValueRange& interval = access_.constraints[i].interval;
          is_active = is_active && interval.lower <= value && value <= interval.upper;
        }
        if (!is_active) continue;
        for (int64_t bit = 0; bit < access_.width; ++bit) bits.push_back(address_(point) + bit);
      }
    }
    return InFirstPeriod(std::move(bits));
  }

  BitAddresses InFirstPeriod(BitAddresses bits) const {
    std::sort(bits.begin(), bits.end());
    bits.erase(std::unique(bits.begin(), bits.end()), bits.end());
    if (bits.empty()) return bits;
    const int64_t origin = bits[0] - ((bits[0] % modulus_ + modulus_) % modulus_);
    for (int64_t& bit : bits) bit -= origin;
    return bits;
  }

 private:
  void AddVariable(int64_t lower, int64_t size) {
    const size_t i = variables_.size();
    variables_.push_back(
        {mlir::getAffineDimExpr(i, &context_), [i](const AccessPoint& point) { return point[i]; }});
    ranges_.push_back({lower, lower + size - 1});
  }
  void Compile() {
    access_.program = internal::AccessProgram(exprs_, ranges_);
    if (!access_.program.ok()) return;
    access_.address = access_.program.program().StepOf(0);
    for (size_t i = 0; i < access_.constraints.size(); ++i) {
      access_.constraints[i].step = access_.program.program().StepOf(static_cast<int>(i) + 1);
    }
  }
  AccessPoint RandomPoint() {
    AccessPoint point;
    for (size_t i = 0; i < 3; ++i) point[i] = random_.Between(ranges_[i].lower, ranges_[i].upper);
    return point;
  }

  ExprAndValue Times(const ExprAndValue& a, int64_t factor) {
    return {internal::Scale(a.expr, factor),
            [=](const AccessPoint& point) { return factor * a.value(point); }};
  }
  ExprAndValue Plus(const ExprAndValue& a, const ExprAndValue& b, int64_t factor) {
    return {internal::Add(a.expr, internal::Scale(b.expr, factor)),
            [=](const AccessPoint& point) { return a.value(point) + factor * b.value(point); }};
  }
  ExprAndValue Quotient(const ExprAndValue& a, int64_t m) {
    return {internal::FloorDiv(a.expr, m), [=](const AccessPoint& point) {
              const int64_t value = a.value(point);
              return value >= 0 ? value / m : -((-value + m - 1) / m);
            }};
  }
  ExprAndValue Remainder(const ExprAndValue& a, int64_t m) {
    return {internal::Mod(a.expr, m),
            [=](const AccessPoint& point) { return (a.value(point) % m + m) % m; }};
  }
  // A random number: a linear index, as most accesses have, or any sum.
  ExprAndValue RandomNumber(int depth) {
    const std::vector<int64_t> factors = {1, -1, 2, 3, 7, 32, 100};
    const std::vector<int64_t> divisors = {2, 3, 7, 32, 37, 49, 100, 500};
    ExprAndValue sum = {internal::Constant(0, &context_), [](const AccessPoint&) { return 0; }};
    if (random_.OneIn(2)) {
      sum = Plus(Plus(variables_[1], variables_[0], 32), variables_[2], random_.Between(0, 2));
      if (random_.OneIn(2)) sum = Plus(Times(sum, 4), variables_[2], 1);
    } else {
      for (const ExprAndValue& variable : variables_) {
        if (random_.OneIn(2)) sum = Plus(sum, variable, random_.Pick(factors));
      }
    }
    if (depth == 0) return sum;
    const ExprAndValue rest = random_.OneIn(2) ? sum : RandomNumber(depth - 1);
    const int64_t m = random_.Pick(divisors);
    const int64_t n = random_.Pick(divisors);
    const int64_t factor = random_.Pick(factors);
    switch (random_.Between(0, 4)) {
      case 0:
        return Plus(sum, Quotient(rest, m), factor);
      case 1:
        return Plus(sum, Remainder(rest, m), factor);
      case 2:  // Digits, in another order.
        return Plus(Remainder(rest, m), Remainder(Quotient(rest, m), n), factor);
      case 3: {  // Digits in their order, of a sum, or nearly so.
        const ExprAndValue quotient = Times(Quotient(rest, m), random_.OneIn(4) ? 2 : 1);
        const ExprAndValue upper = Plus(quotient, variables_[0], random_.Between(0, 2));
        return Plus(Times(Remainder(rest, m), factor), Remainder(upper, n), factor * m);
      }
      default:
        return Plus(Times(Remainder(rest, m), factor), Quotient(rest, m), n);
    }
  }

  Random random_;
  mlir::MLIRContext context_;
  internal::LaunchAccess access_;
  std::vector<mlir::AffineExpr> exprs_;  // the address, and constraints
  std::vector<ExprAndValue> variables_;
  std::vector<internal::ValueRange> ranges_;
  AccessFunction address_;
  std::vector<AccessFunction> constraints_;
  std::vector<int> open_;
  int64_t modulus_ = 0;
};

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_JUDGE_RANDOM_ACCESS_H_
