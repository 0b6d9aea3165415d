// All iterations of a while in closed form.
//
// Mathematics. With the time in its maps (ops/loops/body/loop_body.h) a loop's body is a relation
// between places (t, leaf, element), and what the iterations from one time to another read or reach
// is its transitive closure. The maps of the body are the *pieces* p : (t, a, d) -> (t', b, e); q
// can follow p where p leads to the leaf that q starts from and p ; q is not empty. The strongly
// connected parts C of this graph stand in a line in which each leads to later ones only, so that
// every way goes through parts in this order, and with C+ the closure of a part by itself
//
//   reached(leaf)  = start(leaf) and, for every part C, arrived(C) ; C+
//   arrived(C)     = start and all that has left earlier parts, where a piece of C starts from
//
// Kleene's algorithm goes through the leaves of a part one by one: with the powers P of the pieces from
// leaf k to itself, a ; b and a ; P ; b are ways of their own for all pieces a to k and b from k, and
// when the last leaf is done all ways are known. The powers of pieces from a leaf to itself are those
// of letters, one after another (powers.h):
//
//   translations.h  one piece that adds the same in every iteration: what stays, moves, is written row
//                   by row (an element stays as long as the row of the iteration is above it, and as
//                   long as it is below), and what depends on all of itself
//   spreading.h     several pieces that add constants within a box: stencils, rolls
//
// The pieces of a part that has no closure are followed from what has arrived there, one iteration
// after another, where these are few.
//
// Many leaves. Most pieces of a model's loop lead from all of an array at a time, as those that read
// a row of a weight do. Of what has arrived there only the time matters to them, and the ways that
// differ otherwise are one (WithResultsThatMatter in ops/loops/body/timed_map.h). Where a leaf can be
// reached by maps that are exact and by others, that is exact for what follows, too.
//
// The cost of a closure does not depend on the number of iterations, which occurs in constants only, or where it is
// not known as a variable (ops/loops/body/loop_ends.h).
//
// Example: y[i] = f(x[i]) for i in 0, .., n - 1. From output to input y stays, (t, d) -> (t - m, d),
// where d <= t - 1 - m, leads to x in (t, d) -> (t - 1, d), d = t - 1, and y stays where d >= t.
// From (n, d) to time 0 there is the way through x only: (d) -> (d).
//
// Source: Kelly, Pugh, Rosser, Shpeisman, Transitive Closure of Infinite Graphs and Its
// Applications.
#ifndef XLA_INDEXING_OPS_LOOPS_CLOSURE_LOOP_CLOSURE_H_
#define XLA_INDEXING_OPS_LOOPS_CLOSURE_LOOP_CLOSURE_H_

#include <optional>

#include "xla_indexing/ops/answers/operand_indexing.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"
#include "xla_indexing/ops/loops/body/loop_body.h"
#include "xla_indexing/ops/loops/body/loop_memo.h"
#include "xla_indexing/ops/loops/body/loop_steps.h"

namespace xla_indexing::internal {

// Where ways from `start`, maps with the time as their first result, lead to at any time, `start`
// among them; nullopt if there is no closed form.
std::optional<LeafSets> AllWays(const LoopSteps& steps, const LeafSets& start);

// As AllIterations (ops/loops/loop_iterations.h); nullopt if there is no closed form.
std::optional<LeafSets> AllIterationsInClosedForm(const LoopBody& body, const LeafSets& start);

// From the scalar that the condition yields, at whichever time it is evaluated, to what the loop
// begins with.
std::optional<LeafSets> ReadByConditionInClosedForm(const LoopBody& body);

// From what `start` leads to when the loop begins to the scalar that the condition yields, at
// whichever time.
std::optional<OperandIndexingSet> ReachOfConditionInClosedForm(const LoopBody& body,
                                                               const LeafSets& start);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_CLOSURE_LOOP_CLOSURE_H_
