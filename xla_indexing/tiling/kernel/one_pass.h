// Contractions that can go over one dimension in one pass, although one of them needs the result of
// another: the maximum, the sum and the weighted sum of a softmax or an attention.
//
// Law. Let m = max(c, max_j s_j) be a reduction over one loop j < n of floating-point numbers, and
//
//   a = (sum_j e_j * y_j) / d      e_j = exp(s_j - m)
//
// a sum or dot product over a loop of the same n, where neither y_j nor s_j depends on m, and d, if
// it is there, is such a sum of e_j alone and does not depend on j. With m_t and A_t the maximum and the
// sum of e_j * y_j over the first t tiles of the loop, in exact arithmetic,
//
//   A_(t+1) = A_t * exp(m_t - m_(t+1)) + sum over tile t+1 of exp(s_j - m_(t+1)) * y_j
//
// and a = A_T / d_T after the last of T tiles. So one loop accumulates m, d and A: the maximum first;
// where it has grown, A and d are multiplied by exp(old - new); the division comes after the loop.
//
// Infinities. While a row has had nothing but -inf, s_j - m is -inf - -inf. There exp(s_j - m) counts
// as exp(s_j) = 0: 0 is subtracted instead of m. A row of which this still holds after the loop has
// NaN as in the untiled computation: sums are multiplied by exp(0 - m) = exp(inf) there, and
// 0 * inf = NaN. No exponent is above 0, so that nothing overflows that does not without tiles; d is
// at least exp(0) = 1, unless it is NaN or all e_j are 0.
//
// Rounding. Each step of the loop multiplies by a rounded exponential, so that after T of them the
// relative error of a sum of non-negative terms is by at most about 3 T roundings larger than that of
// the untiled sum. A reciprocal 1 / d that is infinite, since d is below the least normal number, is so
// only in the untiled computation.
//
// Recognised are, from a back to s_j:
//
//   dot or sum over one loop of more than one step, of real floating-point numbers, a sum from the
//     constant 0 on; a dot has e_j in one operand, and the other does not depend on m
//   between it and the exponential: broadcast, reshape, bitcast, transpose, copy; conversions to
//     floating-point numbers; negation; multiplication by what does not depend on m; division by what
//     does not, or, once, by a sum of this kind with nothing but moves and conversions in between, or
//     multiplication by 1 divided by that sum, as XLA writes a division by what is broadcast; the sum
//     may be converted on the way, to no fewer bits than the quotient has
//   exponential(subtract(s, m')), where m' comes from m, and s and the operand of m from the same array,
//     by broadcast, reshape, bitcast, transpose, copy, the maximum with -inf, and conversions that lose
//     nothing: to more bits, and of m, where c is -inf, back to what holds all of s
//
// and the element of s that e_j is computed from must be, for each element of a and each j, the one
// that the maximum it reads has at its step j: maps say so (both are composed, and compared in normal
// form). Everything else that depends on m keeps a loop of its own, after that of m.
//
// Source: online normalizer calculation for softmax (Milakov and Gimelshein, 2018).
#ifndef XLA_INDEXING_TILING_KERNEL_ONE_PASS_H_
#define XLA_INDEXING_TILING_KERNEL_ONE_PASS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "xla_indexing/hlo/model/instruction.h"
#include "xla_indexing/map/indexing_map.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/tiling/kernel/tile_graph.h"

namespace xla_indexing::internal {

// How a contraction combines its steps; nullopt if that is no single operation.
std::optional<TileCombiner> CombinerOf(const HloInstruction& contraction);

struct OnePass {
  // Contractions of which each has one loop with more than one step, all of the same size: the
  // maximum, and those that depend on it, operands first.
  std::vector<const HloInstruction*> contractions;

  // What an accumulator is corrected by while, or after, both run.
  struct Rescale {
    const HloInstruction* accumulator = nullptr;
    const HloInstruction* by = nullptr;
    TileRescale::Kind kind = TileRescale::Kind::kMaximum;
    IndexingMap elements;  // as TileRescale
    // The division, or product with the reciprocal, that kDivisor leaves out, and the operand that takes
    // its place.
    const HloInstruction* division = nullptr;
    int64_t dividend = 0;
  };
  std::vector<Rescale> rescales;
  // What moves the maximum on its way to the exponents.
  absl::flat_hash_set<const HloInstruction*> movers;
};

// The maps of a leaf of an instruction: with steps, where it is a contraction (TileNode::reads).
using EntriesOfLeaf =
    absl::FunctionRef<absl::StatusOr<SharedIndexing>(const HloInstruction& instruction)>;

// The groups of two contractions and more among instructions, which stand in the order of a
// computation; no contraction is in two of them. Looks at 64 maxima at most.
std::vector<OnePass> FindOnePasses(absl::Span<const HloInstruction* const> instructions,
                                   EntriesOfLeaf entries_of);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_TILING_KERNEL_ONE_PASS_H_
