#include "xla_indexing/ops/values/cases/fit_sequence.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/expr/build.h"
#include "xla_indexing/base/engines.h"
#include "xla_indexing/base/numbers/checked.h"
#include "xla_indexing/base/numbers/interval.h"

namespace xla_indexing::internal {
namespace {

using ::mlir::AffineExpr;

// Within these bounds no number below exceeds int64.
constexpr int64_t kGreatestValue = int64_t{1} << 40;
constexpr size_t kMaxLength = size_t{1} << 20;
// The most comparisons of values for one sequence.
constexpr int64_t kMaxWork = int64_t{1} << 24;

AffineExpr TermOfProgression(int64_t first, int64_t step, AffineExpr x) {
  return LinearCombination({{x, step}}, first);
}

bool IsProgression(llvm::ArrayRef<int64_t> values) {
  for (size_t i = 2; i < values.size(); ++i) {
    if (values[i] - values[i - 1] != values[1] - values[0]) return false;
  }
  return true;
}

// b + s*((x + c) mod n): of the n steps from each value to the next, and from the last to the
// first, one is s - s*n and the others are s.
AffineExpr FitRotation(llvm::ArrayRef<int64_t> values, AffineExpr x) {
  const auto n = static_cast<int64_t>(values.size());
  const auto step = [&](int64_t i) { return values[(i + 1) % n] - values[i]; };
  const int64_t s = step(0) == step(1) || step(0) == step(2) ? step(0) : step(1);
  std::optional<int64_t> wrap;
  for (int64_t i = 0; i < n; ++i) {
    if (step(i) == s) continue;
    if (wrap || step(i) != s - s * n) return {};
    wrap = i;
  }
  if (!wrap) return {};
  const int64_t first = (*wrap + 1) % n;
  AffineExpr rotated = Mod(Add(x, Constant((n - first) % n, x.getContext())), n);
  return TermOfProgression(values[first], s, rotated);
}

class Fitter {
 public:
  AffineExpr Fit(llvm::ArrayRef<int64_t> values, AffineExpr x) {
    if (values.empty()) return {};
    if (values.size() == 1) return Constant(values[0], x.getContext());
    if (!Spend(values.size())) return {};
    if (IsProgression(values)) return TermOfProgression(values[0], values[1] - values[0], x);
    if (AffineExpr rotation = FitRotation(values, x)) return rotation;
    // A last digit that counts as far as the values do has the shortest formula.
    size_t run = 2;
    while (run < values.size() && values[run] - values[run - 1] == values[1] - values[0]) ++run;
    if (run > 2 && values.size() % run == 0) {
      if (AffineExpr sum = FitDigits(values, run, x)) return sum;
    }
    for (size_t m = 2; m < values.size(); ++m) {
      if (values.size() % m != 0) continue;
      if (!Spend(values.size())) return {};
      if (AffineExpr sum = FitDigits(values, m, x)) return sum;
    }
    return {};
  }

 private:
  bool Spend(size_t comparisons) {
    work_ += static_cast<int64_t>(comparisons);
    return work_ <= kMaxWork;
  }

  // values[q*m + r] = high[q] + low[r].
  AffineExpr FitDigits(llvm::ArrayRef<int64_t> values, size_t m, AffineExpr x) {
    for (size_t i = m; i < values.size(); ++i) {
      if (values[i] - values[i - i % m] != values[i % m] - values[0]) return {};
    }
    std::vector<int64_t> high;
    for (size_t i = 0; i < values.size(); i += m) high.push_back(values[i]);
    std::vector<int64_t> low(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(m));
    for (int64_t& value : low) value -= high[0];
    const auto modulus = static_cast<int64_t>(m);
    AffineExpr high_expr = Fit(high, FloorDiv(x, modulus));
    return high_expr ? Add(high_expr, Fit(low, Mod(x, modulus))) : AffineExpr();
  }

