// The functions that mixed-radix numbers are joined, cut and moved with
// (affine/mixed_radix/positional.h). They call each other, so that they are declared together:
//
//   number_join.cc      digits and numbers on top of numbers
//   number_cut.cc       numbers in two; digits of fused sources
//   linear_digits.cc    digits of linear sources
//   affine_image.cc     numbers moved and scaled
//
// Each gives a form that hardly depends on how a number came about. There is no result, or false,
// where numbers do not fit int64, and past the bounds of depth and work.
#ifndef XLA_INDEXING_AFFINE_MIXED_RADIX_NUMBER_RULES_H_
#define XLA_INDEXING_AFFINE_MIXED_RADIX_NUMBER_RULES_H_

#include <cstdint>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "llvm/ADT/ArrayRef.h"
#include "xla_indexing/affine/mixed_radix/number.h"
#include "xla_indexing/affine/mixed_radix/number_sources.h"

namespace xla_indexing::internal {

// A number cut in two.
struct NumberParts {
  Number low;
  Number high;
};

struct PositionalState {
  void Clear() {
    sources.Clear();
    cuts.clear();
    joins.clear();
    work = 0;
    depth = 0;
  }
  // Whether joins and cuts, which call each other, may nest deeper. No chain of reindexings comes
  // near this bound.
  bool MayNest() const { return depth < 64; }
  // Whether one more digit of a source may be cut, or one more pair of such digits joined.
  bool MayWork() { return ++work <= 100000; }

  NumberSources sources;
  // What digits of sources are, cut at a radix, and what two digits of fused sources are together.
  absl::flat_hash_map<std::pair<Digit, int64_t>, NumberParts> cuts;
  absl::flat_hash_map<std::pair<Digit, Digit>, std::optional<Number>> joins;
  int work = 0;
  int depth = 0;
};

// number = number + SizeOf(number) * digit, and likewise for all digits of `more`.
bool AppendDigit(PositionalState& state, Number& number, const Digit& digit);
bool Append(PositionalState& state, Number& number, const Number& more);

// The number cut in two at r, which divides its size. At a cut point no digits are fused.
std::optional<NumberParts> Cut(PositionalState& state, const Number& number, int64_t r);
std::optional<NumberParts> CutAtPoint(PositionalState& state, const Number& number, int64_t r);

// floor(fused / lower_factor) mod extent, over the least number that it depends on.
std::optional<Number> FusedDigit(PositionalState& state, const Number& fused, int64_t lower_factor,
                                 int64_t extent);

// floor((k*N + c) / lower_factor) mod extent, with the least c that gives it.
std::optional<Number> LinearDigit(PositionalState& state, NumberSource linear, int64_t lower_factor,
                                  int64_t extent);

// (factor * number + offset) / divisor, of `size` values, where it is known that the division leaves
// no rest and that the result is in [0, size - 1]; nullopt if that cannot be.
std::optional<Number> AffineImage(PositionalState& state, const Number& number, int64_t factor,
                                  int64_t offset, int64_t divisor, int64_t size);
// Takes the offsets of the number's linear digits out of it and gives them back. Its most
// significant digit then has no more room than it needs.
std::optional<int64_t> MoveOffsetsOut(PositionalState& state, Number& number);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_AFFINE_MIXED_RADIX_NUMBER_RULES_H_
