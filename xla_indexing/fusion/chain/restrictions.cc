#include "xla_indexing/fusion/chain/restrictions.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {
namespace {

class Restricting {
 public:
  Restricting(PositionalAlgebra* algebra, Restrictions* restrictions)
      : algebra_(*algebra), kept_(*restrictions) {}

  bool Add(Restriction restriction) {
    pending_.push_back(std::move(restriction));
    // Numbers that share digits could make each other narrower by one again and again.
    for (int steps = 0; !pending_.empty(); ++steps) {
      if (steps < kMaxSteps) {
        if (!Settle(pending_.pop_back_val())) return false;
      } else {
        kept_.push_back(pending_.pop_back_val());
      }
    }
    return true;
  }

  Restrictions ToWrite() {
    Restrictions written;
    for (const Restriction& restriction : kept_) {
      if (!IsImplied(restriction)) AddWhole(restriction, written);
    }
    kept_ = std::exchange(written, Restrictions());
    for (const Restriction& restriction : kept_) {
      if (!IsImplied(restriction)) written.push_back(restriction);
    }
    // An interval says nothing if those that are written do.
    kept_ = written;
    for (Restriction& restriction : written) {
      const Interval known = KnownOfParts(restriction.index);
      if (restriction.interval == restriction.residues.Tighten(known)) {
        restriction.interval = Interval::All();
      }
    }
    return written;
  }

 private:
  static constexpr int kMaxSteps = 1000;
  // How often a number has been moved, at most, for all of it to be undone here.
  static constexpr int kMaxMoves = 64;

  bool Settle(Restriction restriction);
  void Unwrap(Restriction& restriction) const;
  bool Substitute(Number& number) const;
  std::optional<Restriction> TakeKept(const Restriction& restriction);
  bool SplitResidues(const Restriction& restriction);
  bool SplitInterval(const Restriction& restriction);
  bool SplitHigh(const Restriction& restriction);
  bool SplitLow(const Restriction& restriction);
  void Keep(Restriction restriction, const std::optional<Restriction>& before);
  void AddImplied(const Restriction& restriction);

  void AddWhole(Restriction restriction, Restrictions& written) const;

  // Whether one of another number says this.
  bool IsImplied(const Restriction& restriction) const;

  // The values of a number, the restrictions of its digits regarded and, below, of those that are
  // less than all of it.
  Interval Known(const Number& number) const;
  Interval KnownOfParts(const Number& number) const {
    return number.size() == 1 ? algebra_.RangeOf(number) : Known(number);
  }
  Interval KnownOfDigit(const Digit& digit) const;

