#include "xla_indexing/query/class_costs.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "xla_indexing/base/checked.h"
#include "xla_indexing/query/request_lanes.h"

namespace xla_indexing {
namespace {

// That take as long as a measured lane does.
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
  granularity_ = Gcd(others_.granularity(), comes_again ? period_.change : 0);
  for (const int64_t move : period_.moves) granularity_ = Gcd(granularity_, move);
  u_moves_ = (comes_again && period_.change != 0) ||
             llvm::any_of(period_.moves, [](int64_t move) { return move != 0; });
  if (!u_moves_) return;
  if (more_ > 0) AddPart(0, others, weight);
  AddPart(1, others, weight);
}

void PeriodMoves::AddPart(int part, llvm::ArrayRef<MovingTerm> others, Int128 weight) {
  const auto num_moves = static_cast<int64_t>(period_.moves.size());
  const int64_t around = NumPeriods(part) / num_moves;
  const int64_t on = NumPeriods(part) % num_moves;
  const int64_t size = modulus_ / granularity_;
  llvm::SmallVector<Int128, 0> start(size, 0);
  if (around > 0) {
    for (const int64_t move : period_.moves) ++start[move / granularity_];
    const MovingTerm cycles{/*variable=*/-1, period_.change, {0, around - 1}};
    const ResidueCounts all(start, {cycles}, modulus_);
    for (int64_t i = 0; i < size; ++i) start[i] = all.CountAt(i);
  }
  for (int64_t i = 0; i < on; ++i) {
    ++start[MoveOf(around * num_moves + i) / granularity_];
  }
  parts_[part] = ResidueCounts(start, others, modulus_, weight);
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

int64_t PeriodMoves::NumResidues() const {
  if (!u_moves_) return others_.NumResidues();
  return (more_ > 0 ? parts_[0] : parts_[1]).NumResidues();
}

Int128 PeriodMoves::CountAt(const LaneClass& of, int64_t i) const {
  if (!u_moves_) return TimesCount(others_.CountAt(i), TimesOf(of));
  Int128 count = TimesCount(parts_[1].CountAt(i), of.counts[1]);
  if (of.counts[0] != 0) {
    count = PlusCount(count, TimesCount(parts_[0].CountAt(i), of.counts[0]));
  }
  return count;
}

void ClassCosts::Measure(LaneClasses* classes, int64_t* steps, RequestTotals* totals) {
  const llvm::ArrayRef<LaneClass> all = classes->classes();
  // The classes of a pattern, one after the other.
  std::vector<int> first(classes->num_patterns(), -1);
  std::vector<int> next(all.size());
  for (size_t i = all.size(); i-- > 0;) {
    next[i] = first[all[i].pattern];
    first[all[i].pattern] = static_cast<int>(i);
  }
  const int64_t num_moves = meter_.modulus() / moves_.granularity();
  const int64_t num_residues = moves_.NumResidues();
  RequestLanes::Runs runs;
  for (const int head : first) {
    int64_t granularity = moves_.granularity();
    int64_t members = 0;
    for (int i = head; i >= 0; i = next[i]) {
      granularity = Gcd(granularity, all[i].residue);
      ++members;
    }
    const int64_t shifts = meter_.modulus() / granularity;
    const int64_t lanes = points_ + std::min(shifts, num_residues * members) * points_;
    if (lanes > *steps) {
      is_complete_ = false;
      for (int i = head; i >= 0; i = next[i]) totals->AddAtMost(moves_.Total(all[i]), most_);
      continue;
    }
    *steps -= lanes;
    classes->RunsOf(all[head].pattern, &runs);
    if (runs.empty()) continue;
    measured_.assign(shifts, RequestCost{-1, 0, 0});
    for (int i = head; i >= 0; i = next[i]) {
      RequestCost worst;
      for (int64_t move = 0; move < num_moves; ++move) {
        const Int128 count = moves_.CountAt(all[i], move);
        if (count == 0) continue;
        const int64_t shift =
            (all[i].residue + move * moves_.granularity()) & (meter_.modulus() - 1);
        RequestCost& cost = measured_[shift / granularity];
        if (cost.units < 0) cost = meter_.Measure(runs, 1, shift);
        totals->Add(count, cost, cost);
        if (worst.units == 0 || IsWorse(cost, worst)) worst = cost;
      }
      if (!worst_ || !IsWorse(worst_->cost, worst)) OfferWorst(all[i], worst, granularity);
    }
  }
}

// Looks for the least v of the class that costs as much, if there is none less yet.
void ClassCosts::OfferWorst(const LaneClass& of, const RequestCost& cost, int64_t granularity) {
  const bool is_worse = !worst_ || IsWorse(cost, worst_->cost);
  const ResidueCounts& others = moves_.others();
  const int64_t num_moves = meter_.modulus() / others.granularity();
  const int64_t periods = std::min(moves_.Order(), moves_.NumPeriods(of.counts[0] != 0 ? 0 : 1));
  for (int64_t u = 0; u < periods; ++u) {
    const int64_t value = of.first + u * moves_.length();
    if (!is_worse && value >= worst_->value) return;
    const int64_t residue = of.residue + moves_.MoveOf(u);
    for (int64_t move = 0; move < num_moves; ++move) {
      if (others.CountAt(move) == 0) continue;
      const int64_t shift = (residue + move * others.granularity()) & (meter_.modulus() - 1);
      const RequestCost& there = measured_[shift / granularity];
      if (IsWorse(cost, there)) continue;
      worst_ = {there, value, move};
      return;
    }
  }
}

}  // namespace xla_indexing
