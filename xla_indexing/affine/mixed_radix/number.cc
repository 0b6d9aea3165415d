#include "xla_indexing/affine/mixed_radix/number.h"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/base/mix_bits.h"
#include "xla_indexing/base/numbers/checked.h"

namespace xla_indexing::internal {

int64_t SizeOf(const Number& number) {
  int64_t size = 1;
  for (const Digit& digit : number) size *= digit.extent;
  return size;
}

void Reverse(Number& number) {
  for (Digit& digit : number) {
    if (digit.IsConstant()) {
      digit.lower_factor = digit.extent - 1 - digit.value();
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
    value += digit.value() * stride;
    stride *= digit.extent;
  }
  return value;
}

bool IsFlipped(const Number& number) {
  for (const Digit& digit : llvm::reverse(number)) {
    if (!digit.IsConstant()) return digit.flipped;
  }
  return false;
}

int64_t CutPointBelow(const Number& number, int64_t r) {
  int64_t best = 1;
  int64_t point = 1;
  for (const Digit& digit : number) {
    if (point > r || r % point != 0) break;  // cut points between digits divide one another
    const int64_t rest = r / point;
    best = point * (rest % digit.extent == 0 ? digit.extent : Gcd(digit.extent, rest));
    // Greater cut points are multiples of this digit's end: if that does not divide r, none does.
    if (best != point * digit.extent) break;
    point *= digit.extent;
  }
  return best;
}

int64_t CutPointAbove(const Number& number, int64_t r) {
  assert(r >= 1);
  int64_t point = 1;
  for (const Digit& digit : number) {
    const int64_t rest = r % point == 0 ? r / point : r / Gcd(r, point);
    if (digit.extent % rest == 0) return point * rest;
    point *= digit.extent;
  }
  return point;
}

namespace {

uint64_t AddToHash(uint64_t hash, const Digit& digit) {
  hash = MixBits(hash + static_cast<uint64_t>(digit.lower_factor));
  hash = MixBits(hash + static_cast<uint64_t>(digit.extent));
  return MixBits(hash + digit.source * uint64_t{2} + (digit.flipped ? 1 : 0));
}

}  // namespace

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
