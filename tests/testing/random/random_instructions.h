// Random instructions, one function a family of operations. Each finds or makes operands in the
// computation, chooses attributes that are valid for their shapes and adds the instruction.

#ifndef XLA_INDEXING_TESTS_TESTING_RANDOM_RANDOM_INSTRUCTIONS_H_
#define XLA_INDEXING_TESTS_TESTING_RANDOM_RANDOM_INSTRUCTIONS_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "tests/testing/random/random_computation.h"
#include "xla_indexing/hlo/types/attribute_values.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing {

// random_collective.cc: operations across the replicas and partitions of the module.
RandomValue AddRandomCollective(HloOpcode opcode, RandomComputation* computation);

// random_elementwise.cc
RandomValue AddRandomElementwise(HloOpcode opcode, RandomComputation* computation);

// random_rearrangement.cc
RandomValue AddRandomBitcast(RandomComputation* computation);
RandomValue AddRandomBitcastConvert(RandomComputation* computation);
RandomValue AddRandomBroadcast(RandomComputation* computation);
RandomValue AddRandomConcatenate(RandomComputation* computation);
RandomValue AddRandomPad(RandomComputation* computation);
RandomValue AddRandomReshape(RandomComputation* computation);
RandomValue AddRandomReverse(RandomComputation* computation);
RandomValue AddRandomSlice(RandomComputation* computation);
RandomValue AddRandomTranspose(RandomComputation* computation);

// random_addressing.cc
RandomValue AddRandomDynamicSlice(RandomComputation* computation);
RandomValue AddRandomDynamicUpdateSlice(RandomComputation* computation);
RandomValue AddRandomGather(RandomComputation* computation);
RandomValue AddRandomScatter(RandomComputation* computation);

// random_contraction.cc
RandomValue AddRandomConvolution(RandomComputation* computation);
RandomValue AddRandomDot(RandomComputation* computation);
RandomValue AddRandomRaggedDot(RandomComputation* computation);
RandomValue AddRandomScaledDot(RandomComputation* computation);

// random_reduction.cc
RandomValue AddRandomReduce(RandomComputation* computation);
RandomValue AddRandomReduceWindow(RandomComputation* computation);
RandomValue AddRandomSelectAndScatter(RandomComputation* computation);
// A dimension of a window over `size` elements whose result has at most `max_size`; `*result_size`
// is the result's.
WindowDimension RandomWindowDimension(int64_t size, int64_t max_size,
                                      RandomComputation* computation, int64_t* result_size);

// random_numeric.cc
RandomValue AddRandomBatchNorm(HloOpcode opcode, RandomComputation* computation);
RandomValue AddRandomCholesky(RandomComputation* computation);
RandomValue AddRandomFft(RandomComputation* computation);
RandomValue AddRandomRng(RandomComputation* computation);
RandomValue AddRandomRngBitGenerator(RandomComputation* computation);
RandomValue AddRandomSort(RandomComputation* computation);
RandomValue AddRandomTopk(RandomComputation* computation);
RandomValue AddRandomTriangularSolve(RandomComputation* computation);

// random_control.cc: async-start, async-update and async-done; a call or fusion of a computation
// that is named by `attribute`; copy-start, send, after-all and their like.
RandomValue AddRandomAsync(HloOpcode opcode, RandomComputation* computation);
RandomValue AddRandomCall(absl::string_view opcode, absl::string_view attribute,
                          RandomComputation* computation);
RandomValue AddRandomConditional(RandomComputation* computation);
RandomValue AddRandomCustomCall(RandomComputation* computation);
RandomValue AddRandomGetDimensionSize(RandomComputation* computation);
RandomValue AddRandomMap(RandomComputation* computation);
RandomValue AddRandomScan(RandomComputation* computation);
RandomValue AddRandomWhile(RandomComputation* computation);
// set-dimension-size and dynamic-reshape.
RandomValue AddRandomDynamicSize(HloOpcode opcode, RandomComputation* computation);
RandomValue AddRandomTransfer(HloOpcode opcode, RandomComputation* computation);

// random_hlo.cc: any opcode of RandomOpcodes().
RandomValue AddRandomInstruction(HloOpcode opcode, RandomComputation* computation);
// One of them; none that calls computations where they would nest too deep.
HloOpcode RandomOpcode(RandomComputation* computation);
// A value for the root: the last instruction, or a tuple of several.
RandomValue RandomRoot(RandomComputation* computation);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_TESTING_RANDOM_RANDOM_INSTRUCTIONS_H_