  int64_t work_ = 0;
};

// Whether there are not too many values, none of which is too great.
bool AreFitted(llvm::ArrayRef<int64_t> values) {
  return values.size() <= kMaxLength && llvm::all_of(values, [](int64_t value) {
           return value >= -kGreatestValue && value <= kGreatestValue;
         });
}

// A fraction with a positive denominator; 1/0 is infinite.
struct Fraction {
  Int128 numerator;
  Int128 denominator;

  friend bool operator<(const Fraction& a, const Fraction& b) {
    return a.numerator * b.denominator < b.numerator * a.denominator;
  }
  // The greatest integer that is at most the fraction.
  Int128 Floor() const {
    const Int128 quotient = numerator / denominator;
    return quotient - (numerator % denominator < 0 ? 1 : 0);
  }
};

// The fraction with the smallest denominator between two, low < high and low finite; among integers
// that nearest to 0.
Fraction SimplestBetween(const Fraction& low, const Fraction& high) {
  if (low.numerator < 0 && high.numerator > 0) return {0, 1};
  if (low.numerator < 0) {
    const Fraction mirrored =
        SimplestBetween({-high.numerator, high.denominator}, {-low.numerator, low.denominator});
    return {-mirrored.numerator, mirrored.denominator};
  }
  const Int128 integer = low.Floor();
  if (Fraction{integer + 1, 1} < high) return {integer + 1, 1};
  // integer + 1/y, where y is between 1/(high - integer) and 1/(low - integer).
  const Fraction y =
      SimplestBetween({high.denominator, high.numerator - integer * high.denominator},
                      {low.denominator, low.numerator - integer * low.denominator});
  return {integer * y.numerator + y.denominator, y.numerator};
}

// floor((p*x + b) / q), q > 0
struct DigitalLine {
  int64_t p;
  int64_t b;
  int64_t q;

  AffineExpr At(AffineExpr x) const { return FloorDiv(TermOfProgression(b, p, x), q); }
};

// A line y_x <= p/q * x + b/q < y_x + 1, with q smallest. For given p and q there is b where the
// greatest q*y - p*x is less than the smallest q*(y + 1) - p*x. Where it is not, the two places at
// which they are bound the slope, from below if the first is after the second, and otherwise from
// above.
std::optional<DigitalLine> FindDigitalLine(llvm::ArrayRef<int64_t> values) {
  constexpr int kMaxSlopes = 64;
  const auto last = static_cast<int64_t>(values.size()) - 1;
  if (last < 0) return std::nullopt;
  if (last == 0) return DigitalLine{0, values[0], 1};
  const Int128 rise = Int128{values[last]} - values[0];
  Fraction low = {rise - 1, last};
  Fraction high = {rise + 1, last};
  for (int i = 0; i < kMaxSlopes && low < high; ++i) {
    const Fraction slope = SimplestBetween(low, high);
    const auto [p, q] = slope;
    std::pair<Int128, int64_t> greatest = {q * values[0], 0};
    std::pair<Int128, int64_t> smallest = {q * values[0], 0};
    for (int64_t x = 1; x <= last; ++x) {
      const Int128 offset = q * values[x] - p * x;
      if (offset > greatest.first) greatest = {offset, x};
      if (offset < smallest.first) smallest = {offset, x};
    }
    if (greatest.first < smallest.first + q) {
      const Int128 lowest = greatest.first;
      const Int128 highest = smallest.first + q - 1;
      const Int128 b = lowest > 0 ? lowest : highest < 0 ? highest : 0;
      return DigitalLine{static_cast<int64_t>(p), static_cast<int64_t>(b), static_cast<int64_t>(q)};
    }
    const int64_t run = greatest.second - smallest.second;
    const Int128 climb = Int128{values[greatest.second]} - values[smallest.second];
    if (run > 0) {
      low = {climb - 1, run};
    } else {
      high = {1 - climb, -run};
    }
  }
  return std::nullopt;
}

// x = first + step * i for some i in [0, count - 1], and i as an expression of x.
struct ArgumentProgression {
  int64_t first;
  int64_t step;
  int64_t count;

  Constraints Where(AffineExpr x) const {
    Constraints where = {{x, Interval::Closed(first, first + step * (count - 1))}};
    if (step > 1) {
      where.push_back({Mod(x, step), Interval::Point(first % step)});
    }
    return where;
  }

