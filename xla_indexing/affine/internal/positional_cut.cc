// Numbers cut and joined at places.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/affine/internal/number.h"
#include "xla_indexing/affine/internal/positional.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/internal/mix_bits.h"

namespace xla_indexing::internal {

int64_t PositionalAlgebra::GreatestOf(const Digit& digit) const {
  return source(digit.source).greatest / digit.place;
}

// A constant above a digit is an offset of it.
bool PositionalAlgebra::AppendConstant(Number& number, const Digit& constant) {
  Digit& last = number.back();
  if (source(last.source).kind != Source::Kind::kRun && GreatestOf(last) < last.size &&
      constant.place == (last.flipped ? constant.size - 1 : 0)) {
    last.size *= constant.size;
    return true;
  }
  const std::optional<int64_t> size = CheckedMul(last.size, constant.size);
  if (!size || depth_ >= kMaxRecursion) return false;
  ++depth_;
  const absl::Cleanup leave = [this] { --depth_; };
  const std::optional<Number> moved = Affine(Number{last}, 1, constant.place * last.size, 1, *size);
  if (!moved || moved->size() != 1) {
    number.push_back(constant);
    return true;
  }
  number.pop_back();
  return AppendDigit(number, moved->front());
}

// Gives the number another size, of which it is known to be less, where its most significant digit
// is of a variable and has room for it.
bool PositionalAlgebra::Resize(Number& number, int64_t size) const {
  if (number.empty()) return false;
  Digit& top = number.back();
  const int64_t below = SizeOf(number) / top.size;
  if (top.IsConstant() || top.flipped || size % below != 0 ||
      source(top.source).kind != Source::Kind::kVariable ||
      GreatestOf(top) >= std::min(top.size, size / below)) {
    return false;
  }
  top.size = size / below;
  return true;
}

bool PositionalAlgebra::Append(Number& number, const Number& more) {
  for (const Digit& digit : more) {
    if (!AppendDigit(number, digit)) return false;
  }
  return true;
}

bool PositionalAlgebra::AppendDigit(Number& number, const Digit& digit) {
  if (digit.size == 1) return true;
  if (number.empty()) {
    number.push_back(digit);
    return true;
  }
  Digit& last = number.back();
  if (last.IsConstant() && digit.IsConstant()) {
    last.place += digit.place * last.size;
    last.size *= digit.size;
    return true;
  }
  if (last.IsConstant()) {
    number.push_back(digit);
    return true;
  }
  if (digit.IsConstant()) return AppendConstant(number, digit);
  if (last.source == digit.source && last.flipped == digit.flipped &&
      Int128{last.place} * last.size == digit.place &&
      source(last.source).kind == Source::Kind::kVariable) {
    last.size *= digit.size;
    return true;
  }
  if (depth_ >= kMaxRecursion) return false;
  ++depth_;
  const absl::Cleanup leave = [this] { --depth_; };
  switch (source(digit.source).kind) {
    case Source::Kind::kVariable:
      break;
    case Source::Kind::kRun:
      if (source(last.source).kind != Source::Kind::kRun) break;
      if (const std::optional<Number> joined = JoinedRuns(last, digit)) {
        number.pop_back();
        return Append(number, *joined);
      }
      break;
    case Source::Kind::kLinear:
      if (JoinLinear(number, digit)) return true;
      break;
  }
  number.push_back(digit);
  return true;
}

std::optional<PositionalAlgebra::Parts> PositionalAlgebra::CutDigit(const Digit& digit,
                                                                    int64_t radix) {
  const int64_t above = digit.size / radix;
  if (digit.IsConstant()) {
    return Parts{{Digit::Constant(digit.place % radix, radix)},
                 {Digit::Constant(digit.place / radix, above)}};
  }
  const Source& from = source(digit.source);
  if (from.kind == Source::Kind::kVariable) {
    if (GreatestOf(digit) < radix) {
      return Parts{{{digit.place, radix, digit.source, digit.flipped}},
                   {Digit::Constant(digit.flipped ? above - 1 : 0, above)}};
    }
    return Parts{{{digit.place, radix, digit.source, digit.flipped}},
                 {{digit.place * radix, above, digit.source, digit.flipped}}};
  }
  const Digit upright{digit.place, digit.size, digit.source, false};
  const size_t hash = MixBits(HashOf(upright) + static_cast<uint64_t>(radix));
  const DigitCut* known = memory_->cut_table.First(hash);
  while (known != nullptr &&
         (known->hash != hash || known->radix != radix || !(known->digit == upright))) {
    known = known->next;
  }
  if (known == nullptr) {
    if (++work_ > kMaxWork) return std::nullopt;
    std::optional<Number> low, high;
    if (from.kind == Source::Kind::kRun) {
      const Number run = from.number;
      low = RunDigit(run, digit.place, radix);
      high = RunDigit(run, digit.place * radix, above);
    } else {
      const Source linear = from;
      low = LinearDigit(linear, digit.place, radix);
      high = LinearDigit(linear, digit.place * radix, above);
    }
    if (!low || !high) return std::nullopt;
    DigitCut* made = memory_->cuts.New();
    made->digit = upright;
    made->radix = radix;
    made->parts = {*std::move(low), *std::move(high)};
    memory_->cut_table.Insert(hash, made);
    known = made;
  }
  Parts parts = known->parts;
  // The source is lost also where the cut was known already.
  const auto is_constant = [](const Digit& part) { return part.IsConstant(); };
  lost_source_ =
      lost_source_ || llvm::all_of(parts.low, is_constant) || llvm::all_of(parts.high, is_constant);
  if (digit.flipped) {
    Reverse(parts.low);
    Reverse(parts.high);
  }
  return parts;
}

// Where r is a place. Digits of a number have been joined where they can be: only those that a
// digit is cut into may be joined with their neighbours.
std::optional<PositionalAlgebra::Parts> PositionalAlgebra::CutAtPlace(const Number& number,
                                                                      int64_t r) {
  const Digit* digit = number.begin();
  int64_t place = 1;
  while (digit != number.end() && place * digit->size <= r) place *= (digit++)->size;
  if (place == r) return Parts{Number(number.begin(), digit), Number(digit, number.end())};
  if (digit == number.end() || r % place != 0 || digit->size % (r / place) != 0) {
    return std::nullopt;
  }
  std::optional<Parts> cut = CutDigit(*digit, r / place);
  if (!cut) return std::nullopt;
  Parts parts{Number(number.begin(), digit), std::move(cut->high)};
  if (!Append(parts.low, cut->low) || !Append(parts.high, Number(digit + 1, number.end()))) {
    return std::nullopt;
  }
  return parts;
}

std::optional<PositionalAlgebra::Parts> PositionalAlgebra::Cut(const Number& number, int64_t r) {
  if (r == 1) return Parts{{}, number};
  if (PlaceBelow(number, r) == r) return CutAtPlace(number, r);
  if (SizeOf(number) % r != 0 || depth_ >= kMaxRecursion) return std::nullopt;
  ++depth_;
  const absl::Cleanup leave = [this] { --depth_; };
  const int64_t above = PlaceAbove(number, r);
  std::optional<Parts> outer = CutAtPlace(number, above);
  if (!outer) return std::nullopt;
  // A digit that was cut may have other places now.
  const int64_t below = PlaceBelow(outer->low, r);
  std::optional<Parts> inner = CutAtPlace(outer->low, below);
  if (!inner) return std::nullopt;
  if (below == r) {
    if (!Append(inner->high, outer->high)) return std::nullopt;
    return inner;
  }
  const Number run = std::move(inner->high);
  const std::optional<Number> low = RunDigit(run, 1, r / below);
  const std::optional<Number> high = RunDigit(run, r / below, above / r);
  Parts parts{std::move(inner->low), {}};
  if (!low || !high || !Append(parts.low, *low) || !Append(parts.high, *high) ||
      !Append(parts.high, outer->high)) {
    return std::nullopt;
  }
  return parts;
}

}  // namespace xla_indexing::internal
