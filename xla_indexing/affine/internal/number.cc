#include "xla_indexing/affine/internal/number.h"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/base/internal/checked.h"
#include "xla_indexing/base/internal/mix_bits.h"

namespace xla_indexing::internal {

int64_t SizeOf(const Number& number) {
  int64_t size = 1;
  for (const Digit& digit : number) size *= digit.size;
  return size;
}

void Reverse(Number& number) {
  for (Digit& digit : number) {
    if (digit.IsConstant()) {
      digit.place = digit.size - 1 - digit.place;
    } else {
      digit.flipped = !digit.flipped;
    }
  }
}

std::optional<int64_t> ConstantValue(const Number& number) {
  int64_t value = 0;
  int64_t stride = 1;
  for (const Digit& digit : number) {
    if (!digit.IsConstant()) return std::nullopt;
    value += digit.place * stride;
    stride *= digit.size;
  }
  return value;
}

bool IsFlipped(const Number& number) {
  for (const Digit& digit : llvm::reverse(number)) {
    if (!digit.IsConstant()) return digit.flipped;
  }
  return false;
}

int64_t PlaceBelow(const Number& number, int64_t r) {
  int64_t best = 1;
  int64_t place = 1;
  for (const Digit& digit : number) {
    if (place > r || r % place != 0) break;  // places divide one another
    const int64_t rest = r / place;
    best = place * (rest % digit.size == 0 ? digit.size : Gcd(digit.size, rest));
    if (best != place * digit.size) {
      // Greater places are multiples of this digit's end, which does not divide r.
      break;
    }
    place *= digit.size;
  }
  return best;
}

int64_t PlaceAbove(const Number& number, int64_t r) {
  assert(r >= 1);
  int64_t place = 1;
  for (const Digit& digit : number) {
    const int64_t rest = r % place == 0 ? r / place : r / Gcd(r, place);
    if (digit.size % rest == 0) return place * rest;
    place *= digit.size;
  }
  return place;
}

namespace {

uint64_t AddToHash(uint64_t hash, const Digit& digit) {
  hash = MixBits(hash + static_cast<uint64_t>(digit.place));
  hash = MixBits(hash + static_cast<uint64_t>(digit.size));
  return MixBits(hash + digit.source * uint64_t{2} + (digit.flipped ? 1 : 0));
}

}  // namespace

size_t HashOf(const Digit& digit) { return AddToHash(0, digit); }

size_t HashOf(const Number& number) {
  uint64_t hash = 0;
  for (const Digit& digit : number) hash = AddToHash(hash, digit);
  return hash;
}

size_t HashOf(llvm::ArrayRef<Number> indices) {
  uint64_t hash = 0;
  for (const Number& index : indices) hash = MixBits(hash + HashOf(index));
  return hash;
}

}  // namespace xla_indexing::internal
