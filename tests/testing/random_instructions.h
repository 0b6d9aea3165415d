// Random instructions, one function a family of operations. Each finds or makes operands in the
// computation, chooses attributes that are valid for their shapes and adds the instruction.

#ifndef XLA_INDEXING_TESTS_TESTING_RANDOM_INSTRUCTIONS_H_
#define XLA_INDEXING_TESTS_TESTING_RANDOM_INSTRUCTIONS_H_

#include "tests/testing/random_computation.h"
#include "xla_indexing/hlo/opcode.h"

namespace xla_indexing {

// random_elementwise.cc
RandomValue AddRandomElementwise(HloOpcode opcode, RandomComputation* computation);

// random_rearrangement.cc
RandomValue AddRandomBitcast(RandomComputation* computation);
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

// random_reduction.cc
RandomValue AddRandomDot(RandomComputation* computation);
RandomValue AddRandomReduce(RandomComputation* computation);
RandomValue AddRandomReduceWindow(RandomComputation* computation);

// random_hlo.cc: any opcode of RandomOpcodes().
RandomValue AddRandomInstruction(HloOpcode opcode, RandomComputation* computation);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_TESTING_RANDOM_INSTRUCTIONS_H_
