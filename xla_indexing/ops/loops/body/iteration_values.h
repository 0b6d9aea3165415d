// The law of values that iterations compute: what is exact of a loop whose steps depend on them.
//
// A piece of the body (ops/loops/closure/loop_closure.h) is *steady* where it is the same whatever the
// iterations compute, and *changing* where a runtime variable of it is a value that differs from
// iteration to iteration, an element (k, ..) of an array over the iterations. With S* any number of
// steady pieces, c any changing piece and A any number of pieces, the ways of a loop are
//
//   A = S* + S* ; c ; S* + the rest,
//
// where S* ; c ; S* is exact, for every content of these arrays, with the runtime variables of one
// changing piece. The rest has two changing pieces or more, so that it is in S* ; c ; A, and in
// A ; c ; S*, whatever the other values are: with A as the closure of the loop in which they are taken
// for any. Where each map of one of these two is covered by one of S* + S* ; c ; S*, that is all, and
// exact. It is so where what a changing piece leads to is there anyway before and after: a state that
// is searched until it is good, rows of an array that are written at computed places and added to
// what is there, a control state that everything depends on. It is asked for each leaf, at the end.
//
// Values of iterations are taken in two ways, the second where the first leaves something open: all of
// them as such elements; and those that are functions of the iteration's number and of numbers that
// the loop begins with as these functions, case by case, with conditions on the numbers. Pieces with
// such conditions are steady: a number that the loop begins with is the same in all iterations. A value
// that is the same in all iterations is that of the first one.
//
// Example: x of `(i + 1, conditional(c[i], x, f(x, y)), y)` with f(x, y) = x + sum(y), i < 10, reads
// y in ()[s0, s1]{rt0} -> (s1), s0 in [0, 9], rt0 in [0, 0], rt0: c (s0): where some c is false.
#ifndef XLA_INDEXING_OPS_LOOPS_BODY_ITERATION_VALUES_H_
#define XLA_INDEXING_OPS_LOOPS_BODY_ITERATION_VALUES_H_

#include <optional>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "xla_indexing/ops/loops/body/loop_body.h"
#include "xla_indexing/ops/loops/body/loop_memo.h"

namespace xla_indexing::internal {

// Replaces maps of `at_end` that are over-approximate by exact ones where the law above
// gives them. `start`, timed, leads to `places` at any time (A) and to `at_end` at the end. `through`
// is where any number of pieces of a graph leads.
void SharpenByValues(
    const LoopBody& body, const LeafSets& start, const LeafSets& places,
    llvm::function_ref<std::optional<LeafSets>(const LeafSets& from, LoopGraph& graph)> through,
    LeafSets* at_end);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_LOOPS_BODY_ITERATION_VALUES_H_
