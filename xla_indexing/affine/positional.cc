#include "xla_indexing/affine/positional.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "xla_indexing/base/checked.h"

namespace xla_indexing {
namespace {

// Joining and cutting call each other; no chain of reindexings comes near.
constexpr int kMaxRecursion = 64;

Digit ConstantDigit(int64_t value, int64_t size) { return {value, size, 0, false}; }

// The greatest place of the number that divides r.
int64_t PlaceBelow(const Number& number, int64_t r) {
  int64_t best = 1;
  int64_t place = 1;
  for (const Digit& digit : number) {
    if (place > r || r % place != 0) break;  // places divide one another
    best = place * Gcd(digit.size, r / place);
    if (best != place * digit.size) {
      // Greater places are multiples of this digit's end, which does not divide r.
      break;
    }
    place *= digit.size;
  }
  return best;
}

// The least place of the number that r divides; r divides its size.
int64_t PlaceAbove(const Number& number, int64_t r) {
  int64_t place = 1;
  for (const Digit& digit : number) {
    const int64_t rest = r / Gcd(r, place);
    if (digit.size % rest == 0) return place * rest;
    place *= digit.size;
  }
  return place;
}

// The flips of a number are those of its most significant digit that is not constant.
bool IsFlipped(const Number& number) {
  for (const Digit& digit : llvm::reverse(number)) {
    if (!digit.IsConstant()) return digit.flipped;
  }
  return false;
}

}  // namespace

int64_t PositionalAlgebra::SizeOf(const Number& number) {
  int64_t size = 1;
  for (const Digit& digit : number) size *= digit.size;
  return size;
}

void PositionalAlgebra::Reverse(Number& number) {
  for (Digit& digit : number) {
    if (digit.IsConstant()) {
      digit.place = digit.size - 1 - digit.place;
    } else {
      digit.flipped = !digit.flipped;
    }
  }
}

size_t PositionalAlgebra::NodesOf(const Number& number) const {
  size_t nodes = 0;
  for (const Digit& digit : number) {
    nodes += digit.IsConstant() ? 1 : source(digit.source).nodes;
    nodes = std::min(nodes, size_t{1} << 40);
  }
  return nodes;
}

int PositionalAlgebra::DepthOf(const Number& number) const {
  int depth = 0;
  for (const Digit& digit : number) {
    if (!digit.IsConstant()) depth = std::max(depth, source(digit.source).depth);
  }
  return depth;
}

uint32_t PositionalAlgebra::Intern(Source source) {
  const size_t hash = llvm::hash_combine(
      source.kind, source.variable, source.factor, source.offset, source.modulus, source.least,
      source.greatest, llvm::hash_combine_range(source.number.begin(), source.number.end()));
  llvm::SmallVector<uint32_t, 1>& ids = by_hash_[hash];
  for (const uint32_t id : ids) {
    const Source& known = this->source(id);
    if (known.kind == source.kind && known.variable == source.variable &&
        known.number == source.number && known.factor == source.factor &&
        known.offset == source.offset && known.modulus == source.modulus &&
        known.least == source.least && known.greatest == source.greatest) {
      return id;
    }
  }
  if (source.kind != Source::Kind::kVariable) {
    source.nodes = NodesOf(source.number) + 1;
    source.depth = DepthOf(source.number) + 1;
  }
  sources_.push_back(std::move(source));
  ids.push_back(static_cast<uint32_t>(sources_.size()));
  return ids.back();
}

Number PositionalAlgebra::AddVariable(int64_t size) {
  Source variable;
  variable.kind = Source::Kind::kVariable;
  variable.variable = num_variables();
  variables_.push_back(size);
  variable.greatest = size - 1;
  const uint32_t id = Intern(std::move(variable));
  Number number;
  if (size > 1) number.push_back({1, size, id, false});
  return number;
}

Interval PositionalAlgebra::RangeOf(const Number& number) const {
  Interval range = Interval::Point(0);
  int64_t stride = 1;
  for (const Digit& digit : number) {
    Interval values = Interval::OfSize(digit.size);
    if (digit.IsConstant()) {
      values = Interval::Point(digit.place);
    } else {
      const Source& from = source(digit.source);
      const Interval whole = Interval::Closed(from.least, from.greatest).FloorDiv(digit.place);
      if (whole.IsSubsetOf(values)) values = whole;
      if (digit.flipped) values = Interval::Point(digit.size - 1).Sub(values);
    }
    range = range.Add(values.Mul(stride));
    stride *= digit.size;
  }
  return range;
}

std::optional<int64_t> PositionalAlgebra::ConstantResidue(const Number& number, int64_t divisor) {
  if (const Interval range = RangeOf(number); range.IsPoint()) {
    return FloorMod(range.lower(), divisor);
  }
  if (number.size() == 1 && !number[0].IsConstant()) {
    const Digit& digit = number[0];
    const Source& from = source(digit.source);
    // L = modulus * x with L = offset (mod divisor) for an x that is the digit.
    if (from.kind == Source::Kind::kLinear && digit.place == from.modulus &&
        GreatestOf(digit) < digit.size && from.factor % divisor == 0 &&
        Gcd(from.modulus, divisor) == 1) {
      constexpr int64_t kMaxTried = 4096;
      for (int64_t x = 0; x < std::min(divisor, kMaxTried); ++x) {
        const Int128 value = Int128{x} * from.modulus - from.offset;
        if (value % divisor == 0) return digit.flipped ? FloorMod(digit.size - 1 - x, divisor) : x;
      }
    }
  }
  if (SizeOf(number) % divisor != 0) return std::nullopt;
  const std::optional<Parts> parts = Cut(number, divisor);
  if (!parts) return std::nullopt;
  int64_t value = 0, stride = 1;
  for (const Digit& digit : parts->low) {
    if (!digit.IsConstant()) return std::nullopt;
    value += digit.place * stride;
    stride *= digit.size;
  }
  return value;
}

namespace {

size_t HashOf(const Number& number) {
  return llvm::hash_combine_range(number.begin(), number.end());
}

size_t HashOf(llvm::ArrayRef<Number> indices) {
  size_t hash = 0;
  for (const Number& index : indices) hash = llvm::hash_combine(hash, HashOf(index));
  return hash;
}

}  // namespace

const PositionalAlgebra::Linearized* PositionalAlgebra::FindByIndices(
    llvm::ArrayRef<Number> indices) const {
  const auto found = by_indices_.find(HashOf(indices));
  if (found == by_indices_.end()) return nullptr;
  for (const size_t place : found->second) {
    if (llvm::ArrayRef<Number>(linearized_[place].indices) == indices) return &linearized_[place];
  }
  return nullptr;
}

const PositionalAlgebra::Linearized* PositionalAlgebra::FindByPosition(
    const Number& position, llvm::ArrayRef<int64_t> sizes) const {
  const auto found = by_position_.find(HashOf(position));
  if (found == by_position_.end()) return nullptr;
  for (const size_t place : found->second) {
    const Linearized& known = linearized_[place];
    if (known.position != position || known.indices.size() != sizes.size()) continue;
    if (llvm::all_of(llvm::zip(known.indices, sizes), [](const auto& pair) {
          return SizeOf(std::get<0>(pair)) == std::get<1>(pair);
        })) {
      return &known;
    }
  }
  return nullptr;
}

void PositionalAlgebra::Remember(llvm::ArrayRef<Number> indices, const Number& position) {
  by_indices_[HashOf(indices)].push_back(linearized_.size());
  by_position_[HashOf(position)].push_back(linearized_.size());
  linearized_.push_back({llvm::SmallVector<Number, 4>(indices), position});
}

std::optional<Number> PositionalAlgebra::Linearize(llvm::ArrayRef<Number> indices) {
  if (const Linearized* known = FindByIndices(indices)) return known->position;
  Number position;
  for (const Number& index : llvm::reverse(indices)) {
    if (!Append(position, index)) return std::nullopt;
  }
  Remember(indices, position);
  return position;
}

std::optional<llvm::SmallVector<Number, 4>> PositionalAlgebra::Reshape(
    llvm::ArrayRef<Number> indices, llvm::ArrayRef<int64_t> to) {
  const std::optional<Number> position = Linearize(indices);
  if (!position) return std::nullopt;
  if (const Linearized* known = FindByPosition(*position, to)) return known->indices;
  llvm::SmallVector<Number, 4> result(to.size());
  Number rest = *position;
  for (size_t i = to.size(); i-- > 1;) {
    std::optional<Parts> parts = Cut(rest, to[i]);
    if (!parts) return std::nullopt;
    result[i] = std::move(parts->low);
    rest = std::move(parts->high);
  }
  if (!to.empty()) result[0] = std::move(rest);
  if (FindByIndices(result) == nullptr) Remember(result, *position);
  return result;
}

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
  const llvm::scope_exit leave([this] { --depth_; });
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
  const llvm::scope_exit leave([this] { --depth_; });
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

// The digits of the run that the digit is of, as they are flipped with it.
Number PositionalAlgebra::RunOf(const Digit& digit) const {
  Number run = source(digit.source).number;
  if (digit.flipped) Reverse(run);
  return run;
}

std::optional<Number> PositionalAlgebra::JoinedRuns(const Digit& low, const Digit& high) {
  const auto key = std::make_tuple(low.source * 2 + low.flipped, low.place, low.size,
                                   high.source * 2 + high.flipped, high.place, high.size);
  if (const auto known = joins_.find(key); known != joins_.end()) return known->second;
  if (++work_ > kMaxWork) return std::nullopt;
  std::optional<Number> joined = JoinRuns(low, high);
  joins_.try_emplace(key, joined);
  return joined;
}

// Two runs that are pieces of one: the digit above begins where the one below ends.
std::optional<Number> PositionalAlgebra::JoinRuns(const Digit& low, const Digit& high) {
  const int64_t end = low.place * low.size;
  Number first = RunOf(low);
  Number second = RunOf(high);
  int64_t place = low.place;
  Number all;  // what lies below both
  if (end % high.place == 0) {
    const int64_t shift = end / high.place;
    if (shift >= SizeOf(first)) return std::nullopt;
    std::optional<Parts> parts = CutAtPlace(first, shift);
    if (!parts) return std::nullopt;
    all = std::move(parts->low);
    first = std::move(parts->high);
  } else if (high.place % end == 0) {
    const int64_t shift = high.place / end;
    if (shift >= SizeOf(second)) return std::nullopt;
    std::optional<Parts> parts = CutAtPlace(second, shift);
    if (!parts) return std::nullopt;
    all = std::move(parts->low);
    second = std::move(parts->high);
    place *= shift;
  } else {
    return std::nullopt;
  }
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

std::optional<PositionalAlgebra::Parts> PositionalAlgebra::CutDigit(const Digit& digit,
                                                                    int64_t radix) {
  const int64_t above = digit.size / radix;
  if (digit.IsConstant()) {
    return Parts{{ConstantDigit(digit.place % radix, radix)},
                 {ConstantDigit(digit.place / radix, above)}};
  }
  const Source& from = source(digit.source);
  if (from.kind == Source::Kind::kVariable) {
    if (GreatestOf(digit) < radix) {
      return Parts{{{digit.place, radix, digit.source, digit.flipped}},
                   {ConstantDigit(digit.flipped ? above - 1 : 0, above)}};
    }
    return Parts{{{digit.place, radix, digit.source, digit.flipped}},
                 {{digit.place * radix, above, digit.source, digit.flipped}}};
  }
  const auto key = std::make_tuple(digit.source, digit.place, digit.size, radix);
  auto known = cuts_.find(key);
  if (known == cuts_.end()) {
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
    known = cuts_.try_emplace(key, Parts{*std::move(low), *std::move(high)}).first;
  }
  Parts parts = known->second;
  if (digit.flipped) {
    Reverse(parts.low);
    Reverse(parts.high);
  }
  return parts;
}

// Where r is a place.
std::optional<PositionalAlgebra::Parts> PositionalAlgebra::CutAtPlace(const Number& number,
                                                                      int64_t r) {
  Parts parts;
  int64_t place = 1;
  for (size_t i = 0; i < number.size(); ++i) {
    const Digit& digit = number[i];
    if (place >= r) {
      if (place != r || !Append(parts.high, Number(number.begin() + i, number.end()))) {
        return std::nullopt;
      }
      return parts;
    }
    if (place * digit.size <= r) {
      parts.low.push_back(digit);
      place *= digit.size;
      continue;
    }
    if (r % place != 0 || digit.size % (r / place) != 0) return std::nullopt;
    std::optional<Parts> cut = CutDigit(digit, r / place);
    if (!cut || !Append(parts.low, cut->low) || !Append(parts.high, cut->high) ||
        !Append(parts.high, Number(number.begin() + i + 1, number.end()))) {
      return std::nullopt;
    }
    return parts;
  }
  if (place != r) return std::nullopt;
  return parts;
}

std::optional<PositionalAlgebra::Parts> PositionalAlgebra::Cut(const Number& number, int64_t r) {
  if (r == 1) return Parts{{}, number};
  if (PlaceBelow(number, r) == r) return CutAtPlace(number, r);
  if (SizeOf(number) % r != 0 || depth_ >= kMaxRecursion) return std::nullopt;
  ++depth_;
  const llvm::scope_exit leave([this] { --depth_; });
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
  const llvm::scope_exit leave([this] { --depth_; });
  const int64_t end = place * size;
  const int64_t above = PlaceAbove(run, end);
  std::optional<Parts> outer = CutAtPlace(run, above);
  if (!outer) return std::nullopt;
  const int64_t below = PlaceBelow(outer->low, place);
  std::optional<Parts> inner = CutAtPlace(outer->low, below);
  if (!inner) return std::nullopt;
  Number least = std::move(inner->high);
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

// --- Linear sources

// Of a linear source of a linear source, the one of the latter's number.
bool PositionalAlgebra::Unwrap(Source& linear) const {
  while (linear.number.size() == 1) {
    const Digit& digit = linear.number.front();
    if (digit.IsConstant() || digit.flipped || digit.place != 1) break;
    const Source& from = source(digit.source);
    if (from.kind != Source::Kind::kLinear || from.least < 0 || from.greatest >= digit.size) break;
    const std::optional<int64_t> offset =
        NarrowToInt64(linear.offset + Int128{linear.factor} * from.offset);
    const std::optional<int64_t> factor = CheckedMul(linear.factor, from.factor);
    if (!offset || !factor) return false;
    linear.offset = *offset;
    linear.factor = *factor;
    linear.number = Number(from.number);
  }
  ShrinkToFit(linear.number);
  return true;
}

void PositionalAlgebra::ShrinkToFit(Number& number) const {
  if (number.empty() || number.back().IsConstant() || number.back().flipped ||
      source(number.back().source).kind != Source::Kind::kVariable) {
    return;
  }
  number.back().size = std::min(number.back().size, GreatestOf(number.back()) + 1);
}

// The number less the offsets of its linear digits, which are given back, with a most significant
// digit that has room for no more than it needs.
std::optional<Int128> PositionalAlgebra::MoveOffsetsOut(Number& number) {
  Int128 offset = 0;
  int64_t stride = 1;
  Number without;
  for (const Digit& digit : number) {
    Number same{digit};
    const bool is_top = &digit == &number.back();
    if (!digit.IsConstant() && digit.place == 1) {
      const Source& from = source(digit.source);
      const bool is_whole = from.kind == Source::Kind::kLinear && from.least >= from.offset &&
                            from.greatest < digit.size;
      if (is_whole && is_top && !digit.flipped && from.factor == 1) {
        // What is most significant needs no room.
        offset += Int128{stride} * from.offset;
        same = Number(from.number);
      } else if (is_whole && from.offset > 0) {
        offset += Int128{digit.flipped ? -1 : 1} * stride * from.offset;
        Source linear = from;
        linear.offset = 0;
        linear.least -= from.offset;
        linear.greatest -= from.offset;
        std::optional<Number> moved = LinearDigit(std::move(linear), 1, digit.size);
        if (!moved) return std::nullopt;
        if (digit.flipped) Reverse(*moved);
        same = *std::move(moved);
      }
    }
    if (!Append(without, same)) return std::nullopt;
    stride *= digit.size;
  }
  number = std::move(without);
  ShrinkToFit(number);
  return offset;
}

// What an affine step was made of, where this one undoes it.
std::optional<Number> PositionalAlgebra::Undo(const Number& number, int64_t factor, int64_t offset,
                                              int64_t divisor, int64_t size) const {
  const auto found = by_moved_.find(HashOf(number));
  if (found == by_moved_.end()) return std::nullopt;
  for (const size_t place : found->second) {
    const Moved& known = moved_[place];
    if (known.to != number || SizeOf(known.from) != size) continue;
    // ((x*f + o)/d * factor + offset) / divisor is x, or size - 1 - x.
    const std::optional<int64_t> scale = CheckedMul(known.divisor, divisor);
    const std::optional<int64_t> slope = CheckedMul(known.factor, factor);
    const Int128 constant = Int128{known.offset} * factor + Int128{offset} * known.divisor;
    if (!scale || !slope) continue;
    if (*slope == *scale && constant == 0) return known.from;
    if (-Int128{*slope} == *scale && constant == Int128{*scale} * (size - 1)) {
      Number reversed = known.from;
      Reverse(reversed);
      return reversed;
    }
  }
  return std::nullopt;
}

std::optional<Number> PositionalAlgebra::Affine(const Number& number, int64_t factor,
                                                int64_t offset, int64_t divisor, int64_t size) {
  if (std::optional<Number> undone = Undo(number, factor, offset, divisor, size)) return undone;
  Number reversed = number;
  Reverse(reversed);
  const std::optional<int64_t> shifted =
      NarrowToInt64(offset + Int128{factor} * (SizeOf(number) - 1));
  if (shifted && factor != kInt64Min) {
    if (std::optional<Number> undone = Undo(reversed, -factor, *shifted, divisor, size)) {
      return undone;
    }
  }
  std::optional<Number> result = ComputeAffine(number, factor, offset, divisor, size);
  // Within joins numbers are moved that are no one's index.
  if (result && depth_ == 0) {
    by_moved_[HashOf(*result)].push_back(moved_.size());
    moved_.push_back({number, *result, factor, offset, divisor});
  }
  return result;
}

std::optional<Number> PositionalAlgebra::ComputeAffine(const Number& number, int64_t factor,
                                                       int64_t offset, int64_t divisor,
                                                       int64_t size) {
  // What is known of the result from the range of the number.
  const Interval image = RangeOf(number).Mul(factor).Add(offset);
  Interval values = Interval::OfSize(size);
  values = values.Intersect(Interval::All().Intersect(Interval::Closed(
      image.CeilDiv(divisor).has_lower() ? image.CeilDiv(divisor).lower() : 0,
      image.FloorDiv(divisor).has_upper() ? image.FloorDiv(divisor).upper() : size - 1)));
  if (values.IsEmpty()) return std::nullopt;
  Number inner = number;
  Int128 k = factor, c = offset, m = divisor;
  const auto fits = [&] { return NarrowToInt64(k) && NarrowToInt64(c) && NarrowToInt64(m); };
  while (true) {
    // Constant digits at either end.
    while (!inner.empty() && inner.front().IsConstant()) {
      c += k * inner.front().place;
      k *= inner.front().size;
      inner.erase(inner.begin());
      if (!fits()) return std::nullopt;
    }
    if (!inner.empty() && inner.back().IsConstant()) {
      const Digit top = inner.pop_back_val();
      c += k * top.place * SizeOf(inner);
      if (!fits()) return std::nullopt;
    }
    if (inner.size() != 1) break;
    const Digit digit = inner.front();
    const Source& from = source(digit.source);
    if (from.kind != Source::Kind::kLinear || from.modulus % digit.place != 0 || from.least < 0 ||
        from.greatest / digit.place >= digit.size) {
      break;
    }
    // The number is L / place, or size - 1 less that, with L = factor * number + offset.
    if (digit.flipped) {
      c += k * (digit.size - 1);
      k = -k;
      if (!fits()) return std::nullopt;
    }
    c = k * from.offset + c * digit.place;
    k *= from.factor;
    m *= digit.place;
    if (!fits()) return std::nullopt;
    inner = Number(from.number);
  }
  if (inner.empty()) {
    if (c % m != 0 || c < 0 || c / m >= size) return std::nullopt;
    Number constant;
    if (size > 1) constant.push_back(ConstantDigit(static_cast<int64_t>(c / m), size));
    return constant;
  }
  if (IsFlipped(inner)) {
    Reverse(inner);
    c += k * (SizeOf(inner) - 1);
    k = -k;
  }
  const std::optional<Int128> within = MoveOffsetsOut(inner);
  if (!within) return std::nullopt;
  c += k * *within;
  if (!fits()) return std::nullopt;
  const bool flipped = k < 0;
  if (flipped) {  // size - 1 - (k*N + c)/m
    k = -k;
    c = m * (size - 1) - c;
    values = Interval::Point(size - 1).Sub(values);
  }
  if (!fits()) return std::nullopt;
  const int64_t common =
      Gcd(Gcd(static_cast<int64_t>(k), static_cast<int64_t>(c)), static_cast<int64_t>(m));
  k /= common;
  c /= common;
  m /= common;
  const Int128 least = std::max<Int128>(c, m * values.lower());
  const Int128 greatest = std::min<Int128>(c + k * (SizeOf(inner) - 1), m * values.upper());
  if (least > greatest || !NarrowToInt64(greatest)) return std::nullopt;
  if (Gcd(static_cast<int64_t>(k), static_cast<int64_t>(m)) != 1) return std::nullopt;  // no value
  if (k == 1 && m == 1 && c == 0 && (SizeOf(inner) == size || Resize(inner, size))) {
    if (flipped) Reverse(inner);
    return inner;
  }
  Source linear;
  linear.kind = Source::Kind::kLinear;
  linear.number = std::move(inner);
  linear.factor = static_cast<int64_t>(k);
  linear.offset = static_cast<int64_t>(c);
  linear.modulus = static_cast<int64_t>(m);
  linear.least = static_cast<int64_t>(least);
  linear.greatest = static_cast<int64_t>(greatest);
  std::optional<Number> result = LinearDigit(std::move(linear), static_cast<int64_t>(m), size);
  if (result && flipped) Reverse(*result);
  return result;
}

std::optional<PositionalAlgebra::AffineForm> PositionalAlgebra::AsAffine(
    const Number& number) const {
  if (number.size() != 1 || number[0].IsConstant()) {
    if (!IsFlipped(number)) return std::nullopt;
    Number reversed = number;
    Reverse(reversed);
    return AffineForm{std::move(reversed), -1, SizeOf(number) - 1};
  }
  const Digit& digit = number[0];
  if (digit.flipped) {
    return AffineForm{{Digit{digit.place, digit.size, digit.source, false}}, -1, digit.size - 1};
  }
  const Source& from = source(digit.source);
  if (from.kind != Source::Kind::kLinear || digit.place != 1 || from.least < 0 ||
      from.greatest >= digit.size) {
    return std::nullopt;
  }
  return AffineForm{from.number, from.factor, from.offset};
}

// The digit of k*N + c, with the least offset that gives it.
std::optional<Number> PositionalAlgebra::LinearDigit(Source linear, int64_t place, int64_t size) {
  if (size == 1) return Number();
  const std::optional<int64_t> end = CheckedMul(place, size);
  if (!end) return std::nullopt;
  // A digit of one value.
  if (FloorDiv(linear.least, place) == FloorDiv(linear.greatest, place)) {
    return Number{ConstantDigit(FloorMod(FloorDiv(linear.least, place), size), size)};
  }
  // Multiples of the place above change nothing.
  const int64_t shift = FloorDiv(linear.least, *end) * *end;
  linear.offset -= shift;
  linear.least -= shift;
  linear.greatest -= shift;
  // floor((g*k'*N + c) / (g*a)) = floor((k'*N + floor(c/g)) / a)
  if (const int64_t common = Gcd(linear.factor, place); common > 1) {
    linear.factor /= common;
    linear.offset = FloorDiv(linear.offset, common);
    linear.least = FloorDiv(linear.least, common);
    linear.greatest = FloorDiv(linear.greatest, common);
    linear.modulus = linear.modulus % common == 0 ? linear.modulus / common : 1;
    return LinearDigit(std::move(linear), place / common, size);
  }
  if (const int64_t common = Gcd(linear.factor, size); place == 1 && common > 1) {
    Number number;
    const int64_t residue = FloorMod(linear.offset, common);
    const std::optional<Number> high = LinearDigit(std::move(linear), common, size / common);
    if (!AppendDigit(number, ConstantDigit(residue, common)) || !high || !Append(number, *high)) {
      return std::nullopt;
    }
    return number;
  }
  if (linear.factor == 1 && linear.offset == 0) {
    // A digit of the number itself, where its sizes allow for it.
    Number inner = linear.number;
    const bool narrows = SizeOf(inner) > *end && linear.greatest < *end;
    if (!narrows && (SizeOf(inner) % *end == 0 || Resize(inner, *end))) {
      const std::optional<Parts> below = Cut(inner, *end);
      std::optional<Parts> parts = below ? Cut(below->low, place) : std::nullopt;
      if (!parts) return std::nullopt;
      return std::move(parts->high);
    }
  }
  // A least digit that does not carry: D + b*N + c = (D + c mod b) + b*(N + floor(c/b)).
  if (linear.factor == 1 && linear.modulus == 1 && linear.number.size() > 1) {
    const Digit least = linear.number.front();
    const int64_t b = least.size;
    const int64_t carry_free = FloorMod(linear.offset, b);
    const Interval range = RangeOf(Number{least});
    if (range.upper() < b - carry_free && (place % b == 0 || (place == 1 && size % b == 0))) {
      Number result;
      if (place == 1) {
        const std::optional<Number> low = Affine(Number{least}, 1, carry_free, 1, b);
        if (!low || !Append(result, *low)) return std::nullopt;
      }
      Source above = linear;
      above.number.erase(above.number.begin());
      above.offset = FloorDiv(linear.offset, b);
      above.least = FloorDiv(linear.least, b);
      above.greatest = FloorDiv(linear.greatest, b);
      if (!Unwrap(above)) return std::nullopt;
      const std::optional<Number> high =
          LinearDigit(std::move(above), place == 1 ? 1 : place / b, place == 1 ? size / b : size);
      if (!high || !Append(result, *high)) return std::nullopt;
      return result;
    }
  }
  const uint32_t id = Intern(std::move(linear));
  return Number{Digit{place, size, id, false}};
}

// The digits on top of the number that are those of the linear source below this one.
bool PositionalAlgebra::JoinLinear(Number& number, const Digit& digit) {
  const Source linear = source(digit.source);
  const auto oriented = [&](int64_t place, int64_t size) {
    std::optional<Number> result = LinearDigit(linear, place, size);
    if (result && digit.flipped) Reverse(*result);
    return result;
  };
  int64_t radix = 1;
  for (size_t i = number.size(); i-- > 0;) {
    const std::optional<int64_t> product = CheckedMul(radix, number[i].size);
    if (!product || digit.place % *product != 0) return false;
    radix = *product;
    const Number top(number.begin() + i, number.end());
    if (oriented(digit.place / radix, radix) != top) continue;
    const std::optional<Number> joined = oriented(digit.place / radix, radix * digit.size);
    if (!joined || joined->size() > top.size()) return false;
    number.truncate(i);
    return Append(number, *joined);
  }
  return false;
}

}  // namespace xla_indexing
