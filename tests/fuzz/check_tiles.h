// Whether symbolic tiles have the elements that are read (module_fuzz.cc).
#ifndef TESTS_FUZZ_CHECK_TILES_H_
#define TESTS_FUZZ_CHECK_TILES_H_

#include "tests/fuzz/asked.h"
#include "tests/fuzz/exact_map.h"
#include "xla_indexing/ops/answers/operand_indexing.h"

namespace xla_indexing::fuzz {

// For several tile sizes, tiles contain every element that is read, and exact ones no other.
void CheckTiles(const Asked& asked, const OperandIndexing& indexing, const Ends& ends,
                Random& random);

}  // namespace xla_indexing::fuzz

#endif  // TESTS_FUZZ_CHECK_TILES_H_
