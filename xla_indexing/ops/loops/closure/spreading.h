// The law of spreading: maps from a leaf to itself that add constants, within a box that stops
// nothing but what leaves it. Stencils are so, and rolls, and their products.
//
// Let K be a box, and S a set of steps such that for every c in S the pieces lead from all x of K for
// which x + c is in K to x + c, in one iteration. In m iterations they lead from x to all
//
//   y in K with y - x in S + .. + S (m times)
//
// where one of the orders of the steps stays in K, and that sum has a form without m terms:
//
//   S is a product of progressions v_j, v_j + g_j, .., w_j       y_j - x_j in [m * v_j, m * w_j] and
//     (one for each dimension; v_j >= 0, w_j <= 0, 0 in it, or     y_j - x_j - m * v_j divisible by g_j
//     it is -w_j, w_j in a box of at least 2 * w_j)
//   S is a union of such products, each in dimensions of its     the same with q iterations in the
//     own, and each with 0                                         place of m for each product, where
//                                                                  the sum of all q is at most m
//   dimension j wraps around: with c, S has c + N or c - N, N      y_j = (x_j + ..) mod N, with any
//     the size of the box                                          progression
//
// Such sums are reached without turning back, so that steps stay between x and y. Of pieces that take
// k iterations those are left out that add what k of S add.
//
// A piece whose range variables say how far it leads, such as (t, d0)[s0] -> (t - 1, s0) with
// s0 - d0 in [-1, 1], is taken as one piece for each distance, where these are few. One of more
// distances, in progressions, is a product by itself where nothing but the border of its box stops it
// and the other pieces are sums of its steps.
//
// How a piece steps within a box is found out in ops/loops/closure/box_steps.h.
//
// Example: x[i - 1] + x[i] + x[i + 1] with zeros outside, from output to input: (t, d0)[s0, s1] ->
// (t - s0, s1), s1 in [0, n - 1], s1 - d0 in [-s0, s0].
//
// Source: Minkowski sums of polytopes, as in the closures of Kelly, Pugh, Rosser and Shpeisman,
// Transitive Closure of Infinite Graphs and Its Applications.
#ifndef XLA_INDEXING_OPS_LOOPS_CLOSURE_SPREADING_H_
#define XLA_INDEXING_OPS_LOOPS_CLOSURE_SPREADING_H_

#include <optional>
#include <vector>

#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::internal {

// All powers but none within the box, and what of the pieces leads into it, out of it or past it.
struct Spread {
  OperandIndexingSet powers;
  std::vector<OperandIndexing> others;
};

// Timed maps from a leaf to itself, those that step within a box spread; nullopt if the law does
// not apply.
std::optional<Spread> SpreadWithinBox(const std::vector<OperandIndexing>& pieces);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_CLOSURE_SPREADING_H_
