#include "xla_indexing/gpu/internal/class_costs.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/internal/checked.h"

namespace xla_indexing::internal {
namespace {

// The number of look-ups that take as long as a measured lane.
constexpr int64_t kLookUpsOfStep = 8;

}  // namespace

PeriodMoves::PeriodMoves(ValueRange values, const ValuePeriod& period,
                         llvm::ArrayRef<MovingTerm> others, int64_t modulus, Int128 weight)
    : period_(period),
      modulus_(modulus),
      first_(values.lower),
      times_(values.Size() / period.length),
      more_(values.Size() % period.length),
      others_(others, modulus, weight) {
  const bool comes_again =
      NumPeriods(more_ > 0 ? 0 : 1) > static_cast<int64_t>(period_.moves.size());
  u_moves_ = (comes_again && period_.change != 0) ||
             llvm::any_of(period_.moves, [](int64_t move) { return move != 0; });
  if (!u_moves_) {
    for (int64_t i = 0; i < modulus / others_.granularity(); ++i) {
      const Int128 count = others_.CountAt(i);
      if (count == 0) continue;
      moved_.push_back({i * others_.granularity(),
                        {TimesCount(count, NumPeriods(0)), TimesCount(count, NumPeriods(1))}});
    }
    return;
  }
  int64_t granularity = Gcd(others_.granularity(), comes_again ? period_.change : 0);
  for (const int64_t move : period_.moves) granularity = Gcd(granularity, move);
  const ResidueCounts last = PartOf(1, granularity, others, weight);
  const ResidueCounts first = more_ > 0 ? PartOf(0, granularity, others, weight) : last;
  for (int64_t i = 0; i < modulus / granularity; ++i) {
    // What comes up in the part of fewer u does so in the other.
    if (first.CountAt(i) == 0) continue;
    moved_.push_back({i * granularity, {first.CountAt(i), last.CountAt(i)}});
  }
}

ResidueCounts PeriodMoves::PartOf(int part, int64_t granularity, llvm::ArrayRef<MovingTerm> others,
                                  Int128 weight) const {
  const auto num_moves = static_cast<int64_t>(period_.moves.size());
  const int64_t around = NumPeriods(part) / num_moves;
  const int64_t on = NumPeriods(part) % num_moves;
  llvm::SmallVector<Int128, 0> start(modulus_ / granularity, 0);
  if (around > 0) {
    for (const int64_t move : period_.moves) ++start[move / granularity];
    const MovingTerm cycles{/*variable=*/-1, period_.change, {0, around - 1}};
    const ResidueCounts all(start, {cycles}, modulus_);
    for (size_t i = 0; i < start.size(); ++i) start[i] = all.CountAt(static_cast<int64_t>(i));
  }
  for (int64_t i = 0; i < on; ++i) ++start[MoveOf(around * num_moves + i) / granularity];
  return ResidueCounts(start, others, modulus_, weight);
}

int64_t PeriodMoves::MoveOf(int64_t u) const {
  const auto num_moves = static_cast<int64_t>(period_.moves.size());
  const auto cycles = static_cast<uint64_t>(u / num_moves);
  const auto move = static_cast<uint64_t>(period_.moves[u % num_moves]) +
                    static_cast<uint64_t>(period_.change) * cycles;
  return static_cast<int64_t>(move & static_cast<uint64_t>(modulus_ - 1));
}

int64_t PeriodMoves::Order() const {
  if (!u_moves_) return 1;
  return modulus_ / Gcd(modulus_, period_.change) * static_cast<int64_t>(period_.moves.size());
}

void ClassCosts::Measure(LaneClasses* classes, int64_t* steps, RequestTotals* totals) {
  const llvm::ArrayRef<LaneClass> all = classes->classes();
  // The classes of a pattern, one after the other.
  llvm::SmallVector<int, 64> first(classes->num_patterns(), -1);
  llvm::SmallVector<int, 64> next(all.size());
  // All shifts are multiples of a power of two.
  auto bits = static_cast<uint64_t>(meter_.modulus());
  for (size_t i = all.size(); i-- > 0;) {
    next[i] = first[all[i].pattern];
    first[all[i].pattern] = static_cast<int>(i);
    bits |= static_cast<uint64_t>(all[i].residue);
  }
  for (const PeriodMoves::Moved& moved : moves_.moved()) {
    bits |= static_cast<uint64_t>(moved.residue);
  }
  granularity_log_ = std::countr_zero(bits);
  const int64_t shifts = meter_.modulus() >> granularity_log_;
  measured_.assign(shifts, RequestCost{-1, 0, 0});
  const auto num_moved = static_cast<int64_t>(moves_.moved().size());
  RequestSums sums;
  for (const int head : first) {
    int64_t members = 0;
    for (int i = head; i >= 0; i = next[i]) ++members;
    const int64_t lanes = points_ + std::min(shifts, num_moved * members) * points_;
    if (lanes > *steps) {
      is_complete_ = false;
      for (int i = head; i >= 0; i = next[i]) totals->AddAtMost(moves_.Total(all[i]), most_);
      continue;
    }
    *steps -= lanes;
    const LaneBits::Trains& trains = classes->BitsOf(all[head].pattern);
    if (trains.empty()) continue;
    for (int i = head; i >= 0; i = next[i]) {
      const LaneClass& of = all[i];
      RequestCost worst;
      for (const auto& [residue, counts] : moves_.moved()) {
        const Int128 count =
            PlusCount(TimesCount(counts[0], of.counts[0]), TimesCount(counts[1], of.counts[1]));
        if (count == 0) continue;
        const int64_t shift = (of.residue + residue) & (meter_.modulus() - 1);
        RequestCost& cost = MeasuredAt(shift);
        if (cost.units < 0) {
          cost = meter_.MeasureTrains(trains, shift);
          shifts_.push_back(shift);
        }
        sums.Add(count, cost);
        if (worst.units == 0 || IsWorse(cost, worst)) worst = cost;
      }
      if (!worst_ || !IsWorse(worst_->cost, worst)) OfferWorst(of, worst, steps);
    }
    for (const int64_t shift : shifts_) MeasuredAt(shift).units = -1;
    shifts_.clear();
  }
  totals->Add(sums);
}

// Looks for the least v of the class that costs as much, if there is none less yet.
void ClassCosts::OfferWorst(const LaneClass& of, const RequestCost& cost, int64_t* steps) {
  const bool is_worse = !worst_ || IsWorse(cost, worst_->cost);
  const ResidueCounts& others = moves_.others();
  const int64_t num_moves = meter_.modulus() / others.granularity();
  const int64_t periods = std::min(moves_.Order(), moves_.NumPeriods(of.counts[0] != 0 ? 0 : 1));
  for (int64_t u = 0; u < periods; ++u) {
    const int64_t value = of.first + u * moves_.length();
    if (!is_worse && value >= worst_->value) return;
    *steps -= 1 + num_moves / kLookUpsOfStep;
    if (*steps < 0) {
      *steps = 0;
      is_complete_ = false;
      return;
    }
    const int64_t residue = of.residue + moves_.MoveOf(u);
    for (int64_t move = 0; move < num_moves; ++move) {
      if (others.CountAt(move) == 0) continue;
      const RequestCost& there = MeasuredAt(residue + move * others.granularity());
      if (IsWorse(cost, there)) continue;
      worst_ = {there, value, move};
      return;
    }
  }
}

}  // namespace xla_indexing::internal
