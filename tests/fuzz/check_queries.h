// Whether the answers to queries agree with the maps that they are about (module_fuzz.cc).
#ifndef TESTS_FUZZ_CHECK_QUERIES_H_
#define TESTS_FUZZ_CHECK_QUERIES_H_

#include "mlir/IR/MLIRContext.h"
#include "tests/fuzz/asked.h"
#include "tests/fuzz/exact_map.h"
#include "xla_indexing/hlo/model/computation.h"
#include "xla_indexing/hlo/model/module.h"
#include "xla_indexing/ops/answers/indexing_entry.h"
#include "xla_indexing/ops/answers/operand_indexing_set.h"

namespace xla_indexing::fuzz {

// Counts of elements and of reads are consistent, and no less than what some elements read.
void CheckUtilization(const Asked& asked, const OperandIndexingSet& maps, const Ends& ends,
                      Random& random);

// The counts of sectors, lines and wavefronts of loops over the results are consistent.
void CheckCoalescing(const Asked& asked, const InstructionIndexing& entries);

// Dimensions that correspond have one size, and dimensions of a batch run together wherever one of
// them is read.
void CheckCorrespondingDims(const Asked& asked, const InstructionIndexing& entries, Random& random);

// What is safe in any order is safe in every order that is tried, what is safe in an order in that one,
// and a conflict that is named is one of the elements that there are.
void CheckInPlace(const Asked& asked);

// A gather or scatter that is recognised can be written as what it is, which verifies.
void CheckIndices(const Asked& asked);

// Aliases that a module states are checked.
void CheckModule(const HloModule& module, mlir::MLIRContext* context);

// A computation reads what it reads, and tilings that are found cost what they are said to.
void CheckComputation(const HloComputation& computation, mlir::MLIRContext* context);

// A verified computation is a view, and threads compute every element of what they go over.
void CheckKernel(const HloComputation& computation, mlir::MLIRContext* context);

}  // namespace xla_indexing::fuzz

#endif  // TESTS_FUZZ_CHECK_QUERIES_H_
