// Random addresses of a launch over one outer variable, both as forms and as plain functions.
#ifndef XLA_INDEXING_TESTS_REFERENCE_JUDGE_RANDOM_ACCESS_H_
#define XLA_INDEXING_TESTS_REFERENCE_JUDGE_RANDOM_ACCESS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "tests/testing/random.h"
#include "xla_indexing/gpu/requests/access_forms.h"
#include "xla_indexing/gpu/requests/launch_variables.h"

namespace xla_indexing::reference {

// The coordinates of a point: v, the lane, and the element of a vector.
using AccessPoint = std::array<int64_t, 3>;
using AccessFunction = std::function<int64_t(const AccessPoint&)>;
// The bits of a request, the first in the first period of the modulus.
using BitAddresses = std::vector<int64_t>;

// A number both as a form and as a function of the point.
struct FormAndValue {
  internal::Form form;
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
    const FormAndValue address = Times(RandomNumber(2), access_.width);
    access_.address = address.form;
    address_ = address.value;
    for (int64_t i = random_.Between(0, 2); i > 0; --i) {
      const FormAndValue number = RandomNumber(1);
      int64_t a = number.value(RandomPoint());
      int64_t b = number.value(RandomPoint());
      if (a > b) std::swap(a, b);
      access_.constraints.push_back({number.form, {a, b}});
      constraints_.push_back(number.value);
    }
    access_.algebra.UpdateDivisionRanges();
    for (size_t i = 0; i < access_.constraints.size(); ++i) {
      const auto [lower, upper] = access_.algebra.RangeOf(access_.constraints[i].form);
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
    const internal::Form mover = access_.algebra.AddVariable(0, size - 1);
    access_.address = access_.algebra.Add(access_.address, mover, factor);
    return access_.algebra.num_variables() - 1;
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
    variables_.push_back({access_.algebra.AddVariable(lower, lower + size - 1),
                          [i](const AccessPoint& point) { return point[i]; }});
    ranges_.push_back({lower, lower + size - 1});
  }
  AccessPoint RandomPoint() {
    AccessPoint point;
    for (size_t i = 0; i < 3; ++i) point[i] = random_.Between(ranges_[i].lower, ranges_[i].upper);
    return point;
  }

  FormAndValue Times(const FormAndValue& a, int64_t factor) {
    return {access_.algebra.Add(internal::Form(), a.form, factor),
            [=](const AccessPoint& point) { return factor * a.value(point); }};
  }
  FormAndValue Plus(const FormAndValue& a, const FormAndValue& b, int64_t factor) {
    return {access_.algebra.Add(a.form, b.form, factor),
            [=](const AccessPoint& point) { return a.value(point) + factor * b.value(point); }};
  }
  FormAndValue Quotient(const FormAndValue& a, int64_t m) {
    return {access_.algebra.Divide(a.form, m, /*is_mod=*/false), [=](const AccessPoint& point) {
              const int64_t value = a.value(point);
              return value >= 0 ? value / m : -((-value + m - 1) / m);
            }};
  }
  FormAndValue Remainder(const FormAndValue& a, int64_t m) {
    return {access_.algebra.Divide(a.form, m, /*is_mod=*/true),
            [=](const AccessPoint& point) { return (a.value(point) % m + m) % m; }};
  }
  // A random number: a linear index, as most accesses have, or any sum.
  FormAndValue RandomNumber(int depth) {
    const std::vector<int64_t> factors = {1, -1, 2, 3, 7, 32, 100};
    const std::vector<int64_t> divisors = {2, 3, 7, 32, 37, 49, 100, 500};
    FormAndValue sum = {internal::FormAlgebra::Constant(0), [](const AccessPoint&) { return 0; }};
    if (random_.OneIn(2)) {
      sum = Plus(Plus(variables_[1], variables_[0], 32), variables_[2], random_.Between(0, 2));
      if (random_.OneIn(2)) sum = Plus(Times(sum, 4), variables_[2], 1);
    } else {
      for (const FormAndValue& variable : variables_) {
        if (random_.OneIn(2)) sum = Plus(sum, variable, random_.Pick(factors));
      }
    }
    if (depth == 0) return sum;
    const FormAndValue rest = random_.OneIn(2) ? sum : RandomNumber(depth - 1);
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
        const FormAndValue quotient = Times(Quotient(rest, m), random_.OneIn(4) ? 2 : 1);
        const FormAndValue upper = Plus(quotient, variables_[0], random_.Between(0, 2));
        return Plus(Times(Remainder(rest, m), factor), Remainder(upper, n), factor * m);
      }
      default:
        return Plus(Times(Remainder(rest, m), factor), Quotient(rest, m), n);
    }
  }

  Random random_;
  internal::LaunchAccess access_;
  std::vector<FormAndValue> variables_;
  std::vector<internal::ValueRange> ranges_;
  AccessFunction address_;
  std::vector<AccessFunction> constraints_;
  std::vector<int> open_;
  int64_t modulus_ = 0;
};

}  // namespace xla_indexing::reference

#endif  // XLA_INDEXING_TESTS_REFERENCE_JUDGE_RANDOM_ACCESS_H_
