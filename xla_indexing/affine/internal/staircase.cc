#include "xla_indexing/affine/internal/staircase.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {
namespace {

using Word = llvm::SmallVector<int64_t, 32>;

// floor((p*x + q) / m) with x counted from the first point, and p/m in lowest terms.
struct Line {
  int64_t p;
  int64_t q;
  int64_t m;

  int64_t At(int64_t x) const { return FloorDiv(p * x + q, m); }
};

class FormFinder {
 public:
  explicit FormFinder(const Staircase& f) : f_(f) {
    for (size_t i = 1; i < f.values.size(); ++i) steps_.push_back(f.values[i] - f.values[i - 1]);
    levels_ = steps_;
    llvm::sort(levels_);
    levels_.erase(std::unique(levels_.begin(), levels_.end()), levels_.end());
  }

  std::optional<StaircaseForm> Find() {
    if (levels_.size() > 4) return std::nullopt;
    if (levels_.size() < 2) return Form(levels_.empty() ? 0 : levels_[0], {});
    if (levels_.size() == 2) {
      if (const auto line = LineOf(Where({1}))) {
        int64_t slope = levels_[0];
        Part part = {levels_[1] - levels_[0], *line};
        Settle(slope, part);
        return Form(slope, part);
      }
    }
    if (levels_.size() == 3) TakeTwoOfThreeLevels();
    if (levels_.size() == 4) TakeFourLevels();
    if (!best_) TakeEqualFactors();
    return std::move(best_);
  }

 private:
  struct Part {
    int64_t factor;
    Line line;
  };

  // The word that has a one wherever the step is one of these levels.
  Word Where(std::initializer_list<size_t> levels) const {
    Word word;
    for (const int64_t step : steps_) {
      word.push_back(llvm::any_of(levels, [&](size_t i) { return step == levels_[i]; }));
    }
    return word;
  }

  // Whether m*g - p*x differ by less than m; q is the greatest. Otherwise the side on which the
  // slopes that may do so lie: +1 above, -1 below.
  std::optional<int64_t> Offset(llvm::ArrayRef<int64_t> word, int64_t p, int64_t m, int* side) {
    int64_t value = 0;
    int64_t least = 0;
    int64_t greatest = 0;
    size_t at_least = 0;
    size_t at_greatest = 0;
    for (size_t i = 0; i < word.size(); ++i) {
      value += m * word[i] - p;
      if (value < least) {
        least = value;
        at_least = i + 1;
      } else if (value > greatest) {
        greatest = value;
        at_greatest = i + 1;
      }
    }
    work_ += static_cast<int64_t>(word.size());
    if (greatest - least < m) return greatest;
    *side = at_greatest > at_least ? 1 : -1;
    return std::nullopt;
  }

  // The line whose steps are the word, of all the one with the least divisor; none where the word
  // is constant or not mechanical.
  std::optional<Line> LineOf(llvm::ArrayRef<int64_t> word) {
    int64_t ones = 0;
    for (const int64_t one : word) ones += one;
    const int64_t size = static_cast<int64_t>(word.size());
    if (ones == 0 || ones == size) return std::nullopt;
    int side = 0;
    if (f_.periodic) {
      const int64_t gcd = Gcd(ones, size);
      const auto q = Offset(word, ones / gcd, size / gcd, &side);
      return q ? std::optional<Line>({ones / gcd, *q, size / gcd}) : std::nullopt;
    }
    // Down the tree of fractions between 0 and 1. Bounds of slopes are fractions with denominators
    // of at most `size`, and so is the mediant of two neighbours the simplest one between.
    int64_t low_p = 0, low_m = 1, high_p = 1, high_m = 1;
    while (low_m + high_m <= 2 * size) {
      const int64_t p = low_p + high_p;
      const int64_t m = low_m + high_m;
      if (const auto q = Offset(word, p, m, &side)) return Line{p, *q, m};
      if (side > 0) {
        low_p = p;
        low_m = m;
      } else {
        high_p = p;
        high_m = m;
      }
    }
    return std::nullopt;
  }

  // floor((x + q)/m) with its one step among the points before the x with this number; none where
  // it has others.
  std::optional<Line> OneStep(int64_t before, int64_t m) const {
    const int64_t size = static_cast<int64_t>(steps_.size());
    if (m < 2 || before > m || size - before >= m) return std::nullopt;
    return Line{1, FloorMod(-before, m), m};
  }