  AffineExpr Index(AffineExpr x) const {
    return FloorDiv(Sub(x, Constant(first, x.getContext())), step);
  }
};

}  // namespace

AffineExpr FitFloor(llvm::ArrayRef<int64_t> values, AffineExpr x) {
  if (IsOff(Engine::kFitFloors)) return {};
  if (!AreFitted(values)) return {};
  const std::optional<DigitalLine> line = FindDigitalLine(values);
  return line ? line->At(x) : AffineExpr();
}

std::optional<std::vector<FittedRun>> FitFloors(llvm::ArrayRef<int64_t> values, AffineExpr x,
                                                int64_t most) {
  if (IsOff(Engine::kFitFloors)) return std::nullopt;
  std::vector<FittedRun> runs;
  if (!AreFitted(values)) return std::nullopt;
  for (size_t begin = 0; begin < values.size();) {
    if (static_cast<int64_t>(runs.size()) >= most) return std::nullopt;
    const llvm::ArrayRef<int64_t> rest = values.drop_front(begin);
    // What is a line in some values is one in fewer of them.
    size_t known = 1;
    size_t past = 2;
    while (past <= rest.size() && FindDigitalLine(rest.take_front(past))) {
      known = past;
      past *= 2;
    }
    past = std::min(past, rest.size() + 1);
    while (past - known > 1) {
      const size_t middle = known + (past - known) / 2;
      (FindDigitalLine(rest.take_front(middle)) ? known : past) = middle;
    }
    const std::optional<DigitalLine> line = FindDigitalLine(rest.take_front(known));
    AffineExpr first = Constant(static_cast<int64_t>(begin), x.getContext());
    AffineExpr value = line ? line->At(Sub(x, first)) : AffineExpr();
    if (!value) return std::nullopt;
    runs.push_back({begin, begin + known, value});
    begin += known;
  }
  return runs;
}

AffineExpr FitSequence(llvm::ArrayRef<int64_t> values, AffineExpr x) {
  if (IsOff(Engine::kFitSequence)) return {};
  if (!AreFitted(values)) return {};
  return Fitter().Fit(values, x);
}

std::optional<std::vector<FittedPiece>> FitPieces(std::vector<ValuePair> pairs, AffineExpr x,
                                                  size_t max_pieces) {
  std::vector<FittedPiece> pieces;
  if (pairs.empty()) return pieces;
  std::sort(pairs.begin(), pairs.end(),
            [](const ValuePair& a, const ValuePair& b) { return a.x < b.x; });
  std::vector<int64_t> xs;
  std::vector<int64_t> ys;
  for (const auto& [pair_x, pair_y] : pairs) {
    xs.push_back(pair_x);
    ys.push_back(pair_y);
  }
  if (IsProgression(xs)) {
    const ArgumentProgression all = {xs[0], xs.size() > 1 ? xs[1] - xs[0] : 1,
                                     static_cast<int64_t>(xs.size())};
    if (AffineExpr value = FitSequence(ys, all.Index(x))) {
      pieces.push_back({all.Where(x), value});
      return pieces;
    }
  }
  for (size_t begin = 0; begin < xs.size();) {
    size_t end = begin + 1;
    const int64_t step_x = end < xs.size() ? xs[end] - xs[begin] : 1;
    const int64_t step_y = end < xs.size() ? ys[end] - ys[begin] : 0;
    while (end < xs.size() && xs[end] - xs[end - 1] == step_x && ys[end] - ys[end - 1] == step_y) {
      ++end;
    }
    const ArgumentProgression run = {xs[begin], end - begin > 1 ? step_x : 1,
                                     static_cast<int64_t>(end - begin)};
    AffineExpr value = end - begin > 1 ? TermOfProgression(ys[begin], step_y, run.Index(x))
                                       : Constant(ys[begin], x.getContext());
    if (!value || pieces.size() == max_pieces) return std::nullopt;
    pieces.push_back({run.Where(x), value});
    begin = end;
  }
  return pieces;
}

}  // namespace xla_indexing::internal
