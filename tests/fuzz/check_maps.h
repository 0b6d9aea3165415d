// Whether the maps of an instruction or a computation agree with one another (module_fuzz.cc).
#ifndef TESTS_FUZZ_CHECK_MAPS_H_
#define TESTS_FUZZ_CHECK_MAPS_H_

#include <array>

#include "tests/fuzz/asked.h"
#include "tests/fuzz/exact_map.h"
#include "xla_indexing/ops/answers/indexing_entry.h"

namespace xla_indexing::fuzz {

// The maps of one subject: those from output to input and then those from input to output, of each
// the default ones and then the exact ones.
using Answers = std::array<std::array<InstructionIndexing, 2>, 2>;

// Maps lead from elements to elements, their text is read back, and simplifying them changes nothing
// about what they name. Exact maps are part of the default ones, and the maps of one direction part
// of those of the other.
void CheckMaps(const Asked& asked, const Answers& answers, Random& random);

}  // namespace xla_indexing::fuzz

#endif  // TESTS_FUZZ_CHECK_MAPS_H_
