// Random modules, as HLO text, that repeat themselves: many of their instructions and computations say
// the same but for names, or differ in little.
//
//   auto module = ParseAndVerifyModule(RandomCollectives(/*seed=*/1));

#ifndef XLA_INDEXING_TESTS_TESTING_REPEATING_MODULES_H_
#define XLA_INDEXING_TESTS_TESTING_REPEATING_MODULES_H_

#include <cstdint>
#include <string>

namespace xla_indexing {

// Loops and calls over computations of which some say the same: what they read depends on offsets,
// numbers of iterations and constants, which are named in bindings and reasons.
std::string RandomCallsOfEqualComputations(uint64_t seed);

// Instructions in a random order that read offsets: parameters, numbers that the module fixes in
// several ways, and what is made of parameters.
std::string RandomReadsOfOffsets(uint64_t seed);

// Operations across four devices, of few groups in many spellings.
std::string RandomCollectives(uint64_t seed);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_TESTING_REPEATING_MODULES_H_