  // Where one step is all there is to see of a floor there are many with this step. Those are taken
  // that are digits: with the linear part k*x the mod k*(x - m*floor(x/m)), with another floor k*T
  // its digit k*(T - n*floor(T/n)); then the one without a constant, then the one with the least
  // divisor.
  Line Settled(const Part& part, int64_t slope, const Part* other) const {
    const Line& line = part.line;
    const int64_t size = static_cast<int64_t>(steps_.size());
    if (f_.periodic || line.p != 1 || line.At(size) != line.At(0) + 1) return line;
    const int64_t before = line.m - line.q;
    if (slope != 0 && part.factor % slope == 0) {
      if (const auto digit = OneStep(before, -(part.factor / slope))) return *digit;
    }
    if (other != nullptr && other->line.p == 1 && part.factor % other->factor == 0 &&
        (before + other->line.q) % other->line.m == 0) {
      const int64_t times = -(part.factor / other->factor);
      if (times >= 2 && times <= 2 * size) {
        if (const auto digit = OneStep(before, other->line.m * times)) return *digit;
      }
    }
    const int64_t at = f_.first + before;
    const int64_t m = at == 0 ? std::max(before, size - before + 1) : std::abs(at);
    return OneStep(before, m).value_or(line);
  }

  // x - floor((p*x + q)/m) = floor(((m - p)*x + m - 1 - q)/m)
  static void Turn(Part& part, int64_t& slope) {
    const Line& line = part.line;
    slope += part.factor;
    part = {-part.factor, {line.m - line.p, line.m - 1 - line.q, line.m}};
  }

  // Floors that climb at less than half of the points, as Settled says.
  void Settle(int64_t& slope, llvm::MutableArrayRef<Part> parts) const {
    for (Part& part : parts) {
      const Line& line = part.line;
      if (line.p <= line.m - line.p) continue;
      Turn(part, slope);
    }
    if (parts.empty()) return;
    const bool has_two = parts.size() > 1;
    parts[0].line = Settled(parts[0], slope, has_two ? &parts[1] : nullptr);
    if (has_two) parts[1].line = Settled(parts[1], slope, &parts[0]);
  }

  StaircaseForm Form(int64_t slope, llvm::ArrayRef<Part> parts) const {
    StaircaseForm form;
    form.slope = slope;
    form.constant = f_.values[0] - slope * f_.first;
    for (const Part& part : parts) {
      const Line& line = part.line;
      form.floors.push_back({part.factor, line.p, line.q - line.p * f_.first, line.m});
      form.constant -= part.factor * line.At(0);
    }
    return form;
  }

  // What tells two forms apart, what counts most first.
  struct Cost {
    bool not_digits = false;  // of one number
    int64_t divisors = 0;
    int64_t factors_below = 0;
    int64_t factors = 0;
    int64_t constants = 0;

    std::tuple<bool, int64_t, int64_t, int64_t, int64_t> Order() const {
      return {not_digits, divisors, factors_below, factors, constants};
    }
  };

  // Floors of one number whose divisors divide each other.
  static bool AreDigits(const Line& a, const Line& b) {
    const Line& low = a.m < b.m ? a : b;
    const Line& high = a.m < b.m ? b : a;
    return low.p == 1 && high.p == 1 && high.m % low.m == 0 && (high.q - low.q) % low.m == 0;
  }

  void Offer(int64_t slope, int64_t factor, const std::optional<Line>& line, int64_t other_factor,
             const std::optional<Line>& other) {
    if (!line || !other) return;
    // floor((x + q)/2) = x - floor((x + 1 - q)/2): neither is the one that climbs at fewer points.
    for (const bool turn : {false, true}) {
      for (const bool turn_other : {false, true}) {
        if ((turn && line->m != 2) || (turn_other && other->m != 2)) continue;
        Part parts[] = {{factor, *line}, {other_factor, *other}};
        int64_t turned_slope = slope;
        if (turn) Turn(parts[0], turned_slope);
        if (turn_other) Turn(parts[1], turned_slope);
        Take(turned_slope, parts);
      }
    }
  }

  void Take(int64_t slope, llvm::MutableArrayRef<Part> parts) {
    Settle(slope, parts);
    Cost cost = {!AreDigits(parts[0].line, parts[1].line), 0, 0, std::abs(slope), 0};
    for (const auto& [factor, line] : parts) {
      cost.divisors += line.m;
      cost.factors_below += line.p;
      cost.factors += std::abs(factor);
      cost.constants += FloorMod(line.q - line.p * f_.first, line.m);
    }
    if (best_ && !(cost.Order() < best_cost_.Order())) return;
    best_cost_ = cost;
    best_ = Form(slope, parts);
  }

