// Digits of runs.
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "xla_indexing/affine/internal/number.h"
#include "xla_indexing/affine/internal/positional.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/internal/mix_bits.h"

namespace xla_indexing::internal {

// The digits of the run that the digit is of, as they are flipped with it.
Number PositionalAlgebra::RunOf(const Digit& digit) const {
  Number run = source(digit.source).number;
  if (digit.flipped) Reverse(run);
  return run;
}

// Two runs that are pieces of one: the digit above begins where the one below ends, so that one of
// its place and that end divides the other, and is, in the other's units, a place of its run.
std::optional<Number> PositionalAlgebra::JoinedRuns(const Digit& low, const Digit& high) {
  const int64_t end = low.place * low.size;
  const bool is_low_cut = end % high.place == 0;
  if (!is_low_cut && high.place % end != 0) return std::nullopt;
  const Number& run = source(is_low_cut ? low.source : high.source).number;
  const int64_t shift = is_low_cut ? end / high.place : high.place / end;
  if (PlaceBelow(run, shift) != shift) return std::nullopt;
  const size_t hash = MixBits(HashOf(low) + HashOf(high));
  for (const DigitJoin* known = memory_->join_table.First(hash); known != nullptr;
       known = known->next) {
    if (known->hash == hash && known->low == low && known->high == high) return known->joined;
  }
  if (++work_ > kMaxWork) return std::nullopt;
  std::optional<Number> joined = JoinRuns(low, high, is_low_cut, shift);
  DigitJoin* made = memory_->joins.New();
  made->low = low;
  made->high = high;
  made->joined = joined;
  memory_->join_table.Insert(hash, made);
  return joined;
}

std::optional<Number> PositionalAlgebra::JoinRuns(const Digit& low, const Digit& high,
                                                  bool is_low_cut, int64_t shift) {
  Number first = RunOf(low);
  Number second = RunOf(high);
  Number& lower = is_low_cut ? first : second;
  if (shift >= SizeOf(lower)) return std::nullopt;
  std::optional<Parts> cut = CutAtPlace(lower, shift);
  if (!cut) return std::nullopt;
  Number all = std::move(cut->low);  // what lies below both
  lower = std::move(cut->high);
  const int64_t place = is_low_cut ? low.place : low.place * shift;
  Number& longer = SizeOf(first) >= SizeOf(second) ? first : second;
  const Number& shorter = SizeOf(first) >= SizeOf(second) ? second : first;
  if (SizeOf(longer) % SizeOf(shorter) != 0) return std::nullopt;
  const std::optional<Parts> parts = CutAtPlace(longer, SizeOf(shorter));
  if (!parts || parts->low != shorter) return std::nullopt;
  if (!CheckedMul(SizeOf(all), SizeOf(longer)) || !Append(all, longer)) return std::nullopt;
  // Where there is a place between them they stay apart.
  const int64_t boundary = place * low.size;
  if (PlaceBelow(all, boundary) == boundary) return std::nullopt;
  return RunDigit(all, place, low.size * high.size);
}

// The run with the digits of the run that its lowest or highest digit is of, in which `place` is
// where it was; none where there is no such digit.
std::optional<Number> PositionalAlgebra::Flatten(const Number& run, int64_t& place) {
  const auto run_of = [&](const Digit& digit) -> const Number* {
    if (digit.IsConstant()) return nullptr;
    const Source& from = source(digit.source);
    return from.kind == Source::Kind::kRun ? &from.number : nullptr;
  };
  const Digit first = run.front();
  const Digit last = run.back();
  // floor(Y/a) + (s/a)*H = floor((Y + s*H) / a) where s is the size of Y: a digit that ends its run
  // goes on in what stands above.
  if (const Number* inner = run_of(first);
      inner && first.place * first.size == SizeOf(*inner) && CheckedMul(SizeOf(run), first.place)) {
    Number flat = RunOf(first);
    if (!Append(flat, Number(run.begin() + 1, run.end()))) return std::nullopt;
    place *= first.place;
    return flat;
  }
  // What stands above a run's lowest digit is no matter to what is below its size.
  if (const Number* inner = run_of(last);
      inner && last.place == 1 && CheckedMul(SizeOf(run) / last.size, SizeOf(*inner))) {
    Number flat(run.begin(), run.end() - 1);
    if (!Append(flat, RunOf(last))) return std::nullopt;
    return flat;
  }
  return std::nullopt;
}

// The digit of a run, over the least run that it depends on and cut at the places in it.
std::optional<Number> PositionalAlgebra::RunDigit(const Number& run, int64_t place, int64_t size) {
  if (size == 1) return Number();
  if (depth_ >= kMaxRecursion) return std::nullopt;
  ++depth_;
  const absl::Cleanup leave = [this] { --depth_; };
  const int64_t end = place * size;
  const int64_t above = PlaceAbove(run, end);
  Number least = run;
  if (above != SizeOf(run)) {
    std::optional<Parts> outer = CutAtPlace(run, above);
    if (!outer) return std::nullopt;
    least = std::move(outer->low);
  }
  const int64_t below = PlaceBelow(least, place);
  if (below > 1) {
    std::optional<Parts> inner = CutAtPlace(least, below);
    if (!inner) return std::nullopt;
    least = std::move(inner->high);
  }
  place /= below;
  if (place == 1 && size == above / below) return least;
  if (std::optional<Number> flat = Flatten(least, place)) return RunDigit(*flat, place, size);
  // A place inside: the least, or, in the lowest digits, the greatest.
  int64_t inside = place;
  int64_t at = 1;
  for (const Digit& digit : least) {
    if ((place * size) % at != 0 || inside > place) break;
    const int64_t common = Gcd(digit.size, place * size / at);
    const int64_t step = place == 1 ? common : place / Gcd(place, at);
    const int64_t candidate = at * step;
    if (common % step == 0 && candidate > place && candidate < place * size) inside = candidate;
    at *= digit.size;
  }
  if (inside > place) {
    std::optional<Number> low = RunDigit(least, place, inside / place);
    const std::optional<Number> high = RunDigit(least, inside, place * size / inside);
    if (!low || !high || !Append(*low, *high)) return std::nullopt;
    return low;
  }
  Digit digit{place, size, 0, IsFlipped(least)};
  if (digit.flipped) Reverse(least);
  Source source;
  source.kind = Source::Kind::kRun;
  source.greatest = above / below - 1;
  source.number = std::move(least);
  digit.source = Intern(std::move(source));
  return Number{digit};
}

PositionalAlgebra::HighDigits PositionalAlgebra::AsHighDigits(const Number& number) {
  HighDigits high{number};
  while (!high.whole.empty()) {
    const Digit least = high.whole.front();
    if (least.IsConstant() || least.place == 1) break;
    const Source& from = source(least.source);
    Number whole;
    if (from.kind == Source::Kind::kVariable) {
      whole = {{1, least.place * least.size, least.source, least.flipped}};
    } else if (from.kind == Source::Kind::kRun && least.place * least.size == SizeOf(from.number)) {
      whole = from.number;
      if (least.flipped) Reverse(whole);
    } else {
      break;
    }
    const std::optional<int64_t> divisor = CheckedMul(high.divisor, least.place);
    const Number above(high.whole.begin() + 1, high.whole.end());
    if (!divisor || !CheckedMul(SizeOf(high.whole), least.place) || !Append(whole, above)) break;
    high = {std::move(whole), *divisor};
  }
  return high;
}

}  // namespace xla_indexing::internal