  PositionalAlgebra& algebra_;
  Restrictions& kept_;
  llvm::SmallVector<Restriction, 3> pending_;
};

// The restriction of what the number is made of by moving it.
void Restricting::Unwrap(Restriction& restriction) const {
  for (int moves = 0; moves < kMaxMoves; ++moves) {
    std::optional<PositionalAlgebra::AffineForm> form = algebra_.AsAffine(restriction.index);
    if (!form) break;
    const Congruence& known = restriction.residues;
    if (known.IsEmpty() || form->offset == kInt64Min) break;
    const int64_t factor = form->factor < 0 ? -form->factor : form->factor;
    const std::optional<int64_t> modulus = CheckedMul(known.modulus(), form->divisor);
    if (!modulus || !CheckedMul(*modulus, factor)) break;
    const bool is_shift = form->divisor == 1 && factor == 1;
    const Congruence residues = is_shift && known.IsAll()
                                    ? known
                                    : known.Mul(form->divisor)
                                          .Add(-form->offset)
                                          .Mul(form->factor < 0 ? -1 : 1)
                                          .Intersect(Congruence::Of(0, factor))
                                          .FloorDiv(factor);
    // Within the number's range nothing is too large. What it is known to be in has been asked for.
    const Interval range = algebra_.RangeOf(restriction.index);
    Interval interval = Interval::All();
    if (!range.IsSubsetOf(restriction.interval)) {
      interval = restriction.interval.Intersect(range);
      interval = interval.Mul(form->divisor).Sub(form->offset).PreimageOfMul(form->factor);
    }
    restriction = {std::move(form->number), interval, residues};
  }
  algebra_.ShrinkToFit(restriction.index);
}

Interval Restricting::KnownOfDigit(const Digit& digit) const {
  const Interval values = algebra_.RangeOf(Number{digit});
  if (digit.IsConstant()) return values;
  // The restriction is one of the number that the digit was made from.
  Number inner{digit};
  Int128 divisor = 1, factor = 1, offset = 0;
  for (int moves = 0; moves < kMaxMoves; ++moves) {
    std::optional<PositionalAlgebra::AffineForm> form = algebra_.AsAffine(inner);
    if (!form) break;
    // divisor * digit = factor * inner + offset, form.divisor * inner = form.factor * N +
    // form.offset
    divisor *= form->divisor;
    offset = offset * form->divisor + factor * form->offset;
    factor *= form->factor;
    if (!NarrowToInt64(divisor) || !NarrowToInt64(offset) || !NarrowToInt64(factor)) return values;
    inner = std::move(form->number);
  }
  algebra_.ShrinkToFit(inner);
  const auto* kept = llvm::find_if(kept_, [&](const Restriction& r) { return r.index == inner; });
  if (kept == kept_.end()) return values;
  const Interval image = kept->interval.Mul(static_cast<int64_t>(factor))
                             .Add(static_cast<int64_t>(offset))
                             .PreimageOfMul(static_cast<int64_t>(divisor));
  return values.Intersect(image);
}

Interval Restricting::Known(const Number& number) const {
  Interval values = Interval::Point(0);
  int64_t stride = 1;
  for (const Digit& digit : number) {
    values = values.Add(KnownOfDigit(digit).Mul(stride));
    stride *= digit.extent;
  }
  return values;
}

// The restriction that there is of the same number, out of the list; none also where both classes
// together would be too large.
std::optional<Restriction> Restricting::TakeKept(const Restriction& restriction) {
  auto* kept = llvm::find_if(kept_, [&](const Restriction& r) {
    return r.index == restriction.index &&
           CheckedMul(r.residues.modulus(), restriction.residues.modulus());
  });
  if (kept == kept_.end()) return std::nullopt;
  Restriction taken = std::move(*kept);
  kept_.erase(kept);
  return taken;
}

// Digits of one value are constants.
bool Restricting::Substitute(Number& number) const {
  bool is_changed = false;
  for (Digit& digit : number) {
    if (number.size() == 1 || digit.IsConstant()) continue;
    const Interval values = KnownOfDigit(digit);
    if (!values.IsPoint()) continue;
    digit = Digit::Constant(values.lower(), digit.extent);
    is_changed = true;
  }
  return is_changed;
}

bool Restricting::Settle(Restriction restriction) {
  do {
    Unwrap(restriction);
  } while (Substitute(restriction.index));  // digits grow fewer
  if (restriction.interval.IsEmpty() || restriction.residues.IsEmpty()) return false;
  Interval& interval = restriction.interval;
  Congruence& residues = restriction.residues;
  const std::optional<Restriction> before = TakeKept(restriction);
  if (before) {
    interval = interval.Intersect(before->interval);
    residues = residues.Intersect(before->residues);
    if (residues.IsEmpty()) return false;
  }
  const Interval known = KnownOfParts(restriction.index);
  if (!residues.IsAll()) {
    if (const auto residue = algebra_.ConstantResidue(restriction.index, residues.modulus())) {
      if (!residues.Contains(*residue)) return false;
      residues = Congruence::All();
    }
  }
  interval = residues.Tighten(interval.Intersect(known));
  if (interval.IsEmpty()) return false;
  if (interval.IsPoint()) residues = Congruence::All();
  if (!residues.IsAll() && SplitResidues(restriction)) residues = Congruence::All();
  if (residues.IsAll() && interval == known) return true;
  if (SplitInterval(restriction)) {
    if (residues.IsAll()) return true;
    interval = residues.Tighten(known);
  }
  Keep(std::move(restriction), before);
  return true;
}

// The residue class as one of digits; false where it is none.
bool Restricting::SplitResidues(const Restriction& restriction) {
  const Number& index = restriction.index;
  if (index.size() < 2) return false;
  const Number low(index.begin(), index.begin() + 1);
  const int64_t modulus = restriction.residues.modulus();
  const int64_t residue = restriction.residues.residue();
  const int64_t size = index.front().extent;
  if (size % modulus == 0) {
    pending_.push_back({low, Interval::All(), restriction.residues});
    return true;
  }
  if (modulus % size != 0) return false;
  const Number high(index.begin() + 1, index.end());
  pending_.push_back({low, Interval::Point(residue % size), Congruence::All()});
  pending_.push_back(
      {high, Interval::All(), Congruence::Of(FloorDiv(residue, size), modulus / size)});
  return true;
}

bool Restricting::SplitInterval(const Restriction& restriction) {
  return restriction.index.size() > 1 && (SplitHigh(restriction) || SplitLow(restriction));
}

bool Restricting::SplitHigh(const Restriction& restriction) {
  const Number& index = restriction.index;
  const Number low(index.begin(), index.end() - 1);
  const int64_t size = SizeOf(low);
  const int64_t high = FloorDiv(restriction.interval.lower(), size);
  if (high != FloorDiv(restriction.interval.upper(), size)) return false;
  pending_.push_back({Number{index.back()}, Interval::Point(high)});
  pending_.push_back({low, restriction.interval.Sub(high * size)});
  return true;
}

bool Restricting::SplitLow(const Restriction& restriction) {
  const Number& index = restriction.index;
  const int64_t size = index.front().extent;
  const Interval low = KnownOfDigit(index.front());
  if (low.IsEmpty()) return false;
  const Number high(index.begin() + 1, index.end());
  Interval values = Known(high);
  if (values.IsEmpty()) return false;
  const Interval known = values.Mul(size).Add(low);
  const int64_t lower = restriction.interval.lower();
  const int64_t upper = restriction.interval.upper();
  if (lower > known.lower()) {
    const int64_t least = CeilDiv(lower - low.lower(), size);
    if (least != CeilDiv(lower - low.upper(), size)) return false;
    values = values.Intersect(Interval::AtLeast(least));
  }
  if (upper < known.upper()) {
    const int64_t greatest = FloorDiv(upper - low.upper(), size);
    if (greatest != FloorDiv(upper - low.lower(), size)) return false;
    values = values.Intersect(Interval::AtMost(greatest));
  }
  pending_.push_back({high, values});
  return true;
}

// Where more is known of a digit, longer numbers are gone over again.
void Restricting::Keep(Restriction restriction, const std::optional<Restriction>& before) {
  const bool says_more = !(before && restriction == *before);
  if (says_more) AddImplied(restriction);
  const bool is_digit = restriction.index.size() == 1;
  kept_.push_back(std::move(restriction));
  if (!says_more || !is_digit) return;
  for (size_t i = kept_.size() - 1; i-- > 0;) {
    if (kept_[i].index.size() < 2) continue;
    pending_.push_back(std::move(kept_[i]));
    kept_.erase(kept_.begin() + i);
  }
}

// D + b*H in [a, b'] asks for H in [a/b, b'/b].
void Restricting::AddImplied(const Restriction& restriction) {
  const Number& index = restriction.index;
  int64_t factor = 1;
  for (size_t i = 1; i < index.size(); ++i) {
    factor *= index[i - 1].extent;
    pending_.push_back(
        {Number(index.begin() + i, index.end()), restriction.interval.FloorDiv(factor)});
  }
}

// Adds the restriction as one of the number that its own number is the high digits of, without low
// digits that do not matter. Where that number has a restriction already, the two are intersected.
void Restricting::AddWhole(Restriction restriction, Restrictions& written) const {
  Interval& interval = restriction.interval;
  if (restriction.residues.IsAll() && interval.IsFinite()) {
    PositionalAlgebra::HighDigits high = algebra_.AsHighDigits(restriction.index);
    Number& whole = high.whole;
    Interval of_whole = interval.Mul(high.divisor)
                            .Add(Interval::OfSize(high.divisor))
                            .Intersect(KnownOfParts(whole));
    while (whole.size() > 1 && !of_whole.IsEmpty() &&
           of_whole.lower() % whole.front().extent == 0 &&
           (of_whole.upper() + 1) % whole.front().extent == 0) {
      of_whole = of_whole.FloorDiv(whole.front().extent);
      whole = Number(whole.begin() + 1, whole.end());
    }
    // Restrictions that contradict each other without its having been found out stay as they are.
    if (!of_whole.IsEmpty()) restriction = {std::move(whole), of_whole};
  }
  auto* const same =
      llvm::find_if(written, [&](const Restriction& r) { return r.index == restriction.index; });
  if (same != written.end() && (same->residues.IsAll() || restriction.residues.IsAll())) {
    same->interval = same->interval.Intersect(interval);
    same->residues = same->residues.Intersect(restriction.residues);
  } else {
    written.push_back(std::move(restriction));
  }
}

bool Restricting::IsImplied(const Restriction& restriction) const {
  const Number& high = restriction.index;
  return restriction.residues.IsAll() && llvm::any_of(kept_, [&](const Restriction& other) {
           if (other.index.size() <= high.size()) return false;
           const auto* begin = other.index.end() - high.size();
           if (!std::equal(begin, other.index.end(), high.begin())) return false;
           const int64_t factor = SizeOf(Number(other.index.begin(), begin));
           return other.interval.FloorDiv(factor).IsSubsetOf(restriction.interval) &&
                  !algebra_.IsMoved(other.index);
         });
}

}  // namespace

bool Restrict(Restriction restriction, PositionalAlgebra& algebra, Restrictions& restrictions) {
  return Restricting(&algebra, &restrictions).Add(std::move(restriction));
}

Restrictions RestrictionsToWrite(Restrictions restrictions, PositionalAlgebra& algebra) {
  return Restricting(&algebra, &restrictions).ToWrite();
}

}  // namespace xla_indexing::internal