  // One level is the slope, the others are met where one of the floors climbs.
  void TakeTwoOfThreeLevels() {
    std::optional<Line> lines[3];
    for (size_t i = 0; i < 3; ++i) lines[i] = LineOf(Where({i}));
    for (size_t base = 0; base < 3; ++base) {
      const size_t i = base == 0 ? 1 : 0;
      const size_t j = base == 2 ? 1 : 2;
      Offer(levels_[base], levels_[i] - levels_[base], lines[i], levels_[j] - levels_[base],
            lines[j]);
    }
  }

  // slope, slope + k1, slope + k2, slope + k1 + k2.
  void TakeFourLevels() {
    if (levels_[1] - levels_[0] != levels_[3] - levels_[2]) return;
    Offer(levels_[0], levels_[1] - levels_[0], LineOf(Where({1, 3})), levels_[2] - levels_[0],
          LineOf(Where({2, 3})));
  }

  // slope, slope + k, slope + 2*k: of the words of the two floors only the sum is known. With two
  // levels the floors never climb together, or one of them always does.
  void TakeEqualFactors() {
    if (levels_.size() == 4) return;
    const int64_t k = levels_[1] - levels_[0];
    if (levels_.size() == 3) {
      if (levels_[2] - levels_[1] != k) return;
      Word sum = Where({1});
      for (const auto& [one, step] : llvm::zip(sum, steps_)) one += step == levels_[2] ? 2 : 0;
      return Separate(levels_[0], k, sum);
    }
    // The fewer ones there are to look for, the sooner words of two that are not theirs are left.
    const Word ones = Where({1});
    const Word zeros = Where({0});
    const bool few_ones = 2 * llvm::count(ones, 1) <= static_cast<int64_t>(ones.size());
    if (few_ones) Separate(levels_[0], k, ones);
    Separate(levels_[1], -k, zeros);
    if (!few_ones) Separate(levels_[0], k, ones);
  }

  // sum = w1 + w2 with mechanical words, of which w1 has the least divisor.
  void Separate(int64_t slope, int64_t k, llvm::ArrayRef<int64_t> sum) {
    const int64_t size = static_cast<int64_t>(sum.size());
    const int64_t ones = std::accumulate(sum.begin(), sum.end(), int64_t{0});
    Word rest(sum.begin(), sum.end());
    work_ = 0;
    for (int64_t m = 2; m <= size; ++m) {
      if (f_.periodic && size % m != 0) continue;
      if (best_ && 2 * m >= best_cost_.divisors) return;
      // w1 has p*size/m ones, one more or less.
      for (int64_t p = 1; p < m && p * size <= (ones + 1) * m; ++p) {
        if (Gcd(p, m) != 1) continue;
        for (int64_t q = 0; q < m; ++q) {
          if (work_ >= kMaxStaircaseWork) return;
          int64_t climbed = q;
          int64_t i = 0;
          for (; i < size; ++i) {
            climbed += p;
            const int64_t one = climbed >= m ? 1 : 0;
            climbed -= one * m;
            rest[i] = sum[i] - one;
            if (rest[i] < 0 || rest[i] > 1) break;
          }
          work_ += i + 1;
          if (i < size) continue;
          const auto other = LineOf(rest);
          if (other && other->m >= m) Offer(slope, k, Line{p, q, m}, k, other);
        }
      }
    }
  }

  const Staircase& f_;
  Word steps_;
  Word levels_;  // the values of the steps, in order
  std::optional<StaircaseForm> best_;
  Cost best_cost_;
  int64_t work_ = 0;
};

}  // namespace

std::optional<StaircaseForm> FewestFloors(const Staircase& f) {
  const auto is_within = [](int64_t value, int64_t bound) {
    return value <= bound && value >= -bound;
  };
  if (f.values.empty() || f.values.size() > kMaxStaircase + 1 ||
      !is_within(f.first, kMaxStaircaseStep) ||
      !is_within(f.values[0], kMaxStaircaseStep * kMaxStaircaseStep)) {
    return std::nullopt;
  }
  for (size_t i = 1; i < f.values.size(); ++i) {
    const std::optional<int64_t> step = CheckedSub(f.values[i], f.values[i - 1]);
    if (!step || !is_within(*step, kMaxStaircaseStep)) return std::nullopt;
  }
  return FormFinder(f).Find();
}

}  // namespace xla_indexing::internal
