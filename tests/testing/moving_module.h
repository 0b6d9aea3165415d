// Random modules in which much is moved within arrays of one size: fusions whose outputs may overwrite
// an operand in some order or none.
#ifndef XLA_INDEXING_TESTS_TESTING_MOVING_MODULE_H_
#define XLA_INDEXING_TESTS_TESTING_MOVING_MODULE_H_

#include <cstdint>
#include <string>

namespace xla_indexing {

// HLO text. The entry's parameters are two arrays of one shape, a start, a mask, and two indices; its
// root is an array of the same size or a tuple of two.
std::string MovingModuleText(uint64_t seed);

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_TESTING_MOVING_MODULE_H_
