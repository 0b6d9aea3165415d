// Seeded random HLO modules with small arrays, as text.
//
// Equal seeds give equal text, on every machine. The modules are valid: shapes agree, and the
// attributes are within what the operations allow, up to and including the edges (sizes 0 and 1,
// empty lists of dimensions, negative padding, windows that do not fit, indices in and out of
// bounds).
//
// Example:
//
//   RandomOperationModule(HloOpcode::kTranspose, 7) ==
//     "HloModule random_transpose_7\n\n"
//     "ENTRY main {\n  v0 = f32[2,3,1] parameter(0)\n"
//     "  ROOT v1 = f32[1,2,3] transpose(v0), dimensions={2,0,1}\n}\n"   (or the like)

#ifndef XLA_INDEXING_TESTS_TESTING_RANDOM_RANDOM_HLO_H_
#define XLA_INDEXING_TESTS_TESTING_RANDOM_RANDOM_HLO_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "xla_indexing/hlo/types/opcode.h"

namespace xla_indexing {

// No array of a random module has more elements.
inline constexpr int64_t kMaxRandomElements = 128;

// The opcodes that there are random modules of.
std::vector<HloOpcode> RandomOpcodes();

// The root of the entry is an instruction of this opcode; its operands are parameters, and for
// integers that address elements also constants, iotas and arithmetic of such. What it calls has
// instructions of the opcodes `called` alone; empty: of any.
std::string RandomOperationModule(HloOpcode opcode, uint64_t seed,
                                  absl::Span<const HloOpcode> called = {});

// The entry has two to ten instructions of random opcodes (beside those that prepare their
// operands) that use each other's results, among them fusions, calls and tuples; its root is one of
// them or a tuple of several.
std::string RandomFusionModule(uint64_t seed);
// Likewise, of these opcodes alone, on one device; what it calls likewise of the opcodes `called`.
std::string RandomFusionModule(absl::Span<const HloOpcode> opcodes, uint64_t seed,
                               absl::Span<const HloOpcode> called = {});

}  // namespace xla_indexing

#endif  // XLA_INDEXING_TESTS_TESTING_RANDOM_RANDOM_HLO_H_
