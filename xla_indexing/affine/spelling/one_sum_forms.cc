// The ways to write a function of one sum L, of which only the values are known
// (affine/normal_form/values_in_turn.h). With steps D(t) = phi(t + 1) - phi(t) and F = floor((a*L + c)/n),
// where a and n have no common divisor,
//
//   e*L + k*F + c'                            D takes two values, and k more at the a steps of F
//   e*L + k*F + k'*F' + c'                    D is e + k*[a step of F] + k'*[a step of F']
//
// All of these are found, so that what is written depends on the values alone.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/affine/normal_form/rules.h"
#include "xla_indexing/affine/normal_form/values_in_turn.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

// Periods above this have too many F.
constexpr int64_t kMostSteps = 12;

// floor((a*L + c)/n) and the steps at which it grows, a bit each.
struct FloorOfSum {
  int64_t a;
  int64_t c;
  int64_t n;
  uint32_t steps;
};

class FormsOfValues {
 public:
  FormsOfValues(SimplifierState* state, const FunctionOfOneSum* function,
                llvm::SmallVectorImpl<QuasiAffineSum>* forms)
      : state_(*state), function_(*function), p_(function->values.Period()), forms_(*forms) {}

  void Add() {
    FindSteps();
    if (values_of_steps_.size() > 4) return;
    FindFloors();
    if (values_of_steps_.size() == 1) {
      Take(values_of_steps_[0].first, {});
    } else if (values_of_steps_.size() > 2 || !AddFormOfOneFloor()) {
      for (size_t i = 0; i < floors_.size(); ++i) {
        for (size_t j = 0; j < i; ++j) AddFormOfTwoFloors(floors_[j], floors_[i]);
      }
    }
  }

 private:
  using Factor = std::pair<const FloorOfSum*, int64_t>;

  // The values of D, and the steps that have each.
  void FindSteps() {
    for (int64_t t = 0; t < p_; ++t) {
      const int64_t step = function_.values.At(t + 1) - function_.values.At(t);
      auto* known = llvm::find_if(values_of_steps_, [&](auto& v) { return v.first == step; });
      if (known == values_of_steps_.end()) {
        values_of_steps_.emplace_back(step, 0);
        known = &values_of_steps_.back();
      }
      known->second |= 1U << t;
    }
    llvm::sort(values_of_steps_);
  }

  // All F whose n divides p. Those with n - a have the other steps.
  void FindFloors() {
    for (int64_t n = 2; n <= p_; ++n) {
      if (p_ % n != 0) continue;
      for (int64_t a = 1; 2 * a <= n; ++a) {
        if (Gcd(a, n) != 1) continue;
        for (int64_t c = 0; c < (n == 2 ? 1 : n); ++c) {
          FloorOfSum floor{a, c, n, 0};
          for (int64_t t = 0; t < p_; ++t) {
            if ((a * t + c) % n >= n - a) floor.steps |= 1U << t;
          }
          floors_.push_back(floor);
        }
      }
    }
  }

  bool AddFormOfOneFloor() {
    const auto& [less, at_less] = values_of_steps_[0];
    const auto& [more, at_more] = values_of_steps_[1];
    for (const FloorOfSum& floor : floors_) {
      if (floor.steps == at_more) return Take(less, {{&floor, more - less}});
      if (floor.steps == at_less) return Take(more, {{&floor, less - more}});
    }
    return false;
  }

  // The only value of D at some of the steps; null where there are several.
  const int64_t* ValueAt(uint32_t steps) const {
    for (const auto& [value, at] : values_of_steps_) {
      if ((steps & at) != 0) return (steps & ~at) == 0 ? &value : nullptr;
    }
    return nullptr;
  }

  void AddFormOfTwoFloors(const FloorOfSum& first, const FloorOfSum& second) {
    const uint32_t all = (1U << p_) - 1;
    // D where neither, the first, the second and both grow.
    const uint32_t steps[] = {all & ~first.steps & ~second.steps, first.steps & ~second.steps,
                              second.steps & ~first.steps, first.steps & second.steps};
    std::optional<int64_t> values[4];
    int unknown = 0;
    int places = 0;
    for (const int i : {0, 1, 2, 3}) {
      if (steps[i] == 0) {
        unknown = i;
        continue;
      }
      const int64_t* value = ValueAt(steps[i]);
      if (value == nullptr) return;
      values[i] = *value;
      ++places;
    }
    if (places < 3) return;
    if (places == 3) {
      const auto known = [&](int i) { return *values[i]; };
      values[unknown] = unknown == 0   ? known(1) + known(2) - known(3)
                        : unknown == 1 ? known(0) + known(3) - known(2)
                        : unknown == 2 ? known(0) + known(3) - known(1)
                                       : known(1) + known(2) - known(0);
    }
    const int64_t k = *values[1] - *values[0];
    const int64_t l = *values[2] - *values[0];
    if (*values[0] + k + l != *values[3] || k == 0 || l == 0) return;
    Take(*values[0], {{&first, k}, {&second, l}});
  }

  QuasiAffineSum SumOf(int64_t a, int64_t c) const {
    QuasiAffineSum sum(c);
    sum.AddScaled(function_.one_sum, a);
    return sum;
  }

  // Adds Z + e*L + k*F + .., which has the right steps; where n divides k also with a mod in the place
  // of F, k*F = k/n*(a*L + c) - k/n*((a*L + c) mod n). All F are 0 where L is.
  bool Take(int64_t e, llvm::ArrayRef<Factor> floors) {
    for (unsigned mods = 0; mods < (1U << floors.size()); ++mods) {
      QuasiAffineSum form = function_.beside;
      form.AddConstant(function_.values.At(0));
      form.AddScaled(function_.one_sum, e);
      bool has_these_mods = true;
      for (const auto& [i, factor] : llvm::enumerate(floors)) {
        const auto& [floor, k] = factor;
        const QuasiAffineSum sum = SumOf(floor->a, floor->c);
        if (((mods >> i) & 1U) == 0) {
          form.AddScaled(FloorDivide(state_, sum, floor->n), k);
          continue;
        }
        has_these_mods = has_these_mods && k % floor->n == 0;
        form.AddScaled(sum, k / floor->n);
        form.AddScaled(Modulo(state_, sum, floor->n), -(k / floor->n));
      }
      if (has_these_mods && form.valid()) forms_.push_back(std::move(form));
    }
    return true;
  }

  SimplifierState& state_;
  const FunctionOfOneSum& function_;
  const int64_t p_;
  llvm::SmallVectorImpl<QuasiAffineSum>& forms_;
  llvm::SmallVector<std::pair<int64_t, uint32_t>, kMostSteps> values_of_steps_;
  llvm::SmallVector<FloorOfSum, 40> floors_;
};

}  // namespace

void AddFormsOfValues(SimplifierState& state, const QuasiAffineSum& sum,
                      llvm::SmallVectorImpl<QuasiAffineSum>& forms) {
  if (IsOff(Engine::kValueForms)) return;
  const std::optional<FunctionOfOneSum> function = AsFunctionOfOneSum(sum);
  if (!function || function->values.Period() > kMostSteps) return;
  FormsOfValues(&state, &*function, &forms).Add();
}

}  // namespace xla_indexing::internal
