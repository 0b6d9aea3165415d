// How often a while runs, where its text says so.
//
// A loop is counted where its condition compares a leaf of the state with a constant (LT, LE, GT,
// GE), and the body adds a constant to that leaf, which begins with a constant; tuples and copies
// on the way are looked through. The values must not wrap in the element type.
//
// Example: init (s32[] constant(0), ..), condition `i < 10`, body `i + 3`: leaf 0 has the values 0,
// 3, 6, 9 in 4 iterations.

#ifndef XLA_INDEXING_OPS_INTERNAL_LOOP_COUNTER_H_
#define XLA_INDEXING_OPS_INTERNAL_LOOP_COUNTER_H_

#include <cstdint>
#include <optional>

#include "xla_indexing/hlo/instruction.h"

namespace xla_indexing::internal {

// A leaf whose value in iteration k is start + k * step, for `count` iterations.
struct LoopCounter {
  int64_t leaf = 0;
  int64_t start = 0;
  int64_t step = 0;
  int64_t count = 0;
};

// None where the loop is not counted.
std::optional<LoopCounter> FindLoopCounter(const HloInstruction& loop);

}  // namespace xla_indexing::internal

#endif  // XLA_INDEXING_OPS_INTERNAL_LOOP_COUNTER_H_
