#include "xla_indexing/affine/number.h"

#include <cstddef>
#include <cstdint>

#include "llvm/ADT/STLExtras.h"
#include "xla_indexing/base/checked.h"

namespace xla_indexing {

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
    best = place * Gcd(digit.size, r / place);
    if (best != place * digit.size) {
      // Greater places are multiples of this digit's end, which does not divide r.
      break;
    }
    place *= digit.size;
  }
  return best;
}

int64_t PlaceAbove(const Number& number, int64_t r) {
  int64_t place = 1;
  for (const Digit& digit : number) {
    const int64_t rest = r / Gcd(r, place);
    if (digit.size % rest == 0) return place * rest;
    place *= digit.size;
  }
  return place;
}

size_t HashOf(const Number& number) {
  return llvm::hash_combine_range(number.begin(), number.end());
}

size_t HashOf(llvm::ArrayRef<Number> indices) {
  size_t hash = 0;
  for (const Number& index : indices) hash = llvm::hash_combine(hash, HashOf(index));
  return hash;
}

}  // namespace xla_indexing
